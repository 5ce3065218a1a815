//! `guardc diff`: the calls that one guard allows and another does not.

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::project;
use crate::term::{Console, count};
use guard_compiler::SourceFile;
use guard_compiler::diff::{
    Answer, Diff, ToolChange, ToolDiff, UndeclaredCalls, Witness, WitnessLimits, diff,
};
use guard_compiler::explore::events_of;
use guard_compiler::hir::Program;
use guard_compiler::scenario::Scenario;
use guard_plan::json::Json;
use guard_syntax::span::Span;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compares two guards: what the new one allows that the old one denied, and the reverse
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The old guard
    pub old: PathBuf,
    /// The new guard
    pub new: PathBuf,
    /// The format of the answer
    #[arg(long, value_enum, default_value_t)]
    pub format: DiffFormat,
    /// The changes that are allowed: exit code 1 if there are others, 3 if that is not decided
    #[arg(long, value_enum, default_value_t)]
    pub allow: Allow,
}

/// The output format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum DiffFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// For a comment on a pull request.
    Markdown,
}

/// The changes that are allowed and thus no finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Allow {
    /// No change.
    None,
    /// The new guard may refuse more, and allow nothing more.
    #[default]
    Tighten,
    /// Any change.
    Any,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let (Some(before), Some(after)) = (compiled(&args.old, term)?, compiled(&args.new, term)?)
    else {
        // Exit code 1 means that the new guard is looser, so a guard with errors needs another one.
        return Err(Failure::Said);
    };
    let programs = [&before.program, &after.program];
    let scenarios = [&before.scenarios, &after.scenarios];
    let seeds = scenarios.into_iter().flat_map(|all| events_of(all, &programs));
    // A session of the tests often already separates the guards, where a blind search would take
    // long.
    let limits = WitnessLimits { seeds: seeds.collect(), ..WitnessLimits::default() };
    let found = diff(&before.program, &after.program, &limits, &|| false);
    let old = &before;
    let new = &after;
    let text = match args.format {
        DiffFormat::Text => text(&found, old, new, term),
        DiffFormat::Markdown => markdown(&found, old, new),
        DiffFormat::Json => {
            let mut out = String::new();
            json(&found, old, new).write(&mut out);
            out + "\n"
        }
    };
    term.print(&text)?;
    Ok(exit(&found, args.allow))
}

/// A guard in a comparison.
struct ComparedGuard {
    program: Program,
    scenarios: Vec<Scenario>,
    files: Vec<SourceFile>,
}

impl ComparedGuard {
    /// Returns the source text of a rule on one line.
    fn text(&self, span: Span) -> String {
        let file = self.files.get(span.file.0 as usize);
        let text = file.and_then(|file| file.text.get(span.start as usize..span.end as usize));
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn compiled(path: &Path, term: &Console) -> Result<Option<ComparedGuard>, Failure> {
    let (output, files) = match project::compile_one(path, &Config::of_file(path)?, term) {
        Err(Failure::Rejected) => return Ok(None),
        compiled => compiled?,
    };
    Ok(Some(ComparedGuard { program: output.program, scenarios: output.scenarios, files }))
}

/// Returns the rules of a tool that were edited: the old text and the new one.
fn edits(tool: &ToolDiff, old: &ComparedGuard, new: &ComparedGuard) -> Vec<(String, String)> {
    tool.edited.iter().map(|(before, after)| (old.text(*before), new.text(*after))).collect()
}

/// Describes an edited rule. The text of the rule is unchanged if only a define or a `let` has
/// changed.
fn edit(before: &str, after: &str) -> String {
    if before == after {
        format!("edited: `{after}`, because a name in it now means something else")
    } else {
        format!("edited: `{before}` → `{after}`")
    }
}

/// Returns the exit status: findings for forbidden changes, or an unknown result.
fn exit(found: &Diff, allow: Allow) -> Exit {
    let mut judged: Vec<&Answer> = Vec::new();
    let undeclared = match allow {
        Allow::Any => return Exit::Fine,
        Allow::Tighten => {
            judged.extend(found.answers(true));
            found.undeclared.is_some_and(UndeclaredCalls::is_looser)
        }
        Allow::None => {
            judged.extend(found.answers(true).chain(found.answers(false)));
            found.undeclared.is_some() || !found.contracts.is_empty() || !found.disclosed.is_empty()
        }
    };
    if undeclared || judged.iter().any(|answer| matches!(answer, Answer::Yes(_))) {
        return Exit::Findings;
    }
    let unknown = judged.iter().any(|answer| matches!(answer, Answer::Unknown { .. }));
    // It is not decided which of two contracts is stricter, or whether more is really disclosed.
    let open = !found.contracts.is_empty() || !found.disclosed.is_empty();
    if unknown || open { Exit::Unknown } else { Exit::Fine }
}

/// Returns true if no change was found for a tool.
fn is_same(tool: &ToolDiff) -> bool {
    matches!((&tool.looser, &tool.tighter), (Answer::No, Answer::No))
}

fn heading(tool: &ToolDiff) -> String {
    match tool.fate {
        ToolChange::Kept => tool.tool.clone(),
        ToolChange::Added => format!("{} (new)", tool.tool),
        ToolChange::Removed => format!("{} (gone)", tool.tool),
    }
}

/// Returns one line with the number of changes.
fn summary(found: &Diff) -> String {
    let is = |answer: &Answer| matches!(answer, Answer::Yes(_));
    let more = found.answers(true).filter(|a| is(a)).count();
    let less = found.answers(false).filter(|a| is(a)).count();
    let open =
        |t: &&ToolDiff| [&t.looser, &t.tighter].iter().any(|a| matches!(a, Answer::Unknown { .. }));
    let unknown = found.tools.iter().filter(open).count();
    let same = found.tools.iter().filter(|t| is_same(t)).count();
    let mut parts = Vec::new();
    for (n, what) in [
        (more, "allows more"),
        (less, "allows less"),
        (unknown, "is not decided"),
        (same, "is as before"),
    ] {
        let plural = what.replace("allows", "allow").replace("is ", "are ");
        if n > 0 {
            parts.push(format!("{} {}", count(n, "tool"), if n == 1 { what } else { &plural }));
        }
    }
    if parts.is_empty() { "no tools".into() } else { parts.join(", ") }
}

/// Formats the session of a witness, and the decision of each guard at its end.
fn story(witness: &Witness, tool: &ToolDiff, old: &ComparedGuard, new: &ComparedGuard) -> String {
    let names = if tool.fate == ToolChange::Removed { &old.program } else { &new.program };
    let mut text = witness.session.ending_otherwise(names, &witness.new);
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn text(found: &Diff, old: &ComparedGuard, new: &ComparedGuard, term: &Console) -> String {
    let mut out = String::new();
    for tool in found.tools.iter().filter(|tool| !is_same(tool)) {
        let _ = writeln!(out, "{}", term.out.bold(&heading(tool)));
        for (before, after) in edits(tool, old, new) {
            let _ = writeln!(out, "  {}", edit(&before, &after));
        }
        for (what, answer) in [("more", &tool.looser), ("less", &tool.tighter)] {
            match answer {
                Answer::No => _ = writeln!(out, "  allows nothing {what}"),
                Answer::Yes(witness) => {
                    let _ = writeln!(out, "  allows {what}:");
                    for line in story(witness, tool, old, new).lines() {
                        let _ = writeln!(out, "  {line}");
                    }
                }
                Answer::Unknown { because, tried } => {
                    let because = because.join(", ");
                    let states = count(tried.0, "state");
                    let calls = count(tried.1, "call");
                    let _ =
                        writeln!(out, "  may allow {what}: {because} ({states} and {calls} tried)");
                }
            }
        }
    }
    if let Some(what) = found.undeclared.map(UndeclaredCalls::words) {
        let _ = writeln!(out, "tools that are not declared {what}");
    }
    for line in found.disclosed.iter().chain(&found.contracts) {
        let _ = writeln!(out, "{line}");
    }
    if !found.anew.is_empty() {
        let _ = writeln!(out, "for a session that runs:");
        for line in &found.anew {
            let _ = writeln!(out, "  {line}");
        }
    }
    let _ = writeln!(out, "{}", summary(found));
    out
}

fn markdown(found: &Diff, old: &ComparedGuard, new: &ComparedGuard) -> String {
    let mut out =
        format!("### What changes under `{}`\n\n{}.\n", new.program.guard, summary(found));
    if found.tools.iter().any(|tool| !is_same(tool)) {
        out += "\n| tool | allows more | allows less |\n| --- | --- | --- |\n";
    }
    let word = |answer: &Answer| match answer {
        Answer::No => "no",
        Answer::Yes(_) => "**yes**",
        Answer::Unknown { .. } => "not decided",
    };
    for tool in found.tools.iter().filter(|tool| !is_same(tool)) {
        let more = word(&tool.looser);
        let less = word(&tool.tighter);
        let _ = writeln!(out, "| `{}` | {more} | {less} |", heading(tool));
    }
    for tool in &found.tools {
        for (before, after) in edits(tool, old, new) {
            let _ = writeln!(out, "\n**`{}`**, {}.", tool.tool, edit(&before, &after));
        }
        for (what, answer) in [("allowed now", &tool.looser), ("refused now", &tool.tighter)] {
            match answer {
                Answer::Yes(witness) => {
                    let _ = write!(out, "\n**`{}`**, {what}:\n\n```text\n", tool.tool);
                    let _ = writeln!(out, "{}\n```", story(witness, tool, old, new));
                }
                Answer::Unknown { because, tried } => {
                    let because = because.join(", ");
                    let states = count(tried.0, "state");
                    let calls = count(tried.1, "call");
                    let _ = writeln!(
                        out,
                        "\n**`{}`**, perhaps {what}: {because} ({states} and {calls} tried).",
                        tool.tool
                    );
                }
                Answer::No => {}
            }
        }
    }
    if let Some(what) = found.undeclared.map(UndeclaredCalls::words) {
        let _ = writeln!(out, "\nTools that are not declared {what}.");
    }
    if !found.disclosed.is_empty() {
        out += "\nDisclosure:\n\n";
        found.disclosed.iter().for_each(|line| _ = writeln!(out, "- {line}"));
    }
    if !found.contracts.is_empty() {
        out += "\nContracts:\n\n";
        found.contracts.iter().for_each(|line| _ = writeln!(out, "- {line}"));
    }
    if !found.anew.is_empty() {
        out += "\nFor a session that runs:\n\n";
        found.anew.iter().for_each(|line| _ = writeln!(out, "- {line}"));
    }
    out
}

fn json(found: &Diff, old: &ComparedGuard, new: &ComparedGuard) -> Json {
    let text = |text: &str| Json::string(text);
    let texts = |list: &[String]| Json::Array(list.iter().map(|text| Json::string(text)).collect());
    let answer = |answer: &Answer| match answer {
        Answer::No => object(vec![("answer", text("no"))]),
        Answer::Yes(witness) => object(vec![
            ("answer", text("yes")),
            ("session", witness.session.to_json()),
            ("new", witness.session.said_json(&witness.new)),
        ]),
        Answer::Unknown { because, tried } => object(vec![
            ("answer", text("unknown")),
            ("because", texts(because)),
            ("states", Json::Int(tried.0 as i64)),
            ("calls", Json::Int(tried.1 as i64)),
        ]),
    };
    let tool = |tool: &ToolDiff| {
        let fate = format!("{:?}", tool.fate).to_lowercase();
        let edited = edits(tool, old, new)
            .into_iter()
            .map(|(before, after)| object(vec![("old", text(&before)), ("new", text(&after))]));
        let edited: Vec<Json> = edited.collect();
        let mut members = vec![
            ("tool", text(&tool.tool)),
            ("fate", text(&fate)),
            ("looser", answer(&tool.looser)),
            ("tighter", answer(&tool.tighter)),
            ("changes", texts(&tool.changes)),
        ];
        if !edited.is_empty() {
            members.push(("edited", Json::Array(edited)));
        }
        object(members)
    };
    let mut members = vec![
        ("tools", Json::Array(found.tools.iter().map(tool).collect())),
        ("anew", texts(&found.anew)),
    ];
    if !found.disclosed.is_empty() {
        members.push(("disclosed", texts(&found.disclosed)));
    }
    if !found.contracts.is_empty() {
        members.push(("contracts", texts(&found.contracts)));
    }
    members.extend(found.undeclared.map(|what| ("undeclared", text(what.words()))));
    object(members)
}

fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, json)| (name.into(), json)).collect())
}
