//! Rules that refuse calls, and their source text.

/// The tools of every guard.
pub(super) const TOOLS: [&str; 3] = ["a", "b", "c"];

/// A rule that refuses calls.
#[derive(Debug, Clone)]
pub(super) enum Denial {
    Requires {
        tool: usize,
        latest: bool,
        since: Option<usize>,
        within: Option<i64>,
    },
    Deny(Condition),
    /// A rule may ask above its count instead of refusing; a property never does.
    Limit {
        count: usize,
        scope: CountScope,
        success: bool,
        asks: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CountScope {
    Session,
    InFlight,
    Window(i64),
}

#[derive(Debug, Clone)]
pub(super) enum Condition {
    Called { tool: usize, since: Option<usize>, within: Option<i64> },
    Failed { tool: usize, since: Option<usize>, within: Option<i64> },
    Calls { tool: usize, failures: bool, more: usize },
    AtLeast(i64),
    Flag,
    Once(bool),
    Historically(bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

pub(super) fn words(rule: &Denial) -> String {
    match rule {
        Denial::Requires { tool, latest, since, within } => {
            let latest = if *latest { "latest " } else { "" };
            format!("requires {latest}{}{}", TOOLS[*tool], ages(since, within))
        }
        Denial::Deny(condition) => format!("deny when {}", text(condition)),
        Denial::Limit { count, scope, success, asks } => {
            let success = if *success { " success" } else { "" };
            let ask = if *asks { " else ask boss" } else { "" };
            match scope {
                CountScope::Session => format!("limit {count}{success} per session{ask}"),
                CountScope::InFlight => format!("limit {count} in flight"),
                CountScope::Window(minutes) => {
                    format!("limit {count}{success} per {minutes}m{ask}")
                }
            }
        }
    }
}

fn ages(since: &Option<usize>, within: &Option<i64>) -> String {
    let since = since.map_or(String::new(), |tool| format!(" since {}", TOOLS[tool]));
    since + &within.map_or(String::new(), |minutes| format!(" within {minutes}m"))
}

fn text(condition: &Condition) -> String {
    let flag = |wanted: bool| if wanted { "f" } else { "(not f)" };
    match condition {
        Condition::Called { tool, since, within } => {
            format!("(called({}){})", TOOLS[*tool], ages(since, within))
        }
        Condition::Failed { tool, since, within } => {
            format!("(failed({}){})", TOOLS[*tool], ages(since, within))
        }
        Condition::Calls { tool, failures, more } => {
            let name = if *failures { "failures" } else { "calls" };
            format!("{name}({}) > {more}", TOOLS[*tool])
        }
        Condition::AtLeast(least) => format!("x >= {least}"),
        Condition::Flag => "f".into(),
        Condition::Once(wanted) => format!("(once {})", flag(*wanted)),
        Condition::Historically(wanted) => format!("(historically {})", flag(*wanted)),
        Condition::Not(of) => format!("not ({})", text(of)),
        Condition::And(a, b) => format!("(({}) and ({}))", text(a), text(b)),
        Condition::Or(a, b) => format!("(({}) or ({}))", text(a), text(b)),
    }
}
