//! A session's memory of a probe: its last answer, and the duration of its failure (semantics §9).

use guard_plan::plan::{Backoff, Millis, Probe};
use guard_plan::value::{DECIMAL_ONE, Fault, Value};
use serde::{Deserialize, Serialize};

/// The delay after the first failed attempt, in milliseconds.
const FIRST_WAIT: Millis = 1000;

/// The answer of a probe, or the reason why it did not answer.
pub(crate) type ProbeReply = Result<Value, Fault>;

/// The attempts to ask one probe.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Attempts {
    /// The last attempt.
    last: Option<(Millis, ProbeReply)>,
    /// The start of the window: the first failed attempt in the current series that another refusal
    /// did not make irrelevant.
    window: Option<Millis>,
    /// The delay after the last attempt, if it failed.
    wait: Option<Millis>,
}

/// The time at which a probe may be asked (semantics §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeTurn {
    /// At the next question.
    Now,
    /// At this time. Its last answer is valid until then.
    At(Millis),
    /// Never again.
    Never,
}

impl Attempts {
    /// The last answer.
    pub fn answer(&self) -> Option<&ProbeReply> {
        self.last.as_ref().map(|(_, answer)| answer)
    }

    /// Returns when the world may be asked, at a given time.
    pub fn turn(&self, probe: &Probe, now: Millis) -> ProbeTurn {
        let Some((last, answer)) = &self.last else { return ProbeTurn::Now };
        let end = self.window.zip(probe.within).map(|(first, within)| first.saturating_add(within));
        if end.is_some_and(|end| *last >= end) {
            return ProbeTurn::Never;
        }
        let mut next = *last;
        if let Some(wait) = self.wait.filter(|_| probe.backoff.is_some()) {
            // The window ends with an attempt.
            next = last.saturating_add(wait).min(end.unwrap_or(Millis::MAX));
        }
        if let Some(every) = probe.every.filter(|_| answer.is_ok()) {
            next = next.max(last.saturating_add(every));
        }
        if next > now { ProbeTurn::At(next) } else { ProbeTurn::Now }
    }

    /// Returns the attempts with one more added.
    pub fn with(&self, probe: &Probe, answer: ProbeReply, now: Millis) -> Attempts {
        if !matches!(answer, Err(_) | Ok(Value::Bool(false))) {
            return Attempts { last: Some((now, answer)), window: None, wait: None };
        }
        let wait = match (&probe.backoff, self.wait) {
            (Some(Backoff { up_to, .. }), None) => FIRST_WAIT.min(*up_to),
            (Some(Backoff { factor, up_to }), Some(before)) => {
                let wait = i128::from(before) * i128::from(*factor) / i128::from(DECIMAL_ONE);
                Millis::try_from(wait).unwrap_or(Millis::MAX).min(*up_to)
            }
            (None, _) => 0,
        };
        let window = self.window.or(Some(now));
        Attempts { last: Some((now, answer)), window, wait: Some(wait) }
    }

    /// Returns the attempts of an event that was refused whatever the probe answered. They start no
    /// window.
    pub fn moot(self, before: &Attempts) -> Attempts {
        Attempts { window: self.window.and(before.window), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::plan::ProbeAsks;

    fn probe(every: Option<Millis>, up_to: Option<Millis>, within: Option<Millis>) -> Probe {
        let backoff = up_to.map(|up_to| Backoff { factor: 2 * DECIMAL_ONE, up_to });
        let name = "p".into();
        let asks = ProbeAsks::Host;
        let forms = Default::default();
        Probe { name, returns: 0, forms, asks, every, backoff, timeout: 1, within }
    }

    #[test]
    fn waits_grow_to_their_bound() {
        let probe = probe(None, Some(3_000), None);
        let mut attempts = Attempts::default();
        let mut now = 0;
        for wait in [1_000, 2_000, 3_000, 3_000] {
            attempts = attempts.with(&probe, Ok(Value::Bool(false)), now);
            assert_eq!(attempts.turn(&probe, now), ProbeTurn::At(now + wait));
            now += wait;
            assert_eq!(attempts.turn(&probe, now), ProbeTurn::Now);
        }
        attempts = attempts.with(&probe, Ok(Value::Bool(true)), now);
        assert_eq!(attempts.turn(&probe, now), ProbeTurn::Now);
        attempts = attempts.with(&probe, Err(Fault::DivisionByZero), now);
        assert_eq!(attempts.turn(&probe, now), ProbeTurn::At(now + 1_000));
    }

    #[test]
    fn answers_are_used_again_and_failures_end() {
        let probe = probe(Some(500), None, Some(2_000));
        let fresh = Attempts::default().with(&probe, Ok(Value::Int(1)), 0);
        assert_eq!(fresh.turn(&probe, 499), ProbeTurn::At(500));
        assert_eq!(fresh.turn(&probe, 500), ProbeTurn::Now);
        // A failed attempt leaves no answer to reuse.
        let failed = fresh.with(&probe, Err(Fault::DivisionByZero), 1_000);
        assert_eq!(failed.turn(&probe, 1_000), ProbeTurn::Now);
        let failed = failed.with(&probe, Ok(Value::Bool(false)), 2_600);
        assert_eq!(failed.turn(&probe, 2_600), ProbeTurn::At(3_100));
        let failed = failed.with(&probe, Ok(Value::Bool(false)), 3_100);
        assert_eq!(failed.turn(&probe, 3_100), ProbeTurn::Never);
    }

    #[test]
    fn a_window_ends_with_an_attempt() {
        let probe = probe(None, Some(60_000), Some(15_000));
        let mut attempts = Attempts::default();
        for now in [0, 1_000, 3_000, 7_000] {
            attempts = attempts.with(&probe, Ok(Value::Bool(false)), now);
        }
        assert_eq!(attempts.turn(&probe, 7_000), ProbeTurn::At(15_000));
        let probe = Probe { within: Some(9_000), ..probe };
        assert_eq!(attempts.turn(&probe, 7_000), ProbeTurn::At(9_000));
        assert_eq!(attempts.turn(&probe, 20_000), ProbeTurn::Now);
        let last = attempts.with(&probe, Ok(Value::Bool(false)), 20_000);
        assert_eq!(last.turn(&probe, 20_000), ProbeTurn::Never);
    }

    #[test]
    fn a_moot_attempt_starts_no_window() {
        let probe = probe(None, None, Some(2_000));
        let before = Attempts::default();
        let moot = before.with(&probe, Ok(Value::Bool(false)), 0).moot(&before);
        assert_eq!(moot.turn(&probe, 5_000), ProbeTurn::Now);
        let failed = moot.with(&probe, Ok(Value::Bool(false)), 5_000);
        let failed = failed.with(&probe, Ok(Value::Bool(false)), 7_000).moot(&failed);
        assert_eq!(failed.turn(&probe, 7_000), ProbeTurn::Never);
    }
}
