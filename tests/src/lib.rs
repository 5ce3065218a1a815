//! Helpers shared by the suites: how a case file becomes a printed outcome, and the machinery of the laws.

pub mod big;
pub mod bounded;
pub mod claimed;
pub mod claims;
pub mod differential;
pub mod disproofs;
pub mod edits;
pub mod exhausted;
pub mod generate;
pub mod opinion;
pub mod small;
pub mod steps;
pub mod walks;
pub mod written;

use guard_compiler::{CompilerOutput, NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::plan::Plan;
use guard_runtime::Kernel;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiles a guard by itself; none where it is refused.
pub fn compiled(text: &str) -> Option<CompilerOutput> {
    let root = SourceFile { path: "guard.guard".into(), text: text.into() };
    compile(root, &mut NoFiles).output
}

/// A kernel of a plan that is like the output's.
///
/// # Errors
///
/// The plan does not load, or no kernel takes it.
pub fn kernel(plan: &Plan, output: &CompilerOutput) -> Result<Kernel, String> {
    let loaded = LoadedPlan::from_plan(plan.clone(), output.sources.clone());
    Kernel::new(loaded.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

/// Loads a plan with its proofs into a kernel.
///
/// # Errors
///
/// Those of [`kernel`].
pub fn loads(plan: &Plan, output: &CompilerOutput) -> Result<(), String> {
    kernel(plan, output).map(drop)
}

/// The answers of a solver to a script, one a line; `solver` is its command line.
///
/// # Errors
///
/// The solver cannot be run, or answers another number of times.
pub fn solve(solver: &str, script: &str, count: usize) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("cannot run `{solver}`: {error}");
    let mut words = solver.split_whitespace();
    let mut child = Command::new(words.next().unwrap_or_default())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut input = child.stdin.take().ok_or("the solver has no input")?;
    let asked = script.to_owned();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    let _ = writer.join();
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    if answers.len() == count {
        Ok(answers)
    } else {
        Err(format!("`{solver}` says:\n{text}\nto\n{script}"))
    }
}

/// The guards that stand in a folder, sorted by path.
pub fn guards_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths = entries(folder);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "guard"));
    paths.sort();
    paths
}

/// The guards below a folder, sorted by path.
pub fn guards_below(folder: &Path) -> Vec<PathBuf> {
    let folders = entries(folder).into_iter().filter(|path| path.is_dir());
    let mut paths = guards_in(folder);
    paths.extend(folders.flat_map(|folder| guards_below(&folder)));
    paths.sort();
    paths
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder);
    let read = read.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    read.map(|entry| entry.expect("a readable entry").path()).collect()
}
