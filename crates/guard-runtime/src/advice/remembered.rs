//! A world that is asked each question once, however many calls are judged.

use crate::world::World;
use guard_plan::json::Json;
use std::collections::HashMap;

/// The answers of a world so far.
pub(super) struct Remembered<'w> {
    world: &'w mut dyn World,
    exists: HashMap<Box<str>, Option<bool>>,
    probes: HashMap<Box<str>, Option<Json>>,
}

impl<'w> Remembered<'w> {
    pub fn new(world: &'w mut dyn World) -> Self {
        Remembered { world, exists: HashMap::new(), probes: HashMap::new() }
    }
}

impl World for Remembered<'_> {
    fn exists(&mut self, path: &str) -> Option<bool> {
        if let Some(answer) = self.exists.get(path) {
            return *answer;
        }
        let answer = self.world.exists(path);
        self.exists.insert(path.into(), answer);
        answer
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        if let Some(answer) = self.probes.get(name) {
            return answer.clone();
        }
        let answer = self.world.probe(name);
        self.probes.insert(name.into(), answer.clone());
        answer
    }
}
