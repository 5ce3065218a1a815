//! The pages of `docs/codes/`, and the explanations of the reason codes.

use guard_plan::verdict::Code;
use guard_plan::words;

/// Code and page, sorted; made by `build.rs`.
static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/codes.rs"));

/// Returns the page of a code.
pub fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| name.eq_ignore_ascii_case(code)).map(|(_, page)| *page)
}

/// Returns every code, sorted.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().copied()
}

/// Returns the first line of a page without its mark and code.
pub fn title(page: &str) -> &str {
    let line = page.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim();
    let rest = line.get(5..).filter(|_| line.starts_with('G')).unwrap_or(line);
    rest.trim_start_matches([':', '.', ' ', '-', '—'])
}

/// Explains a reason code: its meaning and the remedy.
pub fn reason(code: &str) -> Option<(&'static str, String)> {
    let code = Code::ALL.into_iter().find(|c| c.as_str() == code)?;
    let meaning = words::meaning(code);
    let remedy = [meaning.remedy, meaning.author].join(" ");
    Some((meaning.means, remedy.trim_end().to_owned()))
}

/// Returns the names of the reason codes.
pub fn reasons() -> impl Iterator<Item = (&'static str, &'static str)> {
    Code::ALL.into_iter().map(|code| (code.as_str(), words::meaning(code).means))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_no_code() {
        assert_eq!(title("# G0123: unknown name\n\ntext"), "unknown name");
        assert_eq!(title("\n# Unknown name\n"), "Unknown name");
        assert_eq!(title(""), "");
    }
}
