//! The compilation of a file on disk: names, loading, and displayed paths.

use crate::config::Config;
use crate::failure::Failure;
use crate::files::{self, InputText};
use crate::report::FindingReport;
use guard_compiler::{Compilation, CompilerOutput, SourceFile};
use guard_plan::LoadedPlan;
use guard_sdk::sources;
use std::path::Path;

/// A root, compiled.
pub struct Compiled {
    /// The compiler's result.
    pub compilation: Compilation,
    /// The files, with displayed names.
    pub shown: Vec<SourceFile>,
}

impl Compiled {
    /// Prints the problems to standard error.
    pub fn print_errors(&self, term: &crate::term::Console) {
        let mut report = FindingReport::of_one();
        report.add(&self.shown, &self.compilation.diagnostics);
        report.findings.retain(|finding| finding.error);
        report.print_to_stderr(term);
    }

    /// Returns a failure if the checker found no error but no kernel would accept the plan, which
    /// is a defect of the compiler.
    pub fn check_plan(&self) -> Result<(), Failure> {
        let Some(output) = &self.compilation.output else { return Ok(()) };
        LoadedPlan::check(&output.plan, &output.sources)
            .map_err(|why| Failure::new(format!("the compiled plan is rejected: {why}")))
    }

    /// Returns true if the file at this project path was read.
    pub fn reads(&self, path: &Path) -> bool {
        let shown = files::display(&files::normalize(path));
        self.shown.iter().any(|file| file.path == shown)
    }
}

/// Reads `input`.
pub fn read(input: &InputText) -> Result<String, Failure> {
    if input.stdin {
        let text =
            files::read_bounded(std::io::stdin().lock(), files::MAX_BYTES).and_then(files::utf8);
        return text.map_err(|why| Failure::new(format!("cannot read standard input: {why}")));
    }
    files::read_text(&input.path).map_err(|why| files::unreadable(&input.path, &why))
}

/// Compiles `text`, which is (or would be) at `path`.
pub fn compile(path: &Path, text: String, config: &Config) -> Compiled {
    let source = sources::compile(path, text, config.root.as_deref());
    Compiled { compilation: source.compilation, shown: source.shown }
}

/// Compiles the guard of a command, and returns it with its files. Problems are printed and end the
/// command.
pub fn compile_one(
    path: &Path,
    config: &Config,
    term: &crate::term::Console,
) -> Result<(CompilerOutput, Vec<SourceFile>), Failure> {
    let mut compiled = compile_alone(path, config)?;
    compiled.check_plan()?;
    match compiled.compilation.output.take() {
        Some(output) => Ok((output, compiled.shown)),
        None => {
            compiled.print_errors(term);
            Err(Failure::Rejected)
        }
    }
}

/// Compiles one guard, with or without problems.
pub fn compile_alone(path: &Path, config: &Config) -> Result<Compiled, Failure> {
    let stdin = path.as_os_str() == "-";
    let shown = if stdin { Path::new("stdin.guard") } else { path };
    let text = read(&InputText { path: path.to_owned(), walked: false, stdin })?;
    Ok(compile(shown, text, config))
}
