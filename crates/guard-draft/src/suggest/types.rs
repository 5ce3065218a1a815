//! The types of a parameter's observed values, in the language.

use super::seen::{TextsSeen, ValuesSeen, is_path_name};
use crate::text::type_name;
use guard_plan::naming::is_name;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A writer of the types of one tool.
pub(super) struct TypeWriter<'w> {
    pub tool: &'w str,
    /// The type names that are already used.
    pub names: &'w mut BTreeSet<String>,
    pub min_support: u64,
    /// The records that the types use.
    pub items: Vec<String>,
}

impl TypeWriter<'_> {
    /// Returns the type of a parameter or field, with `secret` and the mark of an option.
    pub fn field(&mut self, name: &str, path: &str, values: &ValuesSeen, calls: u64) -> String {
        let secret = if values.is_secret(name) { "secret " } else { "" };
        let optional = if values.count < calls { "?" } else { "" };
        let ty = match self.plain(name, path, values) {
            // A field cannot be a command, and rules on a command require that it is present.
            ty if ty == "command" && (name != path || !optional.is_empty()) => "string".into(),
            ty => ty,
        };
        format!("{secret}{ty}{optional}")
    }

    /// Returns the type of the values, without marks.
    pub fn plain(&mut self, name: &str, path: &str, values: &ValuesSeen) -> String {
        let count = values.count;
        let numbers = values.ints + values.decimals;
        match () {
            () if count == 0 || values.opaque => "json".into(),
            () if values.bools == count => "bool".into(),
            () if values.ints == count => "int".into(),
            () if numbers == count && !values.inexact => "decimal".into(),
            () if values.texts.count == count => text_type(name, values, self.min_support).into(),
            () if values.lists == count => self.list(name, path, values),
            () if values.objects == count => self.record(path, values),
            () => "json".into(),
        }
    }

    fn list(&mut self, name: &str, path: &str, values: &ValuesSeen) -> String {
        match &values.elements {
            Some(elements) if elements.count > 0 && !elements.nulls => {
                let element = self.plain(name, path, elements);
                format!("list<{}>", if element == "command" { "string" } else { &element })
            }
            _ => "list<json>".into(),
        }
    }

    fn record(&mut self, path: &str, values: &ValuesSeen) -> String {
        if values.fields.is_empty() || !values.fields.keys().all(|name| is_name(name)) {
            return "json".into();
        }
        let record = type_name(self.tool, path, self.names);
        let mut text = format!("record {record} {{\n");
        for (name, field) in &values.fields {
            let ty = self.field(name, &format!("{path}_{name}"), field, values.objects);
            let _ = writeln!(text, "  {name}: {ty}");
        }
        text.push_str("}\n");
        self.items.push(text);
        record
    }
}

/// Returns the type of texts. A narrower type than `string` is returned only if there are enough
/// observations and all texts have it.
pub(super) fn text_type(name: &str, values: &ValuesSeen, min_support: u64) -> &'static str {
    let texts = &values.texts;
    let count = values.texts.count;
    if count < min_support || values.is_secret(name) {
        return "string";
    }
    match () {
        () if is_command(texts) => "command",
        () if texts.urls == count => "url",
        () if texts.times == count => "time",
        () if texts.paths == count && (is_path_name(name) || texts.rooted == count) => "path",
        () => "string",
    }
}

/// Returns true if all texts are command lines that a guard can judge. A command with an unknown
/// program or word is denied unless a rule covers it.
fn is_command(texts: &TextsSeen) -> bool {
    let open = texts.literal == texts.count || texts.open_programs.listed(usize::MAX).is_some();
    texts.certain == texts.count && open
}
