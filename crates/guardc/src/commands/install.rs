//! `guardc install` and `guardc uninstall`: add or remove the hook in a host's settings. Everything
//! else in the settings is unchanged.

use crate::commands::fmt::diff;
use crate::commands::hook::{host, line::HookLine};
use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::term::Console;
use guard_hooks::{Vocabulary, settings};
use guard_sdk::Guard;
use std::path::{Path, PathBuf};

/// The time limit of the hook in the host's settings, in seconds; longer than the hook's own deadline.
pub const TIMEOUT: u64 = 30;

/// The place of the settings.
#[derive(Debug, clap::Args)]
pub struct SettingsPlace {
    /// Use the settings in the home directory, for all projects [default: those of the project]
    #[arg(long, conflicts_with_all = ["project", "settings"])]
    pub user: bool,
    /// The folder of the project
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub project: PathBuf,
    /// Use this settings file
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub settings: Option<PathBuf>,
}

impl SettingsPlace {
    /// Returns the settings file of a host.
    pub fn path(&self, host: &Vocabulary) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.settings {
            return Ok(path.clone());
        }
        if !self.user {
            return Ok(self.project.join(host.settings));
        }
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
        let home = home.filter(|home| !home.is_empty());
        let home =
            home.ok_or_else(|| Failure::new("no home directory: set HOME, or give `--settings`"))?;
        Ok(PathBuf::from(home).join(host.settings))
    }
}

/// Puts the hook into an agent's settings
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent: claude-code, codex or gemini
    #[arg(value_parser = host)]
    pub host: &'static Vocabulary,
    /// The guard, or the plan that was compiled from it
    #[arg(long, value_name = "FILE", visible_alias = "guard")]
    pub plan: PathBuf,
    /// The store of the sessions [default: guard in the user's state folder]
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub place: SettingsPlace,
    /// Show the difference, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Takes the hook out of an agent's settings
#[derive(Debug, clap::Args)]
pub struct UninstallArgs {
    /// The agent: claude-code, codex or gemini
    #[arg(value_parser = host)]
    pub host: &'static Vocabulary,
    #[command(flatten)]
    pub place: SettingsPlace,
    /// Show the difference, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Runs `guardc install`.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    // A guard that cannot be used would block every call.
    if let Err(error) = Guard::from_file(&args.plan) {
        let failure = Failure::new(format!("the guard cannot be used: {error}"));
        return Err(failure.help("nothing was changed; `guardc check` gives details"));
    }
    let host = args.host;
    let path = args.place.path(host)?;
    let line = HookLine {
        host: host.name,
        guardc: program()?,
        plan: absolute(&args.plan)?,
        store: args.store.as_deref().map(absolute).transpose()?,
        // The shell that turns failures into refusals exists only there.
        guarded: cfg!(unix),
    };
    let old = read(&path)?;
    let new =
        settings::install(host, &old, &line.text(), TIMEOUT).map_err(|why| unclear(&path, &why))?;
    change(&path, &old, &new, args.dry_run, term)?;
    if old != new && !args.dry_run && host.name == "codex" {
        term.note(
            "Codex skips a new hook until you trust it: start `codex` once and confirm the hook",
        );
    }
    Ok(Exit::Fine)
}

/// Runs `guardc uninstall`.
pub fn uninstall(args: &UninstallArgs, term: &Console) -> CommandResult {
    let path = args.place.path(args.host)?;
    let old = read(&path)?;
    let new = settings::uninstall(args.host, &old).map_err(|why| unclear(&path, &why))?;
    change(&path, &old, &new, args.dry_run, term)?;
    Ok(Exit::Fine)
}

/// Returns the program that hosts start, which is this one.
fn program() -> Result<PathBuf, Failure> {
    // A link could be redirected later to another program, and so it is resolved now.
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    program
        .map_err(|error| Failure::new(format!("cannot find `guardc` itself: {}", reason(&error))))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| files::unreadable(path, &reason(&error)))
}

/// Returns the text of the settings; empty if there are none yet.
pub fn read(path: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(files::unreadable(path, &reason(&error))),
    }
}

fn unclear(path: &Path, why: &settings::SettingsError) -> Failure {
    let failure = Failure::new(format!("cannot change `{}`: {why}", files::display(path)));
    failure.help("nothing was changed; correct the file first")
}

/// Shows the difference, and writes the new text.
fn change(path: &Path, old: &str, new: &str, dry_run: bool, term: &Console) -> Result<(), Failure> {
    let name = files::display(path);
    if old == new {
        return term.print(&format!("{name} stays as it is\n"));
    }
    term.print(&diff::unified(&name, old, new, term.out))?;
    if dry_run {
        return Ok(());
    }
    let folder = files::folder_of(path);
    std::fs::create_dir_all(folder).map_err(|error| files::unreadable(folder, &reason(&error)))?;
    files::write_atomic(path, new.as_bytes())
}
