//! The part of the report about invariants: the matrix, and for each invariant what proves or checks
//! it on each tool.

use super::proof_words::{bases, reasons, texts};
use super::{TextPage, firing, tool};
use crate::commands::verify::solver::SolverResult;
use crate::term::count;
use guard_compiler::explore::{Exploration, RuleKind};
use guard_compiler::verify::{ObligationStatus, Pair};
use guard_plan::plan::{Claim, InvariantId, ToolId};
use guard_plan::words::rules::code;
use std::fmt::Write as _;

/// The maximum number of invariants side by side in one matrix.
const COLUMNS: usize = 8;

/// The maximum number of tools in a matrix; all are in the list.
const ROWS: usize = 40;

impl TextPage<'_> {
    pub(super) fn invariants(&self, out: &mut String) {
        let (tools, invariants) = self.verification.size;
        if invariants == 0 || self.plan.shadow {
            return;
        }
        let pairs = &self.verification.pairs;
        let count_of = |wanted: fn(&ObligationStatus) -> bool| {
            pairs.iter().filter(|pair| wanted(&pair.status)).count()
        };
        let proved = count_of(ObligationStatus::is_proved);
        let simplified = count_of(|status| matches!(status, ObligationStatus::Simplified(..)));
        let vacuous = count_of(|status| matches!(status, ObligationStatus::Vacuous));
        let checked = pairs.len() - proved - simplified - vacuous;
        let untouched = tools * invariants - pairs.len();
        let _ = writeln!(
            out,
            "\n{}: {} × {} = {}; {untouched} untouched, {proved} proved{}{}, {checked} checked",
            self.style.bold("invariants"),
            count(tools, "tool"),
            count(invariants, "invariant"),
            count(tools * invariants, "pair"),
            some(simplified, "simplified"),
            some(vacuous, "vacuous"),
        );
        self.matrix(out);
        for id in 0..self.plan.invariants.len() as InvariantId {
            self.invariant(id, out);
        }
    }

    /// Draws the matrix: `p` proved, `s` simplified, `c` checked, `·` untouched.
    fn matrix(&self, out: &mut String) {
        let touched: Vec<ToolId> = (0..self.plan.tools.len() as ToolId)
            .filter(|id| self.verification.pairs.iter().any(|pair| pair.tool == *id))
            .collect();
        let invariants: Vec<InvariantId> = (0..self.plan.invariants.len() as InvariantId).collect();
        if touched.is_empty() || touched.len() > ROWS {
            return;
        }
        let width =
            touched.iter().map(|id| tool(self.plan, *id).chars().count()).max().unwrap_or(0);
        for columns in invariants.chunks(COLUMNS) {
            let widths: Vec<usize> = columns
                .iter()
                .map(|id| self.invariant_name(*id).chars().count().max("checked".len()))
                .collect();
            let names = columns
                .iter()
                .zip(&widths)
                .map(|(id, width)| format!("{:width$}", self.invariant_name(*id)));
            let names = names.collect::<Vec<_>>().join("  ");
            let _ = writeln!(out, "\n  {:width$}  {}", "", self.style.dim(names.trim_end()));
            for id in &touched {
                let cells = columns.iter().zip(&widths).map(|(invariant, width)| {
                    let (word, painted) = self.cell(self.pair(*id, *invariant));
                    format!("{painted}{:pad$}", "", pad = width - word)
                });
                let row = cells.collect::<Vec<_>>().join("  ");
                let _ = writeln!(out, "  {:width$}  {}", tool(self.plan, *id), row.trim_end());
            }
        }
    }

    fn cell(&self, pair: Option<&Pair>) -> (usize, String) {
        let word = match pair.map(|pair| &pair.status) {
            None => "·",
            Some(ObligationStatus::Proved(_)) => "proved",
            Some(ObligationStatus::Simplified(..)) => "part",
            Some(ObligationStatus::Checked(_)) => "checked",
            Some(ObligationStatus::Vacuous) => "vacuous",
        };
        let painted = match word {
            "·" => self.style.dim(word),
            "proved" => self.style.green(word),
            _ => self.style.yellow(word),
        };
        (word.chars().count(), painted)
    }

    fn pair(&self, tool: ToolId, invariant: InvariantId) -> Option<&Pair> {
        self.verification.pairs.iter().find(|pair| pair.tool == tool && pair.invariant == invariant)
    }

    fn invariant(&self, id: InvariantId, out: &mut String) {
        let declared = &self.plan.invariants[id as usize];
        let pairs = || self.verification.pairs.iter().filter(|pair| pair.invariant == id);
        let observed = || {
            self.verification.observations.iter().filter(|observation| observation.invariant == id)
        };
        if pairs().next().is_none() && observed().next().is_none() {
            return;
        }
        let mode = match (declared.monitor, declared.rule.shadow) {
            (true, _) => ", reported only",
            (_, true) => ", in shadow",
            _ => "",
        };
        let text = code(&declared.text);
        let _ = writeln!(out, "\n  {} {text}{mode}", self.style.bold(&declared.rule.owner));
        for pair in pairs() {
            self.status(tool(self.plan, pair.tool), &pair.status, out);
            self.solved(pair, out);
        }
        for observation in observed() {
            let what = format!("{}, observing", tool(self.plan, observation.tool));
            self.status(&what, &observation.status, out);
        }
        let checked = pairs().any(|pair| !pair.status.is_proved());
        if checked && let Some(explored) = &self.verified.explored {
            self.fires(explored, &declared.rule.owner, out);
        }
    }

    fn status(&self, what: &str, status: &ObligationStatus, out: &mut String) {
        let style = self.style;
        let _ = match status {
            ObligationStatus::Proved(by) if by.is_empty() => {
                writeln!(out, "    {what}: {} by what it writes", style.green("proved"))
            }
            ObligationStatus::Proved(by) => {
                writeln!(out, "    {what}: {} by {}", style.green("proved"), bases(by))
            }
            ObligationStatus::Simplified(by, left) => writeln!(
                out,
                "    {what}: {}, simplified to {} (the rest by {})",
                style.yellow("checked"),
                texts(left),
                bases(by),
            ),
            ObligationStatus::Checked(left) => {
                writeln!(out, "    {what}: {}{}", style.yellow("checked"), reasons(left))
            }
            ObligationStatus::Vacuous => {
                writeln!(out, "    {what}: {}, it can never be called", style.yellow("vacuous"))
            }
        };
    }

    /// Describes the solver's answers to open goals.
    fn solved(&self, pair: &Pair, out: &mut String) {
        for (goal, said) in &self.verified.solved {
            let is_about = matches!(goal.claim, Claim::Preserved { tool, invariant, .. }
                if tool == pair.tool && invariant == pair.invariant);
            if !is_about {
                continue;
            }
            let text = code(&goal.text);
            let _ = match said {
                SolverResult::Certified => {
                    writeln!(
                        out,
                        "      the solver: {text} holds; certified: `compile --solver` leaves the check out"
                    )
                }
                SolverResult::Holds => {
                    writeln!(
                        out,
                        "      the solver: {text} holds; the prover finds no certificate: the check stays"
                    )
                }
                SolverResult::Fails(Some(model)) => {
                    writeln!(
                        out,
                        "      the solver: {model}, {text} breaks; whether that state is reached is not known"
                    )
                }
                SolverResult::Fails(None) => {
                    writeln!(
                        out,
                        "      the solver: it may break, but in no state and call that replay"
                    )
                }
                SolverResult::Unknown(why) => {
                    writeln!(out, "      the solver does not know: {why}")
                }
            };
        }
    }

    /// Describes whether the check can refuse a call, with the shortest session in which it does.
    fn fires(&self, explored: &Exploration, name: &str, out: &mut String) {
        let rule = explored.rules.iter().find(|(rule, _)| {
            matches!(rule.kind, RuleKind::Invariant | RuleKind::Monitor) && rule.owner == name
        });
        match rule {
            Some((_, Some(session))) => {
                let _ = writeln!(out, "    {}:", firing(session));
                self.story(session, out);
            }
            Some((_, None)) => {
                let _ = if explored.exhausted {
                    writeln!(out, "    it never fires: everything was tried")
                } else {
                    writeln!(out, "    it was not seen to fire: {}", explored.absence())
                };
            }
            None => {}
        }
    }
}

fn some(number: usize, word: &str) -> String {
    if number == 0 { String::new() } else { format!(", {number} {word}") }
}
