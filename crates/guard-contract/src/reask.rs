//! Instructions for a retry, for a producer whose text was not valid.

use crate::schema::Lists;
use guard_plan::plan::Plan;
use guard_plan::render;
use guard_plan::report::{Problem, Quarantined, Report, SpanKind, State};

/// The maximum number of problems that are named; further ones are counted.
const NAMED: usize = 20;
/// The maximum length of a quoted unit, in characters.
const QUOTED: usize = 200;

/// Returns the instructions for the producer of a text: the problems with their positions, the
/// values that were read, and the form of the new answer. `None` if the report is `valid`.
///
/// The new answer is a whole document, so that its report is independent of the first one.
pub fn reask(plan: &Plan, contract: usize, report: &Report, known: &Lists) -> Option<String> {
    if report.state == State::Valid {
        return None;
    }
    let mut lines = vec!["Your answer cannot be used as it is.".to_owned(), String::new()];
    if report.spans.iter().all(|span| matches!(span.kind, SpanKind::Text | SpanKind::Reasoning)) {
        lines.push("- It contains no document.".to_owned());
    } else {
        faults(report, &mut lines);
    }
    let kept = report.items.iter().filter(|(_, items)| !items.is_empty());
    let kept: Vec<String> =
        kept.map(|(list, items)| format!("{} of `{list}`", items.len())).collect();
    lines.push(String::new());
    if !kept.is_empty() {
        lines.push(format!("These items hold: {}. Repeat them as they are.", kept.join(", ")));
    }
    lines.push("Send the whole document again, with these faults corrected.\n\n".to_owned());
    Some(lines.join("\n") + &crate::prompt(plan, contract, known))
}

fn faults(report: &Report, lines: &mut Vec<String>) {
    let all = report.problems.len() as u64 + report.quarantined_count;
    let problems = report.problems.iter().map(problem);
    lines.extend(problems.chain(report.quarantined.iter().map(unit)).take(NAMED));
    let named = (report.problems.len() + report.quarantined.len()).min(NAMED) as u64;
    if all > named {
        lines.push(format!("- and {} more", all - named));
    }
    if report.truncated {
        lines.push("- The text ends before the document does: it is cut.".to_owned());
    }
    if report.passed_over.iter().any(|other| other.units > 0) {
        lines.push("- It contains several documents: send one.".to_owned());
    }
    lines.extend(
        report.unchecked.iter().map(|text| format!("- `{text}`: it could not be checked.")),
    );
}

fn problem(problem: &Problem) -> String {
    let member = match problem.member.as_str() {
        "" => "The document".to_owned(),
        member => format!("`{member}`"),
    };
    format!("- {member}: {}", problem.error)
}

fn unit(unit: &Quarantined) -> String {
    let within = unit.within.map_or(String::new(), |at| format!(" of item {}", at + 1));
    let line = unit.place.map_or(String::new(), |place| format!(", line {}", place.line));
    let raw = if unit.raw.is_empty() {
        String::new()
    } else {
        format!("\n  {}", render::cut(&unit.raw, QUOTED))
    };
    format!("- `{}`, item {}{within}{line}: {}{raw}", unit.list, unit.index + 1, unit.error)
}
