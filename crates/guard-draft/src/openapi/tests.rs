//! Tests of the definitions and guards of whole documents.

use super::ApiTools;

/// Returns a document with one operation `POST /a` with these members, and the other members of the
/// document.
fn document(operation: &str, others: &str) -> String {
    format!(
        r#"{{"openapi": "3.1.0", "paths": {{"/a": {{"post": {{"operationId": "a", {operation}}}}}}}, {others}}}"#
    )
}

fn guard(document: &str) -> String {
    match ApiTools::read(document.as_bytes()) {
        Ok(api) => api.guard_text("a", &|_| true),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn a_credential_behind_references_is_no_argument() {
    let operation = r#""parameters": [{"name": "key", "in": "query", "schema": {}}]"#;
    let schemes = r##""components": {"securitySchemes": {"k": {"$ref": "#/x-shared/k"}}}"##;
    let shared = r#""x-shared": {"k": {"type": "apiKey", "in": "query", "name": "key"}}"#;
    let guard_of = |others: &str| guard(&document(operation, others));
    assert!(guard_of(&format!("{schemes}, {shared}")).contains("tool a()"));
    let missing = guard_of(schemes);
    assert!(missing.starts_with("error: the security scheme `k` refers to"), "{missing}");
}
