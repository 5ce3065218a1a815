//! The request of a call: the part of a definition that no argument expresses, and whose changes
//! must be noticed, because they decide where a call and its credentials go.

use super::media::{MediaContent, content};
use super::{ApiError, FoundOperation, SchemaMembers, security};
use guard_plan::json::Json;

/// SchemaMembers of a parameter that decide how its value is written.
const FORMS: [&str; 4] = ["style", "explode", "allowReserved", "allowEmptyValue"];

/// Returns the request of an operation.
pub(super) fn request(operation: &FoundOperation<'_>) -> Result<Json, ApiError> {
    let mut members: SchemaMembers = vec![("method".into(), Json::string(operation.method))];
    members.push(("path".into(), Json::string(operation.path)));
    let servers = [operation.operation, operation.item, operation.document.json];
    let servers = servers.iter().find_map(|from| match from.get("servers") {
        Some(Json::Array(servers)) => Some(servers),
        _ => None,
    });
    // The variables of a server are part of its address.
    let servers = servers.map(|servers| servers.iter().map(undescribed).collect());
    members.extend(servers.map(|servers| ("servers".into(), Json::Array(servers))));
    members.extend(body(operation)?.map(|body| ("body".into(), body)));
    members.extend(security::security(operation).map(|known| ("security".into(), known.clone())));
    let schemes = security::named_schemes(operation)?;
    if !schemes.is_empty() {
        let scheme = |(name, scheme): (&str, &Json)| (name.into(), undescribed(scheme));
        let schemes = schemes.into_iter().map(scheme).collect();
        members.push(("securitySchemes".into(), Json::Object(schemes)));
    }
    if let Some(Json::Bool(true)) = operation.operation.get("deprecated") {
        members.push(("deprecated".into(), Json::Bool(true)));
    }
    Ok(Json::Object(members))
}

/// Returns the form in which a body is sent, if there is a body with content.
fn body(operation: &FoundOperation<'_>) -> Result<Option<Json>, ApiError> {
    let Some(json) = operation.operation.get("requestBody").filter(|json| **json != Json::Null)
    else {
        return Ok(None);
    };
    let json = operation.document.object(json, &format!("the body of `{}`", operation.place()))?;
    let Some(MediaContent { media, json, .. }) = content(json) else { return Ok(None) };
    let mut members: SchemaMembers = vec![("media".into(), Json::string(media))];
    members.extend(json.get("encoding").map(|encoding| ("encoding".into(), encoding.clone())));
    Ok(Some(Json::Object(members)))
}

/// Returns the form in which a parameter is sent, as members of the schema of its argument.
pub(super) fn parameter_form(json: &Json) -> SchemaMembers {
    let form = |key: &str| Some((format!("x-{key}").into(), json.get(key)?.clone()));
    let mut members: SchemaMembers = FORMS.into_iter().filter_map(form).collect();
    if let Some(MediaContent { media, .. }) = content(json) {
        members.push(("x-media".into(), Json::string(media)));
    }
    members
}

/// Returns an object without its description, which does not change where a call goes.
fn undescribed(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let kept = members.iter().filter(|(name, _)| **name != *"description");
            Json::Object(kept.cloned().collect())
        }
        other => other.clone(),
    }
}
