//! Guard as a library: load a guard once, open durable sessions, and decide every tool call before
//! it runs.
//!
//! A [`Guard`] is a compiled guard. It is cheap to clone and serves any number of sessions. A
//! [`Session`] is one agent's run under a guard. Each method takes one event and returns its
//! outcome together with its record. By then the record is in the session's store, with the
//! durability of that store. A session that is opened again under the same id continues where its
//! records end.
//!
//! ```
//! use guard_sdk::{Guard, Storage};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let guard = Guard::compile(
//!     "refunds.guard",
//!     r#"guard refunds
//!        tool verify(code: string)
//!        tool refund(amount: decimal in 0.01..=500) { requires verify }"#,
//! )?;
//! let storage = Storage::open(&folder.join("sessions"))?;
//! let mut session = guard.session("order-17").storage(&storage).open()?;
//!
//! let denied = session.propose("call-1", "refund", r#"{"amount": 20}"#)?;
//! assert!(!denied.verdict.is_allowed());
//! assert_eq!(denied.verdict.message(), "`refund` requires `verify` (call `verify` first)");
//!
//! let allowed = session.propose("call-2", "verify", r#"{"code": "123456"}"#)?;
//! assert!(allowed.verdict.is_allowed());
//! // The real tool runs here, and nowhere else.
//! session.settle("call-2", Ok(None))?;
//!
//! // The process may end at any time; whoever opens the session again goes on.
//! drop(session);
//! let mut session = guard.session("order-17").storage(&storage).open()?;
//! assert!(session.propose("call-3", "refund", r#"{"amount": 20}"#)?.verdict.is_allowed());
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | load a guard or a plan | [`Guard::compile`], [`Guard::from_file`], [`Guard::from_plan_bytes`]; many of them: [`GuardCache`] |
//! | begin or resume a session | [`Guard::session`], [`SessionOptions`] |
//! | decide a call, and say how it ended | [`Session::propose`], [`Session::settle`] |
//! | tell what people do | [`Session::approve`], [`Session::prompt`], [`Session::resume`] |
//! | let people grant calls from elsewhere | [`approvals`], [`Session::propose_with`] |
//! | go on under another guard | [`Session::upgrade`], [`Session::upgrade_forced`] |
//! | end the agent's turn | [`Session::stop`] |
//! | judge a text that an agent wrote | [`Session::check_text`], [`Contract::check`] |
//! | keep a session yourself | [`Session::snapshot`], [`SessionOptions::snapshot`], [`SessionOptions::trace`] |
//!
//! The kernel decides (`guard-runtime`), stores keep records (`guard-trace`), and hosts answer
//! questions about the workspace (`guard-hosts`). This crate joins them in the one order that is
//! safe: decide, store, return.

#![forbid(unsafe_code)]

pub mod approvals;
mod arguments;
mod cache;
mod clock;
mod contract;
pub mod diagnostics;
mod drive;
mod error;
mod guard;
mod limits;
mod open;
mod persistence;
mod queries;
mod recorded;
mod session;
pub mod sources;
mod texts;
mod upgrade;
mod world;

pub use arguments::CallArguments;
pub use cache::GuardCache;
pub use clock::system_time;
pub use contract::{Contract, TextFeed, TextOptions};
pub use error::{GuardError, SessionError};
pub use guard::Guard;
pub use open::SessionOptions;
pub use persistence::{SharedBudget, Storage, random_bytes};
pub use recorded::Recorded;
pub use session::Session;
pub use upgrade::SessionUpgrade;
pub use world::AnsweringWorld;

pub use guard_advice::drive as driving;
pub use guard_contract::{Checker, Lists, Strict};
pub use guard_hosts::Host;
pub use guard_plan::json::Json;
pub use guard_plan::report::Report;
pub use guard_plan::verdict::{Code, Decision, Reason, Verdict};
pub use guard_runtime::{Event, Outcome, Proposed, Settled, Stopped, World};
pub use guard_trace::Keys;
pub use guard_trace::store::Durability;
