//! The report as one JSON object, for tools.

use super::VerifyParts;
use super::text::basis;
use crate::report::FindingReport;
use guard_compiler::explore::{Exploration, ExploredSession};
use guard_compiler::property::{PropertyClaim, PropertyOutcome};
use guard_compiler::verify::{Basis, ObligationStatus, Residue, UnprovedReason};
use serde_json::{Value, json};

/// Formats `{guard, pairs, invariants, types, observations, bounds, properties, impossible,
/// explored, diagnostics, summary}`, pretty-printed.
pub fn report(verified: &VerifyParts<'_>, report: &FindingReport) -> String {
    let plan = &verified.output.plan;
    let verification = &verified.output.verification;
    let tool = |id: u32| plan.tools[id as usize].name.as_str();
    let invariant = |id: u32| plan.invariants[id as usize].rule.owner.as_str();
    let with = |tool: &str, key: &str, name: &str, status: &ObligationStatus| {
        let mut value = self::status(status);
        value["tool"] = tool.into();
        value[key] = name.into();
        value
    };
    let pairs = verification.pairs.iter();
    let refinements = verification.refinements.iter();
    let observations = verification.observations.iter();
    let mut object = report.to_json();
    object["guard"] = plan.guard.as_str().into();
    object["pairs"] = json!({
        "tools": verification.size.0,
        "invariants": verification.size.1,
        "untouched": verification.size.0 * verification.size.1 - verification.pairs.len(),
    });
    object["invariants"] = pairs
        .map(|pair| with(tool(pair.tool), "invariant", invariant(pair.invariant), &pair.status))
        .collect();
    object["types"] = refinements
        .map(|refinement| {
            with(
                tool(refinement.tool),
                "variable",
                &plan.state[refinement.var as usize].name,
                &refinement.status,
            )
        })
        .collect();
    object["observations"] = observations
        .map(|observation| {
            with(
                tool(observation.tool),
                "invariant",
                invariant(observation.invariant),
                &observation.status,
            )
        })
        .collect();
    let bounds = verification.bounds.iter().map(|bound| guard_plan::words::bound(plan, bound));
    object["bounds"] = bounds.collect();
    object["properties"] = properties(verified);
    object["impossible"] = verification
        .impossible
        .iter()
        .map(|impossible| json!({ "tool": tool(impossible.tool), "by": bases(&impossible.basis) }))
        .collect();
    object["solver"] = verified
        .solved
        .iter()
        .map(|(goal, said)| {
            let (answer, model) = said.words();
            json!({ "tool": tool(goal.tool), "text": goal.text, "answer": answer, "model": model })
        })
        .collect();
    object["explored"] =
        verified.explored.as_ref().map_or(Value::Null, |summary| explored(verified, summary));
    format!("{object:#}\n")
}

fn properties(verified: &VerifyParts<'_>) -> Value {
    let Some(properties) = &verified.output.properties else { return json!([]) };
    let claimed = &properties.claimed;
    let claim = |claim: &PropertyClaim| {
        json!({
            "tool": claimed.tools[claim.tool].name,
            "text": claim.text,
            "by": claim.proof.as_deref().map(bases),
        })
    };
    let outcomes = claimed.properties.iter().zip(&verified.properties).enumerate();
    outcomes
        .map(|(id, (property, outcome))| {
            let own = properties.claims.iter().filter(|claim| claim.property == id);
            let mut value = json!({
                "property": property.name,
                "status": match outcome {
                    PropertyOutcome::Proved => "proved",
                    PropertyOutcome::Refuted(_) => "broken",
                    PropertyOutcome::NotDecided { .. } => "not decided",
                },
                "claims": own.map(claim).collect::<Vec<_>>(),
            });
            match outcome {
                PropertyOutcome::Proved => {}
                PropertyOutcome::Refuted(witness) => value["session"] = played(&witness.session),
                PropertyOutcome::NotDecided { states, calls } => {
                    value["tried"] = json!({ "states": states, "calls": calls });
                }
            }
            value
        })
        .collect()
}

fn status(status: &ObligationStatus) -> Value {
    match status {
        ObligationStatus::Proved(by) => json!({ "status": "proved", "by": bases(by) }),
        ObligationStatus::Simplified(by, left) => {
            json!({ "status": "simplified", "by": bases(by), "left": residues(left) })
        }
        ObligationStatus::Checked(left) => json!({ "status": "checked", "left": residues(left) }),
        ObligationStatus::Vacuous => json!({ "status": "vacuous" }),
    }
}

fn bases(by: &[Basis]) -> Value {
    by.iter().map(basis).collect()
}

fn residues(left: &[Residue]) -> Value {
    let why = |why| match why {
        UnprovedReason::Open => "open",
        UnprovedReason::Exhausted => "exhausted",
        UnprovedReason::Inexpressible => "inexpressible",
        UnprovedReason::Monitored => "monitored",
    };
    let residue_json = |residue: &Residue| json!({ "text": residue.text, "needs": residue.needs, "why": why(residue.why) });
    left.iter().map(residue_json).collect()
}

fn played(session: &ExploredSession) -> Value {
    serde_json::from_str(&session.to_json().to_string()).unwrap_or(Value::Null)
}

fn explored(verified: &VerifyParts<'_>, explored: &Exploration) -> Value {
    let program = &verified.output.program;
    let session = |session: &Option<ExploredSession>| session.as_ref().map_or(Value::Null, played);
    let named = |name: &str, found: &Option<ExploredSession>| json!({ "name": name, "session": session(found) });
    let tools = program.tools.iter().zip(&explored.tools);
    let goals = program.goals.iter().zip(&explored.goals);
    json!({
        "exhausted": explored.exhausted,
        "interrupted": verified.interrupted,
        "depth": explored.depth,
        "states": explored.states,
        "judged": explored.judged,
        "tools": tools.map(|(tool, found)| named(&tool.name, found)).collect::<Vec<_>>(),
        "goals": goals.map(|(goal, found)| named(&goal.name, found)).collect::<Vec<_>>(),
        "rules": explored.rules.iter().map(|(rule, found)| json!({
            "kind": format!("{:?}", rule.kind).to_lowercase(),
            "owner": rule.owner,
            "text": rule.text,
            "session": session(found),
        })).collect::<Vec<_>>(),
        "effects": explored.effects.iter().map(|(check, found)| json!({
            "tool": check.tool,
            "owner": check.owner,
            "session": session(found),
        })).collect::<Vec<_>>(),
        "completion": session(&explored.completion),
        "deadlock": session(&explored.deadlock),
    })
}
