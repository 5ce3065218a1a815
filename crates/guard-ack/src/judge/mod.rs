//! The comparison of a run's observations with the expectations of its case, which gives the list
//! of broken promises.
//!
//! In addition to its case, every run must keep some general promises: each call is answered once,
//! only calls of the model run, and the loop continues until it may stop.

mod shown;
mod trace;
mod unfinished;

pub use trace::{rechained, tampered};
pub use unfinished::UnfinishedRun;

use crate::case::{Case, RunFile, TurnFile};
use crate::observed::{RanCall, RunSeen};
use crate::protocol::{LoopEnd, LoopEndKind, ModelMessage, Question, ReplayAnswer};
use crate::world::json_of;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum length of a quoted answer, in characters.
const ANSWER: usize = 300;
/// The maximum number of calls in a list.
const LISTED: usize = 8;
/// The clauses about the messages that the model is shown. The continuation of the loop is promised
/// by another clause.
const SHOWN: [&str; 3] = ["LOOP-1", "LOOP-2", "LOOP-3"];

/// A broken promise, with the observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrokenPromise {
    /// The clause.
    pub clause: String,
    /// The position of the observation: the run and the turn.
    pub at: String,
    /// The expected observation.
    pub expected: String,
    /// The actual observation.
    pub observed: String,
}

/// The inputs for judging a run.
struct RunJudge<'a> {
    case: &'a Case,
    run: &'a RunFile,
    seen: &'a RunSeen,
    /// Maps the case's id of a call to the adapter's.
    ids: &'a BTreeMap<String, String>,
    number: usize,
    broken: Vec<BrokenPromise>,
}

impl<'a> RunJudge<'a> {
    fn new(
        case: &'a Case,
        number: usize,
        seen: &'a RunSeen,
        ids: &'a BTreeMap<String, String>,
    ) -> RunJudge<'a> {
        RunJudge { case, run: &case.run[number], seen, ids, number, broken: Vec::new() }
    }
}

/// Judges one run of a case.
pub fn run(
    case: &Case,
    number: usize,
    seen: &RunSeen,
    ids: &BTreeMap<String, String>,
) -> Vec<BrokenPromise> {
    let bench = &mut RunJudge::new(case, number, seen, ids);
    bench.executed();
    bench.arguments();
    bench.overlaps();
    bench.approvals();
    shown::turns(bench);
    bench.ended();
    bench.unguarded();
    bench.report();
    trace::judge(bench);
    std::mem::take(&mut bench.broken)
}

/// Returns the forbidden actions of a run that did not end: calls that must not run, and approvals
/// that must not be requested.
pub fn overstepped(
    case: &Case,
    number: usize,
    seen: &RunSeen,
    ids: &BTreeMap<String, String>,
) -> Vec<BrokenPromise> {
    let bench = &mut RunJudge::new(case, number, seen, ids);
    let expect = &bench.run.expect;
    let ran = seen.executed.iter().map(|call| bench.served_name(call));
    let listed =
        |id: &str| expect.executed.iter().chain(&expect.may_run).any(|called| called == id);
    let over: Vec<String> = ran.filter(|id| !listed(id)).map(str::to_owned).collect();
    let asked = seen
        .approvals
        .iter()
        .map(|approval| format!("{} {}", bench.name(&approval.call), approval.role));
    let asked: Vec<String> =
        asked.filter(|approval| !expect.approvals.contains(approval)).collect();
    if !over.is_empty() {
        let observed = format!("run: {}", bench.calls(over.iter().map(String::as_str)));
        let expected = bench.calls(expect.executed.iter().map(String::as_str));
        bench.own(None, format!("run: {expected}"), observed);
    }
    if !asked.is_empty() {
        bench.own(
            None,
            "no other approval is requested",
            format!("asked to approve: {}", asked.join(", ")),
        );
    }
    std::mem::take(&mut bench.broken)
}

impl RunJudge<'_> {
    /// Adds a broken promise of the case's own clause.
    fn own(
        &mut self,
        turn: Option<usize>,
        expected: impl Into<String>,
        observed: impl Into<String>,
    ) {
        self.breaks(&self.case.clause.clone(), turn, expected, observed);
    }

    fn breaks(
        &mut self,
        clause: &str,
        turn: Option<usize>,
        expected: impl Into<String>,
        observed: impl Into<String>,
    ) {
        let mut at = match self.case.run.len() {
            1 => String::new(),
            _ => format!("run {}", self.number + 1),
        };
        if let Some(turn) = turn {
            at.push_str(if at.is_empty() { "" } else { ", " });
            at.push_str(&format!("turn {}", turn + 1));
        }
        let expected = expected.into();
        let observed = observed.into();
        self.broken.push(BrokenPromise { clause: clause.into(), at, expected, observed });
    }

    fn name<'s>(&'s self, wire: &'s str) -> &'s str {
        self.ids.iter().find(|(_, id)| *id == wire).map_or(wire, |(name, _)| name)
    }

    /// Returns the case's id of a call that ran, or the adapter's id if the model never made the
    /// call.
    fn served_name<'s>(&'s self, served: &'s RanCall) -> &'s str {
        served.id.as_deref().unwrap_or_else(|| self.name(&served.call.call))
    }

    /// Returns true if the loop ended without a stop (with an error, cancelled, or waiting for an
    /// approval), and the case expects that.
    fn ended_early(&self) -> bool {
        let ended = self.seen.end.as_ref().map(|end| end.ended);
        let early = |ended: &LoopEndKind| {
            matches!(ended, LoopEndKind::Error | LoopEndKind::Cancelled | LoopEndKind::Waiting)
        };
        let ended = ended.filter(early);
        ended.is_some_and(|ended| {
            self.run.expect.endings().any(|ending| ending == ended.to_string())
        })
    }

    /// Returns the end of a loop that the adapter ended with an error, if the case expects none.
    fn broke_off(&self) -> Option<&LoopEnd> {
        let end = self.seen.end.as_ref().filter(|end| end.ended == LoopEndKind::Error);
        end.filter(|_| !self.ended_early() && !self.seen.beyond)
    }

    /// Formats calls: `a (lint), b (deploy)`.
    fn calls<'s>(&'s self, ids: impl Iterator<Item = &'s str>) -> String {
        let tool = |id: &str| {
            let call = self.case.calls().find(|call| call.id == *id);
            call.map_or_else(|| format!("`{id}`"), |call| format!("`{id}` ({})", call.tool))
        };
        let calls: Vec<String> = ids.map(tool).collect();
        if calls.is_empty() { "nothing".into() } else { calls.join(", ") }
    }

    /// Lists calls, without the first ones, and at most [`LISTED`].
    fn calls_from<'s>(&'s self, skipped: usize, ids: impl Iterator<Item = &'s str>) -> String {
        let ids: Vec<&str> = ids.skip(skipped).collect();
        let listed = self.calls(ids.iter().copied().take(LISTED));
        let before = match skipped {
            0 => String::new(),
            _ => format!("{skipped} as expected, then "),
        };
        let after = match ids.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!("{before}{listed}{after}")
    }

    fn executed(&mut self) {
        let expected = &self.run.expect.executed;
        let seen: Vec<&str> =
            self.seen.executed.iter().map(|call| self.served_name(call)).collect();
        let may_run = &self.run.expect.may_run;
        let seen: Vec<&str> =
            seen.into_iter().filter(|id| !may_run.iter().any(|allowed| allowed == id)).collect();
        // A loop that ends with an error need not come this far. If it must not end so, its end is
        // reported.
        let is_start =
            seen.len() <= expected.len() && expected.iter().zip(&seen).all(|(a, b)| a == b);
        let is_cut_short = is_start && (self.ended_early() || self.broke_off().is_some());
        if self.is_same_order(expected, &seen) || is_cut_short {
            return;
        }
        let answers =
            self.answers_instead(expected.iter().filter(|id| !seen.contains(&id.as_str())));
        let is_more = seen.iter().any(|id| !expected.iter().any(|wanted| wanted == id));
        // The expected events of a long run are omitted.
        let same = expected.iter().zip(&seen).take_while(|(a, b)| a == b).count();
        let same = if same > LISTED { same - 1 } else { 0 };
        let expected = self.calls_from(same, expected.iter().map(String::as_str));
        let seen = self.calls_from(same, seen.into_iter());
        let expected = format!("run: {expected}");
        let seen = format!("run: {seen}{answers}");
        // A call that runs without the guard's decision breaks the promise about that, whatever the
        // case tests.
        let outage = self.case.world.outage_in(self.number);
        match outage.filter(|outage| outage.on == Question::Propose) {
            Some(_) if is_more => self.breaks("GATE-22", None, expected, seen),
            _ => self.own(None, expected, seen),
        }
    }

    /// Returns true if the same calls ran in the same order. Calls of one turn may begin in any
    /// order, unless they must not run in parallel.
    fn is_same_order(&self, expected: &[String], seen: &[&str]) -> bool {
        let turn = |id: &str| {
            let made = |turn: &TurnFile| turn.calls.iter().any(|call| call.id == *id);
            self.run.turn.iter().position(made)
        };
        let by_turn = |ids: &[&str]| {
            let mut ids: Vec<(Option<usize>, String)> =
                ids.iter().map(|id| (turn(id), (*id).to_owned())).collect();
            ids.sort();
            ids
        };
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        let turns_in_order = seen.is_sorted_by_key(|id| turn(id));
        let in_order = |set: &Vec<String>| {
            let of_set = |ids: &[&str]| -> Vec<String> {
                let ids = ids.iter().filter(|id| set.iter().any(|member| member == *id));
                ids.map(|id| (*id).to_owned()).collect()
            };
            of_set(&expected) == of_set(seen)
        };
        turns_in_order
            && by_turn(&expected) == by_turn(seen)
            && self.run.expect.apart.iter().all(in_order)
    }

    /// Returns the texts that the model read as the answers to calls that did not run.
    fn answers_instead<'s>(&self, ids: impl Iterator<Item = &'s String>) -> String {
        let conversation = self.seen.shown.last().map(Vec::as_slice).unwrap_or_default();
        let answer = |id: &String| {
            let wire = self.ids.get(id)?;
            let answers = |message: &&ModelMessage| message.call.as_ref() == Some(wire);
            let answer = conversation.iter().rfind(answers)?;
            let text = guard_plan::render::cut(&format!("{:?}", answer.text), ANSWER);
            Some(format!("; the model read as the answer to `{id}`: {text}"))
        };
        ids.filter_map(answer).take(3).collect()
    }

    fn arguments(&mut self) {
        for served in &self.seen.executed {
            let Some(script) = self.case.calls().find(|call| Some(&call.id) == served.id.as_ref())
            else {
                let observed = format!(
                    "`{}` was run as `{}`, which the model never called",
                    served.call.tool, served.call.call
                );
                self.breaks("GATE-2", None, "only what the model called is run", observed);
                continue;
            };
            let args = script.runs_with.as_ref().unwrap_or(&script.args);
            let asked = crate::world::named(&json_of(args), self.ids);
            if script.tool != served.call.tool || asked != served.call.args {
                let expected = format!("`{}` is run as {} {asked}", script.id, script.tool);
                let observed = format!("it was run as {} {}", served.call.tool, served.call.args);
                let clause = if script.runs_with.is_some() { "EFFECT-17" } else { "GATE-2" };
                self.breaks(clause, None, expected, observed);
            }
        }
    }

    fn served(&self, id: &str) -> Option<&RanCall> {
        self.seen.executed.iter().find(|call| call.id.as_deref() == Some(id))
    }

    fn overlaps(&mut self) {
        let sets = |sets: &[Vec<String>], beside: bool| -> Vec<(String, String)> {
            let pairs = sets.iter().flat_map(|set| {
                set.iter()
                    .enumerate()
                    .flat_map(move |(at, a)| set[at + 1..].iter().map(move |b| (a, b)))
            });
            let wrong = pairs.filter(|(a, b)| match (self.served(a), self.served(b)) {
                // A call that did not run is reported with the calls that ran.
                (Some(a), Some(b)) => a.beside(b) != beside,
                _ => false,
            });
            wrong.map(|(a, b)| (a.clone(), b.clone())).collect()
        };
        let apart = sets(&self.run.expect.together, true);
        let beside = sets(&self.run.expect.apart, false);
        for (a, b) in apart {
            let expected = format!("`{a}` and `{b}` run at the same time");
            self.own(None, expected, "one ran only when the other had ended");
        }
        for (a, b) in beside {
            let expected = format!("`{a}` and `{b}` run one after the other");
            self.own(None, expected, "both ran at the same time");
        }
    }

    fn approvals(&mut self) {
        let seen = self.seen.approvals.iter();
        let seen: Vec<String> = seen
            .map(|approval| format!("{} {}", self.name(&approval.call), approval.role))
            .collect();
        let expected = &self.run.expect.approvals;
        // The adapter chooses the order of the requests.
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        if sorted(expected) != sorted(&seen) {
            let words = |list: &[String]| {
                if list.is_empty() {
                    "no approval is requested".into()
                } else {
                    format!("asked to approve: {}", list.join(", "))
                }
            };
            self.own(None, words(expected), words(&seen));
        }
        for request in &self.seen.approvals {
            let script = self.case.calls().find(|call| call.id == self.name(&request.call));
            let Some(script) = script else { continue };
            let asked = crate::world::named(&json_of(&script.args), self.ids);
            if script.tool != request.tool || asked != request.args {
                let expected = format!("approval is asked for {} {asked}", script.tool);
                let observed = format!("it was asked for {} {}", request.tool, request.args);
                self.breaks("ASK-1", None, expected, observed);
            }
        }
    }

    fn ended(&mut self) {
        let turns = self.run.turn.len();
        let asked = self.seen.shown.len();
        if let Some(end) = self.broke_off() {
            let why = end.why.as_deref().unwrap_or("it does not say why");
            let expected = format!("the loop ended `{}`", self.run.expect.ended);
            let observed = format!("the adapter ended it with an error: {why}");
            let is_other = SHOWN.contains(&self.case.clause.as_str());
            let clause = if is_other { "LOOP-4".to_owned() } else { self.case.clause.clone() };
            self.breaks(&clause, Some(asked.saturating_sub(1)), expected, observed);
            return;
        }
        let cut_short = self.ended_early() && asked < turns;
        if asked != turns && !cut_short {
            let expected = format!("the model is asked {turns} times");
            let observed = if self.seen.beyond {
                "it was asked again after its last stop".to_owned()
            } else {
                format!("it was asked {asked} times")
            };
            // Cases of this kind test the blocking of stops.
            let own = matches!(self.case.tier(), 4) || self.case.clause == "LOOP-4";
            let clause = if own { self.case.clause.clone() } else { "LOOP-4".into() };
            self.breaks(&clause, Some(asked.min(turns).saturating_sub(1)), expected, observed);
            return;
        }
        let Some(end) = &self.seen.end else { return };
        let expected = &self.run.expect.ended;
        if !self.run.expect.endings().any(|ending| ending == end.ended.to_string()) {
            let why = end.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let clause = match (end.ended, self.case.tier()) {
                (_, 1) if expected == "stopped" => "LOOP-5".to_owned(),
                _ => self.case.clause.clone(),
            };
            let observed = format!("the adapter answered `{}`{why}", end.ended);
            self.breaks(&clause, None, format!("the loop ended `{expected}`"), observed);
        }
        let last = self.run.turn.last().and_then(|turn| turn.output.clone());
        let last = last.filter(|_| !self.ended_early());
        if let Some(last) = last.filter(|last| end.output.as_ref() != Some(last)) {
            let observed = match &end.output {
                Some(output) => format!("the output is {output:?}"),
                None => "there is no output".into(),
            };
            let clause = if self.case.clause == "DONE-10" { "DONE-10" } else { "LOOP-5" };
            self.breaks(clause, None, format!("the output is {last:?}"), observed);
        }
    }

    fn unguarded(&mut self) {
        let Some(end) = &self.seen.end else { return };
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort();
            names
        };
        let expected = sorted(&self.run.expect.unguarded);
        let named = sorted(&end.unguarded);
        // An adapter that refuses to begin a run with such tools must name them.
        if expected != named {
            let words = |names: &[String]| {
                if names.is_empty() {
                    "no tool is named as unguarded".to_owned()
                } else {
                    format!("named as unguarded: {}", names.join(", "))
                }
            };
            self.breaks("NATIVE-3", None, words(&expected), words(&named));
        }
    }

    fn report(&mut self) {
        let Some(expected) = &self.run.expect.report else { return };
        let end = self.seen.end.as_ref();
        let Some(report) = end.and_then(|end| end.report.as_ref()) else {
            self.own(None, "a report on the output is handed over", "there is none");
            return;
        };
        for (key, expected) in expected {
            let expected = json_of(expected);
            let seen = report.get(key).unwrap_or(&Value::Null);
            if !holds(seen, &expected) {
                self.own(
                    None,
                    format!("the report's `{key}` holds {expected}"),
                    format!("it is {seen}"),
                );
            }
        }
    }
}

/// Returns true if a value contains the whole other value: members of objects, and elements of
/// lists in order.
fn holds(seen: &Value, expected: &Value) -> bool {
    match (seen, expected) {
        (Value::Object(seen), Value::Object(expected)) => expected
            .iter()
            .all(|(key, expected)| seen.get(key).is_some_and(|seen| holds(seen, expected))),
        (Value::Array(seen), Value::Array(expected)) => {
            seen.len() == expected.len()
                && seen.iter().zip(expected).all(|(seen, expected)| holds(seen, expected))
        }
        _ => seen == expected,
    }
}

/// Judges the result of replaying a trace.
pub fn replayed(case: &Case, number: usize, seen: Option<&ReplayAnswer>) -> Vec<BrokenPromise> {
    let run = &case.run[number];
    let diverges = run.expect.diverges;
    let (expected, observed) = match (seen, diverges) {
        (Some(seen), None) if seen.agrees => return Vec::new(),
        (Some(seen), Some(at)) if !seen.agrees && seen.at == Some(at) => return Vec::new(),
        (seen, None) => ("the trace has the same outcome when it is replayed".to_owned(), seen),
        (seen, Some(at)) => (format!("a reversed verdict at record {at} is found there"), seen),
    };
    let observed = match observed {
        None => "there is no trace to replay".to_owned(),
        Some(ReplayAnswer { agrees: true, .. }) => "the adapter reported the same outcome".into(),
        Some(ReplayAnswer { at: Some(at), .. }) => {
            format!("the adapter reported a divergence at record {at}")
        }
        Some(_) => "the adapter reported a divergence without its place".into(),
    };
    vec![BrokenPromise { clause: case.clause.clone(), at: String::new(), expected, observed }]
}
