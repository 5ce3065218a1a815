//! The parsers of the values of options.

use serde::de::DeserializeOwned;

/// Parses a name as it stands in JSON.
///
/// # Errors
///
/// Returns the known names.
pub fn named<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    serde_json::from_value(name.into()).map_err(|error| {
        let text = error.to_string();
        text.split(" at line").next().unwrap_or_default().to_owned()
    })
}
