//! The report for people: a matrix of tools and invariants, the bases of each proof, and the
//! possible outcomes as short stories.

use super::VerifyParts;
use super::solver::SolverResult;
use crate::term::{Style, count};
use guard_compiler::explore::{
    EffectCheck, Exploration, ExploredSession, Rule, RuleKind, SessionStep,
};
use guard_compiler::hir::PropertyMode;
use guard_compiler::property::{PropertyClaim, PropertyOutcome};
use guard_compiler::verify::{
    Basis, ObligationStatus, Pair, Residue, UnprovedReason, Verification,
};
use guard_plan::plan::{Claim, InvariantId, Plan, ToolId};
use guard_plan::verdict::Decision;
use guard_plan::words;
use guard_plan::words::rules::code;
use guard_syntax::diagnostic::Diagnostic;
use std::fmt::Write as _;

/// The maximum number of invariants side by side in one matrix.
const COLUMNS: usize = 8;
/// The maximum number of tools in a matrix; all are in the list.
const ROWS: usize = 40;

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
    fn invariants(&self, out: &mut String) {
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

    fn invariant_name(&self, id: InvariantId) -> &str {
        &self.plan.invariants[id as usize].rule.owner
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

    /// Returns true if a rule is an invariant that needs no check, so that it is expected never to
    /// refuse a call.
    fn is_proved(&self, rule: &Rule) -> bool {
        let is_own = |pair: &&Pair| self.invariant_name(pair.invariant) == rule.owner;
        rule.kind == RuleKind::Invariant
            && self.verification.pairs.iter().filter(is_own).all(|pair| pair.status.is_proved())
    }

    fn happens(&self, out: &mut String) {
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
        let quiet = explored
            .rules
            .iter()
            .filter(|(rule, session)| session.is_none() && !self.is_proved(rule))
            .map(|(rule, _)| (rule.kind, format!("{} {}", rule.owner, code(&rule.text))));
        // Failed calls also use budgets and limits, and not all of them were tried.
        let used_up = |kind: RuleKind| matches!(kind, RuleKind::Budget | RuleKind::Limit);
        let (unseen, quiet): (Vec<_>, Vec<_>) =
            quiet.partition(|(kind, _)| explored.exhausted && used_up(*kind));
        let words = |rules: Vec<(RuleKind, String)>| -> Vec<String> {
            rules.into_iter().map(|(_, words)| words).collect()
        };
        let unseen = words(unseen);
        let quiet = words(quiet);
        let all = explored.rules.iter().filter(|(rule, _)| !self.is_proved(rule)).count();
        let fire = all - quiet.len() - unseen.len();
        let fires = if explored.exhausted || fire == all { "can fire" } else { "fired" };
        let _ = writeln!(out, "  {fire} of {} {fires}", count(all, "rule"));
        if !unseen.is_empty() {
            let _ = writeln!(out, "  not seen where calls succeed: {}", listed(&unseen));
        }
        if !quiet.is_empty() {
            let _ = writeln!(out, "  {}: {}", explored.absence(), listed(&quiet));
        }
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
        let open = !quiet.is_empty() || !never.is_empty() || is_missing(&explored.goals);
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

fn tool(plan: &Plan, id: ToolId) -> &str {
    &plan.tools[id as usize].name
}

fn some(number: usize, word: &str) -> String {
    if number == 0 { String::new() } else { format!(", {number} {word}") }
}

fn texts(left: &[Residue]) -> String {
    left.iter().map(|residue| code(&residue.text)).collect::<Vec<_>>().join(" and ")
}

fn reasons(left: &[Residue]) -> String {
    let mut out = String::new();
    for residue in left {
        let why = match residue.why {
            UnprovedReason::Open => "",
            UnprovedReason::Exhausted => ", too hard to prove",
            UnprovedReason::Inexpressible => ", not a thing the prover can say",
            UnprovedReason::Monitored => ", though it would hold",
        };
        out.push_str(why);
        if let Some(needs) = &residue.needs {
            let _ = write!(out, "; {} would prove it", code(&format!("deny unless {needs}")));
        }
    }
    out
}

/// Describes the bases of a proof.
pub fn bases(by: &[Basis]) -> String {
    let words: Vec<String> = by.iter().map(basis).collect();
    match words.split_last() {
        None => "what it writes".into(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} and {end}", rest.join(", ")),
    }
}

/// Describes one basis of a proof.
pub fn basis(basis: &Basis) -> String {
    match basis {
        Basis::Deny(text) => code(&format!("deny {text}")),
        Basis::Invariant(name) => format!("the invariant {}", code(name)),
        Basis::Costs => "what it costs".into(),
        Basis::NoFault => "no overflow".into(),
        Basis::Refinement(name) => format!("the type of {}", code(name)),
        Basis::Rule(text) => code(text),
        Basis::Limits => "its limits".into(),
        Basis::Bound(text) => format!("the bound {}", code(text)),
        Basis::Writers(name) => format!("the tools that write {}", code(name)),
        Basis::Induction => "what every call keeps".into(),
    }
}

/// Returns the heading of a session in which a check refuses a call.
fn firing(session: &ExploredSession) -> &'static str {
    let refusing = |step: &SessionStep| step.said.reasons.len();
    match session.steps.last().map_or(0, refusing) {
        0 | 1 => "it can fire",
        _ => "it was seen to fire only where something else refuses the call too",
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
