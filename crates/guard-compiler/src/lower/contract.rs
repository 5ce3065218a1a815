//! Contracts.

use super::Lowering;
use crate::hir;
use guard_plan::plan;

impl Lowering<'_> {
    pub(super) fn contract(&self, contract: &hir::Contract) -> plan::Contract {
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
        let reference = |reference: &hir::Reference| plan::Reference {
            list: reference.list.map(place),
            path: reference.path.clone(),
            allowed: match &reference.allowed {
                hir::Allowed::Fact(fact) => plan::Allowed::Fact(self.tables.facts.id(*fact)),
                hir::Allowed::Given(name) => plan::Allowed::Given(name.clone()),
                hir::Allowed::Values(values) => plan::Allowed::Values(self.expr(values)),
            },
            text: reference.text.clone(),
            span: self.span(reference.span),
        };
        let mut references: Vec<_> = contract.references.iter().map(reference).collect();
        references.sort_by(|a, b| (a.list, &a.text).cmp(&(b.list, &b.text)));
        plan::Contract {
            name: contract.name.clone(),
            doc: contract.doc.clone(),
            span: self.span(contract.span),
            root: contract.root,
            record: self.tables.ty(&hir::Type::Record(contract.record)),
            lists,
            bounds: contract.bounds,
            references,
        }
    }
}
