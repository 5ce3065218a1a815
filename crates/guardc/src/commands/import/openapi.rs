//! `guardc import openapi`: writes a first guard from the operations of an OpenAPI document.

use super::accept::ImportedTools;
use super::{GuardArgs, bytes};
use crate::failure::{CommandResult, Failure};
use crate::term::Console;
use guard_draft::ApiTools;
use guard_mcp::ToolLock;
use guard_sdk::sources;
use std::path::PathBuf;

/// The arguments of `import openapi`.
#[derive(Debug, clap::Args)]
pub struct OpenApiArgs {
    /// The document, JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    guard: GuardArgs,
    /// The lock [default: beside the guard, with `.openapi.lock`]
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &OpenApiArgs, term: &Console) -> CommandResult {
    let bytes = bytes(&args.file)?;
    let api = ApiTools::read(&bytes).map_err(|error| {
        let shown = sources::display(&args.file);
        let failure = Failure::new(format!("cannot use `{shown}`: {}", error.message));
        match error.help {
            Some(help) => failure.help(help),
            None => failure,
        }
    })?;
    // No proxy reads this lock. It has its own extension, so that it is not mistaken for the lock
    // of a server.
    let beside = args.guard.output.as_deref().map(|path| path.with_extension("openapi.lock"));
    let imported = ImportedTools {
        count: api.definitions().len(),
        lock: ToolLock::with_shared(api.definitions(), api.components()),
        guard_text: &|name, is_pattern| api.guard_text(name, is_pattern),
        declaration: &|name, is_pattern| api.declaration(name, is_pattern),
        owner: "document",
        defect: "this is a defect of `guardc import`: please report the document",
    };
    imported.run(&args.guard, args.lock.clone().or(beside), term)
}
