//! Everything outside tools that holds conditions: feedback, completion, lifecycles, goals, contracts, sources.
//!
//! Checked whole; what this version of the kernel does not carry out yet is said in a warning.

use super::Checker;
use super::scope::{Missing, Place, Scope};
use super::ty::fits;
use crate::errors;
use crate::hir::Type;
use guard_syntax::ast::{self, BlockCondition, CheckKind, ContractClause, Ident, LifecycleClause};
use guard_syntax::span::Span;
use std::collections::{BTreeSet, HashMap};

fn session_scope(missing: Missing) -> Scope<'static> {
    Scope::new(Place::Session, &[], missing)
}

impl Checker<'_, '_> {
    pub(super) fn items(&mut self) {
        let names = self.names;
        for entry in &names.feedbacks.items {
            self.feedback(entry.decl);
            self.report(errors::not_enforced("feedback", entry.name.span));
        }
        if let Some((completion, span)) = names.completion {
            self.checks(&completion.checks);
            if let Some(n) = &completion.at_most {
                self.positive(n, "the number of blocks");
            }
            self.report(errors::not_enforced("completion", span));
        }
        for entry in &names.attests.items {
            self.attest(entry.decl);
            self.report(errors::not_enforced("the attest", entry.name.span));
        }
        for entry in &names.goals.items {
            for condition in &entry.decl.conditions {
                self.condition(condition, &mut session_scope(Missing::Any));
            }
            self.report(errors::not_enforced("the goal", entry.name.span));
        }
        for entry in &names.lifecycles.items {
            self.lifecycle(entry.decl);
            self.report(errors::not_enforced("the lifecycle", entry.name.span));
        }
        for entry in &names.contracts.items {
            self.contract(entry.decl);
            self.report(errors::not_enforced("the contract", entry.name.span));
        }
        for source in &names.sources {
            self.source(source);
        }
    }

    fn positive(&mut self, n: &ast::Literal, what: &str) {
        match n.node.parse::<u32>() {
            Ok(0) => self.report(errors::count_of_nothing(n.span, what)),
            Ok(_) => {}
            Err(_) => self.report(errors::literal(n.span, &n.node, "is no whole number")),
        }
    }

    fn feedback(&mut self, feedback: &ast::Feedback) {
        for trigger in &feedback.triggers {
            match &trigger.node {
                ast::Trigger::Calls(n) => self.positive(n, "the number of calls"),
                ast::Trigger::Every(d) => match self.duration(d) {
                    Some(0) => self.report(errors::count_of_nothing(
                        d.span,
                        "the number of milliseconds between two",
                    )),
                    _ => continue,
                },
                ast::Trigger::Created(_) | ast::Trigger::Denied(None) => {}
                ast::Trigger::Denied(Some(tools)) => {
                    self.tool_set(tools);
                }
                ast::Trigger::When(e) => {
                    self.condition(e, &mut session_scope(Missing::Any));
                }
            }
        }
        let mut unconditional: Option<Span> = None;
        for block in &feedback.blocks {
            let severities = ["info", "caution", "warning"];
            if !severities.contains(&block.severity.node.as_str()) {
                self.report(errors::unknown_word(
                    "severity",
                    &block.severity,
                    severities.into_iter(),
                ));
            }
            if let Some(before) = unconditional {
                self.report(errors::unreachable_block(block.span.0, before));
            }
            match &block.condition {
                BlockCondition::Guard(guard) => {
                    self.condition(&guard.condition, &mut session_scope(Missing::Any));
                }
                BlockCondition::Always | BlockCondition::Otherwise => {
                    unconditional = unconditional.or(Some(block.span.0));
                }
            }
            let mut scope = session_scope(Missing::Any);
            self.message(&block.message, &mut scope);
            for note in &block.notes {
                self.message(&note.text, &mut scope);
            }
        }
    }

    fn checks(&mut self, checks: &[ast::Check]) {
        for check in checks {
            self.check(check, false);
        }
    }

    /// One completion check; a dimension of an attest may also be a score.
    fn check(&mut self, check: &ast::Check, scored: bool) {
        match &check.kind {
            CheckKind::File(_) | CheckKind::FileContains(..) | CheckKind::GitCommitted => {}
            CheckKind::FileConforms(_, contract) => {
                if self.names.contracts.get(&contract.node).is_none() {
                    self.report(errors::unknown_word(
                        "contract",
                        contract,
                        self.names.contracts.names(),
                    ));
                }
            }
            CheckKind::Command { exits, within, .. } => {
                if exits.node.parse::<u8>().is_err() {
                    self.report(errors::literal(
                        exits.span,
                        &exits.node,
                        "is no exit status: 0 to 255",
                    ));
                }
                if let Some(within) = within {
                    self.duration(within);
                }
            }
            CheckKind::Every { lifecycle, state } => self.every(lifecycle, state),
            CheckKind::Attest(name) => {
                if self.names.attests.get(&name.node).is_none() {
                    self.report(errors::unknown_word("attest", name, self.names.attests.names()));
                }
            }
            CheckKind::All(checks) => self.checks(checks),
            CheckKind::Any(checks) => {
                if checks.is_empty() {
                    self.report(errors::empty_any(check.span.0));
                }
                self.checks(checks);
            }
            CheckKind::Expr(e) => {
                let mut scope = session_scope(Missing::Refuses(false));
                if !scored {
                    self.condition(e, &mut scope);
                    return;
                }
                let found = self.expr(e, None, &mut scope);
                let score =
                    matches!(found.ty.required(), Type::Bool | Type::Decimal(..) | Type::Error);
                if !score {
                    let shown = self.show(&found.ty);
                    self.report(errors::mismatch(
                        e.span,
                        "a bool or a score between 0.0 and 1.0",
                        &shown,
                    ));
                }
            }
        }
    }

    fn every(&mut self, lifecycle: &Ident, state: &Ident) {
        let Some(at) = self.names.lifecycles.get(&lifecycle.node) else {
            self.report(errors::unknown_word(
                "lifecycle",
                lifecycle,
                self.names.lifecycles.names(),
            ));
            return;
        };
        let states = states(self.names.lifecycles.items[at].decl);
        if !states.contains(state.node.as_str()) {
            self.report(errors::unknown_word("state", state, states.iter().copied()));
        }
    }

    fn attest(&mut self, attest: &ast::Attest) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for (dimension, check) in &attest.dimensions {
            if let Some(first) = seen.insert(&dimension.node, dimension.span) {
                self.report(errors::duplicate("dimension", dimension, first));
            }
            self.check(check, true);
        }
    }

    fn lifecycle(&mut self, lifecycle: &ast::Lifecycle) {
        let mut initial: Option<&Ident> = None;
        let mut finals: Vec<&Ident> = Vec::new();
        let mut transitions: Vec<&ast::Transition> = Vec::new();
        for clause in &lifecycle.clauses {
            match &clause.node {
                LifecycleClause::Fields(fields) => {
                    self.fields("field", fields);
                }
                LifecycleClause::Initial(state) => match initial {
                    Some(first) => {
                        self.report(errors::said_twice("`initial`", state.span, first.span))
                    }
                    None => initial = Some(state),
                },
                LifecycleClause::Final(states) => finals.extend(states),
                LifecycleClause::Transition(transition) => {
                    let actors = ["agent", "harness"];
                    if !actors.contains(&transition.actor.node.as_str()) {
                        self.report(errors::unknown_word(
                            "actor",
                            &transition.actor,
                            actors.into_iter(),
                        ));
                    }
                    transitions.push(transition);
                }
                LifecycleClause::Criteria(kinds) => {
                    let known = ["file", "file_contains", "command", "git_commit", "probe"];
                    for kind in kinds.iter().filter(|k| !known.contains(&k.node.as_str())) {
                        self.report(errors::unknown_word("criterion", kind, known.into_iter()));
                    }
                }
                LifecycleClause::Escalate { after, .. } => {
                    self.positive(after, "the number of rejections")
                }
            }
        }
        self.reachable(lifecycle, initial, &finals, &transitions);
    }

    fn reachable(
        &mut self,
        lifecycle: &ast::Lifecycle,
        initial: Option<&Ident>,
        finals: &[&Ident],
        transitions: &[&ast::Transition],
    ) {
        let Some(initial) = initial else {
            let why = format!("the lifecycle `{}` has no initial state", lifecycle.name.node);
            self.report(errors::lifecycle(lifecycle.name.span, why, "write `initial pending`"));
            return;
        };
        let mut names: HashMap<&str, Span> = HashMap::new();
        for transition in transitions {
            if let Some(first) = names.insert(&transition.name.node, transition.name.span) {
                self.report(errors::duplicate("transition", &transition.name, first));
            }
        }
        let mut reached: Vec<&str> = vec![&initial.node];
        let mut next = 0;
        while let Some(state) = reached.get(next).copied() {
            next += 1;
            for transition in transitions.iter().filter(|t| t.from.iter().any(|f| f.node == state))
            {
                if !reached.contains(&transition.to.node.as_str()) {
                    reached.push(&transition.to.node);
                }
            }
        }
        let sources = transitions.iter().flat_map(|t| t.from.iter());
        for state in sources.chain(finals.iter().copied()) {
            if !reached.contains(&state.node.as_str()) {
                let why = format!("the state `{}` is never reached", state.node);
                let help = format!("no transition leads there from `{}`", initial.node);
                self.report(errors::lifecycle(state.span, why, &help));
            }
        }
    }

    fn contract(&mut self, contract: &ast::Contract) {
        let mut members: HashMap<String, (Type, Span)> = HashMap::new();
        for clause in &contract.clauses {
            match &clause.node {
                ContractClause::Field(field) => {
                    let ty = self.ty(&field.ty);
                    self.member(&mut members, &field.name, ty);
                }
                ContractClause::Items { name, shape, max, by } => {
                    let max = max.as_ref().and_then(|m| self.count(m));
                    let ty = match shape {
                        ast::ItemShape::Type(ty) => self.ty(ty),
                        ast::ItemShape::Schema(_) => Type::Json,
                    };
                    if let Some(by) = by {
                        self.ranked_by(by, &ty);
                    }
                    self.member(&mut members, name, Type::List(ty.into(), max));
                }
                ContractClause::Bounds(bounds) => self.bounds(bounds),
                ContractClause::Reference { .. } => {}
            }
        }
        for clause in &contract.clauses {
            if let ContractClause::Reference { path, allowed } = &clause.node {
                self.reference(&members, path, allowed);
            }
        }
    }

    fn member(&mut self, members: &mut HashMap<String, (Type, Span)>, name: &Ident, ty: Type) {
        if let Some((_, first)) = members.insert(name.node.clone(), (ty, name.span)) {
            self.report(errors::duplicate("member", name, first));
        }
    }

    fn ranked_by(&mut self, by: &Ident, item: &Type) {
        let Type::Record(id) = item else {
            if !matches!(item, Type::Json | Type::Error) {
                let why = format!("items are ranked by a field, and this is {}", self.show(item));
                self.report(errors::contract(
                    by.span,
                    why,
                    "give the items a record type, or remove `by`",
                ));
            }
            return;
        };
        let def = self.program.records[*id].clone();
        match def.fields.iter().find(|f| f.name == by.node) {
            Some(field)
                if matches!(
                    field.ty,
                    Type::Int(..) | Type::Decimal(..) | Type::Time(_) | Type::Error
                ) => {}
            Some(field) => {
                let why = format!(
                    "items cannot be ranked by `{}`, which is {}",
                    by.node,
                    self.show(&field.ty)
                );
                self.report(errors::contract(
                    by.span,
                    why,
                    "rank by an int, a decimal or a time that is always there",
                ));
            }
            None => {
                let of = format!("the record `{}`", def.name);
                self.report(errors::unknown_field(
                    by,
                    &of,
                    def.fields.iter().map(|f| f.name.as_str()),
                ));
            }
        }
    }

    fn bounds(&mut self, bounds: &[(Ident, ast::Literal)]) {
        let known = ["depth", "string", "bytes", "quarantine"];
        for (name, value) in bounds {
            if !known.contains(&name.node.as_str()) {
                self.report(errors::unknown_word("bound", name, known.into_iter()));
            }
            match super::literal::size(&value.node) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.count(value);
                }
                Err(why) => self.report(errors::literal(value.span, &value.node, &why)),
            }
        }
    }

    fn reference(
        &mut self,
        members: &HashMap<String, (Type, Span)>,
        path: &[Ident],
        allowed: &ast::Expr,
    ) {
        let Some(first) = path.first() else { return };
        let Some((mut ty, _)) = members.get(&first.node).cloned() else {
            let mut known: Vec<&str> = members.keys().map(String::as_str).collect();
            known.sort_unstable();
            self.report(errors::unknown_field(first, "the contract", known.into_iter()));
            return;
        };
        for name in &path[1..] {
            let element = match &ty {
                Type::List(of, _) | Type::Set(of, _) => (**of).clone(),
                other => other.clone(),
            };
            let Type::Record(id) = element.required() else {
                if !matches!(element.required(), Type::Json | Type::Error) {
                    let shown = self.show(&element);
                    self.report(errors::no_fields(name.span, &shown));
                }
                return;
            };
            let def = self.program.records[*id].clone();
            match def.fields.iter().find(|f| f.name == name.node) {
                Some(field) => ty = field.ty.clone(),
                None => {
                    let of = format!("the record `{}`", def.name);
                    self.report(errors::unknown_field(
                        name,
                        &of,
                        def.fields.iter().map(|f| f.name.as_str()),
                    ));
                    return;
                }
            }
        }
        self.reference_target(&ty, allowed);
    }

    /// What a reference may point to: a collection in state, a fact, or something the host gives by name.
    fn reference_target(&mut self, ty: &Type, allowed: &ast::Expr) {
        if let ast::ExprKind::Name(name) = &allowed.kind
            && self.names.state.peek(name).is_none()
        {
            // A fact, or a list that the host hands over under this name.
            self.names.facts.get(name);
            return;
        }
        let mut scope = session_scope(Missing::Any);
        let found =
            self.expr(allowed, Some(&Type::Set(ty.required().clone().into(), None)), &mut scope);
        let element = match found.ty.required() {
            Type::List(of, _) | Type::Set(of, _) => (**of).clone(),
            Type::Map(..) => Type::string(),
            Type::Error => return,
            other => {
                let shown = self.show(other);
                self.report(errors::mismatch(allowed.span, "a collection or a fact", &shown));
                return;
            }
        };
        if !fits(ty.required(), &element) {
            let (l, r) = (self.show(ty), self.show(&element));
            self.report(errors::mismatch(
                allowed.span,
                &format!("a collection of what refers, {l}"),
                &r,
            ));
        }
    }

    fn source(&mut self, source: &ast::Source) {
        let known = ["prompt", "start"];
        if !known.contains(&source.name.node.as_str()) {
            self.report(errors::unknown_word("source", &source.name, known.into_iter()));
        }
        for learn in &source.learns {
            let mut scope = Scope::new(Place::Source, &[], Missing::Any);
            self.learn(&learn.node, learn.span, &mut scope);
        }
        self.report(errors::not_enforced("the source", source.name.span));
    }
}

/// The states a lifecycle names.
fn states(lifecycle: &ast::Lifecycle) -> BTreeSet<&str> {
    let mut states = BTreeSet::new();
    for clause in &lifecycle.clauses {
        match &clause.node {
            LifecycleClause::Initial(state) => {
                states.insert(state.node.as_str());
            }
            LifecycleClause::Final(finals) => states.extend(finals.iter().map(|s| s.node.as_str())),
            LifecycleClause::Transition(t) => {
                states.extend(t.from.iter().chain([&t.to]).map(|s| s.node.as_str()));
            }
            _ => {}
        }
    }
    states
}
