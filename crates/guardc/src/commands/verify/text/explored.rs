//! The part of the report about exploration: what was seen to happen, and what was not.

use super::TextPage;
use crate::term::count;
use guard_compiler::explore::{Exploration, Rule, RuleKind};
use guard_compiler::verify::Pair;
use guard_plan::words::rules::code;
use std::collections::BTreeMap;
use std::fmt::Write as _;

impl TextPage<'_> {
    /// Returns true if a rule is an invariant that needs no check, so that it is expected never to
    /// refuse a call.
    fn is_proved(&self, rule: &Rule) -> bool {
        let is_own = |pair: &&Pair| self.invariant_name(pair.invariant) == rule.owner;
        rule.kind == RuleKind::Invariant
            && self.verification.pairs.iter().filter(is_own).all(|pair| pair.status.is_proved())
    }

    /// Writes which rules fired. Returns true if all of them did.
    fn rules(&self, explored: &Exploration, out: &mut String) -> bool {
        let asked = explored.rules.iter().filter(|(rule, _)| !self.is_proved(rule));
        let (fired, silent): (Vec<_>, Vec<_>) = asked.partition(|(_, session)| session.is_some());
        let (fired, all) = (fired.len(), fired.len() + silent.len());
        let fires = if explored.exhausted || fired == all { "can fire" } else { "fired" };
        let _ = writeln!(out, "  {fired} of {} {fires}", count(all, "rule"));
        let absence = |kind| match kind {
            // Failed calls also use budgets and limits, and not all of them were tried.
            RuleKind::Budget | RuleKind::Limit if explored.exhausted => {
                "not seen where calls succeed".to_owned()
            }
            // States are not told apart by what feedback asks, so its sessions were not all tried.
            RuleKind::Feedback if explored.exhausted => {
                "not seen, and not searched for in full".to_owned()
            }
            _ => explored.absence(),
        };
        let mut absent: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (rule, _) in silent {
            let words = format!("{} {}", rule.owner, code(&rule.text));
            absent.entry(absence(rule.kind)).or_default().push(words);
        }
        for (said, rules) in absent {
            let _ = writeln!(out, "  {said}: {}", listed(&rules));
        }
        fired == all
    }

    pub(super) fn happens(&self, out: &mut String) {
        let Some(explored) = &self.verified.explored else { return };
        let program = &self.verified.output.program;
        let how = match (explored.exhausted, self.verified.interrupted) {
            (true, _) => "everything".to_owned(),
            (false, true) => format!("interrupted at depth {}", explored.depth),
            (false, false) => format!("up to depth {}", explored.depth),
        };
        let _ = writeln!(
            out,
            "\n{}: {how}, {}, {}",
            self.style.bold("explored"),
            count(explored.states, "state"),
            count(explored.judged, "call"),
        );
        let never: Vec<String> =
            program
                .tools
                .iter()
                .zip(&explored.tools)
                .filter(|(_, session)| session.is_none())
                .filter(|(tool, _)| {
                    !self.verification.impossible.iter().any(|impossible| {
                        self.plan.tools[impossible.tool as usize].name == tool.name
                    })
                })
                .map(|(tool, _)| code(&tool.name))
                .collect();
        let tools = program.tools.len() - self.verification.impossible.len();
        let _ = match never.len() {
            0 => writeln!(out, "  {} can be called", count(tools, "tool")),
            n => writeln!(
                out,
                "  {} of {tools} tools {} called; {}: {}",
                tools - n,
                if explored.exhausted { "can be" } else { "were" },
                explored.absence(),
                listed(&never)
            ),
        };
        let all_fired = self.rules(explored, out);
        for (goal, session) in program.goals.iter().zip(&explored.goals) {
            let _ = match session {
                Some(session) => {
                    writeln!(out, "  goal {} in {}", code(&goal.name), count(session.len(), "step"))
                }
                None => writeln!(out, "  goal {}: {}", code(&goal.name), explored.absence()),
            };
        }
        if program.completion.is_some() {
            let _ = match &explored.completion {
                Some(session) => writeln!(out, "  completion in {}", count(session.len(), "step")),
                None => writeln!(out, "  completion: {}", explored.absence()),
            };
        }
        let is_missing = |found: &[Option<_>]| found.iter().any(Option::is_none);
        let open = !all_fired || !never.is_empty() || is_missing(&explored.goals);
        if open && !explored.exhausted {
            let hint = "`--states N` looks further, and each `test` is where a search begins";
            let _ = writeln!(out, "  {hint}");
        }
        if let Some(session) = &explored.deadlock {
            let _ = writeln!(
                out,
                "  {}, nothing can complete any more after:",
                self.style.yellow("deadlock")
            );
            self.story(session, out);
        }
    }
}

/// The maximum length of a list on one line, in characters.
const LINE: usize = 100;

/// Writes a short list on the line, and each element of a long list on a separate line.
fn listed(all: &[String]) -> String {
    let line = all.join(", ");
    if line.chars().count() <= LINE {
        return line;
    }
    all.iter().map(|part| format!("\n    {part}")).collect()
}
