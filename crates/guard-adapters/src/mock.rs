//! An adapter in this process: a shape, its duties, and its sessions.

use crate::duties::{Duties, Faithful, OpenSessions};
use crate::engine::trouble;
use crate::faults::AdapterFault;
use crate::harness::Harness;
use crate::shape::AdapterShape;
use guard_ack::protocol::{
    ApprovalAnswer, ApprovalRequest, Declared, Done, Hello, LoopEnd, ModelCall, ModelMessage,
    ModelTurn, ReplayAnswer, ReplayRequest, Restore, Run,
};
use guard_ack::{Adapter, AdapterTrouble, AdapterWorld, Contestant, Refused};
use guard_sdk::GuardCache;
use serde_json::Value;
use std::collections::HashMap;

/// An adapter that can be started.
pub struct Mock<'g> {
    /// The shape.
    pub shape: AdapterShape,
    /// The duty that the adapter gets wrong, if any.
    pub fault: Option<AdapterFault>,
    /// The compiled guards.
    pub guards: &'g GuardCache,
}

impl Contestant for Mock<'_> {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        Ok(Box::new(Instance {
            shape: self.shape,
            fault: self.fault,
            duties: self.fault.map_or(Box::new(Faithful), AdapterFault::duties),
            sessions: OpenSessions { guards: self.guards, open: HashMap::new() },
        }))
    }
}

struct Instance<'g> {
    shape: AdapterShape,
    fault: Option<AdapterFault>,
    duties: Box<dyn Duties>,
    sessions: OpenSessions<'g>,
}

impl Adapter for Instance<'_> {
    fn hello(&mut self, _: &Hello) -> Result<Declared, AdapterTrouble> {
        let names = self.shape.capabilities();
        Ok(Declared {
            name: format!("guard-{}", self.shape.name()),
            version: env!("CARGO_PKG_VERSION").into(),
            capabilities: names.into_iter().map(|name| (name.to_owned(), true)).collect(),
            reusable: true,
        })
    }

    fn run(&mut self, run: &Run, world: &mut dyn AdapterWorld) -> Result<LoopEnd, AdapterTrouble> {
        let Instance { shape, fault, duties, sessions } = self;
        let mut engine = duties.open(sessions, run)?;
        let mut both =
            ParallelWorld { world, shape: *shape, fault: *fault, sessions, session: &run.session };
        let mut harness = Harness {
            engine: &mut engine,
            world: &mut both,
            run,
            messages: Vec::new(),
            asked: 0,
            shown: None,
            is_cancelled: false,
        };
        let end = shape.run(&mut **duties, &mut harness);
        // The session is kept after an error as well, because the next run may continue it.
        sessions.open.insert(duties.key(&run.session), engine);
        end
    }

    fn snapshot(&mut self, session: &str) -> Result<Value, AdapterTrouble> {
        let engine = self.sessions.open.get(&self.duties.key(session));
        self.duties.snapshot(engine.ok_or_else(|| trouble("there is no such session"))?)
    }

    fn restore(&mut self, restore: &Restore) -> Result<(), AdapterTrouble> {
        self.duties.restore(&mut self.sessions, restore)
    }

    fn reset(&mut self, session: Option<&str>) -> Result<(), AdapterTrouble> {
        match session {
            Some(session) => self.duties.reset(&mut self.sessions, session),
            None => self.sessions.open.clear(),
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        self.duties.exit()
    }

    fn replay(&mut self, replay: &ReplayRequest) -> Result<ReplayAnswer, AdapterTrouble> {
        self.duties.replay(&mut self.sessions, replay)
    }
}

/// The world of a run, during which the run of another session may take place in this process.
struct ParallelWorld<'w, 'g> {
    world: &'w mut dyn AdapterWorld,
    shape: AdapterShape,
    fault: Option<AdapterFault>,
    sessions: &'w mut OpenSessions<'g>,
    session: &'w str,
}

impl ParallelWorld<'_, '_> {
    /// Plays the parallel run that begins now, if there is one. Returns true if there was one.
    fn play_beside(&mut self) -> bool {
        let Some(run) = self.world.beside() else { return false };
        self.world.select(&run.session);
        let duties = self.fault.map_or_else(|| Box::new(Faithful) as _, AdapterFault::duties);
        let sessions = OpenSessions {
            guards: self.sessions.guards,
            // Both runs are of one process, and a fault may confuse their sessions, so they share
            // one table.
            open: std::mem::take(&mut self.sessions.open),
        };
        let shape = self.shape;
        let fault = self.fault;
        let mut instance = Instance { shape, fault, duties, sessions };
        let end = instance.run(&run, self.world);
        self.sessions.open = instance.sessions.open;
        self.world.select(self.session);
        self.world.beside_ended(end);
        true
    }
}

impl AdapterWorld for ParallelWorld<'_, '_> {
    fn model(&mut self, messages: &[ModelMessage]) -> Result<ModelTurn, Refused> {
        self.world.model(messages)
    }

    fn begin(&mut self, call: &ModelCall) {
        self.world.begin(call);
    }

    fn ended(&mut self, idle: bool) -> Option<(String, Done)> {
        self.play_beside();
        let ended = self.world.ended(idle);
        // Reading the line may have started the other run.
        if ended.is_none() && self.play_beside() { self.world.ended(idle) } else { ended }
    }

    fn is_expecting_company(&self) -> bool {
        self.world.is_expecting_company()
    }

    fn now(&mut self) -> String {
        self.world.now()
    }

    fn approval(&mut self, request: &ApprovalRequest) -> ApprovalAnswer {
        self.world.approval(request)
    }

    fn probe(&mut self, name: &str) -> Option<Value> {
        self.world.probe(name)
    }
}
