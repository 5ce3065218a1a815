//! The addon below the npm package `guardc`: guards, sessions, contracts and stores of `guard-sdk`.
//!
//! Values cross as text: the JavaScript side refuses what is not JSON and writes the rest as JSON, this side reads it
//! as it reads every event. A refusal crosses as text too (`reply`), so no failure, panics included, can look like
//! an answer. Decides nothing.

mod contract;
mod guard;
mod outcome;
mod reply;
mod request;
mod session;
mod store;

use napi_derive::napi;

/// The version of the package.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The text of JSON as the engine reads it, without white space.
#[napi]
pub fn canonical(json: String) -> String {
    reply::text(reply::caught(|| Ok(reply::json(&json)?.to_string())))
}
