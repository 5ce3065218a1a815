//! Reading a guard: which places its expressions name, and which of them exchange values.

use super::{
    ClassContext, Classes, Hint, UrlKind, ValuePlace, each_element, is_closed, is_constant,
};
use crate::analysis::reference::ReferenceSession;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Learn, Range, Step, Target, ToolId, Type,
};
use guard_plan::plan::{EffectOp, QuantifierOp, SourceKind, UrlPart};
use guard_plan::value::Value;
use guard_proof::mutant;

impl<'p> Classes<'p> {
    pub(super) fn read(&mut self, session: &ReferenceSession<'p>) {
        let program = self.program;
        for (id, tool) in program.tools.iter().enumerate() {
            for clause in &tool.clauses {
                let result = Some(self.node(ValuePlace::Result(id)));
                let mut cx = ClassContext::new(session, Some(id), result);
                self.clause(clause, &mut cx);
            }
        }
        for source in &program.sources {
            let place = if source.kind == SourceKind::Start {
                ValuePlace::Data
            } else {
                ValuePlace::Prompt
            };
            let result = Some(self.node(place));
            for (_, learn) in &source.learns {
                let mut cx = ClassContext::new(session, None, result);
                self.learn(learn, &mut cx);
            }
        }
        let mut others: Vec<&Expr> = Vec::new();
        others.extend(program.invariants.iter().map(|i| &i.condition));
        others.extend(program.goals.iter().flat_map(|g| &g.conditions).map(|(_, e)| e));
        for feedback in &program.feedback {
            others.extend(feedback.blocks.iter().filter_map(|b| b.when.as_ref()));
            others.extend(feedback.triggers.iter().filter_map(|t| match t {
                crate::hir::Trigger::Becomes(e) => Some(e),
                _ => None,
            }));
        }
        program.each_check(&mut |check| others.extend(check.expr()));
        for e in others {
            self.visit(e, &mut ClassContext::new(session, None, None));
        }
    }

    pub(super) fn clause(&mut self, clause: &'p Clause, cx: &mut ClassContext<'_, 'p>) {
        match &clause.kind {
            ClauseKind::Requires { any_of, when } => {
                for requirement in any_of {
                    self.key(requirement.tool, &requirement.key, cx);
                }
                when.iter().for_each(|e| _ = self.visit(e, cx));
            }
            ClauseKind::Deny { condition, .. } | ClauseKind::Reconcile { condition, .. } => {
                self.visit(condition, cx);
            }
            ClauseKind::Limit { by: Some(by), .. } => _ = self.visit_opaque(by, cx),
            ClauseKind::Costs { unit, amount, .. } => {
                let node = self.visit_opaque(amount, cx);
                self.hint(node, Hint::Pays(*unit));
            }
            ClauseKind::Risk { when, .. } => _ = self.visit(when, cx),
            ClauseKind::Approval { when: Some(when), .. } => _ = self.visit(when, cx),
            ClauseKind::Effect { ranges, when, target, op, value } => {
                self.ranges(ranges, cx);
                when.iter().for_each(|e| _ = self.visit(e, cx));
                let place = self.target(target, cx);
                if let Some(value) = value {
                    self.effect(place, target, *op, value, cx);
                }
            }
            ClauseKind::Observe { target, value, .. } => {
                let place = self.target(target, cx);
                let node = self.visit(value, cx);
                self.link(Some(place), node);
            }
            ClauseKind::Learn(learn) => self.learn(learn, cx),
            // What the agent reads decides nothing, nor does what is believed.
            ClauseKind::Transform { .. } | ClauseKind::Prior { .. } => {}
            ClauseKind::Private { .. } | ClauseKind::Endorse { .. } => {
                crate::lower::clause_exprs(&clause.kind, &mut |part| {
                    self.visit_opaque(part, cx);
                });
            }
            ClauseKind::Limit { by: None, .. }
            | ClauseKind::Approval { when: None, .. }
            | ClauseKind::Ready(_) => {}
        }
    }

    pub(super) fn effect(
        &mut self,
        place: usize,
        target: &Target,
        op: EffectOp,
        value: &'p Expr,
        cx: &mut ClassContext<'_, 'p>,
    ) {
        let node = self.visit_opaque(value, cx);
        match op {
            EffectOp::Append | EffectOp::Insert | EffectOp::Remove => {
                let part = match self.program.state[target.var].ty.required() {
                    Type::Map(..) if target.path.is_empty() => ValuePlace::Key(place),
                    _ => ValuePlace::Elem(place),
                };
                let part = self.node(part);
                self.relate(Some(part), None, node, Some(value), cx);
            }
            EffectOp::Add | EffectOp::Subtract if target.path.is_empty() => {
                let sign = if op == EffectOp::Add { 1 } else { -1 };
                self.hint(node, Hint::Moves(target.var, sign));
            }
            _ => self.relate(Some(place), None, node, Some(value), cx),
        }
    }

    pub(super) fn target(&mut self, target: &'p Target, cx: &mut ClassContext<'_, 'p>) -> usize {
        let mut ty = self.program.state[target.var].ty.required().clone();
        let mut node = self.node(ValuePlace::State(target.var));
        for step in &target.path {
            match step {
                Step::Field(at) => {
                    let Type::Record(record) = ty else { return node };
                    node = self.node(ValuePlace::Field(record, *at));
                    ty = self.program.records[record].fields[*at as usize].ty.required().clone();
                }
                Step::Index(e) => {
                    let key = self.visit(e, cx);
                    if matches!(ty, Type::Map(..)) {
                        let place = self.node(ValuePlace::Key(node));
                        self.relate(Some(place), None, key, Some(e), cx);
                    }
                    node = self.node(ValuePlace::Elem(node));
                    ty = match &ty {
                        Type::Map(_, value, _) | Type::List(value, _) => value.required().clone(),
                        other => other.clone(),
                    };
                }
            }
        }
        node
    }

    pub(super) fn key(
        &mut self,
        tool: ToolId,
        key: &'p [(u32, Expr)],
        cx: &mut ClassContext<'_, 'p>,
    ) {
        for (param, e) in key {
            let node = self.visit(e, cx);
            let place = self.read_node(ValuePlace::Param(tool, *param));
            self.mark_opaque(place);
            self.relate(place, None, node, Some(e), cx);
        }
    }

    /// Visits what a clause iterates over, and binds its elements.
    fn ranges(&mut self, ranges: &'p [Range], cx: &mut ClassContext<'_, 'p>) {
        for Range { over, binders } in ranges {
            let source = self.source(over, cx);
            self.bind(binders, &[source], std::slice::from_ref(&over.ty), cx);
        }
    }

    pub(super) fn learn(&mut self, learn: &'p Learn, cx: &mut ClassContext<'_, 'p>) {
        self.ranges(&learn.ranges, cx);
        learn.when.iter().for_each(|e| _ = self.visit(e, cx));
        for (at, e) in learn.row.iter().enumerate() {
            let node = self.visit(e, cx);
            let column = self.column(learn.fact, at);
            let single = matches!(e.ty.required(), Type::List(..) | Type::Set(..));
            match node {
                Some(node) if single => {
                    let part = self.node(ValuePlace::Elem(node));
                    self.link(Some(column), Some(part));
                }
                node => self.relate(Some(column), None, node, Some(e), cx),
            }
        }
    }

    pub(super) fn column(&mut self, fact: FactId, at: usize) -> usize {
        self.node(ValuePlace::Field(self.program.facts[fact].row, at as u32))
    }

    pub(super) fn bind(
        &mut self,
        binders: &[u32],
        sources: &[Option<usize>],
        types: &[Type],
        cx: &mut ClassContext<'_, 'p>,
    ) {
        let parts: Vec<Option<usize>> = if sources.len() > 1 {
            sources.iter().map(|s| s.map(|s| self.node(ValuePlace::Elem(s)))).collect()
        } else {
            let source = sources.first().copied().flatten();
            let key = source.map(|s| self.node(ValuePlace::Key(s)));
            let elem = source.map(|s| self.node(ValuePlace::Elem(s)));
            match (binders.len(), types.first().map(Type::required)) {
                (2, _) => vec![key, elem],
                (_, Some(Type::Map(..))) => vec![key],
                _ => vec![elem],
            }
        };
        for (slot, part) in binders.iter().zip(parts) {
            match part {
                Some(part) => _ = cx.locals.insert(*slot, part),
                None => _ = cx.locals.remove(slot),
            }
        }
    }

    /// Two expressions are held against each other; a side without expression is a place.
    pub(super) fn relate(
        &mut self,
        na: Option<usize>,
        a: Option<&'p Expr>,
        nb: Option<usize>,
        b: Option<&'p Expr>,
        cx: &ClassContext<'_, 'p>,
    ) {
        self.link(na, nb);
        for (node, other) in [(na, b), (nb, a)] {
            let (Some(node), Some(other)) = (node, other) else { continue };
            if is_constant(other) {
                if let Ok(value) = cx.session.closed(other, &|_| None) {
                    self.hint(Some(node), Hint::Is(value));
                }
                continue;
            }
            self.opaque[node] = true;
            if is_closed(other) {
                self.hint(Some(node), Hint::Gives(other));
            }
        }
    }

    /// Reads an expression whose value is more than compared with constants.
    pub(super) fn visit_opaque(
        &mut self,
        e: &'p Expr,
        cx: &mut ClassContext<'_, 'p>,
    ) -> Option<usize> {
        let node = self.visit(e, cx);
        self.mark_opaque(node);
        node
    }

    /// Reads an expression; gives the node of the place it names, if it names one.
    pub(super) fn visit(&mut self, e: &'p Expr, cx: &mut ClassContext<'_, 'p>) -> Option<usize> {
        match &e.kind {
            K::Param(at) => self.read_node(ValuePlace::Param(cx.tool?, *at)),
            K::State(var) => self.read_node(ValuePlace::State(*var)),
            K::Local(slot) => cx.locals.get(slot).copied(),
            K::Result | K::Text => {
                self.used[cx.result?] = true;
                cx.result
            }
            K::Field(record, at) => {
                self.visit(record, cx);
                match record.ty.required() {
                    Type::Record(id) => self.read_node(ValuePlace::Field(*id, *at)),
                    _ => None,
                }
            }
            K::Member(of, name) => {
                let of = self.visit(of, cx)?;
                self.read_node(ValuePlace::Member(of, name.clone()))
            }
            K::UrlPart(of, part) => {
                let of = self.visit(of, cx)?;
                let kind = match part {
                    UrlPart::Scheme => UrlKind::Scheme,
                    UrlPart::Host => UrlKind::Host,
                    _ => UrlKind::Other,
                };
                self.opaque[of] = true;
                self.read_node(ValuePlace::Url(of, kind))
            }
            K::Index(collection, at) => {
                let whole = self.visit(collection, cx);
                let key = self.visit(at, cx);
                let Some(whole) = whole else {
                    if !mutant!("a key of constants is any") {
                        self.mark_opaque(key);
                    }
                    return None;
                };
                if matches!(collection.ty.required(), Type::List(..)) {
                    self.mark_opaque(key);
                } else {
                    let place = self.node(ValuePlace::Key(whole));
                    self.relate(Some(place), None, key, Some(at), cx);
                }
                self.read_node(ValuePlace::Elem(whole))
            }
            K::Row(fact, keys) | K::Known(fact, keys) => {
                for (at, key) in keys.iter().enumerate() {
                    let node = self.visit(key, cx);
                    let column = self.column(*fact, at);
                    self.relate(Some(column), None, node, Some(key), cx);
                }
                None
            }
            K::Compare(_, a, b) => {
                let na = self.visit(a, cx);
                let nb = self.visit(b, cx);
                self.relate(na, Some(a), nb, Some(b), cx);
                None
            }
            K::Else(a, b) | K::If(_, a, b) => {
                if let K::If(condition, ..) = &e.kind {
                    self.visit(condition, cx);
                }
                let na = self.visit(a, cx);
                let nb = self.visit(b, cx);
                self.link(na, nb);
                na.or(nb)
            }
            K::In(a, b) => self.member_of(a, b, cx),
            K::Within(a, b) => {
                let (na, _) = (self.visit(a, cx), self.visit(b, cx));
                self.mark_opaque(na);
                if let Ok(Value::Path(base)) = cx.session.closed(b, &|_| None) {
                    self.hint(na, Hint::Below(base.into()));
                }
                None
            }
            K::Matches(operand, pattern) => {
                let node = self.visit_opaque(operand, cx);
                self.hint(node, Hint::Matches(pattern.clone()));
                None
            }
            K::Unwrap(operand, _) => self.visit(operand, cx),
            K::Arith(_, a, b) => {
                let na = self.visit_opaque(a, cx);
                let nb = self.visit_opaque(b, cx);
                na.or(nb)
            }
            K::Neg(operand) => self.visit_opaque(operand, cx),
            K::Quantified { op, over, binders, body } => {
                let sources: Vec<Option<usize>> =
                    over.iter().map(|source| self.source(source, cx)).collect();
                let types: Vec<Type> = over.iter().map(|source| source.ty.clone()).collect();
                self.bind(binders, &sources, &types, cx);
                let element = binders.last().and_then(|slot| cx.locals.get(slot)).copied();
                let node = self.visit(body, cx);
                if *op == QuantifierOp::First {
                    self.mark_opaque(element);
                    return element;
                }
                if !matches!(op, QuantifierOp::All | QuantifierOp::Any | QuantifierOp::Count) {
                    self.mark_opaque(node);
                }
                None
            }
            K::Call(builtin, args) => self.call(*builtin, args, cx),
            K::Called { tool, key, .. } => {
                self.key(*tool, key, cx);
                None
            }
            K::LastArg(tool, at) => self.read_node(ValuePlace::Param(*tool, *at)),
            K::LastResult(tool) => self.read_node(ValuePlace::Result(*tool)),
            K::Said => self.read_node(ValuePlace::Prompt),
            K::Probe(probe) => self.read_node(ValuePlace::Probe(*probe)),
            K::Not(_)
            | K::And(..)
            | K::Or(..)
            | K::Implies(..)
            | K::IsSome(_)
            | K::Temporal(..) => {
                for child in e.children() {
                    self.visit(child, cx);
                }
                None
            }
            // What becomes a part of a value has no classes of its own any more. The text of a key is no value of the class of
            // the key.
            _ => {
                for child in e.children() {
                    let node = self.visit(child, cx);
                    if !mutant!("a part of a value has classes") {
                        self.mark_opaque(node);
                    }
                }
                None
            }
        }
    }

    /// Returns the place of a collection that is ranged over. A list of constants gets a place of
    /// its own.
    pub(super) fn source(&mut self, e: &'p Expr, cx: &mut ClassContext<'_, 'p>) -> Option<usize> {
        if !is_constant(e) {
            return self.visit_opaque(e, cx);
        }
        let constants = self.places.len();
        let node = self.node(ValuePlace::Constants(constants));
        let part = self.node(ValuePlace::Elem(node));
        if let Ok(value) = cx.session.closed(e, &|_| None) {
            each_element(&value, &mut |v| self.hints[part].push(Hint::Is(v.clone())));
        }
        Some(node)
    }

    pub(super) fn member_of(
        &mut self,
        a: &'p Expr,
        b: &'p Expr,
        cx: &mut ClassContext<'_, 'p>,
    ) -> Option<usize> {
        let na = self.visit(a, cx);
        let nb = self.visit(b, cx);
        if matches!(b.ty.required(), Type::String(_)) {
            self.mark_opaque(na);
            self.mark_opaque(nb);
            for part in self.constants(na, a, cx) {
                self.hint(nb, Hint::Holds(part));
            }
            return None;
        }
        if is_constant(b) {
            if let Ok(value) = cx.session.closed(b, &|_| None) {
                each_element(&value, &mut |v| self.hint(na, Hint::Is(v.clone())));
            }
            return None;
        }
        let Some(nb) = nb else {
            self.mark_opaque(na);
            return None;
        };
        let part = if matches!(b.ty.required(), Type::Map(..)) {
            ValuePlace::Key(nb)
        } else {
            ValuePlace::Elem(nb)
        };
        let part = self.node(part);
        self.relate(na, Some(a), Some(part), None, cx);
        None
    }
}
