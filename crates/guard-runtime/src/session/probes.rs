//! A session's memory of a probe: its last answer, and the duration of its failure (semantics §9).

use guard_plan::plan::{Backoff, Millis, Probe};
use guard_plan::value::{DECIMAL_ONE, Fault, Value};
use serde::{Deserialize, Serialize};

/// The delay after the first failed attempt, in milliseconds.
const FIRST_WAIT: Millis = 1000;

/// The answer of a probe, or the reason why it did not answer.
pub(crate) type Answer = Result<Value, Fault>;

/// The attempts to ask one probe.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Attempts {
    /// The last attempt.
    last: Option<(Millis, Answer)>,
    /// The time of the first attempt in the current series of failures.
    failing: Option<Millis>,
    /// The delay after the last attempt, if it failed.
    wait: Millis,
}

/// The time when a probe may be asked (semantics §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// At the next question.
    Now,
    /// At this time; until then its last answer holds.
    At(Millis),
    /// Never again.
    Never,
}

impl Attempts {
    /// The last answer.
    pub fn answer(&self) -> Option<&Answer> {
        self.last.as_ref().map(|(_, answer)| answer)
    }

    /// Returns when the world may be asked, at a given time.
    pub fn turn(&self, probe: &Probe, now: Millis) -> Turn {
        let Some((last, answer)) = &self.last else { return Turn::Now };
        let mut next = *last;
        if let Some(every) = probe.every.filter(|_| answer.is_ok()) {
            next = next.max(last.saturating_add(every));
        }
        if self.failing.is_some() && probe.backoff.is_some() {
            next = next.max(last.saturating_add(self.wait));
        }
        let end =
            self.failing.zip(probe.within).map(|(first, within)| first.saturating_add(within));
        match end {
            Some(end) if next.max(now) >= end => Turn::Never,
            _ if next > now => Turn::At(next),
            _ => Turn::Now,
        }
    }

    /// Returns the attempts with one more.
    pub fn with(&self, probe: &Probe, answer: Answer, now: Millis) -> Attempts {
        if !matches!(answer, Err(_) | Ok(Value::Bool(false))) {
            return Attempts { last: Some((now, answer)), failing: None, wait: 0 };
        }
        let wait = match &probe.backoff {
            Some(Backoff { up_to, .. }) if self.failing.is_none() => FIRST_WAIT.min(*up_to),
            Some(Backoff { factor, up_to }) => {
                let wait = i128::from(self.wait) * i128::from(*factor) / i128::from(DECIMAL_ONE);
                Millis::try_from(wait).unwrap_or(Millis::MAX).min(*up_to)
            }
            None => 0,
        };
        Attempts { last: Some((now, answer)), failing: self.failing.or(Some(now)), wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::plan::ProbeAsks;

    fn probe(every: Option<Millis>, up_to: Option<Millis>, within: Option<Millis>) -> Probe {
        let backoff = up_to.map(|up_to| Backoff { factor: 2 * DECIMAL_ONE, up_to });
        let (name, asks) = ("p".into(), ProbeAsks::Host);
        Probe { name, returns: 0, asks, every, backoff, timeout: 1, within }
    }

    #[test]
    fn waits_grow_to_their_bound() {
        let probe = probe(None, Some(3_000), None);
        let (mut attempts, mut now) = (Attempts::default(), 0);
        for wait in [1_000, 2_000, 3_000, 3_000] {
            attempts = attempts.with(&probe, Ok(Value::Bool(false)), now);
            assert_eq!(attempts.turn(&probe, now), Turn::At(now + wait));
            now += wait;
            assert_eq!(attempts.turn(&probe, now), Turn::Now);
        }
        attempts = attempts.with(&probe, Ok(Value::Bool(true)), now);
        assert_eq!(attempts.turn(&probe, now), Turn::Now);
        attempts = attempts.with(&probe, Err(Fault::DivisionByZero), now);
        assert_eq!(attempts.turn(&probe, now), Turn::At(now + 1_000));
    }

    #[test]
    fn answers_are_used_again_and_failures_end() {
        let probe = probe(Some(500), None, Some(2_000));
        let fresh = Attempts::default().with(&probe, Ok(Value::Int(1)), 0);
        assert_eq!(fresh.turn(&probe, 499), Turn::At(500));
        assert_eq!(fresh.turn(&probe, 500), Turn::Now);
        // A failed attempt leaves no answer to reuse.
        let failed = fresh.with(&probe, Err(Fault::DivisionByZero), 1_000);
        assert_eq!(failed.turn(&probe, 1_000), Turn::Now);
        let failed = failed.with(&probe, Ok(Value::Bool(false)), 2_600);
        assert_eq!(failed.turn(&probe, 2_600), Turn::Never);
        assert_eq!(failed.turn(&probe, 3_000), Turn::Never);
    }
}
