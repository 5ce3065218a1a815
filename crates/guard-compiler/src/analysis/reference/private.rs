//! Private content (semantics §8): every private text as it was read, and a simple search of all of
//! them.

use super::eval::Env;
use super::{Answerer, ReferenceSession};
use crate::hir::{Clause, ClauseKind, Tool, Type};
use guard_plan::builtin::is_unreadable;
use guard_plan::decode::holds_secrets;
use guard_plan::disclosure::{self, MAX_PRIVATE, fold, fold_value, is_code};
use guard_plan::json::Json;
use guard_plan::record::NoteKind;
use guard_plan::trust::ELEMENT;
use guard_plan::value::{Fault, Value};
use std::collections::BTreeSet;

/// The private texts that a session has read.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrivateTexts {
    /// Each part of a result of a tool with its readers, once.
    disclosed: Vec<(String, BTreeSet<String>)>,
    /// Each text, folded, with the index of its part.
    texts: Vec<(usize, String)>,
    bytes: usize,
    full: bool,
    /// The words of the prompts.
    pub told: String,
}

impl PrivateTexts {
    /// Adds texts of a part that only its readers may read. Returns true the first time that there
    /// are too many.
    fn disclose(&mut self, part: &str, readers: &BTreeSet<String>, texts: Vec<String>) -> bool {
        let was_full = self.full;
        for text in texts.into_iter().filter(|text| !text.is_empty()) {
            let known = self.disclosed.iter().position(|(p, r)| p == part && r == readers);
            let new: usize = match known {
                Some(at) if self.texts.contains(&(at, text.clone())) => continue,
                Some(_) => 0,
                None => readers.iter().map(String::len).sum(),
            };
            if self.full || self.bytes + new + text.len() > MAX_PRIVATE {
                self.full = true;
                break;
            }
            self.bytes += new + text.len();
            if known.is_none() {
                self.disclosed.push((part.to_owned(), readers.clone()));
            }
            let at = known.unwrap_or(self.disclosed.len() - 1);
            self.texts.push((at, text));
        }
        self.full && !was_full
    }

    /// Writes the data that determines the answers: two sessions with equal marks give the same
    /// answers.
    pub fn mark(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.full));
        for (at, text) in &self.texts {
            out.extend(format!("{:?} {text}\n", self.disclosed[*at].1).as_bytes());
        }
        out.extend(self.told.as_bytes());
    }

    fn allows(&self, who: &[String], text: &str) -> bool {
        let words: Vec<&str> = disclosure::words(text).collect();
        if words.is_empty() {
            return true;
        }
        // What was not kept may be in any text.
        if self.full {
            return false;
        }
        self.texts.iter().all(|(at, private)| {
            let readers = &self.disclosed[*at].1;
            let named = !who.is_empty() && who.iter().all(|reader| readers.contains(reader));
            named || !self.leaks(private, &words)
        })
    }

    /// Returns true if these words contain something from a private text that no prompt contains.
    fn leaks(&self, private: &str, words: &[&str]) -> bool {
        let own: Vec<&str> = disclosure::words(private).collect();
        // A folded text that is not empty has a word, so the windows have at least one.
        let run = own.windows(own.len().min(4)).any(|run| {
            let stands = words.windows(run.len()).any(|part| part == run);
            stands && !self.said(run)
        });
        let mut codes: Vec<String> =
            own.iter().filter(|word| is_code(word)).map(ToString::to_string).collect();
        for token in private.split(' ') {
            let parts = token.split('-').count();
            let joined = token.replace('-', "");
            let long = if joined.chars().any(char::is_alphabetic) { 8 } else { 10 };
            let length = joined.chars().count();
            let digit = joined.chars().any(|c| c.is_ascii_digit());
            if (2..=8).contains(&parts) && (long..=64).contains(&length) && digit {
                codes.push(joined);
            }
        }
        run || codes.iter().any(|code| writes(words, code) && !self.said(&[code]))
    }

    /// Returns true if one of the prompts contains these words, or this code.
    fn said(&self, run: &[&str]) -> bool {
        self.told.lines().any(|prompt| {
            let words: Vec<&str> = prompt.split_whitespace().collect();
            let is_said = words.windows(run.len()).any(|part| part == run);
            is_said || matches!(run, [code] if is_code(code) && words.concat().contains(*code))
        })
    }
}

/// Returns true if adjacent words together are a code.
fn writes(words: &[&str], code: &str) -> bool {
    (0..words.len()).any(|from| {
        (1..=8.min(words.len() - from)).any(|count| {
            let joined = words[from..from + count].concat();
            joined == code && (count == 1 || joined.chars().count() <= 64)
        })
    })
}

impl ReferenceSession<'_> {
    /// Evaluates `may_read(who, text)`.
    pub(super) fn may_read(&self, who: &Value, text: &Value) -> Result<Value, Fault> {
        if *who == Value::None {
            return Ok(Value::Bool(false));
        }
        let who = named(who)?;
        let readable = !who.iter().any(|reader| is_unreadable(reader) || reader.is_empty());
        let asked = if readable { who } else { Vec::new() };
        Ok(Value::Bool(self.privates.allows(&asked, &fold_value(text))))
    }

    /// Records the private parts of the result of a call that was read.
    pub(super) fn disclose(
        &mut self,
        tool: &Tool,
        args: &[Value],
        (raw, result): (&Json, &Value),
        world: Answerer,
    ) {
        if !self.read.tables.confidential || tool.is_served() {
            return;
        }
        let mut all = Vec::new();
        for clause in &tool.clauses {
            let ClauseKind::Private { part, to, when } = &clause.kind else { continue };
            let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
            let (elements, fault) = self.elements(part, raw, env);
            let mut faulty = fault.is_some();
            let mut parts = Vec::new();
            for element in elements {
                let env = Env { locals: &element.locals, ..env };
                let readers = match when.as_ref().map_or(Ok(true), |when| self.holds(when, env)) {
                    Ok(false) => continue,
                    Ok(true) => match to {
                        Some(to) => self.eval(to, env).and_then(|readers| named(&readers)),
                        None => Ok(Vec::new()),
                    },
                    Err(fault) => Err(fault),
                };
                faulty |= readers.is_err();
                let mut texts = Vec::new();
                collect(element.json, element.rest, &mut texts);
                parts.push((readers.unwrap_or_default(), texts));
            }
            if fault.is_some() {
                // The owner of the part cannot be computed: everything that the first range covers
                // is readable by nobody.
                let list: Vec<String> =
                    part.path.iter().take_while(|step| *step != ELEMENT).cloned().collect();
                let mut texts = Vec::new();
                collect(raw, &list, &mut texts);
                parts = vec![(Vec::new(), texts)];
            }
            if !parts.is_empty() {
                all.push((clause.rule.clone(), part.path.clone(), parts, faulty));
            }
        }
        for (rule, path, parts, faulty) in all {
            if rule.shadow {
                self.outcome.note(NoteKind::Shadow, &rule.owner);
                continue;
            }
            if faulty {
                self.outcome.note(NoteKind::Warning, &rule.owner);
            }
            for (readers, texts) in parts {
                let is_name = |reader: &String| !reader.is_empty() && !is_unreadable(reader);
                let readers = readers.into_iter().filter(is_name).collect();
                self.keep_private(&format!("{} {path:?}", tool.name), &readers, texts);
            }
        }
    }

    /// Returns true if a part of the result of a tool is private.
    pub(super) fn has_private(&self, tool: &Tool) -> bool {
        let enforced = |clause: &Clause| {
            matches!(clause.kind, ClauseKind::Private { .. }) && !clause.rule.shadow
        };
        tool.clauses.iter().any(enforced) && self.read.tables.confidential && !tool.is_served()
    }

    /// Returns true if the result of a tool may contain private text that is not recorded, in case
    /// it cannot be parsed.
    pub(super) fn may_hold_secrets(&self, tool: &Tool) -> bool {
        let secret = |ty: &Type| holds_secrets(&self.read.types, self.read.tables.ty(ty));
        tool.params.iter().any(|param| param.secret || secret(&param.ty))
            || tool.returns.as_ref().is_some_and(secret)
    }

    /// Records that something private was read whose text is not recorded: no reader of it is
    /// known.
    pub(super) fn close_private(&mut self) {
        if !self.privates.full {
            self.privates.full = true;
            self.outcome.note(NoteKind::Warning, "may_read");
        }
    }

    /// Handles a result of a call that does not decode: nobody else may read any of it.
    pub(super) fn disclose_unread(&mut self, tool: &Tool, texts: Vec<String>) {
        let nothing: [String; 0] = [];
        self.keep_private(&format!("{} {nothing:?}", tool.name), &BTreeSet::new(), texts);
    }

    fn keep_private(&mut self, part: &str, readers: &BTreeSet<String>, texts: Vec<String>) {
        if self.privates.disclose(part, readers, texts) {
            self.outcome.note(NoteKind::Warning, "may_read");
        }
    }
}

/// Returns the names of readers.
fn named(readers: &Value) -> Result<Vec<String>, Fault> {
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.to_string()),
        Value::Json(json) => match &**json {
            Json::String(text) => Ok(text.to_string()),
            _ => Err(Fault::Decode("a reader that is not a text".into())),
        },
        _ => Err(Fault::Decode("a reader that is not a text".into())),
    };
    match readers {
        Value::List(all) => all.iter().map(text).collect(),
        Value::Set(all) => all.iter().map(text).collect(),
        Value::Json(json) => match &**json {
            Json::Array(all) => {
                all.iter().map(|item| text(&Value::Json(Box::new(item.clone())))).collect()
            }
            _ => text(readers).map(|reader| vec![reader]),
        },
        one => text(one).map(|reader| vec![reader]),
    }
}

/// Collects the texts in the part of a result at a path.
pub(super) fn collect(json: &Json, path: &[String], texts: &mut Vec<String>) {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
    match json {
        Json::Array(items) => {
            let rest =
                if path.first().is_some_and(|step| step == ELEMENT) { &path[1..] } else { path };
            items.iter().for_each(|item| collect(item, rest, texts));
        }
        Json::Object(members) => {
            for (name, member) in members {
                match path {
                    [step, rest @ ..] if step == ELEMENT || **step == **name => {
                        collect(member, rest, texts);
                    }
                    [] => {
                        let name = fold(name);
                        let words: Vec<&str> = disclosure::words(&name).collect();
                        if words.len() > 3 || words.iter().any(|word| is_code(word)) {
                            texts.push(name);
                        }
                        collect(member, path, texts);
                    }
                    _ => {}
                }
            }
        }
        _ if !path.is_empty() => {}
        Json::String(text) => texts.push(fold(text)),
        Json::Number(text) if digits(text) > 3 => texts.push(fold(text)),
        Json::Int(number) if digits(&number.to_string()) > 3 => {
            texts.push(fold(&number.to_string()));
        }
        _ => {}
    }
}
