//! An adapter as a process: a line protocol over its standard input and output (`conversation`), with
//! a time limit on every step. This file starts processes and lends them to cases.
//!
//! Only this module uses a real clock. It never waits indefinitely: a process that hangs, floods or
//! sends invalid messages is killed with all processes that it has started, and the problem is
//! reported.

mod child;
mod conversation;
mod lines;

use crate::adapter::{Adapter, AdapterTrouble, AdapterWorld, Contestant, TroubleKind};
use crate::protocol::{
    Declared, Hello, LoopEnd, OfSession, Outage, ReplayAnswer, ReplayRequest, Reset, Restore, Run,
    SnapshotAnswer,
};
use crate::workspace::Workspace;
use child::Child;
use conversation::AdapterProcess;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The maximum number of messages in one run.
const MAX_MESSAGES: usize = 20_000;
/// The part of the time limit that is sufficient if the adapter was silent for the whole of it
/// before.
const SHORTENED: u32 = 3;
/// The name of the file that exists while a guard fails, in the folder of its adapter.
pub const OUTAGE: &str = "outage";

/// A command that starts adapters. A process that declares itself reusable plays several cases.
#[derive(Debug)]
pub struct AdapterCommand {
    /// The binary and its arguments; no shell.
    pub argv: Vec<String>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
    /// The time limit of one step.
    pub patience: Duration,
    /// The time limit from the start to the answer to `hello`.
    pub startup: Duration,
    /// The silence after which held calls end.
    pub quiet: Duration,
    /// True if a process may serve several cases.
    pub is_reusing: bool,
    /// The function that writes the command by which an adapter starts a guard that fails, and
    /// returns its path.
    pub failing_guard: Option<FailingGuard>,
    /// The processes that wait for a case.
    idle: Mutex<Vec<AdapterProcess>>,
}

/// A function that writes, into a folder, a command in place of `GUARDC` that fails as the outage
/// requires. It returns the path.
pub type FailingGuard = fn(&Path, &Outage) -> std::io::Result<String>;

impl AdapterCommand {
    /// Returns a command with the usual time limits.
    pub fn new(argv: Vec<String>, env: Vec<(String, String)>) -> AdapterCommand {
        AdapterCommand {
            argv,
            env,
            patience: Duration::from_secs(10),
            startup: Duration::from_secs(60),
            quiet: Duration::from_secs(1),
            is_reusing: true,
            failing_guard: None,
            idle: Mutex::new(Vec::new()),
        }
    }

    fn process(&self, outage: Option<&Outage>) -> Result<AdapterProcess, AdapterTrouble> {
        let folder = Workspace::new(&BTreeMap::new()).map_err(|error| {
            AdapterTrouble::new(
                TroubleKind::Start,
                format!("no folder can be made for it: {error}"),
            )
        })?;
        let mut env = self.env.clone();
        if let (Some(outage), Some(write)) = (outage, self.failing_guard) {
            let path = write(folder.path(), outage).map_err(|error| {
                AdapterTrouble::new(
                    TroubleKind::Start,
                    format!("no failing guard can be made: {error}"),
                )
            })?;
            env.push(("GUARDC".to_owned(), path));
        }
        let outage = outage.map(|_| folder.path().join(OUTAGE));
        let has_outage = outage.is_some();
        let child = Child::start(&self.argv, &env, folder)?;
        Ok(AdapterProcess {
            child,
            outage,
            has_outage,
            patience: self.patience,
            startup: self.startup,
            quiet: self.quiet,
            asked: 0,
            left: MAX_MESSAGES,
            is_reusable: false,
            cases: 0,
        })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<AdapterProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contestant for AdapterCommand {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        let idle = self.idle().pop();
        let process = idle.map_or_else(|| self.process(None), Ok)?;
        Ok(Box::new(Lease { process: Some(process), command: self }))
    }

    fn start_fresh(
        &self,
        outage: Option<&Outage>,
    ) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        let process = self.process(outage)?;
        // A process with a failing guard plays one case.
        Ok(Box::new(Lease { process: Some(process), command: self }))
    }
}

/// A process that plays a case, and may be returned after it.
struct Lease<'c> {
    process: Option<AdapterProcess>,
    command: &'c AdapterCommand,
}

impl Lease<'_> {
    fn process(&mut self) -> Result<&mut AdapterProcess, AdapterTrouble> {
        self.process
            .as_mut()
            .ok_or_else(|| AdapterTrouble::new(TroubleKind::Crash, "its case is over"))
    }
}

impl Adapter for Lease<'_> {
    fn hello(&mut self, hello: &Hello) -> Result<Declared, AdapterTrouble> {
        let process = self.process()?;
        let declared: Declared = process.ask("hello", hello, None)?;
        process.is_reusable = declared.reusable;
        Ok(declared)
    }

    fn run(&mut self, run: &Run, world: &mut dyn AdapterWorld) -> Result<LoopEnd, AdapterTrouble> {
        let process = self.process()?;
        process.left = MAX_MESSAGES;
        process.ask("run", run, Some(world))
    }

    fn snapshot(&mut self, session: &str) -> Result<Value, AdapterTrouble> {
        let params = OfSession { session: session.into() };
        self.process()?
            .ask::<SnapshotAnswer>("snapshot", &params, None)
            .map(|answer| answer.snapshot)
    }

    fn restore(&mut self, restore: &Restore) -> Result<(), AdapterTrouble> {
        self.process()?.ask::<Value>("restore", restore, None).map(|_| ())
    }

    fn reset(&mut self, session: Option<&str>) -> Result<(), AdapterTrouble> {
        let reset = Reset { session: session.map(str::to_owned) };
        self.process()?.ask::<Value>("reset", &reset, None).map(|_| ())
    }

    fn replay(&mut self, replay: &ReplayRequest) -> Result<ReplayAnswer, AdapterTrouble> {
        self.process()?.ask("replay", replay, None)
    }

    fn finish(&mut self, clean: bool) -> Result<(), AdapterTrouble> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let is_unused = process.asked == 0;
        let is_reusable = clean && process.is_reusable && !process.has_outage;
        if !is_unused {
            if !self.command.is_reusing || !is_reusable {
                return Ok(());
            }
            process.ask::<Value>("reset", &Reset { session: None }, None)?;
            process.cases += 1;
        }
        process.child.forget_stderr();
        self.command.idle().push(process);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        self.process.take().map_or(Ok(()), |mut process| process.child.end(process.patience))
    }

    fn end_outage(&mut self) {
        let file = self.process.as_mut().and_then(|process| process.outage.take());
        // If the file cannot be removed, the guard continues to fail, and the case reports that.
        let _ = file.map(std::fs::remove_file);
    }

    fn shorten_patience(&mut self) {
        if let Some(process) = &mut self.process {
            process.patience = self.command.patience / SHORTENED;
        }
    }

    fn is_asleep(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| process.child.is_asleep())
    }

    fn is_used(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.cases > 0)
    }

    fn said(&mut self) -> String {
        self.process.as_ref().map_or_else(String::new, |process| process.child.stderr())
    }
}
