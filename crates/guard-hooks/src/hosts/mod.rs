//! The hosts, one table each.

mod claude_code;
mod codex;
mod gemini;

use crate::vocabulary::Vocabulary;

impl Vocabulary {
    /// All hosts.
    pub const ALL: [&'static Vocabulary; 3] =
        [&claude_code::CLAUDE_CODE, &codex::CODEX, &gemini::GEMINI];

    /// Returns the host with this name.
    pub fn named(name: &str) -> Option<&'static Vocabulary> {
        Vocabulary::ALL.into_iter().find(|host| host.name == name)
    }
}
