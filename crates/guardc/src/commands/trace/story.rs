//! The description of a record as text.

use super::walk::At;
use crate::term::Style;
use guard_plan::json::Json;
use guard_plan::record::{
    Approve, Asked, Change, Charge, Delivered, ItemChange, Note, Payload, Propose, Record, Revoke,
    Settle, Stop, StopDecision, Upgrade,
};
use guard_plan::render::cut;
use guard_plan::verdict::{Decision, Reason};
use std::fmt::Write as _;

/// The maximum length of a shown value, in characters.
const VALUE_CHARS: usize = 160;
/// The maximum length of a name, a unit or an amount, in characters.
const NAME_CHARS: usize = 60;
/// The maximum length of a day or a time, in characters.
const TIME_CHARS: usize = 40;
/// The maximum length of a sentence, in characters.
const TEXT_CHARS: usize = 500;

/// Describes a record in one line, with details in further lines. A new session, and a new day,
/// begin with a separate line.
pub fn tell(at: &At<'_>, record: &Record, last: &mut String, style: Style) -> String {
    let mut out = String::new();
    let (day, clock) = record.time.split_once('T').unwrap_or((&record.time, ""));
    let day = cut(day, TIME_CHARS);
    let heading = format!("{} {}, {day}", at.guard, at.session);
    if *last != heading {
        let blank = if last.is_empty() { "" } else { "\n" };
        let guard = name(&at.guard);
        let session = cut(&at.session, 100);
        let _ = writeln!(
            out,
            "{blank}{} of `{guard}`, {day}",
            style.bold(&format!("session {session}"))
        );
        *last = heading;
    }
    let clock = style.dim(&format!("{:<9}", cut(clock.trim_end_matches('Z'), TIME_CHARS)));
    let mut told = StoryText { out: String::new(), style };
    told.record(at, record);
    let mut lines = told.out.lines();
    let _ = writeln!(out, "{clock} {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "          {line}");
    }
    out
}

struct StoryText {
    out: String,
    style: Style,
}

fn value(json: &Json) -> String {
    cut(&json.to_string(), VALUE_CHARS)
}

fn name(text: &str) -> String {
    cut(text, NAME_CHARS)
}

impl StoryText {
    /// Adds one line. A line break in the text is shown, so that no text can forge a line.
    fn line(&mut self, text: &str) {
        self.out += &text.replace('\n', "\\n");
        self.out.push('\n');
    }

    fn record(&mut self, at: &At<'_>, record: &Record) {
        match &record.payload {
            Payload::Open(open) => {
                let actor = open.actor.as_ref().map(|actor| format!(" for {}", name(actor)));
                let plan = cut(open.plan.get(..19).unwrap_or(&open.plan), VALUE_CHARS);
                let workspace = cut(&open.workspace, VALUE_CHARS);
                self.line(&format!(
                    "begins{} in {workspace}, plan {plan}…",
                    actor.unwrap_or_default()
                ));
                self.learned(open.learned, open.forgotten);
                self.notes(&open.notes);
            }
            Payload::Propose(propose) => self.propose(record, propose),
            Payload::Settle(settle) => self.settle(at, record, settle),
            Payload::Approve(approve) => {
                let Approve { tool, args, role, by, .. } = approve;
                self.approval(&self.style.green("approved"), (tool, args), role, by);
            }
            Payload::Revoke(revoke) => {
                let Revoke { tool, args, role, by, .. } = revoke;
                self.approval(&self.style.red("revoked"), (tool, args), role, by);
            }
            Payload::Usage(usage) => {
                self.line(&format!("used {} {}", name(&usage.amount), name(&usage.unit)))
            }
            Payload::Resume(resume) => {
                self.line(&format!(
                    "{} by {} as {}",
                    self.style.green("resumed"),
                    name(&resume.by),
                    name(&resume.role)
                ));
            }
            Payload::Prompt(prompt) => {
                self.line(&format!(
                    "{} {}",
                    self.style.cyan("the user says"),
                    cut(&prompt.text, TEXT_CHARS)
                ));
                self.learned(prompt.learned, prompt.forgotten);
                self.asked(&prompt.asked);
                self.notes(&prompt.notes);
            }
            Payload::Stop(stop) => self.stop(stop),
            Payload::Item(item) => {
                let what = item.transition.as_deref().unwrap_or("verify");
                self.line(&format!(
                    "{} {}: {}",
                    self.style.cyan("item"),
                    name(&item.item),
                    name(what)
                ));
                self.item(&item.change);
                self.asked(&item.asked);
            }
            Payload::Answers(answers) => {
                self.line(&format!("the host answers {}", value(&answers.answers)))
            }
            Payload::Contract(contract) => {
                let kept = contract.kept;
                let gone = contract.quarantined;
                self.line(&format!(
                    "contract `{}`: {}, {kept} kept, {gone} quarantined, of {} bytes",
                    name(&contract.contract),
                    name(&contract.state),
                    contract.bytes
                ));
            }
            Payload::Ledger(ledger) => self.line(&cut(&ledger.to_string(), 200)),
            Payload::Upgrade(upgrade) => self.upgrade(upgrade),
            Payload::Snapshot(_) => {
                self.line(&self.style.dim("a snapshot replaces the earlier records"))
            }
        }
    }

    fn approval(&mut self, word: &str, (tool, args): (&str, &Json), role: &str, by: &str) {
        let what = format!("{} {}", name(tool), value(args));
        self.line(&format!("{word} by {} as {}: {what}", name(by), name(role)));
    }

    fn upgrade(&mut self, upgrade: &Upgrade<'_>) {
        let guard = self.style.bold(&name(&upgrade.snapshot.guard));
        let plan = cut(&upgrade.snapshot.plan, 20);
        self.line(&format!("{} {guard}, plan {plan}", self.style.cyan("continues under")));
        match &upgrade.forced {
            None => self.line("  it allows nothing that the guard before refused"),
            Some(forced) => {
                let reason = forced.reason.as_ref().map(|reason| format!(": {}", cut(reason, 200)));
                let by = name(&forced.by);
                self.line(&format!("  forced by {by}{}", reason.unwrap_or_default()));
            }
        }
        upgrade
            .anew
            .iter()
            .for_each(|what| self.line(&format!("  starts again: {}", cut(what, 200))));
        upgrade
            .dropped
            .iter()
            .for_each(|what| self.line(&format!("  forgotten: {}", cut(what, 200))));
    }

    fn propose(&mut self, record: &Record, propose: &Propose<'_>) {
        let call = name(record.call.as_deref().unwrap_or_default());
        let tool = self.style.bold(&name(&propose.tool));
        self.line(&format!("{tool} {}  {}", value(&propose.args), self.style.dim(&call)));
        let word = match propose.verdict.decision {
            Decision::Allow => self.style.green("allowed"),
            Decision::Wait => self.style.yellow("waits"),
            Decision::Ask => self.style.yellow("asks"),
            Decision::Deny => self.style.red("denied"),
        };
        let charged = charges(", costs ", &propose.charged);
        self.line(&format!("  {word}{charged}"));
        propose.verdict.reasons.iter().for_each(|reason| self.reason(reason, ""));
        propose.verdict.shadowed.iter().for_each(|reason| self.reason(reason, "in shadow: "));
        self.asked(&propose.asked);
        if let Some(served) = &propose.served {
            self.line(&format!("  served {}", value(served)));
        }
        propose.items.iter().for_each(|item| self.item(item));
        self.changes(&propose.changes);
        self.learned(propose.learned, propose.forgotten);
        self.notes(&propose.notes);
        self.halted(propose.halted);
        self.feedback(&propose.feedback);
    }

    fn settle(&mut self, at: &At<'_>, record: &Record, settle: &Settle<'_>) {
        let call = name(record.call.as_deref().unwrap_or_default());
        let tool = name(at.tool.as_deref().unwrap_or("a call"));
        let word =
            if settle.success { self.style.green("succeeded") } else { self.style.red("failed") };
        let result = match &*settle.result {
            Json::Null => String::new(),
            result => format!(" with {}", value(result)),
        };
        let returned = charges(", gives back ", &settle.returned);
        self.line(&format!("{tool} {word}{result}{returned}  {}", self.style.dim(&call)));
        self.changes(&settle.changes);
        self.learned(settle.learned, settle.forgotten);
        self.asked(&settle.asked);
        self.notes(&settle.notes);
        self.halted(settle.halted);
        self.feedback(&settle.feedback);
    }

    fn stop(&mut self, stop: &Stop<'_>) {
        let word = match (stop.decision, stop.incomplete) {
            (StopDecision::Allow, false) => self.style.green("stops"),
            (StopDecision::Allow, true) => self.style.yellow("stops, incomplete"),
            (StopDecision::Block, _) => self.style.red("may not stop"),
        };
        let reason = stop.reason.as_ref().map(|reason| format!(": {}", cut(reason, TEXT_CHARS)));
        let bypassed = stop.bypassed.as_ref().map(|by| format!(", unchecked ({})", name(by)));
        self.line(&format!("{word}{}{}", bypassed.unwrap_or_default(), reason.unwrap_or_default()));
        for missing in stop.missing.iter() {
            self.line(&format!("  {}", cut(&missing.message, TEXT_CHARS)));
        }
        self.asked(&stop.asked);
        self.notes(&stop.notes);
    }

    fn reason(&mut self, reason: &Reason, before: &str) {
        let span = reason
            .span
            .as_ref()
            .map(|span| self.style.dim(&format!("  at {}", cut(&span.to_string(), VALUE_CHARS))));
        let message = cut(&reason.message, TEXT_CHARS);
        self.line(&format!(
            "  {before}{}: {message}{}",
            reason.code.as_str(),
            span.unwrap_or_default()
        ));
        if !reason.help.is_empty() {
            self.line(&format!(
                "  {} {}",
                self.style.green("help:"),
                cut(&reason.help, TEXT_CHARS)
            ));
        }
    }

    fn changes(&mut self, changes: &[Change]) {
        for Change { name, before, after } in changes {
            self.line(&format!(
                "  {}: {} → {}",
                self.style.cyan(&cut(name, NAME_CHARS)),
                value(before),
                value(after)
            ));
        }
    }

    fn item(&mut self, item: &ItemChange) {
        let before = name(item.before.as_deref().unwrap_or("new"));
        let after = name(&item.after);
        self.line(&format!("  {}: {before} → {after}", self.style.cyan(&name(&item.item))));
        for reason in item.reasons.iter().chain(&item.unanswered) {
            self.line(&format!("    {}", cut(reason, TEXT_CHARS)));
        }
    }

    fn learned(&mut self, learned: u64, forgotten: u64) {
        match (learned, forgotten) {
            (0, 0) => {}
            (learned, 0) => self.line(&format!("  learned {learned}")),
            (learned, forgotten) => self.line(&format!("  learned {learned}, forgot {forgotten}")),
        }
    }

    fn asked(&mut self, asked: &[Asked]) {
        for question_asked in asked {
            let line = format!("  {}", cut(&question(question_asked), VALUE_CHARS));
            let line = self.style.dim(&line);
            self.line(&line);
        }
    }

    fn notes(&mut self, notes: &[Note]) {
        for note in notes {
            let kind = format!("{:?}", note.kind).to_lowercase();
            let text =
                format!("  {kind}, `{}`: {}", name(&note.rule), cut(&note.message, TEXT_CHARS));
            self.line(&self.style.yellow(&text));
        }
    }

    fn halted(&mut self, halted: bool) {
        if halted {
            self.line(&self.style.red("  the session is halted"));
        }
    }

    fn feedback(&mut self, feedback: &[Delivered]) {
        for message in feedback {
            let severity = format!("{:?}", message.severity).to_lowercase();
            let mut lines =
                message.text.lines().filter(|line| !line.starts_with('<') && !line.is_empty());
            let first = cut(lines.next().unwrap_or_default(), TEXT_CHARS);
            let provider = self.style.cyan(&name(&message.provider));
            self.line(&format!("  feedback {provider}, {severity}: {first}"));
            for line in lines {
                self.line(&format!("    {}", cut(line, TEXT_CHARS)));
            }
        }
    }
}

/// Describes a question to the world and its answer.
fn question(asked: &Asked) -> String {
    let whether = |answer: &Option<bool>| match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    match asked {
        Asked::Exists { path, answer } => {
            format!("asked whether `{path}` exists: {}", whether(answer))
        }
        Asked::File { path, answer } => {
            format!("asked whether the file `{path}` exists: {}", whether(answer))
        }
        Asked::Contains { path, text, answer } => {
            format!("asked whether `{path}` contains `{text}`: {}", whether(answer))
        }
        Asked::Committed { answer } => {
            format!("asked whether everything is committed: {}", whether(answer))
        }
        Asked::Probe { name, answered: true, answer } => {
            format!("asked the probe `{name}`: {answer}")
        }
        Asked::Probe { name, .. } => format!("asked the probe `{name}`: no answer"),
        Asked::Text { path, answer } => {
            let what = match answer {
                Some(guard_plan::record::Content::Text(text)) => format!("{} bytes", text.len()),
                Some(other) => format!("{other:?}").to_lowercase(),
                None => "unknown".into(),
            };
            format!("asked for the contents of `{path}`: {what}")
        }
        Asked::Sha256 { path, answer, .. } => {
            format!("asked for the hash of `{path}`: {}", answer.as_deref().unwrap_or("none"))
        }
        Asked::Run { command, answer } => {
            let ended = answer.as_ref().map(|ran| format!("{:?}", ran.ended).to_lowercase());
            format!(
                "ran `{}`: {}",
                command.join(" "),
                ended.as_deref().unwrap_or("it cannot be run here")
            )
        }
    }
}

/// Formats amounts after a word; empty if there are none. A call costs one of `calls`, which is not
/// shown.
fn charges(word: &str, charges: &[Charge]) -> String {
    let shown = charges.iter().filter(|charge| *charge.unit != *"calls");
    let shown: Vec<String> =
        shown.map(|Charge { unit, amount }| format!("{} {}", name(amount), name(unit))).collect();
    if shown.is_empty() { String::new() } else { format!("{word}{}", shown.join(", ")) }
}
