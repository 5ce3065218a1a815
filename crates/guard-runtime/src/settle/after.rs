//! The context of a successful call for the rules that run after it, with their writes and notes.

use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::outcome::Settled;
use crate::session::SessionState;
use crate::stage::DecidedCall;
use crate::val::Val;
use crate::world::WorldQuestions;
use guard_plan::plan::VarId;
use guard_plan::record::NoteKind;
use guard_plan::value::Value;

/// The inputs of the rules that run after a call.
pub(crate) struct AfterCall<'s> {
    pub call: DecidedCall<'s>,
    pub args: Vec<Value>,
    pub result: Value,
    pub decision: DecisionResources,
    pub answers: &'s dyn WorldQuestions,
}

impl AfterCall<'_> {
    /// Runs a function that reads the session.
    pub fn read<T>(
        &self,
        compiled: &CompiledPlan,
        session: &SessionState,
        read: impl FnOnce(&Context<'_>) -> T,
    ) -> T {
        let args: Vec<Val<'_>> = self.args.iter().map(Val::from_value).collect();
        let context = Context::new(compiled, session, &self.decision, self.answers);
        read(&Context { args: &args, result: Some(&self.result), ..context })
    }
}

/// Writes a variable, and keeps its previous value for the record.
pub(super) fn write(session: &mut SessionState, var: VarId, value: Value) {
    let before = std::mem::replace(&mut session.state[var as usize], value);
    if !session.changes.iter().any(|(changed, _)| *changed == var) {
        session.changes.push((var, before));
    }
}

/// Adds a note; the most severe kind halts the session.
pub(super) fn note(
    session: &mut SessionState,
    settled: &mut Settled,
    kind: NoteKind,
    rule: &str,
    message: String,
) {
    if kind == NoteKind::Halt {
        session.halt(rule, &message);
    }
    settled.note(kind, rule, message);
}
