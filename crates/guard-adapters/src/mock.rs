//! An adapter in this process: a shape, the duties as it performs them, and its sessions.

use crate::duties::{Duties, Faithful, OpenSessions};
use crate::engine::trouble;
use crate::faults::Fault;
use crate::harness::Harness;
use crate::shape::Shape;
use guard_ack::protocol::{Declared, End, Hello, Replay, Replayed, Restore, Run};
use guard_ack::{Adapter, Contestant, Trouble, World};
use guard_sdk::GuardCache;
use serde_json::Value;
use std::collections::HashMap;

/// An adapter that can be started.
pub struct Mock<'g> {
    /// The shape.
    pub shape: Shape,
    /// The duty that it gets wrong.
    pub fault: Option<Fault>,
    /// Its compiled guards.
    pub guards: &'g GuardCache,
}

impl Contestant for Mock<'_> {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, Trouble> {
        Ok(Box::new(Instance {
            shape: self.shape,
            duties: self.fault.map_or(Box::new(Faithful), Fault::duties),
            sessions: OpenSessions { guards: self.guards, open: HashMap::new() },
        }))
    }
}

struct Instance<'g> {
    shape: Shape,
    duties: Box<dyn Duties>,
    sessions: OpenSessions<'g>,
}

impl Adapter for Instance<'_> {
    fn hello(&mut self, _: &Hello) -> Result<Declared, Trouble> {
        let names = self.shape.capabilities();
        Ok(Declared {
            name: format!("guard-{}", self.shape.name()),
            version: env!("CARGO_PKG_VERSION").into(),
            capabilities: names.into_iter().map(|name| (name.to_owned(), true)).collect(),
            reusable: true,
        })
    }

    fn run(&mut self, run: &Run, world: &mut dyn World) -> Result<End, Trouble> {
        let mut engine = self.duties.open(&mut self.sessions, run)?;
        let mut harness = Harness {
            engine: &mut engine,
            world,
            run,
            messages: Vec::new(),
            proposals: 0,
            is_cancelled: false,
        };
        let end = self.shape.run(&mut *self.duties, &mut harness);
        self.sessions.open.insert(self.duties.key(&run.session), engine);
        end
    }

    fn snapshot(&mut self, session: &str) -> Result<Value, Trouble> {
        let engine = self.sessions.open.get(&self.duties.key(session));
        self.duties.snapshot(engine.ok_or_else(|| trouble("there is no such session"))?)
    }

    fn restore(&mut self, restore: &Restore) -> Result<(), Trouble> {
        self.duties.restore(&mut self.sessions, restore)
    }

    fn reset(&mut self, session: Option<&str>) -> Result<(), Trouble> {
        match session {
            Some(session) => self.duties.reset(&mut self.sessions, session),
            None => self.sessions.open.clear(),
        }
        Ok(())
    }

    fn replay(&mut self, replay: &Replay) -> Result<Replayed, Trouble> {
        self.duties.replay(&mut self.sessions, replay)
    }
}
