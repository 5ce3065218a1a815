//! Faults that make an adapter wait for ever: for a call that is never settled, a guard that does
//! not answer, or a run that was cancelled.

use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful};
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{Done, FailureKind, ModelCall, ModelTurn, ToolRun};
use guard_ack::{AdapterTrouble, TroubleKind};
use std::cell::Cell;

pub(super) const TABLE: &[Spec] = faults! {
    "cancel-blocks" "LOOP-8" "leaves the call of a cancelled run in flight, and waits for it" => {
        Blocks::on(|done| done.failure == Some(FailureKind::Cancelled))
    };
    "cancelled-run-blocks" "LOOP-8" "waits for ever when a run is cancelled" => Box::new(WaitsWhenCancelled);
    "runs-block-runs" "LOOP-11" "begins a run when the one before it has ended" => Box::new(OneRun::default());
    "success-blocks" "GATE-9" "does not settle successes, and waits for them" => {
        Blocks::on(|done| done.outcome == ToolRun::Success)
    };
    "retry-blocks" "GATE-21" "does not settle a call whose tool asks for a retry, and waits for it" => {
        Blocks::on(|done| done.failure == Some(FailureKind::Retry))
    };
    "exception-blocks" "GATE-21" "does not settle a call whose tool raises, and waits for it" => {
        Blocks::on(|done| done.failure == Some(FailureKind::Exception))
    };
    "timeout-blocks" "GATE-21" "does not settle a call whose tool timed out, and waits for it" => {
        Blocks::on(|done| done.failure == Some(FailureKind::Timeout))
    };
    "exception-kills" "GATE-21" "ends its process when a tool raises" => instead::settle(|harness, call, done| {
        match done.failure {
            Some(FailureKind::Exception) => Err(AdapterTrouble::new(TroubleKind::Crash, "it ended (exit status 1)")),
            _ => Faithful.settle(harness, call, done),
        }
    });
    "refused-blocks" "GATE-18" "leaves in flight what the framework refused, and waits for it" => {
        Box::new(Blocks { is_refused_kept: true, ..Blocks::default() })
    };
    "outage-blocks" "GATE-22" "waits for ever where the guard does not answer" => instead::gate(|harness, call| {
        Faithful.gate(harness, call).map_err(|_| silent())
    });
    "outage-kills" "GATE-22" "ends its process where the guard does not answer" => instead::gate(|harness, call| {
        let gate = Faithful.gate(harness, call);
        gate.map_err(|_| AdapterTrouble::new(TroubleKind::Crash, "it ended (exit status 1)"))
    });
    "never-wakes" "PAR-3" "waits for ever with a call that had to wait once" => {
        Box::new(Blocks { is_forgetful: true, ..Blocks::default() })
    };
};

/// Returns the error of an adapter that waits for ever, and therefore sends nothing any more.
fn silent() -> AdapterTrouble {
    AdapterTrouble::new(TroubleKind::Hang, "it was silent for 10 s while `run` was to be answered")
}

/// An adapter that waits for calls that are never settled.
struct Blocks {
    is_unsettled: fn(&Done) -> bool,
    is_refused_kept: bool,
    /// True if a call that waited once is not proposed to the guard again.
    is_forgetful: bool,
    waited: Vec<String>,
    /// The number of running tools.
    running: usize,
}

impl Default for Blocks {
    fn default() -> Blocks {
        let waited = Vec::new();
        let running = 0;
        Blocks {
            is_unsettled: |_| false,
            is_refused_kept: false,
            is_forgetful: false,
            waited,
            running,
        }
    }
}

impl Blocks {
    fn on(is_unsettled: fn(&Done) -> bool) -> Box<dyn Duties> {
        Box::new(Blocks { is_unsettled, ..Blocks::default() })
    }
}

impl Duties for Blocks {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        let gate = if self.is_forgetful && self.waited.contains(&call.call) {
            Gate::Wait(String::new())
        } else {
            Faithful.gate(harness, call)?
        };
        if let Gate::Wait(_) = gate {
            self.waited.push(call.call.clone());
            if self.running == 0 {
                return Err(silent());
            }
        }
        Ok(gate)
    }

    fn no_such_tool(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<String> {
        if self.is_refused_kept {
            Ok(format!("there is no tool {}", call.tool))
        } else {
            Faithful.no_such_tool(harness, call)
        }
    }

    fn start(&mut self, harness: &mut Harness, call: &ModelCall) {
        self.running += 1;
        Faithful.start(harness, call);
    }

    fn finished(&mut self, harness: &mut Harness) -> Option<(String, Done)> {
        let ended = Faithful.finished(harness)?;
        self.running = self.running.saturating_sub(1);
        Some(ended)
    }

    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        if (self.is_unsettled)(done) {
            Ok(String::new())
        } else {
            Faithful.settlement(harness, call, done)
        }
    }
}

struct WaitsWhenCancelled;

impl Duties for WaitsWhenCancelled {
    fn ask_model(&mut self, harness: &mut Harness) -> AdapterResult<Option<ModelTurn>> {
        if harness.is_cancelled { Err(silent()) } else { Faithful.ask_model(harness) }
    }
}

thread_local! {
    /// True while an adapter runs.
    static IS_TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// An adapter with a lock for the whole process, which the first run keeps.
#[derive(Default)]
struct OneRun {
    has_lock: bool,
}

impl Duties for OneRun {
    fn begin(&mut self, harness: &mut Harness) -> AdapterResult<()> {
        if !self.has_lock && IS_TAKEN.replace(true) {
            return Err(silent());
        }
        self.has_lock = true;
        Faithful.begin(harness)
    }
}

impl Drop for OneRun {
    fn drop(&mut self) {
        if self.has_lock {
            IS_TAKEN.set(false);
        }
    }
}
