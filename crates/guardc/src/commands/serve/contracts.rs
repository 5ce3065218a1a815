//! Judges producers' texts over the sidecar.

use super::rpc::Error;
use crate::near;
use guard_contract::{Checker, Input};
use guard_plan::json::Json;
use guard_plan::plan::Plan;
use guard_plan::report::Report;
use guard_runtime::{Kernel, Session};
use guard_schema::JsonSchemas;
use serde_json::json;
use std::collections::BTreeMap;

/// A text to be judged.
pub struct Judged<'a> {
    /// The name of the contract.
    pub contract: &'a str,
    /// The text.
    pub text: &'a str,
    /// The reason why the producer stopped, as it reports.
    pub finish_reason: Option<&'a str>,
    /// The lists that the host provides, by name.
    pub given: &'a BTreeMap<String, Vec<Json>>,
}

/// Returns the index of a contract in a plan.
pub fn find(plan: &Plan, name: &str) -> Result<usize, Error> {
    let names = || plan.contracts.iter().map(|contract| contract.name.as_str());
    names().position(|known| known == name).ok_or_else(|| {
        let near = near::did_you_mean(name, names()).map(|near| format!("; {near}"));
        let message = format!("there is no contract `{name}`{}", near.unwrap_or_default());
        Error::failed("no_such_contract", message)
    })
}

/// Parses the lists in `known`: an object of arrays.
pub fn given(known: Json) -> Result<BTreeMap<String, Vec<Json>>, Error> {
    let wrong = || Error::params("`known` is an object of arrays");
    let Json::Object(lists) = known else { return Err(wrong()) };
    let list = |(name, list): (Box<str>, Json)| match list {
        Json::Array(values) => Ok((name.into(), values)),
        _ => Err(wrong()),
    };
    lists.into_iter().map(list).collect()
}

/// The report on a text.
pub fn check(kernel: &Kernel, session: &Session, judged: &Judged) -> Result<Report, Error> {
    let contract = find(kernel.plan(), judged.contract)?;
    let cannot = |why: String| Error::failed("bad_contract", why);
    let checker = Checker::with_schemas(kernel.plan(), contract, &JsonSchemas)
        .map_err(|e| cannot(e.to_string()))?;
    let known = kernel.known(session, contract, judged.given);
    let known = known.ok_or_else(|| cannot("the plan does not have it".into()))?;
    let (finish_reason, workspace) = (judged.finish_reason, session.workspace());
    let input = Input { finish_reason, known: &known, workspace };
    Ok(checker.check(judged.text.as_bytes(), &input))
}

/// Formats a report for the response.
pub fn text(report: &Report) -> Result<String, Error> {
    serde_json::to_string(report).map_err(|error| Error::failed("internal", error.to_string()))
}

/// The JSON Schema of a contract.
pub fn schema(plan: &Plan, contract: usize) -> String {
    json!({ "schema": guard_contract::schema(plan, contract) }).to_string()
}

/// Returns the instructions for a producer.
pub fn prompt(plan: &Plan, contract: usize) -> String {
    json!({ "prompt": guard_contract::prompt(plan, contract) }).to_string()
}
