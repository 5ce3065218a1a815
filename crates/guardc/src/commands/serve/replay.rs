//! The events in a session's trace, for taking it up again.

use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Asked, Payload, Ran, Record};
use guard_plan::{decimal, time};
use guard_runtime::{
    Approve, Ending, Event, Move, Prompt, Proposal, Resume, Settlement, Stop, Usage, Verify, World,
};

/// The event that a record is of; none where the record makes no sense.
pub fn event(record: &Record) -> Option<Event<'_>> {
    let now = time::parse_rfc3339(&record.time)?;
    let call = record.call.as_deref();
    Some(match &record.payload {
        Payload::Open(_) => return None,
        Payload::Propose(propose) => {
            Event::Propose(Proposal { call: call?, tool: &propose.tool, args: &propose.args, now })
        }
        Payload::Settle(settle) => {
            let result = Some(&*settle.result).filter(|result| !matches!(result, Json::Null));
            let ending = if settle.success { Ending::Success(result) } else { Ending::Failure };
            Event::Settle(Settlement { call: call?, ending, now })
        }
        Payload::Approve(approve) => Event::Approve(Approve {
            tool: &approve.tool,
            args: &approve.args,
            role: &approve.role,
            by: &approve.by,
            expires: match &approve.expires {
                Some(text) => Some(time::parse_rfc3339(text)?),
                None => None,
            },
            now,
        }),
        Payload::Usage(usage) => {
            Event::Usage(Usage { unit: &usage.unit, amount: decimal::parse(&usage.amount)?, now })
        }
        Payload::Resume(resume) => {
            Event::Resume(Resume { role: &resume.role, by: &resume.by, now })
        }
        Payload::Prompt(prompt) => Event::Prompt(Prompt { text: &prompt.text, now }),
        Payload::Stop(stop) => Event::Stop(Stop { reason: stop.reason.as_deref(), now }),
        Payload::Item(item) => match (&item.transition, &item.by) {
            (Some(transition), Some(by)) => {
                let reason = item.reason.as_deref();
                Event::Move(Move { item: &item.item, transition, by, reason, now })
            }
            _ => Event::Verify(Verify { item: &item.item, now }),
        },
    })
}

/// The world as it answered then.
pub struct Then<'a>(pub &'a Record);

impl Then<'_> {
    fn answer<T>(&self, read: impl Fn(&Asked) -> Option<T>) -> Option<T> {
        let asked: &[Asked] = match &self.0.payload {
            Payload::Propose(propose) => &propose.asked,
            Payload::Settle(settle) => &settle.asked,
            Payload::Prompt(prompt) => &prompt.asked,
            Payload::Stop(stop) => &stop.asked,
            Payload::Item(item) => &item.asked,
            _ => &[],
        };
        asked.iter().find_map(read)
    }
}

impl World for Then<'_> {
    fn exists(&mut self, wanted: &str) -> Option<bool> {
        self.answer(|asked| match asked {
            Asked::Exists { path, answer } if **path == *wanted => *answer,
            _ => None,
        })
    }

    fn probe(&mut self, wanted: &str) -> Option<Json> {
        self.answer(|asked| match asked {
            Asked::Probe { name, answered: true, answer } if **name == *wanted => {
                Some(answer.clone())
            }
            _ => None,
        })
    }

    fn file(&mut self, wanted: &str) -> Option<bool> {
        self.answer(|asked| match asked {
            Asked::File { path, answer } if **path == *wanted => *answer,
            _ => None,
        })
    }

    fn contains(&mut self, wanted: &str, part: &str) -> Option<bool> {
        self.answer(|asked| match asked {
            Asked::Contains { path, text, answer } if **path == *wanted && **text == *part => {
                *answer
            }
            _ => None,
        })
    }

    fn sha256(&mut self, wanted: &str) -> Option<Option<String>> {
        self.answer(|asked| match asked {
            Asked::Sha256 { path, answered: true, answer } if **path == *wanted => {
                Some(answer.clone())
            }
            _ => None,
        })
    }

    fn run(&mut self, wanted: &Command) -> Option<Ran> {
        self.answer(|asked| match asked {
            Asked::Run { command, answer } if *command == wanted.argv => answer.clone(),
            _ => None,
        })
    }

    fn committed(&mut self) -> Option<bool> {
        self.answer(|asked| match asked {
            Asked::Committed { answer } => *answer,
            _ => None,
        })
    }
}
