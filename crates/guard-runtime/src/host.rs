//! Events that only the host may report: approvals, usage, the end of a halt.

use crate::compiled::CompiledPlan;
use crate::error::StepError;
use crate::event::{Approve, Resume, Usage};
use crate::session::{Grant, Session};
use crate::stage::arguments::{self, Decoded};
use guard_plan::builtin::is_hidden;
use guard_plan::key;
use guard_plan::plan::Millis;

/// The default validity of an approval, in milliseconds.
const DEFAULT_APPROVAL: Millis = 3_600_000;

/// Refuses an act of a person that names no person: the record must say who it was.
///
/// # Errors
///
/// Returns an error if the name has nothing that can be read, or something that cannot be seen.
pub fn expect_somebody(by: &str, act: &'static str) -> Result<(), StepError> {
    named(by, act)
}

/// Refuses an act of a person that names no person.
pub(crate) fn named(by: &str, act: &'static str) -> Result<(), StepError> {
    match is_seen(by) {
        true => Ok(()),
        false => Err(StepError::Nobody(act)),
    }
}

/// Returns whether a name can be read: it has a letter or a digit, and nothing in it is invisible or turns the text around.
fn is_seen(name: &str) -> bool {
    let letter = |c: char| {
        let filler = matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
        c.is_alphanumeric() && !filler
    };
    name.chars().any(letter) && !name.chars().any(|c| c.is_control() || is_hidden(c))
}

/// Records the approval of exactly one call.
///
/// # Errors
///
/// Returns an error if the guard declares no such tool or the arguments do not fit the tool.
pub(crate) fn approve(
    compiled: &CompiledPlan,
    session: &mut Session,
    approve: &Approve<'_>,
) -> Result<(), StepError> {
    named(approve.by, "approves")?;
    let unknown = || StepError::UnknownTool(approve.tool.into());
    let tool = compiled.tool(approve.tool).ok_or_else(unknown)?;
    let params = &compiled.plan().tools[tool as usize].params;
    let mut args = Decoded::none();
    arguments::decode(compiled, &session.workspace, params, approve.args, &mut args)
        .map_err(StepError::InvalidArguments)?;
    let mut bytes = Vec::new();
    args.values().iter().for_each(|arg| arg.write_key(&mut bytes));
    key::shorten(0, &mut bytes);
    session.advance(approve.now);
    let given = session.now;
    session.approvals.retain(|grant| grant.expires > given);
    session.approvals.push(Grant {
        tool,
        key: bytes.into_boxed_slice(),
        role: approve.role.into(),
        by: approve.by.into(),
        given,
        expires: approve.expires.unwrap_or(given.saturating_add(DEFAULT_APPROVAL)),
    });
    Ok(())
}

/// Adds to the amount spent of a unit that the host charges.
///
/// # Errors
///
/// Returns an error if the amount is negative or the host does not charge the unit.
pub(crate) fn usage(
    compiled: &CompiledPlan,
    session: &mut Session,
    usage: &Usage<'_>,
) -> Result<(), StepError> {
    if usage.amount < 0 {
        return Err(StepError::NegativeAmount(usage.amount));
    }
    let charged = |unit: &guard_plan::plan::Unit| unit.name == usage.unit && unit.host_charged;
    let unit = compiled.plan().units.iter().position(charged);
    let unit = unit.ok_or_else(|| StepError::NotHostCharged(usage.unit.into()))?;
    session.advance(usage.now);
    session.spent[unit] = session.spent[unit].saturating_add(usage.amount);
    Ok(())
}

/// Ends a halt.
///
/// # Errors
///
/// Returns an error if the session is not halted.
pub(crate) fn resume(session: &mut Session, resume: &Resume<'_>) -> Result<(), StepError> {
    if session.halted.is_none() {
        return Err(StepError::NotHalted);
    }
    named(resume.by, "ends the halt")?;
    session.advance(resume.now);
    session.halted = None;
    Ok(())
}
