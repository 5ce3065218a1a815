//! Changes of contracts: whether a text may be judged otherwise. Which of two contracts is stricter is not decided.

use super::proof::Sides;
use crate::hir::canon::Canon;
use crate::hir::{Allowed, Contract, ItemShape, Program, Type};
use std::collections::{BTreeMap, BTreeSet};

/// The contracts that differ, in words, sorted.
pub(super) fn changed(sides: &Sides) -> Vec<String> {
    let before = texts(sides.old);
    let after = texts(sides.new);
    let old = |name: &str| sides.old.contracts.iter().find(|contract| contract.name == name);
    let mut changed: Vec<String> = Vec::new();
    for (name, text) in &after {
        match before.get(name) {
            None => changed.push(format!("the contract `{name}` is new")),
            Some(known) if known != text => {
                changed.push(format!("the contract `{name}` judges texts differently"));
            }
            Some(_) => {
                if old(name).is_some_and(|old| sides.judges_otherwise(old)) {
                    let what = "refers to values that come about differently";
                    changed.push(format!("the contract `{name}` {what}"));
                }
            }
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
    let mut secrets: BTreeSet<&str> = BTreeSet::new();
    secret_names(program, &Type::Record(contract.record), &mut secrets);
    let mut lists: Vec<String> = Vec::new();
    for list in &contract.lists {
        let shape = match &list.shape {
            ItemShape::Type(ty) => {
                secret_names(program, ty, &mut secrets);
                canon.ty(ty)
            }
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
    let (root, bounds) = (contract.root, &contract.bounds);
    format!("{root:?} {document} {lists:?} {bounds:?} {references:?} {secrets:?}")
}

/// Collects the names of the secret members of a type. Errors do not show their values.
fn secret_names<'p>(program: &'p Program, ty: &Type, names: &mut BTreeSet<&'p str>) {
    match ty.required() {
        Type::Record(id) => {
            let record = &program.records[*id];
            for field in &record.fields {
                names.extend(field.secret.then_some(&*field.wire));
                secret_names(program, &field.ty, names);
            }
            for (_, case) in record.union.iter().flat_map(|union| &union.cases) {
                secret_names(program, &Type::Record(*case), names);
            }
        }
        Type::List(element, _) | Type::Set(element, _) | Type::Map(_, element, _) => {
            secret_names(program, element, names);
        }
        _ => {}
    }
}
