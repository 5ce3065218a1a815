//! Drives: a loop that asks a reasoner for the next call, and runs the calls that the guard allows.

use crate::session::Session;
use guard_advice::drive::{DriveIo, DriveLimits, DriveSession, drive};
use guard_plan::advice::Advice;
use guard_plan::drive::DriveReport;
use guard_plan::plan::Millis;
use guard_runtime::{Event, Kernel, Outcome, SessionState, World};

impl<W: World> Session<W> {
    /// Drives the session until its goals are reached, no step is possible, or a limit is reached.
    /// Every event of the drive is recorded like any other event.
    ///
    /// ```
    /// use guard_sdk::driving::{Clock, DriveIo, DriveLimits, Nobody, Scripted, ToolOutcome, Tools};
    /// use guard_sdk::{Guard, Json};
    /// struct Shell;
    /// impl Tools for Shell {
    ///     fn run(&mut self, _: &str, _: &Json) -> ToolOutcome { ToolOutcome::Success(None) }
    /// }
    /// struct Still;
    /// impl Clock for Still {
    ///     fn now(&mut self) -> i64 { 0 }
    ///     fn wait_until(&mut self, _: i64) {}
    /// }
    /// let source = "guard demo\nstate { built: bool = false }\ntool build() { effect built = true }\ngoal done { built }";
    /// let mut session = Guard::compile("demo.guard", source)?.session("s1").at(0).open()?;
    /// // Scripted replies stand for a model.
    /// let mut reasoner = Scripted::new([r#"{"action": "build", "reasoning": "nothing is built"}"#]);
    /// let io = DriveIo { reasoner: &mut reasoner, tools: &mut Shell, clock: &mut Still, approvals: &mut Nobody };
    /// let report = session.drive(&mut { io }, &DriveLimits::default());
    /// assert_eq!(report.end, guard_plan::drive::End::GoalReached);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
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
