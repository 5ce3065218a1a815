//! Matching of declarations between two plans. Two declarations match if they have the same name
//! and their values have the same form.

use crate::session::items::ItemCriterion;
use guard_plan::plan::{Field, Lifecycle, Plan, Tool, TypeDef, TypeId};

/// The indexes in the old plan of the declarations of the new one.
pub(super) struct OldPositions {
    old: Plan,
    new: Plan,
    tools: Vec<Option<usize>>,
    vars: Vec<Option<usize>>,
    units: Vec<Option<usize>>,
}

fn places<T>(old: &[T], new: &[T], name: impl Fn(&T) -> &str) -> Vec<Option<usize>> {
    let place = |item: &T| old.iter().position(|known| name(known) == name(item));
    new.iter().map(place).collect()
}

impl OldPositions {
    pub fn new(old: &Plan, new: &Plan) -> OldPositions {
        OldPositions {
            tools: places(&old.tools, &new.tools, |tool| &tool.wire_name),
            vars: places(&old.state, &new.state, |var| &var.name),
            units: places(&old.units, &new.units, |unit| &unit.name),
            old: old.clone(),
            new: new.clone(),
        }
    }

    /// Returns the index in the old plan of a tool of the new one.
    pub fn tool(&self, new: usize) -> Option<usize> {
        self.tools[new]
    }

    /// Returns the index in the new plan of a tool of the old one.
    pub fn new_tool(&self, old: usize) -> Option<usize> {
        self.tools.iter().position(|was| *was == Some(old))
    }

    pub fn var(&self, new: usize) -> Option<usize> {
        self.vars[new]
    }

    pub fn new_var(&self, old: usize) -> Option<usize> {
        self.vars.iter().position(|was| *was == Some(old))
    }

    pub fn unit(&self, new: usize) -> Option<usize> {
        self.units[new]
    }

    pub fn new_unit(&self, old: usize) -> Option<usize> {
        self.units.iter().position(|was| *was == Some(old))
    }

    /// Returns true if values of two types have the same form; their bounds are not compared.
    pub fn same_type(&self, old: TypeId, new: TypeId) -> bool {
        use TypeDef as T;
        let (Some(a), Some(b)) =
            (self.old.types.get(old as usize), self.new.types.get(new as usize))
        else {
            return false;
        };
        match (a, b) {
            (T::Option { of: a }, T::Option { of: b })
            | (T::List { of: a, .. }, T::List { of: b, .. })
            | (T::Set { of: a, .. }, T::Set { of: b, .. }) => self.same_type(*a, *b),
            (T::Map { key: k, of: a, .. }, T::Map { key: l, of: b, .. }) => {
                let keys = match (k, l) {
                    (Some(k), Some(l)) => self.same_type(*k, *l),
                    (k, l) => k == l,
                };
                keys && self.same_type(*a, *b)
            }
            (T::Record { fields: a, .. }, T::Record { fields: b, .. }) => self.same_fields(a, b),
            (T::Enum { variants: a, .. }, T::Enum { variants: b, .. }) => a == b,
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    pub fn same_fields(&self, old: &[Field], new: &[Field]) -> bool {
        let same = |(a, b): (&Field, &Field)| a.name == b.name && self.same_type(a.ty, b.ty);
        old.len() == new.len() && old.iter().zip(new).all(same)
    }

    /// Returns true if the arguments of a tool have the same form.
    pub fn same_params(&self, old: usize, new: usize) -> bool {
        self.same_fields(&self.old.tools[old].params, &self.new.tools[new].params)
    }

    pub fn same_result(&self, old: &Tool, new: &Tool) -> bool {
        match (old.returns, new.returns) {
            (Some(a), Some(b)) => self.same_type(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// Returns true if the items of two lifecycles have the same form.
    pub fn same_lifecycle(&self, old: &Lifecycle, new: &Lifecycle) -> bool {
        let names = |lifecycle: &Lifecycle| -> Vec<String> {
            lifecycle.transitions.iter().map(|transition| transition.name.clone()).collect()
        };
        old.states == new.states
            && names(old) == names(new)
            && self.same_fields(&old.fields, &new.fields)
    }

    /// Returns the criterion under the new plan. The error names the missing entity.
    pub fn criterion(&self, criterion: &ItemCriterion) -> Result<ItemCriterion, String> {
        let old = &self.old;
        let new = &self.new;
        match criterion {
            ItemCriterion::Command(id) => {
                let words = &old.commands[*id as usize].argv;
                let at = new.commands.iter().position(|command| command.argv == *words);
                at.map(|at| ItemCriterion::Command(at as u32))
                    .ok_or_else(|| format!("the command `{}`", words.join(" ")))
            }
            ItemCriterion::Probe(id) => {
                let name = &old.probes[*id as usize].name;
                let at = new.probes.iter().position(|known| known.name == *name);
                at.map(|at| ItemCriterion::Probe(at as u32))
                    .ok_or_else(|| format!("the probe `{name}`"))
            }
            other => Ok(other.clone()),
        }
    }
}
