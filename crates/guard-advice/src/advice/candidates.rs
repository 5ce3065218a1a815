//! Candidates: the possible calls, with the kernel's verdict and the predicted changes of each.

use super::after::SucceededCall;
use super::expression::is_fixed;
use super::goals::Goals;
use super::remembered::Remembered;
use super::unmet::Unmet;
use super::{AdviceScene, Supposition, boundary};
use guard_plan::json::Json;
use guard_plan::plan::{FactId, Risk, Tool, ToolId, TypeDef, TypeId, UnitId, VarId};
use guard_plan::render;
use guard_plan::value::Value;
use guard_plan::verdict::{Decision, Reason, Verdict};
use guard_runtime::{Assumed, Hypothesis, HypotheticalCall, Proposal};

pub use guard_plan::advice::Status;

/// The maximum number of argument combinations of a tool that are judged individually.
const MAX_COMBINATIONS: usize = 32;

/// A call with chosen arguments, or a tool without them.
#[derive(Clone)]
pub(super) struct Candidate {
    pub tool: ToolId,
    /// The arguments; `None` if they are not chosen.
    pub args: Option<Json>,
    pub values: Option<Vec<Value>>,
    pub status: Status,
    pub risk: Risk,
    pub reasons: Vec<Reason>,
    /// The charges, in units of 10⁻⁶.
    pub charges: Vec<(UnitId, i64)>,
    /// The units of which the call may cost more.
    pub open_units: Vec<UnitId>,
    /// The progress of the goals if the call succeeds.
    pub gain: i64,
    /// The nearness to a boundary.
    pub nearness: i64,
    /// The unmet requirements.
    pub unmet: Vec<Unmet>,
    /// True if a `deny` that depends only on the arguments refuses the call.
    pub never: bool,
}

/// Returns all candidates of a tool; at least one.
pub(super) fn for_tool(
    scene: &AdviceScene<'_>,
    goals: &Goals<'_>,
    id: ToolId,
    world: &mut Remembered<'_>,
) -> Vec<Candidate> {
    let plan = scene.plan;
    let tool = &plan.tools[id as usize];
    match combinations(&plan.types, tool) {
        Some(all) => {
            all.into_iter().filter_map(|values| concrete(scene, goals, id, values, world)).collect()
        }
        None => open(scene, goals, id, world).into_iter().collect(),
    }
}

/// Returns all argument combinations of a tool, if they are few; the last parameter changes
/// fastest.
fn combinations(types: &[TypeDef], tool: &Tool) -> Option<Vec<Vec<Value>>> {
    let mut all = vec![Vec::new()];
    for param in &tool.params {
        let domain = domain(types, param.ty)?;
        if all.len() * domain.len() > MAX_COMBINATIONS {
            return None;
        }
        let with = |args: &Vec<Value>, value: &Value| {
            let mut args = args.clone();
            args.push(value.clone());
            args
        };
        all = all.iter().flat_map(|args| domain.iter().map(|value| with(args, value))).collect();
    }
    Some(all)
}

/// Returns all values of a type, if they are few; the missing option comes last.
fn domain(types: &[TypeDef], ty: TypeId) -> Option<Vec<Value>> {
    match types.get(ty as usize)? {
        TypeDef::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        TypeDef::Enum { variants, .. } if variants.len() <= MAX_COMBINATIONS => {
            Some((0..variants.len() as u32).map(Value::Enum).collect())
        }
        TypeDef::Int { min: Some(min), max: Some(max) }
            if max.checked_sub(*min)? < MAX_COMBINATIONS as i64 =>
        {
            Some((*min..=*max).map(Value::Int).collect())
        }
        TypeDef::Option { of } => {
            let mut values = domain(types, *of)?;
            values.push(Value::None);
            Some(values)
        }
        _ => None,
    }
}

/// Returns the arguments as a caller writes them, without missing options.
fn written(types: &[TypeDef], tool: &Tool, values: &[Value]) -> Json {
    let given = tool.params.iter().zip(values).filter(|(_, value)| **value != Value::None);
    let member = given.map(|(param, value)| {
        (param.name.as_str().into(), render::to_json(types, param.ty, value))
    });
    Json::Object(member.collect())
}

fn concrete(
    scene: &AdviceScene<'_>,
    goals: &Goals<'_>,
    id: ToolId,
    values: Vec<Value>,
    world: &mut Remembered<'_>,
) -> Option<Candidate> {
    let tool = &scene.plan.tools[id as usize];
    let args = written(&scene.plan.types, tool, &values);
    let verdict = checked(scene, tool, &args, world);
    let unknown: Vec<VarId> = tool.observes.iter().map(|observe| observe.target.var).collect();
    let candidate = scene
        .read(world, |hypothesis| foreseen(scene, hypothesis, goals, id, Some(&values), unknown))?;
    Some(Candidate {
        status: status(&verdict),
        reasons: verdict.reasons,
        args: Some(args),
        values: Some(values),
        ..candidate
    })
}

fn open(
    scene: &AdviceScene<'_>,
    goals: &Goals<'_>,
    id: ToolId,
    world: &mut Remembered<'_>,
) -> Option<Candidate> {
    let tool = &scene.plan.tools[id as usize];
    let verdict = if scene.session.halted().is_some() {
        // A halted session reads nothing else, not even the arguments.
        checked(scene, tool, &Json::Object(Vec::new()), world)
    } else {
        scene.read(world, |hypothesis| Some(hypothesis.verdict(&hypothesis.call(id, None)?)))?
    };
    let observed: Vec<VarId> = tool.observes.iter().map(|observe| observe.target.var).collect();
    let candidate =
        scene.read(world, |hypothesis| foreseen(scene, hypothesis, goals, id, None, observed))?;
    Some(Candidate { status: status(&verdict), reasons: verdict.reasons, ..candidate })
}

/// Returns the kernel's verdict on a call.
fn checked(
    scene: &AdviceScene<'_>,
    tool: &Tool,
    args: &Json,
    world: &mut Remembered<'_>,
) -> Verdict {
    // The call has no id, because nothing is proposed and no id may be taken.
    let proposal = Proposal { call: "", tool: &tool.wire_name, args: args.into(), now: scene.now };
    scene.kernel.check(scene.session, &proposal, world).verdict
}

fn status(verdict: &Verdict) -> Status {
    match verdict.decision {
        Decision::Allow => Status::Ready,
        Decision::Ask => Status::Ask,
        Decision::Wait => Status::Wait,
        Decision::Deny => Status::Blocked,
    }
}

/// Predicts the changes of a call; `observed` are the variables that depend on its result.
fn foreseen(
    scene: &AdviceScene<'_>,
    hypothesis: &Hypothesis<'_>,
    goals: &Goals<'_>,
    id: ToolId,
    values: Option<&[Value]>,
    observed: Vec<VarId>,
) -> Option<Candidate> {
    let call = hypothesis.call(id, values)?;
    let foreseen = hypothesis.foresee(&call);
    let mut unknown = call.unknown().to_vec();
    unknown.extend(observed);
    let facts: Vec<FactId> = call.tool().learns.iter().map(|learn| learn.fact).collect();
    let after = SucceededCall {
        tool: id,
        args: values,
        writes: &foreseen.writes,
        unknown: &unknown,
        facts: &facts,
        charges: &foreseen.charges,
    };
    let assumed = Assumed { call: values.map(|values| (id, values)), writes: &[] };
    let supposed = Supposition { scene, hypothesis, assumed };
    // The frame of the tool applies, whether or not its arguments are known.
    let frame = &scene.plan.tools[id as usize];
    Some(Candidate {
        tool: id,
        args: None,
        values: None,
        status: Status::Blocked,
        risk: scene.risk(id, values),
        reasons: Vec::new(),
        gain: goals.gain(&supposed, &after),
        nearness: boundary::nearness(&supposed, frame, &foreseen.writes, &unknown),
        unmet: Unmet::all(&supposed, &call),
        never: never(&supposed, &call),
        open_units: call.open_units().to_vec(),
        charges: foreseen.charges.clone(),
    })
}

/// Returns true if a `deny` refuses a call in every state of the session.
fn never(supposed: &Supposition<'_, '_>, call: &HypotheticalCall<'_>) -> bool {
    let mut denies = call.tool().denies.iter();
    denies.any(|deny| {
        !deny.rule.shadow && is_fixed(&deny.condition) && supposed.holds(&deny.condition)
    })
}
