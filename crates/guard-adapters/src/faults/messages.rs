//! Faults in the messages to the model: the loop (`LOOP`) and feedback (`STEER`).

use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful};
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{Done, ModelCall, ModelMessage, ModelTurn, Role, ToolRun};
use guard_plan::verdict::{Code, Decision};
use guard_sdk::Proposed;

/// The end of a block of feedback.
const END: &str = "</feedback>";

pub(super) const LOOP: &[Spec] = faults! {
    "forgets-history" "LOOP-1" "shows the model the last two messages only" => instead::conversation(|harness| {
        let messages = &harness.messages;
        messages[messages.len().saturating_sub(2)..].to_vec()
    });
    "answers-twice" "LOOP-2" "answers each call twice" => instead::conversation(|harness| {
        let twice = |message: &ModelMessage| vec![message.clone(); if message.role == Role::Tool { 2 } else { 1 }];
        harness.messages.iter().flat_map(twice).collect()
    });
    "cuts-results" "LOOP-3" "cuts the results of tools to ten characters" => instead::conversation(|harness| {
        edited(harness, 0, |message| {
            if message.role == Role::Tool {
                message.text = message.text.chars().take(10).collect();
            }
        })
    });
    "asks-once-more" "LOOP-4" "asks the model once more after it may stop" => instead::end(|harness, turn, stopped| {
        let _ = harness.world.model(&harness.messages);
        Faithful.end(harness, turn, stopped)
    });
    "drops-output" "LOOP-5" "hands over no output" => instead::end(|harness, turn, stopped| {
        Ok(guard_ack::protocol::LoopEnd { output: None, ..Faithful.end(harness, turn, stopped)? })
    });
    "trims-output" "LOOP-5" "trims the output" => instead::end(|harness, turn, stopped| {
        let mut end = Faithful.end(harness, turn, stopped)?;
        end.output = end.output.map(|text| text.trim().to_owned());
        Ok(end)
    });
    "failure-ends-loop" "LOOP-6" "ends the loop when a tool fails" => Box::new(EndsLoop {
        ends: false,
        at_failure: true,
    });
};

pub(super) const STEER: &[Spec] = faults! {
    "no-feedback" "STEER-1" "drops feedback" => instead::feedback(|_| String::new());
    "late-feedback" "STEER-1" "shows feedback a turn late" => {
        let mut late: Vec<ModelMessage> = Vec::new();
        instead::conversation(move |harness| {
            let mut shown = edited(harness, newest(harness), |message| {
                if message.text.contains(END) {
                    message.text.clear();
                }
            });
            shown.append(&mut late);
            late = feedback(&harness.messages[newest(harness)..]);
            shown
        })
    };
    "repeats-feedback" "STEER-2" "shows feedback each turn from then on" => instead::conversation(|harness| {
        let earlier = feedback(&harness.messages[..newest(harness)]);
        harness.messages.iter().cloned().chain(earlier).collect()
    });
    "first-block" "STEER-3" "shows the first block of feedback only" => instead::conversation(|harness| {
        edited(harness, 0, |message| {
            if let Some(at) = message.text.find(END) {
                message.text.truncate(at + END.len());
            }
        })
    });
    "escapes-feedback" "STEER-4" "escapes feedback for HTML" => instead::conversation(|harness| {
        edited(harness, 0, |message| {
            if message.text.contains(END) {
                message.text = message.text.replace('<', "&lt;").replace('>', "&gt;");
            }
        })
    });
    "feedback-hides-result" "STEER-5" "shows feedback instead of the result" => instead::settle(|harness, call, done| {
        let (text, feedback) = Faithful.settle(harness, call, done)?;
        Ok(if feedback.is_empty() { (text, feedback) } else { (String::new(), feedback) })
    });
    "no-feedback-of-denials" "STEER-6" "drops the feedback that a denial calls for" => instead::obey(
        |harness, call, proposed| match proposed.verdict.decision {
            Decision::Deny => Ok(Gate::Refused(proposed.verdict.message())),
            _ => Faithful.obey(harness, call, proposed),
        },
    );
    "successes-only" "STEER-7" "settles successes only" => super::gate::unsettled(
        |_, _, done| done.outcome == ToolRun::Failure,
    );
    "keeps-feedback" "STEER-10" "keeps feedback until the next session" => Box::new(KeepsFeedback(Vec::new()));
    "deadline-is-advice" "STEER-11" "takes the deadline for advice" => super::gate::ignores(Code::Deadline);
};

/// Returns the messages for the model. Those from `first` on are changed.
fn edited(
    harness: &Harness,
    first: usize,
    edit: impl FnMut(&mut ModelMessage),
) -> Vec<ModelMessage> {
    let mut messages = harness.messages.clone();
    messages.iter_mut().skip(first).for_each(edit);
    messages
}

/// Returns the index of the first message that the model has not read.
fn newest(harness: &Harness) -> usize {
    let spoke = |message: &ModelMessage| message.role == Role::Assistant;
    harness.messages.iter().rposition(spoke).map_or(0, |at| at + 1)
}

/// Returns the messages with feedback as messages of the user.
fn feedback(messages: &[ModelMessage]) -> Vec<ModelMessage> {
    let with_feedback = messages.iter().filter(|message| message.text.contains(END));
    let as_users =
        |message: &ModelMessage| ModelMessage { role: Role::User, call: None, ..message.clone() };
    with_feedback.map(as_users).collect()
}

/// An adapter that ends the loop at a failure or a denial.
pub(super) struct EndsLoop {
    pub ends: bool,
    pub at_failure: bool,
}

impl Duties for EndsLoop {
    fn obey(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        proposed: &Proposed,
    ) -> AdapterResult<Gate> {
        self.ends |= !self.at_failure && proposed.verdict.decision == Decision::Deny;
        Faithful.obey(harness, call, proposed)
    }

    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        self.ends |= self.at_failure && done.outcome == ToolRun::Failure;
        Faithful.settlement(harness, call, done)
    }

    fn ask_model(&mut self, harness: &mut Harness) -> AdapterResult<Option<ModelTurn>> {
        if std::mem::take(&mut self.ends) { Ok(None) } else { Faithful.ask_model(harness) }
    }
}

struct KeepsFeedback(Vec<String>);

impl Duties for KeepsFeedback {
    fn begin(&mut self, harness: &mut Harness) -> AdapterResult<()> {
        Faithful.begin(harness)?;
        self.0.drain(..).for_each(|text| harness.say(Role::User, &text));
        Ok(())
    }

    fn feedback(&mut self, text: String) -> String {
        self.0.extend((!text.is_empty()).then_some(text));
        String::new()
    }
}
