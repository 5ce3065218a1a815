//! Cedar: one `permit`, and a `forbid` for each tool. A history is not Cedar's to keep.

use crate::{Call, Engine, most};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request, RestrictedExpression,
};

fn uid(text: &str) -> EntityUid {
    text.parse().expect("an entity")
}

fn request(call: &Call) -> Request {
    let context = Context::from_pairs([
        ("env".to_owned(), RestrictedExpression::new_string(call.env.to_owned())),
        ("count".to_owned(), RestrictedExpression::new_long(call.count)),
    ]);
    let action = uid(&format!(r#"Action::"tool_{}""#, call.tool));
    let agent = uid(r#"Agent::"a""#);
    let gateway = uid(r#"Gateway::"g""#);
    Request::new(agent, action, gateway, context.expect("a context"), None).expect("a request")
}

/// One rule a tool.
pub fn rules(calls: Vec<Call>, rules: usize) -> Engine<'static> {
    let mut text = String::from("permit(principal, action, resource);\n");
    for tool in 0..rules {
        let most = most(tool);
        text.push_str(&format!(
            r#"forbid(principal, action == Action::"tool_{tool}", resource) when {{ context.env == "staging" && context.count > {most} }};"#
        ));
    }
    let policies: PolicySet = text.parse().expect("policies");
    let requests: Vec<Request> = calls.iter().map(request).collect();
    let authorizer = Authorizer::new();
    let entities = Entities::empty();
    Box::new(move |n| {
        let response = authorizer.is_authorized(&requests[n], &policies, &entities);
        response.decision() == Decision::Allow
    })
}
