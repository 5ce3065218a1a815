//! Events that only the host may report: approvals, usage, the end of a halt.

use crate::compiled::CompiledPlan;
use crate::error::StepError;
use crate::event::{CallApproval, HaltEnd, Revocation, UsageReport};
use crate::session::{SessionState, UnusedApproval};
use crate::stage::arguments::{self, Decoded};
use guard_plan::builtin::is_hidden;
use guard_plan::json::Json;
use guard_plan::key;
use guard_plan::plan::{Millis, ToolId};
use guard_plan::time::HOUR;

/// The default validity of an approval, in milliseconds.
pub const DEFAULT_APPROVAL: Millis = HOUR;

/// Refuses an action of a person without a name: the record must contain the name.
///
/// # Errors
///
/// Returns an error if the name contains no letter or digit, or an invisible character.
pub fn expect_somebody(by: &str, act: &'static str) -> Result<(), StepError> {
    named(by, act)
}

/// Refuses an action of a person without a name.
pub(crate) fn named(by: &str, act: &'static str) -> Result<(), StepError> {
    if is_seen(by) { Ok(()) } else { Err(StepError::Nobody(act)) }
}

/// Returns true if a name is readable: it has a letter or a digit, and no character that is
/// invisible or changes the text direction.
fn is_seen(name: &str) -> bool {
    let letter = |c: char| {
        // Unicode counts these Hangul fillers as letters, but they are blank on a screen.
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
    session: &mut SessionState,
    approve: &CallApproval<'_>,
) -> Result<(), StepError> {
    named(approve.by, "approves")?;
    let (tool, key) = exact_call(compiled, session, approve.tool, approve.args)?;
    session.advance(approve.now);
    let given = session.now;
    // Without this, unused approvals would accumulate for the life of the session.
    session.approvals.retain(|grant| grant.expires > given);
    session.approvals.push(UnusedApproval {
        tool,
        key,
        role: approve.role.into(),
        by: approve.by.into(),
        given,
        expires: approve.expires.unwrap_or(given.saturating_add(DEFAULT_APPROVAL)),
    });
    Ok(())
}

/// Revokes a role's approvals of exactly one call that no call has used.
///
/// # Errors
///
/// The errors of [`approve`]; [`StepError::NotApproved`] if there is no approval to revoke.
pub(crate) fn revoke(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    revoke: &Revocation<'_>,
) -> Result<(), StepError> {
    named(revoke.by, "takes an approval back")?;
    let (tool, key) = exact_call(compiled, session, revoke.tool, revoke.args)?;
    // The clock is not advanced yet, because an event that ends in an error changes nothing.
    let now = session.now.max(revoke.now);
    let stands = |grant: &UnusedApproval| {
        grant.expires > now && (grant.tool, &grant.key, &*grant.role) == (tool, &key, revoke.role)
    };
    if !session.approvals.iter().any(stands) {
        return Err(StepError::NotApproved(revoke.tool.into(), revoke.role.into()));
    }
    session.approvals.retain(|grant| !stands(grant));
    session.advance(revoke.now);
    Ok(())
}

/// Returns the tool, and the key of its typed arguments.
fn exact_call(
    compiled: &CompiledPlan,
    session: &SessionState,
    tool: &str,
    args: &Json,
) -> Result<(ToolId, Box<[u8]>), StepError> {
    let id = compiled.tool(tool).ok_or_else(|| StepError::UnknownTool(tool.into()))?;
    let params = &compiled.plan().tools[id as usize].params;
    let mut decoded = Decoded::none();
    arguments::decode(compiled, &session.workspace, params, args, &mut decoded)
        .map_err(StepError::InvalidArguments)?;
    let mut bytes = Vec::new();
    decoded.values().iter().for_each(|arg| arg.write_key(&mut bytes));
    key::shorten(0, &mut bytes);
    Ok((id, bytes.into_boxed_slice()))
}

/// Adds to the amount spent of a unit that the host charges.
///
/// # Errors
///
/// Returns an error if the amount is negative or the host does not charge the unit.
pub(crate) fn usage(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    usage: &UsageReport<'_>,
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
pub(crate) fn resume(session: &mut SessionState, resume: &HaltEnd<'_>) -> Result<(), StepError> {
    if session.halted.is_none() {
        return Err(StepError::NotHalted);
    }
    named(resume.by, "ends the halt")?;
    session.advance(resume.now);
    session.halted = None;
    Ok(())
}
