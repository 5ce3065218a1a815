//! Sessions against what is proved by bounds: calls in flight beside each other, failures, results that do not decode, time.
//!
//! One kernel decides by the plan as lowered, with all checks on and no proofs; another by the same plan with its proofs. They must say the
//! same; no claim that is proved may be what refuses a call; and the memory of every moment must be one that the kernel with proofs takes
//! up, which looks at every bound.

pub mod grammar;

use crate::kernel;
use guard_compiler::CompilerOutput;
use guard_compiler::verify::{Verification, verify};
use guard_plan::json::Json;
use guard_plan::plan::{Claim, Plan, SessionMeasure, TypeDef, TypeId};
use guard_plan::random::Rng;
use guard_plan::render;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, SessionState, Settlement};
use std::collections::BTreeMap;

/// The counts of what was tried.
#[derive(Debug, Default)]
pub struct BoundCounts {
    /// Guards that compiled.
    pub guards: usize,
    /// Claims that rest on bounds.
    pub claims: usize,
    /// Invariants and types that stay open.
    pub open: usize,
    /// Of these, those that refused a call.
    pub fired: usize,
    /// Calls that were admitted.
    pub admitted: usize,
    /// Bounds by what they measure.
    pub measures: BTreeMap<&'static str, usize>,
}

/// Plays so many sessions; the error is the first thing that is not so.
pub fn try_guard(
    output: &CompilerOutput,
    rng: &mut Rng,
    sessions: usize,
    tried: &mut BoundCounts,
) -> Result<(), String> {
    let said = verify(&output.lowered);
    tried.guards += 1;
    tried.claims += said.bounded.len();
    for (_, measure) in said.bounds.iter().flat_map(|bound| &bound.terms) {
        let name = match measure {
            SessionMeasure::State(_) => "state",
            SessionMeasure::Size(_) => "size",
            SessionMeasure::Counted(_) => "counted",
            SessionMeasure::Spent(_) => "spent",
            SessionMeasure::Called(_) => "called",
        };
        *tried.measures.entry(name).or_default() += 1;
    }
    let mut proved = output.lowered.clone();
    proved.proofs = said.proofs.clone();
    let checked = kernel(&output.lowered, output)?;
    let both = KernelPair { checked, proved: kernel(&proved, output)?, said: &said };
    let mut fired = 0;
    for _ in 0..sessions {
        both.play(rng, &mut fired, tried)?;
    }
    let open = said.pairs.iter().filter(|pair| !pair.status.is_proved()).count();
    tried.open += open;
    tried.fired += usize::from(fired > 0 && open > 0);
    Ok(())
}

struct KernelPair<'v> {
    checked: Kernel,
    proved: Kernel,
    said: &'v Verification,
}

impl KernelPair<'_> {
    fn play(
        &self,
        rng: &mut Rng,
        fired: &mut usize,
        tried: &mut BoundCounts,
    ) -> Result<(), String> {
        let open = |kernel: &Kernel| {
            let mut session = kernel.open("s", 0, "/").map_err(|error| error.to_string())?;
            kernel.set_recheck(&mut session, None);
            Ok::<SessionState, String>(session)
        };
        let mut a = open(&self.checked)?;
        let mut b = open(&self.proved)?;
        let mut now = 0;
        let mut story = String::new();
        let busy = rng.chance(60);
        for at in 0..24 {
            now += [0, 1_000, 61_000][rng.below(3)];
            let flying = a.in_flight().into_iter().map(str::to_owned).collect::<Vec<_>>();
            let settles = !flying.is_empty() && (!busy || rng.chance(40));
            if settles {
                let call = rng.pick(&flying).clone();
                let result = Json::parse(["1", "\"x\"", "7"][rng.below(3)]).expect("JSON");
                let fails = rng.chance(25);
                let settlement = || Settlement {
                    call: &call,
                    ending: if fails { Ending::Failure } else { Ending::Success(Some(&result)) },
                    now,
                };
                story += &format!("settle {call} {}\n", if fails { "failed" } else { "ok" });
                let one = self.checked.settle(&mut a, &settlement(), &mut NoWorld);
                let other = self.proved.settle(&mut b, &settlement(), &mut NoWorld);
                one.and(other).map_err(|error| error.to_string())?;
            } else {
                self.propose(
                    &mut a,
                    &mut b,
                    (at, now),
                    &mut story,
                    (rng, &mut *fired, &mut *tried),
                )?;
            }
            let plan = self.checked.plan();
            let differs = (0..plan.state.len() as u32).find(|var| a.value(*var) != b.value(*var));
            if let Some(var) = differs {
                return Err(format!("`{}` differs\n{story}", plan.state[var as usize].name));
            }
            if let Err(error) = self.proved.recall(&b.memory()) {
                return Err(format!("{error} after\n{story}"));
            }
        }
        Ok(())
    }

    fn propose(
        &self,
        a: &mut SessionState,
        b: &mut SessionState,
        (at, now): (usize, i64),
        story: &mut String,
        (rng, fired, tried): (&mut Rng, &mut usize, &mut BoundCounts),
    ) -> Result<(), String> {
        let plan = self.checked.plan();
        let id = rng.below(plan.tools.len()) as u32;
        let tool = &plan.tools[id as usize];
        let args = tool.params.iter().map(|param| {
            let value = draw(plan, param.ty, rng);
            (param.name.as_str().into(), render::to_json(&plan.types, param.ty, &value))
        });
        let args = Json::Object(args.collect());
        let call = format!("c{at}");
        let proposal = Proposal { call: &call, tool: &tool.wire_name, args: (&args).into(), now };
        let one = self.checked.propose(a, &proposal, &mut NoWorld).map_err(|e| e.to_string())?;
        let other = self.proved.propose(b, &proposal, &mut NoWorld).map_err(|e| e.to_string())?;
        story.push_str(&format!("{call} {}({args}) {:?}\n", tool.name, one.verdict.decision));
        if one.verdict != other.verdict {
            return Err(format!("{:?} or {:?}\n{story}", one.verdict, other.verdict));
        }
        tried.admitted += usize::from(one.verdict.decision == Decision::Allow);
        let reasons = &one.verdict.reasons;
        if reasons.is_empty() || reasons.iter().any(|reason| reason.code != Code::Invariant) {
            return Ok(());
        }
        for reason in reasons {
            let is = |claim: &Claim| match claim {
                Claim::Refined { tool, var } => {
                    *tool == id && plan.state[*var as usize].name == reason.rule
                }
                _ => false,
            };
            let whole = |pair: &&guard_compiler::verify::Pair| {
                let name = &plan.invariants[pair.invariant as usize].rule.owner;
                pair.tool == id && *name == reason.rule && pair.status.is_proved()
            };
            let proved = self.said.proofs.iter().any(|proof| is(&proof.claim))
                || self.said.pairs.iter().any(|pair| whole(&pair));
            if proved {
                return Err(format!("`{}` is proved and refuses\n{story}", reason.rule));
            }
            *fired += 1;
        }
        Ok(())
    }
}

/// An argument: often the largest one, which breaks most.
fn draw(plan: &Plan, ty: TypeId, rng: &mut Rng) -> Value {
    match &plan.types[ty as usize] {
        TypeDef::Int { min, max } => {
            let least = min.unwrap_or(-9);
            let most = max.unwrap_or(9);
            let drawn = least + rng.below((most - least + 1) as usize) as i64;
            Value::Int(if rng.chance(40) { most } else { drawn })
        }
        TypeDef::Decimal { max, .. } => {
            let most = max.unwrap_or(9_000_000);
            let drawn = rng.below(19) as i64 * 500_000;
            Value::Decimal(if rng.chance(40) { most } else { drawn.min(most) })
        }
        _ => Value::String((*rng.pick(&["a", "b", "c", "d", "e"])).into()),
    }
}
