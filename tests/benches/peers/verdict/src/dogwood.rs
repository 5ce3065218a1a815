//! Dogwood, with the incremental engine of `dogwood-local-engine` in memory: without its log on disk, which
//! would cost a synchronisation of the disk for each event.

use crate::{Call, Engine, Login, NOW, most};
use dogwood_language::{Authorizer, Event, LoweredPolicySet, PolicySchema, ServiceSchema, Value};
use dogwood_local_engine::LocalTemporalEngine;

/// The declarations of events, with only the fields that the policies ask for.
const EVENTS: &str = r#"
max_window = 24h

decision event <A>::request {
    ...inputs(A),
    callerPrincipal:   principalType(A),
    callerResource:    resourceType(A),
}
event <A>::response {
    ...inputs(A),
    callerPrincipal:   principalType(A),
    callerResource:    resourceType(A),
}
"#;

fn authorizer(policies: &str, schema: &str) -> Authorizer {
    let schema = PolicySchema::from_cedarschema_str(schema).expect("a schema");
    let service = ServiceSchema::builder().event_schema_str(EVENTS).build().expect("events");
    let lowered = LoweredPolicySet::from_str(policies, &service, &schema).expect("policies");
    let builder = Authorizer::builder(lowered).temporal_engine(LocalTemporalEngine::new());
    builder.build().expect("an authorizer")
}

fn event(action: &str, kind: &str, at: i64, fields: &[(&str, Value)]) -> Event {
    let mut event = Event::builder(&format!("Peers::Action::{action}"), kind)
        .timestamp(at)
        .principal("Peers::Agent::\"a\"")
        .resource("Peers::Gateway::\"g\"");
    for (name, value) in fields {
        event = event.field("input", name, value.clone());
        event = event.request_context("input", name, value.clone());
    }
    event.build()
}

fn decide(mut authorizer: Authorizer, requests: Vec<Event>) -> Engine<'static> {
    Box::new(move |n| authorizer.is_authorized(&requests[n]).is_some_and(|r| r.allowed()))
}

/// One rule a tool.
pub fn rules(calls: Vec<Call>, rules: usize) -> Engine<'static> {
    let mut schema = String::from(
        "namespace Peers {\n  type Deployment = { env: String, count: Long };\n  entity Gateway;\n  entity Agent;\n",
    );
    let mut policies = String::from("@id(\"all\")\npermit (principal, action, resource);\n");
    for tool in 0..rules {
        let most = most(tool);
        schema.push_str(&format!(
            "  action \"tool_{tool}\" appliesTo {{ principal: [Agent], resource: [Gateway], context: {{ input: Deployment }} }};\n"
        ));
        policies.push_str(&format!(
            "@id(\"rule_{tool}\")\nforbid (principal, action == Peers::Action::\"tool_{tool}\", resource) when {{ context.input.env == \"staging\" && context.input.count > {most} }};\n"
        ));
    }
    schema.push_str("}\n");
    let request = |call: &Call| {
        let fields = [("env", Value::String(call.env.into())), ("count", Value::Int(call.count))];
        event(&format!("tool_{}", call.tool), "request", NOW, &fields)
    };
    decide(authorizer(&policies, &schema), calls.iter().map(request).collect())
}

/// A read by who has logged in within an hour.
pub fn history(logins: Vec<Login>, readers: Vec<String>) -> Engine<'static> {
    let schema = r#"
namespace Peers {
  type ByUser = { user: String };
  entity Gateway;
  entity Agent;
  action "login" appliesTo { principal: [Agent], resource: [Gateway], context: { input: ByUser } };
  action "read" appliesTo { principal: [Agent], resource: [Gateway], context: { input: ByUser } };
}
"#;
    let policies = r#"
@id("login")
permit (principal, action == Peers::Action::"login", resource);
@id("read_after_login")
permit (principal, action == Peers::Action::"read", resource)
when temporal {
    formerly within 1h Peers::Action::"login"::response{ input.user: context.input.user }
};
"#;
    let mut authorizer = authorizer(policies, schema);
    for login in logins {
        let user = [("user", Value::String(login.user))];
        authorizer.is_authorized(&event("login", "response", login.at, &user));
    }
    let read = |name: String| event("read", "request", NOW, &[("user", Value::String(name))]);
    decide(authorizer, readers.into_iter().map(read).collect())
}
