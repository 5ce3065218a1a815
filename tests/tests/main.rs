//! The suites, one module each.

mod action;
mod adapters;
mod advice;
mod cli;
mod codes;
mod defines;
mod diff;
mod docs;
mod explore;
mod export;
mod fixes;
mod harmed;
mod hooks;
mod hostile;
mod inputs;
mod lasting;
mod laws;
#[cfg(unix)]
mod mcp;
mod obligations;
mod openapi;
mod proofs;
mod render;
mod replay;
mod schemas;
mod shell;
mod sidecar;
mod signals;
mod suggest;
mod suites;
