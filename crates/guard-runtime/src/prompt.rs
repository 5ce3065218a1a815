//! What the host itself reports teaches facts: the data a session opens with, and the user's words.

use crate::error::StepError;
use crate::kernel::Kernel;
use crate::session::Session;
use crate::world::World;
use guard_plan::plan::Millis;
use guard_plan::record::{Asked, Note};

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
    /// How many rows went for others.
    pub forgotten: u64,
    /// What was noticed.
    pub notes: Vec<Note>,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

impl Kernel {
    /// Learns from what the user has said.
    pub fn prompt(
        &self,
        session: &mut Session,
        prompt: &Prompt<'_>,
        _world: &mut dyn World,
    ) -> Result<Learned, StepError> {
        session.advance(prompt.now);
        Ok(Learned::default())
    }
}
