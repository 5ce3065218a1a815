//! The differential law: kernel and reference evaluator say the same of every event.
//!
//! Compared are decisions, the code, rule and decision of every reason, the state, what was spent, and
//! whether the session is halted. Messages are the kernel's alone.

use crate::generate::{Event, Generated, events, guard};
use crate::rng::Rng;
use guard_compiler::hir::Program;
use guard_compiler::reference::{Ask, Reference};
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::verdict::{Code, Decision, Reason};
use guard_runtime::{Approve, Ending, Kernel, Proposal, Resume, Session, Settlement, Usage, World};

/// Monday, 2026-01-05, nine o'clock UTC.
const START: i64 = 1_767_603_600_000;
/// Guards that do not compile are drawn again, this often.
const DRAWS: usize = 40;
/// Sessions of one guard.
const SESSIONS: u64 = 10;
/// Events of one session.
const EVENTS: usize = 24;

/// A disagreement, reduced.
#[derive(Debug)]
pub struct Divergence {
    /// The seed that gives it again.
    pub seed: u64,
    /// The guard.
    pub guard: String,
    /// The events up to the disagreement.
    pub events: Vec<(i64, Event)>,
    /// What each said.
    pub what: String,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {}\n{}\n", self.seed, self.guard)?;
        for (step, event) in &self.events {
            writeln!(f, "{step:+} ms  {event:?}")?;
        }
        writeln!(f, "{}", self.what)
    }
}

/// What a run covered, so that an empty one cannot pass unnoticed.
#[derive(Debug, Default, Clone, Copy)]
pub struct Coverage {
    /// Sessions played.
    pub sessions: u64,
    /// Proposals that were allowed.
    pub allowed: u64,
    /// Proposals that were not.
    pub refused: u64,
    /// Guards that were drawn and did not compile.
    pub discarded: u64,
    /// Reasons given, by code.
    pub reasons: [u64; Code::ALL.len()],
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} sessions agree, of guards that compile ({} drawn did not)",
            self.sessions, self.discarded
        )?;
        writeln!(f, "proposals: {} allowed, {} not", self.allowed, self.refused)?;
        let given = Code::ALL.iter().zip(self.reasons).filter(|(_, n)| *n > 0);
        let given: Vec<String> = given.map(|(code, n)| format!("{} {n}", code.as_str())).collect();
        writeln!(f, "reasons: {}", given.join(", "))
    }
}

/// Plays `sessions` sessions of guards drawn from `seed` on.
pub fn run(seed: u64, sessions: u64) -> Result<Coverage, Box<Divergence>> {
    let mut coverage = Coverage::default();
    let mut at = seed;
    while coverage.sessions < sessions {
        play_seed(at, &mut coverage)?;
        at = at.wrapping_add(1);
    }
    Ok(coverage)
}

/// Plays the sessions of one seed.
pub fn play_seed(seed: u64, coverage: &mut Coverage) -> Result<(), Box<Divergence>> {
    let mut rng = Rng::new(seed);
    for _ in 0..DRAWS {
        let drawn = guard(&mut rng);
        let Some(subject) = Subject::compile(&drawn.text()) else {
            coverage.discarded += 1;
            continue;
        };
        for _ in 0..SESSIONS {
            let events = events(&mut rng, &drawn, EVENTS);
            coverage.sessions += 1;
            if let Err((at, what)) = subject.play(&events, coverage) {
                return Err(Box::new(reduce(seed, drawn, events[..=at].to_vec(), what)));
            }
        }
        return Ok(());
    }
    Ok(())
}

/// A compiled guard, ready for both evaluators.
struct Subject {
    program: Program,
    kernel: Kernel,
}

impl Subject {
    fn compile(text: &str) -> Option<Subject> {
        let root = SourceFile { path: "generated.guard".into(), text: text.into() };
        let output = compile(root, &mut NoFiles).output?;
        // A checked guard always has a plan that loads.
        let loaded = LoadedPlan::from_plan(output.plan, output.sources);
        let loaded =
            loaded.unwrap_or_else(|e| panic!("a compiled plan does not load: {e}\n{text}"));
        let kernel = Kernel::new(loaded)
            .unwrap_or_else(|e| panic!("a compiled plan does not run: {e}\n{text}"));
        Some(Subject { program: output.program, kernel })
    }

    /// Plays the events; fails with the index of the event of which the two say different things.
    fn play(
        &self,
        events: &[(i64, Event)],
        coverage: &mut Coverage,
    ) -> Result<(), (usize, String)> {
        let mut session =
            self.kernel.open("s", START, "/workspace").map_err(|e| (0, e.to_string()))?;
        let mut reference =
            Reference::open(&self.program, START, "/workspace").map_err(|e| (0, e.1))?;
        let mut now = START;
        for (at, (step, event)) in events.iter().enumerate() {
            now += step;
            let ours = self.kernel_step(&mut session, event, now, at);
            let theirs = reference_step(&mut reference, event, now, at);
            if let Ok(Some(said)) = &ours {
                let allowed = said.decision == Decision::Allow;
                coverage.allowed += u64::from(allowed);
                coverage.refused += u64::from(!allowed);
                for (code, ..) in &said.reasons {
                    coverage.reasons[*code as usize] += 1;
                }
            }
            if ours != theirs {
                return Err((at, format!("kernel    {ours:?}\nreference {theirs:?}")));
            }
            self.same_state(&session, &reference).map_err(|what| (at, what))?;
        }
        Ok(())
    }

    fn kernel_step(
        &self,
        session: &mut Session,
        event: &Event,
        now: i64,
        at: usize,
    ) -> Result<Option<Said>, ()> {
        let mut world = Answering(at);
        match event {
            Event::Propose(call, tool, args) => {
                let proposal = Proposal { call, tool, args, now };
                let proposed = self.kernel.propose(session, &proposal, &mut world).map_err(drop)?;
                let verdict = proposed.verdict;
                let said = Said {
                    decision: verdict.decision,
                    reasons: outlines(&verdict.reasons),
                    shadowed: outlines(&verdict.shadowed),
                };
                Ok(Some(said))
            }
            Event::Settle(call, success, result) => {
                let ending =
                    if *success { Ending::Success(result.as_ref()) } else { Ending::Failure };
                let settlement = Settlement { call, ending, now };
                self.kernel.settle(session, &settlement, &mut world).map_err(drop)?;
                Ok(None)
            }
            Event::Approve(tool, args, role, ttl) => {
                let expires = ttl.map(|ttl| now + ttl);
                let approve = Approve { tool, args, role, by: "somebody", expires, now };
                self.kernel.approve(session, &approve).map_err(drop)?;
                Ok(None)
            }
            Event::Usage(amount) => {
                self.kernel
                    .usage(session, &Usage { unit: "tokens", amount: *amount, now })
                    .map_err(drop)?;
                Ok(None)
            }
            Event::Resume => {
                self.kernel
                    .resume(session, &Resume { role: "human", by: "somebody", now })
                    .map_err(drop)?;
                Ok(None)
            }
        }
    }

    fn same_state(&self, session: &Session, reference: &Reference) -> Result<(), String> {
        for (name, theirs) in reference.state() {
            let var = self.kernel.plan().state.iter().position(|v| v.name == name);
            let ours = var.and_then(|var| session.value(var as u32));
            if ours != Some(theirs) {
                return Err(format!("state `{name}`: kernel {ours:?}, reference {theirs:?}"));
            }
        }
        for (name, theirs) in reference.spent() {
            let unit = self.kernel.plan().units.iter().position(|u| u.name == name);
            let ours = unit.and_then(|unit| session.spent(unit as u32));
            if ours != Some(theirs) {
                return Err(format!("spent `{name}`: kernel {ours:?}, reference {theirs:?}"));
            }
        }
        if session.halted().is_some() != reference.halted() {
            return Err(format!(
                "halted: kernel {:?}, reference {}",
                session.halted(),
                reference.halted()
            ));
        }
        Ok(())
    }
}

/// What was said of a proposal, without words.
#[derive(Debug, PartialEq)]
struct Said {
    decision: Decision,
    reasons: Vec<(Code, String, Decision)>,
    shadowed: Vec<(Code, String, Decision)>,
}

fn outlines(reasons: &[Reason]) -> Vec<(Code, String, Decision)> {
    // Which of several rules is named for a halt is a matter of messages.
    let rule = |r: &Reason| if r.code == Code::Halted { "session".into() } else { r.rule.clone() };
    let mut outlines: Vec<_> = reasons.iter().map(|r| (r.code, rule(r), r.decision)).collect();
    outlines.sort();
    outlines.dedup();
    outlines
}

fn reference_step(
    session: &mut Reference,
    event: &Event,
    now: i64,
    at: usize,
) -> Result<Option<Said>, ()> {
    let world = |ask: &Ask| answer(ask, at);
    match event {
        Event::Propose(call, tool, args) => {
            let judgement = session.propose(call, tool, args, now, &world).map_err(drop)?;
            let (reasons, shadowed) = (judgement.reasons, judgement.shadowed);
            Ok(Some(Said { decision: judgement.decision, reasons, shadowed }))
        }
        Event::Settle(call, success, result) => {
            session.settle(call, *success, result.as_ref(), now, &world).map_err(drop)?;
            Ok(None)
        }
        Event::Approve(tool, args, role, ttl) => {
            session.approve(tool, args, role, ttl.map(|ttl| now + ttl), now).map_err(drop)?;
            Ok(None)
        }
        Event::Usage(amount) => {
            session.usage("tokens", *amount, now).map_err(drop)?;
            Ok(None)
        }
        Event::Resume => {
            session.resume(now).map_err(drop)?;
            Ok(None)
        }
    }
}

/// A world whose answers depend on the question and on when it is asked.
struct Answering(usize);

impl World for Answering {
    fn exists(&mut self, path: &str) -> Option<bool> {
        match answer(&Ask::Exists(path.to_string()), self.0) {
            Some(Json::Bool(exists)) => Some(exists),
            _ => None,
        }
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        answer(&Ask::Probe(name.to_string()), self.0)
    }
}

fn answer(ask: &Ask, at: usize) -> Option<Json> {
    let weight =
        |text: &str| text.bytes().fold(at, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
    let drawn = match ask {
        Ask::Exists(path) => weight(path),
        Ask::Probe(name) => weight(name) / 3,
    };
    match (ask, drawn % 8) {
        (_, 0) => None,
        (Ask::Probe(_), 1) => Some(Json::Null),
        (_, n) => Some(Json::Bool(n % 2 == 0)),
    }
}

/// Leaves out events and items as long as the two still disagree.
fn reduce(seed: u64, drawn: Generated, events: Vec<(i64, Event)>, what: String) -> Divergence {
    let mut best = Divergence { seed, guard: drawn.text(), events, what };
    let mut items = drawn.items;
    let diverges = |text: &str, events: &[(i64, Event)]| {
        Subject::compile(text)?.play(events, &mut Coverage::default()).err()
    };
    let mut progress = true;
    while progress {
        progress = false;
        for at in (0..best.events.len()).rev() {
            let mut fewer = best.events.clone();
            fewer.remove(at);
            if let Some((_, what)) = diverges(&best.guard, &fewer) {
                (best.events, best.what, progress) = (fewer, what, true);
            }
        }
        for at in (0..items.len()).rev() {
            let without: Vec<String> = items
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != at)
                .map(|(_, t)| t.clone())
                .collect();
            for candidate in std::iter::once(without).chain(shorter(&items, at)) {
                let text = candidate.join("\n");
                if let Some((_, what)) = diverges(&text, &best.events) {
                    (best.guard, best.what, progress) = (text, what, true);
                    items = candidate;
                    break;
                }
            }
            if at >= items.len() {
                continue;
            }
        }
    }
    best
}

/// The guard with one line less in one of its items.
fn shorter(items: &[String], at: usize) -> Vec<Vec<String>> {
    let lines: Vec<&str> = items[at].lines().collect();
    (1..lines.len().saturating_sub(1))
        .map(|cut| {
            let kept: Vec<&str> =
                lines.iter().enumerate().filter(|(i, _)| *i != cut).map(|(_, l)| *l).collect();
            let mut items = items.to_vec();
            items[at] = kept.join("\n");
            items
        })
        .collect()
}
