//! `guardc import`: writes a first guard from the declarations of others.

mod accept;
mod list;
mod openapi;

use crate::commands::mcp_proxy::lock_path;
use crate::failure::{CommandResult, Failure};
use crate::term::Console;
use accept::ImportedTools;
use guard_draft::{declarations, guard_text};
use guard_mcp::ToolLock;
use guard_plan::json::Json;
use guard_sdk::sources;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writes a first guard from the tools of an MCP server or an OpenAPI document, and locks them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    source: ImportSource,
}

#[derive(Debug, clap::Subcommand)]
enum ImportSource {
    /// Imports the tools of an MCP server, or a file with the result of its `tools/list`
    Mcp(McpArgs),
    /// Imports the operations of an OpenAPI document, 3.0 or 3.1
    Openapi(openapi::OpenApiArgs),
}

/// The arguments of `import mcp`.
#[derive(Debug, clap::Args)]
pub struct McpArgs {
    /// A file with the result of `tools/list`; `-` is standard input
    #[arg(value_name = "FILE", conflicts_with = "server", required_unless_present = "server")]
    file: Option<PathBuf>,
    #[command(flatten)]
    guard: GuardArgs,
    /// The lock [default: beside the guard, with `.mcp.lock`]
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// The time that the server may take for each answer
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = crate::commands::hook::duration)]
    timeout: Duration,
    /// The server: a program and its arguments
    #[arg(last = true, value_name = "SERVER")]
    server: Vec<String>,
}

/// The guard that is written or compared.
#[derive(Debug, clap::Args)]
struct GuardArgs {
    /// The guard to write, and with `--update` the guard whose lock is compared [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The name of the guard [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Compare the tools with the lock, show the difference, and write nothing
    #[arg(long)]
    update: bool,
    /// With `--update`: accept the tools as they are now
    #[arg(long, requires = "update")]
    accept: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    match &args.source {
        ImportSource::Mcp(args) => mcp(args, term),
        ImportSource::Openapi(args) => openapi::run(args, term),
    }
}

fn mcp(args: &McpArgs, term: &Console) -> CommandResult {
    let tools = match &args.file {
        Some(file) => of_file(file)?,
        None => list::of_server(&args.server, args.timeout)?,
    };
    check_names(&tools)?;
    let beside = args.guard.output.as_deref().map(lock_path);
    let imported = ImportedTools {
        count: tools.len(),
        lock: ToolLock::of_definitions(&tools),
        guard_text: &|name, is_pattern| guard_text(name, &tools, is_pattern),
        declaration: &|name, is_pattern| {
            let named = |tool: &&Json| tool.get("name").and_then(Json::as_str) == Some(name);
            let tool: Vec<Json> = tools.iter().filter(named).take(1).cloned().collect();
            declarations(&tool, is_pattern).concat()
        },
        owner: "server",
        defect: "this is a defect of `guardc import`: please report the list of tools",
    };
    imported.run(&args.guard, args.lock.clone().or(beside), term)
}

/// Returns the bytes of a file; `-` is standard input.
fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if file.as_os_str() == "-" {
        sources::read_bounded(std::io::stdin().lock(), sources::MAX_BYTES)
    } else {
        sources::read_bytes(file)
    };
    let shown = sources::display(file);
    bytes.map_err(|why| Failure::new(format!("cannot read `{shown}`: {why}")))
}

fn of_file(file: &Path) -> Result<Vec<Json>, Failure> {
    let bytes = bytes(file)?;
    let shown = sources::display(file);
    let json = Json::parse_bytes(&bytes)
        .map_err(|error| Failure::new(format!("`{shown}` is not JSON: {error}")))?;
    guard_mcp::definitions(&json).ok_or_else(|| {
        Failure::new(format!("`{shown}` has no list of tools"))
            .help("save the result of `tools/list`")
    })
}

/// Refuses a list in which an entry has no name, or two entries have the same name, because a guard
/// could not cover one of them.
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
