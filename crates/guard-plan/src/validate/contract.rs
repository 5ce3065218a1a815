//! The structure of contracts: a list follows the lists that contain it, and its field has a list
//! type.

use super::expression::ExpressionScope;
use super::{PlanChecker, ValidationResult, ascending, ensure, in_range};
use crate::plan::*;

/// The maximum number of lists, and of references, in a contract.
const MAX_PARTS: usize = 1000;
/// The maximum nesting depth that a contract may allow for an item.
const MAX_DEPTH: u32 = 100;

impl PlanChecker<'_> {
    pub(super) fn contracts(&mut self) -> ValidationResult {
        ascending(self.plan.contracts.iter().map(|contract| &contract.name), "contracts")?;
        self.plan.contracts.iter().try_for_each(|contract| {
            self.contract(contract).map_err(|why| format!("contract `{}`: {why}", contract.name))
        })
    }

    fn contract(&mut self, contract: &Contract) -> ValidationResult {
        ensure(contract.lists.len() <= MAX_PARTS, || format!("more than {MAX_PARTS} lists"))?;
        let few = contract.references.len() <= MAX_PARTS;
        ensure(few, || format!("more than {MAX_PARTS} references"))?;
        self.members(contract.record)?;
        for (at, list) in contract.lists.iter().enumerate() {
            self.list(contract, at).map_err(|why| format!("list `{}`: {why}", list.name))?;
        }
        self.root(contract)?;
        let depth = contract.bounds.depth;
        ensure((1..=MAX_DEPTH).contains(&depth), || format!("items may nest {depth} deep"))?;
        contract.references.iter().try_for_each(|reference| {
            self.reference(contract, reference)
                .map_err(|why| format!("reference `{}`: {why}", reference.text))
        })
    }

    /// Checks the root. A document that is not an envelope has one field, which is its list or
    /// value.
    fn root(&self, contract: &Contract) -> ValidationResult {
        let lists = contract.lists.iter().filter(|list| list.within.is_none()).count();
        let single = self.members(contract.record)?.len() == 1;
        match contract.root {
            Root::Envelope => Ok(()),
            Root::Items => ensure(single && lists == 1, || "its document is not a list".into()),
            Root::Value => ensure(single && lists == 0, || "its document is not a value".into()),
        }
    }

    /// Returns the fields of a record.
    fn members(&self, ty: TypeId) -> Result<&[Field], String> {
        self.ty(ty)?;
        match &self.plan.types[ty as usize] {
            TypeDef::Record { fields, .. } => Ok(fields),
            _ => Err(format!("type {ty} is not a record")),
        }
    }

    fn list(&self, contract: &Contract, at: usize) -> ValidationResult {
        let list = &contract.lists[at];
        let around = match list.within {
            None => contract.record,
            Some(outer) => {
                in_range(outer, at, "list")?;
                match contract.lists[outer as usize].shape {
                    ItemShape::Type(ty) => ty,
                    ItemShape::Schema { .. } => return Err("it is within a schema's items".into()),
                }
            }
        };
        let fields = self.members(around)?;
        in_range(list.field, fields.len(), "field")?;
        let field = &fields[list.field as usize];
        ensure(*field.name == list.name, || format!("its field is `{}`", field.name))?;
        let before = contract.lists[..at].iter();
        let mut same =
            before.filter(|earlier| (earlier.within, earlier.field) == (list.within, list.field));
        ensure(same.next().is_none(), || "it is there twice".into())?;
        let TypeDef::List { of, .. } = self.plan.types[field.ty as usize] else {
            return Err("its field is not a list".into());
        };
        let item = &self.plan.types[of as usize];
        match (&list.shape, item) {
            (ItemShape::Schema { .. }, TypeDef::Json) => Ok(()),
            (ItemShape::Schema { .. }, _) => Err("its items have a type and a schema".into()),
            (ItemShape::Type(ty), _) if *ty != of => Err("its items are of another type".into()),
            (_, TypeDef::Json) => Ok(()),
            (_, TypeDef::Record { .. } | TypeDef::Union { .. }) => {
                let cases = match item {
                    TypeDef::Union { cases, .. } => cases.iter().map(|case| case.ty).collect(),
                    _ => vec![of],
                };
                for case in cases {
                    let fields = self.members(case)?;
                    let ranked =
                        list.by.as_ref().is_none_or(|by| fields.iter().any(|f| *f.name == **by));
                    ensure(ranked, || "its items have no such rank".into())?;
                }
                Ok(())
            }
            _ => Err("its items are not objects".into()),
        }
    }

    fn reference(&mut self, contract: &Contract, reference: &Reference) -> ValidationResult {
        if let Some(list) = reference.list {
            in_range(list, contract.lists.len(), "list")?;
        }
        ensure(!reference.path.is_empty(), || "it refers by nothing".into())?;
        match &reference.allowed {
            Allowed::Fact(fact) => in_range(*fact, self.plan.facts.len(), "fact"),
            Allowed::Given(name) => ensure(!name.is_empty(), || "a list without a name".into()),
            Allowed::Values(values) => self.expression(&ExpressionScope::COMMITTED, values),
        }
    }
}
