//! Texts that arrive in pieces: `contract.feed`, `feed.push`, `feed.finish`.

use super::rpc::RpcError;
use guard_plan::report::{KeptItem, Report};
use guard_sdk::{Session, TextFeed};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The maximum number of texts that arrive at the same time.
const MOST: usize = 256;

/// A text, and the session whose state its references use.
pub struct OpenFeed {
    pub session: Option<String>,
    pub feed: TextFeed,
}

/// The open texts of one process.
#[derive(Default)]
pub struct Feeds {
    open: Mutex<(u64, HashMap<String, OpenFeed>)>,
}

impl Feeds {
    /// Stores a text and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if too many texts are open.
    pub fn open(&self, open: OpenFeed) -> Result<String, RpcError> {
        let mut feeds = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that never finishes its texts would otherwise fill the memory.
        if feeds.1.len() >= MOST {
            let why = format!("{MOST} texts are open: finish one of them first");
            return Err(RpcError::failed("too_many_feeds", why));
        }
        feeds.0 += 1;
        let id = format!("f{}", feeds.0);
        feeds.1.insert(id.clone(), open);
        Ok(id)
    }

    /// Takes a text out. The caller puts it back after pushing to it.
    ///
    /// # Errors
    ///
    /// Returns an error if no text with this id is open.
    pub fn take(&self, id: &str) -> Result<OpenFeed, RpcError> {
        let mut feeds = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = || RpcError::failed("no_such_feed", format!("no text `{id}` is open"));
        feeds.1.remove(id).ok_or_else(missing)
    }

    /// Puts a text back.
    pub fn put(&self, id: &str, open: OpenFeed) {
        let mut feeds = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.1.insert(id.into(), open);
    }
}

/// Returns the answer to `feed.push`.
pub fn pushed(items: &[KeptItem]) -> String {
    serde_json::json!({ "items": items }).to_string()
}

/// Ends a text with the state of a session, and records the report there.
///
/// # Errors
///
/// Returns an error if the session cannot record it.
pub fn finish(
    session: &mut Session,
    feed: TextFeed,
    reason: Option<&str>,
) -> Result<Report, RpcError> {
    Ok(session.finish_text(feed, reason)?.into_outcome())
}
