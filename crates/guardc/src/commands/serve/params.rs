//! Values in the parameters of requests: times, amounts, arguments, lists. The parameters of each
//! method are in `requests`.

use super::requests::SharedService;
use super::rpc::RpcError;
use guard_plan::json::Json;
use guard_plan::{decimal, time};
use guard_sdk::{Lists, SharedBudget};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Parses the parameters of a method.
pub fn read<T: DeserializeOwned>(params: &str) -> Result<T, RpcError> {
    serde_json::from_str(params).map_err(|error| {
        let text = error.to_string();
        RpcError::params(text.split(" at line").next().unwrap_or_default())
    })
}

/// Parses a part of a request with Guard's own parser, which keeps numbers as text and rejects
/// duplicate keys.
pub fn json(name: &str, raw: &RawValue) -> Result<Json, RpcError> {
    Json::parse(raw.get()).map_err(|error| RpcError::params(format!("`{name}`: {error}")))
}

/// Returns the caller's time, or the system's.
pub fn instant(text: Option<String>) -> Result<i64, RpcError> {
    let Some(text) = text else { return Ok(guard_sdk::system_time()) };
    let bad = || RpcError::failed("bad_time", format!("`{text}` is not an RFC 3339 time"));
    time::parse_rfc3339(&text).ok_or_else(bad)
}

/// Parses a number of a request to 10⁻⁶ units. The number may be in quotes.
pub fn amount(name: &str, raw: &RawValue) -> Result<i64, RpcError> {
    decimal::parse(raw.get().trim_matches('"')).ok_or_else(|| {
        RpcError::params(format!("`{name}` is a number with at most six decimal places"))
    })
}

/// Returns the budgets that a session shares with others.
pub fn shared(requested: BTreeMap<String, SharedService>) -> Result<Vec<SharedBudget>, RpcError> {
    let budget = |(unit, shared): (String, SharedService)| {
        Ok(SharedBudget { unit, key: shared.budget, limit: amount("limit", &shared.limit)? })
    };
    requested.into_iter().map(budget).collect()
}

/// Parses the lists in `known`: an object of arrays.
pub fn known_lists(known: Option<&RawValue>) -> Result<Lists, RpcError> {
    let Some(known) = known else { return Ok(Lists::default()) };
    let wrong = || RpcError::params("`known` is an object of arrays");
    let Json::Object(lists) = json("known", known)? else { return Err(wrong()) };
    let list = |(name, list): (Box<str>, Json)| match list {
        Json::Array(values) => Ok((name.into(), values)),
        _ => Err(wrong()),
    };
    lists.into_iter().map(list).collect()
}

/// Parses the arguments of a call that a person names. Missing arguments are those of a tool
/// without parameters.
pub fn exact_args(args: Option<Box<RawValue>>) -> Result<Json, RpcError> {
    args.map_or_else(|| Ok(Json::Object(Vec::new())), |args| json("args", &args))
}
