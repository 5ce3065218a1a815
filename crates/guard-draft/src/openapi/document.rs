//! An OpenAPI document: its version, and the targets of its `$ref`s.

use super::ApiError;
use guard_plan::json::Json;

/// The maximum number of references that lead to one value.
const MAX_HOPS: usize = 32;

/// A document of a supported version.
pub(crate) struct ApiDocument<'d> {
    pub json: &'d Json,
    /// True for OpenAPI 3.0, in which the members beside a `$ref` are ignored.
    pub is_3_0: bool,
}

impl<'d> ApiDocument<'d> {
    pub fn new(json: &'d Json) -> Result<ApiDocument<'d>, ApiError> {
        if !matches!(json, Json::Object(_)) {
            return Err(ApiError::new(format!("it is {}, not an OpenAPI document", json.kind())));
        }
        if let Some(version) = json.get("swagger") {
            let message = format!("it is Swagger {}; OpenAPI 3.0 and 3.1 are known", bare(version));
            return Err(ApiError::new(message)
                .help("convert it first, for example with `npx swagger2openapi FILE -o NEW`"));
        }
        let Some(version) = json.get("openapi") else {
            return Err(ApiError::new(
                "it has no member `openapi`, which every OpenAPI document has",
            ));
        };
        // `openapi: 3.1` is a number in YAML.
        let version = bare(version);
        let begins = |known: &str| {
            version.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        match (begins("3.0"), begins("3.1")) {
            (false, false) => {
                Err(ApiError::new(format!("it is OpenAPI {version}; 3.0 and 3.1 are known")))
            }
            (is_3_0, _) => Ok(ApiDocument { json, is_3_0 }),
        }
    }

    /// Returns the value at a pointer of the document: `#/components/schemas/Pet`.
    pub fn pointed(&self, reference: &str) -> Option<&'d Json> {
        let mut target = self.json;
        for part in reference.strip_prefix("#/")?.split('/') {
            let part = percent_decoded(part)?.replace("~1", "/").replace("~0", "~");
            target = match target {
                Json::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                other => other.get(&part)?,
            };
        }
        Some(target)
    }

    /// Follows the `$ref` of a parameter, body, response or path to an object.
    pub fn object(&self, json: &'d Json, place: &str) -> Result<&'d Json, ApiError> {
        let mut target = json;
        for _ in 0..MAX_HOPS {
            match target {
                Json::Object(_) => {}
                other => {
                    let message = format!("{place} is {}, not an object", other.kind());
                    return Err(ApiError::new(message));
                }
            }
            let Some(reference) = target.get("$ref") else { return Ok(target) };
            let reference = reference
                .as_str()
                .ok_or_else(|| ApiError::new(format!("the `$ref` of {place} is not a text")))?;
            check_local(reference, place)?;
            target = self.pointed(reference).ok_or_else(|| {
                let shown = crate::text::one_line(reference);
                ApiError::new(format!(
                    "{place} refers to `{shown}`, which the document does not have"
                ))
            })?;
        }
        Err(ApiError::new(format!("the `$ref` of {place} leads nowhere: it refers to itself")))
    }
}

/// Refuses a reference to another document.
pub(super) fn check_local(reference: &str, place: &str) -> Result<(), ApiError> {
    if reference.starts_with('#') {
        Ok(())
    } else {
        let shown = crate::text::one_line(reference);
        let message = format!("{place} refers to another document: `{shown}`");
        Err(ApiError::new(message)
            .help("bundle it into one document first, for example with `npx @redocly/cli bundle`"))
    }
}

/// Returns a version as text, as it is written.
fn bare(version: &Json) -> String {
    let text = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    crate::text::one_line(&text).chars().take(20).collect()
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' && rest.len() >= 2 {
            let digits = std::str::from_utf8(&rest[..2]).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}
