//! Findings on files, commands and probes, as text: for completion and for the criteria of items.

use crate::contract;
use crate::eval::context::Context;
use crate::session::SessionState;
use guard_plan::plan::{Command, CommandId, ContractId, ProbeId};
use guard_plan::record::{Content, Ran, RunEnd, TEXT_BYTES};
use guard_plan::report::State;
use guard_plan::{path, render, time};

/// The maximum number of lines of a command's output in a message.
const LINES: usize = 10;
/// The maximum length of such a line, in characters.
const LINE_CHARS: usize = 200;
/// The maximum number of problems of a report in a message.
const NAMED: usize = 3;
/// The maximum length of a path or text in a message, in characters.
const NAME_CHARS: usize = 200;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CheckResult {
    /// The check holds.
    Holds,
    /// The check does not hold. Contains the missing part.
    Lacks(String),
    /// The result cannot be determined. Contains the reason.
    Unknown(String),
}

impl CheckResult {
    /// Returns the problem, unless the check holds.
    pub fn lack(self) -> Option<String> {
        match self {
            CheckResult::Holds => None,
            CheckResult::Lacks(why) | CheckResult::Unknown(why) => Some(why),
        }
    }

    fn from_answer(
        answer: Option<bool>,
        lacks: impl FnOnce() -> String,
        unknown: String,
    ) -> CheckResult {
        match answer {
            Some(true) => CheckResult::Holds,
            Some(false) => CheckResult::Lacks(lacks()),
            None => CheckResult::Unknown(format!("it is unknown whether {unknown}")),
        }
    }
}

/// Returns a path for display: relative to the workspace if it lies there.
pub(crate) fn shown(session: &SessionState, path: &str) -> String {
    let inside = path.strip_prefix(&*session.workspace).and_then(|rest| rest.strip_prefix('/'));
    render::cut(inside.unwrap_or(path), NAME_CHARS)
}

/// Checks that a path lies in the workspace; outside of rules, no other path is read.
pub(crate) fn inside(session: &SessionState, path: &str) -> CheckResult {
    if path::within(path, &session.workspace) {
        return CheckResult::Holds;
    }
    CheckResult::Lacks(format!("`{}` is outside the workspace", shown(session, path)))
}

/// Checks that a file exists.
pub(crate) fn file(cx: &Context<'_>, path: &str) -> CheckResult {
    let name = shown(cx.session, path);
    let answer = cx.answers.file(path);
    CheckResult::from_answer(
        answer,
        || format!("`{name}` is missing"),
        format!("`{name}` is there"),
    )
}

/// Checks that a file contains a text.
pub(crate) fn contains(cx: &Context<'_>, path: &str, text: &str) -> CheckResult {
    let name = shown(cx.session, path);
    let part = render::cut(text, 60);
    if text.is_empty() {
        // Every file would contain the empty text.
        return CheckResult::Lacks(format!("`{name}` is asked for an empty text"));
    }
    let answer = cx.answers.contains(path, text);
    let unknown = format!("`{name}` contains \"{part}\"");
    CheckResult::from_answer(answer, || format!("`{name}` does not contain \"{part}\""), unknown)
}

/// Checks that a file conforms to a contract: that its content is judged `valid`.
pub(crate) fn conforms(cx: &Context<'_>, path: &str, contract: ContractId) -> CheckResult {
    let name = shown(cx.session, path);
    let ready = &cx.compiled.contracts[contract as usize];
    let contract = &cx.compiled.plan().contracts[contract as usize].name;
    let text = match cx.answers.text(path) {
        None => return CheckResult::Unknown(format!("the contents of `{name}` are unknown")),
        Some(Content::Missing) => return CheckResult::Lacks(format!("`{name}` is missing")),
        Some(Content::TooLarge) => {
            return CheckResult::Lacks(format!("`{name}` is longer than {TEXT_BYTES} bytes"));
        }
        Some(Content::NotText) => return CheckResult::Lacks(format!("`{name}` is not UTF-8 text")),
        Some(Content::Text(text)) => text,
    };
    match contract::report(ready, cx, &text) {
        Err(why) => {
            let unknown = format!("`{name}` conforms to `{contract}`: {why}");
            CheckResult::Unknown(format!("it is unknown whether {unknown}"))
        }
        // A reference that nobody could check may be wrong.
        Ok(report) if report.state == State::Valid && report.unchecked.is_empty() => {
            CheckResult::Holds
        }
        Ok(report) => {
            let why = render::cut(&report.lacks(NAMED), LINE_CHARS * NAMED);
            CheckResult::Lacks(format!("`{name}` does not conform to `{contract}`: {why}"))
        }
    }
}

/// Checks that there are no uncommitted changes.
pub(crate) fn committed(cx: &Context<'_>) -> CheckResult {
    let answer = cx.answers.committed();
    let unknown = "everything is committed".into();
    CheckResult::from_answer(answer, || "there are uncommitted changes".into(), unknown)
}

/// Checks that a probe answers `true`.
pub(crate) fn probe(cx: &Context<'_>, id: ProbeId) -> CheckResult {
    let name = &cx.compiled.plan().probes[id as usize].name;
    match cx.probe(id).and_then(|answer| answer.truth()) {
        Ok(true) => CheckResult::Holds,
        Ok(false) => CheckResult::Lacks(format!("the probe `{name}` returned false")),
        Err(fault) => CheckResult::Unknown(fault.to_string()),
    }
}

/// Checks that a command exits with a status.
pub(crate) fn command(cx: &Context<'_>, id: CommandId, status: i32) -> CheckResult {
    let command = &cx.compiled.plan().commands[id as usize];
    let name = words(command);
    let Some(ran) = cx.answers.run(command, cx.compiled.keeps_stdout(id)) else {
        return CheckResult::Unknown(format!("`{name}` cannot be run here"));
    };
    let why = match &ran.ended {
        RunEnd::Exited(code) if *code == status => return CheckResult::Holds,
        RunEnd::Exited(code) => format!("`{name}` exits {code}, not {status}"),
        RunEnd::TimedOut => {
            format!("`{name}` did not end within {}", time::describe_duration(command.within))
        }
        RunEnd::Signalled(signal) => format!("`{name}` was ended by signal {signal}"),
        RunEnd::NotStarted(why) => {
            format!("`{name}` cannot be started: {}", render::cut(why, NAME_CHARS))
        }
    };
    CheckResult::Lacks(why + &last_lines(&ran))
}

/// The words of a command.
pub(crate) fn words(command: &Command) -> String {
    render::cut(&command.argv.join(" "), NAME_CHARS)
}

/// Returns the last lines of a command's output, each preceded by a line break. The output is
/// escaped, so it cannot forge further lines.
fn last_lines(ran: &Ran) -> String {
    let lines: Vec<&str> = ran.output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| format!("\n  | {}", render::cut(line.trim_end(), LINE_CHARS))).collect()
}
