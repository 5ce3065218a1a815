//! Import of logs of other tools as sessions, to test a guard on the past calls of an agent.
//!
//! A call in a log counts as allowed, with its logged outcome. The resulting records have no hash
//! chain and prove nothing; they are only for `replay`. Logs are hostile input: lines that are not
//! understood are counted by cause, never dropped silently, and only calls without an outcome are
//! held in memory.

mod claude;
mod mcp;
mod openai;
mod plain;
mod session;

use guard_plan::json::Json;
use guard_plan::naming::renamed;
use guard_plan::record::Record;
use guard_plan::replay_report::SkippedLines;
use guard_plan::{render, time};
use session::{LoggedOutcome, RecordBuilder};
use std::collections::HashMap;

/// The maximum number of sessions in one file.
const SESSIONS: usize = 10_000;
/// The maximum number of distinct causes.
const CAUSES: usize = 50;

/// The supported log formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Transcripts of Claude Code, one object per line.
    ClaudeCode,
    /// Messages with `tool_calls`, or items of the Responses API.
    OpenAi,
    /// JSON-RPC messages of the Model Context Protocol.
    Mcp,
    /// `{tool, args, outcome}`, one per line.
    Plain,
}

impl Form {
    /// Detects the format of a log that contains this value; `None` if the value is not specific to
    /// a format.
    pub fn detect(json: &Json) -> Option<Form> {
        let has = |name: &str| json.get(name).is_some();
        let text = |name: &str| json.get(name).and_then(Json::as_str);
        if let Json::Array(items) = json {
            return items.iter().find_map(Form::detect);
        }
        if mcp::message(json).is_some() {
            return Some(Form::Mcp);
        }
        let spoken = matches!(text("type"), Some("user" | "assistant" | "system"));
        if spoken && (has("message") || has("sessionId") || has("session_id")) {
            return Some(Form::ClaudeCode);
        }
        let items = matches!(text("type"), Some("function_call" | "function_call_output"));
        if items || has("messages") || (has("role") && (has("content") || has("tool_calls"))) {
            return Some(Form::OpenAi);
        }
        (text("tool").is_some() || text("prompt").is_some()).then_some(Form::Plain)
    }

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Form::ClaudeCode => "claude-code",
            Form::OpenAi => "openai",
            Form::Mcp => "mcp",
            Form::Plain => "plain",
        }
    }
}

/// The consumer of the records, called with the session's id.
pub type RecordSink<'g> = dyn FnMut(&str, Record) + 'g;

/// An importer of one log.
#[derive(Debug)]
pub struct Importer {
    form: Option<Form>,
    /// The name of a session that has no name in the log.
    name: String,
    file: String,
    sessions: HashMap<String, RecordBuilder>,
    passed: Vec<SkippedLines>,
    /// The number of the current line.
    line: u64,
    calls: u64,
}

impl Importer {
    /// Returns an importer for a format, or for the format that the first lines show.
    pub fn new(form: Option<Form>, file: &str, name: &str) -> Importer {
        let file = file.to_owned();
        let name = name.to_owned();
        let sessions = HashMap::new();
        let passed = Vec::new();
        Importer { form, name, file, sessions, passed, line: 0, calls: 0 }
    }

    /// Returns the format, once it is known.
    pub fn form(&self) -> Option<Form> {
        self.form
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The lines skipped so far.
    pub fn passed_over(&self) -> &[SkippedLines] {
        &self.passed
    }

    /// Imports one line. If text precedes the JSON, as in server logs, it may contain the time.
    pub fn line(&mut self, number: u64, line: &[u8], give: &mut RecordSink<'_>) {
        self.line = number;
        let Ok(text) = std::str::from_utf8(line) else { return self.pass("it is not UTF-8") };
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let parsed = Json::parse(text);
        match parsed {
            Ok(json) => self.value(number, &json, None, give),
            Err(error) => match text.find("{\"").map(|at| text.split_at(at)) {
                Some((before, rest)) if !before.is_empty() => match Json::parse(rest) {
                    Ok(json) => {
                        let words = before.split([' ', '[', ']', '\t']);
                        let at = words.filter_map(time::parse_rfc3339).next();
                        self.value(number, &json, at, give);
                    }
                    Err(_) => self.pass("it is not JSON"),
                },
                _ if text.starts_with(['{', '[']) => {
                    self.pass(&format!("it is JSON that is not accepted: {}", error.message));
                }
                _ => self.pass("it is not JSON"),
            },
        }
    }

    /// Counts a line that exceeds the size limit.
    pub fn too_long(&mut self, number: u64) {
        self.line = number;
        self.pass("it is longer than 64 MiB");
    }

    /// Imports one parsed value of a log.
    pub fn value(&mut self, number: u64, json: &Json, at: Option<i64>, give: &mut RecordSink<'_>) {
        self.line = number;
        let Some(form) = self.form.or_else(|| Form::detect(json)) else {
            return self.pass("its form is unknown");
        };
        self.form = Some(form);
        match form {
            Form::ClaudeCode => claude::value(self, json, give),
            Form::OpenAi => openai::value(self, json, give),
            Form::Mcp => mcp::value(self, json, at, give),
            Form::Plain => plain::value(self, json, give),
        }
    }

    /// Ends the log: pending calls have no outcome.
    pub fn end(&mut self) {
        let open: u64 = self.sessions.values().map(RecordBuilder::open).sum();
        if open > 0 {
            self.passed.push(SkippedLines {
                file: self.file.clone(),
                why: "the outcome of a call is not in the log: it stays in flight".into(),
                first: self.line,
                lines: open,
            });
        }
    }

    /// Returns the session of a line.
    fn session(&mut self, name: Option<&str>) -> Option<&mut RecordBuilder> {
        let name = name.unwrap_or(&self.name).to_owned();
        if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(&name) {
            self.pass("there are more than 10,000 sessions in the file");
            return None;
        }
        let builder = self.sessions.entry(name);
        Some(builder.or_insert_with_key(|name| RecordBuilder::new(name)))
    }

    #[allow(clippy::too_many_arguments, reason = "what a log says of a call")]
    fn call(
        &mut self,
        session: &str,
        at: Option<i64>,
        id: &str,
        tool: &str,
        args: Json,
        ran: bool,
        give: &mut RecordSink<'_>,
    ) {
        let Some(builder) = self.sessions.get_mut(session) else { return };
        let args = named(args);
        match builder.call(at, id, tool, args, ran) {
            Some(records) => {
                self.calls += 1;
                records.into_iter().for_each(|record| give(session, record));
            }
            None => self.pass("a call whose id is in flight already, or one call too many"),
        }
    }

    fn outcome(
        &mut self,
        session: &str,
        at: Option<i64>,
        id: &str,
        outcome: LoggedOutcome,
        give: &mut RecordSink<'_>,
    ) {
        let Some(builder) = self.sessions.get_mut(session) else { return };
        match builder.outcome(at, id, outcome) {
            Some(records) => records.into_iter().for_each(|record| give(session, record)),
            None => self.pass("the outcome of a call that is not in flight"),
        }
    }

    fn prompt(&mut self, session: &str, at: Option<i64>, text: &str, give: &mut RecordSink<'_>) {
        let Some(builder) = self.sessions.get_mut(session) else { return };
        builder.prompt(at, text).into_iter().for_each(|record| give(session, record));
    }

    /// Counts a skipped line.
    fn pass(&mut self, why: &str) {
        let why = render::cut(why, 200);
        let room = self.passed.len() < CAUSES;
        let why = if room { why } else { "for other causes".into() };
        match self.passed.iter_mut().find(|passed| passed.why == why) {
            Some(known) => known.lines += 1,
            None => {
                let file = self.file.clone();
                let first = self.line;
                self.passed.push(SkippedLines { file, why, first, lines: 1 });
            }
        }
    }
}

/// The last millisecond of the year 9999: later times cannot be formatted.
const LAST: i64 = 253_402_300_799_999;

/// Parses a time in a log: RFC 3339, or seconds or milliseconds since 1970. `None` if it is
/// invalid.
fn time_of(json: &Json) -> Option<i64> {
    written_time(json).filter(|time| (0..=LAST).contains(time))
}

fn written_time(json: &Json) -> Option<i64> {
    let named = ["timestamp", "time", "ts", "created_at"].iter().find_map(|name| json.get(name))?;
    match named {
        Json::String(text) => time::parse_rfc3339(text),
        // The year 5138 in seconds is the year 1973 in milliseconds.
        Json::Int(number) if number.unsigned_abs() >= 100_000_000_000 => Some(*number),
        Json::Int(number) => number.checked_mul(1000),
        Json::Number(text) => {
            let seconds: f64 = text.parse().ok()?;
            let millis = if seconds.abs() >= 1e11 { seconds } else { seconds * 1000.0 };
            (millis.abs() < 9e15).then_some(millis as i64)
        }
        _ => None,
    }
}

/// Returns the texts of a content: a string, or the text blocks of a list.
fn text_of(content: &Json) -> Option<String> {
    match content {
        Json::String(text) => Some(text.to_string()),
        Json::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| {
                let kind = block.get("type").and_then(Json::as_str);
                let is_text = matches!(kind, Some("text" | "input_text" | "output_text"));
                block.get("text").filter(|_| is_text).and_then(Json::as_str)
            });
            let texts: Vec<&str> = texts.collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// Returns the arguments under the names by which hooks and the proxy pass them to a guard, or
/// unchanged if two would have the same name.
fn named(args: Json) -> Json {
    let Json::Object(members) = &args else { return args };
    let own: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    match renamed(&args, &own) {
        Ok(Some(named)) => named,
        Ok(None) | Err(_) => args,
    }
}

/// Returns the arguments, which may be JSON in a string.
fn arguments(json: Option<&Json>) -> Json {
    match json {
        None | Some(Json::Null) => Json::Object(Vec::new()),
        Some(Json::String(text)) if text.trim().is_empty() => Json::Object(Vec::new()),
        Some(Json::String(text)) => {
            Json::parse(text).unwrap_or_else(|_| Json::String(text.clone()))
        }
        Some(other) => other.clone(),
    }
}

#[cfg(test)]
mod tests;
