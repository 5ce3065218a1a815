//! What the host itself reports teaches facts: the data a session opens with, and the user's words.

use crate::error::StepError;
use crate::eval::{Context, Decision};
use crate::kernel::Kernel;
use crate::session::{Opening, Session};
use crate::settle::learn;
use crate::world::{Answers, NoWorld, Questions, World};
use guard_plan::json::Json;
use guard_plan::origin::Origin;
use guard_plan::plan::{Millis, SourceKind, Trust};
use guard_plan::record::{Asked, Note, NoteKind};
use guard_plan::value::Value;
use std::sync::Arc;

/// The user has said something (semantics §8).
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'p> {
    /// What.
    pub text: &'p str,
    /// When.
    pub now: Millis,
}

/// What a prompt taught.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// How many rows facts were taught.
    pub learned: u64,
    /// How many rows went for others, their tables being full.
    pub forgotten: u64,
    /// What was noticed.
    pub notes: Vec<Note>,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

impl Learned {
    /// Notes something once.
    pub(crate) fn note(&mut self, rule: &str, message: String) {
        if self.notes.iter().all(|note| note.message != message) {
            self.notes.push(Note { kind: NoteKind::Warning, rule: rule.into(), message });
        }
    }
}

impl Kernel {
    /// Learns from what the user has said.
    pub fn prompt(
        &self,
        session: &mut Session,
        prompt: &Prompt<'_>,
        world: &mut dyn World,
    ) -> Result<Learned, StepError> {
        if let Some(full) = self.instead(session) {
            return full.prompt(session, prompt, world);
        }
        session.advance(prompt.now);
        session.prompts += 1;
        let by = format!("prompt {}", session.prompts).into();
        let answers = Answers::new(world);
        let mut learned = Learned::default();
        if !self.sources.is_empty() {
            let text = Value::String(prompt.text.into());
            self.teach(session, SourceKind::Prompt, &text, &by, &answers, &mut learned);
        }
        if self.plan().origins {
            learned.notes.extend(session.see_text(prompt.text, Origin::Prompt));
        }
        if learned.learned > 0 {
            self.feedback.facts_changed(&mut session.feedback);
        }
        learned.asked = answers.commit(session);
        Ok(learned)
    }

    /// Learns from what a session is opened with; nobody is asked anything.
    pub(crate) fn start(&self, session: &mut Session, data: &Json) {
        let mut learned = Learned::default();
        let mut world = NoWorld;
        let answers = Answers::new(&mut world);
        let value = Value::Json(Box::new(data.clone()));
        self.teach(session, SourceKind::Start, &value, &"start".into(), &answers, &mut learned);
        if self.plan().origins {
            let trust = Trust { whole: true, parts: Vec::new() };
            learned.notes.extend(session.see_result(data, &trust));
        }
        session.opening = Some(Arc::new(Opening { data: data.clone(), learned }));
    }

    /// What the sources of a kind teach.
    fn teach(
        &self,
        session: &mut Session,
        kind: SourceKind,
        read: &Value,
        by: &Arc<str>,
        answers: &dyn Questions,
        learned: &mut Learned,
    ) {
        let decision = Decision::default();
        let sources = self.plan().sources.iter().zip(&self.sources);
        for (source, ready) in sources.filter(|(source, _)| source.kind == kind) {
            for (rule, ready) in source.learns.iter().zip(ready) {
                let context = self.context(session, &decision, answers);
                let rows = learn::rows(&Context { result: Some(read), ..context }, rule, ready);
                self.take_rows(session, rule, rows, by, learned);
            }
        }
    }
}
