//! The hook protocols of coding agents. An event's JSON becomes a [`HookEvent`], a [`HookAnswer`]
//! becomes the host's JSON, and a hook is added to the host's settings or removed from them.
//!
//! Each host is a table of data, its [`Vocabulary`]. This crate reads no file, starts no process
//! and decides no call: the caller provides the bytes and the verdict. Input that cannot be parsed
//! is an error, and the caller blocks.
//!
//! ```
//! use guard_hooks::{EventAction, HookAnswer, HookEvent, Vocabulary};
//!
//! let codex = Vocabulary::named("codex").unwrap();
//! let event = r#"{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/w",
//!                 "tool_name": "Bash", "tool_use_id": "call_1", "tool_input": {"command": "ls"}}"#;
//! let event = HookEvent::read(codex, event.as_bytes())?;
//! assert!(matches!(&event.action, EventAction::Propose(call) if call.tool == "Bash"));
//! let answer = HookAnswer::Deny("not here".into()).encode(codex, &event);
//! assert!(answer.contains(r#""permissionDecision":"deny""#));
//! # Ok::<(), guard_hooks::EventError>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod envelope;
mod event;
pub mod export;
mod fingerprint;
mod hosts;
pub mod settings;
mod vocabulary;

pub use answer::HookAnswer;
pub use event::{EventAction, EventError, HookEvent, ToolCall, ToolEnding};
pub use vocabulary::{AnswerForm, EventMeaning, ShellResult, TimeUnit, Vocabulary};
