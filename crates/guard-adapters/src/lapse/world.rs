//! Faults between the adapter and the world: wrong messages to the model, and wrong tool runs.

use crate::fault::Fault;
use guard_ack::protocol::{Approval, ApprovalRequest, Call, Done, Message, Role, Turn};
use guard_ack::{Refused, World};
use serde_json::{Value, json};

/// The end of a block of feedback.
const END: &str = "</feedback>";

/// A world that receives wrong reports.
pub(crate) struct Lapsing<'w> {
    pub fault: Fault,
    pub world: &'w mut dyn World,
    /// The number of messages shown before.
    pub shown: usize,
    /// Feedback that is shown late or again.
    pub late: Vec<Message>,
    /// Calls that run a second time.
    pub twice: Vec<String>,
}

impl<'w> Lapsing<'w> {
    pub fn new(fault: Fault, world: &'w mut dyn World) -> Lapsing<'w> {
        Lapsing { fault, world, shown: 0, late: Vec::new(), twice: Vec::new() }
    }

    /// Returns the conversation as shown to the model.
    fn told(&mut self, messages: &[Message]) -> Vec<Message> {
        let mut told = messages.to_vec();
        let new = self.shown.min(told.len());
        match self.fault {
            Fault::ForgetsHistory => {
                let last = told.len().saturating_sub(2);
                told.drain(..last);
            }
            Fault::AnswersTwice => {
                told = told
                    .into_iter()
                    .flat_map(|it| {
                        let again = (it.role == Role::Tool).then(|| it.clone());
                        std::iter::once(it).chain(again)
                    })
                    .collect();
            }
            Fault::CutsResults => {
                told.iter_mut().filter(|it| it.role == Role::Tool).for_each(|it| {
                    it.text = it.text.chars().take(10).collect();
                });
            }
            Fault::SwapsAnswers => {
                let mut answers: Vec<&mut Message> =
                    told[new..].iter_mut().filter(|it| it.role == Role::Tool).collect();
                if let [first, .., last] = &mut answers[..] {
                    std::mem::swap(&mut first.text, &mut last.text);
                }
            }
            Fault::EscapesFeedback => {
                told.iter_mut().filter(|it| it.text.contains(END)).for_each(|it| {
                    it.text = it.text.replace('<', "&lt;").replace('>', "&gt;");
                });
            }
            Fault::FirstBlock => told.iter_mut().for_each(|it| {
                if let Some(at) = it.text.find(END) {
                    it.text.truncate(at + END.len());
                }
            }),
            Fault::LateFeedback => {
                let late = std::mem::take(&mut self.late);
                told.iter_mut().skip(new).filter(|it| it.text.contains(END)).for_each(|it| {
                    self.late.push(said(&it.text));
                    it.text.clear();
                });
                told.extend(late);
            }
            Fault::RepeatsFeedback => {
                let late = self.late.clone();
                let new = told.iter().skip(new).filter(|it| it.text.contains(END));
                self.late.extend(new.map(|it| said(&it.text)));
                told.extend(late);
            }
            _ => {}
        }
        self.shown = messages.len();
        told
    }
}

fn said(text: &str) -> Message {
    Message { role: Role::User, text: text.to_owned(), call: None, calls: Vec::new() }
}

impl World for Lapsing<'_> {
    fn model(&mut self, messages: &[Message]) -> Result<Turn, Refused> {
        let told = self.told(messages);
        self.world.model(&told)
    }

    fn begin(&mut self, call: &Call) {
        match self.fault {
            Fault::OtherArguments => {
                let mut other = call.clone();
                if let Value::Object(args) = &mut other.args {
                    args.insert("timeout".into(), json!(30));
                }
                self.world.begin(&other);
            }
            Fault::RunsTwice => {
                self.world.begin(call);
                self.twice.push(call.call.clone());
                self.world.begin(call);
            }
            _ => self.world.begin(call),
        }
    }

    fn ended(&mut self, idle: bool) -> Option<(String, Done)> {
        let ended = self.world.ended(idle);
        if let Some((id, _)) = &ended
            && let Some(at) = self.twice.iter().position(|twice| twice == id)
        {
            self.twice.remove(at);
            return self.world.ended(idle);
        }
        ended
    }

    fn now(&mut self) -> String {
        self.world.now()
    }

    fn approval(&mut self, request: &ApprovalRequest) -> Approval {
        self.world.approval(request)
    }

    fn probe(&mut self, name: &str) -> Option<Value> {
        self.world.probe(name)
    }
}
