//! Types: the conversion from syntax to [`Type`], the compatibility of types, and their names in
//! messages.

use super::{TypeChecker, literal, regex};
use crate::defines::ordered;
use crate::errors;
use crate::hir::{BUILTIN_ENUMS, Expr, MapKey, StringBounds, Type};
use crate::names::BUILTIN_TYPES;
use guard_plan::time::valid_format;
use guard_syntax::ast::{self, Refinement, TypeKind};
use guard_syntax::span::Span;
use std::sync::Arc;

/// The maximum nesting of values. Arguments that nest deeper are refused before they are decoded.
pub(crate) const MAX_LEVELS: usize = 128;

/// The maximum number of patterns that may refine one string type.
const MAX_PATTERNS: usize = 32;

/// Returns the number of nested collections of a type.
pub(crate) fn levels(mut ty: &Type) -> usize {
    let mut levels = 0;
    while let Type::List(element, _)
    | Type::Set(element, _)
    | Type::Map(_, element, _)
    | Type::Option(element) = ty
    {
        levels += usize::from(!ty.is_option());
        ty = element;
    }
    levels
}

/// Returns the type of the elements of lists and sets and of the values of options, at any depth.
pub(super) fn innermost(mut ty: &Type) -> &Type {
    while let Type::List(element, _) | Type::Set(element, _) | Type::Option(element) = ty {
        ty = element;
    }
    ty
}

/// Visits the names in a written type.
fn aliases_in(ty: &ast::Type, visit: &mut dyn FnMut(&str)) {
    match &ty.kind {
        TypeKind::Name(name) => visit(&name.node),
        TypeKind::List(element) | TypeKind::Set(element) => aliases_in(element, visit),
        TypeKind::Map(key, value) => {
            aliases_in(key, visit);
            aliases_in(value, visit);
        }
    }
}

/// Returns true if a value of type `found` is valid where `wanted` is required, without regard to
/// refinements.
pub(crate) fn fits(found: &Type, wanted: &Type) -> bool {
    match (found, wanted) {
        (Type::Error | Type::Never, _) | (_, Type::Error | Type::Never) => true,
        (Type::Option(f), Type::Option(w)) => fits(f, w),
        (f, Type::Option(w)) => fits(f, w),
        (Type::List(f, _), Type::List(w, _)) | (Type::Set(f, _), Type::Set(w, _)) => fits(f, w),
        (Type::Map(k, f, _), Type::Map(l, w, _)) => k == l && fits(f, w),
        // An empty `{}` has the type of a set.
        (Type::Set(f, _), Type::Map(..)) => **f == Type::Never,
        (Type::Enum(f), Type::Enum(w)) => f == w,
        (Type::Record(f), Type::Record(w)) => f == w,
        (f, w) => std::mem::discriminant(f) == std::mem::discriminant(w),
    }
}

/// Returns the common type of two types.
pub(crate) fn join(a: &Type, b: &Type) -> Option<Type> {
    if a.is_option() || b.is_option() {
        return Some(join(a.required(), b.required())?.optional());
    }
    match (a, b) {
        (Type::Never | Type::Error, other) | (other, Type::Never | Type::Error) => {
            Some(other.clone())
        }
        (Type::Int(al, ah), Type::Int(bl, bh)) => Some(Type::Int(low(*al, *bl), high(*ah, *bh))),
        (Type::Decimal(al, ah), Type::Decimal(bl, bh)) => {
            Some(Type::Decimal(low(*al, *bl), high(*ah, *bh)))
        }
        (Type::Duration(al, ah), Type::Duration(bl, bh)) => {
            Some(Type::Duration(low(*al, *bl), high(*ah, *bh)))
        }
        (Type::String(x), Type::String(y)) if x != y => Some(Type::string()),
        (Type::List(x, m), Type::List(y, n)) => {
            Some(Type::List(Arc::new(join(x, y)?), bound(*m, *n)))
        }
        (Type::Set(x, m), Type::Set(y, n)) => Some(Type::Set(Arc::new(join(x, y)?), bound(*m, *n))),
        _ => fits(a, b).then(|| a.clone()),
    }
}

fn low(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    Some(a?.min(b?))
}

fn high(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    Some(a?.max(b?))
}

fn bound(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.max(b?))
}

impl TypeChecker<'_, '_> {
    /// Reports that an operator does not apply to the types of its operands.
    pub(super) fn inapplicable(
        &mut self,
        span: Span,
        op: &str,
        left: (&ast::Expr, &Type),
        right: Option<(&ast::Expr, &Type)>,
        help: &str,
    ) -> Expr {
        let (l, r) = (self.show(left.1), right.map(|(_, ty)| self.show(ty)));
        let right = right.zip(r.as_deref()).map(|((at, _), ty)| (at.span, ty));
        self.broken(span, errors::operator(span, op, (left.0.span, &l), right, help))
    }

    /// Returns the type in words: `an int`, ``an `Env` ``, `a list of strings`.
    pub fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "a bool".into(),
            Type::Int(..) => "an int".into(),
            Type::Decimal(..) => "a decimal".into(),
            Type::String(_) => "a string".into(),
            Type::Path => "a path".into(),
            Type::Url => "a url".into(),
            Type::Command => "a command".into(),
            Type::Duration(..) => "a duration".into(),
            Type::Time(_) => "a time".into(),
            Type::Enum(id) => format!("a variant of `{}`", self.program.enums[*id].name),
            Type::Record(id) => format!("a record `{}`", self.program.records[*id].name),
            Type::List(element, _) => format!("a `list<{}>`", self.short(element)),
            Type::Set(element, _) => format!("a `set<{}>`", self.short(element)),
            Type::Map(..) => format!("a `{}`", self.short(ty)),
            Type::Option(inner) if **inner == Type::Never => "`none`".into(),
            Type::Option(inner) => format!("an optional `{}`", self.short(inner)),
            Type::Json => "`json`".into(),
            Type::Never => "nothing".into(),
            Type::Error => "unknown".into(),
        }
    }

    /// Returns the type as it is written, without refinements.
    pub fn short(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".into(),
            Type::Int(..) => "int".into(),
            Type::Decimal(..) => "decimal".into(),
            Type::String(_) => "string".into(),
            Type::Path => "path".into(),
            Type::Url => "url".into(),
            Type::Command => "command".into(),
            Type::Duration(..) => "duration".into(),
            Type::Time(_) => "time".into(),
            Type::Enum(id) => self.program.enums[*id].name.clone(),
            Type::Record(id) => self.program.records[*id].name.clone(),
            Type::List(element, _) => format!("list<{}>", self.short(element)),
            Type::Set(element, _) => format!("set<{}>", self.short(element)),
            Type::Map(key, value, _) => {
                format!("map<{}, {}>", self.short(&key.ty()), self.short(value))
            }
            Type::Option(inner) => format!("{}?", self.short(inner)),
            Type::Json => "json".into(),
            Type::Never | Type::Error => "_".into(),
        }
    }

    /// Returns the meaning of a written type.
    pub fn ty(&mut self, ty: &ast::Type) -> Type {
        let head = self.head(&ty.kind);
        let refined = ty.refinements.iter().fold(head, |head, r| self.refine(head, r));
        if !ty.optional {
            return refined;
        }
        if refined.is_option() {
            let help = "remove one `?`: there is only one way for a value to be missing";
            self.report(errors::impossible_type(ty.span, "an option of an option", help));
            return refined;
        }
        refined.optional()
    }

    fn head(&mut self, kind: &TypeKind) -> Type {
        match kind {
            TypeKind::Name(name) => self.named(name),
            TypeKind::List(element) => Type::List(Arc::new(self.element(element)), None),
            TypeKind::Set(element) => Type::Set(Arc::new(self.element(element)), None),
            TypeKind::Map(key, value) => {
                let keys = match self.ty(key) {
                    Type::Error => MapKey::Text,
                    plain if plain == Type::string() => MapKey::Text,
                    Type::Bool => MapKey::Bool,
                    Type::Int(None, None) => MapKey::Int,
                    Type::Enum(id) => MapKey::Enum(id),
                    other => {
                        let refined = matches!(other, Type::Int(..) | Type::String(_));
                        self.report(errors::keys_of_a_map(key.span, refined));
                        MapKey::Text
                    }
                };
                Type::Map(keys, Arc::new(self.element(value)), None)
            }
        }
    }

    fn element(&mut self, ty: &ast::Type) -> Type {
        let element = self.ty(ty);
        if element.is_option() {
            let help = "leave missing elements out instead";
            self.report(errors::impossible_type(ty.span, "a collection of options", help));
            return Type::Error;
        }
        if element == Type::Command {
            let help = "declare a parameter `command` for each command that the tool runs";
            self.report(errors::impossible_type(ty.span, "a collection of commands", help));
            return Type::Error;
        }
        // The collection around the element is one more level.
        if levels(&element) >= MAX_LEVELS {
            self.too_deep(ty.span);
            return Type::Error;
        }
        element
    }

    fn named(&mut self, name: &ast::Ident) -> Type {
        match name.node.as_str() {
            "bool" => Type::Bool,
            "int" => Type::int(),
            "decimal" => Type::decimal(),
            "string" => Type::string(),
            "path" => Type::Path,
            "url" => Type::Url,
            "command" => Type::Command,
            "duration" => Type::duration(),
            "time" => Type::Time(None),
            "json" => Type::Json,
            "Weekday" => Type::Enum(crate::hir::WEEKDAY),
            "Origin" => Type::Enum(crate::hir::ORIGIN),
            other => self.declared_type(other, name),
        }
    }

    fn declared_type(&mut self, name: &str, ident: &ast::Ident) -> Type {
        if let Some(at) = self.names.enums.get(name) {
            return Type::Enum(at + BUILTIN_ENUMS);
        }
        if let Some(at) = self.names.records.get(name) {
            return Type::Record(at);
        }
        if let Some(at) = self.names.unions.get(name) {
            // They come after the records.
            return Type::Record(self.names.records.items.len() + at);
        }
        if let Some(at) = self.names.aliases.get(name) {
            return self.aliases[at].clone();
        }
        let names = self.names;
        let builtin = BUILTIN_TYPES.into_iter().filter(|name| *name != "Origin");
        let known = builtin.chain(names.enums.names()).chain(names.records.names());
        let known = known.chain(names.unions.names()).chain(names.aliases.names());
        self.report(errors::unknown_type(ident, known));
        Type::Error
    }

    /// Types every alias, after the aliases that it contains. A chain of aliases may be as long as
    /// the file.
    pub fn aliases(&mut self) {
        let aliases = &self.names.aliases;
        let used = |ty: &ast::Type| {
            let mut used = Vec::new();
            aliases_in(ty, &mut |name| used.extend(aliases.peek(name).map(|at| (at, ty.span))));
            used
        };
        let uses: Vec<_> = aliases.items.iter().map(|alias| used(&alias.decl.ty)).collect();
        let (order, cycles) = ordered(&uses);
        cycles.iter().for_each(|cycle| self.circular_alias(cycle));
        for at in order {
            self.aliases[at] = self.ty(&aliases.items[at].decl.ty);
        }
    }

    pub fn too_deep(&mut self, span: Span) {
        if !std::mem::replace(&mut self.said_deep, true) {
            self.report(errors::too_deep(span, MAX_LEVELS));
        }
    }

    fn circular_alias(&mut self, cycle: &[(usize, Span)]) {
        let named = |(at, _): &(usize, Span)| self.names.aliases.items[*at].name;
        let closed = cycle.iter().chain(cycle.first());
        let names: Vec<&str> = closed.map(|at| named(at).node.as_str()).collect();
        let why = format!("a type is defined by itself: {}", errors::chain(&names));
        let help = "name a type that exists without it";
        self.report(errors::impossible_type(named(&cycle[0]).span, &why, help));
    }

    fn refine(&mut self, ty: Type, refinement: &Refinement) -> Type {
        match (ty, refinement) {
            (Type::Error, _) => Type::Error,
            (Type::Option(inner), r) => self.refine((*inner).clone(), r).optional(),
            (Type::Int(lo, hi), Refinement::Range { low, high, inclusive, span }) => {
                let range = self.range(low, high, *inclusive, span.0, literal::int);
                let (lo, hi) = self.within_range((lo, hi), range, span.0);
                Type::Int(lo, hi)
            }
            (Type::Decimal(lo, hi), Refinement::Range { low, high, inclusive, span }) => {
                let range = self.range(low, high, *inclusive, span.0, literal::decimal);
                let (lo, hi) = self.within_range((lo, hi), range, span.0);
                Type::Decimal(lo, hi)
            }
            (Type::Duration(lo, hi), Refinement::Range { low, high, inclusive, span }) => {
                let range = self.range(low, high, *inclusive, span.0, literal::duration);
                let (lo, hi) = self.within_range((lo, hi), range, span.0);
                Type::Duration(lo, hi)
            }
            (Type::String(mut bounds), Refinement::Max(max)) => {
                self.string_max(&mut bounds, max);
                Type::String(bounds)
            }
            (Type::String(mut bounds), Refinement::Matches(pattern)) => {
                if bounds.patterns.len() >= MAX_PATTERNS {
                    let why = format!("one type has more than {MAX_PATTERNS} expressions");
                    self.report(errors::refinement(pattern.span, &why, "join some of them by `|`"));
                } else if regex::check(self, &pattern.node, pattern.span) {
                    bounds.patterns.push(pattern.node.as_str().into());
                }
                Type::String(bounds)
            }
            (Type::List(element, known), Refinement::Max(max)) => {
                Type::List(element, least(known, self.count(max)))
            }
            (Type::Set(element, known), Refinement::Max(max)) => {
                Type::Set(element, least(known, self.count(max)))
            }
            (Type::Map(key, value, known), Refinement::Max(max)) => {
                Type::Map(key, value, least(known, self.count(max)))
            }
            (Type::Time(known), Refinement::Format(format)) if !valid_format(&format.node) => {
                self.report(errors::time_format(format.span));
                Type::Time(known)
            }
            (Type::Time(_), Refinement::Format(format)) => {
                Type::Time(Some(format.node.as_str().into()))
            }
            (ty, refinement) => {
                self.misfit(&ty, refinement);
                ty
            }
        }
    }

    /// Returns a range within another range: refinements are combined.
    fn within_range(&mut self, known: Ends, range: Ends, span: Span) -> Ends {
        let low = known.0.max(range.0);
        let high = least(known.1, range.1);
        let is_empty = |(low, high): Ends| low.zip(high).is_some_and(|(low, high)| low > high);
        // An empty range was already reported.
        if is_empty((low, high)) && !is_empty(range) {
            let why = "nothing is in this range and in that of the type it refines";
            self.report(errors::refinement(span, why, "choose a range that overlaps the other"));
            return known;
        }
        (low, high)
    }

    fn misfit(&mut self, ty: &Type, refinement: &Refinement) {
        let (span, what) = match refinement {
            Refinement::Range { span, .. } => (span.0, "`in …`"),
            Refinement::Max(max) => (max.span, "`max`"),
            Refinement::Matches(pattern) => (pattern.span, "`matches`"),
            Refinement::Format(format) => (format.span, "`format`"),
        };
        let why = format!("{what} does not refine {}", self.show(ty));
        let help = "`in` refines int, decimal and duration; `max` strings and collections; `matches` strings; \
                    `format` times";
        self.report(errors::refinement(span, &why, help));
    }

    fn string_max(&mut self, bounds: &mut StringBounds, max: &ast::Literal) {
        match self.literal(max, literal::size) {
            // A plain number counts characters, and a number with a unit counts bytes.
            Some(None) => bounds.max_chars = least(bounds.max_chars, self.count(max)),
            bytes => bounds.max_bytes = least(bounds.max_bytes, bytes.flatten()),
        }
    }

    /// Returns a number of elements, characters or rows.
    pub fn count(&mut self, max: &ast::Literal) -> Option<u64> {
        let why = "is not a whole number below 4,294,967,296";
        self.literal(max, |text| text.parse::<u32>().map(u64::from).map_err(|_| why))
    }

    fn range(
        &mut self,
        low: &Option<ast::Literal>,
        high: &Option<ast::Literal>,
        inclusive: bool,
        span: Span,
        read: fn(&str) -> Result<i64, String>,
    ) -> Ends {
        let mut bound = |literal: &Option<ast::Literal>| self.literal(literal.as_ref()?, read);
        let lo = bound(low);
        let mut hi = bound(high);
        if !inclusive {
            // The units are whole, also those of decimals and durations, so the last value is one
            // unit lower.
            hi = hi.map(|h| h.saturating_sub(1));
        }
        if let (Some(l), Some(h)) = (lo, hi)
            && l > h
        {
            let help =
                "write the smaller bound first; `..` leaves the upper bound out, `..=` includes it";
            self.report(errors::refinement(span, "no value is in this range", help));
        }
        (lo, hi)
    }
}

/// The ends of a range; `None` for an open end.
type Ends = (Option<i64>, Option<i64>);

/// Returns the smaller of two bounds, if there are any.
fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
