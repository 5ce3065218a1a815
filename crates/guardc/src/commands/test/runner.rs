//! Runs one scenario, step by step, until a step fails.

use super::coverage::Coverage;
use crate::failure::Failure;
use crate::play::Play;
use crate::report::SourceLines;
use guard_compiler::SourceFile;
use guard_compiler::scenario::{Call, Scenario, ScenarioStep, StepKind};
use guard_plan::json::Json;
use guard_plan::plan::{Expr, TypeId};
use guard_plan::record::{Note, NoteKind};
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_plan::words::duration;
use guard_sdk::{Guard, Proposed};
use guard_syntax::span::Span;
use std::collections::BTreeMap;

/// The result of a test.
pub struct TestResult {
    /// The title.
    pub title: String,
    /// `file:line:column` of the block.
    pub at: String,
    /// The number of passed steps.
    pub steps: usize,
    /// The failed step.
    pub failure: Option<FailedStep>,
}

/// A failed step.
#[derive(Debug, Default)]
pub struct FailedStep {
    /// `file:line:column` of the step.
    pub at: String,
    /// The text.
    pub step: String,
    /// The title of the test after which this one begins, if the failed step belongs to that test.
    pub beginning: Option<String>,
    /// The expected outcome.
    pub expected: String,
    /// The actual outcome.
    pub got: String,
    /// The verdict's reasons.
    pub reasons: Vec<Reason>,
    /// The relevant values.
    pub shows: Vec<(String, String)>,
    /// The earlier notes of the session, which refused nothing: `step: note`.
    pub notes: Vec<String>,
}

impl FailedStep {
    pub(super) fn new(expected: impl Into<String>, got: impl Into<String>) -> FailedStep {
        FailedStep { expected: expected.into(), got: got.into(), ..FailedStep::default() }
    }

    fn verdict(expected: impl Into<String>, verdict: Verdict) -> FailedStep {
        let got = verdict.decision.as_str();
        FailedStep { reasons: verdict.reasons, ..FailedStep::new(expected, got) }
    }
}

/// Runs one of the scenarios in a separate session.
pub fn run(
    guard: &Guard,
    scenarios: &[Scenario],
    scenario: &Scenario,
    shown: &[SourceFile],
    coverage: &mut Coverage,
) -> Result<TestResult, Failure> {
    let mut runner = Runner {
        guard,
        play: Play::new(guard)?,
        coverage,
        started: BTreeMap::new(),
        shown: None,
        noted: Vec::new(),
    };
    let mut notes: Vec<String> = Vec::new();
    let mut ran = TestResult {
        title: scenario.title.clone(),
        at: place(scenario.span, shown),
        steps: 0,
        failure: None,
    };
    for step in &scenario.steps {
        if let Err(failed) = runner.step(step) {
            let at = place(step.span, shown);
            let step = step.text.clone();
            let after = scenario.after.filter(|_| ran.steps < scenario.beginning);
            let beginning = after.map(|test| scenarios[test].title.clone());
            ran.failure = Some(FailedStep { at, step, beginning, notes, ..*failed });
            return Ok(ran);
        }
        let noted = std::mem::take(&mut runner.noted).into_iter();
        notes.extend(noted.map(|note| format!("{}: {}", step.text, note.message)));
        ran.steps += 1;
    }
    Ok(ran)
}

fn place(span: Span, shown: &[SourceFile]) -> String {
    let Some(file) = shown.get(span.file.0 as usize) else {
        return String::new();
    };
    let at = SourceLines::new(&file.text).position(&file.text, span.start as usize);
    format!("{}:{}:{}", file.path, at.line, at.column)
}

pub(super) type Stepped = Result<(), Box<FailedStep>>;

pub(super) struct Runner<'a> {
    pub(super) guard: &'a Guard,
    pub(super) play: Play,
    pub(super) coverage: &'a mut Coverage,
    /// Started calls: the name in the scenario, the call id and the tool.
    started: BTreeMap<String, (String, String)>,
    /// The result of the last call that ended, as the agent reads it.
    shown: Option<Json>,
    /// The notes of the session at the last step.
    pub(super) noted: Vec<Note>,
}

impl Runner<'_> {
    fn step(&mut self, step: &ScenarioStep) -> Stepped {
        match &step.kind {
            StepKind::Run { call, name, success, result, undecoded } => {
                let (id, served) = self.must_allow(name.as_deref(), call)?;
                if !served {
                    let result = result.as_ref();
                    return self.settle(&id, &call.tool, *success, result, *undecoded);
                }
                if *success && result.is_none() && !undecoded {
                    return Ok(());
                }
                let got = "the guard serves it itself, and it has succeeded";
                Err(FailedStep::new("to run as the test says", got).into())
            }
            StepKind::Allowed(call) => self.allowed(call),
            StepKind::Denied { call, by, names, because } => {
                self.denied(call, *by, names, because.as_deref())
            }
            StepKind::Asks { call, of } => self.asks(call, of.as_deref()),
            StepKind::Waits { call, by, for_tool } => self.waits(call, *by, for_tool.as_deref()),
            StepKind::Start(name, call) => {
                let (id, _) = self.must_allow(Some(name), call)?;
                self.started.insert(name.clone(), (id, call.tool.clone()));
                Ok(())
            }
            StepKind::Finish { name, success, result, undecoded } => {
                let Some((id, tool)) = self.started.remove(name) else {
                    return Err(FailedStep::new(
                        "a started call",
                        format!("nothing is in flight as `{name}`"),
                    )
                    .into());
                };
                self.settle(&id, &tool, *success, result.as_ref(), *undecoded)
            }
            _ => self.around(&step.kind),
        }
    }

    /// Runs the steps that are not calls.
    fn around(&mut self, kind: &StepKind) -> Stepped {
        let done = |result: Result<(), String>| {
            result.map_err(|why| FailedStep::new("to be possible", why).into())
        };
        match kind {
            StepKind::Approve { call, role, within } => {
                done(self.play.approve(&call.tool, &call.args, role, "test", *within))
            }
            StepKind::Revoke { call, role } => {
                done(self.play.revoke(&call.tool, &call.args, role, "test"))
            }
            StepKind::After(millis) => done(self.play.advance(*millis)),
            StepKind::At(time) => done(self.play.set_clock(*time)),
            StepKind::Exists(path, exists) => {
                self.play.world().file(path, exists.then(String::new));
                Ok(())
            }
            StepKind::File(path, content) => {
                self.play.world().file(path, Some(content.clone()));
                Ok(())
            }
            StepKind::Probe(name, answer) => {
                self.play.world().probes.insert(name.clone(), answer.clone());
                Ok(())
            }
            StepKind::Usage(unit, amount) => done(self.play.usage(unit, *amount)),
            StepKind::Expect { condition, shows } => self.expect(condition, shows),
            StepKind::Shows(wanted) => match &self.shown {
                Some(shown) if shown == wanted => Ok(()),
                Some(shown) => Err(FailedStep::new(wanted.to_string(), shown.to_string()).into()),
                None => {
                    Err(FailedStep::new(wanted.to_string(), "no call has given a result").into())
                }
            },
            StepKind::Halted => match self.play.halted() {
                Some(_) => Ok(()),
                None => Err(FailedStep::new("a halted session", "it is not halted").into()),
            },
            StepKind::Resume(role) => done(self.play.resume(role, "test")),
            other => self.whole_session(other),
        }
    }

    fn propose(
        &mut self,
        name: Option<&str>,
        call: &Call,
    ) -> Result<(String, Proposed), Box<FailedStep>> {
        let proposed = self.play.propose(name, &call.tool, &call.args);
        let (id, proposed) = proposed.map_err(|why| FailedStep::new("a verdict", why))?;
        self.seen(&call.tool, &proposed.verdict);
        self.coverage.delivered(&proposed.feedback);
        self.noted.extend_from_slice(&proposed.notes);
        proposed.items.iter().for_each(|change| self.coverage.moved(change));
        Ok((id, proposed))
    }

    fn seen(&mut self, tool: &str, verdict: &Verdict) {
        let name = self.name(tool).to_owned();
        self.coverage.decided(&name, verdict);
    }

    /// Returns the guard's name of a tool.
    fn name<'t>(&'t self, tool: &'t str) -> &'t str {
        let found = self.guard.plan().called(tool);
        found.map_or(tool, |t| t.name.as_str())
    }

    /// Returns the id of an allowed call, and whether the kernel has served it.
    fn must_allow(
        &mut self,
        name: Option<&str>,
        call: &Call,
    ) -> Result<(String, bool), Box<FailedStep>> {
        let (id, proposed) = self.propose(name, call)?;
        if proposed.verdict.decision != Decision::Allow {
            return Err(FailedStep::verdict("allow", proposed.verdict).into());
        }
        let name = self.name(&call.tool).to_owned();
        self.coverage.allowed(&name);
        if proposed.served.is_some() {
            self.coverage.succeeded(&name, true, self.play.halted().is_none());
        }
        Ok((id, proposed.served.is_some()))
    }

    fn settle(
        &mut self,
        id: &str,
        tool: &str,
        success: bool,
        result: Option<&Json>,
        undecoded: bool,
    ) -> Stepped {
        let settled = match result {
            None if success && undecoded => self.play.settle_unreadable(id),
            _ => self.play.settle(id, success, result),
        };
        let settled = settled.map_err(|why| FailedStep::new("to settle", why))?;
        self.coverage.delivered(&settled.feedback);
        self.shown = settled.shown.clone().or_else(|| result.cloned());
        // The text that a `transform` shows is checked with `shows`.
        let noted = settled.notes.iter().filter(|note| note.kind != NoteKind::Transform);
        self.noted.extend(noted.cloned());
        if success {
            let name = self.name(tool).to_owned();
            let unread = settled.notes.iter().any(|note| note.kind == NoteKind::Undecoded);
            self.coverage.succeeded(&name, !unread, !settled.halted);
        }
        match (settled.notes.iter().find(|note| note.is_undecoded()), undecoded) {
            (Some(note), false) => {
                let help = "say `returns` with a value of its type, or `undecoded`";
                let expected = format!("a result that decodes ({help})");
                Err(FailedStep::new(&expected, note.message.clone()).into())
            }
            (None, true) => {
                Err(FailedStep::new("a result that does not decode", "it decodes").into())
            }
            _ => Ok(()),
        }
    }

    fn allowed(&mut self, call: &Call) -> Stepped {
        let verdict = self.play.would(&call.tool, &call.args);
        self.seen(&call.tool, &verdict);
        if verdict.decision == Decision::Allow {
            Ok(())
        } else {
            Err(FailedStep::verdict("allow", verdict).into())
        }
    }

    fn denied(
        &mut self,
        call: &Call,
        by: Option<Code>,
        names: &[String],
        because: Option<&str>,
    ) -> Stepped {
        let verdict = self.propose(None, call)?.1.verdict;
        let mut expected = String::from("deny");
        if let Some(code) = by {
            expected.push_str(&format!(" by {}", code.as_str()));
        }
        if !names.is_empty() {
            expected.push_str(&format!(" ({})", names.join(", ")));
        }
        if let Some(text) = because {
            expected.push_str(&format!(" because \"{text}\""));
        }
        let coded = || {
            let denies = verdict.reasons.iter().filter(|reason| reason.decision == Decision::Deny);
            denies.filter(move |reason| by.is_none_or(|code| reason.code == code))
        };
        let named = |name: &String| {
            coded().any(|reason| reason.rule == *name || reason.needs.contains(name))
        };
        let said = because.is_none_or(|text| coded().any(|reason| reason.message.contains(text)));
        let holds = verdict.decision == Decision::Deny
            && coded().next().is_some()
            && names.iter().all(named)
            && said;
        if holds { Ok(()) } else { Err(FailedStep::verdict(expected, verdict).into()) }
    }

    fn asks(&mut self, call: &Call, wanted: Option<&str>) -> Stepped {
        let verdict = self.propose(None, call)?.1.verdict;
        let asked = wanted.is_none_or(|role| {
            verdict
                .reasons
                .iter()
                .any(|r| r.decision == Decision::Ask && r.needs.iter().any(|need| need == role))
        });
        if verdict.decision == Decision::Ask && asked {
            return Ok(());
        }
        let expected = wanted.map_or_else(|| "ask".into(), |role| format!("ask {role}"));
        Err(FailedStep::verdict(expected, verdict).into())
    }

    fn waits(&mut self, call: &Call, by: Option<Code>, for_tool: Option<&str>) -> Stepped {
        let verdict = self.propose(None, call)?.1.verdict;
        let name = for_tool.map(|tool| self.name(tool).to_owned());
        let is_meant = |reason: &Reason| {
            reason.decision == Decision::Wait
                && by.is_none_or(|code| reason.code == code)
                && name.as_ref().is_none_or(|name| reason.needs.contains(name))
        };
        if verdict.decision == Decision::Wait && verdict.reasons.iter().any(is_meant) {
            return Ok(());
        }
        let by = by.map_or(String::new(), |code| format!(" by {}", code.as_str()));
        let tool = name.map_or(String::new(), |name| format!(" for `{name}`"));
        Err(FailedStep::verdict(format!("wait{by}{tool}"), verdict).into())
    }

    fn expect(&mut self, condition: &Expr, shows: &[(String, Expr, TypeId)]) -> Stepped {
        let got = match self.play.evaluate(condition) {
            Ok(Value::Bool(true)) => return Ok(()),
            Ok(_) => "false".into(),
            Err(fault) => format!("it cannot be evaluated: {fault}"),
        };
        let show =
            |(label, expr, ty): &(String, Expr, TypeId)| (label.clone(), self.play.show(expr, *ty));
        let mut shows: Vec<_> = shows.iter().map(show).collect();
        if shows.is_empty() {
            let elapsed = duration(self.play.elapsed());
            shows.push(("now".into(), format!("{}, {elapsed} after the start", self.play.time())));
        }
        Err(FailedStep { shows, ..FailedStep::new("true", got) }.into())
    }
}
