//! Claims of properties of every call that passes a tool's other rules (semantics §15), and the
//! relations between the answers of history.
//!
//! The kernel does not use this module: no check in a plan is omitted because of the proof of a
//! property.

use crate::bodies::written;
use crate::encoder::{Encoder, EncoderEnv};
use crate::formula::Formula;
use crate::frame;
use crate::history::{HistoryQuestion, HistoryTerm};
use crate::linear::Linear;
use crate::problem::ProofProblem;
use crate::rules::ProofRule;
use crate::system::{Given, System, SystemBuilder};
use crate::terms::{Op, TermId};
use crate::value::{Encoded, TooMuch, Width};
use guard_plan::plan::{
    CompareOp, LimitScope, Millis, Node, Plan, Requirement, Requires, TemporalOp, Tool, ToolId,
    VarId, WindowId, WindowSize,
};

/// A rule of a tool that refuses nothing, by its index in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimedRule {
    /// A `deny` in shadow mode: never true, and never a fault.
    Deny(usize),
    /// A `requires` in shadow mode: always met.
    Requires(usize),
}

/// The claims of one tool's rules in shadow mode.
pub struct Claims {
    /// The givens and the variables.
    pub system: System,
    /// The formula of each rule; none if it would exceed the limit of size, so that the rule is never proved.
    pub rules: Vec<(ClaimedRule, Option<Formula>)>,
}

impl Claims {
    /// Returns the claims of a tool's rules in shadow mode. The givens are the tool's other rules,
    /// the invariants that hold in every committed state, and the relations between a session's
    /// history and its state.
    pub fn new(plan: &Plan, id: ToolId, assumable: &[bool], width: Width) -> Claims {
        let tool = &plan.tools[id as usize];
        let mut builder = SystemBuilder::new(plan, tool, None, width);
        builder.conditions(tool);
        for (at, rule) in tool
            .requires
            .iter()
            .enumerate()
            .filter(|(_, rule)| !rule.rule.shadow || mutant!("a property is given"))
        {
            let env = builder.env.clone();
            let met = builder.encoder.clause(|encoder| {
                let (met, sound) = encoder.met(rule, &env)?;
                Ok(met.and(sound))
            });
            builder.give_all(met.map(|met| (Given::Requires(at), met)));
        }
        let every: Vec<u32> = (0..plan.invariants.len() as u32).collect();
        builder.invariants(assumable, &every, &[]);
        let mut rules = Vec::new();
        let env = builder.env.clone();
        for (at, deny) in tool.denies.iter().enumerate().filter(|(_, deny)| deny.rule.shadow) {
            let formula = builder.encoder.clause(|encoder| {
                let (refused, sound) = encoder.condition(&deny.condition, &env)?;
                Ok(encoder.not(&refused)?.and(sound))
            });
            rules.push((ClaimedRule::Deny(at), formula));
        }
        for (at, rule) in tool.requires.iter().enumerate().filter(|(_, rule)| rule.rule.shadow) {
            let formula = builder.encoder.clause(|encoder| {
                let (met, sound) = encoder.met(rule, &env)?;
                Ok(met.and(sound))
            });
            rules.push((ClaimedRule::Requires(at), formula));
        }
        builder.history(tool);
        Claims { system: builder.finish(Vec::new()), rules }
    }

    /// Returns the problem of one of the rules; `None` if it exceeds the limits of the encoding.
    pub fn problem(&self, formula: &Formula) -> Option<ProofProblem> {
        Some(self.system.problem_of(formula.negated()?))
    }
}

/// Returns true if everything within an age is within the other age; `None` is any age.
fn shorter(age: Option<Millis>, other: Option<Millis>) -> bool {
    narrower(age.map(WindowSize::Within), other.map(WindowSize::Within))
}

/// Returns true if every call in a window is in the other window; `None` is the whole session.
fn narrower(size: Option<WindowSize>, other: Option<WindowSize>) -> bool {
    if mutant!("a longer age is a shorter one") {
        return size.is_none_or(|size| other.is_some_and(|other| other.is_within(size)));
    }
    other.is_none_or(|other| {
        size.is_some_and(|size| size.is_within(other) || mutant!("the last calls are the latest"))
    })
}

impl<'p> Encoder<'p> {
    /// Remembers a question about the history that was encoded as this term, with the terms of its
    /// key.
    pub(crate) fn remember(&mut self, node: &Node, key_terms: &[TermId], term: TermId) {
        let question = match node {
            Node::Called { tool, key, since, within } => HistoryQuestion::Called {
                tool: *tool,
                key: key.as_ref().map(|(index, _)| (*index, key_terms.to_vec())),
                since: *since,
                within: *within,
                latest: false,
            },
            Node::Failed { tool, since, within } => {
                HistoryQuestion::Failed { tool: *tool, since: *since, within: *within }
            }
            Node::Calls { tool, failures, window } => {
                HistoryQuestion::Calls { tool: *tool, failures: *failures, window: *window }
            }
            Node::Temporal(id) => HistoryQuestion::Temporal(*id),
            _ => return,
        };
        self.recall(question, term);
    }

    fn recall(&mut self, question: HistoryQuestion, term: TermId) {
        let known = HistoryTerm { question, term };
        if !self.history.contains(&known) {
            self.history.push(known);
        }
    }

    /// Encodes two formulas: the requirement is met, and its evaluation is without fault.
    fn met(&mut self, rule: &'p Requires, env: &EncoderEnv<'p>) -> Encoded<(Formula, Formula)> {
        let mut met = Formula::False;
        for alternative in &rule.any_of {
            met = met.or(self.alternative(alternative, env)?);
        }
        let Some(when) = &rule.when else { return Ok((met, Formula::True)) };
        let (asked, sound) = self.condition(when, env)?;
        Ok((self.not(&asked)?.or(met), sound))
    }

    /// Returns the successes that a met requirement implies: one of its tools has succeeded, at any
    /// time and with any key.
    pub(crate) fn succeeded(
        &mut self,
        rule: &'p Requires,
        env: &EncoderEnv<'p>,
    ) -> Encoded<Formula> {
        let mut met = Formula::False;
        for alternative in &rule.any_of {
            let term = self.called(alternative.tool);
            met = met.or(self.flag_of(term));
        }
        let Some(when) = &rule.when else { return Ok(met) };
        let (asked, sound) = self.condition(when, env)?;
        if mutant!("a requirement is always asked") {
            return Ok(met);
        }
        Ok(self.not(&asked)?.or(met).and(sound))
    }

    /// Returns the term of `called(TOOL)`.
    pub(crate) fn called(&mut self, tool: ToolId) -> TermId {
        let node = Node::Called { tool, key: None, since: None, within: None };
        self.terms.intern(Op::Node(written(&node)), Vec::new())
    }

    /// Returns the answers that are true only if the tool has succeeded.
    pub(crate) fn successes_of(&self, wanted: ToolId) -> Vec<TermId> {
        let of_tool = |known: &&HistoryTerm| matches!(&known.question, HistoryQuestion::Called { tool, .. } if *tool == wanted);
        self.history.iter().filter(of_tool).map(|known| known.term).collect()
    }

    fn alternative(&mut self, r: &'p Requirement, env: &EncoderEnv<'p>) -> Encoded<Formula> {
        let mut sound = Formula::True;
        let mut terms = Vec::new();
        for value in r.key.iter().flat_map(|key| &key.values) {
            let outcome = self.eval(value, env)?;
            sound = sound.and(outcome.sound);
            terms.push(self.term(&outcome.value));
        }
        let key = r.key.as_ref().map(|key| (key.index, vec![0; key.values.len()]));
        let node = Node::Called { tool: r.tool, key, since: r.since, within: r.within };
        if !r.latest {
            let term = self.terms.intern(Op::Node(written(&node)), terms.clone());
            self.remember(&node, &terms, term);
            return Ok(self.flag_of(term).and(sound));
        }
        let term = self.terms.intern(Op::Node(format!("latest {}", written(&node))), terms.clone());
        let tool = r.tool;
        let since = r.since;
        let within = r.within;
        let latest = true;
        let key = r.key.as_ref().map(|key| (key.index, terms));
        self.recall(HistoryQuestion::Called { tool, key, since, within, latest }, term);
        Ok(self.flag_of(term).and(sound))
    }

    /// Returns the number of calls of a tool that have ended without a failure, or that have failed.
    fn calls_of(&mut self, tool: ToolId, failures: bool, window: Option<WindowId>) -> Linear {
        let node = Node::Calls { tool, failures, window };
        let term = self.terms.intern(Op::Node(written(&node)), Vec::new());
        self.remember(&node, &[], term);
        let range = (Some(0), self.any().1);
        self.new_var(term, range).0
    }

    fn bare(&mut self, failed: bool, tool: ToolId) -> Formula {
        let since = None;
        let within = None;
        let node = if failed {
            Node::Failed { tool, since, within }
        } else {
            Node::Called { tool, key: None, since, within }
        };
        let term = self.terms.intern(Op::Node(written(&node)), Vec::new());
        self.remember(&node, &[], term);
        self.flag_of(term)
    }

    /// States the relations between answers of history.
    fn relate(&mut self, env: &EncoderEnv<'p>) -> Encoded<()> {
        for known in self.history.clone() {
            match known.question {
                HistoryQuestion::Called { tool, .. } => {
                    _ = self.bare(false, tool);
                    _ = self.calls_of(tool, false, None);
                }
                HistoryQuestion::Failed { tool, .. } => {
                    _ = self.bare(true, tool);
                    _ = self.calls_of(tool, true, None);
                }
                HistoryQuestion::Calls { tool, failures, .. } => {
                    _ = self.calls_of(tool, failures, None);
                }
                HistoryQuestion::Temporal(_) => {}
            }
        }
        let all = self.history.clone();
        for a in &all {
            if !matches!(a.question, HistoryQuestion::Temporal(_)) {
                let known = self.flag(Op::Sound, vec![a.term]);
                self.know(ProofRule::HistoryAnswers, known)?;
            }
            for b in all.iter().filter(|b| b.term != a.term) {
                if let Some(fact) = self.related(a, b)? {
                    self.know(ProofRule::HistoryAgrees, fact)?;
                }
            }
            if let HistoryQuestion::Temporal(id) = a.question {
                self.now(id, a.term, env)?;
            }
        }
        Ok(())
    }

    /// Returns what the first of two answers implies about the second; `None` if it implies nothing.
    fn related(&mut self, a: &HistoryTerm, b: &HistoryTerm) -> Encoded<Option<Formula>> {
        use HistoryQuestion::{Called, Calls, Failed};
        Ok(match (&a.question, &b.question) {
            (
                Called { tool, key, since, within, latest },
                Called { tool: other, key: wanted, since: from, within: age, latest: last },
            ) => {
                let weaker = tool == other
                    && (wanted.is_none() || wanted == key)
                    && (from.is_none() || from == since || mutant!("a success since is any"))
                    && shorter(*within, *age)
                    && (!last || mutant!("the last call is any") || *latest && wanted == key);
                weaker.then(|| self.implies(a.term, b.term)).transpose()?
            }
            (
                Called { tool, key: None, latest: true, .. },
                Failed { tool: other, since: Some(from), .. },
            ) if (tool == other || mutant!("the last call is of all tools")) && other == from => {
                let a = self.flag_of(a.term);
                let b = self.flag_of(b.term);
                Some(self.not(&a)?.or(self.not(&b)?))
            }
            (Called { tool, within, .. }, Calls { tool: other, failures: false, window })
                if tool == other
                    && narrower(within.map(WindowSize::Within), self.window_size(*window)) =>
            {
                Some(self.at_least_one(a.term, (*other, false, *window))?)
            }
            (Failed { tool, since, within }, Failed { tool: other, since: from, within: age }) => {
                let weaker =
                    tool == other && (from.is_none() || from == since) && shorter(*within, *age);
                weaker.then(|| self.implies(a.term, b.term)).transpose()?
            }
            (Failed { tool, within, .. }, Calls { tool: other, failures, window })
                if (*failures || mutant!("a failure counts as a success"))
                    && tool == other
                    && narrower(within.map(WindowSize::Within), self.window_size(*window)) =>
            {
                Some(self.at_least_one(a.term, (*other, *failures, *window))?)
            }
            (
                Calls { tool, failures: true, window },
                Failed { tool: other, since: None, within },
            ) if tool == other
                && narrower(self.window_size(*window), within.map(WindowSize::Within)) =>
            {
                let count = self.calls_of(*tool, true, *window);
                let none = Formula::le(&count, &Linear::constant(0)).ok_or(TooMuch)?;
                Some(none.or(self.flag_of(b.term)))
            }
            (
                Calls { tool, failures, window },
                Calls { tool: of, failures: other, window: wider },
            ) if tool == of
                && failures == other
                && narrower(self.window_size(*window), self.window_size(*wider)) =>
            {
                let few = self.calls_of(*tool, *failures, *window);
                let many = self.calls_of(*of, *other, *wider);
                Some(Formula::le(&few, &many).ok_or(TooMuch)?)
            }
            _ => None,
        })
    }

    fn window_size(&self, window: Option<WindowId>) -> Option<WindowSize> {
        window.and_then(|at| self.plan.windows.get(at as usize)).map(|window| window.size)
    }

    fn implies(&mut self, a: TermId, b: TermId) -> Encoded<Formula> {
        let a = self.flag_of(a);
        let b = self.flag_of(b);
        Ok(self.not(&a)?.or(b))
    }

    /// States that the number of calls is not zero if a flag holds.
    fn at_least_one(
        &mut self,
        flag: TermId,
        (tool, failures, window): (ToolId, bool, Option<WindowId>),
    ) -> Encoded<Formula> {
        let flag = self.flag_of(flag);
        let count = self.calls_of(tool, failures, window);
        let at_least_one = Formula::le(&Linear::constant(1), &count).ok_or(TooMuch)?;
        Ok(self.not(&flag)?.or(at_least_one))
    }

    /// States what the answer of a temporal operator implies about the current committed state.
    fn now(&mut self, id: u32, term: TermId, env: &EncoderEnv<'p>) -> Encoded<()> {
        let Some(monitor) = self.plan.monitors.get(id as usize) else { return Ok(()) };
        let (truth, sound) = self.condition(&monitor.of, env)?;
        let flag = self.flag_of(term);
        let fails = |encoder: &Self, formula: &Formula| encoder.not(formula);
        let fact = match (monitor.op, &monitor.trigger) {
            (TemporalOp::Historically, _) if mutant!("historically is now") => {
                fails(self, &truth)?.or(flag)
            }
            (TemporalOp::Once, _) if mutant!("once is now") => fails(self, &flag)?.or(truth),
            (TemporalOp::Once, _) => fails(self, &truth.and(sound))?.or(flag),
            (TemporalOp::Historically, _) => fails(self, &flag)?.or(truth).or(fails(self, &sound)?),
            (TemporalOp::Since, Some(trigger)) => {
                let (begun, begun_sound) = self.condition(trigger, env)?;
                let known = fails(self, &sound.and(begun_sound.clone()))?;
                let within = fails(self, &flag)?.or(truth).or(begun.clone()).or(known);
                within.and(fails(self, &begun.and(begun_sound))?.or(flag))
            }
            _ => return Ok(()),
        };
        self.know(ProofRule::StateIsNow, fact)
    }
}

impl<'p> SystemBuilder<'p> {
    /// States how the history of a session relates to its counters and its state, for the questions
    /// that were asked.
    fn history(&mut self, tool: &'p Tool) {
        let env = self.env.clone();
        let plan = self.encoder.plan;
        let mut read: Vec<VarId> = frame::reads(tool);
        let conditions = plan.invariants.iter().map(|invariant| &invariant.condition);
        conditions.for_each(|condition| read.extend(frame::variables(condition)));
        read.sort_unstable();
        read.dedup();
        for var in read {
            let unwritten = self.encoder.clause(|encoder| unwritten(encoder, var, &env));
            self.give_all(unwritten.flatten().map(|fact| (Given::Unwritten(var), fact)));
        }
        for id in 0..plan.limits.len() as u32 {
            let own = tool.limits.iter().any(|at| at.limit == id);
            let bound = self.encoder.clause(|encoder| counted(encoder, id, own));
            self.give_all(bound.flatten().map(|fact| (Given::Limit(id), fact)));
        }
        // A missing relation makes the problem weaker, never stronger.
        _ = self.encoder.clause(|encoder| encoder.relate(&env));
    }
}

/// States that a variable has its initial value, or a call of a tool that writes it has ended
/// without a failure.
fn unwritten<'p>(
    encoder: &mut Encoder<'p>,
    var: VarId,
    env: &EncoderEnv<'p>,
) -> Encoded<Option<Formula>> {
    let plan = encoder.plan;
    let Some(declared) = plan.state.get(var as usize) else { return Ok(None) };
    if !frame::is_pure(&declared.init) {
        return Ok(None);
    }
    let init = encoder.eval(&declared.init, env)?;
    let now = encoder.state(var, env);
    let same = encoder.compare(CompareOp::Eq, now.clone(), init.value.clone())?;
    let (same, sound) = encoder.truth(same);
    let (there, _) = encoder.split(now);
    let (begun, _) = encoder.split(init.value);
    let both_missing = encoder.not(&there)?.and(encoder.not(&begun)?);
    let mut written = Linear::default();
    for (id, tool) in (0..).zip(&plan.tools) {
        let effects = tool.effects.iter().map(|effect| effect.target.var);
        let observes = tool.observes.iter().map(|observe| observe.target.var);
        let all = written == Linear::default() || !mutant!("one tool writes a variable");
        if all && effects.chain(observes).any(|target| target == var) {
            let calls = encoder.calls_of(id, false, None);
            written = written.plus(1, &calls).ok_or(TooMuch)?;
        }
    }
    let called = Formula::le(&Linear::constant(1), &written).ok_or(TooMuch)?;
    Ok(Some(same.and(sound).or(both_missing).or(called)))
}

/// States that the settled calls of a session's counter are within its limit, and fewer before a
/// call that it counts.
fn counted(encoder: &mut Encoder<'_>, id: u32, own: bool) -> Encoded<Option<Formula>> {
    let plan = encoder.plan;
    let limit = &plan.limits[id as usize];
    let asks = limit.ask.is_some() && !mutant!("a limit that asks is a bound");
    if limit.rule.shadow || asks || limit.keyed || limit.scope != LimitScope::Session {
        return Ok(None);
    }
    let mut sum = Linear::default();
    for (tool, declared) in (0..).zip(&plan.tools) {
        if declared.limits.iter().any(|at| at.limit == id) {
            let settled = encoder.calls_of(tool, false, None);
            sum = sum.plus(1, &settled).ok_or(TooMuch)?;
            if !limit.success || mutant!("a counter of successes counts failures") {
                let failed = encoder.calls_of(tool, true, None);
                sum = sum.plus(1, &failed).ok_or(TooMuch)?;
            }
        }
    }
    let own = i128::from(own) + i128::from(mutant!("a counter is full earlier"));
    let most = i128::from(limit.count) - own;
    Ok(Some(Formula::le(&sum, &Linear::constant(most)).ok_or(TooMuch)?))
}
