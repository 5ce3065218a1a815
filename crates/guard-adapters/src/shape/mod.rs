//! The four shapes of real harnesses.

mod events;
mod hooks;
mod middleware;
mod proxy;

use crate::duties::Duties;
use crate::harness::{AdapterResult, Harness};
use guard_ack::clause;
use guard_ack::protocol::LoopEnd;

/// The integration of an adapter in its framework.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterShape {
    /// The framework runs the loop and calls hooks before and after a tool, and before a stop.
    Hooks,
    /// A function around each tool; calls run one after another.
    Middleware,
    /// A proxy between the client and the tool server. It sees messages, but not the loop.
    Proxy,
    /// An event loop whose session is resumed from its trace after every turn.
    Events,
}

impl AdapterShape {
    /// All shapes.
    pub const ALL: [AdapterShape; 4] =
        [AdapterShape::Hooks, AdapterShape::Middleware, AdapterShape::Proxy, AdapterShape::Events];

    /// Returns the name of the shape.
    pub fn name(self) -> &'static str {
        match self {
            AdapterShape::Hooks => "hooks",
            AdapterShape::Middleware => "middleware",
            AdapterShape::Proxy => "proxy",
            AdapterShape::Events => "events",
        }
    }

    /// Returns the declared capabilities.
    pub fn capabilities(self) -> Vec<&'static str> {
        let lacks: &[&str] = match self {
            AdapterShape::Hooks | AdapterShape::Events => &["plain_policies"],
            AdapterShape::Middleware => &["plain_policies", "parallel_calls"],
            // The framework's own tools bypass the proxy.
            AdapterShape::Proxy => &["plain_policies", "native_tools"],
        };
        let names = clause::capabilities().iter().map(|capability| capability.name);
        names.filter(|name| !lacks.contains(name)).collect()
    }

    /// Runs the loop.
    pub(crate) fn run(
        self,
        duties: &mut dyn Duties,
        harness: &mut Harness,
    ) -> AdapterResult<LoopEnd> {
        match self {
            AdapterShape::Hooks => hooks::run(duties, harness),
            AdapterShape::Middleware => middleware::run(duties, harness),
            AdapterShape::Proxy => proxy::run(duties, harness),
            AdapterShape::Events => events::run(duties, harness),
        }
    }
}
