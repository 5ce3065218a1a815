//! Contracts.

use super::Lowering;
use crate::hir;
use crate::types::record_in;
use guard_plan::plan;
use std::collections::BTreeSet;

impl Lowering<'_> {
    pub(super) fn contract(&mut self, contract: &hir::Contract) -> plan::Contract {
        let span = self.span(contract.span);
        // Sorted by path, so that a list comes after the list around it.
        let mut order: Vec<usize> = (0..contract.lists.len()).collect();
        order.sort_by_key(|at| &contract.lists[*at].path);
        let place =
            |declared: usize| order.iter().position(|at| *at == declared).unwrap_or(0) as u32;
        let list = |list: &hir::ItemList| plan::ItemList {
            within: list.within.map(place),
            field: list.field as u32,
            name: list.wire.last().cloned().unwrap_or_default(),
            shape: match &list.shape {
                hir::ItemShape::Type(ty) => plan::ItemShape::Type(self.tables.ty(ty)),
                hir::ItemShape::Schema(file, text) => {
                    plan::ItemShape::Schema { file: file.clone(), text: text.clone() }
                }
            },
            max: list.max,
            by: list.by.clone(),
            partial: list.partial,
        };
        let lists = order.iter().map(|at| list(&contract.lists[*at])).collect();
        let mut references: Vec<plan::Reference> = Vec::new();
        for reference in &contract.references {
            references.push(plan::Reference {
                list: reference.list.map(place),
                path: reference.path.clone(),
                allowed: match &reference.allowed {
                    hir::Allowed::Fact(fact) => plan::Allowed::Fact(self.tables.facts.of(*fact)),
                    hir::Allowed::Given(name) => plan::Allowed::Given(name.clone()),
                    hir::Allowed::Values(values) => plan::Allowed::Values(self.expr(values)),
                },
                text: reference.text.clone(),
                span: self.span(reference.span),
            });
        }
        references.sort_by(|a, b| (a.list, &a.text).cmp(&(b.list, &b.text)));
        plan::Contract {
            name: contract.name.clone(),
            doc: contract.doc.clone(),
            span,
            root: contract.root,
            record: self.tables.ty(&hir::Type::Record(contract.record)),
            lists,
            bounds: contract.bounds,
            references,
            coercions: self.coercions(contract),
        }
    }

    /// The members of the contract's records that are taken in another form too.
    fn coercions(&self, contract: &hir::Contract) -> Vec<plan::Coercion> {
        let mut seen = BTreeSet::from([contract.record]);
        let mut open = vec![contract.record];
        let mut coercions = Vec::new();
        while let Some(record) = open.pop() {
            let def = &self.program.records[record];
            let ty = self.tables.ty(&hir::Type::Record(record));
            for (at, field) in def.fields.iter().enumerate() {
                let coercion = |from| plan::Coercion { record: ty, field: at as u32, from };
                coercions.extend(field.from.map(coercion));
                open.extend(record_in(&field.ty).filter(|record| seen.insert(*record)));
            }
            let cases = def.union.iter().flat_map(|union| &union.cases);
            open.extend(cases.map(|case| case.1).filter(|record| seen.insert(*record)));
        }
        coercions.sort();
        coercions
    }
}
