//! The content of calls and results by media types.

use guard_plan::json::Json;

/// A media type and its description in the document.
pub(super) struct MediaContent<'d> {
    pub media: &'d str,
    pub json: &'d Json,
    pub schema: Option<&'d Json>,
}

/// Returns the content of a call or a result: JSON if there is some, otherwise a form, otherwise
/// the first.
pub(super) fn content(json: &Json) -> Option<MediaContent<'_>> {
    let Some(Json::Object(types)) = json.get("content") else { return None };
    let rank = |(media, _): &&(Box<str>, Json)| match () {
        () if is_json(media) => 0,
        () if is_form(media) => 1,
        () => 2,
    };
    let (media, json) = types.iter().min_by_key(rank)?;
    Some(MediaContent { media, json, schema: json.get("schema") })
}

fn bare_media(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn is_json(media: &str) -> bool {
    let bare = bare_media(media);
    matches!(&*bare, "application/json" | "application/*" | "*/*") || bare.ends_with("+json")
}

fn is_form(media: &str) -> bool {
    matches!(&*bare_media(media), "application/x-www-form-urlencoded" | "multipart/form-data")
}
