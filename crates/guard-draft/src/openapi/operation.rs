//! One operation as the definition of a tool: its arguments, its result, and the risk implied by
//! its method.

use super::document::ApiDocument;
use super::media::{MediaContent, content, is_json};
use super::schema::SchemaCopier;
use super::{ApiError, FoundOperation, SchemaMembers, request, security};
use crate::text::{one_line, unique};
use crate::tools::{has_more_members, is_object, is_required, merged};
use guard_plan::json::Json;
use std::collections::{BTreeMap, BTreeSet};

/// The locations of a parameter.
const PLACES: [&str; 4] = ["path", "query", "header", "cookie"];

/// Keywords of a body that the arguments of a tool express in another form.
const BODY_KEYWORDS: [&str; 6] =
    ["type", "description", "title", "properties", "required", "additionalProperties"];

fn text(value: &str) -> Json {
    Json::string(value)
}

/// The arguments of a tool as they are found.
#[derive(Default)]
struct ApiArguments {
    properties: SchemaMembers,
    required: Vec<Json>,
    /// The keywords of the body that concern all its members.
    rest: SchemaMembers,
    /// The location of each argument.
    taken: BTreeMap<String, &'static str>,
    notes: Vec<String>,
}

impl ApiArguments {
    /// Adds an argument. It keeps its name, unless an argument of another location has it.
    fn add(&mut self, place: &'static str, name: &str, schema: Json, required: bool) {
        let mut argument = name.to_owned();
        if let Some(other) = self.taken.get(name) {
            let is_free = |name: &str| !self.taken.contains_key(name);
            argument = unique(format!("{place}_{name}"), "_", is_free);
            self.notes
                .push(format!("{argument}: {name} of the {place}; {name} is that of the {other}"));
        }
        self.taken.insert(argument.clone(), place);
        if required {
            self.required.push(text(&argument));
        }
        // The location is part of the definition: an argument that moves to another location is a
        // different one.
        let Json::Object(mut members) = schema else { return };
        members.push(("x-in".into(), text(place)));
        self.properties.push((argument.into(), Json::Object(members)));
    }

    fn schema(self) -> Json {
        let mut members: SchemaMembers = vec![("type".into(), text("object"))];
        members.push(("properties".into(), Json::Object(self.properties)));
        if !self.required.is_empty() {
            members.push(("required".into(), Json::Array(self.required)));
        }
        members.extend(self.rest);
        Json::Object(members)
    }
}

/// Returns the definition of a tool, and notes on what it does not express.
pub(super) fn definition(
    operation: &FoundOperation<'_>,
    name: &str,
    copier: &mut SchemaCopier<'_>,
) -> Result<(Json, Vec<String>), ApiError> {
    let mut arguments = ApiArguments::default();
    arguments.notes.push(operation.place());
    if operation.operation.get("deprecated") == Some(&Json::Bool(true)) {
        arguments.notes.push("deprecated".into());
    }
    let known = security::security(operation);
    arguments.notes.extend(
        known.and_then(security::words).map(|words| {
            format!("security: {words}; the host has the credentials, a call has none")
        }),
    );
    parameters(operation, copier, &mut arguments)?;
    body(operation, copier, &mut arguments)?;
    let notes = std::mem::take(&mut arguments.notes);
    let result = result(operation, copier)?;
    let said = |key: &str| {
        let said = operation.operation.get(key).or_else(|| operation.item.get(key));
        said.and_then(Json::as_str).filter(|said| !said.trim().is_empty())
    };
    let mut members: SchemaMembers = vec![("name".into(), text(name))];
    match (said("summary"), said("description")) {
        (Some(summary), Some(description)) if summary.trim() != description.trim() => {
            members.push(("title".into(), text(summary.trim())));
            members.push(("description".into(), text(description)));
        }
        (summary, description) => {
            let said = description.or(summary);
            members.extend(said.map(|said| ("description".into(), text(said))));
        }
    }
    members.push(("inputSchema".into(), arguments.schema()));
    members.extend(result.map(|schema| ("outputSchema".into(), schema)));
    members.push(("annotations".into(), annotations(operation.method)));
    members.push(("operation".into(), request::request(operation)?));
    Ok((Json::Object(members), notes))
}

/// Returns the annotations of a tool that its method implies.
fn annotations(method: &str) -> Json {
    let hints: &[&str] = match method {
        "get" | "head" | "options" | "trace" => &["readOnlyHint"],
        "put" | "delete" => &["destructiveHint", "idempotentHint"],
        "patch" => &["destructiveHint"],
        // A `POST` may do anything.
        _ => &[],
    };
    Json::Object(hints.iter().map(|hint| ((*hint).into(), Json::Bool(true))).collect())
}

/// A parameter of a path or of an operation.
struct ApiParameter<'d> {
    name: &'d str,
    place: &'static str,
    json: &'d Json,
}

/// Returns the parameters of an operation, after those of its path. A parameter of the operation
/// replaces that of the path.
fn parameters(
    operation: &FoundOperation<'_>,
    copier: &mut SchemaCopier<'_>,
    arguments: &mut ApiArguments,
) -> Result<(), ApiError> {
    let mut found = listed(operation.document, operation.item, &operation.place())?;
    for parameter in listed(operation.document, operation.operation, &operation.place())? {
        let same = |known: &ApiParameter<'_>| {
            (known.name, known.place) == (parameter.name, parameter.place)
        };
        match found.iter().position(same) {
            Some(at) => found[at] = parameter,
            None => found.push(parameter),
        }
    }
    let described = |name: &str| {
        found.iter().any(|parameter| parameter.place == "path" && parameter.name == name)
    };
    let missing = placeholders(operation.path).filter(|name| !described(name));
    arguments
        .notes
        .extend(missing.map(|name| format!("{{{name}}} of the path is not a parameter")));
    for parameter in found {
        let ApiParameter { name, place, json } = parameter;
        if security::is_credential(operation.document, place, name)? {
            arguments.notes.push(format!("{name} ({place}): the host's, no argument"));
            continue;
        }
        let said = format!("the parameter `{}` of `{}`", one_line(name), operation.place());
        let schema = match (json.get("schema"), content(json)) {
            (Some(schema), _) => copier.copy(schema, &said)?,
            (None, Some(MediaContent { schema: Some(schema), .. })) => {
                copier.copy(schema, &said)?
            }
            _ => Json::Object(Vec::new()),
        };
        let Json::Object(mut members) = schema else { continue };
        for key in ["description", "deprecated"] {
            if let Some(value) = json.get(key) {
                members.retain(|(name, _)| **name != *key);
                members.push((key.into(), value.clone()));
            }
        }
        members.extend(request::parameter_form(json));
        let required = place == "path" || json.get("required") == Some(&Json::Bool(true));
        arguments.add(place, name, Json::Object(members), required);
    }
    Ok(())
}

/// Returns the names in braces of a path.
fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

/// Returns the parameters in one list.
fn listed<'d>(
    document: &ApiDocument<'d>,
    from: &'d Json,
    place: &str,
) -> Result<Vec<ApiParameter<'d>>, ApiError> {
    let list = match from.get("parameters") {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Array(list)) => list,
        Some(other) => {
            let kind = other.kind();
            return Err(ApiError::new(format!(
                "`parameters` of `{place}` is {kind}, not an array"
            )));
        }
    };
    let mut found = Vec::new();
    for (at, parameter) in list.iter().enumerate() {
        let said = format!("parameter {} of `{place}`", at + 1);
        let json = document.object(parameter, &said)?;
        let text = |key: &str| json.get(key).and_then(Json::as_str);
        let name = text("name").ok_or_else(|| ApiError::new(format!("{said} has no `name`")))?;
        let known = text("in").and_then(|place| PLACES.into_iter().find(|known| *known == place));
        let place = known.ok_or_else(|| {
            let shown = json
                .get("in")
                .map_or_else(|| "no `in`".to_owned(), |shown| format!("`in: {shown}`"));
            ApiError::new(format!("{said} (`{}`) has {}", one_line(name), one_line(&shown)))
                .help("`in` is `path`, `query`, `header` or `cookie`")
        })?;
        found.push(ApiParameter { name, place, json });
    }
    Ok(found)
}

/// Adds the members of a body as arguments. A body without known members is one argument.
fn body(
    operation: &FoundOperation<'_>,
    copier: &mut SchemaCopier<'_>,
    arguments: &mut ApiArguments,
) -> Result<(), ApiError> {
    let Some(json) = operation.operation.get("requestBody").filter(|json| **json != Json::Null)
    else {
        return Ok(());
    };
    let place = format!("the body of `{}`", operation.place());
    let json = operation.document.object(json, &place)?;
    let required = json.get("required") == Some(&Json::Bool(true));
    let Some(MediaContent { media, schema, .. }) = content(json) else {
        arguments.notes.push("the body has no content: any JSON is accepted".into());
        arguments.add("body", "body", Json::Object(Vec::new()), required);
        return Ok(());
    };
    if !is_json(media) {
        arguments.notes.push(format!("the body is {media}"));
    }
    let schema = match schema {
        Some(schema) => copier.copy(schema, &place)?,
        None => Json::Object(Vec::new()),
    };
    let whole = flat(&schema, copier)?;
    let Some(Json::Object(properties)) = whole.as_ref().and_then(|whole| whole.get("properties"))
    else {
        arguments.add("body", "body", described(schema, json), required);
        return Ok(());
    };
    let whole = whole.as_ref().unwrap_or(&schema);
    if !required {
        arguments.notes.push("the body may be left out".into());
    }
    if matches!(whole.get("additionalProperties"), Some(Json::Bool(true) | Json::Object(_))) {
        arguments.notes.push("the body may have more members, which a call may not".into());
    }
    for (name, property) in properties {
        let required = required && is_required(whole, name);
        arguments.add("body", name, property.clone(), required);
    }
    if let Some(Json::Array(names)) = whole.get("required") {
        let known = |name: &Json| {
            name.as_str().is_some_and(|name| properties.iter().any(|(known, _)| **known == *name))
        };
        let unknown = names.iter().filter(|name| !known(name));
        arguments.notes.extend(
            unknown.map(|name| one_line(&format!("the body: required {name} is not checked"))),
        );
    }
    let Json::Object(members) = whole else { return Ok(()) };
    let rest = members.iter().filter(|(key, _)| !BODY_KEYWORDS.contains(&&**key));
    arguments.rest.extend(rest.cloned());
    Ok(())
}

/// Returns a schema with the description of its body.
fn described(schema: Json, body: &Json) -> Json {
    let Json::Object(mut members) = schema else { return schema };
    if let (None, Some(said)) =
        (members.iter().find(|(key, _)| **key == *"description"), body.get("description"))
    {
        members.push(("description".into(), said.clone()));
    }
    Json::Object(members)
}

/// Returns an object whose members are known, with its references resolved; `None` for any other
/// schema.
fn flat(schema: &Json, copier: &mut SchemaCopier<'_>) -> Result<Option<Json>, ApiError> {
    // Everything on the path is copied first, so that the parts can be looked up while they are
    // joined.
    let mut reached = BTreeMap::new();
    let mut waiting = vec![schema.clone()];
    let mut seen = BTreeSet::new();
    while let Some(next) = waiting.pop() {
        if let Some(reference) = next.get("$ref").and_then(Json::as_str)
            && seen.insert(reference.to_owned())
            && let Some(target) = copier.component(reference)?
        {
            waiting.push(target.clone());
            reached.insert(reference.to_owned(), target);
        }
        if let Some(Json::Array(parts)) = next.get("allOf") {
            waiting.extend(parts.iter().cloned());
        }
    }
    let Some(whole) = merged(schema, &|reference| reached.get(reference)) else { return Ok(None) };
    let is_null = whole.get("nullable") == Some(&Json::Bool(true));
    Ok((is_object(&whole) && !has_more_members(&whole) && !is_null).then_some(whole))
}

/// Returns the schema of a success, if there is one. Several become one schema with several forms,
/// so that all of them are locked.
fn result(
    operation: &FoundOperation<'_>,
    copier: &mut SchemaCopier<'_>,
) -> Result<Option<Json>, ApiError> {
    let Some(Json::Object(responses)) = operation.operation.get("responses") else {
        return Ok(None);
    };
    let mut forms: Vec<Json> = Vec::new();
    let mut is_empty = false;
    for (status, response) in responses {
        if !(status.starts_with('2') && status.len() == 3) {
            continue;
        }
        let place = format!("the response {} of `{}`", one_line(status), operation.place());
        let response = operation.document.object(response, &place)?;
        let form = match content(response) {
            Some(MediaContent { media, schema: Some(schema), .. }) if is_json(media) => {
                copier.copy(schema, &place)?
            }
            Some(_) => Json::Object(Vec::new()),
            None => {
                is_empty = true;
                continue;
            }
        };
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    if is_empty && !forms.is_empty() {
        forms.push(Json::Object(vec![("type".into(), text("null"))]));
    }
    Ok(match forms.len() {
        0 | 1 => forms.pop().filter(|form| *form != Json::Object(Vec::new())),
        _ => Some(Json::Object(vec![("anyOf".into(), Json::Array(forms))])),
    })
}
