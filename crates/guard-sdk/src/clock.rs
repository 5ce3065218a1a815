//! Times of events: the system's clock, for events without a time from the caller, and the times
//! that a record can hold.

use crate::error::SessionError;
use guard_plan::plan::Millis;
use guard_plan::time::{DAY, RECORDED};
use guard_runtime::{CallApproval, Event};

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
    expect_time(event.now())?;
    match event {
        Event::Approve(CallApproval { expires: Some(expires), .. })
            if !RECORDED.contains(expires) =>
        {
            Err(SessionError::Time(*expires))
        }
        _ => Ok(()),
    }
}

/// Refuses a time that no record can hold. The last day is left for what follows from the time, such
/// as the end of an approval.
pub(crate) fn expect_time(now: Millis) -> Result<(), SessionError> {
    let is_recorded = (*RECORDED.start()..=RECORDED.end() - DAY).contains(&now);
    if is_recorded { Ok(()) } else { Err(SessionError::Time(now)) }
}
