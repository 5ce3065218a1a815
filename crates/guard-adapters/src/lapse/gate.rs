//! Faults in proposing a call to the guard.

use crate::duty::{Gate, Work};
use crate::fault::Fault;
use guard_ack::protocol::Call;
use guard_plan::near;
use guard_plan::verdict::{Code, Decision};
use guard_runtime::Proposed;
use serde_json::{Value, json};

/// Returns the outcome of a call that the guard is not asked about.
pub(crate) fn before(work: &mut Work, call: &Call) -> Option<Gate> {
    let native = work.run.tools.iter().any(|tool| tool.native && tool.name == call.tool);
    let same = |known: &Call| known.tool == call.tool && known.args == call.args;
    let lapses = &*work.lapses;
    let passes = match work.fault {
        Fault::NativeAround => native,
        Fault::FirstCallOnly => work.turn.first().is_some_and(|first| first.call != call.call),
        Fault::UnknownRuns => work.engine.kernel.tool(&call.tool).is_none(),
        Fault::ApprovedAgain => lapses.approved.iter().any(same),
        Fault::ApprovedByTool => lapses.approved.iter().any(|known| known.tool == call.tool),
        Fault::WaitedRuns => work.waited.contains(&call.call),
        _ => false,
    };
    if passes {
        return Some(Gate::Run);
    }
    match work.fault {
        Fault::DenialStopsTurn if lapses.denied_here => {
            Some(Gate::Refused("not run, since another call was denied".into()))
        }
        Fault::DenialIsKept | Fault::RefusalIsKept => {
            let (_, why) = lapses.denied.iter().find(|(known, _)| same(known))?;
            Some(Gate::Refused(why.clone()))
        }
        Fault::KeepsResults => {
            let (_, text) = lapses.ran.iter().find(|(known, _)| same(known))?;
            Some(Gate::Served(text.clone()))
        }
        _ => None,
    }
}

/// Returns the call as reported to the guard.
pub(crate) fn told(work: &Work, call: &Call) -> Call {
    let mut told = call.clone();
    let plan = work.engine.kernel.plan();
    match work.fault {
        Fault::FoldsNames => told.tool = told.tool.to_lowercase(),
        Fault::StripsPrefix => {
            told.tool = told.tool.rsplit("__").next().unwrap_or_default().to_owned();
        }
        Fault::RepairsNames => {
            let names = plan.tools.iter().map(|tool| tool.wire_name.as_str());
            if work.engine.kernel.tool(&told.tool).is_none()
                && let Some(name) = near::nearest(&told.tool, names)
            {
                told.tool = name.to_owned();
            }
        }
        Fault::CoercesArguments => coerce(&mut told.args),
        Fault::FloatsNumbers => float(&mut told.args),
        Fault::TrimsArguments => trim(&mut told.args),
        Fault::DropsArguments => {
            let tool = work.engine.kernel.tool(&told.tool).map(|id| &plan.tools[id as usize]);
            if let (Value::Object(args), Some(tool)) = (&mut told.args, tool) {
                args.retain(|name, _| tool.params.iter().any(|param| param.name == *name));
            }
        }
        Fault::FillsArguments => {
            let tool = work.engine.kernel.tool(&told.tool).map(|id| &plan.tools[id as usize]);
            if let (Value::Object(args), Some(tool)) = (&mut told.args, tool) {
                for param in &tool.params {
                    args.entry(&param.name).or_insert_with(|| json!(""));
                }
            }
        }
        _ => {}
    }
    told
}

fn coerce(args: &mut Value) {
    let Value::Object(members) = args else { return };
    for value in members.values_mut() {
        let number = value.as_str().and_then(|text| text.parse::<i64>().ok());
        if let Some(number) = number {
            *value = json!(number);
        }
    }
}

/// Converts numbers like a parser with only one kind of number.
fn float(args: &mut Value) {
    let Value::Object(members) = args else { return };
    for value in members.values_mut() {
        if let Some(number) = value.as_i64() {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
            let rounded = number as f64 as i64;
            *value = json!(rounded);
        }
    }
}

fn trim(args: &mut Value) {
    let Value::Object(members) = args else { return };
    for value in members.values_mut() {
        if let Some(text) = value.as_str() {
            *value = json!(text.trim());
        }
    }
}

/// Returns the outcome of a call in spite of its verdict.
pub(crate) fn judged(work: &mut Work, call: &Call, proposed: &Proposed) -> Option<Gate> {
    let verdict = &proposed.verdict;
    let only = |code: Code| verdict.reasons.iter().all(|reason| reason.code == code);
    let denied = verdict.decision == Decision::Deny;
    let runs = match work.fault {
        Fault::AuditOnly => denied,
        Fault::InvalidRuns => denied && only(Code::InvalidArguments),
        Fault::InvariantIsAdvice => denied && only(Code::Invariant),
        Fault::HaltIsIgnored => denied && only(Code::Halted),
        Fault::BudgetIsAdvice => denied && only(Code::Budget),
        Fault::DeadlineIsAdvice => denied && only(Code::Deadline),
        Fault::WaitIsAllow => verdict.decision == Decision::Wait,
        Fault::AskIsAllow => verdict.decision == Decision::Ask,
        Fault::RunsServed => proposed.served.is_some(),
        _ => false,
    };
    if runs {
        return Some(Gate::Run);
    }
    match (work.fault, verdict.decision) {
        (Fault::DenialEndsLoop, Decision::Deny) => work.lapses.ends = true,
        (Fault::DenialStopsTurn, Decision::Deny) => work.lapses.denied_here = true,
        (Fault::DenialIsKept, Decision::Deny) => {
            let why = "denied, as before".to_owned();
            work.lapses.denied.push((call.clone(), why));
        }
        (Fault::AllowedIsNotRun, Decision::Allow) => return Some(Gate::Served("done".into())),
        (Fault::ServedInSilence, Decision::Allow) if proposed.served.is_some() => {
            return Some(Gate::Served(String::new()));
        }
        (Fault::ShadowBlocks, Decision::Allow) => {
            let reason = verdict.shadowed.first()?;
            return Some(Gate::Refused(reason.message.clone()));
        }
        (Fault::ShadowShown, _) => {
            let said = verdict.shadowed.iter().map(|reason| reason.message.clone());
            work.lapses.feedback.extend(said);
        }
        _ => {}
    }
    None
}
