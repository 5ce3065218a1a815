//! Sessions of a store that other processes use at the same time.

use guard_sdk::{Session, SessionError};
use guard_trace::store::StoreError;
use std::path::Path;
use std::time::{Duration, Instant};

/// The minimum and maximum wait between two attempts to lock a session, in milliseconds.
const LOCK_WAIT: (u64, u64) = (1, 20);

/// Opens a session. While another process uses it, this one waits, up to a time limit.
///
/// # Errors
///
/// Returns the reason: the session is in use all the time, or cannot be opened.
pub fn open_waiting(
    open: impl Fn() -> Result<Session, SessionError>,
    until: Instant,
) -> Result<Session, String> {
    let (mut wait, most) = LOCK_WAIT;
    loop {
        match open() {
            Ok(session) => return Ok(session),
            Err(SessionError::Store(StoreError::Locked(path))) => {
                if Instant::now() >= until {
                    return Err(format!("`{}` stays in use by another process", path.display()));
                }
                std::thread::sleep(Duration::from_millis(wait));
                wait = (wait * 2).min(most);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Returns the sentence that explains how a person ends the halt of a session. `store` is `None`
/// for the user's default store.
pub fn resume_hint(session: &str, plan: &Path, store: Option<&Path>) -> String {
    format!(
        "\nA person ends the halt with `guardc approvals resume {session} --plan {} --by NAME --role ROLE{}`.",
        plan.display(),
        store_option(store),
    )
}

/// Returns the option that names a store, if it is not the user's default store.
pub fn store_option(store: Option<&Path>) -> String {
    store.map(|path| format!(" --store {}", path.display())).unwrap_or_default()
}
