//! A badge: one line, one colour.

use super::tiers;
use crate::run::Report;

/// The width of a character, in tenths of a pixel; approximate.
const CHAR: usize = 66;

/// Returns an SVG with the adapter's result: the tiers without a finding, or the number of failed
/// cases.
pub fn badge(report: &Report) -> String {
    let wrong = report.outcomes.iter().filter(|one| one.is_finding()).count();
    let whole = tiers(report).iter().filter(|tier| tier.passed == tier.total).count();
    let (text, colour) = match (wrong, report.count("passed")) {
        (0, 0) => ("nothing judged".to_owned(), "#777777"),
        (0, passed) => (format!("{whole} of 6 tiers, {passed} cases"), "#2c7a3f"),
        (wrong, _) => (format!("{wrong} findings"), "#b3261e"),
    };
    let (left, right) = (width("guard"), width(&text));
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
