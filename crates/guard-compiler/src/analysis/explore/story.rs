//! A session as a person reads it.

mod as_json;
mod test_block;

use super::session::{Act, ExploredEnding, ExploredSession, START, SessionStep, StepReply};
use crate::analysis::reference::{Ask, Outline};
use crate::hir::{Program, Type};
use guard_plan::json::Json;
use guard_plan::time::{describe_duration, format_rfc3339};
use guard_plan::verdict::{Code, Decision};
use std::fmt::Write as _;

/// Steps of one kind in a row of which more are only counted.
const SHOWN: usize = 3;

impl ExploredSession {
    /// Numbered lines: what happens, what is said of it, and what changes.
    pub fn story(&self, program: &Program) -> String {
        let mut out = String::new();
        if self.start != START {
            let _ = writeln!(out, "     begins {}", moment(self.start));
        }
        if let Some(data) = &self.data {
            let _ = writeln!(out, "     opened with {}", json(data));
        }
        let mut at = 0;
        while at < self.steps.len() {
            let run = Repeats::find(&self.steps[at..]);
            let end = at + run.block * run.count;
            let is_cut = run.count > SHOWN + 1;
            let shown = if is_cut { at + run.block } else { end };
            for place in at..shown {
                line(program, self, place, &mut out);
            }
            if is_cut {
                // The end of a session is what it is about.
                let last = end == self.steps.len();
                let left = run.count - 1 - usize::from(last);
                let others = if run.exact { "" } else { " with other values" };
                let _ = writeln!(out, "     the same{others}, {left} times more");
                for place in (end - run.block..end).filter(|_| last) {
                    line(program, self, place, &mut out);
                }
            }
            at = end;
        }
        out
    }

    /// The story, with what somebody else says of its last step.
    pub fn ending_otherwise(&self, program: &Program, other: &StepReply) -> String {
        let mut out = self.story(program);
        let _ = writeln!(out, "     under the new guard: {}", verdict(program, other));
        out
    }
}

/// A day and a time, as people say it.
fn moment(millis: i64) -> String {
    const DAYS: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let day = DAYS.get(guard_plan::time::weekday(millis) as usize).unwrap_or(&"");
    let civil = guard_plan::time::Civil::from_millis(millis);
    let clock = format!("{:02}:{:02}", civil.hour, civil.minute);
    // A week around the usual start only the day matters.
    if (millis - START).abs() < 7 * 86_400_000 {
        format!("on a {day} at {clock}")
    } else {
        format!("on {}, a {day}, at {clock}", &format_rfc3339(millis)[..10])
    }
}

/// Steps that repeat: a block, and how often it comes.
struct Repeats {
    block: usize,
    count: usize,
    /// Every time with the same values.
    exact: bool,
}

impl Repeats {
    /// The run that steps begin with, of up to three steps each; a block alone where nothing repeats.
    fn find(steps: &[SessionStep]) -> Repeats {
        let repeats = |block: usize, exact: bool| {
            let first = &steps[..block.min(steps.len())];
            let same = |next: &&[SessionStep]| {
                next.len() == block && first.iter().zip(*next).all(|(a, b)| alike(a, b, exact))
            };
            Repeats { block, count: steps.chunks(block).take_while(same).count(), exact }
        };
        let tried = [(1, true), (1, false), (2, false), (3, false)];
        let mut runs = tried.into_iter().map(|(block, exact)| repeats(block, exact));
        runs.find(|run| run.count > SHOWN + 1).unwrap_or(Repeats {
            block: 1,
            count: 1,
            exact: true,
        })
    }
}

fn alike(a: &SessionStep, b: &SessionStep, exact: bool) -> bool {
    let same = match (&a.act, &b.act) {
        (Act::Call { tool, args, .. }, Act::Call { tool: t, args: r, .. }) => {
            tool == t && (!exact || args == r)
        }
        (Act::Approve { tool, role, .. }, Act::Approve { tool: t, role: r, .. }) if !exact => {
            (tool, role) == (t, r)
        }
        (Act::Prompt(_), Act::Prompt(_)) if !exact => true,
        (a, b) => a == b,
    };
    same && a.said.decision == b.said.decision
}

fn line(program: &Program, session: &ExploredSession, place: usize, out: &mut String) {
    let step = &session.steps[place];
    let number = place + 1;
    let last = number == session.steps.len();
    for (ask, answer) in &step.world {
        if let Some(said) = world_words(ask, answer) {
            let _ = writeln!(out, "     {said}");
        }
    }
    let _ = write!(out, "{number:>3}. {}", happens(program, &step.act));
    let said = verdict(program, &step.said);
    if !said.is_empty() {
        let _ = write!(out, ": {said}");
    }
    let flies = matches!(step.act, Act::Call { then: ExploredEnding::Flies, .. });
    if flies && !last && step.said.decision == Some(Decision::Allow) {
        out.push_str(", not settled yet");
    }
    out.push('\n');
    for (name, before, after) in &step.changes {
        let _ = writeln!(out, "     {name}: {before} → {after}");
    }
}

/// A step in words.
pub(crate) fn happens(program: &Program, act: &Act) -> String {
    match act {
        Act::Call { tool, args, then, .. } => {
            let ends = match then {
                ExploredEnding::Succeeds(Some(result)) => format!(", returns {}", json(result)),
                ExploredEnding::Succeeds(None) | ExploredEnding::Flies => String::new(),
                ExploredEnding::Unreadable => ", returns an unreadable result".into(),
                ExploredEnding::Fails => ", fails".into(),
            };
            format!("{}{ends}", call(program, tool, args))
        }
        Act::Settle(id, ExploredEnding::Fails) => format!("{id} fails"),
        Act::Settle(id, _) => format!("{id} succeeds"),
        Act::Approve { tool, args, role } => {
            format!("{role} approves {}", call(program, tool, args))
        }
        Act::Wait(millis) => format!("after {}", describe_duration(*millis)),
        Act::Prompt(text) => format!("the user says {}", quoted(text)),
        Act::Usage(unit, amount) => {
            format!("{} {unit} are used", guard_plan::decimal::format(*amount))
        }
        Act::Resume => "the session is resumed".into(),
        Act::Verify(item) => format!("the harness looks at {item}"),
        Act::Move(item, transition) => format!("the harness moves {item} by {transition}"),
        Act::Stop => "the agent stops".into(),
    }
}

/// Returns a reply in words.
pub(crate) fn verdict(program: &Program, said: &StepReply) -> String {
    let mut words = Vec::new();
    if let Some(decision) = said.decision {
        let decision = match decision {
            Decision::Allow => "allowed",
            Decision::Deny => "denied",
            Decision::Ask => "asked",
            Decision::Wait => "has to wait",
        };
        words.push(decision.to_string());
    }
    let mut reasons: Vec<String> = said.reasons.iter().map(|r| reason(program, r)).collect();
    reasons.extend(said.shadowed.iter().map(|r| format!("in shadow {}", reason(program, r))));
    if !reasons.is_empty() {
        words.push(format!("by {}", reasons.join(", ")));
    }
    let mut text = words.join(" ");
    for note in &said.notes {
        let _ = write!(text, "{}{note}", if text.is_empty() { "" } else { "; " });
    }
    for provider in &said.feedback {
        let _ = write!(text, "; feedback {provider}");
    }
    text.trim_start_matches("; ").to_string()
}

fn reason(program: &Program, (code, rule, _, needs): &Outline) -> String {
    let is_type = || !program.invariants.iter().any(|invariant| invariant.rule.owner == *rule);
    match (code, needs.is_empty()) {
        (Code::Transform, _) => format!("a `transform` of {rule}"),
        (Code::Denied, _) => format!("a `deny` of {rule}"),
        (Code::Invariant, _) if is_type() => format!("the type of {rule}"),
        (Code::Invariant, _) => format!("the invariant {rule}"),
        (Code::Budget, _) => format!("the budget {rule}"),
        (Code::Limit, _) => format!("a limit of {rule}"),
        (Code::Deadline | Code::Halted | Code::UnknownTool, _) => code.as_str().to_string(),
        (_, true) => format!("{} ({rule})", code.as_str()),
        (_, false) => format!("{} {}", code.as_str(), needs.join(", ")),
    }
}

fn world_words(ask: &Ask, answer: &Json) -> Option<String> {
    let yes = *answer == Json::Bool(true);
    Some(match ask {
        Ask::Exists(path) | Ask::File(path) => {
            format!("({} {})", short(path), if yes { "exists" } else { "does not exist" })
        }
        Ask::Contains(path, text) if yes => format!("({} contains {})", short(path), quoted(text)),
        Ask::Contains(path, text) => {
            format!("({} does not contain {})", short(path), quoted(text))
        }
        Ask::Text(path) if *answer == Json::Null => format!("({} is missing)", short(path)),
        Ask::Sha256(_) | Ask::Text(_) => return None,
        Ask::Probe(name) => format!("(the probe {name} answers {})", json(answer)),
        Ask::Run(argv) => format!("(`{}` exits {})", argv.join(" "), status(answer)),
        Ask::Committed if yes => "(nothing is uncommitted)".into(),
        Ask::Committed => "(something is uncommitted)".into(),
    })
}

fn status(answer: &Json) -> String {
    match answer {
        Json::Array(parts) => parts.first().map(json).unwrap_or_default(),
        _ => "0".into(),
    }
}

fn call(program: &Program, tool: &str, args: &Json) -> String {
    let tool_def = program.tools.iter().find(|t| t.wire_name == tool);
    let shown = tool_def.map_or(tool, |t| t.name.as_str());
    let Json::Object(members) = args else { return format!("{shown}({})", json(args)) };
    let value = |(name, value): &(Box<str>, Json)| {
        let ty = tool_def.and_then(|t| t.params.iter().find(|p| *p.name == **name)).map(|p| &p.ty);
        let text = match (ty.map(Type::required), value) {
            (Some(Type::Enum(_)), Json::String(variant)) if is_name(variant) => variant.to_string(),
            _ => json(value),
        };
        format!("{name}: {text}")
    };
    let args: Vec<String> = members.iter().map(value).collect();
    format!("{shown}({})", args.join(", "))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn short(path: &str) -> &str {
    path.strip_prefix("/workspace/").unwrap_or(path)
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    guard_plan::json::write_string(text, &mut out);
    out
}

/// JSON as a guard writes it.
fn json(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(members) => {
            let member = |(name, value): &(Box<str>, Json)| {
                let name = if is_name(name) { name.to_string() } else { quoted(name) };
                format!("{name}: {}", json(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => {
            let mut out = String::new();
            other.write(&mut out);
            out
        }
    }
}
