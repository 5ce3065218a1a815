//! Hosts: the layer between the kernel and the outside.
//!
//! The kernel has no clock and does no IO; it asks a [`World`](guard_runtime::World). This crate
//! implements the world of a real workspace. It makes no decisions.

mod background;
mod disk;
mod git;
mod host;
mod run;
mod running;
mod strays;

pub use background::Background;
pub use disk::Disk;
pub use host::Host;
pub use run::run;
pub use running::end_commands;
