//! Questions to the outside, each asked at most once a decision, and their answers.

use guard_plan::json::Json;
use guard_plan::plan::ProbeId;
use guard_plan::record::Asked;
use guard_plan::value::{Fault, Value};
use std::cell::RefCell;

/// Whoever can look at the world outside the kernel. No answer is `None`; the rule that asked then denies.
pub trait World {
    /// Whether the file at a normalised absolute path exists.
    fn exists(&mut self, path: &str) -> Option<bool>;
    /// What a probe answers.
    fn probe(&mut self, name: &str) -> Option<Json>;
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
