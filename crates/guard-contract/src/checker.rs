//! A contract made ready, and what it is told of the world.

use crate::engine::{Engine, Turn, Window};
use crate::feed::{Feed, Text};
use crate::judge::Judge;
use crate::outcome;
use crate::shape::{ContractError, NoSchemas, Prepared, Schemas};
use guard_plan::json::Json;
use guard_plan::plan::{FactId, Plan};
use guard_plan::report::Report;
use std::sync::Arc;

/// Who can tell what a reference may refer to. `None`: nobody can say.
pub trait Known {
    /// Whether a fact has a row whose first column is this.
    fn fact(&self, fact: FactId, value: &Json) -> Option<bool>;
    /// Whether a list that the host hands over under this name has this. `None`: it hands over no such list, and then
    /// nothing is checked; it says so for every value alike.
    fn given(&self, name: &str, value: &Json) -> Option<bool>;
    /// Whether the values of the contract's reference at this place have this.
    fn value(&self, reference: usize, value: &Json) -> Option<bool>;
}

/// Nothing is known, and nothing is handed over.
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

/// What a text is judged with.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Why the producer stopped, as it says; `length` and the like mean that the text was cut.
    pub finish_reason: Option<&'a str>,
    /// Who can tell what is known.
    pub known: &'a dyn Known,
    /// Where relative paths start: a normalised path.
    pub workspace: &'a str,
}

impl Input<'_> {
    /// Nothing is known, and nothing is said of how the producer ended.
    pub fn none() -> Input<'static> {
        Input { finish_reason: None, known: &NothingKnown, workspace: "/" }
    }
}

/// A contract made ready. Cheap to clone.
#[derive(Clone)]
pub struct Checker {
    prepared: Arc<Prepared>,
}

impl Checker {
    /// Makes a contract of a plan ready, by its place; one whose lists have no JSON Schemas.
    pub fn new(plan: &Plan, contract: usize) -> Result<Checker, ContractError> {
        Checker::with_schemas(plan, contract, &NoSchemas)
    }

    /// The same, with someone who carries out JSON Schemas.
    pub fn with_schemas(
        plan: &Plan,
        contract: usize,
        schemas: &dyn Schemas,
    ) -> Result<Checker, ContractError> {
        Ok(Checker { prepared: Arc::new(Prepared::new(plan, contract, schemas)?) })
    }

    /// The contract's name.
    pub fn name(&self) -> &str {
        &self.prepared.contract.name
    }

    /// Judges a whole text.
    pub fn check(&self, text: &[u8], input: &Input<'_>) -> Report {
        let mut engine = Engine::new(self.prepared.clone());
        let w = Window { bytes: text, base: 0, end: true };
        engine.run(&Turn { w, judge: Judge { prepared: &self.prepared, input } });
        let mut raw = Text::default();
        raw.take(text);
        outcome::report(&self.prepared, engine.finish(), input, raw)
    }

    /// Judges a text as it comes.
    pub fn feed(&self) -> Feed {
        Feed::new(self.prepared.clone())
    }
}
