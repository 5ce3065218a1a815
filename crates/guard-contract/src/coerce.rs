//! Values in another form, which the author of a contract permits. A value is converted only if
//! nothing is lost.

use crate::shape::PreparedContract;
use crate::tape::Tape;
use guard_plan::decode::coerced;
use guard_plan::json::Json;
use guard_plan::plan::{TypeDef, TypeId};

/// A value on a tape.
pub(crate) type TapePlace<'a> = (&'a Tape, usize);

/// The positions of a member's values in the text, for an item that is read member by member.
#[derive(Debug)]
pub(crate) struct MemberPlaces {
    /// The index of the member in its item.
    pub nth: usize,
    /// The start of its value.
    pub start: usize,
    /// The nodes begin at their positions in the text, from the start on.
    pub tape: Tape,
}

impl PreparedContract {
    /// Converts the values of a type that are in another form. `place` is the position of the
    /// value. Returns the position of each converted value.
    pub fn coerce(&self, ty: TypeId, value: &mut Json, place: TapePlace<'_>) -> Vec<usize> {
        let mut taken = Vec::new();
        if !self.coercions.is_empty() {
            self.coerce_in(ty, value, Some(place), &mut taken);
        }
        taken
    }

    /// Converts the values of an item that was read member by member. Returns the position of each
    /// converted value in the text.
    pub fn coerce_item(&self, ty: TypeId, value: &mut Json, places: &[MemberPlaces]) -> Vec<usize> {
        let ty = match self.types.get(ty as usize) {
            Some(TypeDef::Union { tag, cases, .. }) => {
                let said = value.get(tag).and_then(Json::as_str);
                let case = said.and_then(|said| cases.iter().find(|case| *case.tag == *said));
                case.map_or(ty, |case| case.ty)
            }
            _ => ty,
        };
        let mut taken = Vec::new();
        let (Some(TypeDef::Record { fields, .. }), Json::Object(members)) =
            (self.types.get(ty as usize), value)
        else {
            return taken;
        };
        for (nth, (key, value)) in members.iter_mut().enumerate() {
            let Some(field) = fields.iter().position(|field| *field.name == **key) else {
                continue;
            };
            let found = places.iter().find(|places| places.nth == nth);
            let mut spots = Vec::new();
            let place = found.map(|places| (&places.tape, 0));
            self.coerce_field((ty, field), fields[field].ty, value, place, &mut spots);
            let start = found.map_or(0, |places| places.start);
            taken.extend(spots.into_iter().map(|spot| start + spot));
        }
        taken
    }

    /// Converts the value of a field of a record.
    pub fn coerce_field(
        &self,
        (record, field): (TypeId, usize),
        ty: TypeId,
        value: &mut Json,
        place: Option<TapePlace<'_>>,
        out: &mut Vec<usize>,
    ) {
        let required = match self.types.get(ty as usize) {
            Some(TypeDef::Option { of }) => *of,
            _ => ty,
        };
        let form = self.coercions.get(&(record, field as u32));
        let def = self.types.get(required as usize);
        let read = form.zip(def).and_then(|(form, def)| coerced(*form, def, value));
        match read {
            Some(read) => {
                *value = read;
                out.push(place.map_or(0, |(tape, node)| tape.nodes[node].start as usize));
            }
            None => self.coerce_in(required, value, place, out),
        }
    }

    fn coerce_in(
        &self,
        ty: TypeId,
        value: &mut Json,
        place: Option<TapePlace<'_>>,
        out: &mut Vec<usize>,
    ) {
        // The parts of a value are on the tape in the same order.
        let at = |nodes: &[usize], nth: usize| {
            place.and_then(|(tape, _)| Some((tape, *nodes.get(nth)?)))
        };
        match (self.types.get(ty as usize), value) {
            (Some(TypeDef::Option { of }), value) => self.coerce_in(*of, value, place, out),
            (Some(TypeDef::Union { tag, cases, .. }), value) => {
                let said = value.get(tag).and_then(Json::as_str);
                let case = said.and_then(|said| cases.iter().find(|case| *case.tag == *said));
                if let Some(case) = case {
                    self.coerce_in(case.ty, value, place, out);
                }
            }
            (Some(TypeDef::Record { fields, .. }), Json::Object(members)) => {
                let nodes = values(place);
                for (nth, (key, value)) in members.iter_mut().enumerate() {
                    let field = fields.iter().position(|field| *field.name == **key);
                    if let Some(field) = field {
                        let place = at(&nodes, nth);
                        self.coerce_field((ty, field), fields[field].ty, value, place, out);
                    }
                }
            }
            (Some(TypeDef::Map { of, .. }), Json::Object(members)) => {
                let nodes = values(place);
                for (nth, (_, value)) in members.iter_mut().enumerate() {
                    self.coerce_in(*of, value, at(&nodes, nth), out);
                }
            }
            (Some(TypeDef::List { of, .. } | TypeDef::Set { of, .. }), Json::Array(items)) => {
                let nodes = place.map_or(Vec::new(), |(tape, node)| tape.children(node).collect());
                for (nth, value) in items.iter_mut().enumerate() {
                    self.coerce_in(*of, value, at(&nodes, nth), out);
                }
            }
            _ => {}
        }
    }
}

/// Returns the nodes of an object's values.
fn values(place: Option<TapePlace<'_>>) -> Vec<usize> {
    place.map_or(Vec::new(), |(tape, node)| tape.members(node).map(|(_, value)| value).collect())
}
