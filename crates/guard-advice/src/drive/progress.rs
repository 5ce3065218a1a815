//! The progress of a drive over its rounds, to detect when it is stuck.

use super::DriveLimits;
use guard_plan::drive::End;
use guard_plan::json::Json;
use guard_plan::key;
use guard_plan::plan::Millis;
use guard_plan::value::Value;
use std::collections::HashSet;

/// Counts of consecutive rounds.
#[derive(Debug, Default)]
pub(super) struct RoundCounts {
    /// The calls that have succeeded, by tool and arguments.
    succeeded: HashSet<Box<[u8]>>,
    idle: u32,
    failures: u32,
    invalid: u32,
    waits: u32,
}

impl RoundCounts {
    /// Counts a valid or invalid choice.
    pub fn chose(&mut self, valid: bool) {
        self.invalid = if valid { 0 } else { self.invalid.saturating_add(1) };
    }

    /// Counts a successful call.
    pub fn succeeded(&mut self, tool: &str, args: &Json, changed: bool) {
        (self.failures, self.waits) = (0, 0);
        let call = [Value::String(tool.into()), Value::Json(Box::new(args.clone()))];
        if self.succeeded.insert(key::encode(&call)) || changed {
            self.idle = 0;
        } else {
            self.idled();
        }
    }

    /// Counts a failed call.
    pub fn failed(&mut self, changed: bool) {
        self.failures = self.failures.saturating_add(1);
        if changed {
            self.idle = 0;
        } else {
            self.idled();
        }
    }

    /// Counts a round without progress.
    pub fn idled(&mut self) {
        self.idle = self.idle.saturating_add(1);
    }

    /// Returns the delay for a probe that is not ready. Consecutive delays become longer.
    pub fn wait(&mut self, limits: &DriveLimits) -> Millis {
        let factor = 1_i64.checked_shl(self.waits.min(40)).unwrap_or(i64::MAX);
        self.waits = self.waits.saturating_add(1);
        limits.wait.max(1).saturating_mul(factor).min(limits.longest_wait.max(1))
    }

    /// Returns the limit that was reached.
    pub fn end(&self, limits: &DriveLimits, rounds: u64) -> Option<End> {
        if self.failures >= limits.failures {
            Some(End::Failures)
        } else if self.invalid >= limits.invalid {
            Some(End::InvalidChoices)
        } else if self.idle >= limits.stuck {
            Some(End::Stuck)
        } else if rounds >= limits.steps {
            Some(End::StepLimit)
        } else {
            None
        }
    }
}
