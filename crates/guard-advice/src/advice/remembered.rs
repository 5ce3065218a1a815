//! A world that is asked each question at most once, for any number of judged calls.

use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Content, Ran};
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
    texts: HashMap<Box<str>, Option<Content>>,
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
            texts: HashMap::new(),
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

    fn text(&mut self, path: &str) -> Option<Content> {
        once(&mut self.texts, path.into(), || self.world.text(path))
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

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::record::RunEnd;

    /// A world that answers everything, and counts.
    #[derive(Default)]
    struct Counting(u32);

    impl Counting {
        fn answer<T>(&mut self, answer: T) -> Option<T> {
            self.0 += 1;
            Some(answer)
        }
    }

    impl World for Counting {
        fn exists(&mut self, _: &str) -> Option<bool> {
            self.answer(true)
        }

        fn probe(&mut self, _: &str) -> Option<Json> {
            self.answer(Json::Bool(true))
        }

        fn file(&mut self, _: &str) -> Option<bool> {
            self.answer(true)
        }

        fn contains(&mut self, _: &str, _: &str) -> Option<bool> {
            self.answer(true)
        }

        fn text(&mut self, _: &str) -> Option<Content> {
            self.answer(Content::Missing)
        }

        fn sha256(&mut self, _: &str) -> Option<Option<String>> {
            self.answer(None)
        }

        fn run(&mut self, _: &Command) -> Option<Ran> {
            let (output, stdout) = (String::new(), String::new());
            self.answer(Ran { ended: RunEnd::Exited(0), output, stdout })
        }

        fn committed(&mut self) -> Option<bool> {
            self.answer(true)
        }
    }

    /// A method that is not forwarded has its default, "unknown", and advice would differ from the
    /// verdict.
    #[test]
    fn every_question_reaches_the_world_once() {
        let mut counting = Counting::default();
        let mut world = Remembered::new(&mut counting);
        let command = Command { argv: vec!["x".into()], env: Vec::new(), within: 1 };
        for _ in 0..2 {
            assert_eq!(world.exists("a"), Some(true));
            assert_eq!(world.probe("a"), Some(Json::Bool(true)));
            assert_eq!(world.file("a"), Some(true));
            assert_eq!(world.contains("a", "b"), Some(true));
            assert_eq!(world.text("a"), Some(Content::Missing));
            assert_eq!(world.sha256("a"), Some(None));
            assert!(world.run(&command).is_some());
            assert_eq!(world.committed(), Some(true));
        }
        assert_eq!(counting.0, 8);
    }
}
