//! Trust: whose word a result is, part by part, and that only what is trusted teaches.
//!
//! Trust is a flow through the whole program: what a `learn` reads is trusted if everything it is made of is.
//! Variables carry what was written into them, history what was called, and arguments are the agent's own words.

use super::Checker;
use crate::errors;
use crate::hir::{self, Expr, ExprKind, Trust, Type};
use guard_plan::trust::ELEMENT;
use guard_syntax::ast::{self, ClauseKind};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::{HashMap, HashSet};

/// The way down into a result, by member, and by element where only `json` is known.
type Path = Vec<String>;

impl Checker<'_, '_> {
    /// The trust in a result, of the clauses of a tool and of its policies: untrusted where they say nothing.
    pub(super) fn trust(&mut self, clauses: &[&ast::Clause]) -> Trust {
        let mut said: HashMap<Path, Span> = HashMap::new();
        let mut trust = Trust { whole: false, parts: Vec::new() };
        for clause in clauses {
            let (path, trusted) = match &clause.kind {
                ClauseKind::Trusted(path) => (path, true),
                ClauseKind::Untrusted(path) => (path, false),
                _ => continue,
            };
            let path: Path = path.iter().map(|name| name.node.clone()).collect();
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
            let (ClauseKind::Trusted(path) | ClauseKind::Untrusted(path)) = &clause.kind else {
                continue;
            };
            let mut ty = returns.clone();
            for name in path {
                while let Type::List(of, _) | Type::Set(of, _) | Type::Option(of) = &ty {
                    ty = Type::clone(of);
                }
                // Keys of maps and members of `json` are not known.
                let Type::Record(id) = ty else { break };
                let record = &self.program.records[id];
                let Some(field) = record.fields.iter().find(|field| field.name == name.node) else {
                    let known: Vec<String> =
                        record.fields.iter().map(|field| field.name.clone()).collect();
                    let of = format!("the record `{}`", record.name);
                    let known = known.iter().map(String::as_str);
                    self.report_once(errors::unknown_field(name, &of, known));
                    break;
                };
                ty = field.ty.clone();
            }
        }
    }

    /// Reports every `learn` that reads something nobody vouches for, wherever it has been in between.
    pub(super) fn trust_flow(&mut self) {
        let flow = Flow::of(&self.program);
        let mut found: Vec<Diagnostic> = Vec::new();
        for (at, tool) in self.program.tools.iter().enumerate() {
            for clause in &tool.clauses {
                let hir::ClauseKind::Learn(learn) = &clause.kind else { continue };
                if let Some(cause) = flow.doubt(at, learn) {
                    found.push(self.untrusted(at, clause.rule.span, cause));
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
        match cause {
            Cause::Result => {
                let partly = tool.trust.whole || !tool.trust.parts.is_empty();
                errors::untrusted_learn(span, &tool.name, tool.span, partly)
            }
            Cause::State(var, writer, level) => {
                let name = &self.program.state[var].name;
                let what = format!("the variable `{name}`");
                match level {
                    Level::Untrusted => errors::learn_of_untrusted(span, &what, writer),
                    Level::Chosen => errors::learn_of_argument(span, &what)
                        .also(writer, "the agent's choice comes from here"),
                }
            }
            Cause::LastResult(last) => {
                let last = &self.program.tools[last];
                let what = format!("the result of the last `{}`", last.name);
                errors::learn_of_untrusted(span, &what, last.span)
            }
            Cause::LastArgument(last) => {
                let last = &self.program.tools[last];
                let what = format!("an argument of an earlier call of `{}`", last.name);
                errors::learn_of_argument(span, &what)
            }
            Cause::Budget(unit) => {
                let what = format!("the use of the budget `{}`", self.program.units[unit].name);
                errors::learn_of_argument(span, &what)
            }
            Cause::Calls(counted) => {
                let what = format!("the number of calls of `{}`", self.program.tools[counted].name);
                errors::learn_of_argument(span, &what)
            }
            Cause::Private => errors::learn_of_private(span),
            Cause::Argument => {
                errors::learn_of_argument(span, &format!("an argument of `{}`", tool.name))
            }
        }
    }
}

/// The reason why something is not trusted.
#[derive(Debug, Clone, Copy)]
enum Cause {
    /// A part of the tool's own result.
    Result,
    /// A variable, with the clause that writes what is not trusted, or what the agent chose.
    State(hir::VarId, Span, Level),
    LastResult(hir::ToolId),
    /// An argument of an earlier call, or that there was a call with it.
    LastArgument(hir::ToolId),
    /// The use of a budget: the agent chooses the amounts.
    Budget(hir::UnitId),
    /// A number of calls: the agent chooses how many.
    Calls(hir::ToolId),
    /// What is private: whoever writes a private text chooses the answer.
    Private,
    /// An argument of the call itself: the agent chooses it.
    Argument,
}

/// A level of distrust, in ascending order. Trusted content has no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// The agent chose it; a result that is read beside it vouches for it.
    Chosen,
    /// Nobody vouches for it.
    Untrusted,
}

impl Cause {
    fn level(self) -> Level {
        match self {
            Cause::Argument | Cause::LastArgument(_) | Cause::Budget(_) | Cause::Calls(_) => {
                Level::Chosen
            }
            Cause::Result | Cause::LastResult(_) | Cause::Private => Level::Untrusted,
            Cause::State(_, _, level) => level,
        }
    }
}

/// The least trusted content of a variable, in its values or its keys: its level, and a clause that writes it.
type Stain = Option<(Level, Span)>;

/// The stains of variables, from the writes of any session or of one session so far.
#[derive(Clone)]
pub(crate) struct Flow<'p> {
    program: &'p hir::Program,
    /// By variable.
    stains: Vec<Stain>,
}

impl<'p> Flow<'p> {
    fn of(program: &'p hir::Program) -> Flow<'p> {
        let mut flow = Flow::clean(program);
        // Levels only rise, so this ends: each round stains a variable more, or is the last.
        while flow.spread() {}
        flow
    }

    /// Marks what clauses write; false where nothing new was found.
    fn spread(&mut self) -> bool {
        let mut changed = false;
        for (at, tool) in self.program.tools.iter().enumerate() {
            for clause in &tool.clauses {
                let written = self.written(at, clause);
                changed |= written.is_some_and(|(var, stain)| self.stain(var, stain));
            }
        }
        changed
    }

    /// Returns the variable that a clause writes, and the least trusted part of what it writes.
    fn written(&self, at: hir::ToolId, clause: &hir::Clause) -> Option<(hir::VarId, Stain)> {
        let (target, value) = match &clause.kind {
            _ if clause.rule.shadow => return None,
            hir::ClauseKind::Effect { target, value, .. } => (target, value.as_ref()),
            hir::ClauseKind::Observe { target, value, .. } => (target, Some(value)),
            _ => return None,
        };
        let stain = |e: &Expr| {
            let worst = self.reads(at, [e]).worst(Level::Chosen)?;
            Some((worst.level(), clause.rule.span))
        };
        let made = makes_of_old(&clause.kind).then_some((Level::Chosen, clause.rule.span));
        let keys = target.path.iter().filter_map(|step| match step {
            hir::Step::Index(key) => stain(key),
            hir::Step::Field(_) => None,
        });
        Some((target.var, value.and_then(stain).into_iter().chain(keys).chain(made).max()))
    }

    /// Marks a variable; false where it was marked as much before.
    fn stain(&mut self, var: hir::VarId, stain: Stain) -> bool {
        let level = |stain: Stain| stain.map(|(level, _)| level);
        let is_worse = level(stain) > level(self.stains[var]);
        if is_worse {
            self.stains[var] = stain;
        }
        is_worse
    }

    /// Nothing is marked yet: a session that begins.
    pub(crate) fn clean(program: &'p hir::Program) -> Flow<'p> {
        Flow { program, stains: vec![None; program.state.len()] }
    }

    /// Returns true if something is marked.
    pub(crate) fn is_tainted(&self) -> bool {
        self.stains.iter().any(Option::is_some)
    }

    /// A call of the tool has written: its effects, or what it observed.
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

    /// Returns true if a `learn` clause of a tool may teach, given the stains of the variables.
    pub(crate) fn may_teach(&self, at: hir::ToolId, learn: &hir::Learn) -> bool {
        self.doubt(at, learn).is_none()
    }

    fn reads<'e>(&self, at: hir::ToolId, exprs: impl IntoIterator<Item = &'e Expr>) -> Reads<'_> {
        let mut reads = Reads {
            flow: self,
            at,
            bound: HashMap::new(),
            paths: Vec::new(),
            ranges: Vec::new(),
            causes: Vec::new(),
        };
        exprs.into_iter().for_each(|e| reads.visit(e));
        reads
    }

    /// Returns the reason why a `learn` clause of a tool must not teach; `None` if it may.
    fn doubt(&self, at: hir::ToolId, learn: &hir::Learn) -> Option<Cause> {
        let mut reads = self.reads(at, []);
        for hir::Range { over, binders } in &learn.ranges {
            match reads.path(over) {
                Some((of, mut path)) => {
                    // How many elements there are counts, whatever is read of them.
                    reads.ranges.push((of, path.clone()));
                    reads.keys(over);
                    path.extend(element(over));
                    for slot in binders {
                        reads.bound.insert(*slot, (of, path.clone()));
                    }
                }
                None => reads.visit(over),
            }
        }
        learn.when.iter().chain(&learn.row).for_each(|e| reads.visit(e));
        // The tool's result vouches for arguments beside it. Alone they are the agent's own words.
        let parts = || reads.paths.iter().chain(&reads.ranges);
        let vouched = parts().any(|(of, _)| *of == Root::Result);
        let quiet = parts().next().is_none() && reads.causes.is_empty();
        if quiet && !self.program.tools[at].trust.whole {
            return Some(Cause::Result);
        }
        reads.worst(if vouched { Level::Untrusted } else { Level::Chosen })
    }
}

/// True for a clause that makes something of what the state held before: the agent chooses how often, and when.
fn makes_of_old(clause: &hir::ClauseKind) -> bool {
    let (accumulates, value) = match clause {
        hir::ClauseKind::Effect { op, value, .. } => (op.accumulates(), value.as_ref()),
        hir::ClauseKind::Observe { value, .. } => (false, Some(value)),
        _ => return false,
    };
    let mut reads_state = false;
    let mut note = |e: &Expr| reads_state |= matches!(e.kind, ExprKind::State(_));
    value.into_iter().for_each(|value| value.walk(&mut note));
    accumulates || reads_state
}

/// The call whose result a part belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// The call's own.
    Result,
    /// The last success of a tool.
    Last(hir::ToolId),
}

/// The reads of expressions.
struct Reads<'f> {
    flow: &'f Flow<'f>,
    /// The tool whose clause it is.
    at: hir::ToolId,
    /// Bound variables that stand for elements of a part.
    bound: HashMap<u32, (Root, Path)>,
    /// The parts of results.
    paths: Vec<(Root, Path)>,
    /// The parts of results whose elements are counted.
    ranges: Vec<(Root, Path)>,
    /// What else is not trusted.
    causes: Vec<Cause>,
}

impl Reads<'_> {
    /// Returns the least trusted read, at or above a level of distrust; `None` if there is none.
    fn worst(&self, from: Level) -> Option<Cause> {
        let tools = &self.flow.program.tools;
        let untrusted = |root: &Root, vouches: &dyn Fn(&Trust) -> bool| match root {
            Root::Result => (!vouches(&tools[self.at].trust)).then_some(Cause::Result),
            Root::Last(last) => (!vouches(&tools[*last].trust)).then_some(Cause::LastResult(*last)),
        };
        let parts = self.paths.iter();
        let parts =
            parts.filter_map(|(root, path)| untrusted(root, &|trust| trust.vouches_for(path)));
        let ranges = self
            .ranges
            .iter()
            .filter_map(|(root, path)| untrusted(root, &|trust| trust.vouches_for_range(path)));
        let causes = parts.chain(ranges).chain(self.causes.iter().copied());
        let mut worst: Option<Cause> = None;
        for cause in causes.filter(|cause| cause.level() >= from) {
            if worst.is_none_or(|worst| worst.level() < cause.level()) {
                worst = Some(cause);
            }
        }
        worst
    }

    fn visit(&mut self, e: &Expr) {
        if let Some(path) = self.path(e) {
            self.paths.push(path);
            return self.keys(e);
        }
        match &e.kind {
            ExprKind::Param(_) => self.causes.push(Cause::Argument),
            ExprKind::LastArg(last, _) => self.causes.push(Cause::LastArgument(*last)),
            ExprKind::Spent(unit) | ExprKind::Remaining(unit) => {
                self.causes.push(Cause::Budget(*unit));
            }
            ExprKind::Calls { tool, .. } => self.causes.push(Cause::Calls(*tool)),
            ExprKind::Called { tool, key, .. } if !key.is_empty() => {
                self.causes.push(Cause::LastArgument(*tool));
                key.iter().for_each(|(_, value)| self.visit(value));
            }
            ExprKind::MayRead(who, text) => {
                self.causes.push(Cause::Private);
                self.visit(who);
                self.visit(text);
            }
            ExprKind::State(var) => self.variable(*var),
            _ => match variable(e) {
                Some(var) => {
                    self.variable(var);
                    self.keys(e);
                }
                None => e.children().into_iter().for_each(|child| self.visit(child)),
            },
        }
    }

    /// Reads a variable or a part of it. An entry is there, or not, by whoever chose the keys.
    fn variable(&mut self, var: hir::VarId) {
        self.causes
            .extend(self.flow.stains[var].map(|(level, span)| Cause::State(var, span, level)));
    }

    /// The keys by which a part is reached are read, too.
    fn keys(&mut self, e: &Expr) {
        if let ExprKind::Index(_, key) = &e.kind {
            self.visit(key);
        }
        if let Some(of) = inner(e) {
            self.keys(of);
        }
    }

    /// Returns the part of a result that an expression reads; `None` if it reads none.
    fn path(&self, e: &Expr) -> Option<(Root, Path)> {
        match &e.kind {
            ExprKind::Result => Some((Root::Result, Path::new())),
            ExprKind::LastResult(last) => Some((Root::Last(*last), Path::new())),
            ExprKind::Local(slot) => self.bound.get(slot).cloned(),
            _ => {
                let of = inner(e)?;
                let (root, mut path) = self.path(of)?;
                path.extend(self.step(e, of));
                Some((root, path))
            }
        }
    }

    fn step(&self, e: &Expr, of: &Expr) -> Option<String> {
        match (&e.kind, of.ty.required()) {
            (ExprKind::Member(_, name), _) => Some(name.clone()),
            (ExprKind::Field(_, at), Type::Record(id)) => {
                let field = self.flow.program.records[*id].fields.get(*at as usize)?;
                Some(field.name.clone())
            }
            (ExprKind::Index(..), _) => element(of),
            _ => None,
        }
    }
}

/// The variable that a value is reached in by an index.
fn variable(e: &Expr) -> Option<hir::VarId> {
    let of = inner(e)?;
    match (&e.kind, &of.kind) {
        (ExprKind::Index(..), ExprKind::State(var)) => Some(*var),
        _ => variable(of),
    }
}

/// The step to an element of something.
fn element(of: &Expr) -> Option<String> {
    (*of.ty.required() == Type::Json).then(|| ELEMENT.to_owned())
}

/// Returns the expression that an expression is a part of: its operand, for a member, field, index or unwrap.
fn inner(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Member(of, _)
        | ExprKind::Field(of, _)
        | ExprKind::Index(of, _)
        | ExprKind::Unwrap(of, _) => Some(of),
        _ => None,
    }
}
