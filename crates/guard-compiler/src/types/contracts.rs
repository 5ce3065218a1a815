//! Contracts: the envelope, the items, their bounds and references.
//!
//! Checked whole; the kernel carries nothing of them out yet, which a warning says.

use super::scope::Missing;
use super::session::session_scope;
use super::text::text;
use super::ty::fits;
use super::{Checker, literal};
use crate::errors;
use crate::hir::{self, Allowed, RecordDef, Type};
use guard_plan::json::Json;
use guard_plan::plan::Bounds;
use guard_syntax::ast::{self, ContractClause, Ident};
use guard_syntax::span::Span;

/// The bounds of a contract that says none.
const BOUNDS: Bounds = Bounds { depth: 16, string: 10_000, bytes: 1 << 20, quarantine: 50 };
/// The deepest that an item may be allowed to nest.
const MAX_DEPTH: u32 = 100;

impl Checker<'_, '_> {
    pub(super) fn contracts(&mut self) {
        let names = self.names;
        for entry in &names.contracts.items {
            self.contract(entry.decl, entry.docs.join("\n"));
        }
    }

    /// Whether a session can judge by a contract: nobody hands lists over to it.
    pub(super) fn checkable(&mut self, at: hir::ContractId, name: &Ident) {
        let references = self.program.contracts.get(at).map(|contract| &contract.references);
        let given =
            references.into_iter().flatten().find_map(|reference| match &reference.allowed {
                Allowed::Given(list) => Some((list.clone(), reference.span)),
                _ => None,
            });
        if let Some((list, span)) = given {
            let why = format!(
                "a session has no list `{list}`, so that nothing ever conforms to `{}`",
                name.node
            );
            let help =
                format!("declare `fact {list}(name: string)`, and learn it from what is trusted");
            self.report(errors::contract(name.span, why, &help).also(span, "refers to it"));
        }
        let record = self.program.contracts.get(at).map(|contract| contract.record);
        if record.is_some_and(|record| self.holds_secrets(&Type::Record(record))) {
            let why = format!(
                "`{}` has secret members, and what a file holds stands in the record",
                name.node
            );
            let help = "judge such a text with `guardc contract check`, outside of the session";
            self.report(errors::contract(name.span, why, help));
        }
    }

    /// Whether a value of a type may hold what is secret.
    fn holds_secrets(&self, ty: &Type) -> bool {
        match ty.required() {
            Type::List(of, _) | Type::Set(of, _) | Type::Map(of, _) => self.holds_secrets(of),
            Type::Record(id) => {
                let fields = &self.program.records[*id].fields;
                fields.iter().any(|field| field.secret || self.holds_secrets(&field.ty))
            }
            _ => false,
        }
    }

    fn contract(&mut self, contract: &ast::Contract, doc: String) {
        let (name, span) = (contract.name.node.clone(), contract.name.span);
        let mut fields: Vec<hir::Field> = Vec::new();
        let mut lists: Vec<hir::ItemList> = Vec::new();
        let mut bounds = BOUNDS;
        for clause in &contract.clauses {
            match &clause.node {
                ContractClause::Field(field) => {
                    let ty = self.ty(&field.ty);
                    self.member(&mut fields, &field.name, ty, field.secret);
                    if let Some(member) = fields.last_mut() {
                        member.doc = field.docs.join("\n");
                    }
                }
                ContractClause::Items { path, shape, max, by } => {
                    let max = max.as_ref().and_then(|m| self.count(m));
                    let shape = self.item_shape(shape);
                    if let Some(by) = by {
                        self.ranked_by(by, &item_type(&shape));
                    }
                    let by = by.as_ref().map(|by| by.node.clone());
                    let Some((within, field)) = self.holder(path, &shape, &mut fields, &lists)
                    else {
                        continue;
                    };
                    let path = path.iter().map(|name| name.node.clone()).collect();
                    lists.push(hir::ItemList { path, within, field, shape, max, by });
                }
                ContractClause::Bounds(said) => self.bounds(said, &mut bounds),
                ContractClause::Reference { .. } => {}
            }
        }
        let mut references = Vec::new();
        for clause in &contract.clauses {
            if let ContractClause::Reference { path, allowed } = &clause.node {
                references.extend(self.reference(&fields, &lists, path, allowed, clause.span));
            }
        }
        let record = self.program.records.len();
        // Named apart from a record of the same name.
        self.program.records.push(RecordDef { name: format!("contract {name}"), fields });
        let contract = hir::Contract { name, doc, span, record, lists, bounds, references };
        self.program.contracts.push(contract);
    }

    fn item_shape(&mut self, shape: &ast::ItemShape) -> hir::ItemShape {
        let file = match shape {
            ast::ItemShape::Type(ty) => {
                let found = self.ty(ty);
                if !matches!(found, Type::Record(_) | Type::Json | Type::Error) {
                    let why = format!("items are objects, and this is {}", self.show(&found));
                    self.report(errors::contract(
                        ty.span,
                        why,
                        "declare a record of their members",
                    ));
                }
                return hir::ItemShape::Type(found);
            }
            ast::ItemShape::Schema(file) => file,
        };
        let text = self.names.schemas.and_then(|schemas| schemas.get(&file.span));
        let text = text.cloned().unwrap_or_default();
        match Json::parse(&text) {
            _ if text.is_empty() => {}
            Ok(Json::Object(_) | Json::Bool(_)) => {}
            Ok(_) => {
                let why = format!("`{}` is no JSON Schema: it is no object", file.node);
                self.report(errors::contract(
                    file.span,
                    why,
                    "name a file that holds a JSON Schema",
                ));
            }
            Err(error) => {
                let why = format!("`{}` is no JSON: {error}", file.node);
                self.report(errors::contract(
                    file.span,
                    why,
                    "name a file that holds a JSON Schema",
                ));
            }
        }
        hir::ItemShape::Schema(file.node.clone(), text)
    }

    /// Which list's items hold this one, if any, and in which field.
    fn holder(
        &mut self,
        path: &[Ident],
        shape: &hir::ItemShape,
        fields: &mut Vec<hir::Field>,
        lists: &[hir::ItemList],
    ) -> Option<(Option<usize>, usize)> {
        let (name, around) = path.split_last()?;
        let item = item_type(shape);
        if around.is_empty() {
            self.member(fields, name, Type::List(item.into(), None), false);
            return Some((None, fields.len() - 1));
        }
        let written = |list: &hir::ItemList| {
            list.path.iter().map(String::as_str).eq(around.iter().map(|n| n.node.as_str()))
        };
        let Some(within) = lists.iter().position(written) else {
            let why = "no list before this one has these items".to_owned();
            let help = "name the list around it first: `items sections: Section`";
            self.report(errors::contract(around[0].span, why, help));
            return None;
        };
        if let Some(twice) = lists
            .iter()
            .find(|list| list.within == Some(within) && list.path.last() == Some(&name.node))
        {
            let why = format!("the list `{}` is declared twice", twice.path.join("."));
            self.report(errors::contract(name.span, why, "keep one of them"));
            return None;
        }
        let Type::Record(id) = item_type(&lists[within].shape) else {
            let why = "the items around it have no declared members".to_owned();
            self.report(errors::contract(name.span, why, "give them a record type"));
            return None;
        };
        let def = self.program.records[id].clone();
        let Some(at) = def.fields.iter().position(|field| field.name == name.node) else {
            let of = format!("the record `{}`", def.name);
            let known = def.fields.iter().map(|field| field.name.as_str());
            self.report(errors::unknown_field(name, &of, known));
            return None;
        };
        let held = matches!(&def.fields[at].ty, Type::List(of, _) if **of == item);
        if !held && item != Type::Error {
            let why = format!("`{}` holds {}", name.node, self.show(&def.fields[at].ty));
            let help = format!("declare it as a list of {}", self.show(&item));
            self.report(errors::contract(name.span, why, &help));
            return None;
        }
        Some((Some(within), at))
    }

    fn member(&mut self, fields: &mut Vec<hir::Field>, name: &Ident, ty: Type, secret: bool) {
        if let Some(first) = fields.iter().find(|field| field.name == name.node) {
            self.report(errors::duplicate("member", name, first.span));
        }
        let (name, span) = (name.node.clone(), name.span);
        fields.push(hir::Field { name, ty, secret, doc: String::new(), span });
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

    fn bounds(&mut self, said: &[(Ident, ast::Literal)], bounds: &mut Bounds) {
        let known = ["depth", "string", "bytes", "quarantine"];
        for (name, value) in said {
            let size = match literal::size(&value.node) {
                Ok(Some(size)) => Some(size),
                Ok(None) => self.count(value),
                Err(why) => {
                    self.report(errors::literal(value.span, &value.node, &why));
                    None
                }
            };
            let size = size.unwrap_or(1);
            let small = u32::try_from(size).unwrap_or(u32::MAX);
            match name.node.as_str() {
                "depth" if (1..=MAX_DEPTH).contains(&small) => bounds.depth = small,
                "depth" => {
                    let why = format!("is no depth: between 1 and {MAX_DEPTH}");
                    self.report(errors::literal(value.span, &value.node, &why));
                }
                "string" => bounds.string = size,
                "bytes" => bounds.bytes = size,
                "quarantine" => bounds.quarantine = small,
                _ => self.report(errors::unknown_word("bound", name, known.into_iter())),
            }
        }
    }

    fn reference(
        &mut self,
        fields: &[hir::Field],
        lists: &[hir::ItemList],
        path: &[Ident],
        allowed: &ast::Expr,
        span: Span,
    ) -> Option<hir::Reference> {
        let begins = |list: &hir::ItemList| {
            path.len() > list.path.len() && list.path.iter().zip(path).all(|(l, p)| *l == p.node)
        };
        let list = (0..lists.len())
            .filter(|at| begins(&lists[*at]))
            .max_by_key(|at| lists[*at].path.len());
        let inner = &path[list.map_or(0, |at| lists[at].path.len())..];
        let mut ty = match list {
            Some(at) => item_type(&lists[at].shape),
            None => {
                let first = inner.first()?;
                let Some(field) = fields.iter().find(|field| field.name == first.node) else {
                    let known = fields.iter().map(|field| field.name.as_str());
                    self.report(errors::unknown_field(first, "the contract", known));
                    return None;
                };
                field.ty.clone()
            }
        };
        for name in &inner[usize::from(list.is_none())..] {
            ty = self.part(&ty, name)?;
        }
        let words = path.iter().map(|name| name.node.as_str()).collect::<Vec<_>>().join(".");
        Some(hir::Reference {
            list,
            path: inner.iter().map(|name| name.node.clone()).collect(),
            allowed: self.allowed(&ty, allowed),
            text: format!("{words} in {}", text(allowed)),
            span,
        })
    }

    /// The type of a member of a value, or of the elements of one.
    fn part(&mut self, ty: &Type, name: &Ident) -> Option<Type> {
        let element = match ty.required() {
            Type::List(of, _) | Type::Set(of, _) => of.required().clone(),
            other => other.clone(),
        };
        let Type::Record(id) = element else {
            if matches!(element, Type::Json | Type::Error) {
                return Some(element);
            }
            let shown = self.show(&element);
            self.report(errors::no_fields(name.span, &shown));
            return None;
        };
        let def = self.program.records[id].clone();
        match def.fields.iter().find(|field| field.name == name.node) {
            Some(field) => Some(field.ty.clone()),
            None => {
                let of = format!("the record `{}`", def.name);
                let known = def.fields.iter().map(|field| field.name.as_str());
                self.report(errors::unknown_field(name, &of, known));
                None
            }
        }
    }

    /// What a reference may point to: a collection in state, a fact, or something the host gives by name.
    fn allowed(&mut self, ty: &Type, allowed: &ast::Expr) -> Allowed {
        let ty = match ty.required() {
            Type::List(of, _) | Type::Set(of, _) => of.as_ref(),
            _ => ty,
        };
        if let ast::ExprKind::Name(name) = &allowed.kind
            && self.names.state.peek(name).is_none()
            && self.names.defines.peek(name).is_none()
        {
            let Some(fact) = self.names.facts.get(name) else {
                return Allowed::Given(name.clone());
            };
            let row = &self.program.records[self.program.facts[fact].row];
            let column = row.fields.first().map_or(Type::Error, |field| field.ty.clone());
            if !fits(ty.required(), &column) {
                let (wanted, shown) = (self.show(ty), self.show(&column));
                let wanted = format!("a fact of what refers, {wanted}");
                self.report(errors::mismatch(allowed.span, &wanted, &shown));
            }
            return Allowed::Fact(fact);
        }
        let mut scope = session_scope(self.names, Missing::Any);
        let found =
            self.expr(allowed, Some(&Type::Set(ty.required().clone().into(), None)), &mut scope);
        let element = match found.ty.required() {
            Type::List(of, _) | Type::Set(of, _) => (**of).clone(),
            Type::Map(..) => Type::string(),
            Type::Error => return Allowed::Values(found),
            other => {
                let shown = self.show(other);
                self.report(errors::mismatch(allowed.span, "a collection or a fact", &shown));
                return Allowed::Values(found);
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
        Allowed::Values(found)
    }
}

/// The type of an item; of a schema's nothing is known.
fn item_type(shape: &hir::ItemShape) -> Type {
    match shape {
        hir::ItemShape::Type(ty) => ty.clone(),
        hir::ItemShape::Schema(..) => Type::Json,
    }
}
