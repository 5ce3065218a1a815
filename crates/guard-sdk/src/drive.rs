//! Drives: a loop that asks a reasoner for the next call, and runs what the guard allows.

use crate::session::Session;
use guard_advice::drive::{DriveIo, DriveLimits, DriveSession, drive};
use guard_plan::advice::Advice;
use guard_plan::drive::DriveReport;
use guard_plan::plan::Millis;
use guard_runtime::{Event, Kernel, Outcome, Session as SessionState, World};

impl<W: World> Session<W> {
    /// Drives the session until its goals are reached, nothing more can be done, or a limit is met. Every event of the
    /// drive is recorded like any other.
    pub fn drive(&mut self, io: &mut DriveIo<'_>, limits: &DriveLimits) -> DriveReport {
        drive(self, io, limits)
    }
}

impl<W: World> DriveSession for Session<W> {
    fn kernel(&self) -> &Kernel {
        self.guard.kernel()
    }

    fn state(&self) -> &SessionState {
        &self.state
    }

    fn step(&mut self, event: &Event<'_>) -> Result<Outcome, String> {
        match self.apply(event) {
            Ok(recorded) => Ok(recorded.into_outcome()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn advise(&mut self, now: Millis) -> Advice {
        self.at(now).advise()
    }
}
