//! The security of an operation: credentials belong to the host, and are not arguments of an agent.

use super::FoundOperation;
use guard_plan::json::Json;

/// Headers that the specification leaves to the content of the message and to security.
const OWN_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// Returns true if a parameter is a credential, or a header that is not a parameter.
pub(super) fn is_credential(document: &Json, place: &str, name: &str) -> bool {
    let is_header = place == "header";
    if is_header && OWN_HEADERS.contains(&&*name.to_ascii_lowercase()) {
        return true;
    }
    let schemes = document.get("components").and_then(|parts| parts.get("securitySchemes"));
    let Some(Json::Object(schemes)) = schemes else { return false };
    schemes.iter().any(|(_, scheme)| {
        let text = |key: &str| scheme.get(key).and_then(Json::as_str).unwrap_or_default();
        let same =
            if is_header { text("name").eq_ignore_ascii_case(name) } else { text("name") == name };
        text("type") == "apiKey" && text("in") == place && same
    })
}

/// Returns the security of an operation: its own, or that of the document.
pub(super) fn security<'d>(operation: &FoundOperation<'d>) -> Option<&'d Json> {
    operation.operation.get("security").or_else(|| operation.document.json.get("security"))
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
