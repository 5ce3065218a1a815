//! The same decisions by Guard, Cedar, Dogwood, CEL and Rego, each by its prepared API, in one run.
//!
//! Two questions: what a decision takes among 1 to 1,000 rules (one a tool), and what it takes after a session
//! of 10 to 100,000 calls. First all must give the same answers. What is measured is the decision alone: requests
//! are in each engine's own form beforehand. `cargo run --release` prints two tables.

mod cedar;
mod cels;
mod dogwood;
mod guard;
mod rego;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The numbers of rules that are measured, one rule for each tool.
const RULES: [usize; 4] = [1, 10, 100, 1_000];
/// The numbers of calls in the history that are measured.
const HISTORIES: [usize; 3] = [10, 1_000, 100_000];
/// Requests that are decided in turn.
const REQUESTS: usize = 64;
/// Batches of which the median counts.
const BATCHES: usize = 9;
/// The approximate duration of a batch.
const BATCH: Duration = Duration::from_millis(30);

/// A call of a tool: a deployment of so many.
pub struct Call {
    pub tool: usize,
    pub env: &'static str,
    pub count: i64,
}

/// From how many on the rule of a tool denies, at `staging`.
pub fn most(tool: usize) -> i64 {
    3 + (tool % 5) as i64
}

/// A login that a session has seen.
pub struct Login {
    pub user: String,
    /// Seconds since the session began.
    pub at: i64,
}

/// The time of the question. Every login is younger than an hour.
pub const NOW: i64 = 3_100;

/// Something that decides requests of its own, by number.
pub type Engine<'e> = Box<dyn FnMut(usize) -> bool + 'e>;

/// Calls of tools spread over all rules, half of them denied.
fn calls(rules: usize) -> Vec<Call> {
    let call = |n: usize| {
        let tool = n * 7919 % rules;
        let count = if n % 2 == 0 { most(tool) } else { most(tool) + 1 };
        Call { tool, env: if n % 4 == 3 { "prod" } else { "staging" }, count }
    };
    (0..REQUESTS).map(call).collect()
}

/// Logins of users that come again and again.
fn logins(history: usize) -> Vec<Login> {
    let users = (history / 5).max(1);
    let login = |n: usize| Login {
        user: format!("user_{}", n % users),
        at: (n as i64 * 3_000) / history as i64,
    };
    (0..history).map(login).collect()
}

/// Returns the users of the requests. Every other one has logged in.
fn readers(history: usize) -> Vec<String> {
    let users = (history / 5).max(1);
    let reader = |n: usize| match n % 2 {
        0 => format!("user_{}", n * 7919 % users),
        _ => format!("nobody_{n}"),
    };
    (0..REQUESTS).map(reader).collect()
}

/// All answers of an engine.
fn answers(engine: &mut Engine<'_>) -> Vec<bool> {
    (0..REQUESTS).map(engine).collect()
}

/// Nanoseconds of one decision of these requests.
fn measure(engine: &mut Engine<'_>, requests: &[usize]) -> f64 {
    let mut next = 0;
    let mut run = |times: usize| {
        let begun = Instant::now();
        for _ in 0..times {
            black_box(engine(requests[next % requests.len()]));
            next += 1;
        }
        begun.elapsed()
    };
    let one = run(2).max(Duration::from_nanos(50)) / 2;
    let times = (BATCH.as_nanos() / one.as_nanos()).clamp(1, 2_000_000) as usize;
    let mut batches: Vec<f64> =
        (0..BATCHES).map(|_| run(times).as_nanos() as f64 / times as f64).collect();
    batches.sort_by(f64::total_cmp);
    batches[BATCHES / 2]
}

fn shown(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}

/// One row by name: what each size takes, and how often as much as the first row.
fn rows(title: &str, sizes: &[usize], rows: &[(&str, Vec<Option<f64>>)]) {
    let heads: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    println!("\n| {title} | {} |\n| --- |{}", heads.join(" | "), " --- |".repeat(sizes.len()));
    let ours = &rows[0].1;
    for (name, times) in rows {
        let cells: Vec<String> = times
            .iter()
            .zip(ours)
            .map(|(time, ours)| match (time, ours) {
                (Some(time), Some(ours)) => format!("{} ({:.1})", shown(*time), time / ours),
                _ => "cannot say it".into(),
            })
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}

type Makes<'m> = (&'static str, &'m dyn Fn(usize) -> Option<Engine<'static>>);

/// Measures all engines at all sizes, once their answers are found to be the same.
fn table(title: &str, sizes: &[usize], engines: &[Makes<'_>]) {
    let mut times: Vec<(&str, Vec<Option<f64>>)> =
        engines.iter().map(|(name, _)| (*name, Vec::new())).collect();
    for size in sizes {
        let mut expected = None;
        for ((name, make), (_, times)) in engines.iter().zip(&mut times) {
            let Some(mut engine) = make(*size) else {
                times.push(None);
                continue;
            };
            let said = answers(&mut engine);
            let expected = expected.get_or_insert_with(|| said.clone());
            assert_eq!(said, *expected, "{name} at {size} says otherwise");
            // Those that are allowed; of ours, how long a refusal takes with all its explanation, too.
            let of = |answer: bool| (0..REQUESTS).filter(|n| said[*n] == answer).collect::<Vec<_>>();
            let refused = name.contains("refusal");
            assert!(!of(true).is_empty() && !of(false).is_empty());
            times.push(Some(measure(&mut engine, &of(!refused))));
        }
    }
    rows(title, sizes, &times);
}

fn main() {
    table(
        "rules",
        &RULES,
        &[
            ("Guard, the verdict", &|n| Some(guard::rules(calls(n), n))),
            ("Guard, put in flight and settled", &|n| Some(guard::rules_settled(calls(n), n))),
            ("Guard, a refusal with its explanation", &|n| Some(guard::rules(calls(n), n))),
            ("CEL, one program a tool", &|n| Some(cels::rules(calls(n), n))),
            ("Cedar", &|n| Some(cedar::rules(calls(n), n))),
            ("Dogwood, in memory", &|n| Some(dogwood::rules(calls(n), n))),
            ("Rego (regorus, its VM)", &|n| Some(rego::rules(calls(n), n))),
        ],
    );
    table(
        "calls seen",
        &HISTORIES,
        &[
            ("Guard, the verdict", &|h| Some(guard::history(logins(h), readers(h)))),
            ("Guard, put in flight and settled", &|h| {
                Some(guard::history_settled(logins(h), readers(h)))
            }),
            ("Guard, a refusal with its explanation", &|h| {
                Some(guard::history(logins(h), readers(h)))
            }),
            ("CEL, the host hands the history over", &|h| Some(cels::history(logins(h), readers(h)))),
            ("Cedar", &|_| None),
            ("Dogwood, in memory", &|h| Some(dogwood::history(logins(h), readers(h)))),
            ("Rego (regorus, its VM), the history as data", &|h| {
                Some(rego::history(logins(h), readers(h)))
            }),
        ],
    );
}
