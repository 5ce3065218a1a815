//! Names for expressions: uses of defines and `let`s in generated text, which can be written out.
//!
//! A use is kept between control characters until the text is taken, once with the names and once with what they stand
//! for. The expressions are written out by text alone, with bound variables that nothing else is called, so what
//! the compiler does is not what it is compared with.

use guard_plan::random::Rng;
use std::collections::HashMap;

const OPEN: char = '\u{1}';
const NEXT: char = '\u{2}';
const CLOSE: char = '\u{3}';
const LET: char = '\u{4}';

/// A define: its name, its parameters with their types, its type, and its expression. `$0` is the first parameter, `%y` a
/// bound variable. Parameters and bound variables have names that mean something else around them.
type DrawnDefine =
    (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

/// All of them.
const DEFINES: [DrawnDefine; 12] = [
    ("d_cap", &[], "int", "4"),
    ("d_high", &[], "bool", "n + m > 9"),
    ("d_sum", &[("x", "int"), ("m", "int")], "int", "$0 - $1 + sum(%y in log: %y + $0)"),
    ("d_near", &[("v", "int")], "bool", "any %y in log: %y > $0 and flag"),
    (
        "d_nears",
        &[("n", "int"), ("y", "int")],
        "bool",
        "\u{1}d_near\u{2}$1\u{3} or not \u{1}d_near\u{2}$0\u{3}",
    ),
    ("d_owner", &[("flag", "string?")], "bool", "(owner else \"u\") == ($0 else \"v\")"),
    ("d_qty", &[("owner", "string")], "int", "items[$0].qty else m"),
    ("d_first", &[("v", "int"), ("m", "int")], "int", "(first %y in log: %y > $0) else $1"),
    ("d_twin", &[("s", "string")], "bool", "any %y in items: %y + $0 == $0 + %y"),
    ("d_pick", &[("c", "bool"), ("n", "int"), ("m", "int")], "int", "if $0 then $1 else $2"),
    ("d_never", &[("x", "int")], "bool", "flag"),
    ("d_ever", &[("x", "int")], "bool", "$0 > 3 or (once m > 4)"),
];

/// A `let` of the tool or policy around, until it is known which one that is.
const LET_NAME: &str = "l0";
/// The name that a `let` has in every policy.
const POLICY_LET: &str = "q0";

/// The items that declare all defines.
pub(super) fn defines() -> Vec<String> {
    DEFINES.iter().map(declared).collect()
}

fn declared((name, params, ty, body): &DrawnDefine) -> String {
    let mut body = rendered(&body.replace('%', ""), false);
    for (at, (param, _)) in params.iter().enumerate() {
        body = body.replace(&format!("${at}"), param);
    }
    let list: Vec<String> = params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let list = if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
    format!("define {name}{list}: {ty} = {body}")
}

/// A use of a define.
pub(super) fn call(name: &str, args: &[String]) -> String {
    let args: String = args.iter().map(|arg| format!("{NEXT}{arg}")).collect();
    format!("{OPEN}{name}{args}{CLOSE}")
}

/// A use of the `let` of the tool or policy around, whichever value it has.
pub(super) fn let_use() -> String {
    call(LET_NAME, &[])
}

/// The item with a `let` in it if it uses one; elsewhere a number takes its place.
pub(super) fn with_let(item: String, value: impl FnOnce() -> String) -> String {
    let used = let_use();
    if !item.contains(&used) || item.contains(LET) {
        return item;
    }
    let clauses = item.starts_with("tool ") || item.starts_with("policy ");
    match item.split_once("{\n").filter(|_| clauses) {
        Some((head, rest)) => {
            let value = value().replace(&used, "2");
            let name = match head.strip_prefix("tool ").and_then(|rest| rest.split_once('(')) {
                Some((tool, _)) => name_in(tool),
                None => POLICY_LET.to_string(),
            };
            let rest = rest.replace(&used, &call(&name, &[]));
            format!("{head}{{\n  {LET}{name}{NEXT}{value}{CLOSE}\n{rest}")
        }
        None => item.replace(&used, "2"),
    }
}

/// The name that the `let` of a tool has.
fn name_in(tool: &str) -> String {
    format!("l_{tool}")
}

/// A policy for one tool that reads the `let` of this tool, where it has one; none elsewhere.
pub(super) fn with_let_of(tool: &str, policy: &str, items: &[String]) -> Option<String> {
    let name = name_in(tool);
    let given = format!("{LET}{name}{NEXT}");
    let is_given = items.iter().any(|item| item.contains(&given));
    (is_given && policy.contains(&let_use())).then(|| policy.replace(&let_use(), &call(&name, &[])))
}

/// A value between parentheses where it is more than a word.
fn enclosed(text: &str) -> String {
    format!("({text})")
}

/// The text with names, or with what they stand for.
pub(super) fn rendered(text: &str, written_out: bool) -> String {
    let mut page = WrittenText { written_out, values: HashMap::new(), fresh: 0 };
    page.rendered(text)
}

struct WrittenText {
    written_out: bool,
    /// The expression of the last `let` of each name.
    values: HashMap<String, String>,
    fresh: usize,
}

impl WrittenText {
    fn rendered(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find([OPEN, LET]) {
            out.push_str(&rest[..at]);
            let (parts, end) = parts(&rest[at..]);
            let is_let = rest[at..].starts_with(LET);
            let args: Vec<String> = parts[1..].iter().map(|part| self.rendered(part)).collect();
            out.push_str(&self.named(parts[0], &args, is_let));
            rest = &rest[at + end..];
        }
        out + rest
    }

    fn named(&mut self, name: &str, args: &[String], is_let: bool) -> String {
        match (is_let, self.written_out) {
            (true, false) => format!("let {name} = {}", args[0]),
            (true, true) => {
                self.values.insert(name.to_string(), enclosed(&args[0]));
                String::new()
            }
            (false, false) if args.is_empty() => name.to_string(),
            (false, false) => format!("{name}({})", args.join(", ")),
            (false, true) => self.expression(name, args),
        }
    }

    fn expression(&mut self, name: &str, args: &[String]) -> String {
        let Some((.., body)) = DEFINES.iter().find(|(known, ..)| *known == name) else {
            return self.values.get(name).cloned().unwrap_or_default();
        };
        self.fresh += 1;
        let mut body = body.replace('%', &format!("fresh{}_", self.fresh));
        for (at, arg) in args.iter().enumerate() {
            body = body.replace(&format!("${at}"), &enclosed(arg));
        }
        enclosed(&self.rendered(&body))
    }
}

/// The parts of a use or a `let` at the start of a text, and where it ends.
fn parts(text: &str) -> (Vec<&str>, usize) {
    let mut depth = 0;
    let mut from = 1;
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            OPEN | LET => depth += 1,
            NEXT if depth == 1 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            CLOSE if depth == 1 => {
                parts.push(&text[from..at]);
                return (parts, at + 1);
            }
            CLOSE => depth -= 1,
            _ => {}
        }
    }
    (parts, text.len())
}

/// A define whose value has this type; without `asks` one that speaks of state only.
pub(super) fn any_of(rng: &mut Rng, ty: &str, asks: bool) -> &'static DrawnDefine {
    let fits = |one: &&DrawnDefine| one.2 == ty && (asks || one.0 != "d_ever");
    let fitting: Vec<_> = DEFINES.iter().filter(fits).collect();
    fitting[rng.below(fitting.len())]
}
