//! What a session can tell of the references of a contract, and what it says of a text (semantics §12, §14).

use crate::eval::Context;
use crate::kernel::Kernel;
use crate::session::Session;
use crate::world::NoWorld;
use guard_contract::{Checker, Input, Known, Schemas};
use guard_plan::json::Json;
use guard_plan::plan::{Allowed, CheckKind, Contract, ContractId, FactId, Plan, TypeDef};
use guard_plan::report::Report;
use guard_plan::value::Value;
use guard_plan::{decimal, key};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What one session knows, for the references of one contract.
pub struct SessionKnown<'a> {
    kernel: &'a Kernel,
    session: &'a Session,
    contract: &'a Contract,
    given: &'a BTreeMap<String, Vec<Json>>,
    /// The collections that references name, each evaluated once.
    values: Vec<OnceCell<Option<Value>>>,
}

/// A contract by which checks judge files.
pub(crate) struct Judge {
    contract: ContractId,
    /// None where no check asks for it; or why it cannot be made ready.
    checker: Result<Option<Checker>, String>,
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("contract", &self.contract).finish_non_exhaustive()
    }
}

/// The contracts of a plan, made ready where a check asks for them.
pub(crate) fn judges(plan: &Plan, schemas: &dyn Schemas) -> Box<[Judge]> {
    let attests = plan.attests.iter().flat_map(|attest| &attest.dimensions).map(|one| &one.checks);
    let checks = plan.completion.iter().map(|completion| &completion.checks).chain(attests);
    let asked: BTreeSet<ContractId> = checks
        .flat_map(|checks| &checks.0)
        .filter_map(|check| match check.kind {
            CheckKind::Conforms(_, contract) => Some(contract),
            _ => None,
        })
        .collect();
    let judge = |contract: ContractId| {
        let ready = || Checker::with_schemas(plan, contract as usize, schemas);
        let checker = asked.contains(&contract).then(ready).transpose();
        Judge { contract, checker: checker.map_err(|why| why.to_string()) }
    };
    (0..plan.contracts.len() as ContractId).map(judge).collect()
}

impl Judge {
    /// What is said of a text, by what the session knows; nothing else is handed over.
    pub fn report(&self, cx: &Context<'_>, text: &str) -> Result<Report, String> {
        let checker = self.checker.as_ref().map_err(String::clone)?;
        let nothing = BTreeMap::new();
        let known = cx.kernel.known(cx.session, self.contract as usize, &nothing);
        let (Some(checker), Some(known)) = (checker, known) else {
            return Err("the plan does not ask for it".into());
        };
        let workspace = cx.session.workspace();
        let input = Input { finish_reason: None, known: &known, workspace };
        Ok(checker.check(text.as_bytes(), &input))
    }
}

impl Kernel {
    /// What a session knows for the contract at a place of the plan; `given` are the lists that the host hands over,
    /// by name. None where the plan has no such contract.
    pub fn known<'a>(
        &'a self,
        session: &'a Session,
        contract: usize,
        given: &'a BTreeMap<String, Vec<Json>>,
    ) -> Option<SessionKnown<'a>> {
        let contract = self.plan().contracts.get(contract)?;
        let values = vec![OnceCell::new(); contract.references.len()];
        Some(SessionKnown { kernel: self, session, contract, given, values })
    }
}

impl Known for SessionKnown<'_> {
    fn fact(&self, fact: FactId, value: &Json) -> Option<bool> {
        let plan = self.kernel.plan();
        let row = plan.types.get(plan.facts.get(fact as usize)?.row as usize)?;
        let TypeDef::Record { fields, .. } = row else { return None };
        let matches = |id, text: &str| self.kernel.matches(id, text);
        let decoder = self.kernel.decoder(self.session, false, &matches);
        let Ok(value) = decoder.decode(fields.first()?.ty, value) else {
            // What is no value of the column is in no row.
            return Some(false);
        };
        Some(self.session.facts.get(fact as usize)?.known(1, &key::of(&[value])))
    }

    fn given(&self, name: &str, value: &Json) -> Option<bool> {
        Some(self.given.get(name)?.contains(value))
    }

    fn value(&self, reference: usize, value: &Json) -> Option<bool> {
        let values = self.values.get(reference)?.get_or_init(|| {
            let Allowed::Values(expr) = &self.contract.references.get(reference)?.allowed else {
                return None;
            };
            let (kernel, session) = (self.kernel, self.session);
            kernel.evaluate(session, expr, session.now(), &mut NoWorld).ok()
        });
        match values.as_ref()? {
            Value::List(items) => any(items.iter(), value),
            Value::Set(items) => any(items.iter(), value),
            Value::Map(entries) => {
                let Json::String(key) = value else { return Some(false) };
                Some(entries.contains_key(key))
            }
            _ => None,
        }
    }
}

/// Whether one of the values is this one. None where that cannot be told of their kind.
fn any<'v>(mut values: impl Iterator<Item = &'v Value>, json: &Json) -> Option<bool> {
    values.try_fold(false, |found, value| Some(found | same(value, json)?))
}

fn same(value: &Value, json: &Json) -> Option<bool> {
    Some(match (value, json) {
        (Value::String(text) | Value::Path(text), Json::String(other)) => text == other,
        (Value::Url(url), Json::String(other)) => url.text == *other,
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
