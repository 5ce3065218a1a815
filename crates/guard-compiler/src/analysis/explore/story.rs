//! A session as a person reads it, as JSON, and as a `test` block to paste into a guard.

use super::session::{Act, ExploredEnding, ExploredSession, START, SessionStep, StepReply};
use crate::analysis::reference::{Ask, Outline};
use crate::hir::{Program, Type};
use guard_plan::json::Json;
use guard_plan::time::{describe_duration, format_rfc3339};
use guard_plan::verdict::{Code, Decision};
use guard_plan::words::duration;
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

    /// Returns the last step with another guard's reply, as JSON; `null` without a step.
    pub fn said_json(&self, other: &StepReply) -> Json {
        match self.steps.last() {
            Some(last) => {
                step_json(&SessionStep { said: other.clone(), changes: Vec::new(), ..last.clone() })
            }
            None => Json::Null,
        }
    }

    /// The session as JSON: steps with what happens, the world that was asked, and what was said.
    pub fn to_json(&self) -> Json {
        let steps = self.steps.iter().map(step_json).collect();
        let mut members = Vec::new();
        if let Some(data) = &self.data {
            members.push(("data".into(), data.clone()));
        }
        members.push(("start".into(), Json::string(&format_rfc3339(self.start))));
        members.push(("steps".into(), Json::Array(steps)));
        Json::Object(members)
    }

    /// A `test` block that plays the session and expects what was said of it.
    pub fn test_block(&self, program: &Program, title: &str) -> String {
        let mut out = format!("test {} {{\n", quoted(title));
        if let Some(data) = &self.data {
            let _ = writeln!(out, "  data {}", json(data));
        }
        if self.start != START {
            let _ = writeln!(out, "  at {}", quoted(&format_rfc3339(self.start)));
        }
        let mut known: Vec<(Ask, Json)> = Vec::new();
        for step in &self.steps {
            for (ask, answer) in &step.world {
                if !known.contains(&(ask.clone(), answer.clone())) {
                    known.retain(|(other, _)| other != ask);
                    known.push((ask.clone(), answer.clone()));
                    if let Some(said) = world_line(ask, answer, &step.world) {
                        let _ = writeln!(out, "  {said}");
                    }
                }
            }
            scenario(program, step, &mut out);
        }
        out + "}\n"
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

fn world_line(ask: &Ask, answer: &Json, world: &[(Ask, Json)]) -> Option<String> {
    let yes = *answer == Json::Bool(true);
    Some(match ask {
        Ask::Exists(path) | Ask::File(path) => {
            // A file's content says that it is there.
            let holds = |(ask, is): &(Ask, Json)| {
                matches!(ask, Ask::Contains(of, _) if of == path) && *is == Json::Bool(true)
            };
            if world.iter().any(holds) {
                return None;
            }
            format!("{} {}", if yes { "exists" } else { "missing" }, quoted(short(path)))
        }
        Ask::Contains(path, text) if yes => {
            format!("file {} contains {}", quoted(short(path)), quoted(text))
        }
        Ask::Contains(..) => return None,
        Ask::Sha256(path) if *answer != Json::Null => format!("exists {}", quoted(short(path))),
        Ask::Text(path) if *answer == Json::Null => format!("missing {}", quoted(short(path))),
        Ask::Sha256(_) | Ask::Text(_) => return None,
        Ask::Probe(name) => format!("probe {name} = {}", json(answer)),
        Ask::Run(argv) => {
            let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
            let printed = match answer {
                Json::Array(parts) => parts.get(1).and_then(Json::as_str).unwrap_or_default(),
                _ => "",
            };
            let printed = match printed {
                "" => String::new(),
                text => format!(" contains {}", quoted(text)),
            };
            format!("command {} exits {}{printed}", words.join(" "), status(answer))
        }
        Ask::Committed => if yes { "git committed" } else { "git uncommitted" }.into(),
    })
}

fn status(answer: &Json) -> String {
    match answer {
        Json::Array(parts) => parts.first().map(json).unwrap_or_default(),
        _ => "0".into(),
    }
}

fn scenario(program: &Program, step: &SessionStep, out: &mut String) {
    let said = &step.said;
    let text = match &step.act {
        Act::Call { id, tool, args, then } => {
            let call = call(program, tool, args);
            match (said.decision, then) {
                (Some(Decision::Allow), ExploredEnding::Succeeds(Some(result))) => {
                    format!("ok {call} as {} returns {}", name(id), json(result))
                }
                (Some(Decision::Allow), ExploredEnding::Succeeds(None)) => {
                    format!("ok {call} as {}", name(id))
                }
                (Some(Decision::Allow), ExploredEnding::Unreadable) => {
                    format!("ok {call} as {} undecoded", name(id))
                }
                (Some(Decision::Allow), ExploredEnding::Fails) => {
                    format!("fails {call} as {}", name(id))
                }
                (Some(Decision::Allow), ExploredEnding::Flies) => {
                    format!("start {} = {call}", name(id))
                }
                (Some(Decision::Ask), _) => format!("asks {call}"),
                (Some(Decision::Wait), _) => format!("waits {call}"),
                _ => {
                    let deny = |r: &&crate::analysis::reference::Outline| r.2 == Decision::Deny;
                    let code = said.reasons.iter().find(deny).map(|r| r.0);
                    let by = code.map_or_else(String::new, |c| format!(" by {}", c.as_str()));
                    format!("denied {call}{by}")
                }
            }
        }
        Act::Settle(id, ExploredEnding::Fails) => format!("finish {} fails", name(id)),
        Act::Settle(id, ExploredEnding::Unreadable) => format!("finish {} ok undecoded", name(id)),
        Act::Settle(id, _) => format!("finish {} ok", name(id)),
        Act::Approve { tool, args, role } => {
            format!("approve {} by {role}", call(program, tool, args))
        }
        Act::Wait(millis) => format!("after {}", duration(*millis)),
        Act::Prompt(text) => format!("prompt {}", quoted(text)),
        Act::Usage(unit, amount) => {
            format!("usage {} {unit}", guard_plan::decimal::format(*amount))
        }
        Act::Resume => "resume by operator".into(),
        Act::Verify(item) => format!("verify {}", quoted(item)),
        Act::Move(item, transition) => format!("move {} by {transition}", quoted(item)),
        Act::Stop => {
            let word = match said.decision {
                Some(Decision::Allow) if said.notes.iter().any(|n| n == "incomplete") => {
                    "incomplete"
                }
                Some(Decision::Allow) if !said.notes.is_empty() => "bypassed",
                Some(Decision::Allow) => "allowed",
                _ => "blocked",
            };
            format!("stop {word}")
        }
    };
    let _ = writeln!(out, "  {text}");
}

/// The id of a call as a name.
fn name(id: &str) -> String {
    id.replace('-', "_")
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

fn step_json(step: &SessionStep) -> Json {
    let text = |text: &str| Json::string(text);
    let mut members: Vec<(Box<str>, Json)> = Vec::new();
    let mut add = |name: &str, value: Json| members.push((name.into(), value));
    match &step.act {
        Act::Call { id, tool, args, then } => {
            add("call", text(id));
            add("tool", text(tool));
            add("args", args.clone());
            let (ends, result) = match then {
                ExploredEnding::Succeeds(result) => ("succeeds", result.as_ref()),
                ExploredEnding::Unreadable => ("undecoded", None),
                ExploredEnding::Fails => ("fails", None),
                ExploredEnding::Flies => ("in_flight", None),
            };
            if step.said.decision == Some(Decision::Allow) {
                add("then", text(ends));
                if let Some(result) = result {
                    add("result", result.clone());
                }
            }
        }
        Act::Settle(id, then) => {
            add("settle", text(id));
            add("success", Json::Bool(!matches!(then, ExploredEnding::Fails)));
        }
        Act::Approve { tool, args, role } => {
            add("approve", text(tool));
            add("args", args.clone());
            add("role", text(role));
        }
        Act::Wait(millis) => add("wait_ms", Json::Int(*millis)),
        Act::Prompt(said) => add("prompt", text(said)),
        Act::Usage(unit, amount) => {
            add("usage", text(unit));
            add("amount", text(&guard_plan::decimal::format(*amount)));
        }
        Act::Resume => add("resume", Json::Bool(true)),
        Act::Verify(item) => add("verify", text(item)),
        Act::Move(item, transition) => {
            add("move", text(item));
            add("by", text(transition));
        }
        Act::Stop => add("stop", Json::Bool(true)),
    }
    if let Some(decision) = step.said.decision {
        add("decision", text(&format!("{decision:?}").to_lowercase()));
    }
    let reasons = step.said.reasons.iter().map(|r| {
        let needs = r.3.iter().map(|n| text(n)).collect();
        Json::Object(vec![
            ("code".into(), text(r.0.as_str())),
            ("rule".into(), text(&r.1)),
            ("needs".into(), Json::Array(needs)),
        ])
    });
    let reasons: Vec<Json> = reasons.collect();
    if !reasons.is_empty() {
        add("reasons", Json::Array(reasons));
    }
    let world: Vec<Json> =
        step.world.iter().filter_map(|(a, b)| world_words(a, b)).map(|w| text(&w)).collect();
    if !world.is_empty() {
        add("world", Json::Array(world));
    }
    let changes = step.changes.iter().map(|(name, before, after)| {
        let pair = Json::Array(vec![text(before), text(after)]);
        (name.as_str().into(), pair)
    });
    let changes: Vec<(Box<str>, Json)> = changes.collect();
    if !changes.is_empty() {
        add("changes", Json::Object(changes));
    }
    Json::Object(members)
}
