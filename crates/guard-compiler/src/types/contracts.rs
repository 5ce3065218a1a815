//! Contracts: the envelope, the items, their bounds and references.
//!
//! All parts of a contract are checked here.

use super::forms::FormPlace;
use super::report::named_field;
use super::scope::MissingMeaning;
use super::session::session_scope;
use super::text::text;
use super::ty::fits;
use super::{TypeChecker, literal};
use crate::errors;
use crate::hir::{self, Allowed, RecordDef, Type};
use guard_plan::json::Json;
use guard_plan::plan::{Bounds, Root, TakenForms};
use guard_syntax::ast::{self, ContractClause, Ident, Str};
use guard_syntax::span::Span;

/// The default bounds of a contract.
const BOUNDS: Bounds = Bounds { depth: 16, string: 10_000, bytes: 1 << 20, quarantine: 50 };
/// The maximum allowed nesting of an item.
const MAX_DEPTH: u32 = 100;

impl TypeChecker<'_, '_> {
    pub(super) fn contracts(&mut self) {
        let names = self.names;
        for entry in &names.contracts.items {
            self.contract(entry.decl, entry.docs.join("\n"));
        }
    }

    /// Checks that a session can judge by a contract. A list that the host must provide is
    /// reported, because sessions receive no lists. Secret members are reported too.
    pub(super) fn checkable(&mut self, at: hir::ContractId, name: &Ident) {
        let references = self.program.contracts.get(at).map(|contract| &contract.references);
        let given =
            references.into_iter().flatten().find_map(|reference| match &reference.allowed {
                Allowed::Given(list) => Some((list.clone(), reference.span)),
                _ => None,
            });
        if let Some((list, span)) = given {
            let why = format!(
                "a session has no list `{list}`, so nothing can conform to `{}`",
                name.node
            );
            let help =
                format!("declare `fact {list}(name: string)`, and learn it from a trusted source");
            self.report(errors::contract(name.span, why, &help).also(span, "refers to it"));
        }
        let record = self.program.contracts.get(at).map(|contract| contract.record);
        if record.is_some_and(|record| self.program.holds_secrets(&Type::Record(record))) {
            let why = format!(
                "`{}` has secret members, and the contents of a file appear in the record",
                name.node
            );
            let help = "judge such a text with `guardc contract check`, outside of the session";
            self.report(errors::contract(name.span, why, help));
        }
    }

    fn contract(&mut self, contract: &ast::Contract, doc: String) {
        let name = contract.name.node.clone();
        let span = contract.name.span;
        let mut fields: Vec<hir::Field> = Vec::new();
        let mut lists: Vec<hir::ItemList> = Vec::new();
        let mut bounds = BOUNDS;
        let root = self.whole(contract, &mut fields, &mut lists);
        for clause in &contract.clauses {
            match &clause.node {
                ContractClause::Field(field) => {
                    let ty = self.ty(&field.ty);
                    if root != Root::Envelope {
                        let why = format!(
                            "the document is not an object, and `{}` is a member",
                            field.name.node
                        );
                        let help = "declare the document as an object, or remove the member";
                        self.report(errors::contract(field.name.span, why, help));
                        continue;
                    }
                    let forms = self.forms(&field.forms, &ty, FormPlace::Member);
                    let wire = self.wire_name(&field.name, field.wire.as_ref());
                    self.member(&mut fields, &field.name, wire, ty, field.secret);
                    if let Some(member) = fields.last_mut() {
                        member.doc = field.docs.join("\n");
                        member.forms = forms;
                    }
                }
                ContractClause::Items { docs, path, list, wire } => {
                    if let ([name], true) = (&path[..], root != Root::Envelope) {
                        let why = format!(
                            "the document is not an object, and `{}` is a list in it",
                            name.node
                        );
                        let help = "declare the document as an object, or remove the list";
                        self.report(errors::contract(name.span, why, help));
                        continue;
                    }
                    self.items(path, list, wire.as_ref(), &mut fields, &mut lists);
                    if let (Some(member), [_]) = (fields.last_mut(), &path[..]) {
                        member.doc = docs.join("\n");
                    }
                }
                ContractClause::Bounds(said) => self.bounds(said, &mut bounds),
                ContractClause::Reference { .. } => {}
            }
        }
        self.distinct_wires(&fields);
        let mut references = Vec::new();
        for clause in &contract.clauses {
            if let ContractClause::Reference { path, allowed } = &clause.node {
                references.extend(self.reference(&fields, &lists, path, allowed, clause.span));
            }
        }
        let record = self.program.records.len();
        // It has a different name from a record of the same name.
        self.program.records.push(RecordDef::new(format!("contract {name}"), fields));
        let contract = hir::Contract { name, doc, span, root, record, lists, bounds, references };
        self.program.contracts.push(contract);
    }

    /// Declares the document of a contract that is not an envelope, and returns the kind of
    /// document.
    fn whole(
        &mut self,
        contract: &ast::Contract,
        fields: &mut Vec<hir::Field>,
        lists: &mut Vec<hir::ItemList>,
    ) -> Root {
        let named = |name: &str| Ident { node: name.into(), span: contract.name.span };
        match &contract.whole {
            None => Root::Envelope,
            Some(ast::Whole::Items(list, _)) => {
                self.items(&[named("items")], list, None, fields, lists);
                Root::Items
            }
            Some(ast::Whole::Value(ty)) => {
                let found = self.ty(ty);
                if found.is_option() {
                    let help = "remove the `?`: a document that is not there is `lost`";
                    self.report(errors::contract(
                        ty.span,
                        "a document is always there".into(),
                        help,
                    ));
                }
                let ty = found.required().clone();
                self.member(fields, &named("value"), "value".into(), ty, false);
                Root::Value
            }
        }
    }

    /// Declares a list of items.
    fn items(
        &mut self,
        path: &[Ident],
        list: &ast::ItemsClause,
        wire: Option<&Str>,
        fields: &mut Vec<hir::Field>,
        lists: &mut Vec<hir::ItemList>,
    ) {
        let max = list.max.as_ref().and_then(|max| self.count(max));
        let shape = self.item_shape(&list.shape);
        let by = list.by.as_ref().and_then(|by| self.ranked_by(by, &item_type(&shape)));
        let Some((name, around)) = path.split_last() else { return };
        if let (Some(wire), false) = (wire, around.is_empty()) {
            let why = format!("`{}` is a member of a record", name.node);
            let help = "give the member its name in JSON where the record declares it";
            self.report(errors::contract(wire.span, why, help));
        }
        let wire = self.wire_name(name, wire);
        let Some((within, field)) = self.holder(path, wire, &shape, fields, lists) else { return };
        let holds_lists = |outer: usize| lists[outer].partial.then_some(outer);
        let partial = list.partial.is_some();
        if let (Some(span), hir::ItemShape::Schema(..)) = (&list.partial, &shape) {
            let why = "the complete list of members of a schema's items is not known".to_owned();
            self.report(errors::contract(span.0, why, "give the items a record type"));
        }
        if let Some(outer) = within.and_then(holds_lists) {
            let why =
                format!("items of `{}` may be cut, and hold a list", lists[outer].path.join("."));
            let help = "remove `partial ok`: units of the list could be missing without a trace";
            self.report(errors::contract(name.span, why, help));
        }
        let wires = match within {
            None => vec![fields[field].wire.clone()],
            Some(outer) => {
                let Type::Record(record) = item_type(&lists[outer].shape) else { return };
                let wire = self.program.records[record].fields[field].wire.clone();
                lists[outer].wire.iter().cloned().chain([wire]).collect()
            }
        };
        let path = path.iter().map(|name| name.node.clone()).collect();
        lists.push(hir::ItemList { path, wire: wires, within, field, shape, max, by, partial });
    }

    fn item_shape(&mut self, shape: &ast::ItemShape) -> hir::ItemShape {
        let file = match shape {
            ast::ItemShape::Type(ty) => {
                let found = self.ty(ty);
                if !matches!(found, Type::Record(_) | Type::Json | Type::Error) {
                    let why = format!("items are objects, and this is {}", self.show(&found));
                    let help = "declare a record of their members";
                    self.report(errors::contract(ty.span, why, help));
                }
                return hir::ItemShape::Type(found);
            }
            ast::ItemShape::Schema(file) => file,
        };
        let text = self.names.schemas.and_then(|schemas| schemas.get(&file.span));
        let text = text.cloned().unwrap_or_default();
        match Json::parse(&text) {
            // A schema that could not be loaded was reported.
            _ if text.is_empty() => {}
            Ok(Json::Object(_) | Json::Bool(_)) => {}
            other => {
                let why = match other {
                    Ok(_) => format!("`{}` is not a JSON Schema: it is not an object", file.node),
                    Err(error) => format!("`{}` is not JSON: {error}", file.node),
                };
                let help = "name a file that holds a JSON Schema";
                self.report(errors::contract(file.span, why, help));
            }
        }
        hir::ItemShape::Schema(file.node.clone(), text)
    }

    /// Returns the list whose items contain this list (`None` for the document), and the position
    /// of the field; `None` if there is no such list. Adds the field if it is missing.
    fn holder(
        &mut self,
        path: &[Ident],
        wire: String,
        shape: &hir::ItemShape,
        fields: &mut Vec<hir::Field>,
        lists: &[hir::ItemList],
    ) -> Option<(Option<usize>, usize)> {
        let (name, around) = path.split_last()?;
        let item = item_type(shape);
        if around.is_empty() {
            self.member(fields, name, wire, Type::List(item.into(), None), false);
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
        let def = &self.program.records[id];
        if def.union.is_some() {
            let why = format!("items of the union `{}` cannot contain a list of items", def.name);
            self.report(errors::contract(name.span, why, "judge the list with the item around it"));
            return None;
        }
        let (at, field) = self.reported(self.record_field(id, name))?;
        let held = matches!(&field.ty, Type::List(of, _) if **of == item);
        if !held && item != Type::Error {
            let why = format!("`{}` holds {}", name.node, self.show(&field.ty));
            let help = format!("declare it as a list of {}", self.show(&item));
            self.report(errors::contract(name.span, why, &help));
            return None;
        }
        Some((Some(within), at))
    }

    fn member(
        &mut self,
        fields: &mut Vec<hir::Field>,
        name: &Ident,
        wire: String,
        ty: Type,
        secret: bool,
    ) {
        if let Some(first) = fields.iter().find(|field| field.name == name.node) {
            self.report(errors::duplicate("member", name, first.span));
        }
        let span = name.span;
        let name = name.node.clone();
        let forms = TakenForms::OWN;
        let doc = String::new();
        fields.push(hir::Field { name, wire, forms, ty, secret, caseless: false, doc, span });
    }

    /// Returns the member that ranks items, by its name in JSON.
    fn ranked_by(&mut self, by: &Ident, item: &Type) -> Option<String> {
        let Type::Record(id) = item else {
            if !matches!(item, Type::Json | Type::Error) {
                let why = format!("items are ranked by a field, and this is {}", self.show(item));
                let help = "give the items a record type, or remove `by`";
                self.report(errors::contract(by.span, why, help));
            }
            return Some(by.node.clone());
        };
        let field = self.member_of(*id, by)?;
        if matches!(field.ty, Type::Int(..) | Type::Decimal(..) | Type::Time(_) | Type::Error) {
            return Some(field.wire);
        }
        let shown = self.show(&field.ty);
        let why = format!("items cannot be ranked by `{}`, which is {shown}", by.node);
        let help = "rank by an int, a decimal or a time that is always there";
        self.report(errors::contract(by.span, why, help));
        None
    }

    fn bounds(&mut self, said: &[(Ident, ast::Literal)], bounds: &mut Bounds) {
        let known = ["depth", "string", "bytes", "quarantine"];
        for (name, value) in said {
            let size = match self.literal(value, literal::size) {
                Some(None) => self.count(value),
                size => size.flatten(),
            };
            // An invalid size was reported, and 1 is a valid bound of every kind.
            let size = size.unwrap_or(1);
            let small = u32::try_from(size).unwrap_or(u32::MAX);
            match name.node.as_str() {
                "depth" if (1..=MAX_DEPTH).contains(&small) => bounds.depth = small,
                "depth" => {
                    let why = format!("is not a depth: between 1 and {MAX_DEPTH}");
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
        // Lists may be nested, and the innermost one contains the reference.
        let list = (0..lists.len())
            .filter(|at| begins(&lists[*at]))
            .max_by_key(|at| lists[*at].path.len());
        let inner = &path[list.map_or(0, |at| lists[at].path.len())..];
        let mut words: Vec<String> = list.map_or(Vec::new(), |at| lists[at].wire.clone());
        let begun = words.len();
        let mut ty = match list {
            Some(at) => item_type(&lists[at].shape),
            None => {
                let first = inner.first()?;
                let found = named_field(fields, "the contract", first);
                let (_, field) = self.reported(found)?;
                words.push(field.wire);
                field.ty
            }
        };
        for name in &inner[usize::from(list.is_none())..] {
            let (part, wire) = self.part(&ty, name)?;
            ty = part;
            words.push(wire);
        }
        Some(hir::Reference {
            list,
            path: words[begun..].to_vec(),
            allowed: self.allowed(&ty, allowed),
            text: format!("{} in {}", words.join("."), text(allowed)),
            span,
        })
    }

    /// Returns the type of a member of a value, or of a member of its elements, and the member's
    /// name in JSON.
    fn part(&mut self, ty: &Type, name: &Ident) -> Option<(Type, String)> {
        let element = match ty.required() {
            Type::List(element, _) | Type::Set(element, _) => element.required().clone(),
            other => other.clone(),
        };
        let Type::Record(id) = element else {
            if matches!(element, Type::Json | Type::Error) {
                return Some((element, name.node.clone()));
            }
            self.no_fields(name, &element);
            return None;
        };
        self.member_of(id, name).map(|field| (field.ty, field.wire))
    }

    /// Returns a member that every value of a type with members has.
    fn member_of(&mut self, id: hir::RecordId, name: &Ident) -> Option<hir::Field> {
        let fields = self.members_of(id);
        let owner = self.holder_name(id);
        self.reported(named_field(&fields, &owner, name)).map(|(_, field)| field)
    }

    /// Returns the possible targets of a reference: a collection in state, a fact, or a named list
    /// of the host.
    fn allowed(&mut self, ty: &Type, allowed: &ast::Expr) -> Allowed {
        let ty = match ty.required() {
            Type::List(element, _) | Type::Set(element, _) => element.as_ref(),
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
                let wanted = format!("a fact of what refers, {}", self.show(ty));
                self.mismatch(allowed.span, &wanted, &column);
            }
            return Allowed::Fact(fact);
        }
        let mut scope = session_scope(self.names, MissingMeaning::Any);
        let found =
            self.expr(allowed, Some(&Type::Set(ty.required().clone().into(), None)), &mut scope);
        let element = match found.ty.required() {
            Type::List(element, _) | Type::Set(element, _) => (**element).clone(),
            Type::Map(key, ..) => key.ty(),
            Type::Error => return Allowed::Values(found),
            other => {
                self.mismatch(allowed.span, "a collection or a fact", other);
                return Allowed::Values(found);
            }
        };
        if !fits(ty.required(), &element) {
            let wanted = format!("a collection of what refers, {}", self.show(ty));
            self.mismatch(allowed.span, &wanted, &element);
        }
        Allowed::Values(found)
    }
}

/// Returns the type of an item. For an item with a schema, nothing is known.
fn item_type(shape: &hir::ItemShape) -> Type {
    match shape {
        hir::ItemShape::Type(ty) => ty.clone(),
        hir::ItemShape::Schema(..) => Type::Json,
    }
}
