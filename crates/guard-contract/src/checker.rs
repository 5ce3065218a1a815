//! A compiled contract, and the inputs for its checks.

use crate::engine::{ContractEngine, StepInput, TextWindow};
use crate::feed::{Feed, TextSummary};
use crate::input::Input;
use crate::judge::UnitJudge;
use crate::outcome;
use crate::shape::{ContractError, NoSchemas, PreparedContract, Schemas};
use crate::unwrap::Unwrap;
use guard_plan::plan::{Plan, Root};
use guard_plan::report::Report;
use std::sync::Arc;

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
