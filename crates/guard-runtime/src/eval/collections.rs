//! Quantifiers, membership and indexing.

use super::context::{Bindings, Context, Evaluated};
use crate::compiled::expr::{CompiledExpr, CompiledOp};
use crate::val::{Val, confused};
use guard_plan::json::Json;
use guard_plan::plan::{Node, NodeId, QuantifierOp};
use guard_plan::value::{Fault, Value};
use std::collections::{BTreeSet, btree_map, btree_set};
use std::{slice, vec};

/// The largest set that is searched linearly rather than by an owned key.
const FEW: usize = 8;

/// The elements of a collection, each with its key or index.
pub(crate) enum Items<'a> {
    List(usize, slice::Iter<'a, Value>),
    OwnList(usize, vec::IntoIter<Value>),
    Set(usize, btree_set::Iter<'a, Value>),
    OwnSet(usize, btree_set::IntoIter<Value>),
    Map(btree_map::Iter<'a, Box<str>, Value>),
    OwnMap(btree_map::IntoIter<Box<str>, Value>),
    Array(usize, slice::Iter<'a, Json>),
    Object(slice::Iter<'a, (Box<str>, Json)>),
    OwnObject(vec::IntoIter<(Box<str>, Json)>),
    Rows(usize, vec::IntoIter<&'a Value>),
}

impl<'a> Items<'a> {
    /// Returns the elements of a list, set, map, or `json` array or object.
    pub fn new(value: Val<'a>) -> Result<Items<'a>, Fault> {
        Ok(match value {
            Val::Ref(Value::List(items)) => Items::List(0, items.iter()),
            Val::Own(Value::List(items)) => Items::OwnList(0, items.into_iter()),
            Val::Ref(Value::Set(items)) => Items::Set(0, items.iter()),
            Val::Own(Value::Set(items)) => Items::OwnSet(0, items.into_iter()),
            Val::Ref(Value::Map(entries)) => Items::Map(entries.iter()),
            Val::Own(Value::Map(entries)) => Items::OwnMap(entries.into_iter()),
            Val::Json(Json::Array(items)) => Items::Array(0, items.iter()),
            Val::Json(Json::Object(members)) => Items::Object(members.iter()),
            Val::Own(Value::Json(json)) => Items::of_json(*json)?,
            _ => {
                return Err(Fault::Decode(
                    "iteration over a value that is not a collection".into(),
                ));
            }
        })
    }

    fn of_json(json: Json) -> Result<Items<'a>, Fault> {
        let value = |json| Value::Json(Box::new(json));
        match json {
            Json::Array(items) => {
                let items: Vec<Value> = items.into_iter().map(value).collect();
                Ok(Items::OwnList(0, items.into_iter()))
            }
            Json::Object(members) => Ok(Items::OwnObject(members.into_iter())),
            _ => Err(Fault::Decode("iteration over a value that is not a collection".into())),
        }
    }

    /// The number of elements left.
    pub fn count(&self) -> usize {
        match self {
            Items::List(_, items) => items.len(),
            Items::OwnList(_, items) => items.len(),
            Items::Set(_, items) => items.len(),
            Items::OwnSet(_, items) => items.len(),
            Items::Map(entries) => entries.len(),
            Items::OwnMap(entries) => entries.len(),
            Items::Array(_, items) => items.len(),
            Items::Object(members) => members.len(),
            Items::OwnObject(members) => members.len(),
            Items::Rows(_, rows) => rows.len(),
        }
    }

    /// Returns true for a list, whose elements are in order.
    pub fn is_list(&self) -> bool {
        matches!(self, Items::List(..) | Items::OwnList(..) | Items::Array(..))
    }

    /// Returns true if a single bound name stands for the key.
    pub fn by_key(&self) -> bool {
        matches!(self, Items::Map(_) | Items::OwnMap(_))
    }
}

/// Returns the values that a clause with this many names binds: the element, the key of a map, or
/// both.
pub(crate) fn bound<'b, 'a>(both: &'b [Val<'a>; 2], names: usize, by_key: bool) -> &'b [Val<'a>] {
    match names {
        1 if by_key => &both[..1],
        1 => &both[1..],
        _ => both,
    }
}

fn count(index: &mut usize) -> Val<'static> {
    *index += 1;
    Val::Int(i64::try_from(*index - 1).unwrap_or(i64::MAX))
}

impl<'a> Iterator for Items<'a> {
    type Item = (Val<'a>, Val<'a>);

    fn next(&mut self) -> Option<(Val<'a>, Val<'a>)> {
        match self {
            Items::List(i, items) => items.next().map(|item| (count(i), Val::from_value(item))),
            Items::OwnList(i, items) => items.next().map(|item| (count(i), Val::own(item))),
            Items::Set(i, items) => items.next().map(|item| (count(i), Val::from_value(item))),
            Items::OwnSet(i, items) => items.next().map(|item| (count(i), Val::own(item))),
            Items::Rows(i, rows) => rows.next().map(|row| (count(i), Val::from_value(row))),
            Items::Array(i, items) => items.next().map(|item| (count(i), Val::Json(item))),
            Items::Map(entries) => {
                entries.next().map(|(key, value)| (Val::Str(key), Val::from_value(value)))
            }
            Items::OwnMap(entries) => {
                entries.next().map(|(key, value)| (Val::Own(Value::String(key)), Val::own(value)))
            }
            Items::OwnObject(members) => members.next().map(|(key, json)| {
                (Val::Own(Value::String(key)), Val::Own(Value::Json(Box::new(json))))
            }),
            Items::Object(members) => {
                members.next().map(|(key, json)| (Val::Str(key), Val::Json(json)))
            }
        }
    }
}

/// The intermediate result of a quantifier.
struct QuantifierTally {
    op: QuantifierOp,
    found: i128,
}

impl QuantifierTally {
    /// Takes the value of one body. Returns true if the result is now decided.
    fn take(&mut self, body: &Val<'_>) -> Result<bool, Fault> {
        match (self.op, body) {
            (QuantifierOp::All, _) => Ok(!body.truth()?),
            (QuantifierOp::Any | QuantifierOp::First, _) => body.truth(),
            (QuantifierOp::Count, _) => {
                self.found += i128::from(body.truth()?);
                Ok(false)
            }
            (QuantifierOp::SumInt, Val::Int(number))
            | (QuantifierOp::SumDecimal, Val::Decimal(number))
            | (QuantifierOp::SumDuration, Val::Duration(number)) => {
                self.found += i128::from(*number);
                Ok(false)
            }
            _ => Err(confused("a sum of values that are not numbers")),
        }
    }

    fn value<'a>(&self, settled: bool) -> Evaluated<'a> {
        // The range is checked once at the end, so the order of the elements cannot cause a fault.
        let number = || i64::try_from(self.found).map_err(|_| Fault::Overflow("sum"));
        Ok(match self.op {
            QuantifierOp::All => Val::Bool(!settled),
            QuantifierOp::Any => Val::Bool(settled),
            // The element is returned where it is found.
            QuantifierOp::First => Val::None,
            QuantifierOp::Count | QuantifierOp::SumInt => Val::Int(number()?),
            QuantifierOp::SumDecimal => Val::Decimal(number()?),
            QuantifierOp::SumDuration => Val::Duration(number()?),
        })
    }
}

impl<'a> Context<'a> {
    pub(super) fn quantified(
        &self,
        expr: &'a CompiledExpr,
        op: QuantifierOp,
        over: &[NodeId],
        binders: &[u32],
        body: NodeId,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Evaluated<'a> {
        let mut tally = QuantifierTally { op, found: 0 };
        let mut settled = false;
        let mut take = |values: &[Val<'a>]| {
            let inner = Bindings { slots: binders, values, outer: scope };
            tally.take(&self.node(expr, body, Some(&inner))?)
        };
        if let [over] = over {
            let items = match expr.op(*over) {
                // The rows are not copied.
                CompiledOp::Node(Node::Rows(fact)) => {
                    let rows = self.session.facts[*fact as usize].rows_from(0);
                    let rows: Vec<&'a Value> = rows.map(|(_, row, _)| row).collect();
                    Items::Rows(0, rows.into_iter())
                }
                _ => Items::new(self.node(expr, *over, scope)?)?,
            };
            let by_key = items.by_key();
            for (key, element) in items {
                let both = [key, element];
                settled = take(bound(&both, binders.len(), by_key))?;
                if settled && op == QuantifierOp::First {
                    let [key, element] = both;
                    return Ok(if by_key && binders.len() == 1 { key } else { element });
                }
                if settled {
                    break;
                }
            }
            return tally.value(settled);
        }
        let mut lists = Vec::with_capacity(over.len());
        for id in over {
            lists.push(Items::new(self.node(expr, *id, scope)?)?);
        }
        let counts = || lists.iter().map(Items::count);
        let first = counts().next().unwrap_or_default();
        if let Some(other) = counts().find(|count| *count != first) {
            // Otherwise no rule would judge the elements beyond the end of the shorter list.
            return Err(Fault::UnequalLengths(first, other));
        }
        for _ in 0..first {
            let step: Vec<Val<'a>> = lists
                .iter_mut()
                .filter_map(|list| list.next().map(|(_, element)| element))
                .collect();
            settled = take(&step)?;
            if settled {
                break;
            }
        }
        tally.value(settled)
    }

    /// Evaluates membership without building a collection literal.
    pub(super) fn is_in(
        &self,
        expr: &'a CompiledExpr,
        element: NodeId,
        collection: NodeId,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Result<bool, Fault> {
        let element = self.node(expr, element, scope)?;
        if let CompiledOp::Node(Node::List(ids) | Node::Set(ids)) = expr.op(collection) {
            let mut found = false;
            for id in ids {
                let item = self.node(expr, *id, scope)?;
                found |= !element.is_none() && element.same(&item);
            }
            return Ok(found);
        }
        contains(&self.node(expr, collection, scope)?, &element)
    }
}

/// Returns true if a collection contains an element, a map a key, or a string a substring.
fn contains(collection: &Val<'_>, element: &Val<'_>) -> Result<bool, Fault> {
    if element.is_none() || collection.is_none() {
        return Ok(false);
    }
    if let Some(text) = collection.text() {
        let part =
            element.text().ok_or_else(|| confused("a part of a value that is not a string"))?;
        return Ok(guard_plan::builtin::contains_text(text, part));
    }
    Ok(match collection.compound() {
        Some(Value::List(items)) => items.iter().any(|item| element.same(&Val::from_value(item))),
        Some(Value::Set(items)) => in_set(items, element),
        Some(Value::Map(entries)) => {
            let key = element.text().ok_or_else(|| confused("a key that is not a string"))?;
            entries.contains_key(key)
        }
        _ => return Err(confused("membership in a value that is not a collection")),
    })
}

fn in_set(items: &BTreeSet<Value>, element: &Val<'_>) -> bool {
    if items.len() <= FEW {
        return items.iter().any(|item| element.same(&Val::from_value(item)));
    }
    items.contains(&element.clone().into_value())
}

/// Returns the element of a list, the entry of a map, or either of `json`; a missing option if it
/// does not exist.
pub(super) fn index<'a>(value: Val<'a>, key: &Val<'_>) -> Evaluated<'a> {
    let at = || match key {
        Val::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    Ok(match value {
        Val::None => Val::None,
        _ if key.is_none() => Val::None,
        Val::Ref(Value::List(items)) => {
            at().and_then(|at| items.get(at)).map_or(Val::None, Val::from_value)
        }
        Val::Own(Value::List(mut items)) => match at().filter(|at| *at < items.len()) {
            Some(at) => Val::own(items.swap_remove(at)),
            None => Val::None,
        },
        Val::Ref(Value::Map(entries)) => {
            key.text().and_then(|key| entries.get(key)).map_or(Val::None, Val::from_value)
        }
        Val::Own(Value::Map(mut entries)) => {
            key.text().and_then(|key| entries.remove(key)).map_or(Val::None, Val::own)
        }
        Val::Json(Json::Array(items)) => {
            at().and_then(|at| items.get(at)).map_or(Val::None, Val::Json)
        }
        Val::Json(json) => key.text().and_then(|key| json.get(key)).map_or(Val::None, Val::Json),
        Val::Own(Value::Json(json)) => {
            let found = index(Val::Json(&json), key)?.into_value();
            Val::own(found)
        }
        _ => return Err(confused("an index into a value without elements")),
    })
}
