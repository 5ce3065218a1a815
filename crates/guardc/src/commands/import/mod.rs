//! `guardc import`: a first guard from what others have declared.

mod list;

use crate::commands::mcp_proxy::lock_path;
use crate::draft::formatted;
use crate::failure::{Exit, Failure, Outcome};
use crate::term::{Term, count};
use guard_draft::{declarations, guard_text};
use guard_mcp::ToolLock;
use guard_plan::json::Json;
use guard_sdk::sources;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The advice to the user if the generated guard has errors.
const DEFECT: &str = "this is a defect of `guardc import`: please report the list of tools";

/// Writes a first guard from the tools that a server declares, and locks them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    source: ImportSource,
}

#[derive(Debug, clap::Subcommand)]
enum ImportSource {
    /// From an MCP server, or from a file with the result of its `tools/list`
    Mcp(McpArgs),
}

/// The arguments of `import mcp`.
#[derive(Debug, clap::Args)]
pub struct McpArgs {
    /// A file with the result of `tools/list`; `-` is standard input
    #[arg(value_name = "FILE", conflicts_with = "server", required_unless_present = "server")]
    file: Option<PathBuf>,
    /// The guard to write, and with `--update` the guard whose lock is compared [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The name of the guard [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The lock [default: beside the guard, with `.mcp.lock`]
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Compare the tools with the lock, show the difference, and write nothing
    #[arg(long)]
    update: bool,
    /// With `--update`: accept the tools as they are now
    #[arg(long, requires = "update")]
    accept: bool,
    /// How long the server may take for each answer
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = crate::commands::hook::duration)]
    timeout: Duration,
    /// The server: a program and its arguments
    #[arg(last = true, value_name = "SERVER")]
    server: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    let ImportSource::Mcp(args) = &args.source;
    let tools = match &args.file {
        Some(file) => of_file(file)?,
        None => list::of_server(&args.server, args.timeout)?,
    };
    check_names(&tools)?;
    match args.update {
        true => update(args, &tools, term),
        false => import(args, &tools, term),
    }
}

fn of_file(file: &Path) -> Result<Vec<Json>, Failure> {
    let bytes = match file.as_os_str() == "-" {
        true => sources::read_bounded(std::io::stdin().lock(), sources::MAX_BYTES),
        false => sources::read_bytes(file),
    };
    let shown = sources::display(file);
    let bytes = bytes.map_err(|why| Failure::new(format!("cannot read `{shown}`: {why}")))?;
    let json = Json::parse_bytes(&bytes)
        .map_err(|error| Failure::new(format!("`{shown}` is not JSON: {error}")))?;
    guard_mcp::definitions(&json).ok_or_else(|| {
        Failure::new(format!("`{shown}` has no list of tools"))
            .help("save the result of `tools/list`")
    })
}

/// Refuses a list in which an entry has no name, or two have the same: a guard would say nothing of one of them.
fn check_names(tools: &[Json]) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let Some(name) = tool.get("name").and_then(Json::as_str) else {
            return Err(Failure::new(format!("entry {} of the list of tools has no name", at + 1))
                .help("each entry is an object with `name`, `description` and `inputSchema`"));
        };
        if !names.insert(name) {
            let name = crate::report::visible(name);
            return Err(Failure::new(format!("two tools of the list are called `{name}`")).help(
                "a guard cannot tell their calls apart; ask the server's author to rename one",
            ));
        }
    }
    Ok(())
}

/// Returns true if a text is a regular expression of the language.
fn is_pattern(text: &str) -> bool {
    regex::Regex::new(text).is_ok()
}

/// Writes a guard and its lock.
fn import(args: &McpArgs, tools: &[Json], term: &Term) -> Outcome {
    let path = args.output.as_deref();
    if let Some(path) = path.filter(|path| path.exists()) {
        let message = format!("`{}` is there already", sources::display(path));
        return Err(Failure::new(message).help("`--update` compares it with the server"));
    }
    let stem = path.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let name = args.name.clone().or(stem).unwrap_or_else(|| "imported".into());
    // A pattern that the language refuses is a comment instead.
    let text = formatted(&guard_text(&name, tools, &is_pattern), DEFECT)
        .or_else(|_| formatted(&guard_text(&name, tools, &|_| false), DEFECT))?;
    let lock = args.lock.clone().or_else(|| path.map(lock_path));
    if let Some(lock) = &lock {
        write(lock, &ToolLock::of_definitions(tools).text())?;
    }
    match path {
        None => term.print(&text)?,
        Some(path) => {
            write(path, &text)?;
            let mut said = format!("{}: {}\n", sources::display(path), count(tools.len(), "tool"));
            if let Some(lock) = lock {
                let _ = writeln!(said, "{}: locked", sources::display(&lock));
            }
            term.print(&said)?;
        }
    }
    Ok(Exit::Fine)
}

/// Shows what has changed since the lock was written, and accepts it if that is asked.
fn update(args: &McpArgs, tools: &[Json], term: &Term) -> Outcome {
    let path = args.lock.clone().or_else(|| args.output.as_deref().map(lock_path));
    let Some(path) = path else {
        return Err(Failure::new("`--update` needs the guard (`-o`) or its lock (`--lock`)"));
    };
    let shown = sources::display(&path);
    let locked = sources::read_text(&path).and_then(|text| ToolLock::read(&text));
    let locked =
        locked.map_err(|why| Failure::new(format!("cannot use the lock `{shown}`: {why}")))?;
    let current = ToolLock::of_definitions(tools);
    let differences = locked.differences(&current);
    if differences.is_empty() {
        term.print(&format!("{shown}: the server's tools are as they were accepted\n"))?;
        return Ok(Exit::Fine);
    }
    let mut out = String::new();
    for difference in &differences {
        let what = match (difference.before.is_empty(), difference.after.is_empty()) {
            (true, _) => "new",
            (_, true) => "gone",
            _ if difference.only_described => "another description",
            _ => "another schema",
        };
        let _ = writeln!(out, "{}: {what}", crate::report::visible(&difference.tool));
        let changes = similar::TextDiff::from_lines(&difference.before, &difference.after);
        let changes = changes.unified_diff().context_radius(2).to_string();
        changes.lines().for_each(|line| _ = writeln!(out, "  {}", crate::report::visible(line)));
        if !difference.after.is_empty() && !difference.only_described {
            let named =
                |tool: &&Json| tool.get("name").and_then(Json::as_str) == Some(&*difference.tool);
            let tool: Vec<Json> = tools.iter().filter(named).take(1).cloned().collect();
            let _ = writeln!(out, "  declared as:");
            for line in declarations(&tool, &is_pattern).concat().lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
    let total = count(differences.len(), "tool");
    match args.accept {
        true => {
            write(&path, &current.text())?;
            let _ = writeln!(out, "{total} accepted in {shown}; declare in the guard what is new");
            term.print(&out)?;
            Ok(Exit::Fine)
        }
        false => {
            let _ =
                writeln!(out, "{total} changed since {shown} was written; `--accept` accepts them");
            term.print(&out)?;
            Ok(Exit::Findings)
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        let why = crate::failure::reason(&error);
        Failure::new(format!("cannot write `{}`: {why}", sources::display(path)))
    })
}
