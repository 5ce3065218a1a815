//! The Model Context Protocol between a client and a server whose tools are guarded.
//!
//! [`McpProxy`] reads the lines of both sides and decides where each line goes. Messages that it
//! does not know pass byte for byte and in order, a `tools/call` goes to the server only after a
//! [`CallGate`] has allowed it, and `tools/list` shows the tools that may be called. Both protocol
//! eras are handled message by message: with a handshake, and without.
//!
//! The crate starts no process, reads no file and has no clock: the caller provides lines and the
//! time. It decides nothing: the gate does.

#![forbid(unsafe_code)]

mod gate;
mod listing;
mod lock;
mod message;
mod proxy;
mod reply;
mod result;
mod schema;

pub use gate::{
    ApprovalQuestion, CallGate, GateAnswer, GuardedCall, GuardedEnding, PersonsAnswer, SettledCall,
};
pub use lock::{LockState, ToolDifference, ToolLock, definitions};
pub use message::{IdScanner, MAX_LINE};
pub use proxy::{DescriptionChange, McpLink, McpProxy, ProxyOptions, ProxyOutput};
