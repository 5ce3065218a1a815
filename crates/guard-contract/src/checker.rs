//! A compiled contract, and the inputs for its checks.

use crate::engine::{ContractEngine, StepInput, TextWindow};
use crate::feed::{Feed, TextSummary};
use crate::judge::UnitJudge;
use crate::outcome;
use crate::shape::{ContractError, NoSchemas, PreparedContract, Schemas};
use crate::unwrap::Unwrap;
use guard_plan::json::Json;
use guard_plan::plan::{FactId, Plan, Root};
use guard_plan::report::Report;
use std::sync::Arc;

/// Answers the references of a contract. The answer `None` means unknown.
pub trait Known {
    /// Returns whether a fact has a row whose first column equals the value.
    fn fact(&self, fact: FactId, value: &Json) -> Option<bool>;
    /// Returns whether a list that the host provides under this name contains the value. `None` if
    /// the host provides no such list; then nothing is checked. The answer is `None` for all values
    /// or for none.
    fn given(&self, name: &str, value: &Json) -> Option<bool>;
    /// Returns whether the values of the contract's reference with this index contain the value.
    fn value(&self, reference: usize, value: &Json) -> Option<bool>;
}

/// No knowledge and no lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct NothingKnown;

impl Known for NothingKnown {
    fn fact(&self, _: FactId, _: &Json) -> Option<bool> {
        None
    }

    fn given(&self, _: &str, _: &Json) -> Option<bool> {
        None
    }

    fn value(&self, _: usize, _: &Json) -> Option<bool> {
        None
    }
}

/// The inputs for judging a text.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The reason why the producer stopped, as it reports; `length` and similar values mean that
    /// the text was cut.
    pub finish_reason: Option<&'a str>,
    /// The answers to the contract's references.
    pub known: &'a dyn Known,
    /// The directory that relative paths are resolved against: a normalised path.
    pub workspace: &'a str,
}

impl Input<'_> {
    /// Returns an input without knowledge and without a finish reason.
    pub fn none() -> Input<'static> {
        Input { finish_reason: None, known: &NothingKnown, workspace: "/" }
    }
}

/// A compiled contract. Cheap to clone.
#[derive(Clone)]
pub struct Checker {
    prepared: Arc<PreparedContract>,
}

impl Checker {
    /// Compiles a contract of a plan, given its index. Its lists may not use JSON Schemas.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan has no such contract, or the contract cannot be compiled.
    pub fn new(plan: &Plan, contract: usize) -> Result<Checker, ContractError> {
        Checker::with_schemas(plan, contract, &NoSchemas)
    }

    /// Compiles a contract of a plan with a JSON Schema validator.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan has no such contract, or the contract or one of its schemas
    /// cannot be compiled.
    pub fn with_schemas(
        plan: &Plan,
        contract: usize,
        schemas: &dyn Schemas,
    ) -> Result<Checker, ContractError> {
        Ok(Checker { prepared: Arc::new(PreparedContract::new(plan, contract, schemas)?) })
    }

    /// The contract's name.
    pub fn name(&self) -> &str {
        &self.prepared.contract.name
    }

    /// Judges a complete text.
    pub fn check(&self, text: &[u8], input: &Input<'_>) -> Report {
        if self.prepared.contract.root == Root::Value || !Unwrap::plain(text) {
            let mut feed = self.feed();
            feed.push(text, input);
            return feed.finish(input);
        }
        let mut engine = ContractEngine::new(self.prepared.clone());
        let w = TextWindow { bytes: text, base: 0, end: true };
        engine.run(&StepInput { w, judge: UnitJudge { prepared: &self.prepared, input } });
        let mut raw = TextSummary::default();
        raw.take(text);
        let (raw, lines) = raw.finish();
        let mut report = outcome::report(&self.prepared, engine.finish(text.len()), input, raw);
        lines.place(&mut report);
        report
    }

    /// Judges a text in pieces, as it arrives.
    pub fn feed(&self) -> Feed {
        Feed::new(self.prepared.clone())
    }
}
