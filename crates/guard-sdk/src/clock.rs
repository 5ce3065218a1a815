//! The system's clock, for events without a time from the caller.

use crate::error::SessionError;
use guard_plan::plan::Millis;
use guard_plan::time::{DAY, RECORDED};
use guard_runtime::Event;

/// Returns the system's time in milliseconds since 1970, or 0 if it is before 1970.
///
/// ```
/// // 2020-01-01, in milliseconds.
/// assert!(guard_sdk::system_time() > 1_577_836_800_000);
/// ```
pub fn system_time() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0)
}

/// Refuses an event whose time no record can hold: the session could not be resumed from it.
pub(crate) fn expect_recorded(event: &Event<'_>) -> Result<(), SessionError> {
    let (now, expires) = match event {
        Event::Propose(event) => (event.now, None),
        Event::Settle(event) => (event.now, None),
        Event::Approve(event) => (event.now, event.expires),
        Event::Revoke(event) => (event.now, None),
        Event::Usage(event) => (event.now, None),
        Event::Resume(event) => (event.now, None),
        Event::Prompt(event) => (event.now, None),
        Event::Stop(event) => (event.now, None),
        Event::Verify(event) => (event.now, None),
        Event::Move(event) => (event.now, None),
    };
    expect_time(now)?;
    match expires {
        Some(expires) if !RECORDED.contains(&expires) => Err(SessionError::Time(expires)),
        _ => Ok(()),
    }
}

/// Refuses a time that no record can hold. The last day is left for what follows from the time, such
/// as the end of an approval.
pub(crate) fn expect_time(now: Millis) -> Result<(), SessionError> {
    let is_recorded = (*RECORDED.start()..=RECORDED.end() - DAY).contains(&now);
    if is_recorded { Ok(()) } else { Err(SessionError::Time(now)) }
}
