//! Learning from the host's own reports: the data that a session opens with, and the user's
//! messages.

use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::event::UserPrompt;
use crate::feedback;
use crate::outcome::Learned;
use crate::private;
use crate::session::{Opening, SessionState};
use crate::settle::learn;
use crate::world::{NoWorld, World, WorldAnswers, WorldQuestions};
use guard_plan::builtin::{self, MAX_SAID};
use guard_plan::json::Json;
use guard_plan::origin::{Origin, Vouched};
use guard_plan::plan::{Learn, SourceKind, Trust};
use guard_plan::record::{Note, NoteKind};
use guard_plan::value::Value;
use std::sync::Arc;

/// Learns facts from a user message.
pub(crate) fn prompt(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    prompt: &UserPrompt<'_>,
    world: &mut dyn World,
) -> Learned {
    session.advance(prompt.now);
    session.prompts += 1;
    let by = format!("prompt {}", session.prompts).into();
    let mut answers = WorldAnswers::new(world);
    let mut learned = Learned::default();
    if !compiled.sources.is_empty() {
        let text = Value::String(prompt.text.into());
        teach(compiled, session, SourceKind::Prompt, &text, &by, &answers, &mut learned);
    }
    // The words are seen after the lessons: a rule on a prompt reads what was known before
    // (semantics §8).
    if compiled.plan().origins {
        learned.notes.extend(session.see_text(prompt.text, Origin::Prompt));
    }
    if compiled.plan().mentions && !builtin::hear(&mut session.said, prompt.text) {
        learned.notes.push(Note {
            kind: NoteKind::Warning,
            rule: "mentions".into(),
            message: format!(
                "the words of this prompt are not remembered: all prompts together have at most {MAX_SAID} bytes"
            ),
        });
    }
    learned.notes.extend(private::hear(compiled, session, prompt.text));
    if learned.learned > 0 {
        feedback::facts_changed(&compiled.feedback, &mut session.feedback);
    }
    learned.asked = answers.commit(session);
    learned
}

/// Learns facts from the opening data of a session. The world is not asked.
pub(crate) fn start(compiled: &CompiledPlan, session: &mut SessionState, data: &Json) {
    let mut learned = Learned::default();
    let mut world = NoWorld;
    let answers = WorldAnswers::new(&mut world);
    let value = Value::Json(Box::new(data.clone()));
    teach(compiled, session, SourceKind::Start, &value, &"start".into(), &answers, &mut learned);
    if compiled.plan().origins {
        let trust = Trust { whole: true, parts: Vec::new() };
        learned.notes.extend(session.see_result(data, &trust, &Vouched::default()));
    }
    session.opening = Some(Arc::new(Opening { data: data.clone(), learned }));
}

/// Teaches the rows of all sources of a kind.
fn teach(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    kind: SourceKind,
    read: &Value,
    by: &Arc<str>,
    answers: &dyn WorldQuestions,
    learned: &mut Learned,
) {
    let decision = DecisionResources::default();
    let sources = compiled.plan().sources.iter().zip(&compiled.sources);
    let sources = sources.filter(|(source, _)| source.kind == kind);
    let lessons = sources.flat_map(|(source, ready)| source.learns.iter().zip(ready));
    let context = Context::new(compiled, session, &decision, answers);
    let context = Context { result: Some(read), ..context };
    let rows = |(rule, ready)| (rule, learn::rows(&context, rule, ready, (&[], &[])));
    // No lesson reads a row that another lesson of the same event teaches (semantics §4).
    let taught: Vec<(&Learn, Vec<learn::LearnedRow>)> = lessons.map(rows).collect();
    for (rule, rows) in taught {
        learn::take_rows(compiled, session, rule, rows, by, learned);
    }
}
