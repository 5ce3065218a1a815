//! Measures `diff` on guards with one clause less: how many pairs it decides, and how long it takes.
//!
//! `cargo run -p guard-tests --bin removals -- GUARD…`

use guard_compiler::diff::{Answer, WitnessLimits, diff};
use guard_compiler::explore::{self, explore};
use guard_compiler::hir::Program;
use guard_compiler::{NoFiles, SourceFile, compile};
use std::time::Instant;

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let compiled = compile(SourceFile { path: path.clone(), text: text.clone() }, &mut NoFiles);
        match compiled.output {
            Some(output) => measure(&path, &text, &output.program),
            None => panic!("{path} does not compile: {} diagnostics", compiled.diagnostics.len()),
        }
    }
}

fn measure(path: &str, text: &str, program: &Program) {
    let mut places: Vec<(u32, u32)> = Vec::new();
    for clause in program.tools.iter().flat_map(|tool| &tool.clauses) {
        let span = clause.rule.span;
        if !places.contains(&(span.start, span.end)) {
            places.push((span.start, span.end));
        }
    }
    places.sort_unstable();
    let begun = Instant::now();
    let explored = explore(program, &explore::ExplorationLimits::default(), &|| false);
    let called = explored.tools.iter().flatten().count();
    println!(
        "{path}: {called} of {} tools called, {:.1} s",
        program.tools.len(),
        begun.elapsed().as_secs_f64()
    );
    for (tool, _) in program.tools.iter().zip(&explored.tools).filter(|(_, found)| found.is_none())
    {
        println!("  not called: {}", tool.wire_name);
    }
    let mut times: Vec<f64> = Vec::new();
    let mut looser = 0;
    let mut tighter = 0;
    let mut same = 0;
    let mut open = 0;
    let skip = number("SKIP", 0);
    let most = number("MOST", usize::MAX);
    let limits = WitnessLimits::default();
    let limits = WitnessLimits { climbs: number("CLIMBS", limits.climbs), ..limits };
    for (start, end) in places.iter().skip(skip).take(most) {
        let mut less = program.clone();
        for tool in &mut less.tools {
            tool.clauses.retain(|c| (c.rule.span.start, c.rule.span.end) != (*start, *end));
        }
        let begun = Instant::now();
        let found = diff(program, &less, &limits, &|| false);
        let seconds = begun.elapsed().as_secs_f64();
        times.push(seconds);
        let says = |looser: bool, wanted: fn(&Answer) -> bool| found.answers(looser).any(wanted);
        let yes = |a: &Answer| matches!(a, Answer::Yes(_));
        let unknown = |a: &Answer| matches!(a, Answer::Unknown { .. });
        let word = if says(true, yes) {
            looser += 1;
            "looser"
        } else if !says(true, unknown) {
            same += 1;
            "same or tighter"
        } else if says(false, yes) {
            tighter += 1;
            "tighter, looser not decided"
        } else {
            open += 1;
            "not decided"
        };
        let clause = text.get(*start as usize..*end as usize).unwrap_or_default();
        let first: String =
            clause.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(90).collect();
        println!("{seconds:6.2} s  {word:28} {first}");
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
    let worst = times.last().copied().unwrap_or(0.0);
    println!(
        "{path}: {} removals: {looser} looser, {same} same or tighter, {tighter} tighter and perhaps looser, {open} not decided; median {median:.2} s, worst {worst:.2} s",
        places.len()
    );
}

/// A number from the environment: which removals are tried, and how many calls are judged while climbing.
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
