//! The decision on a call: runs the stages in order, without changing the session.

use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::event::{Arguments, Proposal};
use crate::reason::FoundReasons;
use crate::session::SessionState;
use crate::session::flight::{InFlight, PendingWrites};
use crate::stage::arguments::{self, Decoded};
use crate::stage::{
    DecidedCall, approvals, budgets, conflicts, effects, lifecycle, limits, ready, requirements,
    rules,
};
use crate::transform;
use crate::val::Val;
use crate::world::WorldQuestions;
use guard_plan::plan::{SpanId, ToolId, TypeDef};
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Reason, Verdict};
use guard_plan::{near, render};

/// Returns the verdict on a call. The draft of the changes is left in the flight.
pub(crate) fn decide(
    compiled: &CompiledPlan,
    session: &SessionState,
    proposal: &Proposal<'_>,
    answers: &dyn WorldQuestions,
    flight: &mut InFlight,
) -> Verdict {
    let shadow = compiled.plan().shadow;
    let mut findings = FoundReasons::default();
    let decision = DecisionResources::default();
    let context = Context::new(compiled, session, &decision, answers);
    // A host clock that steps back must not revive an expired approval.
    let context = Context { now: session.now.max(proposal.now), ..context };
    if let Some(halt) = &session.halted {
        let message = format!("the session is halted: {}", halt.message);
        let reason = context.reason_at(Code::Halted, &halt.rule, None, message);
        findings.reasons.push(reason);
        return findings.verdict(shadow);
    }
    match compiled.tool(proposal.tool) {
        Some(id) => {
            let call = DecidedCall {
                id,
                tool: &compiled.plan().tools[id as usize],
                ready: &compiled.tools[id as usize],
            };
            decide_tool(&context, call, proposal.args, flight, &mut findings);
        }
        None => undeclared(&context, proposal, &mut flight.draft, &mut findings),
    }
    findings.verdict(shadow)
}

/// Runs all stages for a declared tool; each stage runs even if an earlier one has refused the
/// call.
fn decide_tool(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    args: Arguments<'_>,
    flight: &mut InFlight,
    findings: &mut FoundReasons,
) {
    let mut decoded = Decoded::none();
    let json = match args {
        Arguments::Read(json) => json,
        Arguments::Unreadable { error, .. } => {
            let span = Some(call.tool.span);
            findings.reasons.push(unreadable(cx, &call.tool.name, span, error));
            return;
        }
    };
    if let Err(problems) =
        arguments::decode(cx.compiled, &cx.session.workspace, &call.tool.params, json, &mut decoded)
    {
        for problem in problems {
            let name = &call.tool.name;
            let span = Some(call.tool.span);
            let mut reason = cx.reason_at(Code::InvalidArguments, name, span, problem.to_string());
            reason.help = signature(cx.compiled, call.id);
            findings.reasons.push(reason);
        }
        return;
    }
    flight.tool = Some(call.id);
    let cx = &Context { args: decoded.values(), ..*cx };
    if let Some(served) = &call.tool.served {
        flight.action = Some(Box::new(lifecycle::check(cx, call, served, findings)));
    }
    let draft = &mut flight.draft;
    requirements::check(cx, call, draft, findings);
    rules::check(cx, call, findings);
    limits::check(cx, call, draft, findings);
    budgets::check(cx, call, draft, findings);
    budgets::check_deadline(cx, findings);
    effects::check_parts(cx, call, draft, findings);
    approvals::check(cx, call, draft, findings);
    conflicts::check(cx, call, findings);
    check_last(cx, call, findings);
    if !findings.replacements.is_empty() && !cx.compiled.plan().shadow {
        flight.instead = transform::rewritten(call.tool, json, &findings.replacements);
    }
    // A guard in shadow allows a call that has reasons, so that call settles, too.
    if findings.reasons.is_empty() || cx.compiled.plan().shadow {
        keep(cx, call, &decoded, flight);
    }
}

/// Keeps the arguments that rules read when the call has settled.
fn keep(cx: &Context<'_>, call: DecidedCall<'_>, args: &Decoded<'_>, flight: &mut InFlight) {
    let draft = &mut flight.draft;
    for index in &call.tool.indexes {
        let start = draft.bytes.len();
        for param in &cx.compiled.plan().indexes[*index as usize].params {
            args.values()[*param as usize].write_key(&mut draft.bytes);
        }
        let span = draft.span_from(start);
        draft.keys.push(span);
    }
    let retained = call.ready.retains.iter().zip(args.values());
    let value = |(read, arg): (&bool, &Val<'_>)| {
        // Every argument keeps the position of its parameter, so one that no rule reads becomes
        // none.
        if *read { arg.clone().into_value() } else { Value::None }
    };
    flight.args.extend(retained.map(value));
}

/// Decides a call of a tool that the guard does not declare.
fn undeclared(
    cx: &Context<'_>,
    proposal: &Proposal<'_>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    let plan = cx.compiled.plan();
    let name = proposal.tool;
    match proposal.args {
        // The tool may parse the text differently, so even a guard that allows undeclared tools
        // refuses the call.
        Arguments::Unreadable { error, .. } if plan.default_allow => {
            findings.reasons.push(unreadable(cx, name, None, error));
            return;
        }
        _ if plan.default_allow => {
            budgets::check_calls(cx, draft, findings);
            budgets::check_deadline(cx, findings);
            return;
        }
        _ => {}
    }
    // The agent chooses the name, and the message goes to a person and into the record.
    let shown = render::cut(name, 100);
    let message = format!("the guard declares no tool `{shown}`");
    let mut reason = cx.reason_at(Code::UnknownTool, &shown, None, message);
    let names = plan.tools.iter().flat_map(|tool| [&*tool.wire_name, &*tool.name]);
    if let Some(near) = near::nearest(name, names) {
        reason.help = format!("did you mean `{near}`?");
    }
    findings.reasons.push(reason);
}

/// Returns the reason that refuses arguments that are not JSON.
fn unreadable(cx: &Context<'_>, tool: &str, span: Option<SpanId>, error: &str) -> Reason {
    let message = format!("the arguments cannot be read: {error}");
    cx.reason_at(Code::InvalidArguments, tool, span, message)
}

/// Returns the signature of a tool: `deploy(env: one of dev, prod, count: int)`.
fn signature(compiled: &CompiledPlan, id: ToolId) -> String {
    let plan = compiled.plan();
    let tool = &plan.tools[id as usize];
    let params = tool.params.iter().take(20);
    let params = params.map(|param| {
        let mut ty = render::type_name(&plan.types, param.ty);
        let def = match &plan.types[param.ty as usize] {
            TypeDef::Option { of } => &plan.types[*of as usize],
            def => def,
        };
        if let TypeDef::String { patterns, .. } = def {
            patterns.iter().for_each(|pattern| {
                ty += &format!(" matches /{}/", plan.regexes[*pattern as usize])
            });
        }
        format!("{}: {ty}", param.name)
    });
    format!("`{}` takes ({})", tool.name, params.collect::<Vec<_>>().join(", "))
}

/// Checks the rules that ask probes: the postponed denies, and readiness. If the call is denied
/// anyway, no probe is asked. If it is refused anyway, the questions start no window.
pub(crate) fn check_last<'a>(cx: &Context<'a>, call: DecidedCall<'a>, findings: &mut FoundReasons) {
    let denied = findings.deny();
    if denied || !findings.reasons.is_empty() {
        cx.answers.refused();
    }
    if !denied {
        rules::check_postponed(cx, call, findings);
        ready::check(cx, call, findings);
    }
}
