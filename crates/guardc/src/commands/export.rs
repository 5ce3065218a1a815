//! `guardc export`: exports the part of a guard that a host's own static rules can express.

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::plans;
use crate::project;
use crate::term::{Console, count};
use guard_compiler::scenario::{Scenario, StepKind};
use guard_hooks::Vocabulary;
use guard_hooks::export::{ExportExample, ExportedRule, ExportedRules, export};
use guard_plan::plan::Plan;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Writes the rules of a guard that an agent's own settings can express, and lists the others
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The rules refuse, or ask, where the guard does; they allow nothing. What they cannot express is\n\
                  listed on standard error with the reason: there the hook decides (`guardc install`)."
)]
pub struct Args {
    /// The agent: claude-code, codex or gemini
    #[arg(value_name = "HOST", value_parser = crate::commands::hook::host)]
    pub host: &'static Vocabulary,
    /// A guard or a plan; `-` is a guard on standard input. A plan has no tests, and so no examples
    #[arg(value_name = "GUARD")]
    pub guard: PathBuf,
    /// Write the rules to this file, which must not exist yet [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format of the list; with `json`, the rules are part of it
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,
}

/// The output format of the notes on the export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ExportFormat {
    /// For people, on standard error.
    #[default]
    Text,
    /// One JSON object on standard output.
    Json,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = path.filter(|path| path.exists()) {
        let message = format!("`{}` is there already", files::display(path));
        return Err(
            Failure::new(message).help("the rules are written to a new file, to be merged by you")
        );
    }
    let (plan, examples) = opened(&args.guard, term)?;
    let tools = host_tools(args.host)?;
    let Some(exported) = export(args.host, &plan, &tools, &examples) else {
        return Err(Failure::new(format!("{} has no static rules", args.host.title)));
    };
    if let Some(path) = path {
        files::write_atomic(path, exported.text.as_bytes())?;
    }
    match args.format {
        ExportFormat::Json => term.data(&json(args.host, &exported)?)?,
        ExportFormat::Text => {
            if path.is_none() {
                term.data(&exported.text)?;
            }
            term.note(text(args.host, &exported).trim_end());
        }
    }
    Ok(Exit::Fine)
}

/// Returns the plan as it was lowered and the calls of the tests.
fn opened(path: &Path, term: &Console) -> Result<(Plan, Vec<ExportExample>), Failure> {
    if plans::is_compiled(path)? {
        return Ok((plans::open(path, term)?.plan().clone(), Vec::new()));
    }
    let (output, _) = project::compile_one(path, &Config::of_file(path)?, term)?;
    let examples = output.scenarios.iter().flat_map(examples).collect();
    // The optimizer rewrites rules into forms that a host's settings cannot express.
    Ok((output.lowered, examples))
}

/// Returns the calls of a test that the guard allows without an approval, and those that it refuses.
fn examples(scenario: &Scenario) -> Vec<ExportExample> {
    let mut approved = Vec::new();
    let mut examples = Vec::new();
    for step in &scenario.steps {
        let (call, runs) = match &step.kind {
            StepKind::Run { call, .. } | StepKind::Allowed(call) | StepKind::Start(_, call) => {
                (call, true)
            }
            StepKind::Denied { call, .. } | StepKind::Asks { call, .. } => (call, false),
            StepKind::Approve { call, .. } => {
                approved.push((&call.tool, &call.args));
                continue;
            }
            StepKind::Revoke { call, .. } => {
                approved.retain(|known| *known != (&call.tool, &call.args));
                continue;
            }
            _ => continue,
        };
        // An approved call runs only because of the approval, so the exported rules may well ask
        // about it.
        if !approved.contains(&(&call.tool, &call.args)) {
            examples.push(ExportExample { tool: call.tool.clone(), args: call.args.clone(), runs });
        }
    }
    examples
}

/// Returns the names of the host's tools, which its bundled library declares.
fn host_tools(host: &Vocabulary) -> Result<Vec<String>, Failure> {
    let library = host.name.replace('-', "_");
    let text = format!("guard host_tools\n\nuse std.hosts.{library}\n");
    let guard = guard_sdk::Guard::compile("host_tools.guard", text)
        .map_err(|error| Failure::new(format!("the bundled tools cannot be read: {error}")))?;
    Ok(guard.plan().tools.iter().map(|tool| tool.wire_name.clone()).collect())
}

/// Formats the list for people.
fn text(host: &Vocabulary, exported: &ExportedRules) -> String {
    let (said, rest): (Vec<&ExportedRule>, Vec<&ExportedRule>) =
        exported.rules.iter().partition(|rule| rule.said);
    let mut out = format!(
        "{}: {} for {}\n",
        host.title,
        count(exported.statics.len(), "rule"),
        exported.place
    );
    for (title, rules) in [("exported, but weaker than the guard:", said), ("not exported:", rest)]
    {
        if rules.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{title}");
        for rule in rules {
            let tools = if rule.tools.is_empty() {
                String::new()
            } else {
                format!("  {}", rule.tools.join(", "))
            };
            let _ = writeln!(
                out,
                "  {}{tools}: {}",
                rule.owner,
                guard_plan::render::cut(&rule.rule, 100)
            );
            for reason in &rule.reasons {
                let _ = writeln!(out, "    {reason}");
            }
        }
    }
    out
}

/// Formats the list and the rules as one object.
fn json(host: &Vocabulary, exported: &ExportedRules) -> Result<String, Failure> {
    let rule = |rule: &ExportedRule| {
        serde_json::json!({
            "tools": rule.tools, "owner": rule.owner, "rule": rule.rule, "said": rule.said, "reasons": rule.reasons,
        })
    };
    let object = serde_json::json!({
        "host": host.name,
        "place": exported.place,
        "count": exported.statics.len(),
        "text": exported.text,
        "rules": exported.rules.iter().map(rule).collect::<Vec<_>>(),
    });
    let written = serde_json::to_string_pretty(&object);
    written
        .map(|text| text + "\n")
        .map_err(|error| Failure::new(format!("the list cannot be written: {error}")))
}
