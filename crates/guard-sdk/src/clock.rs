//! The system's clock, for events without a time from the caller.

use guard_plan::plan::Millis;

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
