//! `guardc ack adapter`: our own engine behind the line protocol.

use crate::failure::{CommandResult, Exit, Failure};
use crate::near;
use guard_ack::Contestant;
use guard_adapters::{AdapterFault, AdapterShape, Mock};
use guard_sdk::GuardCache;
use std::io;

/// Runs Guard's own engine as an adapter on standard input and output
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The place of the engine in its framework
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub shape: Ours,
    /// Plant a fault, to see that the kit finds it; `guardc ack list --faults` lists the faults
    #[arg(long, value_name = "FAULT", value_parser = fault)]
    pub fault: Option<AdapterFault>,
}

/// Parses the name of a fault.
pub fn fault(name: &str) -> Result<AdapterFault, String> {
    let near = || near::did_you_mean(name, AdapterFault::all().map(AdapterFault::name));
    AdapterFault::named(name)
        .ok_or_else(|| near().unwrap_or_else(|| "there is no such fault".into()))
}

/// A shape, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Ours {
    /// Hooks before and after a call.
    Hooks,
    /// Middleware around a call.
    Middleware,
    /// A proxy between client and tool server.
    Proxy,
    /// An event loop that is resumed.
    Events,
}

impl Ours {
    /// Returns the shape.
    pub fn shape(self) -> AdapterShape {
        match self {
            Ours::Hooks => AdapterShape::Hooks,
            Ours::Middleware => AdapterShape::Middleware,
            Ours::Proxy => AdapterShape::Proxy,
            Ours::Events => AdapterShape::Events,
        }
    }
}

/// Returns our engine in that shape.
pub fn mock(ours: Ours, fault: Option<AdapterFault>, guards: &GuardCache) -> Mock<'_> {
    Mock { shape: ours.shape(), fault, guards }
}

/// Runs it until its input ends.
pub fn run(args: &Args) -> CommandResult {
    let guards = GuardCache::new(1000);
    let mock = mock(args.shape, args.fault, &guards);
    let mut adapter = mock.start().map_err(|trouble| Failure::new(trouble.message))?;
    let served = guard_adapters::serve(&mut *adapter, io::stdin().lock(), io::stdout().lock());
    served.map(|()| Exit::Fine).map_err(|error| Failure::output(&error))
}
