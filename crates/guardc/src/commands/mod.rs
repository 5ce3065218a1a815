//! The subcommands, one module each.

pub mod ack;
pub mod approvals;
pub mod check;
pub mod compile;
pub mod completions;
pub mod contract;
pub mod diff;
pub mod doctor;
pub mod drive;
pub mod explain;
pub mod export;
pub mod fmt;
pub mod hook;
pub mod import;
pub mod init;
pub mod install;
pub mod mcp_proxy;
pub mod render;
pub mod replay;
pub mod run;
pub mod serve;
pub mod suggest;
pub mod test;
pub mod trace;
pub mod verify;
pub mod version;
