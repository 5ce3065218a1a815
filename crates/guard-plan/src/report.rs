//! The report of a producer's text under a contract (semantics §14), as data and as text.
//!
//! Independent of parsing and judging. Every offset counts bytes of the text, from 0.

use crate::json::Json;
use crate::plan::Root;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum length of the text kept in its report, in bytes.
pub const KEPT_TEXT: usize = 64 * 1024;
/// The maximum length of a quarantined unit's snippet, in characters.
pub const SNIPPET: usize = 500;
/// The maximum number of listed repairs, problems and passed-over documents; all repairs are
/// counted.
pub const LISTED: usize = 1000;

/// The state of a text after it was read against its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing was lost: every unit survived, the envelope is whole, the text was not cut, no other document holds units.
    Valid,
    /// Something was lost, and something can be used.
    Partial,
    /// No document was found, or no item survived where there were some.
    Lost,
}

impl State {
    /// Every state, best first.
    pub const ALL: [State; 3] = [State::Valid, State::Partial, State::Lost];

    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Valid => "valid",
            State::Partial => "partial",
            State::Lost => "lost",
        }
    }
}

/// The reason why a unit did not survive, in the order of judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// It cannot be read.
    Malformed,
    /// The text ends within it.
    Truncated,
    /// It has not the declared shape.
    Schema,
    /// It is too deep, too long, or holds too long a string.
    Bounds,
    /// It refers to what is not known.
    Reference,
    /// There are enough better ones.
    OverLimit,
}

impl QuarantineReason {
    /// Every reason, in the order of judging.
    pub const ALL: [QuarantineReason; 6] = [
        QuarantineReason::Malformed,
        QuarantineReason::Truncated,
        QuarantineReason::Schema,
        QuarantineReason::Bounds,
        QuarantineReason::Reference,
        QuarantineReason::OverLimit,
    ];

    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            QuarantineReason::Malformed => "malformed",
            QuarantineReason::Truncated => "truncated",
            QuarantineReason::Schema => "schema",
            QuarantineReason::Bounds => "bounds",
            QuarantineReason::Reference => "reference",
            QuarantineReason::OverLimit => "over_limit",
        }
    }
}

/// The number of lines of a text in which places are told by line and column.
pub const LINES: usize = 20_000;

/// A repair of the text that neither loses nor invents data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// A comment was left out.
    Comment,
    /// A blank that is none in JSON was replaced.
    Blank,
    /// A comma was left out or supplied.
    Comma,
    /// A colon was supplied.
    Colon,
    /// A key was quoted.
    Key,
    /// Other quotes around a string were replaced.
    Quotes,
    /// A control character in a string was escaped.
    Control,
    /// `\'` in a string became `'`.
    Escape,
    /// `True`, `False`, `None` and the like became JSON's words.
    Literal,
    /// A closing bracket was supplied, or one too many was left out.
    Closer,
    /// A value was taken in another form, as the contract says.
    Coercion,
}

impl Fix {
    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fix::Comment => "comment",
            Fix::Blank => "blank",
            Fix::Comma => "comma",
            Fix::Colon => "colon",
            Fix::Key => "key",
            Fix::Quotes => "quotes",
            Fix::Control => "control",
            Fix::Escape => "escape",
            Fix::Literal => "literal",
            Fix::Closer => "closer",
            Fix::Coercion => "coercion",
        }
    }
}

/// A part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
}

/// A position as an editor counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The line, from 1.
    pub line: u64,
    /// The byte of the line, from 1.
    pub column: u64,
}

/// An item that survived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeptItem {
    /// Its place among the units of its list, from 0, those that did not survive included.
    pub index: u64,
    /// Where it stands.
    pub at: Extent,
    /// Its value, without those of its own items that did not survive.
    pub value: Json,
    /// Something in it was repaired.
    pub repaired: bool,
    /// It was found by looking for it, after something that could not be read.
    pub resynchronised: bool,
}

/// A unit that did not survive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quarantined {
    /// Its list; a list within items is named with those around it: `sections.findings`.
    pub list: String,
    /// Its place among the units of its list, from 0.
    pub index: u64,
    /// The item around it, by its place; none where the document is.
    pub within: Option<u64>,
    /// Why it did not survive.
    pub reason: QuarantineReason,
    /// What exactly is wrong.
    pub error: String,
    /// Its text, or the first [`SNIPPET`] characters of it.
    pub raw: String,
    /// Where it stands.
    pub at: Extent,
    /// The place where it begins; none behind the first [`LINES`] lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// A repair, and where it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// The byte at which it was made.
    pub at: u64,
    /// What was put right.
    pub fix: Fix,
}

/// A problem of the envelope or of one of its members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The member; empty for the envelope itself.
    pub member: String,
    /// In which way.
    pub reason: QuarantineReason,
    /// What exactly.
    pub error: String,
}

/// A document that is not the answer, because another one is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OtherDocument {
    /// Where it stands.
    pub at: Extent,
    /// How many units it holds.
    pub units: u64,
}

/// The kind of a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// Prose, fences, blanks: what stands around documents.
    Text,
    /// What the producer thought before it answered.
    Reasoning,
    /// The document but for its items.
    Envelope,
    /// An item that survived, and the separator behind it.
    Item,
    /// Units that did not survive, and the separators behind them.
    Quarantined,
    /// A document that is not the answer.
    PassedOver,
    /// More parts than are told apart.
    Mixed,
}

/// A part of the text and what it is. Together they are the whole text, in order, without overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextSpan {
    /// What it is.
    pub kind: SpanKind,
    /// Where it stands.
    pub at: Extent,
}

/// The text that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawText {
    /// Its length in bytes.
    pub length: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its first [`KEPT_TEXT`] bytes; what is not UTF-8 in them is replaced.
    pub start: String,
}

/// The report on a text that was read against a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The contract's name.
    pub contract: String,
    /// What the document is.
    #[serde(default, skip_serializing_if = "is_envelope")]
    pub root: Root,
    /// What remains.
    pub state: State,
    /// A person should look: it is not `valid`, or something was repaired, found again or passed over.
    pub review_required: bool,
    /// The text ends within a unit or the document, or the producer's finish reason says that it was cut.
    pub truncated: bool,
    /// The envelope's members that hold, but for its item lists: an object.
    pub envelope: Json,
    /// What is wrong with the envelope.
    pub problems: Vec<Problem>,
    /// The items that survived, by list, in the order of the text.
    pub items: BTreeMap<String, Vec<KeptItem>>,
    /// The units that did not, in the order of the text; as many as `bounds` keeps.
    pub quarantined: Vec<Quarantined>,
    /// How many did not.
    pub quarantined_count: u64,
    /// What was repaired, in the order of the text; the first [`LISTED`].
    pub repairs: Vec<Repair>,
    /// How much was repaired.
    pub repairs_count: u64,
    /// References that nobody checked, because the host handed no such list over.
    pub unchecked: Vec<String>,
    /// Documents that are not the answer; the first [`LISTED`].
    pub passed_over: Vec<OtherDocument>,
    /// The text itself.
    pub text: RawText,
    /// What each part of the text is.
    pub spans: Vec<TextSpan>,
}

fn is_envelope(root: &Root) -> bool {
    *root == Root::Envelope
}

impl Report {
    /// The number of valid items.
    pub fn kept(&self) -> usize {
        self.items.values().map(Vec::len).sum()
    }

    /// Returns what survived, and nothing else: an object of the envelope's members and the items, or
    /// the list or value that the document is.
    pub fn values(&self) -> Json {
        let mut members = match &self.envelope {
            Json::Object(members) => members.to_vec(),
            _ => Vec::new(),
        };
        members.extend(self.items.iter().map(|(list, items)| {
            let values = items.iter().map(|item| item.value.clone()).collect();
            (list.as_str().into(), Json::Array(values))
        }));
        match self.root {
            Root::Envelope => Json::Object(members),
            _ => members.into_iter().next().map_or(Json::Null, |(_, value)| value),
        }
    }

    /// Describes the problems that keep it from being `valid` and the unchecked references, up to a
    /// maximum number.
    pub fn lacks(&self, most: usize) -> String {
        let envelope = self.problems.iter().map(|problem| {
            let member = if problem.member.is_empty() { "the envelope" } else { &problem.member };
            format!("{member}: {}: {}", problem.reason.name(), problem.error)
        });
        let units = self.quarantined.iter().map(|unit| {
            format!("{}[{}]: {}: {}", unit.list, unit.index, unit.reason.name(), unit.error)
        });
        let unchecked = self.unchecked.iter().map(|text| format!("nobody can check `{text}`"));
        let mut said: Vec<String> = envelope.chain(units).chain(unchecked).take(most).collect();
        if said.is_empty() && self.truncated {
            said.push("it is cut".into());
        } else if said.is_empty() && self.passed_over.iter().any(|other| other.units > 0) {
            said.push("it holds several documents".into());
        } else if said.is_empty() {
            said.push("it holds no document".into());
        }
        let lost = self.problems.len() as u64 + self.quarantined_count;
        let more = (lost + self.unchecked.len() as u64).saturating_sub(said.len() as u64);
        if more > 0 {
            said.push(format!("and {more} more"));
        }
        said.join("; ")
    }

    /// Returns the report as text: one fact per line.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let state = self.state.name();
        let cut = if self.truncated { ", truncated" } else { "" };
        let review = if self.review_required { ", review required" } else { "" };
        let _ = writeln!(out, "{}: {state}{cut}{review}", self.contract);
        for (list, items) in &self.items {
            let _ = writeln!(out, "  {list}: {} kept", items.len());
        }
        for Problem { member, reason, error } in &self.problems {
            let member = if member.is_empty() { "the envelope" } else { member };
            let _ = writeln!(out, "  {member}: {}: {error}", reason.name());
        }
        for unit in &self.quarantined {
            let within = unit.within.map_or(String::new(), |index| format!(" of item {index}"));
            let list = &unit.list;
            let index = unit.index;
            let reason = unit.reason.name();
            let Extent { start, end } = unit.at;
            let _ =
                writeln!(out, "  {list}[{index}]{within} quarantined: {reason}: {}", unit.error);
            let shown = crate::render::cut(&unit.raw, 80);
            let place = unit.place.map_or(String::new(), |Place { line, column }| {
                format!("line {line}, column {column}, ")
            });
            let _ = writeln!(out, "    {place}bytes {start}..{end}: {shown}");
        }
        let more = self.quarantined_count - self.quarantined.len() as u64;
        if more > 0 {
            let _ = writeln!(out, "  and {more} more quarantined");
        }
        self.notes(&mut out);
        out
    }

    fn notes(&self, out: &mut String) {
        let mut fixes: BTreeMap<Fix, u64> = BTreeMap::new();
        for repair in &self.repairs {
            *fixes.entry(repair.fix).or_default() += 1;
        }
        if !fixes.is_empty() {
            let said: Vec<String> =
                fixes.iter().map(|(fix, count)| format!("{} {count}", fix.name())).collect();
            let _ = writeln!(out, "  repaired ({}): {}", self.repairs_count, said.join(", "));
        }
        let found = self.items.values().flatten().filter(|item| item.resynchronised).count();
        if found > 0 {
            let _ = writeln!(out, "  found again after something unreadable: {found}");
        }
        for OtherDocument { at, units } in &self.passed_over {
            let _ = writeln!(
                out,
                "  passed over: another document of {units} units at bytes {}..{}",
                at.start, at.end
            );
        }
        if !self.unchecked.is_empty() {
            let _ = writeln!(out, "  not checked: {}", self.unchecked.join(", "));
        }
    }
}
