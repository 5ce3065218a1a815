//! Questions to the outside world, each asked at most once per decision, and their answers.

use crate::session::SessionState;
use crate::session::probes::Attempts;
use guard_plan::json::Json;
use guard_plan::plan::{Command, ProbeId};
use guard_plan::record::{Asked, Content, Ran};
use guard_plan::value::Fault;
use std::cell::{Cell, RefCell};

/// The interface to the outside world. The answer `None` means unknown, and the rule that asked
/// then denies. Paths are normalised and absolute.
pub trait World {
    /// Returns true if anything exists at a path.
    fn exists(&mut self, path: &str) -> Option<bool>;
    /// Returns the answer of a probe that the host provides.
    fn probe(&mut self, name: &str) -> Option<Json>;
    /// Returns true if a regular file exists at a path.
    fn file(&mut self, path: &str) -> Option<bool> {
        let _ = path;
        None
    }
    /// Returns true if a regular file exists at a path and contains a text.
    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        let _ = (path, text);
        None
    }
    /// Returns the content of a regular file, up to [`TEXT_BYTES`](guard_plan::record::TEXT_BYTES).
    fn text(&mut self, path: &str) -> Option<Content> {
        let _ = path;
        None
    }
    /// Returns the SHA-256 of a regular file, in lower-case hexadecimal; `Some(None)` if there is
    /// no file.
    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        let _ = path;
        None
    }
    /// Runs a command of the plan to its end, in the workspace and without a shell (semantics §12).
    /// `None` if it cannot be run.
    fn run(&mut self, command: &Command) -> Option<Ran> {
        let _ = command;
        None
    }
    /// Returns true if the workspace has no uncommitted changes.
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

/// The world with the answers of a record, for replay. A question that was not asked in the
/// recording has no answer.
#[derive(Debug, Clone, Copy)]
pub struct Recalled<'a>(pub &'a [Asked]);

impl Recalled<'_> {
    fn find<T>(&self, answer: impl Fn(&Asked) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(answer)
    }
}

impl World for Recalled<'_> {
    fn exists(&mut self, wanted: &str) -> Option<bool> {
        self.find(|asked| match asked {
            Asked::Exists { path, answer } if **path == *wanted => *answer,
            _ => None,
        })
    }

    fn probe(&mut self, wanted: &str) -> Option<Json> {
        self.find(|asked| match asked {
            Asked::Probe { name, answered: true, answer } if **name == *wanted => {
                Some(answer.clone())
            }
            _ => None,
        })
    }

    fn file(&mut self, wanted: &str) -> Option<bool> {
        self.find(|asked| match asked {
            Asked::File { path, answer } if **path == *wanted => *answer,
            _ => None,
        })
    }

    fn contains(&mut self, wanted: &str, part: &str) -> Option<bool> {
        self.find(|asked| match asked {
            Asked::Contains { path, text, answer } if **path == *wanted && **text == *part => {
                *answer
            }
            _ => None,
        })
    }

    fn text(&mut self, wanted: &str) -> Option<Content> {
        self.find(|asked| match asked {
            Asked::Text { path, answer } if **path == *wanted => answer.clone(),
            _ => None,
        })
    }

    fn sha256(&mut self, wanted: &str) -> Option<Option<String>> {
        self.find(|asked| match asked {
            Asked::Sha256 { path, answered: true, answer } if **path == *wanted => {
                Some(answer.clone())
            }
            _ => None,
        })
    }

    fn run(&mut self, wanted: &Command) -> Option<Ran> {
        self.find(|asked| match asked {
            Asked::Run { command, answer } if *command == wanted.argv => answer.clone(),
            _ => None,
        })
    }

    fn committed(&mut self) -> Option<bool> {
        self.find(|asked| match asked {
            Asked::Committed { answer } => *answer,
            _ => None,
        })
    }
}

/// The questions that a decision may ask.
pub(crate) trait WorldQuestions {
    /// Returns true if anything exists at a path.
    fn exists(&self, path: &str) -> Result<bool, Fault>;
    /// Returns true if a regular file exists at a path.
    fn file(&self, path: &str) -> Option<bool>;
    /// Returns true if a file contains a text.
    fn contains(&self, path: &str, text: &str) -> Option<bool>;
    /// Returns the content of a file.
    fn text(&self, path: &str) -> Option<Content>;
    /// Returns the hash of a file, if it exists.
    fn sha256(&self, path: &str) -> Option<Option<String>>;
    /// Returns the result of a command.
    fn run(&self, command: &Command, keeps_stdout: bool) -> Option<Ran>;
    /// Returns true if there are no uncommitted changes.
    fn committed(&self) -> Option<bool>;
    /// Returns the answer of a probe that the host provides.
    fn host(&self, name: &str) -> Option<Json>;
    /// Returns the attempts of this decision to ask a probe.
    fn probed(&self, id: ProbeId) -> Option<Attempts>;
    /// Stores the attempts.
    fn keep(&self, id: ProbeId, attempts: Attempts);
    /// Records that something other than a probe refuses the call: no attempt of this event starts
    /// a window.
    fn refused(&self);
}

/// The world during one decision.
pub(crate) struct WorldAnswers<'w> {
    world: RefCell<&'w mut dyn World>,
    asked: RefCell<Vec<Asked>>,
    probed: RefCell<Vec<(ProbeId, Attempts)>>,
    refused: Cell<bool>,
}

impl<'w> WorldAnswers<'w> {
    pub fn new(world: &'w mut dyn World) -> Self {
        WorldAnswers {
            world: RefCell::new(world),
            asked: RefCell::default(),
            probed: RefCell::default(),
            refused: Cell::default(),
        }
    }

    /// Returns the questions that were asked, in order.
    pub fn into_asked(self) -> Vec<Asked> {
        self.asked.into_inner()
    }

    /// Returns the questions that were asked, in order, and stores the probe attempts in the
    /// session.
    pub fn commit(&mut self, session: &mut SessionState) -> Vec<Asked> {
        for (id, attempts) in self.probed.get_mut().drain(..) {
            let known = &mut session.probes[id as usize];
            *known = if self.refused.get() { attempts.moot(known) } else { attempts };
        }
        std::mem::take(self.asked.get_mut())
    }

    /// Returns an earlier answer, or asks for a new one.
    fn ask<T>(
        &self,
        known: impl Fn(&Asked) -> Option<T>,
        ask: impl FnOnce(&mut dyn World) -> (Asked, T),
    ) -> T {
        let known = self.asked.borrow().iter().find_map(known);
        known.unwrap_or_else(|| {
            let (asked, answer) = ask(&mut **self.world.borrow_mut());
            self.asked.borrow_mut().push(asked);
            answer
        })
    }
}

impl WorldQuestions for WorldAnswers<'_> {
    fn exists(&self, path: &str) -> Result<bool, Fault> {
        let answer = self.ask(
            |asked| match asked {
                Asked::Exists { path: asked, answer } if **asked == *path => Some(*answer),
                _ => None,
            },
            |world| {
                let answer = world.exists(path);
                (Asked::Exists { path: path.into(), answer }, answer)
            },
        );
        answer.ok_or_else(|| Fault::NoAnswer(format!("it is unknown whether `{path}` exists")))
    }

    fn file(&self, path: &str) -> Option<bool> {
        self.ask(
            |asked| match asked {
                Asked::File { path: asked, answer } if **asked == *path => Some(*answer),
                _ => None,
            },
            |world| {
                let answer = world.file(path);
                (Asked::File { path: path.into(), answer }, answer)
            },
        )
    }

    fn contains(&self, path: &str, text: &str) -> Option<bool> {
        self.ask(
            |asked| match asked {
                Asked::Contains { path: asked, text: part, answer }
                    if **asked == *path && **part == *text =>
                {
                    Some(*answer)
                }
                _ => None,
            },
            |world| {
                let answer = world.contains(path, text);
                (Asked::Contains { path: path.into(), text: text.into(), answer }, answer)
            },
        )
    }

    fn text(&self, path: &str) -> Option<Content> {
        self.ask(
            |asked| match asked {
                Asked::Text { path: asked, answer } if **asked == *path => Some(answer.clone()),
                _ => None,
            },
            |world| {
                let answer = world.text(path).map(Content::bounded);
                (Asked::Text { path: path.into(), answer: answer.clone() }, answer)
            },
        )
    }

    fn sha256(&self, path: &str) -> Option<Option<String>> {
        self.ask(
            |asked| match asked {
                Asked::Sha256 { path: asked, answered, answer } if **asked == *path => {
                    Some(answered.then(|| answer.clone()))
                }
                _ => None,
            },
            |world| {
                let found = world.sha256(path);
                let answered = found.is_some();
                let answer = found.clone().flatten();
                (Asked::Sha256 { path: path.into(), answered, answer }, found)
            },
        )
    }

    fn run(&self, command: &Command, keeps_stdout: bool) -> Option<Ran> {
        self.ask(
            |asked| match asked {
                Asked::Run { command: words, answer } if *words == command.argv => {
                    Some(answer.clone())
                }
                _ => None,
            },
            |world| {
                let answer = world.run(command).map(|ran| ran.bounded(keeps_stdout));
                (Asked::Run { command: command.argv.clone(), answer: answer.clone() }, answer)
            },
        )
    }

    fn committed(&self) -> Option<bool> {
        self.ask(
            |asked| match asked {
                Asked::Committed { answer } => Some(*answer),
                _ => None,
            },
            |world| {
                let answer = world.committed();
                (Asked::Committed { answer }, answer)
            },
        )
    }

    fn host(&self, name: &str) -> Option<Json> {
        // The attempts of a decision keep the answer of a probe, so no second question reaches this
        // point.
        let found = self.world.borrow_mut().probe(name);
        let answered = found.is_some();
        let answer = found.clone().unwrap_or(Json::Null);
        self.asked.borrow_mut().push(Asked::Probe { name: name.into(), answered, answer });
        found
    }

    fn probed(&self, id: ProbeId) -> Option<Attempts> {
        let probed = self.probed.borrow();
        probed.iter().find(|(known, _)| *known == id).map(|(_, attempts)| attempts.clone())
    }

    fn keep(&self, id: ProbeId, attempts: Attempts) {
        self.probed.borrow_mut().push((id, attempts));
    }

    fn refused(&self) {
        self.refused.set(true);
    }
}
