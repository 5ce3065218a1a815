//! Guards with properties, and sessions that try to break what is proved of them.
//!
//! The reference evaluator decides the calls. Whether a property would have refused one is worked out here, from a history of its own: no
//! code is shared with the prover, and nothing that the property reads makes a call wait.

mod history;
mod random;
mod rules;

pub use random::source;

use guard_compiler::CompilerOutput;
use guard_compiler::hir::Program;
use guard_compiler::reference::ReferenceSession;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::value::Value;
use guard_plan::verdict::Decision;
use history::{AdmittedCall, OwnHistory};
use rules::{Denial, TOOLS};
use std::fmt::Write as _;

/// A minute, in milliseconds.
const MINUTE: i64 = 60_000;

/// A guard with its properties, as what they say.
pub struct ClaimedGuard {
    /// The source.
    pub text: String,
    /// By property its tool and its rule, in the order of the source.
    properties: Vec<(usize, Denial)>,
}

/// The counts of what was tried.
#[derive(Debug, Default)]
pub struct PropertyCounts {
    /// Properties that were proved.
    pub proved: u32,
    /// Of these, by more than another rule or counter that says so at sight.
    pub reasoned: u32,
    /// Properties that were not.
    pub open: u32,
    /// Of these, broken in a session that was tried.
    pub broken: u32,
    /// Calls that were allowed and looked at.
    pub calls: u32,
}

/// Tries to break what is proved of a guard's properties, in so many sessions; the error says which was, and how.
pub fn try_guard(
    guard: &ClaimedGuard,
    output: &CompilerOutput,
    rng: &mut Rng,
    sessions: usize,
    tried: &mut PropertyCounts,
) -> Result<(), String> {
    use guard_compiler::verify::Basis;
    let Some(properties) = &output.properties else { return Ok(()) };
    let mut proved = vec![false; guard.properties.len()];
    for claim in &properties.claims {
        proved[claim.property] = claim.proof.is_some();
        let sight = |by: &Vec<Basis>| matches!(&by[..], [Basis::Rule(_) | Basis::Limits]);
        match &claim.proof {
            Some(by) => {
                tried.proved += 1;
                tried.reasoned += u32::from(!sight(by));
            }
            None => tried.open += 1,
        }
    }
    let mut broken = vec![false; guard.properties.len()];
    for _ in 0..sessions {
        session(guard, &output.program, rng, tried, &mut |at, history| {
            broken[at] = true;
            if proved[at] {
                Err(format!("p{at} is proved, and broken after {history}"))
            } else {
                Ok(())
            }
        })?;
    }
    tried.broken += broken.iter().filter(|broken| **broken).count() as u32;
    Ok(())
}

fn session(
    guard: &ClaimedGuard,
    program: &Program,
    rng: &mut Rng,
    tried: &mut PropertyCounts,
    broken: &mut dyn FnMut(usize, &str) -> Result<(), String>,
) -> Result<(), String> {
    let mut reference = ReferenceSession::open(program, 0, "/", None).map_err(|(_, why)| why)?;
    let mut history = OwnHistory { states: vec![state(&reference)], ..OwnHistory::default() };
    let mut told = String::new();
    // Some sessions never have two calls in flight, some nearly always.
    let patience = rng.below(100);
    for step in 0..14 {
        history.event += 1;
        if rng.chance(25) {
            history.now += (1 + rng.below(3) as i64) * MINUTE;
        }
        let flying: Vec<usize> =
            (0..history.calls.len()).filter(|at| history.calls[*at].settled.is_none()).collect();
        if !flying.is_empty() && !rng.chance(patience) {
            let at = *rng.pick(&flying);
            let success = rng.chance(65);
            let settled =
                reference.settle(&format!("call-{at}"), success, None, history.now, &|_| None);
            settled.map_err(|why| format!("{why:?}"))?;
            history.calls[at].settled = Some((history.event, history.now, success));
            history.states.push(state(&reference));
            let _ = write!(told, "{} of call {at}, ", if success { "success" } else { "failure" });
            continue;
        }
        let tool = rng.below(TOOLS.len());
        let id = format!("call-{}", history.calls.len());
        let args = Json::Object(Vec::new());
        // Whoever is asked approves.
        let expires = Some(history.now + MINUTE);
        let _ = reference.approve(TOOLS[tool], &args, "boss", expires, history.now);
        let judged = reference.propose(&id, TOOLS[tool], &args, history.now, &|_| None);
        let judged = judged.map_err(|why| format!("{why:?}"))?;
        if judged.decision != Decision::Allow {
            continue;
        }
        tried.calls += 1;
        let _ = write!(
            told,
            "call {} of {} at {}m, ",
            history.calls.len(),
            TOOLS[tool],
            history.now / MINUTE
        );
        for (at, (of, rule)) in guard.properties.iter().enumerate() {
            if *of == tool && history.refuses(tool, rule) {
                broken(at, &format!("{told}at step {step}"))?;
            }
        }
        history.calls.push(AdmittedCall {
            tool,
            admitted: (history.event, history.now),
            settled: None,
        });
    }
    Ok(())
}

fn state(reference: &ReferenceSession) -> (i64, bool) {
    let mut state = (0, false);
    for (name, value) in reference.state() {
        match (name, value) {
            ("x", Value::Int(x)) => state.0 = *x,
            ("f", Value::Bool(f)) => state.1 = *f,
            _ => {}
        }
    }
    state
}
