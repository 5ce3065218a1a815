//! The semantic difference of two guards: what one allows and the other does not.
//!
//! Of each tool, in each direction: *no*, proved by comparing everything the decision depends on; *yes*, with a session
//! that replays on both; or *unknown*, with what was tried. A session is one that both have judged alike up to its last
//! call.

mod contracts;
pub(crate) mod implied;
mod outcome;
mod product;
mod proof;
mod running;

pub use product::Witness;

use crate::analysis::explore::Act;
use crate::hir::{Program, ToolId};
use guard_syntax::span::Span;
use product::known::PairSessions;
use product::{Product, Side};
use proof::{PossibleChange, Sides};

/// Least calls that are tried for one tool, however many share them.
const LEAST: usize = 600;

/// The limits of the search for witnesses. They are counts, never times, so that results are reproducible.
#[derive(Debug, Clone)]
pub struct WitnessLimits {
    /// Most states of both guards, for one tool.
    pub states: usize,
    /// Most calls that are judged, of all tools together.
    pub calls: usize,
    /// Most calls that are judged while climbing towards one that differs, of all tools together, in one direction.
    pub climbs: usize,
    /// Sessions to begin with, each with all its beginnings: those of the guards' own tests.
    pub seeds: Vec<Vec<Act>>,
    /// The question is of a session that is under way: it may hold what no session of either guard comes to from its
    /// beginning, so nothing is left out because it cannot be reached.
    pub running: bool,
}

impl Default for WitnessLimits {
    fn default() -> Self {
        WitnessLimits {
            states: 400,
            calls: 8_000,
            climbs: 14_000,
            seeds: Vec::new(),
            running: false,
        }
    }
}

/// The answer to a question: is there a session in which the verdict changed in one direction?
#[derive(Debug, Clone)]
pub enum Answer {
    /// There is none.
    No,
    /// There is this one.
    Yes(Box<Witness>),
    /// None was found; says what may have changed, and how far was looked.
    Unknown {
        /// What differs and could not be compared.
        because: Vec<String>,
        /// How many states and calls were looked at.
        tried: (usize, usize),
    },
}

/// The presence of a tool in the old guard and in the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChange {
    /// Both guards declare it.
    Kept,
    /// Only the new one does.
    Added,
    /// Only the old one does.
    Removed,
}

/// The changes for calls of one tool.
#[derive(Debug, Clone)]
pub struct ToolDiff {
    /// The tool, by the name the harness uses.
    pub tool: String,
    /// Which guards declare it.
    pub fate: ToolChange,
    /// Whether the new guard allows what the old one refused.
    pub looser: Answer,
    /// Whether the new guard refuses what the old one allowed.
    pub tighter: Answer,
    /// How many of its rules are the same.
    pub same: usize,
    /// Rules that stand in both guards with another text: where in the old one, and where in the new one.
    pub edited: Vec<(Span, Span)>,
    /// What was found to differ, in words.
    pub changes: Vec<String>,
}

/// Everything that changed.
#[derive(Debug, Clone)]
pub struct Diff {
    /// By tool, sorted.
    pub tools: Vec<ToolDiff>,
    /// Tools that neither guard declares: what became of them, where that changed.
    pub undeclared: Option<UndeclaredCalls>,
    /// True if what the completion's checks read may come about otherwise.
    pub stops_otherwise: bool,
    /// What a running session would begin anew under the new guard.
    pub anew: Vec<String>,
    /// Contracts that are new, gone, or judge texts otherwise, in words.
    pub contracts: Vec<String>,
    /// What the new guard shows to the agent or records in clear, and the old one may not, as sentences.
    pub disclosed: Vec<String>,
}

impl Diff {
    /// The answers in one direction.
    pub fn answers(&self, looser: bool) -> impl Iterator<Item = &Answer> {
        self.tools.iter().map(move |t| if looser { &t.looser } else { &t.tighter })
    }
}

/// Compares two guards. `stop` may end it early: what is not known by then is unknown.
pub fn diff(old: &Program, new: &Program, limits: &WitnessLimits, stop: &dyn Fn() -> bool) -> Diff {
    let mut names: Vec<&str> =
        old.tools.iter().chain(&new.tools).map(|tool| tool.wire_name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let before = Side::new(old);
    let after = Side::new(new);
    let mut tools = Vec::new();
    let sides = Sides::new(old, new, limits.running);
    let compared = names
        .into_iter()
        .map(|wire| (wire, changed(&sides, old.tool_on_wire(wire), new.tool_on_wire(wire))));
    let compared: Vec<_> = compared.collect();
    let open = |(_, (_, c)): &&(&str, (ToolChange, PossibleChange))| {
        !c.looser.is_empty() || !c.tighter.is_empty()
    };
    // The tools that are looked into share what may be tried; what one leaves of its climbing the others have.
    let share = compared.iter().filter(open).count().max(1);
    let mut climbs = limits.climbs;
    let mut to_come = share;
    let sides_of = before.as_ref().zip(after.as_ref());
    let mut known =
        sides_of.and_then(|(old, new)| PairSessions::new([old, new], 2 * limits.climbs, stop));
    for (wire, (fate, change)) in compared {
        let wants = [&change.looser, &change.tighter].map(|because| !because.is_empty());
        let mut found = [None, None];
        let mut tried = (0, 0);
        if let (Some((before, after)), Some(known), true) =
            (sides_of, &mut known, wants.contains(&true))
        {
            let mut product = Product::new((before, after), wire, (limits, share), wants, stop);
            product.climbs = product.climbs.max(climbs / to_come);
            product.run(known);
            climbs = climbs.saturating_sub(product.climbed);
            to_come -= 1;
            tried = (product.seen, product.judged);
            found = product.found;
        }
        let answer = |found: Option<Witness>, because: &[String]| match (found, because) {
            (Some(witness), _) => Answer::Yes(Box::new(witness)),
            (None, []) => Answer::No,
            (None, because) => Answer::Unknown { because: because.to_vec(), tried },
        };
        let [looser, tighter] = found;
        let looser = answer(looser, &change.looser);
        let tighter = answer(tighter, &change.tighter);
        let mut changes = change.tighter;
        changes.extend(change.looser);
        changes.sort();
        changes.dedup();
        tools.push(ToolDiff {
            tool: wire.into(),
            fate,
            looser,
            tighter,
            same: change.same,
            edited: change.edited,
            changes,
        });
    }
    // A call of an undeclared tool ends with the deadline and with the budget of calls.
    let ends = |p: &Program| [p.deadline, p.units[0].budget].map(|end| end.unwrap_or(i64::MAX));
    let ([time, calls], [later, more]) = (ends(old), ends(new));
    // A guard in shadow refuses nothing.
    let lets_pass = |p: &Program| p.default_allow || p.shadow;
    let undeclared = match (lets_pass(old), lets_pass(new)) {
        (false, true) => Some(UndeclaredCalls::Allowed),
        (true, false) => Some(UndeclaredCalls::Refused),
        (true, true) if later > time || more > calls || (new.shadow && !old.shadow) => {
            Some(UndeclaredCalls::AllowedLonger)
        }
        (true, true) if later < time || more < calls || new.shadow != old.shadow => {
            Some(UndeclaredCalls::RefusedEarlier)
        }
        _ => None,
    };
    let contracts = contracts::changed(&sides);
    let stops_otherwise = sides.stops_otherwise();
    let disclosed = sides.shown().into_iter().chain(proof::hidden(old, new)).collect();
    let anew = running::anew(old, new);
    Diff { tools, undeclared, stops_otherwise, anew, contracts, disclosed }
}

/// Searches for sessions that contradict an answer *no* of [`diff`], by tool. One is a fault of the comparison: this is
/// how tests look for such faults. Both guards declare the tools that are looked at.
pub fn disproofs(
    old: &Program,
    new: &Program,
    limits: &WitnessLimits,
    stop: &dyn Fn() -> bool,
) -> Vec<(String, Witness)> {
    let sides = Sides::new(old, new, limits.running);
    let (Some(before), Some(after)) = (Side::new(old), Side::new(new)) else { return Vec::new() };
    let Some(mut known) = PairSessions::new([&before, &after], 2 * limits.climbs, stop) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (at, tool) in old.tools.iter().enumerate() {
        let wire = tool.wire_name.as_str();
        let Some(other) = new.tool_on_wire(wire) else { continue };
        let change = sides.tool(at, other);
        let wants = [change.looser.is_empty(), change.tighter.is_empty()];
        if !wants.contains(&true) {
            continue;
        }
        let share = old.tools.len();
        let mut product = Product::new((&before, &after), wire, (limits, share), wants, stop);
        product.run(&mut known);
        let wanted = product.found.into_iter().zip(wants).filter(|(_, wanted)| *wanted);
        let witnesses = wanted.filter_map(|(witness, _)| witness);
        found.extend(witnesses.map(|witness| (wire.to_string(), witness)));
    }
    found
}

/// The change for calls of tools that no guard declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndeclaredCalls {
    /// They are allowed now.
    Allowed,
    /// They are refused now.
    Refused,
    /// They are allowed beyond the old deadline or budget; perhaps not as long as the other.
    AllowedLonger,
    /// The deadline or the budget ends them earlier.
    RefusedEarlier,
}

impl UndeclaredCalls {
    /// Returns true if more of them are allowed.
    pub fn is_looser(self) -> bool {
        matches!(self, UndeclaredCalls::Allowed | UndeclaredCalls::AllowedLonger)
    }

    /// In words, of tools that are not declared.
    pub fn words(self) -> &'static str {
        match self {
            UndeclaredCalls::Allowed => "are allowed now",
            UndeclaredCalls::Refused => "are refused now",
            UndeclaredCalls::AllowedLonger => "are allowed longer",
            UndeclaredCalls::RefusedEarlier => "are refused earlier",
        }
    }
}

/// The result of a search for one call.
pub(crate) struct Searched {
    /// The session that ends with the call.
    pub witness: Option<Witness>,
    /// How many states were looked at.
    pub states: usize,
    /// How many calls were judged.
    pub calls: usize,
}

/// Looks for a call of a tool that a guard allows and the stricter one refuses by a rule of this owner. `limits` are for so many tools.
pub(crate) fn allowed_despite(
    stricter: &Program,
    guard: &Program,
    (wire, owner): (&str, &str),
    (limits, share): (&WitnessLimits, usize),
    stop: &dyn Fn() -> bool,
) -> Searched {
    let (Some(old), Some(new)) = (Side::new(stricter), Side::new(guard)) else {
        return Searched { witness: None, states: 0, calls: 0 };
    };
    let mut product = Product {
        behind: Some(owner),
        ..Product::new((&old, &new), wire, (limits, share), [true, false], stop)
    };
    if let Some(mut known) = PairSessions::new([&old, &new], limits.climbs / share.max(1), stop) {
        product.run(&mut known);
    }
    let [witness, _] = product.found;
    Searched { witness, states: product.seen, calls: product.judged }
}

fn changed(
    sides: &Sides,
    before: Option<ToolId>,
    after: Option<ToolId>,
) -> (ToolChange, PossibleChange) {
    let old = sides.old;
    let new = sides.new;
    let other = |what: &str| PossibleChange {
        looser: vec![what.to_string()],
        tighter: vec![what.to_string()],
        ..PossibleChange::default()
    };
    match (before, after) {
        (Some(a), Some(b)) => (ToolChange::Kept, sides.tool(a, b)),
        (None, Some(b)) => {
            let mut change = other("the tool is new");
            // Its name may have been that of another tool before.
            let wire = &new.tools[b].wire_name;
            let was_named = old.tools.iter().any(|tool| tool.name == *wire);
            if !old.default_allow && !old.shadow && !was_named {
                change.tighter.clear();
            }
            (ToolChange::Added, change)
        }
        (Some(a), None) => {
            let mut change = other("the tool is removed");
            // Its name may be that of another tool now.
            let wire = &old.tools[a].wire_name;
            let is_named = new.tools.iter().any(|tool| tool.name == *wire);
            if !new.default_allow && !new.shadow && !is_named {
                change.looser.clear();
            }
            (ToolChange::Removed, change)
        }
        (None, None) => (ToolChange::Removed, PossibleChange::default()),
    }
}
