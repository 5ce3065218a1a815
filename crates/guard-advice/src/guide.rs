//! What an agent should read before it begins: a plan as instructions, in Markdown.
//!
//! Pure text from the plan alone: no session, no world, and the same plan gives the same words. What governs several
//! tools is said once for all of them. What has no effect on the agent's calls is left out: rules in shadow,
//! monitored invariants, how often a stop may be blocked.

mod answers;
mod items;
mod session;
mod tools;
mod types;

use guard_plan::plan::Plan;
use std::fmt::Display;

/// The text an agent should read up front: its tools, what each needs, the limits, how refusals read, items, feedback,
/// and what must hold before it may stop (language reference §9a). A guard in shadow reads as it will when it bites.
pub fn guide(plan: &Plan) -> String {
    let mut page = Page::default();
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

/// Markdown as it grows: blocks with an empty line between, lists without.
#[derive(Default)]
struct Page {
    out: String,
    in_list: bool,
}

impl Page {
    fn block(&mut self, text: impl Display) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&format!("{text}\n"));
        self.in_list = false;
    }

    /// A line that ends in a colon, and the list under it.
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

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String], and: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} {and} {last}", head.join(", ")),
    }
}

/// A documentation text as one paragraph.
fn paragraph(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
