//! The part of a result that a clause names, element by element (semantics §8).
//!
//! A place in a result is a list of steps: `.name` for a member, `[n]` for an element.

use super::eval::Env;
use super::values::rows;
use super::{Answerer, ReferenceSession};
use crate::hir::{ClauseKind, SelectedPart, Tool};
use guard_plan::builtin::Builtin;
use guard_plan::json::Json;
use guard_plan::record::NoteKind;
use guard_plan::trust::ELEMENT;
use guard_plan::value::{Fault, Value};
use std::borrow::Cow;

/// An element that the ranges of a part bind.
pub(super) struct Bound<'p, 'j> {
    /// The bound values, by slot.
    pub locals: Vec<Value>,
    /// The element itself, and its place in the result.
    pub json: &'j Json,
    place: Vec<String>,
    /// The steps from the element to the part.
    pub rest: &'p [String],
}

/// The parts of a result that are covered by endorsements.
#[derive(Default)]
pub(super) struct Endorsements {
    /// The places of parts.
    pub places: Vec<Vec<String>>,
    /// The texts in which only the values that a function finds are trusted.
    pub texts: Vec<(Builtin, String)>,
}

impl ReferenceSession<'_> {
    /// Returns the elements of a part, and the reason why there are no more.
    pub(super) fn elements<'p, 'j>(
        &self,
        part: &'p SelectedPart,
        raw: &'j Json,
        env: Env,
    ) -> (Vec<Bound<'p, 'j>>, Option<Fault>) {
        let mut found = Vec::new();
        let whole = Bound { locals: Vec::new(), json: raw, place: Vec::new(), rest: &part.path };
        let fault = self.descend(part, 0, whole, env, &mut found).err();
        (found, fault)
    }

    fn descend<'p, 'j>(
        &self,
        part: &'p SelectedPart,
        depth: usize,
        outer: Bound<'p, 'j>,
        env: Env,
        found: &mut Vec<Bound<'p, 'j>>,
    ) -> Result<(), Fault> {
        let Some(range) = part.ranges.get(depth) else {
            found.push(outer);
            return Ok(());
        };
        let source = self.eval(&range.over, Env { locals: &outer.locals, ..env })?;
        let count = match &source {
            Value::None => return Ok(()),
            Value::List(items) => Some(items.len()),
            Value::Json(json) => match &**json {
                Json::Array(items) => Some(items.len()),
                _ => None,
            },
            _ => None,
        };
        let mut json = outer.json;
        let mut place = outer.place;
        let mut rest = outer.rest;
        while let [step, inner @ ..] = rest {
            rest = inner;
            if step == ELEMENT {
                break;
            }
            json = json.get(step).unwrap_or(&Json::Null);
            place.push(format!(".{step}"));
        }
        // Conditions read the decoded list and places are of the raw one: if these differ in
        // length, the condition of one element would endorse another.
        let items = match json {
            Json::Array(items) if count == Some(items.len()) => items,
            _ => return Err(Fault::Decode("no list".into())),
        };
        let bound = rows(&[Cow::Owned(source)], range.binders.len())?;
        for (at, (json, row)) in items.iter().zip(bound).enumerate() {
            let mut locals = outer.locals.clone();
            for (slot, value) in range.binders.iter().zip(row) {
                set(&mut locals, *slot, value);
            }
            let place = [place.as_slice(), &[format!("[{at}]")]].concat();
            self.descend(part, depth + 1, Bound { locals, json, place, rest }, env, found)?;
        }
        Ok(())
    }

    /// Returns the parts of the result that the endorsements of a tool cover.
    pub(super) fn endorsed(
        &mut self,
        tool: &Tool,
        args: &[Value],
        (raw, result): (&Json, &Value),
        world: Answerer,
    ) -> Endorsements {
        let mut all = Endorsements::default();
        if !self.read.tables.origins {
            return all;
        }
        for clause in &tool.clauses {
            let ClauseKind::Endorse { part, extractor, when } = &clause.kind else { continue };
            let at = self.program.tools.iter().position(|declared| std::ptr::eq(declared, tool));
            if !at.is_some_and(|at| self.trust.counts(at, &clause.kind)) {
                self.outcome.note(NoteKind::Warning, &clause.rule.owner);
                continue;
            }
            let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
            let (elements, fault) = self.elements(part, raw, env);
            let mut faulty = fault.is_some();
            for element in elements {
                let env = Env { locals: &element.locals, ..env };
                match when.as_ref().map_or(Ok(true), |when| self.holds(when, env)) {
                    Ok(true) => all.add(&element, *extractor),
                    Ok(false) => {}
                    Err(_) => faulty = true,
                }
            }
            if faulty {
                self.outcome.note(NoteKind::Warning, &clause.rule.owner);
            }
        }
        all
    }
}

impl Endorsements {
    fn add(&mut self, element: &Bound<'_, '_>, extractor: Option<Builtin>) {
        let mut parts = vec![(element.json, element.place.clone())];
        for step in element.rest {
            parts = parts.into_iter().flat_map(|part| inner(part, step)).collect();
        }
        match extractor {
            None => self.places.extend(parts.into_iter().map(|(_, place)| place)),
            Some(extractor) => {
                let mut left: Vec<&Json> = parts.into_iter().map(|(json, _)| json).collect();
                while let Some(json) = left.pop() {
                    match json {
                        Json::String(text) => self.texts.push((extractor, text.to_string())),
                        Json::Array(items) => left.extend(items),
                        Json::Object(members) => left.extend(members.iter().map(|(_, json)| json)),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Returns the parts one step below a part. If the step is a member, it is looked up in the
/// elements of lists.
fn inner<'j>((json, place): (&'j Json, Vec<String>), step: &str) -> Vec<(&'j Json, Vec<String>)> {
    let below = |step: String| [place.as_slice(), &[step]].concat();
    match json {
        Json::Array(items) => {
            let items = items.iter().enumerate().map(|(at, item)| (item, below(format!("[{at}]"))));
            if step == ELEMENT {
                items.collect()
            } else {
                items.flat_map(|item| inner(item, step)).collect()
            }
        }
        Json::Object(members) => {
            let named = members.iter().filter(|(name, _)| step == ELEMENT || **name == *step);
            named.map(|(name, json)| (json, below(format!(".{name}")))).collect()
        }
        _ => Vec::new(),
    }
}

/// Puts a value into a slot.
pub(super) fn set(locals: &mut Vec<Value>, slot: u32, value: Value) {
    let at = slot as usize;
    locals.resize((at + 1).max(locals.len()), Value::None);
    locals[at] = value;
}
