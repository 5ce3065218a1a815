//! The server's list of tools in the form that the client may see.
//!
//! The list depends only on the plan, the lock and the page: the same page gives the same answer in
//! every session.

use crate::reply::object;
use crate::result::is_secret;
use crate::schema::{described, get, narrowed_object, set};
use guard_plan::json::Json;
use guard_plan::plan::{Plan, Tool, TypeDef};
use guard_plan::words::rules::{self, PhraseSubject};

/// Returns the result of `tools/list` with the tools that the guard knows, each narrowed to the
/// calls that are possible; `None` if it is not such a result. `is_shown` returns true if a tool of
/// the server may be called at all.
pub(crate) fn narrowed(
    plan: &Plan,
    result: &Json,
    is_shown: &mut dyn FnMut(&str) -> bool,
) -> Option<Json> {
    let Json::Object(members) = result else { return None };
    let Json::Array(tools) = get(members, "tools")? else { return None };
    let mut shown = Vec::with_capacity(tools.len());
    for definition in tools {
        let Some(name) = definition.get("name").and_then(Json::as_str) else { continue };
        let tool = plan.tools.iter().find(|tool| tool.wire_name == name);
        match tool {
            // The guard's own definition is used.
            Some(tool) if tool.is_served() => {}
            Some(tool) if is_shown(name) => shown.push(narrowed_tool(plan, tool, definition)),
            None if plan.default_allow && is_shown(name) => shown.push(definition.clone()),
            _ => {}
        }
    }
    // The guard's own tools are on the last page only, so that no tool is listed twice.
    let last = matches!(get(members, "nextCursor"), None | Some(Json::Null));
    if last {
        let served = plan.tools.iter().filter(|tool| tool.is_served());
        shown.extend(served.map(|tool| served_tool(plan, tool)));
    }
    let mut members = members.clone();
    set(&mut members, "tools", Json::Array(shown));
    Some(Json::Object(members))
}

fn narrowed_tool(plan: &Plan, tool: &Tool, definition: &Json) -> Json {
    let Json::Object(members) = definition else { return definition.clone() };
    let mut members = members.clone();
    let text = description(plan, tool);
    if let Some(text) = described(get(&members, "description"), &text) {
        set(&mut members, "description", Json::string(&text));
    }
    if let Some(schema) = get(&members, "inputSchema").cloned() {
        set(&mut members, "inputSchema", narrowed_object(plan, &tool.params, &schema));
    }
    if is_secret(plan, tool) {
        // A result without its secrets may not fit the schema, and clients refuse such results.
        members.retain(|(name, _)| **name != *"outputSchema");
    }
    // The result of a task could not be checked.
    members.retain(|(name, _)| **name != *"execution");
    Json::Object(members)
}

/// Returns the guard's description of a tool: its documentation, and the rules that matter to a
/// caller.
fn description(plan: &Plan, tool: &Tool) -> String {
    let mut lines: Vec<String> = vec![tool.doc.trim().to_owned()];
    for phrase in rules::before(plan, tool) {
        if phrase.rule.is_some_and(|rule| rule.shadow) {
            continue;
        }
        let text = phrase.text;
        match phrase.about {
            PhraseSubject::Requires => lines.push(format!("Requires {text}.")),
            PhraseSubject::Deny => lines.push(format!("Denied {text}.")),
            PhraseSubject::Limit => lines.push(format!("Limit: {text}.")),
            PhraseSubject::Cost => lines.push(format!("Costs {text}.")),
            PhraseSubject::Approval => lines.push(format!("Needs the approval of {text}.")),
            PhraseSubject::Gate => {
                lines.push(format!("{}{}.", text[..1].to_uppercase(), &text[1..]))
            }
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Returns the definition of a tool that the guard serves itself.
fn served_tool(plan: &Plan, tool: &Tool) -> Json {
    let members = tool.params.iter().map(|field| (field.name.as_str().into(), any(plan, field.ty)));
    let schema =
        object([("type", Json::string("object")), ("properties", Json::Object(members.collect()))]);
    object([
        ("name", Json::string(&tool.wire_name)),
        ("description", Json::string(&description(plan, tool))),
        ("inputSchema", narrowed_object(plan, &tool.params, &schema)),
    ])
}

/// Returns the schema that only specifies the JSON kind of a type.
fn any(plan: &Plan, ty: u32) -> Json {
    let Some(def) = plan.types.get(ty as usize) else { return Json::Object(Vec::new()) };
    let kind = |name: &str| object([("type", Json::string(name))]);
    match def {
        TypeDef::Bool => kind("boolean"),
        TypeDef::Int { .. } => kind("integer"),
        TypeDef::Decimal { .. } => kind("number"),
        TypeDef::Option { of } => any(plan, *of),
        TypeDef::List { of, .. } | TypeDef::Set { of, .. } => {
            object([("type", Json::string("array")), ("items", any(plan, *of))])
        }
        TypeDef::Map { of, .. } => {
            object([("type", Json::string("object")), ("additionalProperties", any(plan, *of))])
        }
        TypeDef::Record { fields, .. } => {
            let members =
                fields.iter().map(|field| (field.name.as_str().into(), any(plan, field.ty)));
            object([
                ("type", Json::string("object")),
                ("properties", Json::Object(members.collect())),
            ])
        }
        // Unions occur only in contracts.
        TypeDef::Json | TypeDef::Union { .. } => Json::Object(Vec::new()),
        TypeDef::String { .. }
        | TypeDef::Path
        | TypeDef::Url
        | TypeDef::Duration { .. }
        | TypeDef::Time { .. }
        | TypeDef::Enum { .. }
        | TypeDef::Command => kind("string"),
    }
}
