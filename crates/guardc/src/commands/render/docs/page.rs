//! Markdown under construction.

use guard_plan::markup;
use std::fmt::Display;

/// A page of blocks that are separated by an empty line; items of lists are not.
#[derive(Default)]
pub(super) struct Page {
    /// The text.
    pub out: String,
    in_list: bool,
}

impl Page {
    /// Adds a paragraph or another separate block.
    pub fn block(&mut self, text: impl Display) {
        self.raw(plain(&text.to_string()));
    }

    /// Adds unescaped Markdown.
    pub fn raw(&mut self, text: impl Display) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&format!("{text}\n"));
        self.in_list = false;
    }

    /// Adds a heading with an anchor.
    pub fn heading(&mut self, level: usize, anchor: &str, title: &str) {
        let anchor = slug(anchor);
        self.raw(format!("{} <a id=\"{anchor}\"></a>{title}", "#".repeat(level)));
    }

    /// Adds an item of a list at a depth.
    pub fn item(&mut self, depth: usize, text: impl Display) {
        if !self.in_list && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.in_list = true;
        let text = plain(&text.to_string());
        self.out.push_str(&format!("{}- {text}\n", "  ".repeat(depth)));
    }

    /// Adds a documentation text, if any.
    pub fn doc(&mut self, doc: &str) {
        if !doc.trim().is_empty() {
            self.block(doc.trim());
        }
    }

    /// Adds a table; omitted if it has no rows.
    pub fn table<const N: usize>(&mut self, head: [&str; N], rows: Vec<[String; N]>) {
        if rows.is_empty() {
            return;
        }
        let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let mut lines =
            vec![row(&head.map(str::to_owned)), row(&[const { "---" }; N].map(str::to_owned))];
        lines.extend(rows.iter().map(|cells| row(&cells.each_ref().map(|text| cell(text)))));
        self.raw(lines.join("\n"));
    }
}

/// Formats a table cell: on one line, with escaped bars, even in code.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes HTML in a text; code stays unchanged if every backtick has its pair.
fn plain(text: &str) -> String {
    let paired = text.matches('`').count().is_multiple_of(2);
    let mut in_code = false;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        in_code ^= c == '`' && paired;
        match c {
            '<' | '&' if !in_code => out.extend(markup::entity(c)),
            c => out.push(c),
        }
    }
    out
}

/// Returns a link within the page.
pub(super) fn link(text: &str, anchor: &str) -> String {
    format!("[{text}](#{})", slug(anchor))
}

/// Removes the characters that would end an anchor.
fn slug(anchor: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    anchor.chars().map(plain).collect()
}

/// Turns the first mention of a name in backticks into a link.
pub(super) fn linked(text: &str, kind: &str, name: &str) -> String {
    let quoted = format!("`{name}`");
    text.replacen(&quoted, &link(&quoted, &format!("{kind}-{name}")), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_does_not_end_a_cell() {
        assert_eq!(cell("`a | b`\nc"), "`a \\| b` c");
    }

    #[test]
    fn nothing_is_read_as_html() {
        assert_eq!(plain("<b> & `<c>`"), "&lt;b> &amp; `<c>`");
        assert_eq!(plain("` <b>"), "` &lt;b>");
    }

    #[test]
    fn only_a_whole_name_is_linked() {
        assert_eq!(linked("`lints`, `lint`", "tool", "lint"), "`lints`, [`lint`](#tool-lint)");
    }
}
