//! What the harness does to items: it verifies and moves them (semantics §11).

use crate::error::StepError;
use crate::kernel::Kernel;
use crate::session::Session;
use crate::world::World;
use guard_plan::plan::Millis;
use guard_plan::record::{Asked, ItemChange};

/// The criteria of an item are to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Verify<'i> {
    /// The item's id.
    pub item: &'i str,
    /// When.
    pub now: Millis,
}

/// The harness moves an item by hand.
#[derive(Debug, Clone, Copy)]
pub struct Move<'i> {
    /// The item's id.
    pub item: &'i str,
    /// The transition.
    pub transition: &'i str,
    /// Who does it.
    pub by: &'i str,
    /// Why; one that does not lead to a final state is a rejection.
    pub reason: Option<&'i str>,
    /// When.
    pub now: Millis,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// What changed.
    pub change: ItemChange,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

impl Kernel {
    /// Judges the criteria of an item, and moves it as they say.
    pub fn verify(
        &self,
        _session: &mut Session,
        verify: &Verify<'_>,
        _world: &mut dyn World,
    ) -> Result<Moved, StepError> {
        Err(StepError::UnknownItem(verify.item.into()))
    }

    /// Moves an item by hand.
    pub fn move_item(&self, _session: &mut Session, by: &Move<'_>) -> Result<Moved, StepError> {
        Err(StepError::UnknownItem(by.item.into()))
    }
}
