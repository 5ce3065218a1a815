//! Chores of the workspace: `cargo xtask CHORE`.
//!
//! One module per chore. Knows the layout of the repository and none of the crates.

mod differential;
mod release;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A chore: its name, what it does, and how. It gets the root of the workspace and its own arguments.
struct Chore {
    name: &'static str,
    about: &'static str,
    run: fn(&Path, &[String]) -> Result<bool, String>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "tidy",
        about: "checks what the compiler cannot: layers, headers, pages, layout",
        run: tidy::run,
    },
    Chore {
        name: "differential",
        about: "SESSIONS [SEED]: compares kernel and reference evaluator on random sessions",
        run: differential::run,
    },
    Chore {
        name: "release",
        about: "FOLDER: a dry run of a release: packs what the registries get, and publishes nothing",
        run: release::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(chore) = args.first().and_then(|name| CHORES.iter().find(|c| c.name == name)) else {
        if let Some(name) = args.first() {
            eprintln!("error: there is no chore `{name}`");
        }
        eprintln!("usage: cargo xtask CHORE\n");
        for chore in CHORES {
            eprintln!("  {:13} {}", chore.name, chore.about);
        }
        return ExitCode::from(2);
    };
    match (chore.run)(&root(), &args[1..]) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The root of the workspace: two above this crate.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
