//! The other forms in which a value is accepted: which forms a type has, and where they are
//! allowed.

use super::{TypeChecker, literal};
use crate::errors;
use crate::hir::{RecordId, Type};
use guard_plan::decimal;
use guard_plan::plan::{CoercedForm, TakenForms};
use guard_plan::time;
use guard_syntax::ast::{Ident, OtherForms, Str};
use guard_syntax::span::Span;

/// The kind of place whose value is accepted in other forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormPlace {
    /// A member of a record or contract.
    Member,
    /// The whole result of a tool, or the whole answer of a probe.
    Result,
}

impl TypeChecker<'_, '_> {
    /// Returns the other forms in which a value of a type is accepted.
    pub(super) fn forms(&mut self, said: &OtherForms, ty: &Type, place: FormPlace) -> TakenForms {
        if *ty == Type::Error {
            return TakenForms::OWN;
        }
        TakenForms {
            from: said.from.as_ref().and_then(|from| self.coerced(from, ty, place)),
            rounded: said.rounded.as_ref().and_then(|rounded| {
                let most = match part(ty) {
                    Type::Decimal(..) => decimal::PLACES as u8,
                    Type::Int(..) => 0,
                    _ => {
                        let help = "ints and decimals are rounded";
                        self.form_misfit(rounded.span.0, ty, "be rounded", help);
                        return None;
                    }
                };
                let Some(places) = &rounded.places else { return Some(most) };
                let read =
                    literal::int(&places.node).ok().and_then(|places| u8::try_from(places).ok());
                let read = read.filter(|places| *places <= most);
                if read.is_none() {
                    let why = match most {
                        0 => "an int has no decimal places",
                        _ => "a decimal is rounded to 0 to 6 places",
                    };
                    self.report(errors::misfit(
                        places.span,
                        why.into(),
                        "leave the number out, or write another",
                    ));
                }
                read
            }),
            timezone: said.timezone.as_ref().and_then(|zone| self.offset(zone, ty)),
            fallback: said.fallback.as_ref().and_then(|variant| self.fallback(variant, ty)),
        }
    }

    fn coerced(&mut self, from: &Ident, ty: &Type, place: FormPlace) -> Option<CoercedForm> {
        let required = ty.required();
        if *required == Type::Error {
            return None;
        }
        let whole = matches!(
            required,
            Type::Record(_) | Type::List(..) | Type::Set(..) | Type::Map(..) | Type::Json
        );
        let fits = |form: CoercedForm| match (form, required) {
            (CoercedForm::String, Type::Int(..) | Type::Decimal(..) | Type::Bool) => true,
            (CoercedForm::String, _) => whole && place == FormPlace::Result,
            (CoercedForm::Number, ty) => matches!(ty, Type::Int(..) | Type::String(_)),
        };
        let form = match from.node.as_str() {
            "string" => CoercedForm::String,
            "number" => CoercedForm::Number,
            _ => {
                let known = [("string", CoercedForm::String), ("number", CoercedForm::Number)];
                let known = known.into_iter().filter(|(_, form)| fits(*form));
                match known.clone().next() {
                    Some(_) => {
                        let names = known.map(|(name, _)| name);
                        self.report(errors::unknown_word("form", from, names));
                    }
                    None => self.form_misfit(
                        from.span,
                        ty,
                        "be taken in another form",
                        "ints, decimals, bools and whole results are taken from a string, ints and strings from a number",
                    ),
                }
                return None;
            }
        };
        let fits = fits(form);
        if !fits {
            let help = match (form, whole) {
                (CoercedForm::String, true) => {
                    "only a whole result is JSON in a text: `returns T from string`"
                }
                (CoercedForm::String, false) => "ints, decimals and bools are taken from a string",
                _ => "ints and strings are taken from a number",
            };
            self.form_misfit(from.span, ty, &format!("be taken from a {}", from.node), help);
        }
        fits.then_some(form)
    }

    fn offset(&mut self, zone: &Str, ty: &Type) -> Option<i16> {
        if !matches!(part(ty), Type::Time(_)) {
            self.form_misfit(zone.span, ty, "have a timezone", "times have one");
            return None;
        }
        let offset = time::parse_offset(&zone.node);
        if offset.is_none() {
            let why = format!("`{}` is not an offset from UTC", zone.node);
            let help = "write it as `\"+02:00\"` or `\"-05:00\"`; names of zones are not known";
            self.report(errors::misfit(zone.span, why, help));
        }
        offset
    }

    fn fallback(&mut self, variant: &Ident, ty: &Type) -> Option<u32> {
        let Type::Enum(id) = part(ty) else {
            self.form_misfit(
                variant.span,
                ty,
                "have a variant for unknown texts",
                "an enum has one",
            );
            return None;
        };
        let def = &self.program.enums[*id];
        let at = def.variants.iter().position(|known| *known == variant.node);
        if at.is_none() {
            let known = def.variants.iter().map(String::as_str);
            let d = errors::unknown_variant(&variant.node, variant.span, &def.name, known);
            self.report(d);
        }
        at.map(|at| at as u32)
    }

    fn form_misfit(&mut self, span: Span, ty: &Type, what: &str, help: &str) {
        let shown = self.show(ty);
        self.report(errors::misfit(span, format!("{shown} cannot {what}"), help));
    }

    /// Reports types that contain forms which are not accepted in their place.
    pub(super) fn forms_in_place(&mut self) {
        let program = &self.program;
        let params = program.tools.iter().flat_map(|tool| &tool.params);
        let columns = program.facts.iter().flat_map(|fact| &program.records[fact.row].fields);
        let fields = program.lifecycles.iter().flat_map(|lifecycle| &lifecycle.fields);
        let given = params.chain(columns).chain(fields);
        let given = given.map(|field| (field.ty.clone(), field.span, true));
        let state = program.state.iter().map(|var| (var.ty.clone(), var.span, false));
        let mut types: Vec<(Type, Span, bool)> = given.chain(state).collect();
        types.extend(self.results.iter().map(|(span, (ty, _))| (ty.clone(), *span, false)));
        types.extend(self.typed.drain(..).map(|(ty, span)| (ty, span, false)));
        types.sort_by_key(|(_, span, _)| *span);
        types.dedup_by_key(|(_, span, _)| *span);
        for (ty, span, exact) in types {
            let Some(id) = super::record_in(&ty) else { continue };
            let shown = || self.show(&ty);
            if let Some((form, at)) = self.contract_form(id) {
                let d = errors::contract_form(span, &shown(), form).also(at, "here");
                self.report(d);
            } else if let Some((form, at)) = self.other_form(id, |_| exact) {
                let d = errors::inexact(span, &shown(), form).also(at, "here");
                self.report(d);
            }
        }
        let contracts: Vec<(RecordId, Span)> = self
            .program
            .contracts
            .iter()
            .map(|contract| (contract.record, contract.span))
            .collect();
        for (record, span) in contracts {
            let lossy = |forms: &TakenForms| TakenForms { from: None, ..*forms } != TakenForms::OWN;
            if let Some((form, at)) = self.other_form(record, lossy) {
                self.report(errors::lossy_contract(span, form).also(at, "here"));
            }
        }
    }

    /// Returns the form that only contracts may use, and the position of its declaration, if a
    /// record contains one.
    fn contract_form(&self, id: RecordId) -> Option<(&'static str, Span)> {
        let unions = self.names.records.items.len();
        self.records_in(id).into_iter().find_map(|id| {
            let def = &self.program.records[id];
            if def.union.is_some() {
                return Some(("a union", self.names.unions.items[id - unions].name.span));
            }
            let renamed = def.fields.iter().find(|field| field.wire != field.name);
            renamed.map(|field| ("a name in JSON (`as`)", field.span))
        })
    }

    /// Returns the first other form that a record contains, and its position.
    fn other_form(
        &self,
        id: RecordId,
        refused: impl Fn(&TakenForms) -> bool,
    ) -> Option<(&'static str, Span)> {
        self.records_in(id).into_iter().find_map(|id| {
            let fields = &self.program.records[id].fields;
            let field =
                fields.iter().find(|field| !field.forms.is_own() && refused(&field.forms))?;
            Some((word(&field.forms), field.span))
        })
    }

    /// Returns a record and all records that it contains.
    fn records_in(&self, id: RecordId) -> Vec<RecordId> {
        let mut seen = vec![id];
        let mut next = 0;
        while let Some(id) = seen.get(next) {
            let def = &self.program.records[*id];
            let inner = def.fields.iter().filter_map(|field| super::record_in(&field.ty));
            let cases = def.union.iter().flat_map(|union| &union.cases).map(|case| case.1);
            let found: Vec<RecordId> = inner.chain(cases).collect();
            for id in found {
                if !seen.contains(&id) {
                    seen.push(id);
                }
            }
            next += 1;
        }
        seen
    }
}

/// Returns the keyword of the form that loses something, or otherwise of the coercion.
fn word(forms: &TakenForms) -> &'static str {
    match forms {
        TakenForms { rounded: Some(_), .. } => "a rounded number (`rounded`)",
        TakenForms { timezone: Some(_), .. } => "an offset of its own (`timezone`)",
        TakenForms { fallback: Some(_), .. } => "a variant for unknown texts (`else`)",
        _ => "a coercion (`from`)",
    }
}

/// Returns the type of the values that are rounded, or get an offset or a variant: the type within
/// options and collections.
fn part(ty: &Type) -> &Type {
    match ty {
        Type::Option(inner)
        | Type::List(inner, _)
        | Type::Set(inner, _)
        | Type::Map(_, inner, _) => part(inner),
        other => other,
    }
}
