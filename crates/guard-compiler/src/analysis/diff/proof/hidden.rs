//! Comparison of what records hide.

use crate::hir::{Field, Learn, ProbeAsks, Program, Tool, Type};
use guard_plan::plan::{SourceKind, TakenForms};
use std::collections::BTreeSet;

/// Returns what the old guard hides in records and the new one may not, as sentences.
pub(in crate::analysis::diff) fn hidden(old: &Program, new: &Program) -> BTreeSet<String> {
    let mut found = HiddenParts { old, new, open: BTreeSet::new() };
    found.tools();
    found.probes();
    for var in old.state.iter().filter(|var| old.holds_secrets(&var.ty)) {
        if let Some(now) = new.state.iter().find(|now| now.name == var.name) {
            found.place(&format!("`{}`", var.name), &var.ty, Some(&now.ty));
        }
    }
    for fact in old.facts.iter().filter(|fact| old.holds_secrets(&Type::Record(fact.row))) {
        if let Some(now) = new.facts.iter().find(|now| now.name == fact.name) {
            let row = Type::Record(now.row);
            found.place(&format!("`{}`", fact.name), &Type::Record(fact.row), Some(&row));
        }
    }
    for lifecycle in &old.lifecycles {
        if let Some(now) = new.lifecycles.iter().find(|now| now.name == lifecycle.name)
            && lifecycle.fields.iter().any(|field| hides(old, field))
        {
            found.fields(&lifecycle.name, &lifecycle.fields, &now.fields);
        }
    }
    found.records();
    found.names();
    if teaches_secrets(old) && !teaches_secrets(new) {
        found.open.insert("the data of a session's beginning is recorded in clear".into());
    }
    found.open
}

struct HiddenParts<'p> {
    old: &'p Program,
    new: &'p Program,
    /// What the new guard records in clear, as sentences.
    open: BTreeSet<String>,
}

impl HiddenParts<'_> {
    fn tools(&mut self) {
        for tool in &self.old.tools {
            let known = self.open.len();
            let name = &tool.wire_name;
            let Some(now) = self.new.tool_on_wire(name).map(|at| &self.new.tools[at]) else {
                if tool_hides(self.old, tool) {
                    self.other(&format!("the arguments of `{name}`"));
                }
                continue;
            };
            if tool.params.iter().any(|param| hides(self.old, param)) {
                self.fields(name, &tool.params, &now.params);
            }
            // The parameters decide, too, whether the text of a result is hidden.
            if tool_hides(self.old, tool) {
                let place = format!("the result of `{name}`");
                if let Some(ty) = &tool.returns {
                    self.forms(&place, (ty, &tool.forms), now.returns.as_ref(), &now.forms);
                }
                if !tool_hides(self.new, now) {
                    self.other_than(known, &place);
                }
            }
        }
    }

    fn probes(&mut self) {
        let mut commands = BTreeSet::new();
        self.new.each_command(&mut |command| _ = commands.insert(&command.argv));
        let hidden = |program: &Program, argv: &[String]| {
            program.probes.iter().any(|probe| {
                matches!(&probe.asks, ProbeAsks::Command(command) if command.argv == argv)
                    && program.holds_secrets(&probe.returns)
            })
        };
        for probe in self.old.probes.iter().filter(|probe| self.old.holds_secrets(&probe.returns)) {
            let place = format!("the answer of `{}`", probe.name);
            let now = self.new.probes.iter().find(|now| now.name == probe.name);
            let own = TakenForms::default();
            let forms = now.map_or(&own, |now| &now.forms);
            self.forms(&place, (&probe.returns, &probe.forms), now.map(|now| &now.returns), forms);
            if let ProbeAsks::Command(command) = &probe.asks
                && commands.contains(&command.argv)
                && !hidden(self.new, &command.argv)
            {
                self.other(&format!("the output of `{}`", command.argv.join(" ")));
            }
        }
    }

    /// Compares a type that is also accepted in other forms.
    fn forms(
        &mut self,
        place: &str,
        (old, forms): (&Type, &TakenForms),
        new: Option<&Type>,
        now: &TakenForms,
    ) {
        self.place(place, old, new);
        if self.old.holds_secrets(old) && forms != now {
            self.other(place);
        }
    }

    /// Records of the same name: they may also be the types of values that only rules read.
    fn records(&mut self) {
        for record in &self.old.records {
            let now = self.new.records.iter().find(|now| now.name == record.name);
            for field in record.fields.iter().filter(|field| field.secret) {
                let now = now.and_then(|now| now.fields.iter().find(|f| f.wire == field.wire));
                if now.is_some_and(|now| !now.secret) {
                    self.field(&record.name, field);
                }
            }
        }
    }

    /// Under an undeclared tool, the members with the name of a secret are hidden.
    fn names(&mut self) {
        let names = |program: &Program| -> BTreeSet<String> {
            let params = program.tools.iter().flat_map(|tool| &tool.params);
            let fields = program.records.iter().flat_map(|record| &record.fields);
            let lifecycles = program.lifecycles.iter().flat_map(|lifecycle| &lifecycle.fields);
            let secret = params.chain(fields).chain(lifecycles).filter(|field| field.secret);
            secret.map(|field| field.wire.clone()).collect()
        };
        for name in names(self.old).difference(&names(self.new)) {
            let field = format!("`{name}` of ");
            if self.open.iter().any(|sentence| sentence.starts_with(&field)) {
                continue;
            }
            self.open.insert(format!("`{name}` is not the name of a secret any more"));
        }
    }

    /// Compares a type with the one in the same place.
    fn place(&mut self, place: &str, old: &Type, new: Option<&Type>) {
        let known = self.open.len();
        let same = match new {
            Some(new) => self.ty(old, new),
            None => clear(self.old, old),
        };
        // A value that does not have its type is hidden if the type has secrets.
        let keeps =
            !self.old.holds_secrets(old) || new.is_some_and(|new| self.new.holds_secrets(new));
        if !same || !keeps {
            self.other_than(known, place);
        }
    }

    /// Returns false if values of the old type have hidden parts that the new type may show, and no
    /// field says so.
    fn ty(&mut self, old: &Type, new: &Type) -> bool {
        let (old, new) = (old.required(), new.required());
        if clear(self.old, old) {
            return true;
        }
        if self.old.holds_secrets(old) && !self.new.holds_secrets(new) {
            // Some field may say which part it is.
            self.inner(old, new);
            return false;
        }
        self.inner(old, new)
    }

    fn inner(&mut self, old: &Type, new: &Type) -> bool {
        match (old, new) {
            (Type::Record(a), Type::Record(b)) => {
                let (a, b) = (&self.old.records[*a], &self.new.records[*b]);
                match (&a.union, &b.union) {
                    (None, None) => {
                        self.fields(&a.name, &a.fields, &b.fields);
                        true
                    }
                    // A union with secrets is hidden as a whole.
                    (_, Some(_)) => self.new.holds_secrets(new),
                    (Some(_), None) => false,
                }
            }
            (Type::List(a, _) | Type::Set(a, _), Type::List(b, _) | Type::Set(b, _))
            | (Type::Map(_, a, _), Type::Map(_, b, _)) => self.ty(a, b),
            _ => false,
        }
    }

    /// Compares the fields of two objects. A member that is not declared is hidden.
    fn fields(&mut self, owner: &str, old: &[Field], new: &[Field]) {
        let known = self.open.len();
        for field in new.iter().filter(|field| !field.secret) {
            match old.iter().find(|was| was.wire == field.wire) {
                Some(was) if was.secret => self.field(owner, was),
                Some(was) => {
                    let known = self.open.len();
                    if !self.ty(&was.ty, &field.ty) {
                        self.other_than(known, &format!("`{}` of `{owner}`", field.name));
                    }
                }
                None => self.other(&format!("`{}` of `{owner}`", field.name)),
            }
        }
        let secret = |fields: &[Field], program| fields.iter().any(|field| hides(program, field));
        if secret(old, self.old) && !secret(new, self.new) {
            self.other_than(known, &format!("a value of `{owner}`"));
        }
    }

    fn field(&mut self, owner: &str, field: &Field) {
        self.open.insert(format!("`{}` of `{owner}` is not secret any more", field.name));
    }

    /// Reports a place, unless its parts have been reported since this many sentences.
    fn other_than(&mut self, known: usize, place: &str) {
        if self.open.len() == known {
            self.other(place);
        }
    }

    fn other(&mut self, place: &str) {
        self.open.insert(format!("parts of {place} that were hidden may be recorded in clear"));
    }
}

/// Returns true if nothing of a value of the type is hidden, wherever it is. A record hides members that
/// are not declared if it is in a place with secrets.
fn clear(program: &Program, ty: &Type) -> bool {
    match ty.required() {
        Type::Record(id) if program.records[*id].union.is_some() => !program.holds_secrets(ty),
        Type::Record(_) => false,
        Type::List(element, _) | Type::Set(element, _) | Type::Map(_, element, _) => {
            clear(program, element)
        }
        _ => true,
    }
}

fn hides(program: &Program, field: &Field) -> bool {
    field.secret || program.holds_secrets(&field.ty)
}

fn tool_hides(program: &Program, tool: &Tool) -> bool {
    tool.params.iter().any(|param| hides(program, param))
        || tool.returns.as_ref().is_some_and(|ty| program.holds_secrets(ty))
}

/// Returns true if the data of a session's beginning teaches secrets: it is then hidden as a whole.
fn teaches_secrets(program: &Program) -> bool {
    let start = program.sources.iter().filter(|source| source.kind == SourceKind::Start);
    let secret =
        |learn: &Learn| program.holds_secrets(&Type::Record(program.facts[learn.fact].row));
    start.flat_map(|source| &source.learns).any(|(_, learn)| secret(learn))
}
