//! Lifecycles: the tools that create and move items, and the actions that only the harness can
//! take.

use super::tools::{common, own, parameter};
use super::{MarkdownPage, listed, paragraph};
use guard_plan::plan::{Actor, CriterionKind, Lifecycle, Plan, ServedOp, Tool};
use guard_plan::words::rules::code;
use guard_plan::words::session;

/// Describes every lifecycle with its tools.
pub(super) fn items(plan: &Plan, page: &mut MarkdownPage) {
    if plan.lifecycles.is_empty() {
        return;
    }
    page.block("## Items");
    page.block(
        "Items are kept by the guard itself. Their ids stay, nothing is deleted or replaced, no state is skipped, and \
         every change is on the record.",
    );
    for (id, items) in (0..).zip(&plan.lifecycles) {
        lifecycle(plan, id, items, page);
    }
    let mut transitions = plan.lifecycles.iter().flat_map(|items| &items.transitions);
    if transitions.any(|t| t.evidence && t.actor == Actor::Agent) {
        page.lead("A `lifecycle evidence` has exactly one of:");
        page.item("`call`: the id of a call of this session that succeeded");
        page.item("`file`: a file that exists; with `sha256`: that has this hash");
    }
}

fn lifecycle(plan: &Plan, id: u32, items: &Lifecycle, page: &mut MarkdownPage) {
    page.block(format!("### `{}`", items.name));
    let doc = paragraph(&items.doc);
    if !doc.is_empty() {
        page.block(doc);
    }
    let serves = |tool: &&Tool| tool.served.as_ref().is_some_and(|s| s.lifecycle == id);
    for tool in plan.tools.iter().filter(serves) {
        served(plan, items, tool, page);
    }
    let harness: Vec<String> = items
        .transitions
        .iter()
        .filter(|t| t.actor == Actor::Harness)
        .map(|t| session::step(items, t))
        .collect();
    if !harness.is_empty() {
        page.item(format!("not yours, but the harness's: {}", harness.join("; ")));
    }
    if let Some(escalate) = &items.escalate {
        page.item(format!(
            "after {} rejections of an item, each further step of it needs the approval of {}",
            escalate.after, escalate.role
        ));
    }
    if !items.criteria.is_empty() {
        criteria(plan, items, page);
    }
}

fn served(plan: &Plan, items: &Lifecycle, tool: &Tool, page: &mut MarkdownPage) {
    let does = match tool.served.as_ref().map(|served| served.op) {
        Some(ServedOp::Create) => {
            format!(
                "makes an item, which begins as `{}`",
                session::state_name(items, items.initial)
            )
        }
        Some(ServedOp::List) => "lists items, at most 100 at once".into(),
        Some(ServedOp::Move(at)) => {
            let transition = items.transitions.get(at as usize);
            transition.map(|t| session::step(items, t)).unwrap_or_default()
        }
        None => return,
    };
    page.item(format!("`{}`: {does}", tool.wire_name));
    for field in &tool.params {
        page.deeper(1, parameter(plan, field));
    }
    for rule in own(plan, tool, &common(plan)) {
        page.deeper(1, rule);
    }
}

fn criteria(plan: &Plan, items: &Lifecycle, page: &mut MarkdownPage) {
    page.lead("A `lifecycle criterion` is checked by the harness, and has exactly one of:");
    for kind in &items.criteria {
        page.item(match kind {
            CriterionKind::File => "`file`: a file that exists".into(),
            CriterionKind::FileContains => {
                "`file` and `contains`: a file that contains this text".into()
            }
            CriterionKind::Command => {
                let commands = plan.commands.iter().map(|c| code(&format!("{:?}", c.argv)));
                let commands: Vec<String> = commands.collect();
                format!("`command`, word for word: {}; it exits with 0", listed(&commands, "or"))
            }
            CriterionKind::GitCommit => "`git_commit: true`: nothing is uncommitted".into(),
            CriterionKind::Probe => {
                let probes: Vec<String> = plan.probes.iter().map(|p| code(&p.name)).collect();
                format!("`probe`: {}; it answers true", listed(&probes, "or"))
            }
        });
    }
}
