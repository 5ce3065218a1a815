//! The command line, parsed by clap.

use crate::commands;
use crate::failure::CommandResult;
use crate::term::{ColorChoice, Console};
use clap::{Parser, Subcommand};

/// Compiles, checks, tests and runs guards: small specs that govern the tool calls of AI agents
#[derive(Debug, Parser)]
#[command(name = "guardc", version, propagate_version = false, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 no findings, 1 findings, 2 wrong usage, or an input or output error."
)]
pub struct Cli {
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: ColorChoice,
    /// What to do.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// Every subcommand.
#[derive(Debug, Subcommand)]
#[allow(missing_docs, reason = "each module documents its own")]
pub enum CliCommand {
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

impl CliCommand {
    /// Runs the command.
    pub fn run(&self, term: &Console) -> CommandResult {
        match self {
            CliCommand::Check(args) => commands::check::run(args, term),
            CliCommand::Compile(args) => commands::compile::run(args, term),
            CliCommand::Explain(args) => commands::explain::run(args, term),
            CliCommand::Fmt(args) => commands::fmt::run(args, term),
            CliCommand::Test(args) => commands::test::run(args, term),
            CliCommand::Trace(args) => commands::trace::run(args, term),
            CliCommand::Run(args) => commands::run::run(args, term),
            CliCommand::Contract(args) => commands::contract::run(args, term),
            CliCommand::Diff(args) => commands::diff::run(args, term),
            CliCommand::Drive(args) => commands::drive::run(args, term),
            CliCommand::Render(args) => commands::render::run(args, term),
            CliCommand::Replay(args) => commands::replay::run(args, term),
            CliCommand::Serve(args) => commands::serve::run(args, term),
            CliCommand::Hook(args) => commands::hook::run(args, term),
            CliCommand::Install(args) => commands::install::run(args, term),
            CliCommand::Uninstall(args) => commands::install::uninstall(args, term),
            CliCommand::Approvals(args) => commands::approvals::run(args, term),
            CliCommand::Doctor(args) => commands::doctor::run(args, term),
            CliCommand::McpProxy(args) => commands::mcp_proxy::run(args, term),
            CliCommand::Import(args) => commands::import::run(args, term),
            CliCommand::Suggest(args) => commands::suggest::run(args, term),
            CliCommand::Export(args) => commands::export::run(args, term),
            CliCommand::Ack(args) => commands::ack::run(args, term),
            CliCommand::Init(args) => commands::init::run(args, term),
            CliCommand::Completions(args) => commands::completions::run(args, term),
            CliCommand::Man(args) => commands::man::run(args),
            CliCommand::Verify(args) => commands::verify::run(args, term),
            CliCommand::Version(args) => commands::version::run(args, term),
        }
    }
}
