//! Proved claims, checked against the kernel with its own checks switched on: in states that no session need reach.
//!
//! Guards over small domains: numbers, options, sets, lists and maps of a few values. A state is put into the plan as it
//! was lowered, without proofs, as its initial one; a call is proposed there. If nothing but a claimed invariant refuses it, the
//! claim is wrong. From a feasible call, one number at a time is pushed to where it is no longer feasible: wrong proofs are
//! wrong at the edge.

use crate::written::{WALKS, cases};
use guard_compiler::CompilerOutput;
use guard_compiler::verify::Verification;
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::{Claim, Expr, Node, NodeId, Plan, TypeDef, TypeId};
use guard_plan::random::Rng;
use guard_plan::record::NoteKind;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use guard_proof::parts;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, Settlement};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const STATE: &str = "state {
  n: int in 0..=6 = 0
  d: decimal in 0..=6 = 0
  b: bool = false
  e: Stage = low
  o: int? = none
  s: set<string> max 3 = {}
  l: list<int> max 3 = []
  m: map<string, int in 0..=9> max 3 = {}
  p: Pair = { left: 0, right: 0 }
}";

/// A random guard.
pub fn source(rng: &mut Rng) -> String {
    let mut out = format!(
        "guard walked\n\nenum Stage {{ low, mid, high }}\n\nrecord Pair {{\n  left: int\n  right: int\n}}\n\n{STATE}\n\n"
    );
    let fill = |rng: &mut Rng, text: &str| text.replace('K', &rng.below(7).to_string());
    let sections: Vec<Vec<&str>> =
        cases(WALKS).map(|(_, lines)| lines.trim().lines().collect()).collect();
    let [invariants, denies, effects] = &sections[..] else { unreachable!("three sections") };
    for at in 0..1 + rng.below(4) {
        let mode = ["", "", "", " monitor"][rng.below(4)];
        let condition = *rng.pick(invariants);
        let condition = fill(rng, condition);
        let _ = writeln!(out, "invariant i{at}{mode} {{ {condition} }}");
    }
    for at in 0..2 {
        let _ = writeln!(
            out,
            "\ntool t{at}(x: int in 0..=5, z: decimal in 0..=5, t: string max 5, f: bool) {{"
        );
        for _ in 0..rng.below(4) {
            let shadow = if rng.chance(10) { "shadow " } else { "" };
            let deny = *rng.pick(denies);
            let _ = writeln!(out, "  {shadow}deny {}", fill(rng, deny));
        }
        let mut written: Vec<char> = Vec::new();
        for _ in 0..1 + rng.below(3) {
            let effect = *rng.pick(effects);
            // A variable is written once: it is the first name, or the last where a verb comes first.
            let verb = ["add ", "remove ", "append "].iter().any(|verb| effect.starts_with(verb));
            let name =
                if verb { effect.rsplit(' ').next() } else { effect.strip_prefix("delete ") };
            let var = name.unwrap_or(effect).chars().next().unwrap_or('?');
            if !written.contains(&var) {
                written.push(var);
                let _ = writeln!(out, "  effect {effect}");
            }
        }
        out.push_str("}\n");
    }
    if rng.chance(40) {
        let most = rng.below(9);
        let _ = writeln!(
            out,
            "\ntool look() {{\n  trusted\n  returns int in 0..={most}\n  observe n = result\n}}"
        );
    }
    out
}

/// The counts of what was tried.
#[derive(Debug, Default, Clone, Copy)]
pub struct WalkCounts {
    /// Claims that a plan makes.
    pub claims: usize,
    /// Calls that nothing else refused.
    pub feasible: usize,
    /// Calls that a claim was held against.
    pub held: usize,
    /// Calls that an invariant without proof refused, alone: the checks do fire.
    pub refused: usize,
    /// Settlements whose observations a claim was held against.
    pub observed: usize,
}

/// A state and a call in it.
#[derive(Clone)]
struct WalkPoint {
    state: Vec<Value>,
    args: Vec<(String, Json)>,
}

/// The kernel's reply at a point, if all assumptions hold there.
enum PointReply {
    /// Something else refuses the call, or the state cannot be.
    Infeasible,
    /// Only these invariants and types refuse it; none: it is allowed.
    Refused(BTreeSet<String>),
}

/// Tries a guard's claims at `samples` points and along their edges; the error is the first thing that is not so.
pub fn walk(
    output: &CompilerOutput,
    rng: &mut Rng,
    samples: usize,
    tried: &mut WalkCounts,
) -> Result<(), String> {
    let claimed = Claimed::new(&output.plan, &output.verification);
    tried.claims += output.plan.proofs.len();
    let walker = Walker { output, claimed };
    for tool in output.lowered.tools.iter().map(|tool| tool.name.clone()) {
        for _ in 0..samples {
            let point = walker.point(&tool, rng);
            if !walker.look(&tool, &point, tried)? {
                continue;
            }
            walker.push(&tool, &point, rng, tried)?;
        }
    }
    Ok(())
}

/// The claims of a plan by name: whole invariants, and variables.
struct Claimed {
    whole: BTreeSet<(String, String)>,
    observed: BTreeSet<(String, String)>,
    assumable: BTreeSet<String>,
}

impl Claimed {
    fn new(plan: &Plan, said: &Verification) -> Claimed {
        let tool = |id: u32| plan.tools[id as usize].name.clone();
        let name = |id: u32| plan.invariants[id as usize].rule.owner.clone();
        // What rests on bounds of a session is not so in every state: the law of bounded sessions is about these.
        let by_step = |claim: &&Claim| !said.bounded.contains(claim);
        let claims = || plan.proofs.iter().map(|proof| &proof.claim).filter(by_step);
        let mut whole = BTreeSet::new();
        let mut observed = BTreeSet::new();
        for claim in claims() {
            match *claim {
                Claim::Preserved { tool: of, invariant, .. } => {
                    let all = parts(&plan.invariants[invariant as usize].condition).len() as u32;
                    let proved = |part| {
                        claims()
                            .any(|claim| *claim == Claim::Preserved { tool: of, invariant, part })
                    };
                    if (0..all).all(proved) {
                        whole.insert((tool(of), name(invariant)));
                    }
                }
                Claim::Refined { tool: of, var } => {
                    whole.insert((tool(of), plan.state[var as usize].name.clone()));
                }
                Claim::Observed { tool: of, invariant } => {
                    observed.insert((tool(of), name(invariant)));
                }
                Claim::Bounded { .. } => {}
            }
        }
        let assumable = guard_proof::assumable(plan, &plan.proofs);
        let assumable =
            (0..).zip(assumable).filter(|(_, one)| *one).map(|(id, _)| name(id)).collect();
        Claimed { whole, observed, assumable }
    }
}

struct Walker<'o> {
    output: &'o CompilerOutput,
    claimed: Claimed,
}

impl Walker<'_> {
    fn point(&self, tool: &str, rng: &mut Rng) -> WalkPoint {
        let plan = &self.output.lowered;
        let state = plan.state.iter().map(|var| value(plan, var.ty, rng)).collect();
        let tool = plan.tools.iter().find(|known| known.name == tool).expect("a tool of the plan");
        let args = tool.params.iter().map(|param| {
            let value = value(plan, param.ty, rng);
            (param.name.clone(), guard_plan::render::to_json(&plan.types, param.ty, &value))
        });
        WalkPoint { state, args: args.collect() }
    }

    /// Looks at one point: whether it is feasible, as far as nothing but claims and checked invariants refuse it.
    fn look(&self, tool: &str, point: &WalkPoint, tried: &mut WalkCounts) -> Result<bool, String> {
        let PointReply::Refused(by) = self.say(tool, point, tried)? else { return Ok(false) };
        tried.feasible += 1;
        let vars = || self.output.lowered.state.iter().map(|var| var.name.as_str());
        let types: BTreeSet<&String> =
            by.iter().filter(|name| vars().any(|var| var == *name)).collect();
        let claims = |name: &String| self.claimed.whole.contains(&(tool.to_string(), name.clone()));
        // What is claimed of invariants is claimed where the variables stay in their types.
        let wrong = if types.is_empty() {
            by.iter().find(|name| claims(name))
        } else {
            types.into_iter().find(|name| claims(name))
        };
        if let Some(name) = wrong {
            let args = Json::Object(boxed(&point.args));
            return Err(format!(
                "`{tool}` {args} breaks `{name}`, which is proved, in {:?}",
                point.state
            ));
        }
        tried.held += usize::from(self.claimed.whole.iter().any(|(of, _)| of == tool));
        tried.refused += usize::from(!by.is_empty());
        Ok(by.is_empty())
    }

    /// Pushes each number of a point to the end of what is feasible.
    fn push(
        &self,
        tool: &str,
        point: &WalkPoint,
        rng: &mut Rng,
        tried: &mut WalkCounts,
    ) -> Result<(), String> {
        for at in 0..point.state.len() + point.args.len() {
            let step = [1, -1][rng.below(2)];
            let mut point = point.clone();
            for _ in 0..8 {
                let moved = match at.checked_sub(point.state.len()) {
                    None => nudge(&mut point.state[at], step),
                    Some(arg) => nudge_json(&mut point.args[arg].1, step),
                };
                if !moved || !self.look(tool, &point, tried)? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn say(
        &self,
        tool: &str,
        point: &WalkPoint,
        tried: &mut WalkCounts,
    ) -> Result<PointReply, String> {
        let mut plan = self.output.lowered.clone();
        for (var, value) in plan.state.iter_mut().zip(&point.state) {
            var.init = literal(value);
        }
        let sources = self.output.sources.clone();
        let loaded = LoadedPlan::from_plan(plan, sources).map_err(|error| error.to_string())?;
        // A state that its types do not allow cannot be.
        let Ok(kernel) = Kernel::new(loaded) else { return Ok(PointReply::Infeasible) };
        let mut session = kernel.open("walk", 0, "/").map_err(|error| error.to_string())?;
        for invariant in &kernel.plan().invariants {
            let assumed = self.claimed.assumable.contains(&invariant.rule.owner);
            let holds = || kernel.evaluate(&session, &invariant.condition, 0, &mut NoWorld);
            if assumed && holds() != Ok(Value::Bool(true)) {
                return Ok(PointReply::Infeasible);
            }
        }
        let args = Json::Object(boxed(&point.args));
        let proposal = Proposal { call: "1", tool, args: (&args).into(), now: 0 };
        let proposed = kernel.propose(&mut session, &proposal, &mut NoWorld);
        let verdict = proposed.map_err(|error| error.to_string())?.verdict;
        if verdict.reasons.iter().any(|reason| reason.code != Code::Invariant) {
            return Ok(PointReply::Infeasible);
        }
        if verdict.decision == Decision::Allow && tool == "look" {
            for result in 0..9 {
                let mut session = session.clone();
                let result = Json::parse(&result.to_string()).map_err(|error| error.to_string())?;
                let ending = Ending::Success(Some(&result));
                let settlement = Settlement { call: "1", ending, now: 0 };
                let settled = kernel.settle(&mut session, &settlement, &mut NoWorld);
                let settled = settled.map_err(|error| error.to_string())?;
                let halted = settled.notes.iter().filter(|note| note.kind == NoteKind::Halt);
                for note in halted {
                    if self.claimed.observed.contains(&(tool.to_string(), note.rule.clone())) {
                        return Err(format!(
                            "`look` = {result} breaks `{}`, which is proved, in {:?}",
                            note.rule, point.state
                        ));
                    }
                }
                tried.observed += usize::from(!self.claimed.observed.is_empty());
            }
        }
        Ok(PointReply::Refused(
            verdict.reasons.into_iter().map(|reason| reason.rule.to_string()).collect(),
        ))
    }
}

fn boxed(args: &[(String, Json)]) -> Vec<(Box<str>, Json)> {
    args.iter().map(|(name, value)| (name.as_str().into(), value.clone())).collect()
}

const TEXTS: [&str; 3] = ["a", "b", "c"];

fn value(plan: &Plan, ty: TypeId, rng: &mut Rng) -> Value {
    let text = |rng: &mut Rng| Box::<str>::from(*rng.pick(&TEXTS));
    match &plan.types[ty as usize] {
        TypeDef::Bool => Value::Bool(rng.chance(50)),
        TypeDef::Int { .. } => Value::Int(rng.below(8) as i64 - i64::from(rng.chance(10))),
        TypeDef::Decimal { .. } => {
            Value::Decimal(rng.below(61) as i64 * 100_000 + rng.below(3) as i64)
        }
        TypeDef::Enum { variants, .. } => Value::Enum(rng.below(variants.len()) as u32),
        TypeDef::Option { of } if rng.chance(60) => value(plan, *of, rng),
        TypeDef::Option { .. } => Value::None,
        TypeDef::Record { fields, .. } => {
            Value::Record(fields.iter().map(|field| value(plan, field.ty, rng)).collect())
        }
        TypeDef::List { of, .. } => {
            Value::List((0..rng.below(4)).map(|_| value(plan, *of, rng)).collect())
        }
        TypeDef::Set { of, .. } => {
            Value::Set((0..rng.below(4)).map(|_| value(plan, *of, rng)).collect())
        }
        TypeDef::Map { of, .. } => {
            Value::Map((0..rng.below(4)).map(|_| (text(rng), value(plan, *of, rng))).collect())
        }
        _ => Value::String(text(rng)),
    }
}

/// Moves a number by its least step; whether it is one.
fn nudge(value: &mut Value, step: i64) -> bool {
    match value {
        Value::Int(number) => *number += step,
        Value::Decimal(units) => *units += step * 500_000,
        _ => return false,
    }
    true
}

fn nudge_json(value: &mut Json, step: i64) -> bool {
    let text = value.to_string();
    let Some(number) = text.parse::<i64>().ok() else { return false };
    match Json::parse(&(number + step).to_string()) {
        Ok(moved) => *value = moved,
        Err(_) => return false,
    }
    true
}

/// A value as a constant expression.
fn literal(value: &Value) -> Expr {
    fn push(value: &Value, nodes: &mut Vec<Node>) -> NodeId {
        let mut all = |values: Vec<&Value>| -> Vec<NodeId> {
            values.into_iter().map(|value| push(value, nodes)).collect()
        };
        let node = match value {
            Value::None => Node::None,
            Value::Bool(truth) => Node::Bool(*truth),
            Value::Int(number) => Node::Int(*number),
            Value::Decimal(units) => Node::Decimal(*units),
            Value::Enum(at) => Node::Enum(*at),
            Value::String(text) => Node::String(text.to_string()),
            Value::List(items) => Node::List(all(items.iter().collect())),
            Value::Set(items) => Node::Set(all(items.iter().collect())),
            Value::Record(fields) => Node::Record(all(fields.iter().collect())),
            Value::Map(entries) => {
                let ids = all(entries.values().collect());
                Node::Map(entries.keys().map(|key| key.to_string()).zip(ids).collect())
            }
            other => unreachable!("a walk has no {other:?}"),
        };
        nodes.push(node);
        (nodes.len() - 1) as NodeId
    }
    let mut nodes = Vec::new();
    push(value, &mut nodes);
    Expr(nodes)
}
