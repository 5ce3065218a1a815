//! The report for people: a matrix of tools and invariants (`invariants`), types, bounds and
//! properties with the bases of each proof, and the possible outcomes (`explored`) as short stories.

mod explored;
mod invariants;
mod proof_words;

pub use proof_words::{bases, basis};

use super::VerifyParts;
use crate::term::{Style, count};
use guard_compiler::explore::{EffectCheck, ExploredSession, SessionStep};
use guard_compiler::hir::PropertyMode;
use guard_compiler::property::{PropertyClaim, PropertyOutcome};
use guard_compiler::verify::{ObligationStatus, Verification};
use guard_plan::plan::{InvariantId, Plan, ToolId};
use guard_plan::verdict::Decision;
use guard_plan::words;
use guard_plan::words::rules::code;
use guard_syntax::diagnostic::Diagnostic;
use std::fmt::Write as _;

/// Returns the whole report.
pub fn report(verified: &VerifyParts<'_>, style: Style) -> String {
    let plan = &verified.output.plan;
    let verification = &verified.output.verification;
    let mut out = format!("{} {}\n", style.bold("guard"), style.bold(&plan.guard));
    if plan.shadow {
        out.push_str("  in shadow: it allows what it would refuse, so nothing is proved\n");
    }
    for impossible in &verification.impossible {
        let name = code(tool(plan, impossible.tool));
        let _ = writeln!(
            out,
            "  {} {name} can never be called: {}",
            style.yellow("!"),
            bases(&impossible.basis)
        );
    }
    let page = TextPage { verified, plan, verification, style };
    page.invariants(&mut out);
    page.types(&mut out);
    page.bounds(&mut out);
    page.properties(&mut out);
    page.happens(&mut out);
    out
}

/// Formats the findings about the guard that only exploration can detect.
pub fn findings(found: &[Diagnostic], style: Style) -> String {
    let mut out = String::new();
    for diagnostic in found {
        let _ =
            writeln!(out, "  {} {} [{}]", style.yellow("!"), diagnostic.message, diagnostic.code);
    }
    out
}

struct TextPage<'p> {
    verified: &'p VerifyParts<'p>,
    plan: &'p Plan,
    verification: &'p Verification,
    style: Style,
}

impl TextPage<'_> {
    fn invariant_name(&self, id: InvariantId) -> &str {
        &self.plan.invariants[id as usize].rule.owner
    }

    /// Describes whether the type of a variable can refuse a call of a tool.
    fn refuses(&self, tool: &str, var: &str, out: &mut String) {
        let Some(explored) = &self.verified.explored else { return };
        let is_it = |check: &EffectCheck| check.tool == tool && check.owner == var;
        let found = explored.effects.iter().find(|(check, _)| is_it(check));
        if let Some((_, Some(session))) = found {
            let _ = writeln!(out, "    {}:", firing(session));
            self.story(session, out);
        }
    }

    fn story(&self, session: &ExploredSession, out: &mut String) {
        for line in session.story(&self.verified.output.program).lines() {
            let _ = writeln!(out, "    {line}");
        }
    }

    fn types(&self, out: &mut String) {
        let all = &self.verification.refinements;
        if all.is_empty() {
            return;
        }
        let left: Vec<_> = all.iter().filter(|claim| !claim.status.is_proved()).collect();
        let _ = writeln!(
            out,
            "\n{}: {} written; {} proved, {} checked",
            self.style.bold("types of variables"),
            count(all.len(), "variable"),
            all.len() - left.len(),
            left.len(),
        );
        for refinement in left {
            let var = &self.plan.state[refinement.var as usize].name;
            if let ObligationStatus::Checked(left) = &refinement.status {
                let needs = left.iter().find_map(|residue| residue.needs.as_deref());
                let needs = needs
                    .map_or(String::new(), |needs| format!("; {} would prove it", code(needs)));
                let name = tool(self.plan, refinement.tool);
                let _ = writeln!(out, "  {name}: {} stays in its type{needs}", code(var));
                self.refuses(name, var, out);
            }
        }
    }

    /// Lists the bounds that proofs rely on.
    fn bounds(&self, out: &mut String) {
        let bounds = &self.verification.bounds;
        if bounds.is_empty() {
            return;
        }
        let title = self.style.bold("bounds of every session, by induction");
        let _ = writeln!(out, "\n{title}:");
        for bound in bounds {
            let _ = writeln!(out, "  {}", code(&words::bound(self.plan, bound)));
        }
    }

    fn properties(&self, out: &mut String) {
        let Some(properties) = &self.verified.output.properties else { return };
        let claimed = &properties.claimed;
        let held = |outcome: &&PropertyOutcome| matches!(outcome, PropertyOutcome::Proved);
        let proved = self.verified.properties.iter().filter(held).count();
        let title = self.style.bold("properties");
        let _ = writeln!(out, "\n{title}: {proved} of {} proved", claimed.properties.len());
        for (id, (property, outcome)) in
            claimed.properties.iter().zip(&self.verified.properties).enumerate()
        {
            let verdict = match outcome {
                PropertyOutcome::Proved => self.style.green("proved"),
                PropertyOutcome::Refuted(_) => self.style.red("broken"),
                PropertyOutcome::NotDecided { .. } => self.style.yellow("not decided"),
            };
            let mode = match (property.mode, outcome) {
                (PropertyMode::Monitor, PropertyOutcome::Proved) => ", so it is not monitored",
                (PropertyMode::Monitor, _) => ", monitored",
                _ => "",
            };
            let _ = writeln!(out, "\n  {}: {verdict}{mode}", self.style.bold(&property.name));
            for claim in properties.claims.iter().filter(|claim| claim.property == id) {
                self.claim(claim, out);
            }
            match outcome {
                PropertyOutcome::Proved => {}
                PropertyOutcome::Refuted(witness) => {
                    let done = match witness.new.decision {
                        Some(Decision::Ask) => "asked about",
                        _ => "allowed",
                    };
                    let _ = writeln!(out, "    {done}, though the property refuses it:");
                    let program = &self.verified.output.program;
                    for line in witness.session.ending_otherwise(program, &witness.new).lines() {
                        let _ = writeln!(
                            out,
                            "    {}",
                            line.replace("under the new guard:", "under the guard:")
                        );
                    }
                }
                PropertyOutcome::NotDecided { states, calls } => {
                    let states = count(*states, "state");
                    let calls = count(*calls, "call");
                    let _ = writeln!(
                        out,
                        "    no session was found that breaks it: {states} and {calls} tried"
                    );
                }
            }
        }
    }

    fn claim(&self, claim: &PropertyClaim, out: &mut String) {
        let tool = &self.verified.output.program.tools[claim.tool].name;
        let text = code(&claim.text);
        let _ = match &claim.proof {
            Some(by) => writeln!(out, "    {tool}: {text} follows from {}", bases(by)),
            None => writeln!(out, "    {tool}: {text} is not proved"),
        };
    }
}

fn tool(plan: &Plan, id: ToolId) -> &str {
    &plan.tools[id as usize].name
}

/// Returns the heading of a session in which a check refuses a call.
fn firing(session: &ExploredSession) -> &'static str {
    let refusing = |step: &SessionStep| step.said.reasons.len();
    match session.steps.last().map_or(0, refusing) {
        0 | 1 => "it can fire",
        _ => "it was seen to fire only where something else refuses the call too",
    }
}
