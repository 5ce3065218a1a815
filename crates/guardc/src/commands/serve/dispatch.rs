//! The table of the sidecar's methods by their names, and the methods about the process itself.

use super::answers::RpcAnswer;
use super::params::read;
use super::requests::Named;
use super::rpc::RpcError;
use super::server::{Server, lock};
use crate::near;
use serde_json::value::RawValue;

/// A method of the server, applied to the text of its parameters.
type RpcMethod = fn(&Server, &str) -> RpcAnswer;

/// The methods, in the order in which a misspelt name is compared with them.
const METHODS: [(&str, RpcMethod); 31] = [
    ("health", |server, _| Ok(server.health())),
    ("version", |_, _| Ok(version())),
    ("plan.reload", |server, _| server.reload()),
    ("session.open", |server, params| server.open(read(params)?)),
    ("session.list", |server, _| server.list()),
    ("session.upgrade", |server, params| server.upgrade(read(params)?)),
    ("session.prompt", |server, params| server.prompt(read(params)?)),
    ("call.propose", |server, params| server.propose(read(params)?)),
    ("call.settle", |server, params| server.settle(read(params)?)),
    ("call.approve", |server, params| server.approve(read(params)?)),
    ("call.revoke", |server, params| server.revoke(read(params)?)),
    ("session.usage", |server, params| server.usage(read(params)?)),
    ("session.resume", |server, params| server.resume(read(params)?)),
    ("session.stop", |server, params| server.stop(read(params)?)),
    ("session.advise", |server, params| server.advise(read(params)?)),
    ("session.guide", |server, params| server.guide(&session(params)?)),
    ("session.facts", |server, params| server.facts(read(params)?)),
    ("session.state", |server, params| server.state(&session(params)?)),
    ("session.trace", |server, params| server.trace(&session(params)?)),
    ("session.close", |server, params| server.close(read(params)?)),
    ("item.verify", |server, params| server.verify(read(params)?)),
    ("item.move", |server, params| server.move_item(read(params)?)),
    ("item.get", |server, params| server.item(read(params)?)),
    ("item.list", |server, params| server.items(read(params)?)),
    ("contract.check", |server, params| server.check(read(params)?)),
    ("contract.schema", |server, params| server.schema(read(params)?)),
    ("contract.prompt", |server, params| server.contract_prompt(read(params)?)),
    ("contract.reask", |server, params| server.reask(read(params)?)),
    ("contract.feed", |server, params| server.feed(read(params)?)),
    ("feed.push", |server, params| server.push(read(params)?)),
    ("feed.finish", |server, params| server.finish(read(params)?)),
];

/// Returns the name under which a method is counted: `other` for a name that a caller has invented.
pub fn counted_as(method: &str) -> &'static str {
    METHODS.iter().find(|(name, _)| *name == method).map_or("other", |(name, _)| name)
}

impl Server {
    /// Processes one request and returns the text of its result.
    pub fn call(&self, method: &str, params: Option<&RawValue>) -> RpcAnswer {
        let params = params.map_or("{}", RawValue::get);
        if !params.starts_with('{') {
            return Err(RpcError::params("`params` is an object"));
        }
        if let Some((_, run)) = METHODS.iter().find(|(name, _)| *name == method) {
            return run(self, params);
        }
        let near = near::did_you_mean(method, METHODS.map(|(name, _)| name))
            .map(|near| format!("; {near}"))
            .unwrap_or_default();
        let message = format!("there is no method `{method}`{near}");
        Err(RpcError::method("unknown_method", message))
    }

    /// Returns the answer to `health`.
    fn health(&self) -> String {
        let sessions = lock(&self.sessions).len();
        let (most, (requests, errors)) = (self.options.limits.max_sessions, self.stats.totals());
        serde_json::json!({
            "status": if sessions < most { "ok" } else { "full" },
            "sessions": sessions,
            "max_sessions": most,
            "requests": requests,
            "errors": errors,
        })
        .to_string()
    }
}

/// Returns the session of a request that names nothing else.
fn session(params: &str) -> Result<String, RpcError> {
    Ok(read::<Named>(params)?.session)
}

/// Returns the answer to `version`.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    serde_json::json!({ "name": "guardc", "version": version, "edition": 1, "protocol": 1 })
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_names_are_counted_together() {
        for (method, expected) in [
            ("call.propose", "call.propose"),
            ("call.proposed", "other"),
            ("x\"} 1\nguard_errors_total{code=\"x", "other"),
        ] {
            assert_eq!(counted_as(method), expected);
        }
    }
}
