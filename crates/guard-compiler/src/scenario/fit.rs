//! Checks of scenario steps against the plan: calls whose arguments their tools do not accept, and
//! expectations that no session can fulfil.
//!
//! Nothing here runs a step. The decoder of the kernel and the tables of the plan decide what is
//! valid.

use super::{Call, Scenario, ScenarioStep, StepKind};
use crate::errors;
use guard_plan::LoadedPlan;
use guard_plan::decode::Decoder;
use guard_plan::plan::{Plan, Tool};
use guard_plan::verdict::Code;
use guard_syntax::diagnostic::Diagnostic;

/// The workspace of every scenario.
const WORKSPACE: &str = "/workspace";

/// Reports the steps that always fail.
pub(crate) fn check(plan: &Plan, scenarios: &[Scenario], diagnostics: &mut Vec<Diagnostic>) {
    let steps = scenarios.iter().flat_map(|scenario| &scenario.steps);
    diagnostics.extend(steps.filter_map(|step| unfit(plan, step)));
}

fn unfit(plan: &Plan, step: &ScenarioStep) -> Option<Diagnostic> {
    match &step.kind {
        StepKind::Expect { condition, .. } => {
            LoadedPlan::admits_beside(plan, condition).err()?;
            Some(errors::scenario(
                step.span,
                "no rule of this guard asks about this, so a session does not remember it".into(),
                "ask about it in a rule (in shadow, if it must not refuse anything), or expect something else",
            ))
        }
        StepKind::Start(_, call) if is_served(plan, call) => Some(errors::scenario(
            step.span,
            format!("the kernel serves `{}` at once: no call of it is in flight", call.tool),
            "write `ok CALL`",
        )),
        // Such a denial may be about the arguments, or come before they are checked.
        StepKind::Denied {
            by: None | Some(Code::Halted | Code::InvalidArguments | Code::UnknownTool),
            ..
        } => None,
        kind => {
            let call = call(kind)?;
            // A guard in shadow mode refuses no arguments.
            let problem = problem(plan, call).filter(|_| !plan.shadow)?;
            Some(errors::scenario(
                step.span,
                format!("`{}` does not take these arguments: {problem}", call.tool),
                "correct them; `denied CALL by invalid_arguments` tests that they are refused",
            ))
        }
    }
}

/// Returns the call of a step.
fn call(kind: &StepKind) -> Option<&Call> {
    match kind {
        StepKind::Run { call, .. }
        | StepKind::Allowed(call)
        | StepKind::Denied { call, .. }
        | StepKind::Asks { call, .. }
        | StepKind::Waits { call, .. }
        | StepKind::Start(_, call)
        | StepKind::Approve { call, .. }
        | StepKind::Revoke { call, .. } => Some(call),
        _ => None,
    }
}

fn is_served(plan: &Plan, call: &Call) -> bool {
    let tool = plan.tools.iter().find(|tool| tool.wire_name == call.tool);
    tool.is_some_and(Tool::is_served)
}

/// Returns the first problem with the arguments of a call.
fn problem(plan: &Plan, call: &Call) -> Option<String> {
    let tool = plan.tools.iter().find(|tool| tool.wire_name == call.tool)?;
    let matches = |id: u32, text: &str| {
        regex::Regex::new(&plan.regexes[id as usize]).is_ok_and(|pattern| pattern.is_match(text))
    };
    let decoder = Decoder {
        types: &plan.types,
        workspace: WORKSPACE,
        open: false,
        // Arguments are taken exactly as they are written.
        coercions: &[],
        matches: &matches,
    };
    let problems = decoder.arguments(&tool.params, &call.args).err()?;
    problems.first().map(ToString::to_string)
}
