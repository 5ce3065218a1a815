//! Faults that an outsider introduced in their own adapter, and that the kit did not detect at
//! first.

use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful};
use crate::harness::Gate;
use guard_ack::protocol::{ApprovalAnswer, Done};
use serde_json::Value;

/// The length to which a result for the guard is truncated, in characters.
const CUT: usize = 500;

pub(super) const TABLE: &[Spec] = faults! {
    "streamed-run-loses-prompts" "EFFECT-12" "does not tell the guard what happens in a streamed run" => instead::host_event(
        |harness, event| {
            if harness.run.streamed {
                Ok(())
            } else {
                Faithful.host_event(harness, event)
            }
        },
    );
    "approver-is-role" "KEEP-2" "records the role in place of the person who approved" => instead::approval(
        |harness, request| ApprovalAnswer { by: request.role.clone(), ..Faithful.approval(harness, request) },
    );
    "late-settlement-lost" "GATE-23" "forgets a settlement that the guard did not take" => instead::settle_overdue(|harness| {
        harness.engine.unsettled.clear();
        Ok(())
    });
    "late-settlement-once" "GATE-23" "forgets a settlement that the guard did not take twice" => instead::settle_overdue(|harness| {
        let settled = Faithful.settle_overdue(harness);
        harness.engine.unsettled.clear();
        settled
    });
    "guard-gets-cut-results" "EFFECT-4" "gives the guard the beginning of a long text" => instead::settlement(
        |harness, call, done| {
            let result = match &done.result {
                Value::String(text) => Value::String(text.chars().take(CUT).collect()),
                other => other.clone(),
            };
            Faithful.settlement(harness, call, &Done { result, ..done.clone() })
        },
    );
    "served-without-feedback" "STEER-1" "drops the feedback on calls that the guard serves" => instead::obey(
        |harness, call, proposed| match &proposed.served {
            Some(served) => Ok(Gate::Served(served.to_string())),
            None => Faithful.obey(harness, call, proposed),
        },
    );
};
