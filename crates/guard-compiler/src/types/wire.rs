//! JSON forms only for contracts: names of members that differ from their names in Guard, and
//! unions of records.

use super::TypeChecker;
use crate::errors;
use crate::hir::{Field, RecordId, Union};
use guard_syntax::ast::{self, Ident, Str};
use guard_syntax::span::Span;
use std::collections::HashMap;

/// The maximum length of a name in JSON, in characters.
const LONGEST: usize = 64;

impl TypeChecker<'_, '_> {
    /// Returns the name of a member in JSON.
    pub(super) fn wire_name(&mut self, name: &Ident, wire: Option<&Str>) -> String {
        let Some(wire) = wire else { return name.node.clone() };
        let odd = |c: char| c.is_control() || matches!(c, '"' | '\\' | '`');
        let why = match wire.node.chars().count() {
            0 => Some("an empty name".to_owned()),
            count if count > LONGEST => {
                Some(format!("a name of {count} characters, more than {LONGEST}"))
            }
            _ if wire.node.contains(odd) => Some(
                "a name with a quote, a backslash, a backtick or a control character".to_owned(),
            ),
            _ => None,
        };
        if let Some(why) = why {
            let help = "name the member as the producer writes it";
            self.report(errors::json_name(wire.span, &why, help));
        }
        wire.node.clone()
    }

    /// Reports members of one object that have the same name in JSON. Members with the same name in
    /// Guard are reported where they are declared.
    pub(super) fn distinct_wires(&mut self, members: &[Field]) {
        let mut seen: HashMap<&str, &Field> = HashMap::new();
        for field in members {
            let first = seen.insert(&field.wire, field);
            if let Some(first) = first.filter(|first| first.name != field.name) {
                self.report(errors::one_json_name(&field.wire, field.span, first.span));
            }
        }
    }

    /// Declares the unions, whose indexes come after those of the records.
    pub(super) fn unions(&mut self) {
        let names = self.names;
        let first = names.records.items.len();
        for (at, entry) in names.unions.items.iter().enumerate() {
            let tag = self.wire_name(&entry.decl.tag, entry.decl.wire.as_ref());
            let mut seen: HashMap<String, Span> = HashMap::new();
            let mut cases = Vec::new();
            for case in &entry.decl.cases {
                let text = self.wire_name(&case.record, case.wire.as_ref());
                let span = case.wire.as_ref().map_or(case.record.span, |wire| wire.span);
                if let Some(before) = seen.insert(text.clone(), span) {
                    let why = format!("two cases have the tag `{text}`");
                    let d = errors::untold(
                        span,
                        &why,
                        "give each a text of its own, as in `Run as \"run\"`",
                    );
                    self.report(d.also(before, "the other one"));
                    continue;
                }
                cases.extend(self.case(case, &tag).map(|record| (text, record)));
            }
            if entry.decl.cases.is_empty() {
                let why = format!("the union `{}` has no cases", entry.name.node);
                self.report(errors::untold(entry.name.span, &why, "name at least one record"));
            }
            self.program.records[first + at].union = Some(Union { tag, cases });
        }
    }

    /// Returns the record of a case.
    fn case(&mut self, case: &ast::UnionCase, tag: &str) -> Option<RecordId> {
        let names = self.names;
        let Some(record) = names.records.get(&case.record.node) else {
            let known = names.records.names();
            let other = names.unions.peek(&case.record.node).is_some()
                || names.enums.peek(&case.record.node).is_some();
            self.report(if other {
                let why = format!("`{}` is not a record", case.record.node);
                errors::untold(case.record.span, &why, "the cases of a union are records")
            } else {
                errors::unknown_type(&case.record, known)
            });
            return None;
        };
        let twin = self.program.records[record].fields.iter().find(|field| field.wire == tag);
        if let Some(twin) = twin.cloned() {
            let why = format!("`{}` has a member `{tag}`, which is the tag", case.record.node);
            let help = "the tag and the members of the record share one object: rename one of them";
            self.report(errors::untold(case.record.span, &why, help).also(twin.span, "the member"));
        }
        Some(record)
    }

    /// Returns the members of a record; for a union, those that every case has with the same type.
    pub(super) fn members_of(&self, id: RecordId) -> Vec<Field> {
        let def = &self.program.records[id];
        let Some(union) = &def.union else { return def.fields.clone() };
        let Some(((_, first), others)) = union.cases.split_first() else { return Vec::new() };
        let everywhere = |field: &&Field| {
            others.iter().all(|(_, record)| {
                let mut fields = self.program.records[*record].fields.iter();
                fields.any(|f| (&f.name, &f.wire, &f.ty) == (&field.name, &field.wire, &field.ty))
            })
        };
        self.program.records[*first].fields.iter().filter(everywhere).cloned().collect()
    }

    /// Returns the name of a type that has members, for messages.
    pub(super) fn holder_name(&self, id: RecordId) -> String {
        let def = &self.program.records[id];
        match def.union {
            Some(_) => format!("every case of `{}`", def.name),
            None => format!("the record `{}`", def.name),
        }
    }
}
