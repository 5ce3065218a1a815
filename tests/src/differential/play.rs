//! One guard, and its sessions played on both evaluators.

use super::coverage::RunCoverage;
use super::heard::{EventReply, START};
use super::trace::Trace;
use super::{kernel, reference};
use crate::generate::{Event, Timed, escapes, opening, sinces};
use guard_compiler::hir::Program;
use guard_compiler::reference::ReferenceSession;
use guard_compiler::{NoFiles, SourceFile, compile_despite};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::verdict::Decision;
use guard_runtime::{Kernel, SessionState};
use guard_syntax::span::Span;

/// The name of every generated guard.
const FILE: &str = "generated.guard";

/// A compiled guard, ready for both evaluators.
pub(super) struct Subject {
    program: Program,
    kernel: Kernel,
    /// With the plan as it was lowered, not optimized.
    plain: Kernel,
    text: String,
}

impl Subject {
    pub fn compile(text: &str) -> Option<Subject> {
        let root = SourceFile { path: FILE.into(), text: text.into() };
        // What is not trusted is followed by both evaluators, too: let such guards come.
        let output = compile_despite(root, &mut NoFiles, &["G0317"]).output?;
        // A checked guard always has a plan that loads.
        let kernel = |plan| {
            let loaded = LoadedPlan::from_plan(plan, output.sources.clone())
                .unwrap_or_else(|e| panic!("a compiled plan does not load: {e}\n{text}"));
            Kernel::new(loaded)
                .unwrap_or_else(|e| panic!("a compiled plan does not run: {e}\n{text}"))
        };
        let plain = kernel(output.lowered);
        let kernel = kernel(output.plan);
        Some(Subject { program: output.program, kernel, plain, text: text.into() })
    }

    /// Plays the events; fails with the index of the event of which the two say different things.
    pub fn play(
        &self,
        events: &[Timed],
        coverage: &mut RunCoverage,
    ) -> Result<(), (usize, String)> {
        let sinces = sinces(&self.text);
        let data = opening(events);
        let open = |kernel: &Kernel| {
            let session = kernel.open_with("s", START, "/workspace", data);
            session.map_err(|e| (0, e.to_string()))
        };
        let mut session = open(&self.kernel)?;
        let mut twin = open(&self.plain)?;
        let mut other = ReferenceSession::open(&self.program, START, "/workspace", data)
            .map_err(|e| (0, e.1))?;
        // One in four: to record and decide again costs more than all the rest.
        let mut trace =
            coverage.sessions.is_multiple_of(4).then(|| Trace::new(&self.kernel, &session));
        coverage.guard(&self.text);
        coverage.also(other.facts().any(|(_, rows)| !rows.is_empty()), "learned at the start");
        let mut now = START;
        for (place, Timed { at, step, event }) in events.iter().enumerate() {
            now += step;
            let mut ours = match &mut trace {
                Some(trace) => trace.step(&self.kernel, &mut session, event, now, *at),
                None => kernel::step(&self.kernel, &mut session, event, now, *at),
            };
            let plain = kernel::step(&self.plain, &mut twin, event, now, *at);
            if (place + at) % 4 == 0 {
                twin = recalled(&self.plain, &twin).map_err(|what| (place, what))?;
            }
            let exact =
                |said: &Result<EventReply, ()>| said.as_ref().ok().map(|said| said.exact.clone());
            if exact(&ours) != exact(&plain) {
                return Err((place, format!("optimized {ours:?}\nlowered   {plain:?}")));
            }
            let theirs = reference::step(&mut other, event, now, *at, &|span| self.place(span));
            if let (Ok(ours), Ok(theirs)) = (&mut ours, &theirs)
                && let (Some(served), Some(known)) = (&ours.served, &theirs.served)
            {
                ours.served = Some(kernel::masked(served, known));
            }
            if let (
                Ok(EventReply { stop: Some(ours), .. }),
                Ok(EventReply { stop: Some(theirs), .. }),
            ) = (&mut ours, &theirs)
            {
                ours.complete(theirs);
            }
            coverage.count(event, &ours);
            if let (Event::Propose(_, tool, args), Ok(said)) = (event, &ours)
                && escapes(&self.text, tool, args)
            {
                coverage.also(true, "a text that leads beyond a fence");
                if said.decision == Some(Decision::Allow) {
                    return Err((place, format!("allowed beyond its fence: {args}")));
                }
            }
            coverage.also(other.reused(), "reply of a probe kept");
            let same = match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => ours.same(theirs),
                (ours, theirs) => ours.is_err() && theirs.is_err(),
            };
            let known = reference::ending(&other);
            let ending = kernel::ending(&self.kernel, &session, &known);
            let plain = kernel::ending(&self.plain, &twin, &known);
            if ending != plain {
                return Err((place, format!("optimized {ending:?}\nlowered   {plain:?}")));
            }
            if !same || ending != known {
                let said = if same {
                    String::new()
                } else {
                    format!("kernel    {ours:?}\nreference {theirs:?}")
                };
                if ending == known {
                    return Err((place, said));
                }
                return Err((place, format!("{said}\nkernel    {ending:?}\nreference {known:?}")));
            }
            coverage.also(known.halted, "halt");
            let flying = |tool: &String| other.flies(tool);
            let both = sinces.iter().any(|(first, other)| flying(first) && flying(other));
            coverage.also(both, "two calls of a `since` in flight");
            coverage.also(other.is_tainted(), "untrusted text in a variable");
            let empty = |args: &Json| args.to_string().contains("\"\"");
            let said = matches!(event, Event::Propose(_, _, args) if empty(args));
            coverage.also(
                said || matches!(event, Event::Prompt(text) if text.is_empty()),
                "an empty text",
            );
        }
        let end = events.len().saturating_sub(1);
        let held = trace.map_or(Ok(()), |trace| trace.check(&self.kernel, &session));
        held.map_err(|what| (end, what))
    }

    /// Takes the session up from spoilt memories, and goes on where one is taken: nothing panics. How many were
    /// taken and refused.
    pub fn spoil(&self, events: &[Timed], rng: &mut Rng) -> (u64, u64) {
        let Ok(mut session) = self.kernel.open("s", START, "/workspace") else { return (0, 0) };
        let mut now = START;
        let mut taken = 0;
        let mut refused = 0;
        for (place, Timed { at, step, event }) in events.iter().enumerate() {
            now += step;
            let _ = kernel::step(&self.kernel, &mut session, event, now, *at);
            let mut memory = session.memory();
            let place_of = rng.below(memory.len());
            match rng.below(3) {
                0 => memory[place_of] = rng.below(256) as u8,
                1 => memory.truncate(place_of),
                _ => memory[place_of] ^= 1 << rng.below(8),
            }
            let Ok(mut spoilt) = self.kernel.recall(&memory) else {
                refused += 1;
                continue;
            };
            taken += 1;
            let mut now = now;
            for Timed { at, step, event } in &events[place + 1..] {
                now += step;
                let _ = kernel::step(&self.kernel, &mut spoilt, event, now, *at);
            }
        }
        (taken, refused)
    }

    /// `file:line:column` of a span.
    fn place(&self, span: Span) -> String {
        let before = &self.text[..span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{FILE}:{line}:{column}")
    }
}

/// The session as it comes back from what it remembers; from here on it must say what one says that went on.
fn recalled(kernel: &Kernel, session: &SessionState) -> Result<SessionState, String> {
    let memory = session.memory();
    let again = kernel.recall(&memory).map_err(|error| error.to_string())?;
    if again.memory() != memory {
        return Err(format!("remembered {session:?}\nrecalled   {again:?}"));
    }
    Ok(again)
}
