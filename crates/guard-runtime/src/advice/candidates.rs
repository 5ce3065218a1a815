//! Candidates: the calls that are judged, with what the kernel says of each and what it would do.

use super::after::After;
use super::goals::Goals;
use super::graph::Unmet;
use super::open::{Open, is_fixed};
use super::remembered::Remembered;
use super::{Scene, boundary};
use crate::eval::Context;
use crate::propose::Proposal;
use crate::reason::Findings;
use crate::session::flight::Draft;
use crate::stage::{
    Call, approvals, budgets, conflicts, effects, limits, ready, requirements, rules,
};
use crate::val::Val;
use guard_plan::json::Json;
use guard_plan::plan::{FactId, Tool, ToolId, TypeDef, TypeId, UnitId, VarId};
use guard_plan::render;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision, Reason, Verdict};

pub use guard_plan::advice::Status;

/// Most combinations of arguments of a tool that are judged one by one.
const MAX_COMBINATIONS: usize = 32;

/// A call, or a tool whose arguments nobody has chosen.
#[derive(Clone)]
pub(super) struct Candidate {
    pub tool: ToolId,
    /// None where nobody has chosen them.
    pub args: Option<Json>,
    pub values: Option<Vec<Value>>,
    pub status: Status,
    pub reasons: Vec<Reason>,
    /// What it costs, in units of 10⁻⁶.
    pub charges: Vec<(UnitId, i64)>,
    /// Units of which it may cost more.
    pub open_units: Vec<UnitId>,
    /// How much further the goals would be if it succeeded.
    pub gain: i64,
    /// How near it comes to a boundary.
    pub nearness: i64,
    /// Requirements that do not hold.
    pub unmet: Vec<Unmet>,
    /// A `deny` refuses it that depends on nothing but its arguments.
    pub never: bool,
}

/// All candidates of a tool; at least one.
pub(super) fn of(
    scene: &Scene<'_>,
    goals: &Goals<'_>,
    id: ToolId,
    world: &mut Remembered<'_>,
) -> Vec<Candidate> {
    let plan = scene.kernel.plan();
    let tool = &plan.tools[id as usize];
    match combinations(&plan.types, tool) {
        Some(all) => {
            all.into_iter().map(|values| concrete(scene, goals, id, values, world)).collect()
        }
        None => vec![open(scene, goals, id, world)],
    }
}

/// All arguments of a tool, if they are few: the last parameter changes fastest.
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

/// All values of a type, if they are few; the missing option last.
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

/// The arguments as a caller writes them; missing options are left out.
fn written(types: &[TypeDef], tool: &Tool, values: &[Value]) -> Json {
    let given = tool.params.iter().zip(values).filter(|(_, value)| **value != Value::None);
    let member = given.map(|(param, value)| {
        (param.name.as_str().into(), render::to_json(types, param.ty, value))
    });
    Json::Object(member.collect())
}

fn concrete(
    scene: &Scene<'_>,
    goals: &Goals<'_>,
    id: ToolId,
    values: Vec<Value>,
    world: &mut Remembered<'_>,
) -> Candidate {
    let kernel = scene.kernel;
    let tool = &kernel.plan().tools[id as usize];
    let args = written(&kernel.plan().types, tool, &values);
    let proposal = Proposal { call: "", tool: &tool.wire_name, args: &args, now: scene.now };
    let verdict = kernel.check(scene.session, &proposal, world).verdict;
    let call = Call { id, tool, ready: &kernel.tools[id as usize] };
    let unknown: Vec<VarId> = tool.observes.iter().map(|observe| observe.target.var).collect();
    let known = Known { values: Some(&values), unknown: &unknown, frame: tool };
    let mut candidate = scene.read(world, |cx| {
        let borrowed: Vec<Val<'_>> = values.iter().map(Val::of).collect();
        foreseen(&Context { args: &borrowed, ..*cx }, goals, call, &known)
    });
    (candidate.status, candidate.reasons) = (status(&verdict), verdict.reasons);
    (candidate.args, candidate.values) = (Some(args), Some(values));
    candidate
}

fn open(scene: &Scene<'_>, goals: &Goals<'_>, id: ToolId, world: &mut Remembered<'_>) -> Candidate {
    let tool = &scene.kernel.plan().tools[id as usize];
    let Open { tool: left, ready, mut unknown, units } = Open::new(scene.kernel, id);
    let call = Call { id, tool: &left, ready: &ready };
    let verdict = if scene.session.halted.is_some() {
        // A halted session looks at nothing else, arguments included.
        let args = Json::Object(Vec::new());
        let proposal = Proposal { call: "", tool: &tool.wire_name, args: &args, now: scene.now };
        scene.kernel.check(scene.session, &proposal, world).verdict
    } else {
        scene.read(world, |cx| judged(cx, call))
    };
    unknown.extend(tool.observes.iter().map(|observe| observe.target.var));
    let known = Known { values: None, unknown: &unknown, frame: tool };
    let candidate = scene.read(world, |cx| foreseen(cx, goals, call, &known));
    let (status, reasons) = (status(&verdict), verdict.reasons);
    Candidate { status, reasons, open_units: units, ..candidate }
}

/// What the stages say of a call without arguments. Reasons are put in order by the verdict, so the order of the
/// stages means nothing here.
fn judged(cx: &Context<'_>, call: Call<'_>) -> Verdict {
    let (mut draft, mut findings) = (Draft::default(), Findings::default());
    requirements::check(cx, call, &mut draft, &mut findings);
    rules::check(cx, call, &mut findings);
    limits::check(cx, call, &mut draft, &mut findings);
    budgets::check(cx, call, &mut draft, &mut findings);
    budgets::check_deadline(cx, &mut findings);
    effects::check(cx, call, &mut draft, &mut findings);
    approvals::check(cx, call, &mut draft, &mut findings);
    ready::check(cx, call, &mut findings);
    conflicts::check(cx, call, &mut findings);
    let grants = &cx.session.approvals;
    if grants.iter().any(|grant| grant.tool == call.id && grant.expires > cx.now) {
        // With the arguments that were approved it passes.
        findings.reasons.retain(|reason| !matches!(reason.code, Code::Approval | Code::Gated));
    }
    findings.verdict(cx.kernel.plan().shadow)
}

fn status(verdict: &Verdict) -> Status {
    match verdict.decision {
        Decision::Allow => Status::Ready,
        Decision::Ask => Status::Ask,
        Decision::Wait => Status::Wait,
        Decision::Deny => Status::Blocked,
    }
}

/// What is known of a call, and what only its arguments or its result will say.
struct Known<'c> {
    values: Option<&'c [Value]>,
    unknown: &'c [VarId],
    /// The tool whose frame counts.
    frame: &'c Tool,
}

/// What a call would do.
fn foreseen<'a>(
    cx: &Context<'a>,
    goals: &Goals<'_>,
    call: Call<'a>,
    known: &Known<'_>,
) -> Candidate {
    let (mut draft, mut findings) = (Draft::default(), Findings::default());
    budgets::check(cx, call, &mut draft, &mut findings);
    effects::check(cx, call, &mut draft, &mut findings);
    let facts: Vec<FactId> = call.tool.learns.iter().map(|learn| learn.fact).collect();
    let after = After {
        tool: call.id,
        args: known.values,
        writes: &draft.writes,
        unknown: known.unknown,
        facts: &facts,
        charges: &draft.charges,
    };
    Candidate {
        tool: call.id,
        args: None,
        values: None,
        status: Status::Blocked,
        reasons: Vec::new(),
        gain: goals.gain(cx, &after),
        nearness: boundary::nearness(cx, known.frame, &draft.writes, known.unknown),
        unmet: Unmet::all(cx, call),
        never: never(cx, call),
        open_units: Vec::new(),
        charges: draft.charges,
    }
}

/// Whether a `deny` refuses a call whatever becomes of the session.
fn never<'a>(cx: &Context<'a>, call: Call<'a>) -> bool {
    let denies = call.tool.denies.iter().zip(&call.ready.denies);
    let fixed = denies.filter(|(deny, _)| !deny.rule.shadow && is_fixed(&deny.condition));
    fixed.into_iter().any(|(_, condition)| cx.holds(condition) == Ok(true))
}
