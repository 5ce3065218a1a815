//! The report as a person reads it.

use crate::term::Style;
use guard_compiler::verify::{Basis, Residue, Status, Verification, Why};
use guard_plan::plan::Plan;
use guard_plan::words::rules::code;

/// The whole report.
pub fn report(plan: &Plan, verification: &Verification, style: Style) -> String {
    let mut out = format!("{} {}\n", style.bold("guard"), style.bold(&plan.guard));
    for pair in &verification.pairs {
        let tool = &plan.tools[pair.tool as usize].name;
        let invariant = &plan.invariants[pair.invariant as usize].rule.owner;
        out.push_str(&line(&format!("{tool} × {invariant}"), &pair.status, style));
    }
    for one in &verification.refinements {
        let tool = &plan.tools[one.tool as usize].name;
        let var = &plan.state[one.var as usize].name;
        out.push_str(&line(&format!("{tool} × type of {var}"), &one.status, style));
    }
    for one in &verification.observations {
        let tool = &plan.tools[one.tool as usize].name;
        let invariant = &plan.invariants[one.invariant as usize].rule.owner;
        out.push_str(&line(&format!("{tool} observes × {invariant}"), &one.status, style));
    }
    for one in &verification.impossible {
        let tool = &plan.tools[one.tool as usize].name;
        out.push_str(&format!("  {tool}: can never be called: {}\n", bases(&one.basis)));
    }
    out
}

fn line(what: &str, status: &Status, style: Style) -> String {
    let (word, more) = match status {
        Status::Proved(by) => (style.green("proved"), bases(by)),
        Status::Simplified(by, left) => {
            (style.cyan("checked"), format!("{} is left; the rest {}", texts(left), bases(by)))
        }
        Status::Checked(left) => (style.yellow("checked"), texts(left)),
        Status::Vacuous => (style.yellow("vacuous"), String::new()),
    };
    format!("  {what:40} {word} {more}\n")
}

fn texts(left: &[Residue]) -> String {
    let texts = left.iter().map(|one| {
        let why = match one.why {
            Why::Open => "",
            Why::Exhausted => " (too hard)",
            Why::Inexpressible => " (not expressible)",
            Why::Monitored => " (monitored)",
        };
        let needs = one.needs.as_ref().map(|needs| format!(", would need {}", code(needs)));
        format!("{}{why}{}", code(&one.text), needs.unwrap_or_default())
    });
    texts.collect::<Vec<_>>().join("; ")
}

fn bases(by: &[Basis]) -> String {
    let words = by.iter().map(|basis| match basis {
        Basis::Deny(text) => format!("deny {text}"),
        Basis::Invariant(name) => format!("invariant {name}"),
        Basis::Costs => "its costs".into(),
        Basis::NoFault => "no overflow".into(),
        Basis::Refinement(name) => format!("the type of {name}"),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!("by {}", words.join(", ")) }
}
