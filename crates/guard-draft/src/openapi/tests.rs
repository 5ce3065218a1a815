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

#[test]
fn a_definition_says_where_calls_and_credentials_go() {
    let operation = r#""parameters": [{"name": "ids", "in": "query", "explode": true, "style": "form", "schema": {"type": "array"}},
        {"name": "at", "in": "query", "content": {"application/json": {"schema": {}}}}],
        "requestBody": {"content": {"multipart/form-data": {"encoding": {"x": {"contentType": "text/plain"}}, "schema": {"type": "object", "properties": {"x": {}}}}}}"#;
    let others = r##""servers": [{"url": "https://{host}", "description": "Main", "variables": {"host": {"default": "good.example"}}}],
        "security": [{"o": []}],
        "components": {"securitySchemes": {"o": {"$ref": "#/x-shared"}, "other": {"type": "http"}}},
        "x-shared": {"type": "oauth2", "description": "Ours", "flows": {"clientCredentials": {"tokenUrl": "https://auth.example/t", "scopes": {}}}}"##;
    let whole = document(operation, others);
    let definition = |text: &str| {
        let api = ApiTools::read(text.as_bytes()).expect("a document");
        api.definitions()[0].sorted().to_string()
    };
    let known = definition(&whole);
    for (before, after) in [
        ("good.example", "evil.example"),
        ("auth.example", "evil.example"),
        ("\"explode\": true", "\"explode\": false"),
        ("\"style\": \"form\"", "\"style\": \"pipeDelimited\""),
        ("application/json", "application/x-json"),
        ("multipart/form-data", "application/x-www-form-urlencoded"),
        ("text/plain", "text/html"),
    ] {
        assert!(whole.contains(before), "{before}");
        assert_ne!(definition(&whole.replace(before, after)), known, "{before}");
    }
    for (before, after) in [("Main", "Other"), ("Ours", "Theirs"), ("\"http\"", "\"mutualTLS\"")] {
        assert_eq!(definition(&whole.replace(before, after)), known, "{before}");
    }
}

#[test]
fn definitions_have_a_total_size() {
    let operation = r##"{"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/x-body"}}}}}}"##;
    let paths: Vec<String> = (0..70).map(|at| format!(r#""/{at}": {operation}"#)).collect();
    let text = "d".repeat(1 << 20);
    let whole = format!(
        r#"{{"openapi": "3.1.0", "paths": {{{}}}, "x-body": {{"type": "object", "properties": {{"a": {{"description": "{text}"}}}}}}}}"#,
        paths.join(",")
    );
    let reason = ApiTools::read(whole.as_bytes()).map(|_| ()).unwrap_err();
    assert!(reason.message.contains("64 MiB"), "{reason}");
}

#[test]
fn a_required_member_without_a_schema_is_noted() {
    let operation = r#""requestBody": {"required": true, "content": {"application/json": {"schema":
        {"type": "object", "required": ["ghost", "x"], "properties": {"x": {"type": "string"}}}}}}"#;
    let guard = guard(&document(operation, r#""info": {}"#));
    assert!(guard.contains("\n// the body: required \"ghost\" is not checked\n"), "{guard}");
    assert!(!guard.contains("required \"x\""), "{guard}");
}
