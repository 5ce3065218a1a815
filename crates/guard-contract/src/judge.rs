//! The check of one parsed unit: schema, bounds, references, rank, and the lists within it, unit by
//! unit.
//!
//! This module does not know where units come from, nor how many are kept in the document's lists.

use crate::coerce::MemberPlaces;
use crate::fits::Fits;
use crate::input::Input;
use crate::keep::{KeptUnits, Rank, Refusal};
use crate::shape::{List, PreparedContract};
use crate::tape::{Tape, TapeNodeKind};
use guard_plan::decode::{DecodeProblem, Decoder};
use guard_plan::json::Json;
use guard_plan::plan::{Allowed, Reference, TypeDef, TypeId};
use guard_plan::render;
use guard_plan::report::QuarantineReason;
use guard_plan::value::Value;

/// A valid unit, before the limit on the number of units.
#[derive(Debug)]
pub(crate) struct ValidUnit {
    pub value: Json,
    pub rank: Rank,
    /// The refused units of lists within it, with their positions in the text.
    pub refused: Vec<Inner>,
    /// The positions of the values that were converted from another form.
    pub coerced: Vec<usize>,
}

/// A refused unit of a list within an item.
#[derive(Debug)]
pub(crate) struct Inner {
    pub list: usize,
    pub index: u64,
    pub refusal: Refusal,
    pub raw: String,
    /// The position in the text of the item around it.
    pub at: (usize, usize),
}

/// Judges units.
#[derive(Clone, Copy)]
pub(crate) struct UnitJudge<'a> {
    pub prepared: &'a PreparedContract,
    pub input: &'a Input<'a>,
}

fn refuse<T>(reason: QuarantineReason, error: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { reason, error: error.into() })
}

impl UnitJudge<'_> {
    /// Judges the unit of a list on a tape.
    pub fn unit(&self, list: usize, tape: &Tape, bytes: &[u8]) -> Result<ValidUnit, Refusal> {
        let shape = &self.prepared.lists[list];
        let text = text(bytes)?;
        let fits = Fits { prepared: self.prepared, tape, text };
        let quick = shape.nested.is_empty() && shape.ty.is_some_and(|ty| fits.has(ty, 0));
        if !quick {
            distinct(tape, text, || self.has_secret(list))?;
        }
        let mut judged = ValidUnit {
            value: tape.json(text, 0),
            rank: Rank::default(),
            refused: Vec::new(),
            coerced: Vec::new(),
        };
        if !quick {
            if let Some(ty) = shape.ty {
                judged.coerced = self.prepared.coerce(ty, &mut judged.value, (tape, 0));
            }
            self.prune(list, tape, text, 0, &mut judged);
            self.schema(shape, &judged.value)?;
        }
        // The type `json` does not require an object.
        if shape.schema.is_none() && !matches!(judged.value, Json::Object(_)) {
            return refuse(QuarantineReason::Schema, "expected an object");
        }
        if !shape.nested.is_empty() || !judged.coerced.is_empty() {
            // The bounds apply to the value after pruning.
            self.bounds(&judged.value, usize::MAX)?;
        } else {
            if tape.depth as u64 > u64::from(self.prepared.contract.bounds.depth) {
                return refuse(QuarantineReason::Bounds, self.too_deep(tape.depth));
            }
            self.bounds(&judged.value, tape.longest)?;
        }
        self.references(&shape.references, &judged.value)?;
        judged.rank = self.rank(list, &judged.value);
        Ok(judged)
    }

    /// Judges a unit that was read member by member. Returns its rank, and the positions in the text
    /// of the values that were converted from another form.
    pub fn assembled(
        &self,
        list: usize,
        value: &mut Json,
        places: &[MemberPlaces],
    ) -> Result<(Rank, Vec<usize>), Refusal> {
        let shape = &self.prepared.lists[list];
        let coerce = |ty| self.prepared.coerce_item(ty, value, places);
        let coerced = shape.ty.map_or(Vec::new(), coerce);
        self.schema(shape, value)?;
        self.bounds(value, usize::MAX)?;
        self.references(&shape.references, value)?;
        Ok((self.rank(list, value), coerced))
    }

    /// Judges a member of the envelope on a tape. Returns it, and the positions of the values that
    /// were converted from another form.
    pub fn member(
        &self,
        at: usize,
        tape: &Tape,
        bytes: &[u8],
    ) -> Result<(Json, Vec<usize>), Refusal> {
        let field = &self.prepared.fields[at];
        let text = text(bytes)?;
        distinct(tape, text, || field.secret || self.prepared.holds_secret(field.ty))?;
        let mut value = tape.json(text, 0);
        let mut coerced = Vec::new();
        if !self.prepared.coercions.is_empty() {
            let record = (self.prepared.contract.record, at);
            let place = Some((tape, 0));
            self.prepared.coerce_field(record, field.ty, &mut value, place, &mut coerced);
        }
        self.decoded(field.ty, &value, field.secret)?;
        // The member is at nesting depth one in the document.
        let depth = tape.depth;
        if depth as u64 > u64::from(self.prepared.contract.bounds.depth) {
            return refuse(QuarantineReason::Bounds, self.too_deep(depth));
        }
        let longest = if coerced.is_empty() { tape.longest } else { usize::MAX };
        self.bounds(&value, longest)?;
        let is_of_field =
            |at: &&usize| self.prepared.contract.references[**at].path.first() == Some(&field.name);
        for at in self.prepared.references.iter().filter(is_of_field) {
            let reference = &self.prepared.contract.references[*at];
            self.reference(*at, reference, &reference.path[1..], &value)?;
        }
        Ok((value, coerced))
    }

    /// Reads a member of an item that is read member by member; it is judged with the item.
    pub fn plain(&self, list: usize, tape: &Tape, bytes: &[u8]) -> Result<Json, Refusal> {
        let text = text(bytes)?;
        distinct(tape, text, || self.has_secret(list))?;
        Ok(tape.json(text, 0))
    }

    fn has_secret(&self, list: usize) -> bool {
        self.prepared.lists[list].ty.is_some_and(|ty| self.prepared.holds_secret(ty))
    }

    /// Returns the message for a member that the envelope does not have.
    pub fn unknown_member(&self, name: &str) -> String {
        let names = || self.prepared.fields.iter().map(|field| field.name.as_str());
        match guard_plan::near::nearest(name, names()) {
            Some(near) => format!("is not a member; did you mean `{near}`?"),
            None => "is not a member of the contract".into(),
        }
    }

    pub fn too_deep(&self, depth: usize) -> String {
        let most = self.prepared.contract.bounds.depth;
        format!("it nests {depth} levels deep; at most {most} are allowed")
    }

    fn decoded(&self, ty: TypeId, value: &Json, secret: bool) -> Result<Value, Refusal> {
        let matches = |id, text: &str| self.prepared.matches(id, text);
        let decoder = Decoder {
            types: &self.prepared.types,
            workspace: self.input.workspace,
            open: false,
            coercions: &[],
            matches: &matches,
        };
        decoder.decode(ty, value).map_err(|problems| Refusal {
            reason: QuarantineReason::Schema,
            error: if secret { "it does not have its type".into() } else { said(&problems) },
        })
    }

    fn schema(&self, shape: &List, value: &Json) -> Result<(), Refusal> {
        if let Some(schema) = &shape.schema {
            let checked = schema.check(value);
            return checked.or_else(|why| refuse(QuarantineReason::Schema, render::cut(&why, 500)));
        }
        match shape.ty {
            Some(ty) => self.decoded(ty, value, false).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Checks the nesting depth of a value and the length of its strings.
    fn bounds(&self, value: &Json, longest: usize) -> Result<(), Refusal> {
        let bounds = &self.prepared.contract.bounds;
        if longest == usize::MAX {
            let depth = depth(value);
            if depth > u64::from(bounds.depth) {
                return refuse(QuarantineReason::Bounds, self.too_deep(depth as usize));
            }
        }
        if longest as u64 > bounds.string
            && let Some(found) = self.too_long(value, bounds.string)
        {
            let most = bounds.string;
            let why = format!("a string of {found} characters; at most {most} are allowed");
            return refuse(QuarantineReason::Bounds, why);
        }
        Ok(())
    }

    /// Returns the length of a string that exceeds the limit; or of a key, unless the contract
    /// itself declares the key.
    fn too_long(&self, value: &Json, most: u64) -> Option<u64> {
        let long = |text: &str| {
            let count = if text.len() as u64 > most { text.chars().count() as u64 } else { 0 };
            (count > most).then_some(count)
        };
        let named = |key: &str| self.prepared.declared.has(key);
        match value {
            Json::String(text) => long(text),
            Json::Array(items) => items.iter().find_map(|item| self.too_long(item, most)),
            Json::Object(members) => members.iter().find_map(|(key, value)| {
                long(key).filter(|_| !named(key)).or_else(|| self.too_long(value, most))
            }),
            _ => None,
        }
    }

    fn references(&self, which: &[usize], value: &Json) -> Result<(), Refusal> {
        which.iter().try_for_each(|at| {
            let reference = &self.prepared.contract.references[*at];
            self.reference(*at, reference, &reference.path, value)
        })
    }

    fn reference(
        &self,
        at: usize,
        reference: &Reference,
        path: &[String],
        value: &Json,
    ) -> Result<(), Refusal> {
        if let Json::Array(items) = value {
            return items.iter().try_for_each(|item| self.reference(at, reference, path, item));
        }
        if let Some((name, path)) = path.split_first() {
            return match value.get(name) {
                Some(value) => self.reference(at, reference, path, value),
                None => Ok(()),
            };
        }
        if matches!(value, Json::Null) {
            return Ok(());
        }
        let known = self.input.known;
        let answer = match &reference.allowed {
            Allowed::Fact(fact) => known.fact(*fact, value),
            // If the host provided no list, nothing is checked, and the report says so.
            Allowed::Given(name) => known.given(name, value).or(Some(true)),
            Allowed::Values(_) => known.value(at, value),
        };
        let secret = reference.path.iter().any(|name| self.prepared.secrets.has(name));
        let shown =
            || if secret { "the value".to_owned() } else { render::cut(&value.to_string(), 100) };
        match answer {
            Some(true) => Ok(()),
            Some(false) => refuse(
                QuarantineReason::Reference,
                format!("{} is not known: `{}`", shown(), reference.text),
            ),
            None => refuse(
                QuarantineReason::Reference,
                format!("it cannot be checked whether {} is known: `{}`", shown(), reference.text),
            ),
        }
    }

    /// Returns the rank of a unit, lowest first. A unit without a rank comes last.
    fn rank(&self, list: usize, value: &Json) -> Rank {
        let shape = &self.prepared.lists[list];
        let Some(by) = &shape.by else { return Rank::default() };
        let Some(member) = value.get(by) else { return Rank { missing: true, value: None } };
        let first = |ty: TypeId| match self.prepared.types.get(ty as usize) {
            // Each case has the member, with one type.
            Some(TypeDef::Union { cases, .. }) => cases.first().map(|case| case.ty),
            _ => Some(ty),
        };
        let ty =
            shape.ty.and_then(first).and_then(|ty| match self.prepared.types.get(ty as usize) {
                Some(TypeDef::Record { fields, .. }) => {
                    fields.iter().find(|field| field.name == *by)
                }
                _ => None,
            });
        let value = match ty {
            Some(field) => self.decoded(field.ty, member, false).ok(),
            None => loose_rank(member),
        };
        Rank { missing: value.is_none(), value }
    }

    /// Removes the refused units from the lists within an item.
    fn prune(&self, list: usize, tape: &Tape, text: &str, node: usize, judged: &mut ValidUnit) {
        for inner in &self.prepared.lists[list].nested {
            let name = &self.prepared.lists[*inner].member;
            let Json::Object(members) = &mut judged.value else { return };
            let place = members.iter_mut().find(|(key, _)| **key == **name);
            let member = tape.members(node).find(|(key, _)| tape.text(text, *key) == *name);
            let (Some((_, Json::Array(items))), Some((_, array))) = (place, member) else {
                continue;
            };
            if tape.nodes[array].kind == TapeNodeKind::Array {
                let units: Vec<usize> = tape.children(array).collect();
                *items = self.inner_list(*inner, tape, text, &units, &mut judged.refused);
            }
        }
    }

    fn inner_list(
        &self,
        list: usize,
        tape: &Tape,
        text: &str,
        units: &[usize],
        refused: &mut Vec<Inner>,
    ) -> Vec<Json> {
        let mut keep = KeptUnits::new(&self.prepared.lists[list]);
        for (index, unit) in units.iter().enumerate() {
            let raw = tape.raw(text, *unit);
            let start = tape.nodes[*unit].start as usize;
            let mut own = Tape::default();
            // It was parsed before, as part of the item around it.
            let is_object = tape.nodes[*unit].kind == TapeNodeKind::Object;
            let result = if is_object && own.read(raw.as_bytes()).is_ok() {
                self.unit(list, &own, raw.as_bytes())
            } else {
                refuse(QuarantineReason::Schema, "expected an object")
            };
            let at = (start, start + raw.len());
            let gone = match result {
                Ok(judged) => {
                    refused.extend(judged.refused.into_iter().map(|inner| Inner {
                        at: (inner.at.0 + start, inner.at.1 + start),
                        ..inner
                    }));
                    let item = crate::keep::item(index as u64, at, judged.value);
                    keep.offer(judged.rank, item).map(|lost| {
                        let at = (lost.at.start as usize, lost.at.end as usize);
                        (lost.index, at, keep.over_limit())
                    })
                }
                Err(refusal) => Some((index as u64, at, refusal)),
            };
            refused.extend(gone.map(|(index, at, refusal)| Inner {
                list,
                index,
                refusal,
                raw: text[at.0..at.1].chars().take(guard_plan::report::SNIPPET).collect(),
                at,
            }));
        }
        keep.finish().into_iter().map(|item| item.value).collect()
    }
}

fn text(bytes: &[u8]) -> Result<&str, Refusal> {
    str::from_utf8(bytes).or_else(|error| {
        refuse(
            QuarantineReason::Malformed,
            format!("invalid UTF-8 at byte {}", error.valid_up_to()),
        )
    })
}

/// Checks that no key occurs twice in an object. The error names the key unless it may be secret.
fn distinct(tape: &Tape, text: &str, secret: impl Fn() -> bool) -> Result<(), Refusal> {
    match tape.twice(text, 0) {
        None => Ok(()),
        Some(_) if secret() => refuse(QuarantineReason::Malformed, "a key occurs twice"),
        Some(key) => refuse(
            QuarantineReason::Malformed,
            format!("duplicate key `{}`", render::cut(&key, 60)),
        ),
    }
}

/// Formats the first problems, and the number of further ones.
fn said(problems: &[DecodeProblem]) -> String {
    let mut said: Vec<String> = problems.iter().take(3).map(|p| p.to_string()).collect();
    if problems.len() > said.len() {
        said.push(format!("and {} more", problems.len() - said.len()));
    }
    let mut said = said.join("; ");
    if let Some((end, _)) = said.char_indices().nth(500) {
        said.truncate(end);
        said.push('…');
    }
    said
}

/// Returns the nesting depth of a value: 1 for an object without members, 0 for a scalar.
fn depth(value: &Json) -> u64 {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.iter().map(|(_, v)| depth(v)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns a rank of unknown type.
fn loose_rank(member: &Json) -> Option<Value> {
    match member {
        Json::Int(_) | Json::Number(_) => {
            guard_plan::decimal::parse(&member.to_string()).map(Value::Decimal)
        }
        Json::String(text) => Some(Value::String(text.clone())),
        _ => None,
    }
}
