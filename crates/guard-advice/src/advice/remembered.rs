//! A world that is asked each question at most once, for any number of judged calls.

use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::Ran;
use guard_runtime::World;
use std::collections::HashMap;
use std::hash::Hash;

/// The answers of a world so far.
pub(super) struct Remembered<'w> {
    world: &'w mut dyn World,
    exists: HashMap<Box<str>, Option<bool>>,
    probes: HashMap<Box<str>, Option<Json>>,
    files: HashMap<Box<str>, Option<bool>>,
    contains: HashMap<(Box<str>, Box<str>), Option<bool>>,
    hashes: HashMap<Box<str>, Option<Option<String>>>,
    runs: HashMap<Vec<String>, Option<Ran>>,
    committed: Option<Option<bool>>,
}

impl<'w> Remembered<'w> {
    pub fn new(world: &'w mut dyn World) -> Self {
        Remembered {
            world,
            exists: HashMap::new(),
            probes: HashMap::new(),
            files: HashMap::new(),
            contains: HashMap::new(),
            hashes: HashMap::new(),
            runs: HashMap::new(),
            committed: None,
        }
    }
}

/// Returns an earlier answer, or asks for a new one.
fn once<K: Hash + Eq, A: Clone>(known: &mut HashMap<K, A>, key: K, ask: impl FnOnce() -> A) -> A {
    known.entry(key).or_insert_with(ask).clone()
}

impl World for Remembered<'_> {
    fn exists(&mut self, path: &str) -> Option<bool> {
        once(&mut self.exists, path.into(), || self.world.exists(path))
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        once(&mut self.probes, name.into(), || self.world.probe(name))
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        once(&mut self.files, path.into(), || self.world.file(path))
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        once(&mut self.contains, (path.into(), text.into()), || self.world.contains(path, text))
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        once(&mut self.hashes, path.into(), || self.world.sha256(path))
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        once(&mut self.runs, command.argv.clone(), || self.world.run(command))
    }

    fn committed(&mut self) -> Option<bool> {
        *self.committed.get_or_insert_with(|| self.world.committed())
    }
}
