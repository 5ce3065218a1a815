//! The steps about the whole session: its inputs, deliveries, items and advice.

use super::runner::{FailedStep, Runner, Stepped};
use guard_compiler::scenario::{ReportStep, StepKind};
use guard_plan::plan::SourceKind;
use guard_plan::record::{RunEnd, StopDecision};
use guard_plan::report::QuarantineReason;

impl Runner<'_> {
    /// Runs the steps about the whole session and its deliveries.
    pub(super) fn whole_session(&mut self, kind: &StepKind) -> Stepped {
        let impossible = |why| Box::new(FailedStep::new("to be possible", why));
        match kind {
            StepKind::Data(data) => {
                self.coverage.taught(SourceKind::Start);
                self.play.open(data).map_err(impossible)
            }
            StepKind::Command { argv, exits, output } => {
                let ended = exits.map_or(RunEnd::TimedOut, |status| RunEnd::Exited(status.into()));
                self.play.world().commands.insert(argv.clone(), (ended, output.clone()));
                Ok(())
            }
            StepKind::Committed(committed) => {
                self.play.world().committed = *committed;
                Ok(())
            }
            StepKind::Prompt(text) => {
                let learned = self.play.prompt(text).map_err(impossible)?;
                self.noted.extend_from_slice(&learned.notes);
                if learned.learned > 0 {
                    self.coverage.taught(SourceKind::Prompt);
                }
                Ok(())
            }
            StepKind::Feedback(name, text) => self.feedback(name, text.as_deref()),
            StepKind::NoFeedback(name) => self.no_feedback(name.as_deref()),
            StepKind::Stop(outcome, text) => self.stop(outcome, text.as_deref()),
            StepKind::Verify(item, text) => {
                let change = self.play.verify(item).map_err(impossible)?;
                self.coverage.moved(&change);
                let said = [change.reasons, change.unanswered].concat().join("; ");
                contains(text.as_deref(), &said)
            }
            StepKind::Move(item, transition, reason) => {
                let moved = self.play.move_item(item, transition, "test", reason.as_deref());
                self.coverage.moved(&moved.map_err(impossible)?);
                Ok(())
            }
            StepKind::Item(item, state) => self.item(item, state),
            StepKind::Advice(tool, status, text) => self.advice(tool, status, text.as_deref()),
            StepKind::Report(step) => self.report(step),
            _ => Err(impossible("this step is not run here".into())),
        }
    }

    fn feedback(&self, name: &str, text: Option<&str>) -> Stepped {
        let delivered = self.play.feedback();
        let expected = format!("feedback of `{name}`");
        match delivered.iter().find(|message| message.provider == name) {
            Some(message) => contains(text, &message.text),
            None if delivered.is_empty() => Err(FailedStep::new(expected, "none").into()),
            None => {
                let others: Vec<&str> =
                    delivered.iter().map(|message| message.provider.as_str()).collect();
                Err(FailedStep::new(expected, format!("feedback of {}", others.join(", "))).into())
            }
        }
    }

    fn no_feedback(&self, name: Option<&str>) -> Stepped {
        let mut delivered = self.play.feedback().iter();
        match delivered.find(|message| name.is_none_or(|name| message.provider == name)) {
            Some(message) => Err(FailedStep::new("no such feedback", message.text.clone()).into()),
            None => Ok(()),
        }
    }

    fn stop(&mut self, outcome: &str, text: Option<&str>) -> Stepped {
        let stopped = self.play.stop().map_err(|why| FailedStep::new("to be possible", why))?;
        self.coverage.stopped(&stopped);
        let got = match (stopped.decision, &stopped.bypassed, stopped.incomplete) {
            (StopDecision::Block, ..) => "blocked",
            (_, Some(_), _) => "bypassed",
            (_, None, true) => "incomplete",
            (_, None, false) => "allowed",
        };
        let said = stopped.bypassed.unwrap_or(stopped.message);
        if got == outcome {
            return contains(text, &said);
        }
        let got = if said.is_empty() { got.to_owned() } else { format!("{got}: {said}") };
        Err(FailedStep::new(outcome, got).into())
    }

    fn item(&self, item: &str, state: &str) -> Stepped {
        match self.play.session().state().item_state(self.guard.kernel(), item) {
            Some(now) if now == state => Ok(()),
            Some(now) => Err(FailedStep::new(state, now).into()),
            None => Err(FailedStep::new(state, "there is no such item").into()),
        }
    }

    /// Checks a text against the state of the session, without lists of the host.
    fn report(&mut self, step: &ReportStep) -> Stepped {
        let report = self.play.report(&step.contract, &step.text);
        let report = report.map_err(|why| FailedStep::new("to be possible", why))?;
        let got: Vec<QuarantineReason> =
            report.quarantined.iter().map(|unit| unit.reason).collect();
        // A report names only the first units, so a list of reasons can be compared only if it is
        // complete.
        let all = got.len() as u64 == report.quarantined_count;
        let reasons = |reasons: &[QuarantineReason]| {
            let names: Vec<&str> = reasons.iter().map(|reason| reason.name()).collect();
            if names.is_empty() { "none".into() } else { names.join(", ") }
        };
        let whole = || format!("{}\n{}", report.state.name(), report.text().trim_end());
        if report.state != step.state || step.truncated && !report.truncated {
            let cut = if step.truncated { ", truncated" } else { "" };
            return Err(FailedStep::new(format!("{}{cut}", step.state.name()), whole()).into());
        }
        let kept = report.kept() as u64;
        if let Some(wanted) = step.items.filter(|wanted| *wanted != kept) {
            return Err(FailedStep::new(format!("items {wanted}"), format!("items {kept}")).into());
        }
        let asked = !step.quarantined.is_empty();
        if asked && !(all && got == step.quarantined) {
            let wanted = reasons(&step.quarantined);
            let got = reasons(&got);
            let some = if all { "" } else { " and more" };
            return Err(FailedStep::new(
                format!("quarantined: {wanted}"),
                format!("quarantined: {got}{some}"),
            )
            .into());
        }
        contains(step.contains.as_deref(), &report.text())
    }

    fn advice(&mut self, tool: &str, wanted: &str, text: Option<&str>) -> Stepped {
        let advice = self.play.advise();
        let Some(action) = advice.actions.iter().find(|action| action.wire_name == tool) else {
            return Err(FailedStep::new(wanted, "the advice does not contain it").into());
        };
        let whole = advice.text();
        let heading = format!("(id={})", action.tool);
        let section = whole
            .split("\n### ")
            .find(|part| part.lines().next().is_some_and(|line| line.contains(&heading)));
        let section = section.unwrap_or(&whole);
        let first = advice.best().is_some_and(|best| best.wire_name == tool);
        let status = action.status.as_str().to_lowercase();
        if status != wanted && !(wanted == "first" && first) {
            return Err(FailedStep::new(wanted, format!("{status}\n{section}")).into());
        }
        contains(text, section)
    }
}

/// Checks that an expected text, if any, occurs in the actual one.
fn contains(text: Option<&str>, said: &str) -> Stepped {
    match text {
        Some(text) if !said.contains(text) => {
            Err(FailedStep::new(format!("something with \"{text}\""), format!("{said:?}")).into())
        }
        _ => Ok(()),
    }
}
