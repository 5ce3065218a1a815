//! The security of an operation: credentials belong to the host, and are not arguments of an agent.

use super::document::ApiDocument;
use super::{ApiError, FoundOperation};
use crate::text::one_line;
use guard_plan::json::Json;

/// Headers that the specification leaves to the content of the message and to security.
const OWN_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// Returns true if a parameter is a credential, or a header that is not a parameter.
pub(super) fn is_credential(
    document: &ApiDocument<'_>,
    place: &str,
    name: &str,
) -> Result<bool, ApiError> {
    let is_header = place == "header";
    if is_header && OWN_HEADERS.contains(&&*name.to_ascii_lowercase()) {
        return Ok(true);
    }
    for (scheme_name, scheme) in schemes(document) {
        let scheme = document.object(scheme, &said(scheme_name))?;
        let text = |key: &str| scheme.get(key).and_then(Json::as_str).unwrap_or_default();
        let same =
            if is_header { text("name").eq_ignore_ascii_case(name) } else { text("name") == name };
        if text("type") == "apiKey" && text("in") == place && same {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the security schemes of a document, with references not yet resolved.
fn schemes<'d>(document: &ApiDocument<'d>) -> &'d [(Box<str>, Json)] {
    let schemes = document.json.get("components").and_then(|parts| parts.get("securitySchemes"));
    match schemes {
        Some(Json::Object(schemes)) => schemes,
        _ => &[],
    }
}

/// Returns the name of a security scheme in errors.
fn said(name: &str) -> String {
    format!("the security scheme `{}`", one_line(name))
}

/// Returns the security of an operation: its own, or that of the document.
pub(super) fn security<'d>(operation: &FoundOperation<'d>) -> Option<&'d Json> {
    operation.operation.get("security").or_else(|| operation.document.json.get("security"))
}

/// Returns the schemes that the security of an operation names, in the order of the document.
pub(super) fn named_schemes<'d>(
    operation: &FoundOperation<'d>,
) -> Result<Vec<(&'d str, &'d Json)>, ApiError> {
    let Some(Json::Array(ways)) = security(operation) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (name, scheme) in schemes(operation.document) {
        if ways.iter().any(|way| way.get(name).is_some()) {
            found.push((&**name, operation.document.object(scheme, &said(name))?));
        }
    }
    Ok(found)
}

/// Formats the security: `api_key, or oauth (write:pets)`.
pub(super) fn words(security: &Json) -> Option<String> {
    let Json::Array(ways) = security else { return None };
    let way = |way: &Json| match way {
        Json::Object(schemes) if !schemes.is_empty() => {
            let scheme = |(name, scopes): &(Box<str>, Json)| match scopes {
                Json::Array(scopes) if !scopes.is_empty() => {
                    let scopes: Vec<&str> = scopes.iter().filter_map(Json::as_str).collect();
                    format!("{name} ({})", scopes.join(", "))
                }
                _ => name.to_string(),
            };
            schemes.iter().map(scheme).collect::<Vec<_>>().join(" with ")
        }
        _ => "none".to_owned(),
    };
    let ways: Vec<String> = ways.iter().map(way).collect();
    let words = ways.join(", or ");
    (!ways.is_empty() && words != "none").then(|| words.chars().take(200).collect())
}
