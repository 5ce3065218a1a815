//! The pages of `docs/codes/`, and what the reason codes of verdicts mean.

/// Code and page, sorted; made by `build.rs`.
static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/codes.rs"));

/// The page of a code.
pub fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| name.eq_ignore_ascii_case(code)).map(|(_, page)| *page)
}

/// Every code, sorted.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().copied()
}

/// The first line of a page without its mark and code.
pub fn title(page: &str) -> &str {
    let line = page.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim();
    let rest = line.get(5..).filter(|_| line.starts_with('G')).unwrap_or(line);
    rest.trim_start_matches([':', '.', ' ', '-', '—'])
}

/// A reason code of a verdict: what it means, and what to do.
pub fn reason(code: &str) -> Option<(&'static str, &'static str)> {
    REASONS.iter().find(|(name, _, _)| *name == code).map(|(_, means, remedy)| (*means, *remedy))
}

/// The names of the reason codes.
pub fn reasons() -> impl Iterator<Item = (&'static str, &'static str)> {
    REASONS.iter().map(|(name, means, _)| (*name, *means))
}

const REASONS: [(&str, &str, &str); 16] = [
    (
        "unknown_tool",
        "the guard declares no tool of this name",
        "Call a declared tool. The author may declare it with `tool NAME(…)`, or say `default allow`.",
    ),
    (
        "invalid_arguments",
        "the arguments do not have the declared types",
        "Correct the arguments named; every one that is wrong is named.",
    ),
    (
        "requires",
        "a call that must have succeeded before has not",
        "Call what is missing first. If it is in flight already, wait for it.",
    ),
    (
        "denied",
        "a `deny` rule applies",
        "Read its `because`: other arguments or another state may be allowed.",
    ),
    (
        "limit",
        "a counter of allowed calls is full",
        "Wait until the window has moved on, or do something else; a call in flight may have to settle.",
    ),
    ("budget", "the budget does not cover what the call costs", "Do something cheaper, or finish."),
    ("deadline", "the session's deadline has passed", "Finish: no call is allowed any more."),
    (
        "invariant",
        "the state after the call would break an invariant or the range of a variable",
        "Change the state first, or call with other arguments.",
    ),
    (
        "approval",
        "somebody in a role must approve exactly this call",
        "Ask for the approval, then call again.",
    ),
    (
        "gated",
        "the tool is irreversible and critical, and nobody has authorised this call",
        "Ask for an approval of exactly this call, by any role.",
    ),
    ("not_ready", "a probe says that something is not ready", "Wait, then call again."),
    (
        "lifecycle",
        "an item's lifecycle does not permit the transition",
        "Take the step that comes first.",
    ),
    (
        "unknown_reference",
        "a value refers to nothing known",
        "Use a value that a trusted source has given.",
    ),
    (
        "evaluation_error",
        "a rule could not be evaluated, so the call is denied",
        "The message names the cause: an overflow, a missing value, a question without an answer.",
    ),
    (
        "conflict",
        "a call in flight may change what this one depends on",
        "Wait until it has settled.",
    ),
    (
        "halted",
        "the session is halted",
        "Somebody must resume it; until then everything is denied.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::verdict::Code;

    #[test]
    fn every_reason_code_is_explained() {
        let explained: Vec<&str> = reasons().map(|(name, _)| name).collect();
        assert_eq!(explained, Code::ALL.map(Code::as_str));
    }

    #[test]
    fn a_title_has_no_code() {
        assert_eq!(title("# G0123: unknown name\n\ntext"), "unknown name");
        assert_eq!(title("\n# Unknown name\n"), "Unknown name");
        assert_eq!(title(""), "");
    }
}
