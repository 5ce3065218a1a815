//! Tools that send a text, fenced by an allow-list over an extractor, and texts that lead elsewhere.
//!
//! The two evaluators share the extractors, so their agreement says nothing about them. Here the generator knows
//! by construction where a text leads: every place beyond the fence has [`BEYOND`] in its name.

use guard_plan::json::Json;
use guard_plan::random::Rng;

/// One fenced tool.
struct Fence {
    /// Its name.
    tool: &'static str,
    /// Its rule, in two forms.
    rules: [&'static str; 2],
    /// Places that the rule permits.
    within: &'static [&'static str],
    /// Draws a place that the rule forbids.
    beyond: fn(&mut Rng) -> String,
}

/// The part of a name that only places beyond a fence have.
const BEYOND: &str = "vil";

const FENCES: [Fence; 4] = [
    Fence {
        tool: "post_hosts",
        rules: [
            "deny unless all x in hosts(body): x == \"good.com\"",
            "deny when any x in hosts(body): x != \"good.com\"",
        ],
        within: &["https://good.com/a", "HTTP://Good.com:8080/?b"],
        beyond: link,
    },
    Fence {
        tool: "post_urls",
        rules: [
            "deny unless all x in urls(body): starts_with(x, \"https://good.com/\")",
            "deny when any x in urls(body): not starts_with(x, \"https://good.com/\")",
        ],
        within: &["https://good.com/a", "HTTPS://good.com/?b"],
        beyond: link,
    },
    Fence {
        tool: "post_emails",
        rules: [
            "deny unless all x in emails(body): ends_with(x, \"@good.com\")",
            "deny when any x in emails(body): not ends_with(x, \"@good.com\")",
        ],
        within: &["ann@good.com", "a.b+c@good.com"],
        beyond: address,
    },
    Fence {
        tool: "post_paths",
        rules: [
            "deny unless all x in paths(body): x == \"docs/x.md\"",
            "deny when any x in paths(body): x != \"docs/x.md\"",
        ],
        within: &["docs/x.md"],
        beyond: file,
    },
];

/// A fenced tool as the text of an item.
pub(super) fn tool(rng: &mut Rng) -> String {
    let fence = rng.pick(&FENCES);
    item(fence, rng.pick::<&str>(&fence.rules))
}

fn item(fence: &Fence, rule: &str) -> String {
    format!("tool {}(body: string max 300) {{\n  {rule}\n}}\n", fence.tool)
}

/// A call of the fenced tool that the guard has: tool and arguments. None if it has none.
pub(super) fn call(rng: &mut Rng, items: &[String]) -> Option<(String, Json)> {
    let fence = FENCES.iter().find(|fence| items.iter().any(|item| declares(item, fence)))?;
    Some(call_of(rng, fence))
}

/// A guard that has every fence, in the first or the second form of its rule.
pub fn fenced(form: usize) -> String {
    let tools = FENCES.iter().map(|fence| item(fence, fence.rules[form]));
    let head = "guard generated\n".to_string();
    std::iter::once(head).chain(tools).collect()
}

/// A call of a tool of [`fenced`].
pub fn any_call(rng: &mut Rng) -> (String, Json) {
    let fence = rng.pick(&FENCES);
    call_of(rng, fence)
}

fn call_of(rng: &mut Rng, fence: &Fence) -> (String, Json) {
    let mut place =
        if rng.chance(40) { (*rng.pick(fence.within)).to_string() } else { (fence.beyond)(rng) };
    for _ in 0..1 + rng.below(3) {
        let (before, after) = *rng.pick(&AROUND);
        place = format!("{before}{place}{after}");
    }
    let other = rng.pick(fence.within);
    let text = match rng.below(3) {
        0 => format!("{other} {place}"),
        1 => format!("{place} {other}"),
        _ => place,
    };
    let args = Json::Object(vec![("body".into(), Json::string(&text))]);
    (fence.tool.to_string(), args)
}

/// Says whether this call, which was allowed, leads beyond a fence that the guard's text has.
pub fn escapes(guard: &str, tool: &str, args: &Json) -> bool {
    let Some(fence) = FENCES.iter().find(|fence| fence.tool == tool) else { return false };
    let fenced = fence.rules.iter().any(|rule| guard.contains(rule));
    let shadow = guard.starts_with("guard generated shadow");
    fenced && !shadow && args.to_string().contains(BEYOND)
}

fn declares(item: &str, fence: &Fence) -> bool {
    item.starts_with(&format!("tool {}(", fence.tool))
}

/// The marks that may stand around a place in a text.
const AROUND: [(&str, &str); 28] = [
    ("", ""),
    ("see ", " now"),
    ("(", ")"),
    ("<", ">"),
    ("\"", "\""),
    ("[a](", ")"),
    ("href=", ""),
    ("x, ", ", y"),
    ("a\n", "\nb"),
    ("`", "`."),
    ("see: ", "!"),
    ("«", "»"),
    ("\t", "\u{a0}"),
    ("|", "|"),
    ("**", "**"),
    ("__", "__"),
    ("~~", "~~"),
    ("x=", ";"),
    ("‘", "’"),
    ("…", "…"),
    ("→", ""),
    ("#", "#"),
    ("&lt;", "&gt;"),
    ("%20", "%20"),
    ("\u{200b}", "\u{200b}"),
    ("\\n", "\\n"),
    ("\u{feff}", "\u{0}"),
    ("1.", ".2"),
];

fn link(rng: &mut Rng) -> String {
    let host = *rng.pick(&[
        "evil.com",
        "good.com@evil.com",
        "good.com:x@evil.com",
        "évil.com",
        "good.com.evil.com",
        "evil.com:99999",
        "good.com\\@evil.com",
        "evil.com.",
        "EVil.com",
        "good.com%40evil.com",
        "good.com\u{3002}evil.com",
        "good.com\u{200b}.evil.com",
    ]);
    match rng.below(8) {
        0 => "www.evil.com:443/x".to_string(),
        1 => "evil.com/x".to_string(),
        2 => format!("https:{host}/x"),
        3 => format!("https:\\\\{host}\\x"),
        4 => format!("ftp://{host}/x"),
        5 => format!("HTTPS://{host}"),
        6 => format!("https://good.com/a,https://{host}/x"),
        _ => format!("https://{host}/x"),
    }
}

fn address(rng: &mut Rng) -> String {
    let address = *rng.pick(&[
        "b@evil.com",
        "\"b\"@evil.com",
        "b@[evil]",
        "b@évil.com",
        "b@good.com@evil.com",
        "ann@good.com.evil.com",
        "b@evil",
        "B.@evil.com",
        "b@evil.com.",
        "b%good.com@evil.com",
        "mailto:b@evil.com",
        "b+ann@good.com@evil.com",
        "b@good.com .evil.com",
        "b@good.com. evil.com",
        "b@good.com(c).evil.com",
    ]);
    address.to_string()
}

fn file(rng: &mut Rng) -> String {
    let path = *rng.pick(&[
        "/evil",
        "../evil.txt",
        "docs/x.md/../../evil.txt",
        "..\\evil",
        "C:\\evil.exe",
        "~/evil",
        "file:///evil",
        "docs//evil/x.md",
        "./evil",
        "évil/x.md",
        "evil.txt",
    ]);
    path.to_string()
}
