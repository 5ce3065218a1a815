//! The members of arguments and results that what is looked for depends on, by name: they are changed more often.

use guard_plan::json::Json;
use guard_plan::random::Rng;
use std::collections::BTreeSet;

/// The chance, in a hundred, that a change is made there.
const OFTEN: usize = 60;

/// Names of members; none where nothing is known of what matters.
#[derive(Clone, Default)]
pub(crate) struct Focus(BTreeSet<String>);

impl Focus {
    /// The focus on these members.
    pub fn new(names: BTreeSet<String>) -> Self {
        Focus(names)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Chooses one of so many places, of which these are in focus.
    pub(super) fn choose(&self, count: usize, seen: &[usize], rng: &mut Rng) -> usize {
        if !seen.is_empty() && seen.len() < count && rng.chance(OFTEN) {
            *rng.pick(seen)
        } else {
            rng.below(count)
        }
    }

    /// Chooses one of some values, often one with a member in focus.
    pub(super) fn choose_one(&self, all: &[Json], rng: &mut Rng) -> usize {
        let seen: Vec<usize> = (0..all.len()).filter(|at| self.is_within(&all[*at])).collect();
        self.choose(all.len(), &seen, rng)
    }

    fn is_within(&self, json: &Json) -> bool {
        match json {
            Json::Array(items) => items.iter().any(|item| self.is_within(item)),
            Json::Object(members) => {
                members.iter().any(|(name, value)| self.contains(name) || self.is_within(value))
            }
            _ => false,
        }
    }

    /// Collects the values that are neither arrays nor objects, in order, each with whether it stands within a member in focus.
    pub(super) fn leaves(&self, json: &Json, inside: bool, all: &mut Vec<(Json, bool)>) {
        match json {
            Json::Array(items) => items.iter().for_each(|item| self.leaves(item, inside, all)),
            Json::Object(members) => {
                for (name, value) in members {
                    self.leaves(value, inside || self.contains(name), all);
                }
            }
            leaf => all.push((leaf.clone(), inside)),
        }
    }
}
