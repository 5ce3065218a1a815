//! The hosts, a table each.

mod claude_code;
mod codex;
mod gemini;

pub(crate) use claude_code::CLAUDE_CODE;
pub(crate) use codex::CODEX;
pub(crate) use gemini::GEMINI;
