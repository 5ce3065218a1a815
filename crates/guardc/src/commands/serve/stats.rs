//! The counters of a sidecar, and their text as OpenMetrics.

use guard_sdk::Decision;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The upper bounds of the latencies, in microseconds.
const BOUNDS: [u64; 10] = [100, 250, 500, 1000, 2500, 5000, 10_000, 50_000, 250_000, 1_000_000];

/// The counters of one process.
#[derive(Default)]
pub struct Stats(Mutex<Counters>);

#[derive(Default)]
struct Counters {
    methods: BTreeMap<&'static str, Latencies>,
    errors: BTreeMap<&'static str, u64>,
    decisions: BTreeMap<&'static str, u64>,
    pruned: u64,
    compacted: u64,
}

#[derive(Default)]
struct Latencies {
    /// The counts by bound; the last one counts everything above all bounds.
    buckets: [u64; BOUNDS.len() + 1],
    micros: u64,
}

impl Latencies {
    fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

impl Stats {
    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an answered request, and its error if it failed. The method is a name of ours: a
    /// caller's own name would be written into the metrics.
    pub fn answered(&self, method: &'static str, error: Option<&'static str>, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut counters = self.counters();
        if let Some(code) = error {
            *counters.errors.entry(code).or_default() += 1;
        }
        let latencies = counters.methods.entry(method).or_default();
        let at = BOUNDS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS.len());
        latencies.buckets[at] += 1;
        latencies.micros = latencies.micros.saturating_add(micros);
    }

    /// Counts a session that was dropped.
    pub fn pruned(&self) {
        self.counters().pruned += 1;
    }

    /// Counts a session that was compacted.
    pub fn compacted(&self) {
        self.counters().compacted += 1;
    }

    /// Counts a verdict.
    pub fn decided(&self, decision: Decision) {
        *self.counters().decisions.entry(decision.as_str()).or_default() += 1;
    }

    /// Returns the number of answered requests, and of those that failed.
    pub fn totals(&self) -> (u64, u64) {
        let counters = self.counters();
        let requests = counters.methods.values().map(Latencies::count).sum();
        (requests, counters.errors.values().sum())
    }

    /// Returns the counters as OpenMetrics text.
    pub fn text(&self) -> String {
        let counters = self.counters();
        let mut out = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _ = writeln!(out, "{text}");
        };
        line(format_args!("# TYPE guard_decisions counter"));
        for (decision, count) in &counters.decisions {
            line(format_args!("guard_decisions_total{{decision=\"{decision}\"}} {count}"));
        }
        line(format_args!("# TYPE guard_errors counter"));
        for (code, count) in &counters.errors {
            line(format_args!("guard_errors_total{{code=\"{code}\"}} {count}"));
        }
        for (name, count) in [("pruned", counters.pruned), ("compacted", counters.compacted)] {
            line(format_args!("# TYPE guard_sessions_{name} counter"));
            line(format_args!("guard_sessions_{name}_total {count}"));
        }
        line(format_args!("# TYPE guard_request_seconds histogram"));
        line(format_args!("# UNIT guard_request_seconds seconds"));
        for (method, latencies) in &counters.methods {
            let mut sum = 0;
            for (bound, count) in BOUNDS.iter().zip(latencies.buckets) {
                sum += count;
                let le = *bound as f64 / 1e6;
                line(format_args!(
                    "guard_request_seconds_bucket{{method=\"{method}\",le=\"{le}\"}} {sum}"
                ));
            }
            let all = latencies.count();
            let seconds = latencies.micros as f64 / 1e6;
            line(format_args!(
                "guard_request_seconds_bucket{{method=\"{method}\",le=\"+Inf\"}} {all}"
            ));
            line(format_args!("guard_request_seconds_count{{method=\"{method}\"}} {all}"));
            line(format_args!("guard_request_seconds_sum{{method=\"{method}\"}} {seconds}"));
        }
        line(format_args!("# EOF"));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_and_code() {
        let stats = Stats::default();
        stats.answered("call.propose", None, Duration::from_micros(120));
        stats.answered("call.propose", Some("no_such_session"), Duration::from_secs(3));
        for _ in 0..1000 {
            stats.answered("other", Some("unknown_method"), Duration::ZERO);
        }
        stats.decided(Decision::Deny);
        assert_eq!(stats.totals(), (1002, 1001));
        let text = stats.text();
        for expected in [
            "guard_decisions_total{decision=\"deny\"} 1\n",
            "guard_errors_total{code=\"unknown_method\"} 1000\n",
            "guard_request_seconds_bucket{method=\"call.propose\",le=\"0.0001\"} 0\n",
            "guard_request_seconds_bucket{method=\"call.propose\",le=\"0.00025\"} 1\n",
            "guard_request_seconds_bucket{method=\"call.propose\",le=\"+Inf\"} 2\n",
            "guard_request_seconds_count{method=\"other\"} 1000\n",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
