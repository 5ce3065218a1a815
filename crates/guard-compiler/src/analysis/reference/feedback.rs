//! Advice after settlements and denials (semantics §10).
//!
//! Every message of a provider is kept. The cadences are computed from the last one.

use super::eval::Env;
use super::{Answerer, Ask, ReferenceSession};
use crate::hir::{Block, Expr, ExprKind, Feedback, Message, Part, ToolId, Trigger};
use guard_plan::json::Json;
use guard_plan::record::{Delivered, NoteKind};
use guard_plan::value::{Fault, Value};
use std::cmp::Reverse;

/// The maximum number of characters of an interpolated value.
const MOST: usize = 500;

/// The memory of one provider.
#[derive(Clone)]
pub(super) struct ProviderMemory {
    /// The time at which it last spoke or faulted, and the number of the event.
    last: (i64, u64),
    /// For each trigger: whether the file existed, or the value of the condition.
    was: Vec<bool>,
}

impl ProviderMemory {
    pub(super) fn new(provider: &Feedback, start: i64) -> ProviderMemory {
        ProviderMemory { last: (start, 0), was: vec![false; provider.triggers.len()] }
    }
}

/// An event that is judged for feedback.
#[derive(Clone, Copy)]
pub(super) enum FeedbackEvent {
    Settled,
    /// A denial of a call; `None` if the tool is not declared.
    Denied(Option<ToolId>),
}

/// The result of one provider for an event.
struct ProviderResult {
    memory: ProviderMemory,
    delivered: Option<Delivered>,
    faults: usize,
}

impl ReferenceSession<'_> {
    /// Judges a settlement or a denial for every provider.
    pub(super) fn judge(&mut self, event: FeedbackEvent, world: Answerer) {
        self.judged += 1;
        let providers = &self.program.feedback;
        let turns: Vec<ProviderResult> =
            (0..providers.len()).map(|at| self.turn(at, event, world)).collect();
        let mut delivered = Vec::new();
        for (at, turn) in turns.into_iter().enumerate() {
            for _ in 0..turn.faults {
                self.outcome.note(NoteKind::Feedback, &providers[at].name);
            }
            self.providers[at] = turn.memory;
            delivered.extend(turn.delivered);
        }
        delivered.sort_by_key(|feedback| (Reverse(feedback.severity), feedback.provider.clone()));
        self.outcome.feedback = delivered;
    }

    fn turn(&self, at: usize, event: FeedbackEvent, world: Answerer) -> ProviderResult {
        let provider = &self.program.feedback[at];
        let env = Env::new(&self.state, world);
        let mut turn =
            ProviderResult { memory: self.providers[at].clone(), delivered: None, faults: 0 };
        let mut triggered = false;
        for (place, trigger) in provider.triggers.iter().enumerate() {
            match self.fires(trigger, &self.providers[at], place, event, env) {
                Ok((fires, was)) => {
                    triggered |= fires;
                    turn.memory.was[place] = was;
                }
                Err(_) => turn.faults += 1,
            }
        }
        if !triggered {
            return turn;
        }
        match self.speaks(provider, env) {
            Ok(None) => turn.memory.was = self.still_due(at, &turn.memory),
            Ok(Some(delivered)) => {
                turn.memory.last = (self.now, self.judged);
                turn.delivered = Some(delivered);
            }
            Err(_) => {
                turn.memory.last = (self.now, self.judged);
                turn.faults += 1;
            }
        }
        turn
    }

    /// Returns the memory if no block applies: a file that was created is still pending.
    fn still_due(&self, at: usize, memory: &ProviderMemory) -> Vec<bool> {
        let triggers = self.program.feedback[at].triggers.iter().zip(&memory.was);
        let before = self.providers[at].was.iter();
        let kept = triggers.zip(before).map(|((trigger, is), was)| match trigger {
            Trigger::Created(_) => *was,
            _ => *is,
        });
        kept.collect()
    }

    /// Returns true if a trigger fires, and the new memory of the trigger.
    fn fires(
        &self,
        trigger: &Trigger,
        memory: &ProviderMemory,
        place: usize,
        event: FeedbackEvent,
        env: Env,
    ) -> Result<(bool, bool), Fault> {
        let was = memory.was[place];
        Ok(match trigger {
            Trigger::Calls(n) => (self.judged - memory.last.1 >= u64::from(*n), was),
            Trigger::Every(every) => (self.now - memory.last.0 >= *every, was),
            Trigger::Created(_) if was => (false, true),
            Trigger::Created(path) => {
                let path = self.inside(path).map_err(Fault::Decode)?;
                let there = (env.world)(&Ask::File(path)) == Some(Json::Bool(true));
                (there, there)
            }
            Trigger::Denied(of) => match (event, of) {
                (FeedbackEvent::Denied(_), None) => (true, was),
                (FeedbackEvent::Denied(Some(tool)), Some(denied)) => (denied.contains(&tool), was),
                _ => (false, was),
            },
            Trigger::Becomes(condition) => {
                let is = self.holds(condition, env)?;
                (is && !was, is)
            }
        })
    }

    /// Returns the message of the first block whose condition holds.
    fn speaks(&self, provider: &Feedback, env: Env) -> Result<Option<Delivered>, Fault> {
        for block in &provider.blocks {
            if block.when.as_ref().map_or(Ok(true), |when| self.holds(when, env))? {
                return Ok(Some(Delivered {
                    provider: provider.name.clone(),
                    severity: block.severity,
                    text: self.rendered(&provider.name, block, env)?,
                    judged: self.judged,
                }));
            }
        }
        Ok(None)
    }

    fn rendered(&self, name: &str, block: &Block, env: Env) -> Result<String, Fault> {
        let mut text =
            format!("<feedback provider='{name}'>\n{}\n", self.words(&block.message, env)?);
        for (suggests, mark) in [(false, "*"), (true, "->")] {
            let notes: Vec<&Message> = block
                .notes
                .iter()
                .filter(|(suggest, _)| *suggest == suggests)
                .map(|(_, message)| message)
                .collect();
            if !notes.is_empty() {
                text += "\n";
            }
            for note in notes {
                text += &format!("{mark} {}\n", self.words(note, env)?);
            }
        }
        Ok(text + "</feedback>")
    }

    fn words(&self, message: &Message, env: Env) -> Result<String, Fault> {
        let mut text = String::new();
        for part in &message.parts {
            match part {
                Part::Text(words) => text += words,
                Part::Value(_, e) => {
                    let value = self.eval(e, env)?;
                    text += if self.is_secret(e) { "(secret)" } else { "" };
                    text +=
                        &if self.is_secret(e) { String::new() } else { self.escaped(e, &value) };
                }
            }
        }
        Ok(text)
    }

    /// Returns a value as a text that cannot forge anything.
    fn escaped(&self, e: &Expr, value: &Value) -> String {
        let ty = self.read.tables.shown_ty(&e.ty);
        let said = match value {
            Value::String(text) | Value::Path(text) => text.to_string(),
            Value::Url(url) => url.text.to_string(),
            Value::Duration(millis) => spoken(*millis),
            other => guard_plan::render::value(&self.read.types, ty, other),
        };
        let mut text: Vec<char> = said.chars().collect();
        if text.len() > MOST {
            text.truncate(MOST - 1);
            text.push('…');
        }
        let escape = |c: char| match c {
            '&' => "&amp;".to_string(),
            '<' => "&lt;".to_string(),
            '>' => "&gt;".to_string(),
            c if c.is_control() || is_unseen(c) => " ".to_string(),
            c => c.to_string(),
        };
        text.into_iter().map(escape).collect()
    }

    /// Returns true if an expression reads something that is declared secret.
    fn is_secret(&self, e: &Expr) -> bool {
        e.any(&mut |part| match &part.kind {
            ExprKind::LastArg(tool, at) => self.program.tools[*tool].params[*at as usize].secret,
            ExprKind::Field(record, at) => match record.ty.required() {
                crate::hir::Type::Record(id) => {
                    self.program.records[*id].fields[*at as usize].secret
                }
                _ => false,
            },
            _ => false,
        })
    }
}

/// Returns true if a character changes the direction of text, or is invisible.
fn is_unseen(c: char) -> bool {
    const RANGES: [(char, char); 8] = [
        ('\u{180B}', '\u{180E}'),
        ('\u{200B}', '\u{200F}'),
        ('\u{2028}', '\u{202E}'),
        ('\u{2060}', '\u{206F}'),
        ('\u{FE00}', '\u{FE0F}'),
        ('\u{FEFF}', '\u{FEFF}'),
        ('\u{E0000}', '\u{E0FFF}'),
        ('\u{61C}', '\u{61C}'),
    ];
    RANGES.iter().any(|(first, last)| (*first..=*last).contains(&c))
        || matches!(c, '\u{AD}' | '\u{34F}')
}

/// Formats the two largest parts of a duration in words.
fn spoken(millis: i64) -> String {
    let mut seconds = millis.unsigned_abs() / 1000;
    let mut parts = Vec::new();
    for (name, size) in [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)] {
        parts.push((seconds / size, name));
        seconds %= size;
    }
    let Some(first) = parts.iter().position(|(count, _)| *count > 0) else {
        return "0 seconds".into();
    };
    let said = parts[first..].iter().take(2).filter(|(count, _)| *count > 0);
    let said = said.map(|(n, name)| format!("{n} {name}{}", if *n == 1 { "" } else { "s" }));
    let sign = if millis < 0 { "minus " } else { "" };
    sign.to_string() + &said.collect::<Vec<_>>().join(" ")
}
