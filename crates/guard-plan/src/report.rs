//! The report of a producer's text under a contract (semantics §14), as data and as text.
//!
//! This module neither parses nor judges. Every offset is in bytes of the text, from 0.

use crate::json::Json;
use crate::plan::Root;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum length of the text that the report keeps, in bytes.
pub const KEPT_TEXT: usize = 64 * 1024;
/// The maximum length of a quarantined unit's snippet, in characters.
pub const SNIPPET: usize = 500;
/// The maximum number of listed repairs, problems and passed-over documents. All repairs are
/// counted.
pub const LISTED: usize = 1000;

/// The state of a text after it was checked against its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing was lost: every unit is valid, the envelope is complete, the text was not cut off,
    /// and no other document contains units.
    Valid,
    /// Something was lost, and something is usable.
    Partial,
    /// No document was found, or the text has items and none of them is valid.
    Lost,
}

impl State {
    /// Every state, best first.
    pub const ALL: [State; 3] = [State::Valid, State::Partial, State::Lost];

    /// Returns the name of the state, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            State::Valid => "valid",
            State::Partial => "partial",
            State::Lost => "lost",
        }
    }
}

/// The reason why a unit is not valid, in the order of checking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// The unit cannot be parsed.
    Malformed,
    /// The text ends within the unit.
    Truncated,
    /// The unit does not have the declared shape.
    Schema,
    /// The unit is too deep, is too long, or contains a string that is too long.
    Bounds,
    /// The unit refers to an unknown value.
    Reference,
    /// There are enough units that rank higher.
    OverLimit,
}

impl QuarantineReason {
    /// All reasons, in the order of checking.
    pub const ALL: [QuarantineReason; 6] = [
        QuarantineReason::Malformed,
        QuarantineReason::Truncated,
        QuarantineReason::Schema,
        QuarantineReason::Bounds,
        QuarantineReason::Reference,
        QuarantineReason::OverLimit,
    ];

    /// Returns the name of the reason, as in JSON.
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

/// The number of lines of a text up to which positions are given by line and column.
pub const LINES: usize = 20_000;

/// A repair of the text that neither loses nor invents data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// A comment was removed.
    Comment,
    /// A whitespace character that JSON does not permit was replaced.
    Blank,
    /// A comma was removed or added.
    Comma,
    /// A colon was added.
    Colon,
    /// A key was quoted.
    Key,
    /// The quotes around a string were replaced.
    Quotes,
    /// A control character in a string was escaped.
    Control,
    /// `\'` in a string became `'`.
    Escape,
    /// `True`, `False`, `None` and similar words became those of JSON.
    Literal,
    /// A closing bracket was added or removed.
    Closer,
    /// A value was converted from another form, as the contract permits.
    Coercion,
}

impl Fix {
    /// Returns the name of the repair, as in JSON.
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

/// A range of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// The first byte.
    pub start: u64,
    /// The byte after the last one.
    pub end: u64,
}

/// A position as an editor shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
}

/// A valid item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KeptItem {
    /// The index of the item among the units of its list, from 0. Units that are not valid are
    /// counted, too.
    pub index: u64,
    /// The range of the item in the text.
    pub at: Extent,
    /// The value of the item, without those of its own items that are not valid.
    pub value: Json,
    /// True if a part of the item was repaired.
    pub repaired: bool,
    /// True if the item was found by resynchronising after text that could not be parsed.
    pub resynchronised: bool,
}

/// A unit that is not valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quarantined {
    /// The name of the list. The name of a list within items contains the enclosing lists:
    /// `sections.findings`.
    pub list: String,
    /// The index of the unit among the units of its list, from 0.
    pub index: u64,
    /// The index of the enclosing item; none if the list belongs to the document.
    pub within: Option<u64>,
    /// The reason why the unit is not valid.
    pub reason: QuarantineReason,
    /// The exact problem.
    pub error: String,
    /// The text of the unit, or its first [`SNIPPET`] characters.
    pub raw: String,
    /// The range of the unit in the text.
    pub at: Extent,
    /// The position of its start; none after the first [`LINES`] lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// A repair and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// The byte offset of the repair.
    pub at: u64,
    /// The kind of repair.
    pub fix: Fix,
}

/// A problem of the envelope or of one of its members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The name of the member; empty for the envelope itself.
    pub member: String,
    /// The kind of problem.
    pub reason: QuarantineReason,
    /// The exact problem.
    pub error: String,
}

/// A document that is not the answer, because another document is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OtherDocument {
    /// The range of the document in the text.
    pub at: Extent,
    /// The number of units in the document.
    pub units: u64,
}

/// The kind of a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// The text around documents: prose, fences, whitespace.
    Text,
    /// The reasoning of the producer before its answer.
    Reasoning,
    /// The document without its items.
    Envelope,
    /// A valid item, and the separator after it.
    Item,
    /// Units that are not valid, and the separators after them.
    Quarantined,
    /// A document that is not the answer.
    PassedOver,
    /// Several parts that are not distinguished, because there are too many.
    Mixed,
}

/// A range of the text and its kind. Together the ranges cover the whole text, in order, without
/// overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TextSpan {
    /// The kind of the range.
    pub kind: SpanKind,
    /// The range in the text.
    pub at: Extent,
}

/// The text that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RawText {
    /// The length in bytes.
    pub length: u64,
    /// The SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The first [`KEPT_TEXT`] bytes. Invalid UTF-8 in them is replaced.
    pub start: String,
}

/// The report on a text that was checked against a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The contract's name.
    pub contract: String,
    /// The form of the document.
    #[serde(default, skip_serializing_if = "is_envelope")]
    pub root: Root,
    /// The state of the text.
    pub state: State,
    /// True if a person should look at the text: it is not `valid`, or something was repaired,
    /// resynchronised or passed over.
    pub review_required: bool,
    /// True if the text ends within a unit or the document, or the producer's finish reason says
    /// that the text was cut off.
    pub truncated: bool,
    /// The valid members of the envelope without its item lists, as an object.
    pub envelope: Json,
    /// The problems of the envelope.
    pub problems: Vec<Problem>,
    /// The valid items, by list, in the order of the text.
    pub items: BTreeMap<String, Vec<KeptItem>>,
    /// The units that are not valid, in the order of the text, up to the number in `bounds`.
    pub quarantined: Vec<Quarantined>,
    /// The number of units that are not valid.
    pub quarantined_count: u64,
    /// The repairs, in the order of the text; the first [`LISTED`].
    pub repairs: Vec<Repair>,
    /// The number of repairs.
    pub repairs_count: u64,
    /// The references that were not checked, because the host provided no such list.
    pub unchecked: Vec<String>,
    /// The documents that are not the answer; the first [`LISTED`].
    pub passed_over: Vec<OtherDocument>,
    /// The text itself.
    pub text: RawText,
    /// The kinds of all ranges of the text.
    pub spans: Vec<TextSpan>,
}

fn is_envelope(root: &Root) -> bool {
    *root == Root::Envelope
}

impl Report {
    /// Returns the number of valid items.
    pub fn kept(&self) -> usize {
        self.items.values().map(Vec::len).sum()
    }

    /// Returns only the valid values: an object of the envelope's members and the items, or the
    /// list or value that is the document.
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

    /// Describes the problems that prevent the state `valid`, and the unchecked references, up to a
    /// maximum number.
    pub fn lacks(&self, most: usize) -> String {
        let envelope = self.problems.iter().map(|problem| {
            let member = if problem.member.is_empty() { "the envelope" } else { &problem.member };
            format!("{member}: {}: {}", problem.reason.name(), problem.error)
        });
        let units = self.quarantined.iter().map(|unit| {
            format!("{}[{}]: {}: {}", unit.list, unit.index, unit.reason.name(), unit.error)
        });
        let unchecked = self.unchecked.iter().map(|text| format!("`{text}` could not be checked"));
        let mut said: Vec<String> = envelope.chain(units).chain(unchecked).take(most).collect();
        if said.is_empty() && self.truncated {
            said.push("it is cut".into());
        } else if said.is_empty() && self.passed_over.iter().any(|other| other.units > 0) {
            said.push("it contains several documents".into());
        } else if said.is_empty() {
            said.push("it contains no document".into());
        }
        let lost = self.problems.len() as u64 + self.quarantined_count;
        let more = (lost + self.unchecked.len() as u64).saturating_sub(said.len() as u64);
        if more > 0 {
            said.push(format!("and {more} more"));
        }
        said.join("; ")
    }

    /// Returns the report as text, with one fact per line.
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
