//! An adapter in this process: a shape, an optional fault, and its sessions.

use crate::duty::Work;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::lapse::{Lapses, Lapsing};
use crate::library::Library;
use crate::shape::Shape;
use guard_ack::protocol::{Declared, End, Hello, Replay, Replayed, Restore, Run};
use guard_ack::{Adapter, Contestant, Kind, Trouble, World};
use serde_json::{Value, json};
use std::collections::HashMap;

/// An adapter that can be started.
#[derive(Debug)]
pub struct Mock<'l> {
    /// The shape.
    pub shape: Shape,
    /// The fault.
    pub fault: Fault,
    /// The cache of its compiled guards.
    pub library: &'l Library,
}

impl Contestant for Mock<'_> {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, Trouble> {
        Ok(Box::new(Instance {
            of: self,
            sessions: HashMap::new(),
            lapses: Lapses::default(),
            snapshots: Vec::new(),
        }))
    }
}

struct Instance<'m> {
    of: &'m Mock<'m>,
    sessions: HashMap<String, Engine>,
    lapses: Lapses,
    /// Snapshots that a faulty adapter does not hand out.
    snapshots: Vec<Vec<String>>,
}

impl Instance<'_> {
    fn key(&self, session: &str) -> String {
        match self.of.fault {
            Fault::OneSession => String::new(),
            _ => session.to_owned(),
        }
    }
}

impl Adapter for Instance<'_> {
    fn hello(&mut self, _: &Hello) -> Result<Declared, Trouble> {
        let names = self.of.shape.capabilities();
        Ok(Declared {
            name: format!("guard-{}", self.of.shape.name()),
            version: env!("CARGO_PKG_VERSION").into(),
            capabilities: names.into_iter().map(|name| (name.to_owned(), true)).collect(),
        })
    }

    fn run(&mut self, run: &Run, world: &mut dyn World) -> Result<End, Trouble> {
        let key = self.key(&run.session);
        let fault = self.of.fault;
        let known = self.sessions.remove(&key).filter(|_| fault != Fault::NewSessions);
        let mut engine = match known {
            Some(engine) => engine,
            None => Engine::open(self.of.library, run, fault)?,
        };
        if fault == Fault::NewTrace {
            engine.new_trace();
        }
        let mut work = Work {
            engine: &mut engine,
            world: &mut Lapsing::new(fault, world),
            run,
            fault,
            lapses: &mut self.lapses,
            messages: Vec::new(),
            turn: Vec::new(),
            waited: Vec::new(),
            late: Vec::new(),
        };
        let end = self.of.shape.run(&mut work);
        self.sessions.insert(key, engine);
        end
    }

    fn snapshot(&mut self, session: &str) -> Result<Value, Trouble> {
        let engine = self.sessions.get(&self.key(session));
        let engine = engine.ok_or_else(|| Trouble::new(Kind::Error, "there is no such session"))?;
        if self.of.fault == Fault::SnapshotInMemory {
            self.snapshots.push(engine.lines.clone());
            return Ok(json!({ "number": self.snapshots.len() - 1 }));
        }
        Ok(json!({ "trace": engine.lines }))
    }

    fn restore(&mut self, restore: &Restore) -> Result<(), Trouble> {
        let kernel = self.of.library.kernel(&restore.source)?;
        if self.of.fault == Fault::RestoreIsNothing {
            return Ok(());
        }
        let number = restore.snapshot["number"].as_u64().and_then(|at| usize::try_from(at).ok());
        let trace: Vec<String> = match self.of.fault {
            Fault::SnapshotInMemory => {
                let kept = number.and_then(|at| self.snapshots.get(at));
                kept.cloned().unwrap_or_default()
            }
            _ => serde_json::from_value(restore.snapshot["trace"].clone())
                .map_err(|error| Trouble::new(Kind::Error, error.to_string()))?,
        };
        let trace = self.lapses.restored(self.of.fault, trace);
        if !matches!(self.of.fault, Fault::None) {
            let engine = Engine::about(&kernel, &trace, restore.workspace.as_deref());
            self.sessions.extend(engine.map(|engine| (self.key(&restore.session), engine)));
            return Ok(());
        }
        let engine =
            Engine::again(&kernel, &trace, restore.workspace.as_deref()).map_err(|error| {
                Trouble::new(Kind::Error, format!("the snapshot diverges at record {}", error.at))
            })?;
        self.sessions.insert(self.key(&restore.session), engine);
        Ok(())
    }

    fn reset(&mut self, session: &str) -> Result<(), Trouble> {
        if self.of.fault != Fault::ResetIsNothing {
            self.sessions.remove(&self.key(session));
        }
        Ok(())
    }

    fn replay(&mut self, replay: &Replay) -> Result<Replayed, Trouble> {
        match self.of.fault {
            Fault::ReplayAgrees => return Ok(Replayed { agrees: true, at: None }),
            Fault::ReplayRefuses => return Ok(Replayed { agrees: false, at: Some(0) }),
            _ => {}
        }
        let kernel = self.of.library.kernel(&replay.source)?;
        Ok(match Engine::again(&kernel, &replay.trace, None) {
            Ok(_) => Replayed { agrees: true, at: None },
            Err(diverged) => Replayed { agrees: false, at: Some(diverged.at) },
        })
    }
}
