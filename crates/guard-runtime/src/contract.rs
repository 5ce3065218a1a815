//! A session's answers to the references of a contract, and the contract's report on a text
//! (semantics §12, §14).

use crate::compiled::CompiledPlan;
use crate::compiled::contracts::CompiledContract;
use crate::eval::context::Context;
use crate::evaluate;
use crate::session::SessionState;
use crate::world::NoWorld;
use guard_contract::{Input, Known};
use guard_plan::json::Json;
use guard_plan::plan::{Allowed, Contract, FactId, TypeDef};
use guard_plan::report::Report;
use guard_plan::value::Value;
use guard_plan::{decimal, key};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// The knowledge of one session, for the references of one contract.
pub struct SessionKnown<'a> {
    compiled: &'a CompiledPlan,
    session: &'a SessionState,
    contract: &'a Contract,
    given: &'a BTreeMap<String, Vec<Json>>,
    /// The collections that references name, each evaluated at most once.
    values: Vec<OnceCell<Option<Value>>>,
}

/// Returns the contract's report on a text, based on the session's knowledge; the host provides no
/// further lists.
pub(crate) fn report(
    ready: &CompiledContract,
    cx: &Context<'_>,
    text: &str,
) -> Result<Report, String> {
    let checker = ready.checker.as_ref().map_err(String::clone)?;
    let nothing = BTreeMap::new();
    let known = known(cx.compiled, cx.session, ready.contract as usize, &nothing);
    let (Some(checker), Some(known)) = (checker, known) else {
        return Err("the plan does not ask for it".into());
    };
    let workspace = cx.session.workspace();
    let input = Input { finish_reason: None, known: &known, workspace };
    Ok(checker.check(text.as_bytes(), &input))
}

/// Returns a session's knowledge for the contract with an index in the plan; `given` are the lists
/// that the host provides, by name. `None` if the plan has no such contract.
pub(crate) fn known<'a>(
    compiled: &'a CompiledPlan,
    session: &'a SessionState,
    contract: usize,
    given: &'a BTreeMap<String, Vec<Json>>,
) -> Option<SessionKnown<'a>> {
    let contract = compiled.plan().contracts.get(contract)?;
    let values = vec![OnceCell::new(); contract.references.len()];
    Some(SessionKnown { compiled, session, contract, given, values })
}

impl Known for SessionKnown<'_> {
    fn fact(&self, fact: FactId, value: &Json) -> Option<bool> {
        let plan = self.compiled.plan();
        let row = plan.types.get(plan.facts.get(fact as usize)?.row as usize)?;
        let TypeDef::Record { fields, .. } = row else { return None };
        let matches = |id, text: &str| self.compiled.matches(id, text);
        let decoder = self.compiled.decoder(&self.session.workspace, false, &matches);
        let Ok(value) = decoder.decode(fields.first()?.ty, value) else {
            // A text that is not a value of the column's type is not in any row.
            return Some(false);
        };
        Some(self.session.facts.get(fact as usize)?.known(1, &key::encode(&[value])))
    }

    fn given(&self, name: &str, value: &Json) -> Option<bool> {
        Some(self.given.get(name)?.contains(value))
    }

    fn value(&self, reference: usize, value: &Json) -> Option<bool> {
        let values = self.values.get(reference)?.get_or_init(|| {
            let Allowed::Values(expr) = &self.contract.references.get(reference)?.allowed else {
                return None;
            };
            let session = self.session;
            evaluate::evaluate(self.compiled, session, expr, session.now(), &mut NoWorld).ok()
        });
        match values.as_ref()? {
            Value::List(items) => any(items.iter(), value),
            Value::Set(items) => any(items.iter(), value),
            Value::Map(entries) => {
                let key: Box<str> = match value {
                    Json::String(key) => key.clone(),
                    Json::Int(number) => number.to_string().into(),
                    Json::Bool(truth) => truth.to_string().into(),
                    _ => return Some(false),
                };
                Some(entries.contains_key(&key))
            }
            _ => None,
        }
    }
}

/// Returns true if one of the values equals this one; `None` if values of their kind cannot be
/// compared.
fn any<'v>(mut values: impl Iterator<Item = &'v Value>, json: &Json) -> Option<bool> {
    values.try_fold(false, |found, value| Some(found | same(value, json)?))
}

fn same(value: &Value, json: &Json) -> Option<bool> {
    Some(match (value, json) {
        (Value::String(text) | Value::Path(text), Json::String(other)) => text == other,
        (Value::Url(url), Json::String(other)) => url.text == *other,
        // The number is read from its text, because a float would make different 20-digit ids
        // equal.
        (Value::Int(int), Json::Int(_) | Json::Number(_)) => json.to_string().parse() == Ok(*int),
        (Value::Decimal(units), Json::Int(_) | Json::Number(_)) => {
            decimal::parse(&json.to_string()) == Some(*units)
        }
        (Value::Bool(truth), Json::Bool(other)) => truth == other,
        (
            Value::String(_)
            | Value::Path(_)
            | Value::Url(_)
            | Value::Int(_)
            | Value::Decimal(_)
            | Value::Bool(_),
            _,
        ) => false,
        _ => return None,
    })
}
