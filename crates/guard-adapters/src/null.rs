//! Adapters that use no guard. A case that one of them passes tests nothing.

use crate::harness::text_of;
use guard_ack::protocol::{
    Declared, Hello, LoopEnd, LoopEndKind, ModelMessage, ReplayAnswer, ReplayRequest, Restore,
    Role, Run, ToolRun,
};
use guard_ack::{Adapter, AdapterTrouble, AdapterWorld, Contestant, clause};
use serde_json::{Value, json};

/// The behaviour of an adapter without a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Null {
    /// Runs every call, and stops when the model does.
    AllowAll,
    /// Runs no call, and stops when the model does.
    DenyAll,
    /// Runs no call, returns each call as its answer, and stops when the model does.
    Echo,
    /// Ends immediately.
    Nothing,
    /// Runs every call, and never allows a stop.
    NeverStops,
}

impl Null {
    /// All adapters without a guard.
    pub const ALL: [Null; 5] =
        [Null::AllowAll, Null::DenyAll, Null::Echo, Null::Nothing, Null::NeverStops];
}

impl Contestant for Null {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        Ok(Box::new(*self))
    }
}

impl Adapter for Null {
    fn hello(&mut self, _: &Hello) -> Result<Declared, AdapterTrouble> {
        let names =
            clause::capabilities().iter().map(|capability| (capability.name.to_owned(), true));
        Ok(Declared {
            name: format!("{self:?}"),
            version: String::new(),
            capabilities: names.collect(),
            reusable: true,
        })
    }

    fn run(&mut self, run: &Run, world: &mut dyn AdapterWorld) -> Result<LoopEnd, AdapterTrouble> {
        let end =
            |output| LoopEnd { output, ..LoopEnd::without_output(LoopEndKind::Stopped, None) };
        let message = |role, text: String, call| ModelMessage {
            role,
            text,
            call,
            calls: Vec::new(),
            failed: false,
        };
        let mut messages = vec![message(Role::User, run.prompt.clone(), None)];
        if *self == Null::Nothing {
            return Ok(end(None));
        }
        while let Ok(turn) = world.model(&messages) {
            for call in &turn.calls {
                let text = match self {
                    Null::AllowAll | Null::NeverStops => {
                        world.begin(call);
                        match world.ended(true) {
                            Some((_, done)) if done.outcome == ToolRun::Success => {
                                text_of(&done.result)
                            }
                            Some((_, done)) => format!("error: {}", text_of(&done.result)),
                            None => String::new(),
                        }
                    }
                    Null::Echo => json!(call).to_string(),
                    _ => "denied".into(),
                };
                messages.push(message(Role::Tool, text, Some(call.call.clone())));
            }
            if turn.stop && *self != Null::NeverStops {
                return Ok(end(turn.output));
            }
        }
        Ok(end(None))
    }

    fn snapshot(&mut self, _: &str) -> Result<Value, AdapterTrouble> {
        Ok(Value::Null)
    }

    fn restore(&mut self, _: &Restore) -> Result<(), AdapterTrouble> {
        Ok(())
    }

    fn reset(&mut self, _: Option<&str>) -> Result<(), AdapterTrouble> {
        Ok(())
    }

    fn replay(&mut self, _: &ReplayRequest) -> Result<ReplayAnswer, AdapterTrouble> {
        Ok(ReplayAnswer { agrees: true, at: None })
    }
}
