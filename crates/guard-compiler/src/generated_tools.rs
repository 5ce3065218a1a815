//! The tools that lifecycles (semantics §11) and statements (§11a) provide to the agent, as
//! ordinary declarations.
//!
//! They are declared in a file of their own before names are resolved. So policies, requirements
//! and scenarios can name them, and later phases do not need to handle a second kind of tool. Every
//! span is the span of the lifecycle or statement.

use crate::errors;
use guard_plan::plan::ServedOp;
use guard_syntax::ast::{
    Clause, ClauseKind, Effect, EffectKind, Enum, Expr, ExprKind, Field, File, FileItem, Ident,
    ItemKind, Lifecycle, LifecycleClause, OtherForms, RecordDecl, Refinement, SpanEq, StateVar,
    Statement, Step, Target, Tool, Transition, Type, TypeKind, Variant,
};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

/// The record of an acceptance criterion. No author can write this name.
const CRITERION: &str = "lifecycle criterion";
/// The record of a piece of evidence. No author can write this name.
const EVIDENCE: &str = "lifecycle evidence";
/// The maximum number of criteria of one item.
const MAX_CRITERIA: &str = "20";
/// The maximum number of pieces of evidence of one transition.
const MAX_EVIDENCE: &str = "100";

/// The default maximum number of statements of one kind that are kept.
const MAX_STATEMENTS: &str = "1000";

/// Returns the tools of a lifecycle: name and operation. Transitions are numbered across the whole
/// lifecycle.
pub(crate) fn operations(lifecycle: &Lifecycle) -> Vec<(String, ServedOp)> {
    let name = |what: &str| format!("{}_{what}", lifecycle.name.node);
    let moves = transitions(lifecycle).into_iter().zip(0..);
    let agents = moves.filter(|(transition, _)| transition.actor.node == "agent");
    let moves = agents.map(|(transition, at)| (name(&transition.name.node), ServedOp::Move(at)));
    let fixed = [(name("create"), ServedOp::Create), (name("list"), ServedOp::List)];
    fixed.into_iter().chain(moves).collect()
}

/// Returns the transitions of a lifecycle, in source order.
pub(crate) fn transitions(lifecycle: &Lifecycle) -> Vec<&Transition> {
    lifecycle
        .clauses
        .iter()
        .filter_map(|clause| match &clause.node {
            LifecycleClause::Transition(transition) => Some(transition),
            _ => None,
        })
        .collect()
}

/// Returns the states that a lifecycle names, in the order of first mention, the initial state
/// first.
pub(crate) fn states(lifecycle: &Lifecycle) -> Vec<&str> {
    let mut named: Vec<&Ident> = Vec::new();
    for clause in &lifecycle.clauses {
        match &clause.node {
            LifecycleClause::Initial(state) => named.insert(0, state),
            LifecycleClause::Final(finals) => named.extend(finals),
            LifecycleClause::Transition(t) => named.extend(t.from.iter().chain([&t.to])),
            _ => {}
        }
    }
    let mut states: Vec<&str> = Vec::new();
    for state in named {
        if !states.contains(&state.node.as_str()) {
            states.push(&state.node);
        }
    }
    states
}

/// Declares the tools of all lifecycles and statements, the types of their parameters, and the variables that keep
/// statements.
pub(crate) fn declare(trees: &[File], diagnostics: &mut Vec<Diagnostic>) -> File {
    let mut out = File::default();
    let lifecycles =
        trees.iter().flat_map(|tree| &tree.items).filter_map(|item| match &item.kind {
            ItemKind::Lifecycle(lifecycle) => Some(lifecycle),
            _ => None,
        });
    for lifecycle in lifecycles {
        let at = GeneratedSpan(lifecycle.name.span);
        // All lifecycles share both records.
        if out.items.is_empty() {
            out.items.push(at.item("", ItemKind::Record(at.criterion())));
            out.items.push(at.item("", ItemKind::Record(at.evidence())));
        }
        at.lifecycle(lifecycle, &mut out.items);
    }
    for item in trees.iter().flat_map(|tree| &tree.items) {
        if let ItemKind::Statement(statement) = &item.kind {
            GeneratedSpan(statement.name.span).statement(
                statement,
                &item.docs,
                diagnostics,
                &mut out.items,
            );
        }
    }
    out
}

/// The span of all generated declarations.
#[derive(Clone, Copy)]
struct GeneratedSpan(Span);

impl GeneratedSpan {
    fn ident(self, name: &str) -> Ident {
        Ident { node: name.to_owned(), span: self.0 }
    }

    fn item(self, doc: &str, kind: ItemKind) -> FileItem {
        let docs = if doc.is_empty() { Vec::new() } else { vec![doc.to_owned()] };
        FileItem { docs, kind, span: SpanEq(self.0) }
    }

    fn ty(self, kind: TypeKind, optional: bool, max: Option<&str>) -> Type {
        let refinements = max.map(|max| Refinement::Max(self.ident(max))).into_iter().collect();
        Type { kind, optional, refinements, span: self.0 }
    }

    fn named(self, name: &str, optional: bool, max: Option<&str>) -> Type {
        self.ty(TypeKind::Name(self.ident(name)), optional, max)
    }

    fn list(self, element: Type, optional: bool, max: &str) -> Type {
        self.ty(TypeKind::List(Box::new(element)), optional, Some(max))
    }

    fn field(self, name: &str, ty: Type) -> Field {
        let name = self.ident(name);
        let span = SpanEq(self.0);
        Field {
            docs: Vec::new(),
            name,
            ty,
            secret: false,
            key: false,
            caseless: false,
            forms: OtherForms::default(),
            wire: None,
            span,
        }
    }

    fn criterion(self) -> RecordDecl {
        let word = self.named("string", false, Some("1000"));
        let fields = vec![
            self.field("file", self.named("path", true, None)),
            self.field("contains", self.named("string", true, Some("4000"))),
            self.field("command", self.list(word, true, "64")),
            self.field("git_commit", self.named("bool", true, None)),
            self.field("probe", self.named("string", true, Some("200"))),
        ];
        RecordDecl { name: self.ident(CRITERION), fields }
    }

    fn evidence(self) -> RecordDecl {
        let fields = vec![
            self.field("call", self.named("string", true, Some("1000"))),
            self.field("file", self.named("path", true, None)),
            self.field("sha256", self.named("string", true, Some("64"))),
        ];
        RecordDecl { name: self.ident(EVIDENCE), fields }
    }

    fn lifecycle(self, lifecycle: &Lifecycle, out: &mut Vec<FileItem>) {
        let name = &lifecycle.name.node;
        let states = format!("{name} state");
        let variant = |state: &str| Variant { name: self.ident(state), quoted: false };
        let variants = states_or_none(lifecycle).into_iter().map(variant).collect();
        out.push(self.item("", ItemKind::Enum(Enum { name: self.ident(&states), variants })));
        let transitions = transitions(lifecycle);
        for (tool, op) in operations(lifecycle) {
            let (doc, params) = match op {
                ServedOp::Create => (format!("Begin a new {name}."), self.create(lifecycle)),
                ServedOp::List => {
                    let params = vec![
                        self.field("state", self.named(&states, true, None)),
                        self.field("after", self.named("string", true, Some("200"))),
                    ];
                    (format!("List every {name} with its id and state."), params)
                }
                ServedOp::Move(at) => self.transition(name, transitions[at as usize]),
            };
            let tool =
                Tool { name: self.ident(&tool), real_name: None, params, clauses: Vec::new() };
            out.push(self.item(&doc, ItemKind::Tool(tool)));
        }
    }

    /// Declares the tool of a statement. The tool writes the statement into a variable of the same
    /// name, which is a map by the first parameter.
    fn statement(
        self,
        statement: &Statement,
        docs: &[String],
        diagnostics: &mut Vec<Diagnostic>,
        out: &mut Vec<FileItem>,
    ) {
        let name = &statement.name;
        let mut params = statement.params.clone();
        for param in &mut params {
            if std::mem::take(&mut param.ty.optional) {
                diagnostics.push(errors::statement_left_open(param.ty.span, &param.name.node));
            }
            if std::mem::take(&mut param.secret) {
                diagnostics.push(errors::secret_statement(param.name.span, &param.name.node));
            }
        }
        let Some((key, said)) = params.split_first() else {
            diagnostics.push(errors::statement_without_key(name.span, &name.node));
            return;
        };
        let read = |ident: &Ident| Expr { kind: ExprKind::Name(ident.node.clone()), span: self.0 };
        let (ty, value) = match said {
            [] => (self.named("bool", false, None), ExprKind::Bool(true)),
            [only] => (only.ty.clone(), ExprKind::Name(only.name.node.clone())),
            all => {
                let record = format!("{} statement", name.node);
                let fields = all.to_vec();
                let record = RecordDecl { name: self.ident(&record), fields };
                let ty = self.named(&record.name.node, false, None);
                out.push(self.item("", ItemKind::Record(record)));
                let entry = |field: &Field| (field.name.clone(), read(&field.name));
                (ty, ExprKind::Map(all.iter().map(entry).collect()))
            }
        };
        // A call with a key outside the refinement is refused. The keys of a map have no
        // refinement.
        let key_type = Type { refinements: Vec::new(), ..key.ty.clone() };
        let max = statement.max.clone().unwrap_or_else(|| self.ident(MAX_STATEMENTS));
        let kept = Type {
            kind: TypeKind::Map(Box::new(key_type), Box::new(ty)),
            optional: false,
            refinements: vec![Refinement::Max(max)],
            span: self.0,
        };
        let span = SpanEq(self.0);
        let var = self.ident(&name.node);
        let init = Expr { kind: ExprKind::Set(Vec::new()), span: self.0 };
        let variable = StateVar { docs: docs.to_vec(), name: var.clone(), ty: kept, init, span };
        out.push(self.item("", ItemKind::State(vec![variable])));
        let target = Target { var, path: vec![Step::Index(read(&key.name))], span };
        let kind = EffectKind::Set(Expr { kind: value, span: self.0 });
        let effect =
            ClauseKind::Effect(vec![Effect { kind, target, each: Vec::new(), when: None, span }]);
        let effect = Clause { docs: Vec::new(), shadow: false, kind: effect, span };
        let clauses = vec![statement.approval.clone(), effect];
        let name = name.clone();
        let tool = Tool { name, real_name: None, params, clauses };
        out.push(FileItem { docs: docs.to_vec(), kind: ItemKind::Tool(tool), span });
    }

    fn create(self, lifecycle: &Lifecycle) -> Vec<Field> {
        let mut params: Vec<Field> = Vec::new();
        for clause in &lifecycle.clauses {
            if let LifecycleClause::Fields(fields) = &clause.node {
                params.extend(fields.iter().cloned());
            }
        }
        if lifecycle.clauses.iter().any(|c| matches!(c.node, LifecycleClause::Criteria(_))) {
            let list = self.list(self.named(CRITERION, false, None), false, MAX_CRITERIA);
            params.push(self.field("criteria", list));
        }
        params
    }

    fn transition(self, name: &str, transition: &Transition) -> (String, Vec<Field>) {
        let mut params = vec![self.field("id", self.named("string", false, Some("200")))];
        if transition.evidence {
            let list = self.list(self.named(EVIDENCE, false, None), false, MAX_EVIDENCE);
            params.push(self.field("evidence", list));
        }
        let evidence = if transition.evidence { ", with evidence" } else { "" };
        (format!("Move one {name} to `{}`{evidence}.", transition.to.node), params)
    }
}

/// Returns the states by name, as in the plan. If there are none, which is reported elsewhere,
/// returns one placeholder.
fn states_or_none(lifecycle: &Lifecycle) -> Vec<&str> {
    let mut states = states(lifecycle);
    states.sort_unstable();
    if states.is_empty() { vec!["none yet"] } else { states }
}
