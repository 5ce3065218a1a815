//! Members of a record's JSON that are omitted if they say nothing, and members that may be `null`.

use crate::json::Json;
use serde::Deserialize;
use std::borrow::Cow;

pub(super) fn is_empty<T>(items: &[T]) -> bool {
    items.is_empty()
}

pub(super) fn is_nothing(text: &str) -> bool {
    text.is_empty()
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}

/// Deserializes a member that is present as `Some`, even if it is `null`.
pub(super) fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'static, Json>>, D::Error> {
    Json::deserialize(deserializer).map(|json| Some(Cow::Owned(json)))
}
