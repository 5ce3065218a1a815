//! Printing of strings, messages, regular expressions and types.

use super::expr;
use crate::ast::{
    Arg, Field, Ident, Member, OtherForms, Refinement, Str, Template, TemplatePart, ToolSet, Type,
    TypeKind,
};
use crate::lexical::is_hidden;
use std::fmt::Write as _;

/// Prints a string literal.
pub(super) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape(text, &mut out);
    out.push('"');
    out
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// Prints a message with doubled braces, and expressions in single braces.
pub(super) fn message(template: &Template) -> String {
    let mut out = String::from("\"");
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) => {
                escape(&text.replace('{', "{{").replace('}', "}}"), &mut out)
            }
            TemplatePart::Expr(e) => {
                let text = expr::enclosed(e);
                // `{{` would be parsed as a literal brace.
                let pad = if text.starts_with('{') || text.ends_with('}') { " " } else { "" };
                let _ = write!(out, "{{{pad}");
                escape(&text, &mut out);
                let _ = write!(out, "{pad}}}");
            }
        }
    }
    out.push('"');
    out
}

/// Prints a regular expression between slashes.
pub(super) fn regex(text: &str) -> String {
    format!("/{}/", text.replace('/', "\\/"))
}

/// Prints a key of a map: a name if the grammar allows one, otherwise a string.
pub(super) fn key(text: &str) -> String {
    if crate::parse::is_name(text) { text.to_owned() } else { string(text) }
}

pub(super) fn ty(ty: &Type) -> String {
    let mut out = match &ty.kind {
        TypeKind::Name(name) => name.node.clone(),
        TypeKind::List(element) => format!("list<{}>", self::ty(element)),
        TypeKind::Set(element) => format!("set<{}>", self::ty(element)),
        TypeKind::Map(key, value) => format!("map<{}, {}>", self::ty(key), self::ty(value)),
    };
    if ty.optional {
        out.push('?');
    }
    for refinement in &ty.refinements {
        out.push(' ');
        match refinement {
            Refinement::Range { low, high, inclusive, .. } => {
                let dots = if *inclusive { "..=" } else { ".." };
                let _ = write!(out, "in {}{dots}{}", after("", low), after("", high));
            }
            Refinement::Max(n) => {
                let _ = write!(out, "max {}", n.node);
            }
            Refinement::Matches(re) => {
                let _ = write!(out, "matches {}", regex(&re.node));
            }
            Refinement::Format(f) => {
                let _ = write!(out, "format {}", string(&f.node));
            }
        }
    }
    out
}

pub(super) fn field(field: &Field) -> String {
    let secret = if field.secret { "secret " } else { "" };
    let key = if field.key { " key" } else { "" };
    let caseless = if field.caseless { " caseless" } else { "" };
    let forms = forms(&field.forms);
    let wire = wire(&field.wire);
    format!("{}: {secret}{}{key}{caseless}{forms}{wire}", field.name.node, ty(&field.ty))
}

/// Prints the other forms in which a value is accepted.
pub(super) fn forms(forms: &OtherForms) -> String {
    let mut out = after(" from ", &forms.from);
    if let Some(rounded) = &forms.rounded {
        out.push_str(&format!(" rounded{}", after(" ", &rounded.places)));
    }
    if let Some(timezone) = &forms.timezone {
        out.push_str(&format!(" timezone {}", string(&timezone.node)));
    }
    out + &after(" else ", &forms.fallback)
}

/// Prints an optional word and the words before it.
pub(super) fn after(before: &str, word: &Option<Ident>) -> String {
    word.as_ref().map_or(String::new(), |word| format!("{before}{}", word.node))
}

/// Prints the name in JSON.
pub(super) fn wire(wire: &Option<Str>) -> String {
    wire.as_ref().map_or(String::new(), |name| format!(" as {}", string(&name.node)))
}

pub(super) fn args(args: &[Arg]) -> String {
    let arg_text = |arg: &Arg| match &arg.name {
        Some(name) => format!("{}: {}", name.node, expr::enclosed(&arg.value)),
        None => expr::enclosed(&arg.value),
    };
    format!("({})", args.iter().map(arg_text).collect::<Vec<_>>().join(", "))
}

pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Name(name) => name.node.clone(),
        Member::Tag(name) => format!("tag {}", name.node),
        Member::Glob(glob) => string(&glob.node),
        Member::All(_) => "all".to_owned(),
    }
}

/// Prints a set of tools on one line.
pub(super) fn tools(set: &ToolSet) -> String {
    let members: Vec<String> = set.members.iter().map(member).collect();
    match (set.bare, members.is_empty()) {
        (true, _) => members.join(", "),
        (false, true) => "{}".to_owned(),
        (false, false) => format!("{{ {} }}", members.join(", ")),
    }
}
