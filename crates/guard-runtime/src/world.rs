//! Questions to the outside, each asked at most once a decision, and their answers.

use guard_plan::json::Json;
use guard_plan::plan::{Command, ProbeId};
use guard_plan::record::{Asked, Ran};
use guard_plan::value::{Fault, Value};
use std::cell::RefCell;

/// Whoever can look at the world outside the kernel. No answer is `None`: nobody can say, and the rule that asked
/// then denies. Paths are normalised and absolute.
pub trait World {
    /// Whether anything is at a path.
    fn exists(&mut self, path: &str) -> Option<bool>;
    /// What a probe answers that is asked of the host.
    fn probe(&mut self, name: &str) -> Option<Json>;
    /// Whether a regular file is at a path.
    fn file(&mut self, path: &str) -> Option<bool> {
        let _ = path;
        None
    }
    /// Whether a regular file is at a path and contains a text.
    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        let _ = (path, text);
        None
    }
    /// The SHA-256 of a regular file, in lower-case hexadecimal; `Some(None)`: there is none.
    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        let _ = path;
        None
    }
    /// Runs a command of the plan to its end, in the workspace and without a shell (semantics §12). `None`: nobody
    /// can run it.
    fn run(&mut self, command: &Command) -> Option<Ran> {
        let _ = command;
        None
    }
    /// Whether nothing in the workspace is uncommitted.
    fn committed(&mut self) -> Option<bool> {
        None
    }
}

/// A world that answers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorld;

impl World for NoWorld {
    fn exists(&mut self, _: &str) -> Option<bool> {
        None
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        None
    }
}

/// The questions that an expression may ask.
pub(crate) trait Questions {
    /// Whether a file exists.
    fn exists(&self, path: &str) -> Result<bool, Fault>;
    /// What a probe answers, decoded.
    fn probe(&self, id: ProbeId, name: &str, decode: Decode<'_>) -> Result<Value, Fault>;
}

/// Reads the answer of a probe.
pub(crate) type Decode<'d> = &'d dyn Fn(&Json) -> Result<Value, Fault>;

/// The world during one decision.
pub(crate) struct Answers<'w> {
    world: RefCell<&'w mut dyn World>,
    asked: RefCell<Vec<Asked>>,
    probed: RefCell<Vec<(ProbeId, Result<Value, Fault>)>>,
}

impl<'w> Answers<'w> {
    pub fn new(world: &'w mut dyn World) -> Self {
        Answers {
            world: RefCell::new(world),
            asked: RefCell::default(),
            probed: RefCell::default(),
        }
    }

    /// What was asked, in order.
    pub fn into_asked(self) -> Vec<Asked> {
        self.asked.into_inner()
    }
}

impl Questions for Answers<'_> {
    fn exists(&self, path: &str) -> Result<bool, Fault> {
        let known = self.asked.borrow().iter().find_map(|asked| match asked {
            Asked::Exists { path: asked, answer } if **asked == *path => Some(*answer),
            _ => None,
        });
        let answer = known.unwrap_or_else(|| {
            let answer = self.world.borrow_mut().exists(path);
            self.asked.borrow_mut().push(Asked::Exists { path: path.into(), answer });
            answer
        });
        answer.ok_or_else(|| Fault::NoAnswer(format!("nobody can say whether `{path}` exists")))
    }

    fn probe(&self, id: ProbeId, name: &str, decode: Decode<'_>) -> Result<Value, Fault> {
        if let Some((_, answer)) = self.probed.borrow().iter().find(|(known, _)| *known == id) {
            return answer.clone();
        }
        let answer = self.world.borrow_mut().probe(name);
        let value = match &answer {
            Some(json) => decode(json),
            None => Err(Fault::NoAnswer(format!("the probe `{name}` gives no answer"))),
        };
        let (answered, answer) = (answer.is_some(), answer.unwrap_or(Json::Null));
        self.asked.borrow_mut().push(Asked::Probe { name: name.into(), answered, answer });
        self.probed.borrow_mut().push((id, value.clone()));
        value
    }
}
