//! Lifecycles: their states, transitions and criteria.
//!
//! The tools that they provide to the agent are declared before names are resolved, in
//! `generated_tools`.

use super::TypeChecker;
use crate::errors;
use crate::generated_tools;
use crate::hir;
use guard_plan::plan::{Actor, CriterionKind, Escalate};
use guard_syntax::ast::{self, Ident, LifecycleClause};
use guard_syntax::span::Span;
use std::collections::HashMap;

/// The kinds of criteria, by keyword.
const CRITERIA: [(&str, CriterionKind); 5] = [
    ("file", CriterionKind::File),
    ("file_contains", CriterionKind::FileContains),
    ("command", CriterionKind::Command),
    ("git_commit", CriterionKind::GitCommit),
    ("probe", CriterionKind::Probe),
];

impl TypeChecker<'_, '_> {
    pub(super) fn lifecycles(&mut self) {
        let names = self.names;
        for (at, entry) in names.lifecycles.items.iter().enumerate() {
            let lifecycle = self.lifecycle(entry.decl, entry.docs.join("\n"));
            self.program.lifecycles.push(lifecycle);
            for (tool, op) in generated_tools::operations(entry.decl) {
                if let Some(id) = names.tools.peek(&tool) {
                    self.program.tools[id].served = Some(hir::Served { lifecycle: at, op });
                }
            }
        }
    }

    /// Marks the tools of statements as served by the kernel.
    pub(super) fn statements(&mut self) {
        for statement in &self.names.statements {
            if let Some(id) = self.names.tools.peek(&statement.name.node) {
                self.program.tools[id].states = true;
            }
        }
    }

    fn lifecycle(&mut self, lifecycle: &ast::Lifecycle, doc: String) -> hir::Lifecycle {
        let states = generated_tools::states(lifecycle);
        // INVARIANT: every name of a state in the lifecycle is in the list.
        let state = |name: &Ident| states.iter().position(|s| *s == name.node).unwrap_or(0);
        let mut initial: Option<&Ident> = None;
        let mut finals: Vec<&Ident> = Vec::new();
        let mut out = hir::Lifecycle {
            name: lifecycle.name.node.clone(),
            doc,
            span: lifecycle.name.span,
            fields: Vec::new(),
            states: states.iter().map(|s| (*s).to_owned()).collect(),
            initial: 0,
            finals: Vec::new(),
            transitions: Vec::new(),
            criteria: Vec::new(),
            escalate: None,
        };
        for clause in &lifecycle.clauses {
            match &clause.node {
                LifecycleClause::Fields(fields) => out.fields = self.item_fields(fields),
                LifecycleClause::Initial(state) => match initial {
                    Some(first) => {
                        self.report(errors::said_twice("`initial`", state.span, first.span))
                    }
                    None => initial = Some(state),
                },
                LifecycleClause::Final(states) => finals.extend(states),
                LifecycleClause::Transition(t) => out.transitions.push(hir::Transition {
                    name: t.name.node.clone(),
                    span: t.name.span,
                    actor: self.actor(&t.actor),
                    from: t.from.iter().map(state).collect(),
                    to: state(&t.to),
                    evidence: t.evidence,
                    criteria: t.criteria,
                }),
                LifecycleClause::Criteria(kinds) => out.criteria.extend(self.criteria(kinds)),
                LifecycleClause::Escalate { role, after } => {
                    let after = self.positive(after, "the number of rejections").unwrap_or(1);
                    out.escalate = Some(Escalate { role: role.node.clone(), after });
                }
            }
        }
        out.finals = finals.iter().map(|s| state(s)).collect();
        let transitions = generated_tools::transitions(lifecycle);
        self.reachable(lifecycle, initial, &finals, &transitions);
        self.sensible(&out, &transitions);
        out
    }

    /// Returns the fields of an item. Errors in their types were reported with the tool that
    /// accepts them.
    fn item_fields(&mut self, fields: &[ast::Field]) -> Vec<hir::Field> {
        let before = self.diagnostics.len();
        let fields = self.fields("field", fields);
        self.diagnostics.truncate(before);
        fields
    }

    fn actor(&mut self, actor: &Ident) -> Actor {
        let actors = [("agent", Actor::Agent), ("harness", Actor::Harness)];
        self.choice("actor", actor, &actors).unwrap_or(Actor::Harness)
    }

    fn criteria(&mut self, kinds: &[Ident]) -> Vec<CriterionKind> {
        kinds.iter().filter_map(|kind| self.choice("criterion", kind, &CRITERIA)).collect()
    }

    /// Reports transitions whose criteria or evidence make no sense: the harness checks criteria
    /// and the agent gives evidence, and criteria need a kind of criterion that items can have.
    fn sensible(&mut self, lifecycle: &hir::Lifecycle, transitions: &[&ast::Transition]) {
        for transition in transitions {
            let name = &transition.name.node;
            let span = transition.name.span;
            let agent = transition.actor.node == "agent";
            let (why, help) = match transition.criteria {
                Some(_) if agent => (
                    format!("`{name}` is the agent's, and criteria are judged by the harness"),
                    "make it a `harness` transition",
                ),
                Some(_) if lifecycle.criteria.is_empty() => (
                    format!("`{name}` waits for criteria, and items have none"),
                    "say which kinds there are: `criteria file, command`",
                ),
                _ if transition.evidence && !agent => (
                    format!("`{name}` is the harness's, and evidence is given by the agent"),
                    "require evidence of the agent's transition before it",
                ),
                _ => continue,
            };
            self.report(errors::lifecycle(span, why, help));
        }
        let judged = |pass| lifecycle.transitions.iter().any(|t| t.criteria == Some(pass));
        if !lifecycle.criteria.is_empty() && !judged(true) {
            let why =
                format!("no transition follows when the criteria of a `{}` pass", lifecycle.name);
            let help = "add `harness verify: claimed -> verified when criteria pass`, or remove `criteria`";
            self.report(errors::lifecycle(lifecycle.span, why, help));
        }
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
                let why = format!("the state `{}` is unreachable", state.node);
                let help = format!("no transition leads there from `{}`", initial.node);
                self.report(errors::lifecycle(state.span, why, &help));
            }
        }
    }
}
