//! Bounded exploration: what can happen under a guard, found by trying it on the reference evaluator.
//!
//! Breadth first from the initial state, with arguments and results at the boundaries of the guard's own conditions.
//! What is found is a session that replays; what is not found is *never* only where everything was tried.

mod aim;
mod classes;
pub(crate) mod climb;
pub(crate) mod inputs;
mod reach;
mod refusals;
mod repeat;
mod rules;
mod sample;
pub(crate) mod search;
mod seeds;
pub(crate) mod session;
pub(crate) mod slice;
pub(crate) mod state_key;
mod story;
mod tested;
mod values;
pub(crate) mod world;

pub use refusals::EffectCheck;
pub use rules::{Rule, RuleKind};
pub(crate) use rules::{each_condition, limit_text};
pub use seeds::events_of;
pub(crate) use session::start_of;
pub use session::{Act, ExploredEnding, ExploredSession, SessionStep, StepReply, WORKSPACE};

use crate::analysis::reference::ReferenceSession;
use crate::hir::Program;
use guard_plan::json::Json;

/// The limits of an exploration. They are counts, never times, so that results are reproducible.
#[derive(Debug, Clone)]
pub struct ExplorationLimits {
    /// Most things that happen in a session.
    pub depth: usize,
    /// Most states that are kept.
    pub states: usize,
    /// Most calls that are judged.
    pub calls: usize,
    /// Sessions to begin with, each with all its beginnings: those of the guard's own tests.
    pub seeds: Vec<Vec<Act>>,
    /// The checks of effects for which a refusal is looked for: those that are not proved.
    pub effects: Vec<EffectCheck>,
}

impl Default for ExplorationLimits {
    fn default() -> Self {
        ExplorationLimits {
            depth: 12,
            states: 300,
            calls: 6_000,
            seeds: Vec::new(),
            effects: Vec::new(),
        }
    }
}

/// The findings of an exploration.
#[derive(Debug, Clone, Default)]
pub struct Exploration {
    /// By tool: the shortest session in which it is allowed.
    pub tools: Vec<Option<ExploredSession>>,
    /// Every rule that may fire, and the shortest session in which it does. Limits, budgets, the deadline and advice are
    /// looked for by repetition: their sessions are short, and need not be shortest.
    pub rules: Vec<(Rule, Option<ExploredSession>)>,
    /// Every check of effects that was asked for, and a session in which it refuses a call of its tool. They are looked
    /// for by repetition, too.
    pub effects: Vec<(EffectCheck, Option<ExploredSession>)>,
    /// By goal: the shortest session that reaches it.
    pub goals: Vec<Option<ExploredSession>>,
    /// The shortest session that ends with a stop at which all checks hold.
    pub completion: Option<ExploredSession>,
    /// The shortest session after which nothing can complete any more; looked for only where all states are known.
    pub deadlock: Option<ExploredSession>,
    /// Every state was looked at that what is tried leads to.
    pub whole: bool,
    /// Every state was looked at, with every argument, result and answer that can matter: what was not found of tools,
    /// goals and completion cannot be.
    pub exhausted: bool,
    /// How many states were kept.
    pub states: usize,
    /// How many calls were judged.
    pub judged: usize,
    /// The longest session that was looked at to its end.
    pub depth: usize,
}

impl Exploration {
    /// Returns the text for a goal that was not found: `never` after an exhaustive search, or else the extent of the
    /// search.
    pub fn absence(&self) -> String {
        if self.exhausted {
            "never".into()
        } else {
            let states = crate::errors::count(self.states, "state");
            format!("not found within depth {}, {states}", self.depth)
        }
    }
}

/// The most rules of a guard that is explored: for each a session is looked for, and kept.
const MAX_RULES: usize = 10_000;

/// Explores a guard. `stop` may end it early: what is known by then stays. Of a guard with more than 10,000 rules
/// nothing is tried.
pub fn explore(
    program: &Program,
    limits: &ExplorationLimits,
    stop: &dyn Fn() -> bool,
) -> Exploration {
    let rules = rules::all(program);
    if rules.len() > MAX_RULES {
        return Exploration::nothing(program, rules);
    }
    let Ok(fresh) = ReferenceSession::open(program, start_of([program]), WORKSPACE, None) else {
        return Exploration::nothing(program, rules);
    };
    let widths = [1, 3, usize::MAX].map(|few| inputs::Inputs::new(program, &fresh, few));
    let inputs = &widths[2];
    let questions = state_key::Questions::new(program);
    let answers: Vec<Vec<Json>> = inputs.answers(&fresh);
    let mut search =
        search::Search::new((program, &fresh), inputs, &questions, &rules, &answers, stop);
    search.run(inputs, slice::Slice::whole(program), None, limits);
    let whole = !search.cut;
    let exhausted = whole && inputs.whole && !questions.ages();
    let deadlock = if exhausted { search.deadlock().map(|at| search.path(at)) } else { None };
    let depth = search.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
    let states = search.nodes.len();
    if search.cut {
        aim::at_the_rest(&mut search, &widths, limits);
        reach::the_rest(&mut search, &limits.seeds);
    }
    if !stop() {
        repeat::complete(&mut search);
        // Last, since a test is seldom the shortest session.
        tested::play(&mut search, &limits.seeds);
    }
    let checked =
        |session: Option<ExploredSession>| session.filter(|session| session.replays_like(&fresh));
    let effects = refusals::find_all(&search, limits);
    let judged = search.judged;
    let found = search.found;
    Exploration {
        tools: found.tools.into_iter().map(checked).collect(),
        rules: rules.iter().cloned().zip(found.rules.into_iter().map(checked)).collect(),
        effects,
        goals: found.goals.into_iter().map(checked).collect(),
        completion: checked(found.completion),
        deadlock: checked(deadlock),
        whole,
        exhausted,
        states,
        judged,
        depth,
    }
}

impl Exploration {
    /// Returns the empty exploration of a guard that no session can begin with, or that has too many rules.
    fn nothing(program: &Program, rules: Vec<Rule>) -> Self {
        Exploration {
            tools: vec![None; program.tools.len()],
            rules: rules.into_iter().map(|rule| (rule, None)).collect(),
            goals: vec![None; program.goals.len()],
            ..Exploration::default()
        }
    }
}
