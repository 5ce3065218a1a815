//! Trust: the trust in each part of a result, and the check that only trusted content teaches
//! facts.
//!
//! Trust flows through the whole program: a `learn` is trusted if everything that it reads is
//! trusted. Variables have the trust of the values written into them, and history has the trust of
//! the calls. Arguments are chosen by the agent.

mod parts;
mod reads;

pub(crate) use parts::Reliance;

use super::TypeChecker;
use super::ty::innermost;
use crate::errors;
use crate::hir::{self, Expr, ExprKind, Trust, Type};
use crate::lower::clause_exprs;
use guard_plan::plan::Undecoded;
use guard_syntax::ast::{self, ClauseKind, ResultStep};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use parts::{PartRoot, TrustedPart, endorsed};
use reads::TrustReads;
pub(super) use reads::inner;
use std::collections::{HashMap, HashSet};

/// The path into a result, by member, and by element if only `json` is known.
type MemberPath = Vec<String>;

impl TypeChecker<'_, '_> {
    /// Returns the trust in a result, from the clauses of a tool and of its policies. Without such
    /// a clause, the result is untrusted.
    pub(super) fn trust(&mut self, clauses: &[&ast::Clause]) -> Trust {
        let mut said: HashMap<MemberPath, Span> = HashMap::new();
        let mut trust = Trust { whole: false, parts: Vec::new() };
        for clause in clauses {
            let Some((path, trusted)) = said_of(&clause.kind) else { continue };
            let path: MemberPath = path.iter().map(|name| name.node.clone()).collect();
            if let Some(first) = said.insert(path.clone(), clause.span.0) {
                let what = "whether the result is trusted";
                self.report_once(errors::said_twice(what, clause.span.0, first));
            } else if path.is_empty() {
                trust.whole = trusted;
            } else {
                trust.parts.push((path, trusted));
            }
        }
        trust.parts.sort();
        trust
    }

    /// Reports parts of a result that its type does not have.
    pub(super) fn trusted_parts(&mut self, clauses: &[&ast::Clause], returns: Option<&Type>) {
        let Some(returns) = returns else { return };
        for clause in clauses {
            let Some((path, _)) = said_of(&clause.kind) else { continue };
            let mut ty = returns.clone();
            for name in path {
                // The keys of maps and the members of `json` are unknown.
                let Type::Record(id) = innermost(&ty) else { break };
                match self.record_field(*id, name) {
                    Ok((_, field)) => ty = field.ty,
                    Err(unknown) => {
                        self.report_once(*unknown);
                        break;
                    }
                }
            }
        }
    }

    /// Reports every `learn`, and every condition of a `trusted`, that reads something untrusted,
    /// directly or through state.
    pub(super) fn trust_flow(&mut self) {
        let flow = Flow::new(&self.program);
        let mut found: Vec<Diagnostic> = Vec::new();
        for (at, tool) in self.program.tools.iter().enumerate() {
            for clause in &tool.clauses {
                if let hir::ClauseKind::Learn(learn) = &clause.kind
                    && let Some(cause) = flow.lesson(at, learn).err().or(flow.mixed(at, learn))
                    // A part with a reported error may be a trusted part of the result.
                    && !learn.exprs().any(is_broken)
                {
                    found.push(self.untrusted(at, clause.rule.span, cause));
                }
                if let Some(cause) = flow.doubtful_condition(at, &clause.kind) {
                    let what = self.what(at, cause);
                    found.push(errors::untrusted_condition(clause.rule.span, &what));
                }
            }
        }
        // A clause of a policy is found for each of its tools.
        let mut said = HashSet::new();
        for diagnostic in found {
            if said.insert((diagnostic.primary.span, diagnostic.message.clone())) {
                self.report(diagnostic);
            }
        }
    }

    fn untrusted(&self, at: hir::ToolId, span: Span, cause: Cause) -> Diagnostic {
        let tool = &self.program.tools[at];
        let what = self.what(at, cause);
        match cause {
            Cause::Result => {
                let partly = tool.trust.whole || !tool.trust.parts.is_empty();
                errors::untrusted_learn(span, &tool.name, tool.span, partly)
            }
            Cause::State(_, writer, DistrustLevel::Untrusted) => {
                errors::learn_of_untrusted(span, &what, writer)
            }
            Cause::State(_, writer, DistrustLevel::Chosen) => {
                errors::learn_of_argument(span, &what)
                    .also(writer, "the agent's choice comes from here")
            }
            Cause::LastResult(last) => {
                errors::learn_of_untrusted(span, &what, self.program.tools[last].span)
            }
            Cause::Success(asked) => {
                let tool = &self.program.tools[asked];
                errors::learn_of_failure(span, &tool.name, tool.span)
            }
            Cause::Private => errors::learn_of_private(span),
            Cause::LastArgument(_) | Cause::Budget(_) | Cause::Calls(_) | Cause::Argument => {
                errors::learn_of_argument(span, &what)
            }
        }
    }

    /// Returns a description of the untrusted value that is read.
    fn what(&self, at: hir::ToolId, cause: Cause) -> String {
        let tool = |at: hir::ToolId| &self.program.tools[at].name;
        match cause {
            Cause::Result => format!("a part of the result of `{}`", tool(at)),
            Cause::State(var, ..) => format!("the variable `{}`", self.program.state[var].name),
            Cause::LastResult(last) => format!("the result of the last `{}`", tool(last)),
            Cause::LastArgument(last) => {
                format!("an argument of an earlier call of `{}`", tool(last))
            }
            Cause::Budget(unit) => {
                format!("the use of the budget `{}`", self.program.units[unit].name)
            }
            Cause::Calls(counted) => format!("the number of calls of `{}`", tool(counted)),
            Cause::Success(asked) => format!("that `{}` has not succeeded", tool(asked)),
            Cause::Private => "the answer of `may_read`".to_owned(),
            Cause::Argument => format!("an argument of `{}`", tool(at)),
        }
    }
}

/// Returns true for a `trusted` clause with a condition, elements or a function. Such a clause
/// applies only to some results.
pub(super) fn endorses(clause: &ClauseKind) -> bool {
    let ClauseKind::Trusted { extractor, part, each, guard } = clause else { return false };
    let is_element = |step: &ResultStep| matches!(step, ResultStep::Elements(_));
    let mut steps = part.iter().flat_map(|part| &part.steps);
    extractor.is_some() || !each.is_empty() || guard.is_some() || steps.any(is_element)
}

/// Returns the path that a clause declares the trust of, in every result, and true if that part is
/// trusted.
fn said_of<'c>(clause: &'c ClauseKind) -> Option<(Vec<&'c ast::Ident>, bool)> {
    let field = |step: &'c ResultStep| match step {
        ResultStep::Field(name) => Some(name),
        ResultStep::Elements(_) => None,
    };
    match clause {
        _ if endorses(clause) => None,
        ClauseKind::Trusted { part, .. } => {
            Some((part.iter().flat_map(|part| &part.steps).filter_map(field).collect(), true))
        }
        ClauseKind::Untrusted(path) => Some((path.iter().collect(), false)),
        _ => None,
    }
}

/// The reason why something is untrusted.
#[derive(Debug, Clone, Copy)]
enum Cause {
    /// A part of the result of the tool itself.
    Result,
    /// A variable, with the clause that writes untrusted content, or content that the agent chose.
    State(hir::VarId, Span, DistrustLevel),
    LastResult(hir::ToolId),
    /// An argument of an earlier call, or the fact that there was a call with it.
    LastArgument(hir::ToolId),
    /// The use of a budget: the agent chooses the amounts.
    Budget(hir::UnitId),
    /// A number of calls: the agent chooses the number.
    Calls(hir::ToolId),
    /// The fact that a tool has not succeeded: a result that does not decode is not a success.
    Success(hir::ToolId),
    /// Private content: the author of a private text chooses the answer.
    Private,
    /// An argument of the call itself: the agent chooses it.
    Argument,
}

/// A level of distrust, in ascending order. Trusted content has no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DistrustLevel {
    /// The agent chose it. A result that is read together with it endorses it.
    Chosen,
    /// Nobody endorses it.
    Untrusted,
}

impl Cause {
    fn level(self) -> DistrustLevel {
        match self {
            Cause::Argument | Cause::LastArgument(_) | Cause::Budget(_) | Cause::Calls(_) => {
                DistrustLevel::Chosen
            }
            Cause::Result | Cause::LastResult(_) | Cause::Success(_) | Cause::Private => {
                DistrustLevel::Untrusted
            }
            Cause::State(_, _, level) => level,
        }
    }
}

/// The least trusted content of a variable, in its values or its keys: its level, and a clause that writes it.
type DistrustedAt = Option<(DistrustLevel, Span)>;

/// The stains of variables, from the writes of any session or of one session so far.
#[derive(Clone)]
pub(crate) struct Flow<'p> {
    program: &'p hir::Program,
    /// The stains, by variable.
    stains: Vec<DistrustedAt>,
    /// True if the success of a tool counts as chosen by anyone who can invalidate its results.
    /// Only the compiler uses this, for all sessions.
    of_all_sessions: bool,
}

impl<'p> Flow<'p> {
    fn new(program: &'p hir::Program) -> Flow<'p> {
        let mut flow = Flow { of_all_sessions: true, ..Flow::clean(program) };
        // Levels only increase, so this ends: each round either stains a variable more or is the
        // last.
        while flow.spread() {}
        flow
    }

    /// Marks the writes of clauses. Returns false if nothing new was found.
    fn spread(&mut self) -> bool {
        let mut changed = false;
        for (at, tool) in self.program.tools.iter().enumerate() {
            for clause in &tool.clauses {
                let writes = [self.written(at, clause), self.cleared(at, clause)];
                for (var, stain) in writes.into_iter().flatten() {
                    changed |= self.stain(var, stain);
                }
            }
        }
        changed
    }

    /// Returns the variable that a clause writes, and the least trusted part of what it writes.
    fn written(&self, at: hir::ToolId, clause: &hir::Clause) -> Option<(hir::VarId, DistrustedAt)> {
        let (target, ranges) = match &clause.kind {
            // A clause in shadow mode writes nothing.
            _ if clause.rule.shadow => return None,
            hir::ClauseKind::Effect { target, ranges, .. } => (target, &ranges[..]),
            hir::ClauseKind::Observe { target, .. } => (target, &[][..]),
            _ => return None,
        };
        let mut reads = self.reads(at, []);
        reads.bind(ranges);
        clause_exprs(&clause.kind, &mut |e| reads.visit(e));
        let worst = worst(reads.judged().0, DistrustLevel::Chosen).map(|cause| cause.level());
        let made = makes_of_old(&clause.kind).then_some(DistrustLevel::Chosen);
        Some((target.var, worst.max(made).map(|level| (level, clause.rule.span))))
    }

    /// Returns the variable that a clause observes, if an untrusted person or system can have it
    /// cleared by a result that does not decode.
    fn cleared(&self, at: hir::ToolId, clause: &hir::Clause) -> Option<(hir::VarId, DistrustedAt)> {
        let tool = &self.program.tools[at];
        let hir::ClauseKind::Observe { target, .. } = &clause.kind else { return None };
        let clears = tool.undecoded == Undecoded::Clear
            && !clause.rule.shadow
            && !tool.trust.vouches_for(&[]);
        clears.then_some((target.var, Some((DistrustLevel::Untrusted, clause.rule.span))))
    }

    /// Marks a variable. Returns false if it was already marked at this level.
    fn stain(&mut self, var: hir::VarId, stain: DistrustedAt) -> bool {
        let level = |stain: DistrustedAt| stain.map(|(level, _)| level);
        let is_worse = level(stain) > level(self.stains[var]);
        if is_worse {
            self.stains[var] = stain;
        }
        is_worse
    }

    /// Returns a flow in which nothing is marked, for a session that begins.
    pub(crate) fn clean(program: &'p hir::Program) -> Flow<'p> {
        Flow { program, stains: vec![None; program.state.len()], of_all_sessions: false }
    }

    /// Returns true if something is marked.
    pub(crate) fn is_tainted(&self) -> bool {
        self.stains.iter().any(Option::is_some)
    }

    /// Marks the writes of a call of the tool: its effects, or its observations.
    pub(crate) fn wrote(&mut self, at: hir::ToolId, observed: bool) {
        let of_kind = |clause: &&hir::Clause| {
            matches!(clause.kind, hir::ClauseKind::Observe { .. }) == observed
        };
        let clauses = self.program.tools[at].clauses.iter().filter(of_kind);
        let written: Vec<_> = clauses.filter_map(|clause| self.written(at, clause)).collect();
        for (var, stain) in written {
            self.stain(var, stain);
        }
    }

    /// Marks the variables that a call of the tool would have observed. They are cleared because
    /// its result does not decode.
    pub(crate) fn forgot(&mut self, at: hir::ToolId) {
        self.wrote(at, true);
        for clause in &self.program.tools[at].clauses {
            if let Some((var, stain)) = self.cleared(at, clause) {
                self.stain(var, stain);
            }
        }
    }

    /// Returns the endorsements that a `learn` clause of a tool depends on, given the stains of the variables; `None` if it must
    /// not teach.
    pub(crate) fn may_teach(
        &self,
        at: hir::ToolId,
        learn: &hir::Learn,
    ) -> Option<Vec<Vec<Reliance>>> {
        let clauses = &self.program.tools[at].clauses;
        let mut lists = self.lesson(at, learn).ok()?;
        for list in &mut lists {
            list.retain(|reliance| self.counts(at, &clauses[reliance.clause].kind));
        }
        lists.iter().all(|list| !list.is_empty()).then_some(lists)
    }

    /// Returns true if the condition of an endorsement reads nothing untrusted, given the stains of
    /// the variables.
    pub(crate) fn counts(&self, at: hir::ToolId, endorsement: &hir::ClauseKind) -> bool {
        self.doubtful_condition(at, endorsement).is_none()
    }

    fn reads<'e>(
        &self,
        at: hir::ToolId,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> TrustReads<'_> {
        let mut reads = TrustReads {
            flow: self,
            at,
            bound: HashMap::new(),
            endorsed: Vec::new(),
            parts: Vec::new(),
            ranges: Vec::new(),
            causes: Vec::new(),
        };
        exprs.into_iter().for_each(|e| reads.visit(e));
        reads
    }

    /// Returns the endorsements that a `learn` clause of a tool depends on. Of each list, one must
    /// hold for a row.
    ///
    /// # Errors
    ///
    /// The reason why it must not teach.
    fn lesson(&self, at: hir::ToolId, learn: &hir::Learn) -> Result<Vec<Vec<Reliance>>, Cause> {
        let tool = &self.program.tools[at];
        let mut reads = self.reads(at, []);
        let ranged = reads.bind(&learn.ranges);
        reads.endorsed = endorsed(tool, learn, &ranged);
        for (nth, (range, part)) in learn.ranges.iter().zip(ranged).enumerate() {
            match part {
                Some(part) => {
                    // The number of elements counts, even if nothing else of them is read.
                    reads.ranges.push((nth, part));
                    reads.keys(&range.over);
                }
                None => reads.visit(&range.over),
            }
        }
        learn.when.iter().for_each(|when| reads.condition(when));
        learn.row.iter().for_each(|e| reads.visit(e));
        // The result of the tool endorses the arguments next to it. Without the result, they are
        // only the choice of the agent.
        let ranges = reads.ranges.iter().map(|(_, part)| part);
        let read: Vec<&TrustedPart> =
            reads.parts.iter().map(|(part, _)| part).chain(ranges).collect();
        let vouched = read.iter().any(|part| part.root == PartRoot::Result);
        // A lesson that reads nothing still says that the tool has succeeded.
        let quiet = read.is_empty() && reads.causes.is_empty();
        if quiet && !tool.trust.whole {
            return Err(Cause::Result);
        }
        let (causes, reliances) = reads.judged();
        match worst(causes, if vouched { DistrustLevel::Untrusted } else { DistrustLevel::Chosen })
        {
            Some(cause) => Err(cause),
            None => Ok(reliances),
        }
    }

    /// Returns true if an untrusted person or system can keep the results of a tool from decoding.
    /// Such a call is not a success.
    fn may_be_spoiled(&self, at: hir::ToolId) -> bool {
        let tool = &self.program.tools[at];
        self.of_all_sessions && tool.returns.is_some() && !tool.trust.vouches_for(&[])
    }

    /// Returns the cause if a row contains something that the agent chooses and no value that comes
    /// from the result alone. A value computed from both is still the choice of the agent, and
    /// nothing next to it endorses it.
    fn mixed(&self, at: hir::ToolId, learn: &hir::Learn) -> Option<Cause> {
        let read = |e: &Expr| {
            let mut reads = self.reads(at, []);
            reads.bind(&learn.ranges);
            reads.visit(e);
            let of_result = reads.parts.iter().any(|(part, _)| part.root == PartRoot::Result);
            of_result.then(|| worst(reads.causes, DistrustLevel::Chosen))
        };
        // A condition that reads the result endorses the choice of the agent.
        if learn.when.as_ref().is_some_and(|when| read(when).is_some()) {
            return None;
        }
        let mut values = Vec::new();
        learn.row.iter().for_each(|e| single_values(e, &mut values));
        // The causes of each value that reads the result; none if it reads nothing else.
        let causes: Option<Vec<Cause>> = values.into_iter().filter_map(read).collect();
        causes?.into_iter().next()
    }

    /// Returns the untrusted content that the condition of an endorsement reads.
    fn doubtful_condition(&self, at: hir::ToolId, clause: &hir::ClauseKind) -> Option<Cause> {
        let hir::ClauseKind::Endorse { part, when, .. } = clause else { return None };
        let mut reads = self.reads(at, []);
        reads.bind(&part.ranges);
        when.iter().for_each(|when| reads.condition(when));
        worst(reads.judged().0, DistrustLevel::Untrusted)
    }
}

/// Returns true if an error was reported in an expression: it is unknown what it reads.
fn is_broken(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, ExprKind::Error))
}

/// Collects the values of a row, including those within records.
fn single_values<'e>(e: &'e Expr, all: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Record(fields) => fields.iter().for_each(|field| single_values(field, all)),
        _ => all.push(e),
    }
}

/// Returns the cause with the highest level, if this is at least the given level.
fn worst(causes: Vec<Cause>, from: DistrustLevel) -> Option<Cause> {
    let mut worst: Option<Cause> = None;
    for cause in causes.into_iter().filter(|cause| cause.level() >= from) {
        if worst.is_none_or(|worst| worst.level() < cause.level()) {
            worst = Some(cause);
        }
    }
    worst
}

/// Returns true for a clause whose value depends on the previous state: the agent chooses how often
/// and when it runs.
fn makes_of_old(clause: &hir::ClauseKind) -> bool {
    let mut reads_state = false;
    let mut note = |e: &Expr| reads_state |= matches!(e.kind, ExprKind::State(_));
    match clause {
        hir::ClauseKind::Effect { ranges, when, op, value, .. } => {
            let over = ranges.iter().map(|range| &range.over);
            over.chain(when).chain(value).for_each(|e| e.walk(&mut note));
            op.accumulates() || reads_state
        }
        hir::ClauseKind::Observe { value, .. } => {
            value.walk(&mut note);
            reads_state
        }
        _ => false,
    }
}
