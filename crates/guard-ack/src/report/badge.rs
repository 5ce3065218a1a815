//! A badge: one line, one colour.

use super::{Conformance, standing};
use crate::run::AckReport;

/// The width of a character, in tenths of a pixel; approximate.
const CHAR: usize = 66;

/// Returns an SVG with the conformance of the adapter. Only an adapter that passes every case of
/// every tier is green.
pub fn badge(report: &AckReport) -> String {
    let (standing, text) = standing(report);
    let colour = match standing {
        Conformance::Full => "#2c7a3f",
        Conformance::Partial => "#9a6700",
        Conformance::Failed => "#b3261e",
        Conformance::NotJudged => "#777777",
    };
    let left = width("guard");
    let right = width(&text);
    let whole = left + right;
    format!(
        concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label="guard: {text}">"#,
            r##"<rect width="{left}" height="20" fill="#444444"/><rect x="{left}" width="{right}" height="20" fill="{colour}"/>"##,
            r##"<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">"##,
            r#"<text x="6" y="14">guard</text><text x="{at}" y="14">{text}</text></g></svg>"#,
            "\n"
        ),
        whole = whole,
        text = text,
        left = left,
        right = right,
        colour = colour,
        at = left + 6,
    )
}

fn width(text: &str) -> usize {
    text.chars().count() * CHAR / 10 + 12
}
