//! The verdicts, and the right reaction to each.

use super::MarkdownPage;
use guard_plan::plan::{Plan, Tool};
use guard_plan::verdict::Code;
use guard_plan::words;

/// Describes the four verdicts, and the reason codes that this guard can give.
pub(super) fn answers(plan: &Plan, page: &mut MarkdownPage) {
    page.block("## What the guard answers");
    page.item("allow: the call runs.");
    page.item("deny: it did not run. Each reason has a code, the rule that refused it, and often a way to help.");
    if can(plan, Code::Approval) || can(plan, Code::Gated) {
        page.item("ask: a person must approve exactly this call, name and arguments. Propose it again, unchanged, when that is done.");
    }
    page.item("wait: an unfinished call blocks it. Propose it again when that one has finished.");
    page.block(
        "The same call in the same state gets the same answer: do not repeat a denied one unchanged, and do not look for \
         a way around. Reasons:",
    );
    for code in Code::ALL.into_iter().filter(|code| can(plan, *code)) {
        let meaning = words::meaning(code);
        page.item(format!("`{}`: {}. {}", code.as_str(), meaning.means, meaning.remedy));
    }
}

/// Returns true if a plan can give this reason.
fn can(plan: &Plan, code: Code) -> bool {
    let any = |holds: &dyn Fn(&Tool) -> bool| plan.tools.iter().any(holds);
    // For each limit of a tool, true if it asks a role.
    let asks = |tool: &Tool| {
        let limits = tool.limits.iter().filter_map(|used| plan.limits.get(used.limit as usize));
        limits.map(|limit| limit.ask.is_some()).collect::<Vec<_>>().into_iter()
    };
    match code {
        Code::UnknownTool => !plan.default_allow,
        Code::InvalidArguments | Code::EvaluationError => true,
        Code::Requires => any(&|t| !t.requires.is_empty()),
        Code::Denied => any(&|t| t.denies.iter().any(|deny| deny.replacement.is_none())),
        Code::Transform => any(&|t| t.denies.iter().any(|deny| deny.replacement.is_some())),
        Code::Limit => any(&|t| asks(t).any(|ask| !ask)),
        Code::Budget => plan.units.iter().any(|unit| unit.budget.is_some()),
        Code::Deadline => plan.deadline.is_some(),
        Code::Invariant => any(&|t| !t.effects.is_empty()),
        Code::Approval => {
            any(&|t| !t.approvals.is_empty() || asks(t).any(|ask| ask))
                || plan.lifecycles.iter().any(|l| l.escalate.is_some())
        }
        Code::Gated => any(&Tool::may_be_gated),
        Code::NotReady => any(&|t| !t.ready.is_empty()),
        Code::Lifecycle => !plan.lifecycles.is_empty(),
        Code::UnknownReference | Code::PlanMismatch | Code::BrokenProof => false,
        Code::Conflict => {
            any(&|t| (0..).zip(&plan.tools).any(|(id, other)| t.waits_for(id, other)))
        }
        Code::Halted => {
            let observes = |t: &Tool| !t.observes.is_empty() || !t.reconciles.is_empty();
            any(&observes) || plan.facts.iter().any(|fact| fact.halts)
        }
    }
}
