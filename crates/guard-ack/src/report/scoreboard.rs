//! The scoreboard: a comparison of adapters, tier by tier. It does not depend on the time and place
//! of the runs.

use super::markdown::{code, plain};
use super::tiers;
use crate::run::AckReport;
use std::fmt::Write as _;

/// Returns a table of adapters and tiers, with the capabilities that each lacks. The command starts
/// the adapter.
pub fn scoreboard(reports: &[(&AckReport, &str)]) -> String {
    let mut out = String::from("# Scoreboard\n\n");
    let Some((first, _)) = reports.first() else { return out };
    let _ = writeln!(
        out,
        "Cases passed, of all cases of a tier; what is missing was skipped, since the adapter does not declare it. A failure would be marked.\n\
         Suite {}, seed {}.\n",
        code(&first.suite),
        first.seed
    );
    let names: Vec<String> =
        tiers(first).iter().map(|tier| format!("{} {}", tier.number, tier.name)).collect();
    let _ = writeln!(out, "| adapter | {} | does not declare |", names.join(" | "));
    let _ = writeln!(out, "| --- |{} --- |", " ---: |".repeat(names.len()));
    for (report, command) in reports {
        let cells: Vec<String> = tiers(report)
            .iter()
            .map(|tier| {
                let broken = tier.failed + tier.errored;
                let mark =
                    if broken > 0 { format!(" (**{broken} not kept**)") } else { String::new() };
                format!("{} of {}{mark}", tier.passed, tier.total)
            })
            .collect();
        let lacks = crate::clause::capabilities().iter().map(|capability| capability.name);
        let lacks: Vec<String> = lacks
            .filter(|name| !report.adapter.has(name))
            .map(|name| format!("`{name}`"))
            .collect();
        let _ = writeln!(
            out,
            "| {}: {} | {} | {} |",
            plain(&report.adapter.name),
            // A table ends its cells even within code.
            code(command).replace('|', "\\|"),
            cells.join(" | "),
            lacks.join(" ")
        );
    }
    out
}
