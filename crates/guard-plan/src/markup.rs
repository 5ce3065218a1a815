//! Text within markup: HTML, SVG and XML, and formats with the same entities (feedback blocks,
//! Markdown).

/// Returns the entity of a character that begins or ends a tag or an entity; `None` for any other
/// character.
pub fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

/// Escapes all characters of a text that could end it, in content and in attributes. Control
/// characters that XML does not permit become U+FFFD.
///
/// ```
/// assert_eq!(guard_plan::markup::escape("<a b='c'> & \u{0}"), "&lt;a b=&#39;c&#39;&gt; &amp; \u{fffd}");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '<' | '>' => out.extend(entity(c)),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
