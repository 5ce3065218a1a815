//! Property tests of damaged documents: generated documents under the contract `Actions`, damaged
//! by edits, cuts and splices, and compared with a strict reader of the undamaged document.
//!
//! - `valid` means that the values are those of the undamaged document.
//! - A delivered item is an item of the undamaged document, unless the damage changed only its
//!   content.
//! - Every byte is in exactly one span, and lost units are counted.

use super::build::*;
use guard_contract::{Checker, Input};
use guard_plan::json::Json;
use guard_plan::plan::TypeDef;
use guard_plan::random::Rng;
use guard_plan::report::{Report, State};
use std::collections::BTreeSet;
use std::fmt;

/// Returns a contract with `acts: {action, target, dry_run?, evidence?}`, `total: int?`, `label:
/// string?`.
pub fn actions() -> Builder {
    let mut b = Builder::new();
    let flag = b.ty(TypeDef::Bool);
    let act = b.act("dry_run", flag);
    let acts = b.ty(TypeDef::List { of: act, max: None });
    let total = b.ty(TypeDef::Option { of: INT });
    let label = b.ty(TypeDef::Option { of: STRING });
    let fields = vec![field("acts", acts), field("total", total), field("label", label)];
    let record = b.record("contract Actions", fields);
    let contract = b.contract();
    contract.name = "Actions".into();
    contract.record = record;
    contract.lists = vec![list(0, "acts", act, None, None)];
    contract.bounds.quarantine = 10_000;
    b
}

/// An undamaged document: its text, its items, and their positions.
pub struct Document {
    pub text: String,
    pub items: Vec<(Json, usize, usize)>,
    pub envelope: Vec<(Box<str>, Json)>,
}

const WORDS: [&str; 10] = [
    "delete",
    "it's done",
    "a, b: c",
    "say {x} [y]",
    "/",
    "no \"quotes\"",
    "x",
    "für \\ dich",
    "{\"action\":\"NESTED\",\"target\":\"NESTED\"}",
    "",
];

struct Style {
    comma: &'static str,
    colon: &'static str,
    /// The text between the items.
    line: &'static str,
    /// True if the members of an item are on separate lines.
    tall: bool,
}

const STYLES: [Style; 4] = [
    Style { comma: ",", colon: ":", line: "", tall: false },
    Style { comma: ", ", colon: ": ", line: " ", tall: false },
    Style { comma: ", ", colon: ": ", line: "\n    ", tall: false },
    Style { comma: ",", colon: ": ", line: "\n    ", tall: true },
];

fn text(rng: &mut Rng) -> String {
    Json::string(WORDS[rng.below(WORDS.len())]).to_string()
}

fn any(rng: &mut Rng, deep: usize) -> String {
    match rng.below(if deep == 0 { 5 } else { 9 }) {
        0 => rng.below(40_000).to_string(),
        1 => (*rng.pick(&["true", "null", "-1.5e3"])).into(),
        2 | 3 => text(rng),
        4 => (*rng.pick(&["[]", "{}", "\"\"", "7"])).into(),
        5 => {
            let all: Vec<String> = (0..rng.below(4)).map(|_| any(rng, deep - 1)).collect();
            format!("[{}]", all.join(","))
        }
        6 => format!("{{\"x\":{},\"dry_run\":{}}}", any(rng, deep - 1), any(rng, deep - 1)),
        7 => format!("[{}]", nested(rng)),
        _ => nested(rng),
    }
}

/// Returns a text that looks like an item, and is within one.
fn nested(rng: &mut Rng) -> String {
    let look_alike = |n: usize| format!("{{\"action\":\"NESTED\",\"target\":\"NESTED{n}\"}}");
    match rng.below(3) {
        0 => look_alike(1),
        1 => format!("[{}{}{}]", look_alike(1), rng.pick(&[",", ", "]), look_alike(2)),
        _ => format!("{{\"acts\":[{}],\"total\":666}}", look_alike(3)),
    }
}

/// Returns a valid document.
pub fn document(rng: &mut Rng) -> Document {
    let style = &STYLES[rng.below(4)];
    let mut text_ = String::from("{");
    let mut items = Vec::new();
    let mut envelope: Vec<(Box<str>, Json)> = Vec::new();
    let mut members = vec![0, 1, 2];
    if rng.chance(50) {
        members.reverse();
    }
    members.retain(|member| *member == 0 || rng.chance(60));
    for (at, member) in members.iter().enumerate() {
        text_ += if at > 0 { style.comma } else { "" };
        text_ += if style.tall { "\n  " } else { "" };
        match member {
            0 => list_of_items(rng, style, &mut text_, &mut items),
            1 => {
                let total = rng.below(99_999);
                text_ += &format!("\"total\"{}{total}", style.colon);
                envelope.push(("total".into(), Json::Int(total as i64)));
            }
            _ => {
                let label = text(rng);
                text_ += &format!("\"label\"{}{label}", style.colon);
                envelope.push(("label".into(), Json::parse(&label).expect("it is JSON")));
            }
        }
    }
    text_ += if style.tall { "\n}" } else { "}" };
    envelope.sort_by(|a, b| b.0.cmp(&a.0));
    Document { text: text_, items, envelope }
}

fn list_of_items(
    rng: &mut Rng,
    style: &Style,
    out: &mut String,
    items: &mut Vec<(Json, usize, usize)>,
) {
    *out += &format!("\"acts\"{}[", style.colon);
    for at in 0..rng.below(6) {
        if at > 0 {
            *out += ",";
        }
        *out += style.line;
        let start = out.len();
        let inner = if style.tall { ",\n      " } else { style.comma };
        let member = |name: &str, value: String| format!("\"{name}\"{}{value}", style.colon);
        let mut members = vec![member("action", text(rng)), member("target", text(rng))];
        if rng.chance(40) {
            members.push(member("dry_run", (*rng.pick(&["true", "false", "null"])).into()));
        }
        if rng.chance(60) {
            let place = rng.below(members.len() + 1);
            let value = any(rng, 2);
            members.insert(place, member("evidence", value));
        }
        *out += &format!("{{{}}}", members.join(inner));
        let value = Json::parse(&out[start..]).expect("it is JSON");
        items.push((value, start, out.len()));
    }
    *out += if style.tall && !items.is_empty() { "\n  ]" } else { "]" };
}

/// Returns the list of a document as a separate document, for a contract whose document is a list.
pub fn list_alone(document: &Document) -> Document {
    let name = document.text.find("\"acts\"").expect("it has its list");
    let start = name + document.text[name..].find('[').expect("it is a list");
    let behind = document.items.last().map_or(start + 1, |item| item.2);
    let end = behind + document.text[behind..].find(']').expect("it ends") + 1;
    let items = document.items.iter();
    Document {
        text: document.text[start..end].to_owned(),
        items: items.map(|(value, from, to)| (value.clone(), from - start, to - start)).collect(),
        envelope: Vec::new(),
    }
}

/// The kind of damage to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    OneEdit,
    TwoEdits,
    /// Only edits of brackets, commas, colons and quotes.
    OneMark,
    TwoMarks,
    /// The text is cut off.
    Cut,
    /// A part is missing.
    Gap,
    /// A part of another document is inserted, or follows the beginning.
    Splice,
}

pub const KINDS: [Kind; 7] = [
    Kind::OneEdit,
    Kind::TwoEdits,
    Kind::OneMark,
    Kind::TwoMarks,
    Kind::Cut,
    Kind::Gap,
    Kind::Splice,
];

/// A damaged text, and the damaged positions of the original text.
pub struct Damaged {
    pub text: String,
    pub touched: Vec<(usize, usize)>,
    /// The items of the document that was spliced in.
    pub others: Vec<Json>,
}

/// Returns the offsets of the marks outside of strings. A mark that is inserted there is also
/// outside.
fn marks(text: &str) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' if inside => escaped = true,
            b'"' => {
                inside = !inside;
                found.push((at, !inside));
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' if !inside => found.push((at, false)),
            _ => {}
        }
    }
    found
}

const MARKS: [char; 7] = ['{', '}', '[', ']', ',', ':', '"'];
const ANY: [char; 20] = [
    '{', '}', '[', ']', ',', ':', '"', '"', '}', ']', '\\', '\'', '/', 'x', '0', ' ', '\n', 'é',
    '“', '-',
];

pub fn damage(rng: &mut Rng, document: &Document, kind: Kind) -> Damaged {
    let mut text = document.text.clone();
    let mut touched = Vec::new();
    let mut others = Vec::new();
    let place = |rng: &mut Rng, text: &str| {
        let mut at = rng.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    match kind {
        Kind::OneEdit | Kind::TwoEdits | Kind::OneMark | Kind::TwoMarks => {
            let only_marks = matches!(kind, Kind::OneMark | Kind::TwoMarks);
            let set: &[char] = if only_marks { &MARKS } else { &ANY };
            let count = 1 + usize::from(matches!(kind, Kind::TwoEdits | Kind::TwoMarks));
            let all = marks(&text);
            let mut places: Vec<(usize, bool)> = (0..count)
                .map(|_| if only_marks { *rng.pick(&all) } else { (place(rng, &text), false) })
                .collect();
            // From the end, so that the offsets are those of the undamaged text.
            places.sort_unstable_by(|a, b| b.cmp(a));
            places.dedup();
            for (mut at, closing) in places {
                let len = text[at..].chars().next().map_or(0, char::len_utf8);
                let with = match rng.below(3) {
                    0 => (len, String::new()),
                    1 => (0, rng.pick(set).to_string()),
                    _ => (len, rng.pick(set).to_string()),
                };
                at += usize::from(closing && with.0 == 0);
                text.replace_range(at..at + with.0, &with.1);
                touched.push((at, at + with.0));
            }
        }
        Kind::Cut => {
            let at = place(rng, &text);
            touched.push((at, text.len()));
            text.truncate(at);
        }
        Kind::Gap => {
            let a = place(rng, &text);
            let b = place(rng, &text);
            let from = a.min(b);
            let mut to = if rng.chance(50) { a.max(b) } else { a.max(b).min(from + 20) };
            while !text.is_char_boundary(to) {
                to += 1;
            }
            text.replace_range(from..to, "");
            touched.push((from, to));
        }
        Kind::Splice => {
            let other = self::document(rng);
            let at = place(rng, &text);
            let a = place(rng, &other.text);
            let b = place(rng, &other.text);
            others = other.items.iter().map(|item| item.0.clone()).collect();
            if rng.chance(50) {
                touched.push((at, text.len()));
                text.replace_range(at.., &other.text[a..]);
            } else {
                touched.push((at, at));
                text.insert_str(at, &other.text[a.min(b)..a.max(b)]);
            }
        }
    }
    Damaged { text, touched, others }
}

/// The recall of undamaged items: the number of undamaged items, and the number that were found.
#[derive(Debug, Default, Clone, Copy)]
pub struct Recall {
    pub all: u64,
    pub found: u64,
    pub valid: u64,
    pub texts: u64,
    /// The number of items of the last text that were not found.
    pub last: u64,
}

impl fmt::Display for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = 100.0 * self.found as f64 / self.all.max(1) as f64;
        let Recall { all, found, valid, texts, .. } = self;
        write!(f, "{found} of {all} undamaged items ({rate:.1}%), {valid} of {texts} valid")
    }
}

/// Checks the properties of a damaged text. Returns the violations.
pub fn judge(
    checker: &Checker,
    document: &Document,
    kind: Kind,
    damaged: &Damaged,
    recall: &mut Recall,
) -> Result<Report, String> {
    let text = &damaged.text;
    let report = checker.check(text.as_bytes(), &Input::none());
    covers(&report, text.len());
    let strict = Json::parse(text).ok();
    let list = if document.text.starts_with('[') { "items" } else { "acts" };
    let found: Vec<&Json> = report.items[list].iter().map(|item| &item.value).collect();
    let expected: Vec<&Json> = document.items.iter().map(|item| &item.0).collect();
    recall.texts += 1;
    recall.last = 0;
    recall.valid += u64::from(report.state == State::Valid);
    for (value, start, end) in &document.items {
        if damaged.touched.iter().all(|(from, to)| to <= start || end <= from) {
            recall.all += 1;
            recall.found += u64::from(found.contains(&value));
            recall.last += u64::from(!found.contains(&value));
        }
    }
    let mut members: Vec<(Box<str>, Json)> = match &report.envelope {
        Json::Object(members) => members.clone(),
        _ => Vec::new(),
    };
    members.sort_by(|a, b| b.0.cmp(&a.0));
    let same = found == expected && members == document.envelope;
    if report.state == State::Valid && !same && strict.is_none() {
        return Err(FALSELY_VALID.into());
    }
    if strict.is_some() {
        return Ok(report);
    }
    // If the name of the list is lost, its items cannot be distinguished from those of another
    // list.
    let name = document.text.find("\"acts\"").map_or(0..1, |at| at..at + 8);
    let gone = |touched: &(usize, usize)| touched.0 < name.end && touched.1 > name.start;
    let unnamed = kind == Kind::Splice || (kind == Kind::Gap && damaged.touched.iter().any(gone));
    for item in &report.items[list] {
        if expected.contains(&&item.value) || damaged.others.contains(&item.value) {
            continue;
        }
        let target = item.value.get("target").and_then(Json::as_str).unwrap_or_default();
        if target.starts_with("NESTED") && target.len() > 6 && !unnamed {
            return Err(format!("what stands within an item is delivered: {}", item.value));
        }
        if matches!(kind, Kind::OneMark | Kind::TwoMarks) {
            return Err(format!("it is not an item of the document: {}", item.value));
        }
        let raw = &text[item.at.start as usize..item.at.end as usize];
        let loose = raw.trim_end_matches('}').trim_end().trim_end_matches(',').to_owned() + "}";
        let is = |text: &str| Json::parse(text).ok().as_ref() == Some(&item.value);
        // A raw line break in a string, and a comma before a brace, are repaired.
        if !is(raw)
            && !is(&lines_escaped(raw).replace("\\'", "'"))
            && !is(&loose)
            && kind != Kind::TwoEdits
        {
            return Err(format!("a guess is delivered: {}", item.value));
        }
    }
    if matches!(kind, Kind::OneMark | Kind::TwoMarks | Kind::Cut) {
        let strange = members.iter().find(|member| !document.envelope.contains(member));
        if let Some((name, value)) = strange {
            return Err(format!("the envelope's `{name}` is {value}"));
        }
    }
    Ok(report)
}

/// Escapes line breaks in strings.
fn lines_escaped(text: &str) -> String {
    let mut inside = false;
    let mut escaped = false;
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' if inside => {
                out.push_str("\\n");
                continue;
            }
            _ if std::mem::take(&mut escaped) => {}
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            _ => {}
        }
        out.push(c);
    }
    out
}

const FALSELY_VALID: &str = "it is valid, and not what was meant";

/// The documents with a violation, and the number of items that were found.
#[derive(Default)]
pub struct Outcome {
    pub recall: std::collections::BTreeMap<Kind, Recall>,
    pub broken: Vec<String>,
    /// The number of documents with a violation, and the number of these that are `valid`.
    pub count: u64,
    pub falsely_valid: u64,
}

/// Checks `count` damaged documents, from a seed on.
pub fn run(count: u64, seed: u64, most: usize) -> Outcome {
    run_with(&actions().checker(), document, count, seed, most)
}

/// Checks `count` damaged documents that are lists, from a seed on.
pub fn run_listed(checker: &Checker, count: u64, seed: u64, most: usize) -> Outcome {
    run_with(checker, |rng| list_alone(&document(rng)), count, seed, most)
}

fn run_with(
    checker: &Checker,
    document: impl Fn(&mut Rng) -> Document,
    count: u64,
    seed: u64,
    most: usize,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for n in 0..count {
        let mut rng = Rng::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(n));
        let document = document(&mut rng);
        let kind = KINDS[(n % KINDS.len() as u64) as usize];
        let damaged = damage(&mut rng, &document, kind);
        let recall = outcome.recall.entry(kind).or_default();
        let judged = judge(checker, &document, kind, &damaged, recall);
        let lost = std::env::var_os("GUARD_LOST").is_some() && recall.last > 0;
        if let Some(why) = judged.err().or(lost.then(|| format!("{} lost", recall.last))) {
            outcome.count += 1;
            outcome.falsely_valid += u64::from(why == FALSELY_VALID);
            if outcome.broken.len() < most && seen.insert(damaged.text.clone()) {
                let was = &document.text;
                let is = &damaged.text;
                outcome.broken.push(format!("{n} {kind:?}: {why}\n--- was\n{was}\n--- is\n{is}\n"));
            }
        }
    }
    outcome
}

/// The number of documents in 100,000 that may deliver an item which the undamaged document does
/// not have. Two edits, or a missing part, can produce the text of another document.
pub const RARE: u64 = 30;

impl Outcome {
    /// Returns true if the properties hold.
    pub fn holds(&self, count: u64) -> bool {
        self.falsely_valid == 0 && self.count <= 1 + count * RARE / 100_000
    }
}

#[test]
fn no_damaged_document_is_valid_unless_it_is_what_was_meant() {
    let outcome = run(7_000, 1, 3);
    let broken = outcome.broken.join("\n");
    assert!(outcome.holds(7_000), "{} broken\n{broken}", outcome.count);
    for (kind, recall) in &outcome.recall {
        assert!(recall.found * 100 >= recall.all * 85, "{kind:?}: {recall}");
    }
}
