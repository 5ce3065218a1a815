//! Changes of contracts: whether a text may be judged otherwise. Which of two contracts is stricter is not decided.

use crate::hir::canon::Canon;
use crate::hir::{Allowed, Contract, ItemShape, Program, Type};
use std::collections::BTreeMap;

/// The contracts that differ, in words, sorted.
pub(super) fn changed(old: &Program, new: &Program) -> Vec<String> {
    let before = texts(old);
    let after = texts(new);
    let mut changed: Vec<String> = Vec::new();
    for (name, text) in &after {
        match before.get(name) {
            None => changed.push(format!("the contract `{name}` is new")),
            Some(known) if known != text => {
                changed.push(format!("the contract `{name}` judges texts differently"));
            }
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    changed.extend(gone.map(|name| format!("the contract `{name}` is removed")));
    changed.sort();
    changed
}

fn texts(program: &Program) -> BTreeMap<&str, String> {
    program
        .contracts
        .iter()
        .map(|contract| (contract.name.as_str(), text(program, contract)))
        .collect()
}

/// All of a contract but its documentation, which decides nothing.
fn text(program: &Program, contract: &Contract) -> String {
    let canon = Canon(program);
    let document = canon.ty(&Type::Record(contract.record));
    let mut lists: Vec<String> = Vec::new();
    for list in &contract.lists {
        let shape = match &list.shape {
            ItemShape::Type(ty) => canon.ty(ty),
            ItemShape::Schema(_, text) => text.clone(),
        };
        let path = list.wire.join(".");
        lists.push(format!("{path} {shape} {:?} {:?} {}", list.max, list.by, list.partial));
    }
    lists.sort();
    let mut references: Vec<String> = Vec::new();
    for reference in &contract.references {
        let allowed = match &reference.allowed {
            Allowed::Fact(fact) => canon.fact(*fact),
            Allowed::Given(name) => name.clone(),
            Allowed::Values(values) => canon.expr(None, values),
        };
        references.push(format!("{} {:?} {allowed}", reference.text, reference.path));
    }
    references.sort();
    format!("{:?} {document} {lists:?} {:?} {references:?}", contract.root, contract.bounds)
}
