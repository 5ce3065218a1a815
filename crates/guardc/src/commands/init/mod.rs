//! `guardc init`: creates a new project.

use crate::config;
use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::term::Console;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a `guard.toml` and a first guard; never overwrites
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
}

const FILES: [(&str, &str); 2] =
    [(config::NAME, include_str!("guard.toml")), ("agent.guard", include_str!("agent.guard"))];

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let cannot = |path: &Path, why: String| {
        Failure::new(format!("cannot write `{}`: {why}", files::display(path)))
    };
    // All names are looked up before the first file is written, so that nothing is half done.
    if let Some((name, _)) = FILES.iter().find(|(name, _)| args.dir.join(name).exists()) {
        let failure = cannot(&args.dir.join(name), "it already exists".into());
        return Err(failure.help("nothing was written; give another directory, or remove it first"));
    }
    std::fs::create_dir_all(&args.dir).map_err(|e| cannot(&args.dir, reason(&e)))?;
    for (name, text) in FILES {
        let path = args.dir.join(name);
        // `create_new` also refuses a file that appeared after the check above.
        let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        created
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|e| cannot(&path, reason(&e)))?;
        term.print(&format!("wrote {}\n", files::display(&path)))?;
    }
    let guard = files::display(&args.dir.join("agent.guard"));
    let style = term.out;
    let next = [("guardc test", "runs its tests"), ("guardc run", "lets you play the agent")];
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or(0) + 1 + guard.len();
    let lines = next.map(|(command, what)| {
        let command = format!("{command} {guard}");
        format!("  {}{:pad$}  {what}\n", style.cyan(&command), "", pad = width - command.len())
    });
    term.print(&format!("\nnext:\n{}", lines.concat()))?;
    Ok(Exit::Fine)
}
