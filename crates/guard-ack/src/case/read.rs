//! The parser of cases. It is strict: an unknown member is an error with its position.

use super::{Case, CaseStep, Expect, RunFile, TurnFile, draw};
use crate::clause;
use crate::protocol::HostEvent;
use guard_plan::near::nearest;
use guard_plan::time;
use std::collections::BTreeSet;
use std::fmt;

/// The operators of conditions in plain rules.
const OPERATORS: [&str; 7] = ["==", "!=", "<", "<=", ">", ">=", "starts_with"];

/// A problem of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseProblem {
    /// The line, from 1; 0 if unknown.
    pub line: usize,
    /// The problem.
    pub message: String,
    /// A suggested correction.
    pub help: Option<String>,
}

impl fmt::Display for CaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

/// Parses the case `name` for a run with this seed.
///
/// # Errors
///
/// Returns all problems of the case.
pub fn parse(name: &str, text: &str, seed: u64) -> Result<Case, Vec<CaseProblem>> {
    let filled = draw::fill(text, seed, name).map_err(|bad| {
        vec![CaseProblem { line: bad.line, message: bad.message, help: bad.help }]
    })?;
    let mut case: Case =
        toml::from_str(&filled).map_err(|error| vec![unreadable(&filled, &error)])?;
    case.name = name.to_owned();
    let mut reader = CaseReader { text: &filled, problems: Vec::new() };
    reader.runs(&mut case);
    reader.head(&case);
    reader.body(&case);
    if reader.problems.is_empty() { Ok(case) } else { Err(reader.problems) }
}

/// Converts an error of the TOML parser, with the nearest expected name.
fn unreadable(text: &str, error: &toml::de::Error) -> CaseProblem {
    let line = error.span().map_or(0, |span| line_of(text, span.start));
    let message = error.message().lines().next().unwrap_or_default().to_owned();
    // The message reads: unknown field `wrong`, expected one of `a`, `b`.
    let mut names = message.split('`').skip(1).step_by(2);
    let help = names
        .next()
        .filter(|_| message.starts_with("unknown"))
        .and_then(|wrong| nearest(wrong, names).map(|near| format!("did you mean `{near}`?")));
    CaseProblem { line, message, help }
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.matches('\n').count() + 1)
}

struct CaseReader<'t> {
    text: &'t str,
    problems: Vec<CaseProblem>,
}

impl CaseReader<'_> {
    fn problem(&mut self, near: &str, message: impl Into<String>, help: Option<String>) {
        let line = self.text.find(near).map_or(0, |at| line_of(self.text, at));
        self.problems.push(CaseProblem { line, message: message.into(), help });
    }

    /// Converts the runs to one form.
    fn runs(&mut self, case: &mut Case) {
        let turns = std::mem::take(&mut case.turn);
        let expect = case.expect.take();
        match (turns.is_empty(), expect, case.run.is_empty()) {
            (false, Some(expect), true) => case.run.push(RunFile {
                session: super::main_session(),
                before: Vec::new(),
                during: None,
                prompt: super::prompt(),
                turn: turns,
                expect,
            }),
            (true, None, false) => {}
            (_, _, false) => self.problem(
                "[[run]]",
                "a case has either `[[run]]`s or `[[turn]]`s with `[expect]`",
                None,
            ),
            (true, _, true) => {
                self.problem("clause", "the model has no turns", Some("add a `[[turn]]`".into()))
            }
            (false, None, true) => {
                self.problem("[[turn]]", "nothing is expected", Some("add `[expect]`".into()))
            }
        }
    }

    fn head(&mut self, case: &Case) {
        self.clause(&case.clause);
        if case.needs.is_empty() {
            self.problem("needs", "a case needs at least one capability", None);
        }
        for need in &case.needs {
            if clause::capability(need).is_none() {
                let names = clause::capabilities().iter().map(|capability| capability.name);
                let help = nearest(need, names).map(|near| format!("did you mean `{near}`?"));
                self.problem(
                    &format!("\"{need}\""),
                    format!("there is no capability `{need}`"),
                    help,
                );
            }
        }
        let area = case.name.split('/').next().unwrap_or_default();
        let tier = usize::from(case.tier());
        if tier > 0 && clause::TIERS.get(tier - 1).is_some_and(|tier| *tier != area) {
            let message = format!(
                "`{}` is a clause of `{}`, not of `{area}`",
                case.clause,
                clause::TIERS[tier - 1]
            );
            self.problem(&case.clause, message, None);
        }
        let rules = case.policy.iter().flat_map(|policy| &policy.rules);
        for condition in rules.filter_map(|rule| rule.when.as_ref()) {
            if !OPERATORS.contains(&condition.op.as_str()) {
                let help = format!("write one of `{}`", OPERATORS.join("`, `"));
                let message = format!("unknown operator `{}`", condition.op);
                self.problem(&condition.op, message, Some(help));
            }
        }
        if time::parse_rfc3339(&case.start).is_none() {
            self.problem(&case.start, format!("`{}` is not an RFC 3339 time", case.start), None);
        }
        if version_numbers(&case.since).is_none() {
            self.problem(&case.since, format!("`{}` is not a version", case.since), None);
        }
        let given = case.world.approvals.values().flatten();
        for text in given.flat_map(|approval| approval.lasts.iter().chain(&approval.takes)) {
            self.duration(text);
        }
    }

    fn clause(&mut self, id: &str) {
        if clause::find(id).is_none() {
            let help = nearest(id, clause::all().iter().map(|clause| clause.id));
            let help = help.map(|near| format!("did you mean `{near}`?"));
            self.problem(&format!("\"{id}\""), format!("there is no clause `{id}`"), help);
        }
    }

    fn duration(&mut self, text: &str) {
        if time::parse_duration(text).is_none() {
            self.problem(
                &format!("\"{text}\""),
                format!("`{text}` is not a duration"),
                Some("write `30s`, `5m` or `1h30m`".into()),
            );
        }
    }

    fn body(&mut self, case: &Case) {
        let mut ids = BTreeSet::new();
        for run in &case.run {
            if let Some(call) = &run.during {
                self.call(call, &ids);
                if !run.before.is_empty() {
                    self.problem("during", "a concurrent run must be the first event", None);
                }
            }
            for step in &run.before {
                if let CaseStep::Wait { takes } = step {
                    self.duration(takes);
                }
            }
            for turn in &run.turn {
                self.turn(turn, &mut ids);
            }
            self.expect(&run.expect, &ids);
            let last = run.turn.last().is_some_and(|turn| turn.stop);
            if !last {
                self.problem("[[turn]]", "the last turn of a run is a stop", None);
            }
        }
    }

    fn turn(&mut self, turn: &TurnFile, ids: &mut BTreeSet<String>) {
        turn.after.iter().for_each(|text| self.duration(text));
        for sees in &turn.sees {
            sees.clause.iter().for_each(|id| self.clause(id));
            sees.call.iter().for_each(|id| self.call(id, ids));
            if sees.has.0.is_empty() && sees.lacks.0.is_empty() {
                self.problem("sees", "`sees` needs `has` or `lacks`", None);
            }
        }
        for event in &turn.host {
            if let Err(error) = event.clone().try_into::<HostEvent>() {
                self.problem("host", format!("no event of the host: {}", error.message()), None);
            }
        }
        for call in &turn.calls {
            call.takes.iter().for_each(|text| self.duration(text));
            if let Some(given) = call.given_id.as_ref().filter(|given| !given.is_empty()) {
                self.call(given, ids);
            }
            if !ids.insert(call.id.clone()) {
                let message = format!("two calls have the id `{}`", call.id);
                self.problem(&format!("\"{}\"", call.id), message, None);
            }
        }
        if turn.stop != turn.calls.is_empty() {
            self.problem("[[turn]]", "a turn either makes `calls` or has `stop = true`", None);
        }
    }

    fn call(&mut self, id: &str, ids: &BTreeSet<String>) {
        if !ids.contains(id) {
            let help = nearest(id, ids.iter().map(String::as_str));
            let help = help.map(|near| format!("did you mean `{near}`?"));
            self.problem(&format!("\"{id}\""), format!("no call before has the id `{id}`"), help);
        }
    }

    fn expect(&mut self, expect: &Expect, ids: &BTreeSet<String>) {
        let sets = expect.together.iter().chain(&expect.apart).flatten();
        for id in expect.executed.iter().chain(&expect.may_run).chain(sets) {
            self.call(id, ids);
        }
        for text in &expect.approvals {
            let id = text.split(' ').next().unwrap_or_default();
            self.call(id, ids);
        }
        let known = [
            "stopped",
            "incomplete",
            "deadline",
            "budget",
            "halted",
            "cancelled",
            "waiting",
            "error",
        ];
        for ending in expect.endings().filter(|ending| !known.contains(ending)) {
            let help = nearest(ending, known.into_iter());
            let help = help.map(|near| format!("did you mean `{near}`?"));
            let message = format!("no loop ends `{ending}`");
            self.problem(&format!("\"{}\"", expect.ended), message, help);
        }
    }
}

/// Returns the three numbers of a semantic version.
fn version_numbers(version: &str) -> Option<[u64; 3]> {
    let numbers = version.split('.').map(|part| part.parse().ok());
    numbers.collect::<Option<Vec<u64>>>()?.try_into().ok()
}
