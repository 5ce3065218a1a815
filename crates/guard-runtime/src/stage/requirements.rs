//! Requirements: tools that must have succeeded before the call.

use super::DecidedCall;
use crate::compiled::expr::CompiledExpr;
use crate::eval::context::Context;
use crate::reason::{FoundReasons, listed};
use crate::session::flight::PendingWrites;
use guard_plan::plan::{Key, Requirement, Requires, Tool, ToolId};
use guard_plan::value::Fault;
use guard_plan::verdict::{Code, Decision, Reason};
use guard_plan::{key, render, secrecy, time};

/// The maximum number of names in the help.
const MAX_CHAIN: usize = 16;

/// The status of an alternative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Missing,
    InFlight,
    Met,
}

pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    let done = &cx.session.succeeded;
    let met = |(word, bits): &(u32, u64)| {
        done.get(*word as usize).is_some_and(|done| done & bits == *bits)
    };
    if call.ready.needs.iter().all(met) {
        let others = call.ready.conditional.iter().map(|place| *place as usize);
        others.for_each(|place| one_of(cx, call, place, draft, findings));
    } else {
        (0..call.tool.requires.len()).for_each(|place| one_of(cx, call, place, draft, findings));
    }
}

/// Checks one `requires` clause.
fn one_of<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    place: usize,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    let requires = &call.tool.requires[place];
    let ready = &call.ready.requires[place];
    {
        let standing = match cx.holds_if_any(&ready.when) {
            Ok(true) => standing(cx, requires, &ready.keys, draft),
            Ok(false) => return,
            Err(fault) => Err(fault),
        };
        match standing {
            Ok(Standing::Met) => {}
            Ok(standing) => {
                let reason = unmet(cx, call, requires, standing == Standing::InFlight);
                findings.push(requires.rule.shadow, reason);
            }
            Err(fault) => findings.fault(cx, &requires.rule, &fault),
        }
    }
}

/// Returns the status of the best alternative. A fault counts only if no alternative holds.
fn standing<'a>(
    cx: &Context<'a>,
    requires: &Requires,
    keys: &'a [Option<Box<[CompiledExpr]>>],
    draft: &mut PendingWrites,
) -> Result<Standing, Fault> {
    let mut best = Ok(Standing::Missing);
    for (alternative, key) in requires.any_of.iter().zip(keys) {
        match one(cx, alternative, key.as_deref(), draft) {
            Ok(Standing::Met) => return Ok(Standing::Met),
            Ok(standing) => best = best.map(|best| best.max(standing)),
            Err(fault) => best = best.and(Err(fault)),
        }
    }
    best
}

fn one<'a>(
    cx: &Context<'a>,
    alternative: &Requirement,
    values: Option<&'a [CompiledExpr]>,
    draft: &mut PendingWrites,
) -> Result<Standing, Fault> {
    let Requirement { tool, key, .. } = alternative;
    let session = cx.session;
    let start = draft.bytes.len();
    let done = match (key, values) {
        (Some(key), Some(values)) => {
            for value in values {
                cx.eval(value)?.write_key(&mut draft.bytes);
            }
            key::shorten(start, &mut draft.bytes);
            session.indexes[key.index as usize].get(&draft.bytes[start..]).copied()
        }
        _ => session.tools[*tool as usize].done,
    };
    let standing = if cx.meets(alternative, done) {
        Standing::Met
    } else if in_flight(cx, alternative, &draft.bytes[start..]) {
        Standing::InFlight
    } else {
        Standing::Missing
    };
    draft.bytes.truncate(start);
    Ok(standing)
}

/// Returns true if a call is in flight whose success would meet a requirement, with its key if any.
fn in_flight(cx: &Context<'_>, requirement: &Requirement, bytes: &[u8]) -> bool {
    let Requirement { tool, key, since, within, .. } = requirement;
    let place = |key: &Key| {
        let indexes = &cx.compiled.plan().tools[*tool as usize].indexes;
        indexes.iter().position(|index| *index == key.index)
    };
    let mut flights = cx.session.flights.iter().filter(|flight| flight.tool == Some(*tool));
    flights.any(|flight| {
        let same = key.as_ref().is_none_or(|key| {
            let span = place(key).and_then(|place| flight.draft.keys.get(place));
            span.is_some_and(|span| flight.draft.key(*span) == bytes)
        });
        same && cx.counts(Some(flight.begun), *since, *within)
    })
}

fn unmet(cx: &Context<'_>, call: DecidedCall<'_>, requires: &Requires, in_flight: bool) -> Reason {
    let tools = &cx.compiled.plan().tools;
    let alternatives: Vec<String> =
        requires.any_of.iter().map(|alternative| described(cx, call, alternative)).collect();
    let message = format!("`{}` requires {}", call.tool.name, alternatives.join(" or "));
    let mut reason = cx.reason(Code::Requires, &requires.rule, message);
    reason.needs = requires
        .any_of
        .iter()
        .map(|requirement| tools[requirement.tool as usize].name.clone())
        .collect();
    reason.needs.sort();
    reason.needs.dedup();
    let names = || reason.needs.iter().map(String::as_str);
    if in_flight {
        reason.help = format!("wait for {}", listed(names(), " or "));
        reason.decision = Decision::Wait;
    } else if let [only] = requires.any_of.as_slice() {
        let mut chain = Vec::new();
        missing_before(cx, only.tool, &mut chain, 0);
        let names: Vec<String> =
            chain.iter().map(|id| format!("`{}`", tools[*id as usize].name)).collect();
        let why = if failed_last(cx, only) {
            format!("the latest `{}` failed: ", tools[only.tool as usize].name)
        } else {
            String::new()
        };
        reason.help = format!("{why}call {} first", names.join(", then "));
    } else {
        reason.help = format!("call {} first", listed(names(), " or "));
    }
    reason
}

/// Returns true if a requirement is unmet because the last settled call failed.
fn failed_last(cx: &Context<'_>, requirement: &Requirement) -> bool {
    let done = cx.session.tools[requirement.tool as usize].done;
    requirement.latest
        && requirement.key.is_none()
        && done.is_some_and(|done| done.latest.is_none())
}

/// Describes an alternative.
fn described(cx: &Context<'_>, call: DecidedCall<'_>, alternative: &Requirement) -> String {
    let plan = cx.compiled.plan();
    let tool = &plan.tools[alternative.tool as usize];
    let latest = if alternative.latest { "the latest " } else { "" };
    let mut out = format!("{latest}`{}`", tool.name);
    if let Some(key) = &alternative.key {
        let params = &plan.indexes[key.index as usize].params;
        let shown = params.iter().zip(&key.values).map(|(param, expr)| {
            let param = &tool.params[*param as usize];
            let value = match cx.eval_shown(&CompiledExpr::new(expr)) {
                _ if param.secret => render::SECRET.into(),
                Ok(value) => secrecy::shown(plan, &call.tool.params, expr, param.ty, &value),
                Err(fault) => format!("({fault})"),
            };
            format!("{} {value}", param.name)
        });
        out.push_str(&format!(" with {}", shown.collect::<Vec<_>>().join(", ")));
    }
    if let Some(since) = alternative.since {
        out.push_str(&format!(" since the last `{}`", plan.tools[since as usize].name));
    }
    if let Some(within) = alternative.within {
        out.push_str(&format!(" in the last {}", time::describe_duration(within)));
    }
    out
}

/// Collects the tools that must still be called, in order. The unconditional requirements of a tool
/// come before it.
fn missing_before(cx: &Context<'_>, tool: ToolId, chain: &mut Vec<ToolId>, depth: usize) {
    // Requirements may be circular, and the depth ends the descent.
    if chain.contains(&tool) || depth > MAX_CHAIN {
        return;
    }
    let declared: &Tool = &cx.compiled.plan().tools[tool as usize];
    for requires in &declared.requires {
        let [only] = requires.any_of.as_slice() else {
            continue;
        };
        let done = cx.session.tools[only.tool as usize].success.is_some();
        if requires.when.is_none() && !requires.rule.shadow && !done && chain.len() < MAX_CHAIN {
            missing_before(cx, only.tool, chain, depth + 1);
        }
    }
    if !chain.contains(&tool) {
        chain.push(tool);
    }
}
