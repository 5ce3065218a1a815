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
        self.raw(prose(&text.to_string()));
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

/// Escapes HTML in the paragraphs of a text, and leaves its code blocks unchanged. A text with any
/// other fence is escaped as a whole.
fn prose(text: &str) -> String {
    let mut parts = vec![(false, Vec::new())];
    for line in text.lines() {
        let ends = line == "```";
        let begins = line.strip_prefix("```").is_some_and(|info| !info.contains('`'));
        match parts.last_mut() {
            Some((true, code)) => {
                code.push(line);
                if ends {
                    parts.push((false, Vec::new()));
                }
            }
            _ if begins => parts.push((true, vec![line])),
            Some((false, lines)) => lines.push(line),
            None => {}
        }
    }
    let is_odd = |(is_code, lines): &(bool, Vec<&str>)| {
        if *is_code {
            lines.len() < 2 || lines.last() != Some(&"```")
        } else {
            lines.iter().any(|line| line.contains("```") || line.contains("~~~"))
        }
    };
    if parts.iter().any(is_odd) {
        return plain(text);
    }
    let shown = parts.iter().filter(|(_, lines)| !lines.is_empty()).map(|(is_code, lines)| {
        let lines = lines.join("\n");
        if *is_code { lines } else { plain(&lines) }
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Escapes HTML in a text. Code stays unchanged if every reader of Markdown finds it in the same
/// place: its backticks stand alone, none is escaped, and each has its pair on its line.
fn plain(text: &str) -> String {
    let is_even = |line: &str| line.matches('`').count().is_multiple_of(2);
    let is_plain = !["``", "\\`", "~~~"].iter().any(|odd| text.contains(odd));
    let paired = is_plain && text.lines().all(is_even);
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
        for text in [
            "``` <script> `",
            "\\`<script>`",
            "a ` b\nc `<script>` d `",
            "~~~\n`\n~~~\n<script>`",
            "`` ` `` <script> ``",
            "```\n<script>",
            "- ```\n<script>\n```",
            "~~~\n```\n~~~\n<script>\n```",
            "```\n```\n<script>",
            "> ```\n```\n<script>\n```",
        ] {
            assert!(!prose(text).contains("<script>"), "{text}");
            assert!(!plain(text).contains("<script>"), "{text}");
        }
        let code = "as in\n\n```sh\na < b && `c`\n```\nwhere `a<b>` & c";
        assert_eq!(prose(code), code.replace("& c", "&amp; c"));
    }

    #[test]
    fn only_a_whole_name_is_linked() {
        assert_eq!(linked("`lints`, `lint`", "tool", "lint"), "`lints`, [`lint`](#tool-lint)");
    }
}
