//! The file system as a test has stated it so far. It converts the files of a session to the steps
//! that state them.

use super::test_nodes::node;
use guard_syntax::ast::{Spanned, TestStepKind};
use std::collections::HashMap;

/// The existing files, each with the texts that it contains.
#[derive(Default)]
pub struct StatedFiles(HashMap<String, Vec<String>>);

impl StatedFiles {
    /// Returns the step that states whether a file exists, if the test has stated something else.
    /// Initially no file exists.
    pub fn exists(&mut self, path: &str, there: bool) -> Option<TestStepKind> {
        if there == self.0.contains_key(path) {
            return None;
        }
        if there {
            _ = self.0.insert(path.to_owned(), Vec::new());
        } else {
            _ = self.0.remove(path);
        }
        Some(TestStepKind::Exists(there, quoted(path)))
    }

    /// Returns the step that states whether a file contains a text, if the test has stated
    /// something else. A step replaces the whole file, so it repeats the other texts of the file.
    pub fn contains(&mut self, path: &str, text: &str, contained: bool) -> Option<TestStepKind> {
        let texts = self.0.get(path);
        let whole = texts.map(|texts| texts.join("\n"));
        if contained == whole.is_some_and(|whole| whole.contains(text)) {
            return None;
        }
        let mut texts = texts.cloned().unwrap_or_default();
        if contained {
            texts.push(text.to_owned());
        } else if text.is_empty() {
            // Every file contains the empty text.
            return self.exists(path, false);
        } else {
            texts.retain(|held| !held.contains(text));
        }
        let step = TestStepKind::File(quoted(path), quoted(&texts.join("\n")));
        self.0.insert(path.to_owned(), texts);
        Some(step)
    }
}

fn quoted(text: &str) -> Spanned<String> {
    node(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(step: Option<TestStepKind>) -> Option<String> {
        step.map(|step| match step {
            TestStepKind::Exists(there, path) => format!("{there} {}", path.node),
            TestStepKind::File(path, text) => format!("{} {:?}", path.node, text.node),
            _ => "another step".to_owned(),
        })
    }

    #[test]
    fn a_step_says_what_else_the_file_contains() {
        let mut files = StatedFiles::default();
        assert_eq!(said(files.contains("/a", "x", false)), None);
        assert_eq!(said(files.contains("/a", "x", true)).as_deref(), Some("/a \"x\""));
        assert_eq!(said(files.exists("/a", true)), None);
        assert_eq!(said(files.contains("/a", "y", true)).as_deref(), Some("/a \"x\\ny\""));
        assert_eq!(said(files.contains("/a", "x", true)), None);
        assert_eq!(said(files.contains("/a", "x", false)).as_deref(), Some("/a \"y\""));
        assert_eq!(said(files.contains("/a", "y", false)).as_deref(), Some("/a \"\""));
        assert_eq!(said(files.contains("/a", "", false)).as_deref(), Some("false /a"));
        assert_eq!(said(files.exists("/a", false)), None);
    }
}
