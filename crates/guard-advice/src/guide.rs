//! The guide for an agent: a plan as instructions, in Markdown.
//!
//! The guide is a pure function of the plan: it uses no session and no world, and the same plan
//! gives the same text. A rule on several tools is described once. Rules without effect on the
//! agent's calls are omitted: rules in shadow mode, monitored invariants, the number of blocked
//! stops.

mod answers;
mod items;
mod session;
mod tools;
mod types;

use guard_plan::plan::Plan;
use std::fmt::Display;

/// Returns the guide for an agent: its tools and their requirements, the limits, the form of
/// refusals, items, feedback, and the conditions of a stop (language reference §9a). A guard in
/// shadow is described as if it were enforced.
pub fn guide(plan: &Plan) -> String {
    let mut page = MarkdownPage::default();
    session::opening(plan, &mut page);
    tools::tools(plan, &mut page);
    tools::shared(plan, &mut page);
    session::state(plan, &mut page);
    items::items(plan, &mut page);
    session::feedback(plan, &mut page);
    session::completion(plan, &mut page);
    session::goals(plan, &mut page);
    answers::answers(plan, &mut page);
    types::types(plan, &mut page);
    page.out
}

/// A Markdown page under construction: blocks are separated by an empty line, items of lists are
/// not.
#[derive(Default)]
struct MarkdownPage {
    out: String,
    in_list: bool,
}

impl MarkdownPage {
    fn block(&mut self, text: impl Display) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&format!("{text}\n"));
        self.in_list = false;
    }

    /// Adds a line that ends in a colon, and the list under it.
    fn lead(&mut self, text: impl Display) {
        self.block(text);
        self.in_list = true;
    }

    fn item(&mut self, text: impl Display) {
        self.deeper(0, text);
    }

    fn deeper(&mut self, depth: usize, text: impl Display) {
        if !self.in_list && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.in_list = true;
        self.out.push_str(&format!("{}- {text}\n", "  ".repeat(depth)));
    }
}

/// Formats a list: `a`, `a and b`, `a, b and c`.
fn listed(names: &[String], and: &str) -> String {
    match names {
        [] => String::new(),
        [tool] => tool.clone(),
        [head @ .., last] => format!("{} {and} {last}", head.join(", ")),
    }
}

/// Formats a documentation text as one paragraph.
fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
