//! A simulated world: files, probes, commands, git.

use super::WORKSPACE;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Content, Ran, RunEnd};
use guard_plan::{hex, path};
use guard_runtime::World;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A simulated world: files, probes, commands, git.
#[derive(Debug, Clone, Default)]
pub struct Simulated {
    /// The existing files, by normalised path, with their contents.
    files: BTreeMap<String, String>,
    /// The answers of probes. Other probes have no answer.
    pub probes: BTreeMap<String, Json>,
    /// The results of commands: the ending and the output. Other commands cannot be run.
    pub commands: BTreeMap<Vec<String>, (RunEnd, String)>,
    /// True if there are no uncommitted changes.
    pub committed: bool,
}

impl Simulated {
    /// Creates or removes a file. Returns its full path.
    pub fn file(&mut self, name: &str, content: Option<String>) -> String {
        let whole =
            path::normalise(WORKSPACE, name).map_or_else(|_| name.to_owned(), |p| p.into_owned());
        match content {
            Some(content) => self.files.insert(whole.clone(), content),
            None => self.files.remove(&whole),
        };
        whole
    }
}

impl World for Simulated {
    fn exists(&mut self, path: &str) -> Option<bool> {
        Some(self.files.contains_key(path))
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.probes.get(name).cloned()
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.exists(path)
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        Some(self.files.get(path).is_some_and(|content| content.contains(text)))
    }

    fn text(&mut self, path: &str) -> Option<Content> {
        let text = self.files.get(path).map(|content| Content::Text(content.as_str().into()));
        Some(text.unwrap_or(Content::Missing).bounded())
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        Some(self.files.get(path).map(|content| hex::encode(&Sha256::digest(content))))
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        let (ended, output) = self.commands.get(&command.argv)?.clone();
        Some(Ran { ended, stdout: output.clone(), output })
    }

    fn committed(&mut self) -> Option<bool> {
        Some(self.committed)
    }
}
