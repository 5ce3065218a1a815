//! Commands of a shell: the record that `commands` returns, and the denial of commands that only
//! the shell can interpret.

use super::TypeChecker;
use super::scope::Scope;
use super::typed::typed;
use crate::hir::{
    self, Clause, ClauseKind, Expr, ExprKind, Field, MapKey, Part, RecordDef, RuleMeta, Type,
};
use guard_plan::builtin::{Builtin, MAX_WORDS, SIMPLE_COMMAND};
use guard_plan::plan::TakenForms;
use guard_syntax::ast;
use guard_syntax::span::Span;
use std::sync::Arc;

const NAME: &str = "SimpleCommand";

impl TypeChecker<'_, '_> {
    /// Returns the record of a simple command. It is made when it is first needed, so that other
    /// plans do not contain it.
    pub(super) fn simple_command(&mut self) -> usize {
        let is_ours =
            |def: &RecordDef| def.name == NAME && def.fields.len() == SIMPLE_COMMAND.len();
        let declared = self.names.records.items.len();
        // A declared record of the same name is another one.
        let found = self.program.records.iter().skip(declared).position(is_ours);
        if let Some(at) = found {
            return at + declared;
        }
        let ty = |written: &str| match written {
            "bool" => Type::Bool,
            "list<string>" => Type::List(Arc::new(Type::string()), Some(MAX_WORDS as u64)),
            "list<path>" => Type::List(Arc::new(Type::Path), Some(MAX_WORDS as u64)),
            "map<string, string>" => {
                Type::Map(MapKey::Text, Arc::new(Type::string()), Some(MAX_WORDS as u64))
            }
            _ => Type::string(),
        };
        let fields = SIMPLE_COMMAND.iter().map(|(name, written)| Field {
            name: (*name).into(),
            wire: (*name).into(),
            forms: TakenForms::OWN,
            ty: ty(written),
            secret: false,
            caseless: false,
            doc: String::new(),
            span: Span::default(),
        });
        let fields = fields.collect();
        self.program.records.push(RecordDef::new(NAME, fields));
        self.program.records.len() - 1
    }

    /// Denies, for each parameter `command`, commands whose effect is unknown before the shell runs
    /// them, unless a rule of the tool asks about this.
    pub(super) fn unknown_commands(&mut self, tool: &mut hir::Tool, scope: &mut Scope) {
        for at in 0..tool.params.len() {
            if *tool.params[at].ty.required() != Type::Command {
                continue;
            }
            for (flag, why) in [
                ("certain", "what this command runs is only known at run time: "),
                ("literal", "a word of this command is only known at run time: "),
            ] {
                if !self.asks_of_command(tool, at as u32, flag) {
                    self.deny_unless_every(tool, at, flag, why, scope);
                }
            }
        }
    }

    /// Returns true if a rule of the tool that can refuse calls reads this field of the commands in
    /// the parameter.
    fn asks_of_command(&self, tool: &hir::Tool, param: u32, flag: &str) -> bool {
        let asks = |e: &Expr| reads_field(&self.program, e, param, flag);
        // A rule in shadow mode refuses nothing, so it does not replace the default.
        tool.clauses.iter().filter(|clause| !clause.rule.shadow).any(|clause| match &clause.kind {
            ClauseKind::Deny { condition, .. } => asks(condition),
            ClauseKind::Approval { when: Some(when), .. } => asks(when),
            _ => false,
        })
    }

    fn deny_unless_every(
        &mut self,
        tool: &mut hir::Tool,
        at: usize,
        flag: &str,
        why: &str,
        scope: &mut Scope,
    ) {
        let name = tool.params[at].name.clone();
        let span = tool.params[at].span;
        let guard = ast::ClauseCondition {
            unless: false,
            condition: condition(&name, flag, tool.params[at].ty.is_option(), span),
        };
        let condition = self.guard(&guard, scope);
        let text = format!("when {}", super::text::text(&guard.condition));
        let param = typed(ExprKind::Param(at as u32), tool.params[at].ty.clone(), span);
        let because =
            hir::Message { parts: vec![Part::Text(why.into()), Part::Value(name, param)] };
        let rule = RuleMeta {
            owner: tool.name.clone(),
            doc: String::new(),
            shadow: false,
            property: None,
            span,
        };
        let kind = ClauseKind::Deny { condition, text, because: Some(because), replacement: None };
        tool.clauses.push(Clause { rule, kind });
    }
}

/// Returns true if an expression reads this field of the commands in the parameter.
pub(crate) fn reads_field(program: &hir::Program, e: &Expr, param: u32, name: &str) -> bool {
    FieldSearch { program, param, name, elements: Vec::new() }.is_in(e)
}

/// A search for reads of one field of the commands in one parameter.
struct FieldSearch<'p> {
    program: &'p hir::Program,
    param: u32,
    name: &'p str,
    /// The locals of the enclosing quantifiers, each with whether the parameter's commands are all
    /// that it can hold.
    elements: Vec<(u32, bool)>,
}

impl FieldSearch<'_> {
    fn is_in(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Quantified { over, binders, body, .. } => {
                if over.iter().any(|over| self.is_in(over)) {
                    return true;
                }
                let sources: Vec<bool> = over.iter().map(|over| self.is_of_param(over)).collect();
                let outer = self.elements.len();
                for (at, local) in binders.iter().enumerate() {
                    let of_param = if binders.len() == sources.len() {
                        sources[at]
                    } else {
                        sources.iter().all(|of_param| *of_param)
                    };
                    self.elements.push((*local, of_param));
                }
                let found = self.is_in(body);
                self.elements.truncate(outer);
                found
            }
            ExprKind::Field(of, _) if field_of(self.program, e) == Some(self.name) => {
                self.is_of_param(of)
            }
            _ => e.children().into_iter().any(|child| self.is_in(child)),
        }
    }

    /// Returns true if a value comes from the commands of the parameter, and of no other text.
    fn is_of_param(&self, e: &Expr) -> bool {
        let (mut of_param, mut of_other) = (false, false);
        e.walk(&mut |e| {
            let source = match &e.kind {
                ExprKind::Call(Builtin::Commands, args) => Some(self.mentions_param(&args[0])),
                ExprKind::Local(local) => {
                    let bound = self.elements.iter().rev().find(|(known, _)| known == local);
                    bound.map(|(_, of_param)| *of_param)
                }
                _ => None,
            };
            of_param |= source == Some(true);
            of_other |= source == Some(false);
        });
        of_param && !of_other
    }

    fn mentions_param(&self, e: &Expr) -> bool {
        e.any(&mut |e| matches!(&e.kind, ExprKind::Param(at) if *at == self.param))
    }
}

/// Returns the name of the field of a simple command that an expression reads.
pub(crate) fn field_of<'p>(program: &'p hir::Program, e: &Expr) -> Option<&'p str> {
    let ExprKind::Field(of, at) = &e.kind else { return None };
    let Type::Record(id) = of.ty.required() else { return None };
    let record = &program.records[*id];
    let is_ours = record.name == NAME && record.fields.len() == SIMPLE_COMMAND.len();
    is_ours.then(|| &*record.fields[*at as usize].name)
}

/// Returns `any c in commands(PARAM): not c.FLAG`, applied only if the parameter is present.
fn condition(param: &str, flag: &str, optional: bool, span: Span) -> ast::Expr {
    use ast::ExprKind as E;
    let expr = |kind| ast::Expr { kind, span };
    let ident = |name: &str| ast::Ident { node: name.into(), span };
    let name = |text: &str| expr(E::Name(text.into()));
    let argument = ast::Arg { name: None, value: name(param) };
    let over = expr(E::Call(ident("commands"), vec![argument]));
    let field = expr(E::Field(Box::new(name("each")), ident(flag)));
    let body = expr(E::Unary(ast::UnaryOp::Not, Box::new(field)));
    let any = expr(E::Quantified {
        op: ast::Quantifier::Any,
        binders: vec![ident("each")],
        over: Box::new(over),
        body: Box::new(body),
    });
    if !optional {
        return any;
    }
    let present = expr(E::Is(Box::new(name(param)), true));
    expr(E::Binary(ast::BinaryOp::And, Box::new(present), Box::new(any)))
}
