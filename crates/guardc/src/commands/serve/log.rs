//! The log of a sidecar: JSON lines on standard error, for requests and for actions of the sidecar
//! itself. The log never contains arguments or results.

use super::rpc::RpcError;
use guard_plan::time;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// The level of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum LogLevel {
    /// Requests that failed.
    RpcError,
    /// Every request.
    Info,
}

/// Logs an action of the sidecar itself, at any level.
pub fn event(event: &str, mut about: serde_json::Value) {
    about["time"] = time::format_rfc3339(guard_sdk::system_time()).into();
    about["level"] = if event.ends_with("_failed") { "error" } else { "info" }.into();
    about["event"] = event.into();
    let _ = writeln!(std::io::stderr().lock(), "{about}");
}

/// Logs an answered request.
pub fn request(
    level: LogLevel,
    method: &str,
    session: Option<&str>,
    error: Option<&RpcError>,
    took: Duration,
) {
    if error.is_none() && level < LogLevel::Info {
        return;
    }
    let mut line = json!({
        "time": time::format_rfc3339(guard_sdk::system_time()),
        "level": if error.is_some() { "error" } else { "info" },
        "method": method,
        "session": session,
        "micros": u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
    });
    if let Some(error) = error {
        line["code"] = error.code.into();
        line["message"] = error.message.as_str().into();
    }
    // The sidecar continues if the log cannot be written.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
