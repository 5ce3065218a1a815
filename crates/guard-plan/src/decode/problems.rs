//! Problems of a value, each with the path to it.

use crate::render;
use std::fmt;

/// The maximum number of problems that are reported for one value.
pub const MAX_PROBLEMS: usize = 32;

/// A problem of a value: its path and a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeProblem {
    /// The path to the value, such as `items[2].price`; empty for the whole value.
    pub path: String,
    /// The problem, and what was expected.
    pub message: String,
}

impl fmt::Display for DecodeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.path, self.message)
        }
    }
}

/// One step of the path to a problem.
#[derive(Clone, Copy)]
pub(super) enum PathStep<'s> {
    Field(&'s str),
    Index(usize),
    Key(&'s str),
}

/// The path to the current value, and the problems so far.
#[derive(Default)]
pub(super) struct Trail<'s> {
    steps: Vec<PathStep<'s>>,
    pub problems: Vec<DecodeProblem>,
    /// True inside of a secret, where values are not shown.
    pub secret: bool,
}

impl<'s> Trail<'s> {
    /// Reports a problem at the current path.
    pub fn problem(&mut self, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(DecodeProblem { path: way(&self.steps), message });
        }
    }

    /// Reports a problem because of which there is no value.
    pub fn refused<T>(&mut self, message: String) -> Option<T> {
        self.problem(message);
        None
    }

    /// Takes one step, runs the function, and goes back.
    pub fn at<T>(&mut self, step: PathStep<'s>, go: impl FnOnce(&mut Self) -> T) -> T {
        // The keys of a secret map are as secret as its values.
        self.steps.push(match step {
            PathStep::Key(_) if self.secret => PathStep::Key(render::SECRET),
            step => step,
        });
        let result = go(self);
        self.steps.pop();
        result
    }

    /// Returns the value, unless there were problems.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<DecodeProblem>> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(self.problems),
        }
    }
}

/// Writes a path as a message names it.
fn way(steps: &[PathStep<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            PathStep::Field(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&render::cut(name, 60));
            }
            PathStep::Index(index) => out.push_str(&format!("[{index}]")),
            PathStep::Key(key) => out.push_str(&format!("[\"{}\"]", render::cut(key, 60))),
        }
    }
    out
}
