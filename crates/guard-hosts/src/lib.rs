//! Hosts: what stands between the kernel and the outside.
//!
//! The kernel holds no clock and does no IO; it asks a [`World`](guard_runtime::World). Here is the one that looks at
//! a real workspace. Nothing here decides anything.

mod disk;
mod host;
mod run;
mod running;

pub use disk::Disk;
pub use host::Host;
pub use run::run;
pub use running::end_commands;
