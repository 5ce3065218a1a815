//! Writes to a state variable or to a part of one.

use crate::compiled::expr::CompiledExpr;
use crate::compiled::prepare::PreparedTarget;
use crate::eval::arith::arith;
use crate::val::{Val, confused};
use guard_plan::plan::{ArithOp, EffectOp, Step, Target};
use guard_plan::value::{Fault, Value};

/// One step of the path into a value, with its key evaluated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathKey {
    Field(usize),
    Index(Value),
}

/// Returns the path to a target, with its keys evaluated by `key`.
pub(crate) fn resolve<'r>(
    target: &Target,
    ready: &'r PreparedTarget,
    key: impl Fn(&'r CompiledExpr) -> Result<Value, Fault>,
) -> Result<Vec<PathKey>, Fault> {
    let step = |(step, ready): (&Step, &'r Option<CompiledExpr>)| match (step, ready) {
        (Step::Field(index), _) => Ok(PathKey::Field(*index as usize)),
        (Step::Index(_), Some(ready)) => key(ready).map(PathKey::Index),
        (Step::Index(_), None) => Err(confused("a target without its key")),
    };
    target.path.iter().zip(ready).map(step).collect()
}

fn missing(what: &str) -> Fault {
    Fault::Missing(format!("{what} to write to"))
}

/// Applies one operation to a part of a value.
pub(crate) fn apply(
    value: &mut Value,
    way: &[PathKey],
    op: EffectOp,
    operand: Option<Val<'_>>,
) -> Result<(), Fault> {
    let Some((step, rest)) = way.split_first() else {
        return change(value, op, operand);
    };
    match (step, value) {
        (PathKey::Field(index), Value::Record(fields)) => {
            let field = fields
                .get_mut(*index)
                .ok_or_else(|| confused("a field of a value without fields"))?;
            apply(field, rest, op, operand)
        }
        (PathKey::Index(Value::String(key)), Value::Map(entries)) => match (rest, op) {
            ([], EffectOp::Delete) => {
                entries.remove(key);
                Ok(())
            }
            ([], EffectOp::Set) => {
                let operand = operand.ok_or_else(|| confused("no operand"))?;
                entries.insert(key.clone(), operand.into_value());
                Ok(())
            }
            _ => {
                let entry = entries.get_mut(key).ok_or_else(|| missing("the entry"))?;
                apply(entry, rest, op, operand)
            }
        },
        (PathKey::Index(Value::Int(index)), Value::List(items)) => {
            let item = usize::try_from(*index).ok().and_then(|index| items.get_mut(index));
            apply(item.ok_or_else(|| missing("the element"))?, rest, op, operand)
        }
        (_, Value::None) | (PathKey::Index(Value::None), _) => Err(missing("the part")),
        _ => Err(confused("a part of a value without parts")),
    }
}

/// Returns a number with another one added or subtracted, which is the most frequent effect.
/// Returns `None` for any other operation, and if the result is out of range.
pub(crate) fn counted(op: EffectOp, number: i64, by: i64) -> Option<i64> {
    match op {
        EffectOp::Add => number.checked_add(by),
        EffectOp::Subtract => number.checked_sub(by),
        _ => None,
    }
}

/// Applies one operation to a whole value.
pub(crate) fn change(
    value: &mut Value,
    op: EffectOp,
    operand: Option<Val<'_>>,
) -> Result<(), Fault> {
    if op == EffectOp::Delete {
        *value = Value::None;
        return Ok(());
    }
    let operand = operand.ok_or_else(|| confused("no operand"))?;
    let calculate = |op| arith(op, &Val::from_value(value), &operand).map(Val::into_value);
    match op {
        // `Delete` takes no operand and has returned above.
        EffectOp::Set | EffectOp::Delete => *value = operand.into_value(),
        _ if *value == Value::None => return Err(missing("a value")),
        EffectOp::Add => *value = calculate(ArithOp::Add)?,
        EffectOp::Subtract => *value = calculate(ArithOp::Sub)?,
        EffectOp::Multiply => *value = calculate(ArithOp::Mul)?,
        EffectOp::Append => match value {
            Value::List(items) => items.push(operand.into_value()),
            _ => return Err(confused("an end of a value that is not a list")),
        },
        EffectOp::Insert => match value {
            Value::Set(items) => _ = items.insert(operand.into_value()),
            _ => return Err(confused("an element of a value that is not a set")),
        },
        EffectOp::Remove => match value {
            Value::Set(items) => _ = items.remove(&operand.into_value()),
            Value::List(items) => {
                let found = items.iter().position(|item| operand.same(&Val::from_value(item)));
                if let Some(at) = found {
                    items.remove(at);
                }
            }
            Value::Map(entries) => {
                let key = operand.text().ok_or_else(|| confused("a key that is not a string"))?;
                entries.remove(key);
            }
            _ => return Err(confused("an element of a value that is not a collection")),
        },
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        mut value: Value,
        way: &[PathKey],
        op: EffectOp,
        operand: Option<Value>,
        expected: &str,
    ) {
        let operand = operand.map(Val::own);
        let actual = match apply(&mut value, way, op, operand) {
            Ok(()) => format!("{value:?}"),
            Err(fault) => fault.to_string(),
        };
        assert_eq!(actual, expected);
    }

    #[test]
    fn operations() {
        use EffectOp::{Add, Append, Delete, Insert, Remove, Set};
        let int = Value::Int;
        let key = || [PathKey::Index(Value::String("k".into()))];
        let map = |entries: &[(&str, i64)]| {
            Value::Map(entries.iter().map(|(key, value)| ((*key).into(), int(*value))).collect())
        };
        check(int(1), &[], Add, Some(int(2)), "Int(3)");
        check(int(i64::MAX), &[], Add, Some(int(2)), "addition overflows 64 bits");
        check(Value::None, &[], Add, Some(int(2)), "a value to write to is missing");
        check(Value::None, &[], Set, Some(int(2)), "Int(2)");
        check(int(1), &[], Delete, None, "None");
        check(Value::List(vec![int(1)]), &[], Append, Some(int(2)), "List([Int(1), Int(2)])");
        check(Value::List(vec![int(2), int(2)]), &[], Remove, Some(int(2)), "List([Int(2)])");
        check(Value::Set([int(1)].into()), &[], Insert, Some(int(1)), "Set({Int(1)})");
        check(map(&[]), &key(), Set, Some(int(1)), "Map({\"k\": Int(1)})");
        check(map(&[]), &key(), Add, Some(int(1)), "the entry to write to is missing");
        check(map(&[("k", 1)]), &key(), Add, Some(int(1)), "Map({\"k\": Int(2)})");
        check(map(&[("k", 1)]), &key(), Delete, None, "Map({})");
        check(map(&[("k", 1)]), &[], Remove, Some(Value::String("k".into())), "Map({})");
        let record = Value::Record(vec![int(1), Value::None]);
        check(record, &[PathKey::Field(1)], Set, Some(int(5)), "Record([Int(1), Int(5)])");
        let element = [PathKey::Index(int(7))];
        check(
            Value::List(vec![]),
            &element,
            Set,
            Some(int(5)),
            "the element to write to is missing",
        );
    }
}
