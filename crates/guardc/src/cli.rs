//! The command line, parsed by clap.

use crate::commands;
use crate::failure::CommandResult;
use crate::term::{ColorChoice, Console};
use clap::{Parser, Subcommand};

/// Compiles, checks, tests and runs guards: small specs that govern the tool calls of AI agents
#[derive(Debug, Parser)]
#[command(name = "guardc", version, propagate_version = false, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 fine, 1 findings, 2 usage or input and output.")]
pub struct Cli {
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Every subcommand.
#[derive(Debug, Subcommand)]
#[allow(missing_docs, reason = "each module documents its own")]
pub enum Command {
    Check(commands::check::Args),
    Compile(commands::compile::Args),
    Explain(commands::explain::Args),
    Fmt(commands::fmt::Args),
    Test(commands::test::Args),
    Trace(commands::trace::Args),
    Run(commands::run::Args),
    Contract(commands::contract::Args),
    Diff(commands::diff::Args),
    Drive(commands::drive::Args),
    Render(commands::render::Args),
    Replay(commands::replay::Args),
    Serve(commands::serve::Args),
    Hook(commands::hook::Args),
    Install(commands::install::Args),
    Uninstall(commands::install::UninstallArgs),
    Approvals(commands::approvals::Args),
    Doctor(commands::doctor::Args),
    McpProxy(commands::mcp_proxy::Args),
    Import(commands::import::Args),
    Suggest(commands::suggest::Args),
    Export(commands::export::Args),
    Ack(commands::ack::Args),
    Init(commands::init::Args),
    Completions(commands::completions::Args),
    // For those who package the command.
    #[command(hide = true)]
    Man(commands::man::Args),
    Verify(commands::verify::Args),
    Version(commands::version::Args),
}

impl Command {
    /// Runs the command.
    pub fn run(&self, term: &Console) -> CommandResult {
        match self {
            Command::Check(args) => commands::check::run(args, term),
            Command::Compile(args) => commands::compile::run(args, term),
            Command::Explain(args) => commands::explain::run(args, term),
            Command::Fmt(args) => commands::fmt::run(args, term),
            Command::Test(args) => commands::test::run(args, term),
            Command::Trace(args) => commands::trace::run(args, term),
            Command::Run(args) => commands::run::run(args, term),
            Command::Contract(args) => commands::contract::run(args, term),
            Command::Diff(args) => commands::diff::run(args, term),
            Command::Drive(args) => commands::drive::run(args, term),
            Command::Render(args) => commands::render::run(args, term),
            Command::Replay(args) => commands::replay::run(args, term),
            Command::Serve(args) => commands::serve::run(args, term),
            Command::Hook(args) => commands::hook::run(args, term),
            Command::Install(args) => commands::install::run(args, term),
            Command::Uninstall(args) => commands::install::uninstall(args, term),
            Command::Approvals(args) => commands::approvals::run(args, term),
            Command::Doctor(args) => commands::doctor::run(args, term),
            Command::McpProxy(args) => commands::mcp_proxy::run(args, term),
            Command::Import(args) => commands::import::run(args, term),
            Command::Suggest(args) => commands::suggest::run(args, term),
            Command::Export(args) => commands::export::run(args, term),
            Command::Ack(args) => commands::ack::run(args, term),
            Command::Init(args) => commands::init::run(args, term),
            Command::Completions(args) => commands::completions::run(args, term),
            Command::Man(args) => commands::man::run(args),
            Command::Verify(args) => commands::verify::run(args, term),
            Command::Version(args) => commands::version::run(args, term),
        }
    }
}
