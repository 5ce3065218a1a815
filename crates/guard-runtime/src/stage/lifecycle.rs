//! Lifecycles: the changes that a served call would make to items, or the reason why it is refused
//! (semantics §11).

use super::DecidedCall;
use crate::eval::context::Context;
use crate::reason::{FoundReasons, listed};
use crate::session::CallEnd;
use crate::session::items::{
    self, ItemCriterion, ItemEvidence, MAX_ITEMS, ServedAction, SessionItem,
};
use crate::session::origins::short;
use crate::val::Val;
use crate::world_checks::{self, CheckResult};
use guard_plan::plan::{Actor, CriterionKind, Lifecycle, Served, ServedOp, Transition, TypeDef};
use guard_plan::render;
use guard_plan::value::Value;
use guard_plan::verdict::Code;

/// A reason for a refusal, as text.
type RefusalText = String;

/// Checks a served call and returns its action, or a message if it is refused.
pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    served: &Served,
    findings: &mut FoundReasons,
) -> Result<ServedAction, RefusalText> {
    let lifecycle = &cx.compiled.plan().lifecycles[served.lifecycle as usize];
    let action = match served.op {
        ServedOp::Create => create(cx, call, served, lifecycle),
        ServedOp::List => list(cx, served, lifecycle),
        ServedOp::Move(at) => moves(cx, call, served, lifecycle, at),
    };
    action.map_err(|lacks| {
        for message in &lacks {
            let span = Some(lifecycle.span);
            let reason = cx.reason_at(Code::Lifecycle, &lifecycle.name, span, message.clone());
            findings.reasons.push(reason);
        }
        lacks.into_iter().next().unwrap_or_default()
    })
}

fn create(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    served: &Served,
    lifecycle: &Lifecycle,
) -> Result<ServedAction, Vec<RefusalText>> {
    let mut lacks = Vec::new();
    if cx.session.items[served.lifecycle as usize].len() >= MAX_ITEMS {
        lacks.push(format!("there are {MAX_ITEMS} items of `{}` already", lifecycle.name));
    }
    let mut criteria = Vec::new();
    if !lifecycle.criteria.is_empty() {
        let given = records(cx);
        if given.is_empty() {
            let kinds = lifecycle.criteria.iter().map(|kind| name_of(*kind));
            let kinds: Vec<&str> = kinds.collect();
            let kinds = listed(kinds.iter().copied(), " or ");
            lacks.push(format!("an item needs at least one criterion: {kinds}"));
        }
        for (at, given) in given.iter().enumerate() {
            match criterion(cx, call, lifecycle, given) {
                Ok(criterion) => criteria.push(criterion),
                Err(why) => lacks.push(format!("criteria[{at}]: {why}")),
            }
        }
    }
    if !lacks.is_empty() {
        return Err(lacks);
    }
    let fields = cx.args.iter().take(lifecycle.fields.len()).cloned().map(Val::into_value);
    Ok(ServedAction::Create(fields.collect(), criteria))
}

fn list(
    cx: &Context<'_>,
    served: &Served,
    lifecycle: &Lifecycle,
) -> Result<ServedAction, Vec<RefusalText>> {
    let state = match cx.args.first() {
        Some(Val::Enum(state)) => Some(*state),
        _ => None,
    };
    let after = match cx.args.get(1).and_then(Val::text) {
        Some(id) => number(cx, served, lifecycle, id).map_err(|why| vec![why])?,
        None => 0,
    };
    Ok(ServedAction::List(state, after))
}

fn moves(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    served: &Served,
    lifecycle: &Lifecycle,
    at: u32,
) -> Result<ServedAction, Vec<RefusalText>> {
    let transition = &lifecycle.transitions[at as usize];
    let id = cx.args.first().and_then(Val::text).unwrap_or_default();
    let number = number(cx, served, lifecycle, id).map_err(|why| vec![why])?;
    let mut lacks = Vec::new();
    let item = cx.session.items[served.lifecycle as usize].get(number);
    lacks.extend(item.and_then(|item| misplaced(lifecycle, transition, item, id)));
    let evidence = transition.evidence.then(|| {
        let given = records(cx);
        if given.is_empty() {
            lacks.push(format!("`{}` requires evidence: calls or files", transition.name));
        }
        let mut found = Vec::new();
        for (at, given) in given.iter().enumerate() {
            match evidence(cx, call, given) {
                Ok(evidence) => found.push(evidence),
                Err(why) => lacks.push(format!("evidence[{at}]: {why}")),
            }
        }
        found
    });
    if lacks.is_empty() { Ok(ServedAction::Move(number, at, evidence)) } else { Err(lacks) }
}

/// Returns the number of an item of this lifecycle.
fn number(
    cx: &Context<'_>,
    served: &Served,
    lifecycle: &Lifecycle,
    id: &str,
) -> Result<u32, RefusalText> {
    let known = |number: &u32| cx.session.items[served.lifecycle as usize].get(*number).is_some();
    let number = items::parse(id).filter(|(name, _)| *name == lifecycle.name);
    number.map(|(_, number)| number).filter(known).ok_or_else(|| {
        format!("there is no item `{}` of `{}`", render::cut(id, 100), lifecycle.name)
    })
}

/// Explains why a transition does not start in the state of an item, and lists the transitions that
/// do.
pub(crate) fn misplaced(
    lifecycle: &Lifecycle,
    transition: &Transition,
    item: &SessionItem,
    id: &str,
) -> Option<RefusalText> {
    if transition.from.contains(&item.state()) {
        return None;
    }
    let state = &lifecycle.states[item.state() as usize];
    let from: Vec<&str> =
        transition.from.iter().map(|state| &*lifecycle.states[*state as usize]).collect();
    let from = listed(from.iter().copied(), " or ");
    let mut message = format!("{id} is `{state}`, and `{}` begins in {from}", transition.name);
    for (actor, by) in [(Actor::Agent, "you can"), (Actor::Harness, "the harness can")] {
        let open = lifecycle.transitions.iter();
        let open = open.filter(|transition| {
            transition.actor == actor && transition.from.contains(&item.state())
        });
        let names: Vec<&str> = open.map(|transition| &*transition.name).collect();
        if !names.is_empty() {
            message.push_str(&format!("; {by} {}", listed(names.iter().copied(), " or ")));
        }
    }
    Some(message)
}

/// Returns the records of the last argument.
fn records<'c>(cx: &'c Context<'_>) -> &'c [Value] {
    match cx.args.last().and_then(Val::compound) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// Returns the fields of a record, in the order of the field names.
fn said<'v>(call: DecidedCall<'_>, record: &'v Value) -> Vec<&'v Value> {
    let Value::Record(fields) = record else { return Vec::new() };
    call.ready.says.iter().map(|at| fields.get(*at).unwrap_or(&Value::None)).collect()
}

fn name_of(kind: CriterionKind) -> &'static str {
    match kind {
        CriterionKind::File => "file",
        CriterionKind::FileContains => "file with contains",
        CriterionKind::Command => "command",
        CriterionKind::GitCommit => "git_commit",
        CriterionKind::Probe => "probe",
    }
}

fn criterion(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    lifecycle: &Lifecycle,
    record: &Value,
) -> Result<ItemCriterion, RefusalText> {
    let plan = cx.compiled.plan();
    let (kind, criterion) = match said(call, record).as_slice() {
        [Value::Path(path), Value::None, Value::None, Value::None, Value::None] => {
            (CriterionKind::File, ItemCriterion::File(inside(cx, path)?))
        }
        [Value::Path(_), Value::String(text), Value::None, Value::None, Value::None]
            if text.is_empty() =>
        {
            return Err(
                "every file contains the empty text: give the text that it must contain".into()
            );
        }
        [Value::Path(path), Value::String(text), Value::None, Value::None, Value::None] => {
            (CriterionKind::FileContains, ItemCriterion::Contains(inside(cx, path)?, text.clone()))
        }
        [Value::None, Value::None, Value::List(words), Value::None, Value::None] => {
            let text = |word: &Value| match word {
                Value::String(text) => text.to_string(),
                _ => String::new(),
            };
            let words: Vec<String> = words.iter().map(text).collect();
            // Only a command that the guard names is run: otherwise the agent could have any
            // command run.
            let id = plan.commands.iter().position(|command| command.argv == words);
            let id = id.ok_or_else(|| {
                format!("the guard has no command `{}`", render::cut(&words.join(" "), 100))
            })?;
            (CriterionKind::Command, ItemCriterion::Command(id as u32))
        }
        [Value::None, Value::None, Value::None, Value::Bool(true), Value::None] => {
            (CriterionKind::GitCommit, ItemCriterion::Committed)
        }
        [Value::None, Value::None, Value::None, Value::None, Value::String(name)] => {
            let id = plan.probes.iter().position(|probe| *probe.name == **name);
            let id = id.ok_or_else(|| format!("there is no probe `{}`", render::cut(name, 100)))?;
            if !matches!(plan.types.get(plan.probes[id].returns as usize), Some(TypeDef::Bool)) {
                return Err(format!("the probe `{name}` cannot return `true`: it is not a bool"));
            }
            (CriterionKind::Probe, ItemCriterion::Probe(id as u32))
        }
        _ => {
            let forms = "exactly one of file (with contains), command, git_commit true and probe";
            return Err(format!("a criterion has {forms}"));
        }
    };
    if lifecycle.criteria.contains(&kind) {
        return Ok(criterion);
    }
    Err(format!("items of `{}` have no criterion {}", lifecycle.name, name_of(kind)))
}

/// Returns the path, if it lies in the workspace.
fn inside(cx: &Context<'_>, path: &str) -> Result<Box<str>, RefusalText> {
    match world_checks::inside(cx.session, path) {
        CheckResult::Holds => Ok(path.into()),
        outside => Err(outside.lack().unwrap_or_default()),
    }
}

fn evidence(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    record: &Value,
) -> Result<ItemEvidence, RefusalText> {
    match said(call, record).as_slice() {
        [Value::String(id), Value::None, Value::None] => {
            called(cx, id).map(|()| ItemEvidence::Call(id.clone()))
        }
        [Value::None, Value::Path(path), Value::None] => hashed(cx, path, None),
        [Value::None, Value::Path(path), Value::String(hash)] => hashed(cx, path, Some(hash)),
        _ => Err("evidence has exactly one of call and file (with sha256)".into()),
    }
}

/// Checks that a call has succeeded.
fn called(cx: &Context<'_>, id: &str) -> Result<(), RefusalText> {
    let shown = render::cut(id, 100);
    // An id may be used again, and then only its last use counts (semantics §11).
    if cx.session.flights.iter().any(|flight| flight.call == id) {
        return Err(format!("the call `{shown}` is still in flight"));
    }
    match cx.session.ended.get(&short(id)) {
        Some(CallEnd::Succeeded) => Ok(()),
        Some(CallEnd::Undecoded) => {
            Err(format!("the result of the call `{shown}` could not be read"))
        }
        Some(CallEnd::Failed) => Err(format!("the call `{shown}` failed")),
        Some(CallEnd::Served) => Err(format!("the call `{shown}` is a lifecycle call")),
        None => Err(format!("there was no call `{shown}` in this session")),
    }
}

/// Checks that a file exists, and returns it with its hash.
fn hashed(cx: &Context<'_>, path: &str, wanted: Option<&str>) -> Result<ItemEvidence, RefusalText> {
    let path = inside(cx, path)?;
    let name = world_checks::shown(cx.session, &path);
    let found = match cx.answers.sha256(&path) {
        None => return Err(format!("it is unknown whether `{name}` exists")),
        Some(None) => return Err(format!("`{name}` is missing")),
        Some(Some(hash)) => hash.to_ascii_lowercase(),
    };
    match wanted {
        Some(wanted) if !wanted.eq_ignore_ascii_case(&found) => Err(format!(
            "`{name}` has the hash {}, which is not the given one",
            render::cut(&found, 64)
        )),
        _ => Ok(ItemEvidence::File(path, found.into())),
    }
}
