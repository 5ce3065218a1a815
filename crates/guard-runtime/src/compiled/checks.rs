//! The checks of completion and attestations, their expressions prepared (semantics §12).

use super::expr::CompiledExpr;
use guard_plan::plan::{self, CheckKind, Plan};

/// The checks of a plan, their expressions prepared.
#[derive(Debug)]
pub(crate) struct PreparedChecks {
    pub completion: CheckTree,
    pub attests: Box<[Box<[CheckTree]>]>,
}

/// By check.
pub(crate) type CheckTree = Box<[Option<CompiledExpr>]>;

fn tree(checks: &plan::Checks) -> CheckTree {
    let prepared = checks.0.iter().map(|check| match &check.kind {
        CheckKind::Condition(expr) | CheckKind::Score(expr) => Some(CompiledExpr::new(expr)),
        _ => None,
    });
    prepared.collect()
}

impl PreparedChecks {
    pub fn new(plan: &Plan) -> PreparedChecks {
        let attests = plan.attests.iter().map(|attest| {
            attest.dimensions.iter().map(|dimension| tree(&dimension.checks)).collect()
        });
        PreparedChecks {
            completion: plan
                .completion
                .as_ref()
                .map_or_else(CheckTree::default, |c| tree(&c.checks)),
            attests: attests.collect(),
        }
    }
}
