//! Learning: results, prompts and opening data fill facts.

use super::after::AfterCall;
use super::endorse;
use crate::compiled::prepare;
use crate::compiled::{CompiledPlan, resolved};
use crate::eval;
use crate::eval::collections::{Items, bound};
use crate::eval::context::{Bindings, Context};
use crate::outcome::{Learned, Settled};
use crate::session::SessionState;
use crate::session::facts::AddedRow;
use crate::val::Val;
use guard_plan::decode::holds_secrets;
use guard_plan::json::Json;
use guard_plan::plan::{Field, Learn, TypeDef, TypeId};
use guard_plan::record::{Note, NoteKind};
use guard_plan::render;
use guard_plan::trust::EndorsementNeed;
use guard_plan::value::{Fault, Value};
use std::sync::Arc;

/// The maximum number of rows that one call may teach one fact.
const MAX_ROWS: usize = 100_000;

/// The maximum number of elements that one lesson iterates over, in all of its ranges.
const MAX_VISITS: usize = 1_000_000;

/// A row, or the fault that prevents it.
pub(crate) type LearnedRow = Result<Vec<Value>, Fault>;

/// Adds the rows that a result teaches.
pub(super) fn learn(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    after: &AfterCall<'_>,
    by: &str,
    settled: &mut Settled,
) {
    let call = after.call;
    if call.tool.learns.is_empty() {
        return;
    }
    let by = by.into();
    let mut learned = Learned::default();
    // All lessons read the facts from before any of them teaches.
    let mut taught = Vec::new();
    let lessons = call.tool.learns.iter().zip(&call.ready.learns);
    for ((rule, ready), reading) in lessons.zip(&call.ready.readings.learns) {
        let ready_endorsements = &call.ready.endorsements[..];
        let stains = &session.stains;
        let counts =
            |need: &EndorsementNeed| endorse::counts(&ready_endorsements[need.endorsement], stains);
        let endorsed = reading.needs.iter().all(|needs| needs.iter().any(counts));
        if !(endorsed && reading.may_teach(call.tool, stains)) {
            let fact = &compiled.plan().facts[rule.fact as usize].name;
            let message =
                format!("nothing is learned for `{fact}`: some of what is read is not trusted");
            learned.note(&rule.rule.owner, message);
            continue;
        }
        let needs = (&reading.needs[..], ready_endorsements);
        taught.push((rule, after.read(compiled, session, |cx| rows(cx, rule, ready, needs))));
    }
    for (rule, rows) in taught {
        take_rows(compiled, session, rule, rows, &by, &mut learned);
    }
    settled.learned += learned.learned;
    settled.forgotten += learned.forgotten;
    settled.notes.append(&mut learned.notes);
}

/// Adds the rows of one lesson, taught by a call, a prompt or the session's start.
pub(crate) fn take_rows(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    rule: &Learn,
    rows: Vec<LearnedRow>,
    by: &Arc<str>,
    learned: &mut Learned,
) {
    let fact = &compiled.plan().facts[rule.fact as usize].name;
    if rows.len() >= MAX_ROWS {
        let message = format!("at most {MAX_ROWS} rows of `{fact}` are learned at once");
        learned.note(&rule.rule.owner, message);
    }
    for row in rows {
        match row {
            Ok(_) if rule.rule.shadow => {}
            Ok(row) => match session.facts[rule.fact as usize].add(row, by) {
                AddedRow::Kept => learned.learned += 1,
                AddedRow::Evicted => {
                    learned.learned += 1;
                    learned.forgotten += 1;
                }
                AddedRow::Refused => {
                    let max = compiled.plan().facts[rule.fact as usize].max;
                    let message = format!(
                        "`{fact}` is full: it holds {max}, and one more was about to be learned"
                    );
                    session.halt(&rule.rule.owner, &message);
                    learned.note_as(NoteKind::Halt, &rule.rule.owner, message);
                }
            },
            Err(fault) => {
                let message = Note::unlearned(fact, &fault);
                learned.note(&rule.rule.owner, message);
            }
        }
    }
}

/// The endorsements that a lesson depends on, one of each list, and all endorsements of its tool.
type Needs<'s> = (&'s [Vec<EndorsementNeed>], &'s [prepare::Vouching]);

/// Returns all rows of one lesson.
pub(crate) fn rows<'s>(
    cx: &Context<'s>,
    rule: &'s Learn,
    ready: &'s prepare::PreparedLesson,
    needs: Needs<'s>,
) -> Vec<LearnedRow> {
    let mut rows = Vec::new();
    let outside = Bindings { slots: &[], values: &[], outer: None };
    let mut visits = 0;
    range(cx, (rule, ready, needs), 0, &outside, &mut visits, &mut rows);
    rows
}

/// A lesson and its dependencies.
type PendingLesson<'s> = (&'s Learn, &'s prepare::PreparedLesson, Needs<'s>);

/// Adds the rows of the ranges from `depth` on.
fn range<'s>(
    cx: &Context<'s>,
    all: PendingLesson<'s>,
    depth: usize,
    scope: &Bindings<'_, 's>,
    visits: &mut usize,
    rows: &mut Vec<LearnedRow>,
) {
    let (rule, ready, _) = all;
    let (Some(over), Some(range)) = (ready.ranges.get(depth), rule.ranges.get(depth)) else {
        return lesson(cx, all, scope, rows);
    };
    let items = match cx.eval_in(over, scope) {
        Ok(Val::None) => return,
        over => over.and_then(Items::new),
    };
    let items = match items {
        Ok(items) => items,
        Err(fault) => return rows.push(Err(fault)),
    };
    let by_key = items.by_key();
    for (key, element) in items {
        // Nested ranges multiply, and another party chooses the length of the result.
        if rows.len() >= MAX_ROWS || *visits > MAX_VISITS {
            return;
        }
        *visits += 1;
        if *visits > MAX_VISITS {
            let message = format!("a lesson iterates over at most {MAX_VISITS} elements");
            return rows.push(Err(Fault::Decode(message)));
        }
        let both = [key, element];
        let values = bound(&both, range.binders.len(), by_key);
        let inner = Bindings { slots: &range.binders, values, outer: Some(scope) };
        self::range(cx, all, depth + 1, &inner, visits, rows);
    }
}

/// Returns the rows of one element.
fn lesson<'s>(
    cx: &Context<'s>,
    (rule, ready, needs): PendingLesson<'s>,
    scope: &Bindings<'_, 's>,
    rows: &mut Vec<LearnedRow>,
) {
    let wanted = ready.when.as_ref().map_or(Ok(true), |when| cx.eval_in(when, scope)?.truth());
    let wanted = wanted.and_then(|wanted| Ok(wanted && is_endorsed(cx, needs, scope)?));
    let columns = match wanted {
        Ok(true) => columns(cx, rule, ready, scope),
        Ok(false) => return,
        Err(fault) => Err(fault),
    };
    match columns {
        Ok(columns) => product(&columns, rows),
        Err(fault) => rows.push(Err(fault)),
    }
}

/// Returns true if the endorsements that a lesson depends on hold for the elements of a row.
fn is_endorsed<'s>(
    cx: &Context<'s>,
    (needs, endorsements): Needs<'s>,
    scope: &Bindings<'_, 's>,
) -> Result<bool, Fault> {
    for alternatives in needs {
        if guard_proof::mutant!("what is not endorsed teaches") {
            break;
        }
        let mut holds = Ok(false);
        for need in alternatives {
            let endorsement = &endorsements[need.endorsement];
            if !endorse::counts(endorsement, &cx.session.stains) {
                continue;
            }
            match (condition(cx, need, endorsement, scope), &holds) {
                (Ok(true), _) => {
                    holds = Ok(true);
                    break;
                }
                // A fault counts only if no alternative holds.
                (Err(fault), Ok(_)) => holds = Err(fault),
                _ => {}
            }
        }
        if !holds? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Evaluates the condition of an endorsement for the elements of a row.
fn condition<'s>(
    cx: &Context<'s>,
    need: &EndorsementNeed,
    endorsement: &'s prepare::Vouching,
    scope: &Bindings<'_, 's>,
) -> Result<bool, Fault> {
    let Some(when) = &endorsement.when else { return Ok(true) };
    // The condition has slots of its own, so the elements of the lesson are bound under those.
    let mut values = Vec::with_capacity(need.slots.len());
    for (_, theirs) in &need.slots {
        values.push(eval::local(*theirs, Some(scope))?);
    }
    let slots: Vec<u32> = need.slots.iter().map(|(own, _)| *own).collect();
    let scope = Bindings { slots: &slots, values: &values, outer: None };
    cx.eval_in(when, &scope)?.truth()
}

/// Returns the values of each column: a single value, or the elements of a list or set.
fn columns<'s>(
    cx: &Context<'s>,
    rule: &Learn,
    ready: &'s prepare::PreparedLesson,
    scope: &Bindings<'_, 's>,
) -> Result<Vec<Vec<Value>>, Fault> {
    let plan = cx.compiled.plan();
    let fields: &[Field] = match &plan.types[plan.facts[rule.fact as usize].row as usize] {
        TypeDef::Record { fields, .. } => fields,
        _ => &[],
    };
    let mut columns = Vec::with_capacity(fields.len());
    for (field, expr) in fields.iter().zip(&ready.row) {
        let values = column(cx, field.ty, cx.eval_in(expr, scope)?.into_value());
        // The message would show the value.
        let is_shown = !field.secret && !holds_secrets(&plan.types, field.ty);
        columns.push(values.map_err(|fault| {
            if is_shown {
                fault
            } else {
                Fault::Decode(format!("`{}` is not of its type", field.name))
            }
        })?);
    }
    Ok(columns)
}

fn column(cx: &Context<'_>, ty: TypeId, value: Value) -> Result<Vec<Value>, Fault> {
    let collection = matches!(
        resolved(&cx.compiled.plan().types, ty),
        Some(TypeDef::List { .. } | TypeDef::Set { .. } | TypeDef::Json)
    );
    let values: Vec<Value> = match value {
        Value::List(items) if !collection => items,
        Value::Set(items) if !collection => items.into_iter().collect(),
        Value::Json(json) if !collection => match *json {
            Json::Array(items) => {
                items.into_iter().map(|json| Value::Json(Box::new(json))).collect()
            }
            json => vec![Value::Json(Box::new(json))],
        },
        value => vec![value],
    };
    let readable = values.into_iter().filter(|value| !is_unreadable(value));
    readable.map(|value| fit(cx, ty, value)).collect()
}

/// Returns true if the value stands for text that an extractor could not read. Such a value is
/// never learned.
fn is_unreadable(value: &Value) -> bool {
    matches!(value, Value::String(text) | Value::Path(text) if guard_plan::builtin::is_unreadable(text))
}

/// Converts a value to the column's type.
fn fit(cx: &Context<'_>, ty: TypeId, value: Value) -> Result<Value, Fault> {
    let compiled = cx.compiled;
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&cx.session.workspace, true, &matches);
    let value = typed(cx, ty, value)?;
    match decoder.conform(ty, &value) {
        Ok(()) => Ok(value),
        Err(problem) => Err(Fault::Decode(problem.to_string())),
    }
}

/// Decodes a value that is `json`, or contains `json` where the type requires something else.
pub(super) fn typed(cx: &Context<'_>, ty: TypeId, value: Value) -> Result<Value, Fault> {
    let compiled = cx.compiled;
    let types = &compiled.plan().types;
    let is_json = matches!(resolved(types, ty), Some(TypeDef::Json));
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&cx.session.workspace, true, &matches);
    let json = match value {
        value if is_json || !holds_json(&value) => return Ok(value),
        Value::Json(json) => *json,
        value if decoder.conform(ty, &value).is_ok() => return Ok(value),
        value => render::to_json(types, ty, &value),
    };
    decoder.decode(ty, &json).map_err(|problems| {
        Fault::Decode(problems.first().map(ToString::to_string).unwrap_or_default())
    })
}

/// Returns true if a value is `json` or contains some.
fn holds_json(value: &Value) -> bool {
    match value {
        Value::Json(_) => true,
        Value::Record(items) | Value::List(items) => items.iter().any(holds_json),
        Value::Set(items) => items.iter().any(holds_json),
        Value::Map(entries) => entries.values().any(holds_json),
        _ => false,
    }
}

/// Builds every combination of the columns' values. The last column varies fastest.
fn product(columns: &[Vec<Value>], rows: &mut Vec<LearnedRow>) {
    if columns.iter().any(Vec::is_empty) {
        return;
    }
    let mut at = vec![0; columns.len()];
    while rows.len() < MAX_ROWS {
        rows.push(Ok(columns.iter().zip(&at).map(|(column, at)| column[*at].clone()).collect()));
        let Some(place) = (0..at.len()).rev().find(|place| at[*place] + 1 < columns[*place].len())
        else {
            return;
        };
        at[place] += 1;
        at[place + 1..].fill(0);
    }
}
