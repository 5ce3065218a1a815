//! The host's answers to its own probes, in front of another world that answers all other
//! questions.

use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Content, Ran};
use guard_runtime::World;
use std::collections::BTreeMap;

/// A world whose host has answered some probes. All other questions go to the inner world.
#[derive(Debug, Clone, Default)]
pub struct AnsweringWorld<W> {
    /// The inner world.
    pub world: W,
    /// The host's latest answer to each probe.
    pub(crate) answers: BTreeMap<String, Json>,
}

impl<W> AnsweringWorld<W> {
    pub(crate) fn new(world: W) -> AnsweringWorld<W> {
        AnsweringWorld { world, answers: BTreeMap::new() }
    }

    /// The answers in the form of snapshots.
    pub(crate) fn answer_list(&self) -> Vec<(Box<str>, Json)> {
        self.answers.iter().map(|(name, json)| (name.as_str().into(), json.clone())).collect()
    }
}

impl<W: World> World for AnsweringWorld<W> {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.world.exists(path)
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.answers.get(name).cloned().or_else(|| self.world.probe(name))
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.world.file(path)
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        self.world.contains(path, text)
    }

    fn text(&mut self, path: &str) -> Option<Content> {
        self.world.text(path)
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        self.world.sha256(path)
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        self.world.run(command)
    }

    fn committed(&mut self) -> Option<bool> {
        self.world.committed()
    }
}
