//! `guardc explain --origin`: the origin of each argument of a recorded call, and the rules that read it.
//!
//! Values are seen as a session sees them (semantics §8). The facts are those of the session
//! directly before the call, which is resumed from the records before it.

use crate::commands::trace::walk::walk;
use crate::failure::{CommandResult, Exit, Failure};
use crate::near;
use crate::plans;
use crate::term::Console;
use guard_plan::json::Json;
use guard_plan::origin::{self, Origin, Vouched};
use guard_plan::plan::{Expr, FactId, Node, Plan, Tool};
use guard_plan::record::{Payload, Record};
use guard_plan::render::cut;
use guard_plan::trust::ELEMENT;
use guard_plan::verdict::Decision;
use guard_plan::words::rules::{self, code};
use guard_sdk::{Guard, Host, Session};
use guard_trace::Keys;
use guard_trace::store::key_path;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The maximum length of a shown value, in characters.
const SHOWN: usize = 60;
/// The maximum length of a line about one place, in characters.
const LINE: usize = 400;
/// The maximum number of places, rows and calls that are listed for one value.
const LISTED: usize = 3;
/// The number of rows of a fact that are read at once.
const PAGE: usize = 1000;

/// A recorded call.
pub struct Query<'a> {
    /// A trace, a folder of traces or a store.
    pub trace: &'a Path,
    /// The call's id.
    pub call: &'a str,
    /// The file with the key of the trace's secrets.
    pub key: Option<&'a Path>,
}

/// A session up to the last proposal of the call.
#[derive(Default)]
struct SessionPrefix {
    session: String,
    /// The lines before the proposal.
    lines: Vec<String>,
    /// The records before it.
    records: Vec<Record>,
    proposal: Option<Record>,
}

/// Runs the command.
pub fn run(guard: &Path, query: &Query<'_>, term: &Console) -> CommandResult {
    let guard = Guard::from_plan(plans::open(guard, term)?)?;
    let recorded = find(query, term)?;
    let Some(Record { payload: Payload::Propose(propose), seq, .. }) = &recorded.proposal else {
        return Err(Failure::new(format!("no record proposes a call `{}`", query.call)));
    };
    let beside = key_path(query.trace);
    let key = query.key.or_else(|| beside.exists().then_some(beside.as_path()));
    let keys = key.map(Keys::read).transpose()?;
    let session = resumed(&guard, &recorded, keys.as_ref())?;
    let tool = guard.plan().tools.iter().find(|tool| tool.wire_name == *propose.tool);
    let trusted = |text: &str| {
        let known = session.as_ref().filter(|_| guard.plan().origins);
        known.map(|session| session.seen(text).contains(&Origin::Trusted))
    };
    let seen = Sightings::new(guard.plan(), &recorded.records, &trusted);
    let mut out = format!(
        "call {} of session {}, record {seq}: {} {}\n",
        term.out.bold(query.call),
        cut(&recorded.session, SHOWN),
        code(&cut(&propose.tool, SHOWN)),
        match propose.verdict.decision {
            Decision::Allow => "was allowed",
            Decision::Deny => "was denied",
            Decision::Ask => "needed an approval",
            Decision::Wait => "had to wait",
        }
    );
    for Leaf { place, way, value } in leaves(&propose.args) {
        out.push_str(&format!("\n  {} = {}\n", term.out.bold(&cut(&place, SHOWN)), shown(value)));
        seen.tell(value, &mut out);
        if let Some(session) = &session {
            taught(session, guard.plan(), value, &mut out)?;
        }
        readers(guard.plan(), tool, way.first().copied().unwrap_or_default(), &mut out);
    }
    term.print(&out)?;
    Ok(Exit::Fine)
}

/// Finds the last proposal of a call. It is an error if several sessions have the call.
fn find(query: &Query<'_>, term: &Console) -> Result<SessionPrefix, Failure> {
    let mut current = SessionPrefix::default();
    let mut found: Vec<SessionPrefix> = Vec::new();
    let mut calls = BTreeSet::new();
    let sound = walk(&[PathBuf::from(query.trace)], "reading", term, &mut |at, record, line| {
        if matches!(record.payload, Payload::Open(_) | Payload::Snapshot(_)) {
            current = SessionPrefix { session: at.session.clone(), ..SessionPrefix::default() };
        }
        let is_proposal = matches!(record.payload, Payload::Propose(_));
        // The ids only serve a suggestion, so a long trace need not keep them all.
        if is_proposal && calls.len() < 10_000 {
            calls.extend(record.call.clone());
        }
        if is_proposal && record.call.as_deref() == Some(query.call) {
            // An id is free again after its call has ended, and the last call of that id is meant.
            found.retain(|prefix| prefix.session != current.session);
            found.push(SessionPrefix {
                session: current.session.clone(),
                lines: current.lines.clone(),
                records: current.records.clone(),
                proposal: Some(record.clone()),
            });
        }
        current.lines.push(String::from_utf8_lossy(line).trim_end().to_owned());
        current.records.push(record.clone());
        Ok(())
    })?;
    if !sound {
        return Err(Failure::Said);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let failure = Failure::new(format!("no record proposes a call `{}`", query.call));
            Err(failure
                .maybe_help(near::did_you_mean(query.call, calls.iter().map(String::as_str))))
        }
        _ => {
            let sessions: Vec<String> = found.iter().map(|prefix| code(&prefix.session)).collect();
            let failure = Failure::new(format!("several sessions have a call `{}`", query.call));
            Err(failure.help(format!("name the trace of one of {}", sessions.join(", "))))
        }
    }
}

/// Resumes the session from the records before the call; `None` if there are none.
fn resumed(
    guard: &Guard,
    recorded: &SessionPrefix,
    keys: Option<&Keys>,
) -> Result<Option<Session<Host>>, Failure> {
    let Some(Payload::Open(open)) = recorded.records.first().map(|record| &record.payload) else {
        return Ok(None);
    };
    let mut options = guard.session(recorded.session.clone()).trace(&recorded.lines);
    if !open.workspace.is_empty() {
        options = options.root(open.workspace.to_string());
    }
    if let Some(keys) = keys {
        options = options.keys(keys);
    }
    options.open().map(Some).map_err(|error| {
        let failure = Failure::new(format!("the session cannot be resumed: {error}"));
        failure.help("give the guard that decided it; a session with secrets needs its `--key`")
    })
}

/// A scalar within JSON.
struct Leaf<'j> {
    /// The location for people: `to`, `items[0].name`.
    place: String,
    /// The members on the path to it.
    way: Vec<&'j str>,
    value: &'j Json,
}

/// Returns the scalars within a value, in order.
fn leaves(json: &Json) -> Vec<Leaf<'_>> {
    let mut all = Vec::new();
    collect(json, String::new(), &mut Vec::new(), &mut all);
    all
}

fn collect<'j>(value: &'j Json, place: String, way: &mut Vec<&'j str>, all: &mut Vec<Leaf<'j>>) {
    match value {
        Json::Object(members) => {
            for (name, member) in members {
                let dot = if place.is_empty() { "" } else { "." };
                way.push(name);
                collect(member, format!("{place}{dot}{name}"), way, all);
                way.pop();
            }
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, format!("{place}[{at}]"), way, all);
            }
        }
        _ => all.push(Leaf { place, way: way.clone(), value }),
    }
}

/// Formats a value as JSON, on one line and truncated.
fn shown(value: &Json) -> String {
    let mut text = String::new();
    value.write(&mut text);
    cut(&text, SHOWN)
}

/// Returns the text by which a value is looked up; `None` for values without an origin.
fn lookup(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.to_string()),
        Json::Int(number) => Some(number.to_string()),
        Json::Number(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The places where a session saw each value, in order.
#[derive(Default)]
struct Sightings {
    places: HashMap<String, Vec<String>>,
}

impl Sightings {
    /// Collects the sightings. `trusted` returns the final trust level of a text in the session, if
    /// it is known.
    fn new(plan: &Plan, records: &[Record], trusted: &dyn Fn(&str) -> Option<bool>) -> Sightings {
        let mut seen = Sightings::default();
        let none = Vouched::default();
        let mut workspace = String::new();
        let mut tools: HashMap<&str, &str> = HashMap::new();
        for record in records {
            let call = record.call.as_deref().unwrap_or_default();
            match &record.payload {
                Payload::Open(open) => {
                    workspace = open.workspace.to_string();
                    let trust = guard_plan::plan::Trust { whole: true, parts: Vec::new() };
                    for leaf in open.data.iter().flat_map(|data| leaves(data)) {
                        let at =
                            format!("record {}, the session's data: {}", record.seq, leaf.place);
                        origin::in_json(leaf.value, &workspace, (&trust, &none), &mut |text, _| {
                            seen.add(text, &at)
                        });
                    }
                }
                Payload::Prompt(prompt) => {
                    let at = format!("record {}, the user: {}", record.seq, quoted(&prompt.text));
                    origin::in_text(&prompt.text, true, &workspace, &mut |text| {
                        seen.add(text, &at)
                    });
                }
                Payload::Propose(propose) => {
                    tools.insert(call, &propose.tool);
                }
                Payload::Settle(settle) if settle.success => {
                    let name = tools.get(call).copied().unwrap_or_default();
                    let result = (call, name, &*settle.result);
                    seen.result(plan, record.seq, result, &workspace, trusted);
                }
                _ => {}
            }
        }
        seen
    }

    fn result(
        &mut self,
        plan: &Plan,
        seq: u64,
        (call, name, result): (&str, &str, &Json),
        workspace: &str,
        trusted: &dyn Fn(&str) -> Option<bool>,
    ) {
        let Some(tool) = plan.tools.iter().find(|tool| tool.wire_name == name) else { return };
        let endorsed = endorsed(tool, result);
        for Leaf { place, way, value } in leaves(result) {
            // The trust is known for the members on the path to a value.
            let alone = way
                .iter()
                .rev()
                .fold(value.clone(), |inner, name| Json::Object(vec![((*name).into(), inner)]));
            let place = if place.is_empty() { place } else { format!(", {}", code(&place)) };
            let denied = |depth: usize| {
                let denies = |(part, trusted): &(Vec<String>, bool)| {
                    !trusted && part.len() > depth && part.iter().eq(way.iter().take(part.len()))
                };
                tool.trust.parts.iter().any(denies)
            };
            let perhaps = endorsed.get(&std::ptr::from_ref(value));
            let perhaps = perhaps.filter(|(_, depth)| !denied(*depth)).map(|(word, _)| *word);
            let trust = (&tool.trust, &Vouched::default());
            origin::in_json(&alone, workspace, trust, &mut |text, is_trusted| {
                let word = match perhaps {
                    _ if is_trusted => "trusted",
                    Some(_) if trusted(text) == Some(false) => {
                        "untrusted: its condition did not hold"
                    }
                    Some(word) => word,
                    None => "untrusted",
                };
                self.add(
                    text,
                    &format!("record {seq}, the result of `{call}` ({name}{place}, {word})"),
                );
            });
        }
    }

    fn add(&mut self, text: &str, at: &str) {
        let places = self.places.entry(text.to_owned()).or_default();
        if places.last().is_none_or(|last| last != at) {
            places.push(at.to_owned());
        }
    }

    fn tell(&self, value: &Json, out: &mut String) {
        let Some(text) = lookup(value) else { return };
        let places = self.places.get(&text).map(Vec::as_slice).unwrap_or_default();
        if places.is_empty() {
            out.push_str("    seen     not before: the agent wrote it\n");
        }
        for (number, place) in places.iter().take(LISTED).enumerate() {
            let word = if number == 0 { "seen    " } else { "and     " };
            out.push_str(&format!("    {word} {}\n", cut(place, LINE)));
        }
        more(places.len(), out);
    }
}

/// Returns the scalars of a result that endorsements concern, with the statement about each.
fn endorsed(tool: &Tool, result: &Json) -> HashMap<*const Json, (&'static str, usize)> {
    let mut said = HashMap::new();
    for endorsement in &tool.endorsements {
        let word = match endorsement.extractor {
            Some(_) => "trusted in part",
            None => "trusted under a condition",
        };
        let path = &endorsement.part.path;
        let depth = path.iter().filter(|step| *step != ELEMENT).count();
        origin::parts_at(result, path, &mut |part| {
            let leaf = |leaf: &Leaf| (std::ptr::from_ref(leaf.value), (word, depth));
            said.extend(leaves(part).iter().map(leaf));
        });
    }
    said
}

fn more(count: usize, out: &mut String) {
    if count > LISTED {
        out.push_str(&format!("    and      {} more\n", count - LISTED));
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text, SHOWN))
}

/// Lists the rows of facts that contain a value, with their sources.
fn taught(
    session: &Session<Host>,
    plan: &Plan,
    value: &Json,
    out: &mut String,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for fact in &plan.facts {
        let mut from = 0;
        loop {
            let page = session.facts(&fact.name, from, PAGE)?;
            let Some(last) = page.last() else { break };
            from = last.number + 1;
            let holds =
                page.iter().filter(|row| leaves(&row.row).iter().any(|leaf| leaf.value == value));
            rows.extend(holds.map(|row| {
                let by = match row.by.as_ref() {
                    "start" => "the session's data".to_owned(),
                    prompt if prompt.starts_with("prompt ") => cut(prompt, SHOWN),
                    call => format!("call `{}`", cut(call, SHOWN)),
                };
                format!("    taught   `{}` {}, by {by}\n", fact.name, shown(&row.row))
            }));
        }
    }
    out.extend(rows.iter().take(LISTED).map(String::as_str));
    more(rows.len(), out);
    Ok(())
}

/// Lists the rules of a tool that read a parameter.
fn readers(plan: &Plan, tool: Option<&Tool>, parameter: &str, out: &mut String) {
    let Some(tool) = tool else {
        return out.push_str("    read by  no rule: the guard does not declare the tool\n");
    };
    let Some(at) = tool.params.iter().position(|param| param.name == parameter) else { return };
    let is_read = |exprs: &[&Expr]| {
        let reads = |node: &Node| *node == Node::Param(u32::try_from(at).unwrap_or(u32::MAX));
        exprs.iter().any(|expr| expr.0.iter().any(reads))
    };
    let before = rules::before(plan, tool);
    let mut count = 0;
    for (said, exprs) in before.iter().zip(expressions(tool)).filter(|(_, exprs)| is_read(exprs)) {
        let owner = said.rule.map(|rule| rule.owner.as_str()).filter(|owner| *owner != tool.name);
        let owner = owner.map(|owner| format!(" [{owner}]")).unwrap_or_default();
        let facts: BTreeSet<&str> = looked_up(&exprs)
            .filter_map(|id| plan.facts.get(id as usize))
            .map(|fact| fact.name.as_str())
            .collect();
        let facts: Vec<String> = facts.into_iter().map(code).collect();
        let facts = if facts.is_empty() {
            String::new()
        } else {
            format!("; it looks up {}", facts.join(", "))
        };
        let word = if count == 0 { "read by " } else { "and by  " };
        out.push_str(&format!("    {word} {}{owner}{facts}\n", super::tools::sentence(said)));
        count += 1;
    }
    if count == 0 {
        out.push_str("    read by  no rule but its type\n");
    }
}

/// Returns the expressions of a tool's rules, in the order of [`rules::before`].
fn expressions(tool: &Tool) -> Vec<Vec<&Expr>> {
    let requires = tool.requires.iter().map(|clause| {
        let keys = clause.any_of.iter().flat_map(|any| &any.key).flat_map(|key| &key.values);
        keys.chain(&clause.when).collect()
    });
    let denies = tool.denies.iter().map(|clause| vec![&clause.condition]);
    let limits = tool.limits.iter().map(|clause| clause.by.iter().collect());
    let costs = tool.costs.iter().map(|clause| vec![&clause.amount]);
    let effects = tool.effects.iter().map(|clause| clause.exprs().collect());
    let frame = tool.frame.iter().map(|_| Vec::new());
    let approvals = tool.approvals.iter().map(|clause| clause.when.iter().collect());
    requires
        .chain(denies)
        .chain(limits)
        .chain(costs)
        .chain(effects)
        .chain(frame)
        .chain(approvals)
        .collect()
}

fn looked_up<'e>(exprs: &'e [&Expr]) -> impl Iterator<Item = FactId> + 'e {
    exprs.iter().flat_map(|expr| &expr.0).filter_map(|node| match node {
        Node::Row(fact, _) | Node::Known(fact, _) | Node::Rows(fact) => Some(*fact),
        _ => None,
    })
}
