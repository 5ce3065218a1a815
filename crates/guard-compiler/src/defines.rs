//! Defines: the size of the expression that each one stands for, and the check that no define uses
//! itself.
//!
//! A use of a define is replaced by its expression, with an argument in the place of each
//! parameter. The size of the result is computed here, before anything is replaced, so that no
//! chain of defines can make a guard grow without limit. The module `types` handles types and names
//! of other kinds.

use crate::errors;
use crate::limits::{MAX_DEPTH, MAX_NODES};
use crate::names::NameTable;
use guard_plan::builtin::TABLE;
use guard_syntax::ast::{self, BinaryOp, Expr, ExprKind};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

/// The questions whose first operand names a tool or a unit.
pub(crate) const OF_A_NAME: [&str; 7] =
    ["called", "failed", "calls", "failures", "last", "remaining", "spent"];
/// The questions about earlier calls, which may be followed by `since TOOL`.
const HISTORY: [&str; 2] = ["called", "failed"];
/// Values and functions of the language that are not in the table of builtins.
const VALUES: [&str; 5] = ["now", "elapsed", "workspace", "clock", "result"];
/// Values of the language that only a source reads.
const SOURCE_VALUES: [&str; 2] = ["text", "data"];
const FUNCTIONS: [&str; 9] =
    ["exists", "origin", "seen", "may_read", "zip", "pairs", "count", "sum", "Beta"];

/// Returns true if a name is a value of the language in clauses of a tool, so that no `let` may
/// have it. Functions are not included: a `let` may have the name of a function, and so may a
/// parameter.
pub(crate) fn is_value(name: &str) -> bool {
    VALUES.contains(&name)
}

/// Returns true if a name belongs to the language, so that no define may have it.
pub(crate) fn is_built_in(name: &str) -> bool {
    let words = VALUES.iter().chain(&SOURCE_VALUES).chain(&FUNCTIONS).chain(&OF_A_NAME);
    words.into_iter().any(|word| *word == name) || TABLE.iter().any(|row| row.name == name)
}

/// The size of an expression with all its defines replaced.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenOut {
    /// The number of nodes. An occurrence of a parameter counts as none.
    nodes: u64,
    /// The depth.
    depth: u64,
    /// For each parameter, the number of occurrences and the depth of the deepest one.
    params: Vec<(u64, u64)>,
}

impl WrittenOut {
    /// Returns the number of nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the depth.
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// Returns true if it is larger than the limits for one use.
    pub fn is_too_large(&self) -> bool {
        self.nodes > MAX_NODES || self.depth > MAX_DEPTH
    }

    /// Returns true if a parameter occurs.
    pub fn uses(&self, param: usize) -> bool {
        self.params.get(param).is_some_and(|(times, _)| *times > 0)
    }

    fn occurrence(param: usize, params: usize) -> WrittenOut {
        let mut out = WrittenOut { params: vec![(0, 0); params], ..WrittenOut::default() };
        out.params[param] = (1, 1);
        out
    }

    /// Adds the expression of a define, which has its own parameters.
    fn add_body(&mut self, body: &WrittenOut) {
        // Its parameters are counted with the arguments of the use.
        self.nodes = self.nodes.saturating_add(body.nodes);
        self.depth = self.depth.max(body.depth.saturating_add(1));
    }

    /// Adds a part that is `below` levels deeper, `times` times.
    fn add(&mut self, part: &WrittenOut, times: u64, below: u64) {
        self.nodes = self.nodes.saturating_add(part.nodes.saturating_mul(times));
        if times > 0 {
            self.depth = self.depth.max(part.depth.saturating_add(below));
        }
        for (mine, theirs) in self.params.iter_mut().zip(&part.params) {
            let count = theirs.0.saturating_mul(times);
            mine.0 = mine.0.saturating_add(count);
            if count > 0 {
                mine.1 = mine.1.max(theirs.1.saturating_add(below));
            }
        }
    }
}

/// The names that an expression is measured with.
pub(crate) struct Measure<'m> {
    /// The sizes of the defines.
    pub sizes: &'m [Option<WrittenOut>],
    /// The position of a define.
    pub define: &'m dyn Fn(&str) -> Option<usize>,
    /// The parameters of the define that the expression belongs to.
    pub params: &'m [&'m str],
    /// The size of a `let`.
    pub given: &'m dyn Fn(&str) -> Option<WrittenOut>,
}

impl Measure<'_> {
    /// Measures an expression; names in `bound` are bound variables.
    pub fn measure<'e>(&self, e: &'e Expr, bound: &mut Vec<&'e str>) -> WrittenOut {
        let mut out = WrittenOut { nodes: 1, depth: 1, params: vec![(0, 0); self.params.len()] };
        match &e.kind {
            ExprKind::Name(name) if !bound.contains(&name.as_str()) => {
                if let Some(param) = self.params.iter().position(|p| p == name) {
                    return WrittenOut::occurrence(param, self.params.len());
                }
                if let Some(part) = (self.given)(name) {
                    out.add_body(&part);
                } else if let Some(part) = self.size(name) {
                    out.add_body(part);
                }
            }
            ExprKind::Call(name, args) if self.size(&name.node).is_some() => {
                let Some(part) = self.size(&name.node) else { return out };
                out.add_body(part);
                for (at, arg) in args.iter().enumerate() {
                    // Named arguments may be in any order: the maximum over all parameters is
                    // assumed.
                    let most = part.params.iter().fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)));
                    let (times, below) = match &arg.name {
                        Some(_) => most,
                        None => part.params.get(at).copied().unwrap_or((1, 1)),
                    };
                    let arg = self.measure(&arg.value, bound);
                    // An argument that does not occur is typed all the same.
                    out.add(&arg, times.max(1), below.saturating_add(1));
                }
            }
            ExprKind::Quantified { binders, over, body, .. } => {
                out.add(&self.measure(over, bound), 1, 1);
                let outer = bound.len();
                bound.extend(binders.iter().map(|binder| binder.node.as_str()));
                out.add(&self.measure(body, bound), 1, 1);
                bound.truncate(outer);
            }
            _ => {
                for part in operands(e) {
                    out.add(&self.measure(part, bound), 1, 1);
                }
            }
        }
        out
    }

    fn size(&self, name: &str) -> Option<&WrittenOut> {
        self.sizes.get((self.define)(name)?)?.as_ref()
    }
}

/// Returns the children of an expression that are expressions themselves, not names of tools or units.
fn operands(e: &Expr) -> Vec<&Expr> {
    let mut children = e.children();
    match &e.kind {
        ExprKind::Call(name, _) if OF_A_NAME.contains(&name.node.as_str()) => {
            children = children.split_off(children.len().min(1));
        }
        ExprKind::Binary(BinaryOp::Since, left, _) if asks_history(left) => children.truncate(1),
        _ => {}
    }
    children
}

fn asks_history(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(name, _) => HISTORY.contains(&name.node.as_str()),
        ExprKind::Binary(BinaryOp::Within | BinaryOp::Since, left, _) => asks_history(left),
        _ => false,
    }
}

/// A free name of an expression.
pub(crate) struct FreeName<'e> {
    pub name: &'e str,
    pub span: Span,
    /// True for the name of a called function, false for a value.
    pub called: bool,
}

/// Collects the free names of an expression, as values and as functions.
pub(crate) fn free_names<'e>(e: &'e Expr, bound: &mut Vec<&'e str>, out: &mut Vec<FreeName<'e>>) {
    match &e.kind {
        ExprKind::Name(name) if !bound.contains(&name.as_str()) => {
            out.push(FreeName { name, span: e.span, called: false });
        }
        ExprKind::Quantified { binders, over, body, .. } => {
            free_names(over, bound, out);
            let outer = bound.len();
            bound.extend(binders.iter().map(|binder| binder.node.as_str()));
            free_names(body, bound, out);
            bound.truncate(outer);
        }
        _ => {
            if let ExprKind::Call(name, _) = &e.kind {
                out.push(FreeName { name: &name.node, span: name.span, called: true });
            }
            operands(e).into_iter().for_each(|part| free_names(part, bound, out));
        }
    }
}

/// Returns an order in which each node comes after the nodes that it uses, and the cycles. Each
/// cycle is a path of nodes, with the position at which each node names the next. The search is
/// iterative, because chains of declarations may be as long as the file.
pub(crate) fn ordered(uses: &[Vec<(usize, Span)>]) -> (Vec<usize>, Vec<Vec<(usize, Span)>>) {
    // 0 unseen, 1 open, 2 done.
    let mut mark = vec![0u8; uses.len()];
    let mut order = Vec::new();
    let mut cycles = Vec::new();
    for start in 0..uses.len() {
        let mut path: Vec<(usize, usize)> =
            if mark[start] == 0 { vec![(start, 0)] } else { vec![] };
        while let Some((at, next)) = path.pop() {
            mark[at] = 1;
            let Some(&(used, _)) = uses[at].get(next) else {
                mark[at] = 2;
                order.push(at);
                continue;
            };
            path.push((at, next + 1));
            match mark[used] {
                0 => path.push((used, 0)),
                1 => {
                    // INVARIANT: an open node is on the path.
                    let from = path.iter().position(|(on, _)| *on == used).unwrap_or(0);
                    let step = |(on, next): &(usize, usize)| (*on, uses[*on][next - 1].1);
                    cycles.push(path[from..].iter().map(step).collect());
                }
                _ => {}
            }
        }
    }
    (order, cycles)
}

/// Marks the names that are part of a cycle, and reports the cycles. If cycles share a name, only
/// the first is reported.
pub(crate) fn in_cycles<'n>(
    count: usize,
    cycles: &[Vec<(usize, Span)>],
    name: impl Fn(usize) -> &'n str,
    mut report: impl FnMut(&mut [(&'n str, Span)]),
) -> Vec<bool> {
    let mut broken = vec![false; count];
    for cycle in cycles {
        if cycle.iter().any(|(at, _)| broken[*at]) {
            continue;
        }
        cycle.iter().for_each(|(at, _)| broken[*at] = true);
        let named = cycle.iter().map(|(at, span)| (name(*at), *span));
        report(&mut named.collect::<Vec<_>>());
    }
    broken
}

/// Measures all defines, and reports those that use themselves or are too large.
pub(crate) fn written_out(
    defines: &NameTable<ast::Define>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Option<WrittenOut>> {
    let uses: Vec<Vec<(usize, Span)>> =
        defines.items.iter().map(|e| used(defines, e.decl)).collect();
    let (order, cycles) = ordered(&uses);
    let name = |at: usize| defines.items[at].name.node.as_str();
    let broken = in_cycles(uses.len(), &cycles, name, |cycle| {
        diagnostics.push(errors::define_cycle("define", cycle));
    });
    let mut sizes: Vec<Option<WrittenOut>> = vec![None; uses.len()];
    for at in order {
        // A define that uses a define with an error has an error too, and the error was reported.
        if broken[at] || uses[at].iter().any(|(used, _)| sizes[*used].is_none()) {
            continue;
        }
        let define = defines.items[at].decl;
        let params: Vec<&str> = define.params.iter().map(|p| p.name.node.as_str()).collect();
        let position = |name: &str| defines.peek(name);
        let measure =
            Measure { sizes: &sizes, define: &position, params: &params, given: &|_| None };
        let size = measure.measure(&define.value, &mut Vec::new());
        if size.is_too_large() {
            diagnostics.push(errors::define_too_large(&define.name, size.nodes, size.depth));
            continue;
        }
        sizes[at] = Some(size);
    }
    sizes
}

/// Returns the defines that the expression of a define names, without its parameters.
fn used(defines: &NameTable<ast::Define>, define: &ast::Define) -> Vec<(usize, Span)> {
    let mut names = Vec::new();
    let mut bound: Vec<&str> = define.params.iter().map(|p| p.name.node.as_str()).collect();
    free_names(&define.value, &mut bound, &mut names);
    names.into_iter().filter_map(|free| Some((defines.peek(free.name)?, free.span))).collect()
}
