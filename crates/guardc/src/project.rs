//! From a file on disk to a compilation: names, loading, and displayed paths.

use crate::config::Config;
use crate::failure::Failure;
use crate::files::{self, Input};
use crate::report::Report;
use guard_compiler::{Compilation, Loader, SourceFile, std_library};
use std::path::{Path, PathBuf};

/// A root, compiled.
pub struct Compiled {
    /// The compiler's result.
    pub compilation: Compilation,
    /// Its files, with displayed names.
    pub shown: Vec<SourceFile>,
}

impl Compiled {
    /// Prints the problems to standard error.
    pub fn print_errors(&self, term: &crate::term::Term) {
        let mut report = Report::of_one();
        report.add(&self.shown, &self.compilation.diagnostics);
        report.findings.retain(|finding| finding.error);
        report.print_to_stderr(term);
    }

    /// Returns whether the file at this project path was read.
    pub fn reads(&self, path: &Path) -> bool {
        let shown = files::display(&files::normalize(path));
        self.shown.iter().any(|file| file.path == shown)
    }
}

/// Reads `input`.
pub fn read(input: &Input) -> Result<String, Failure> {
    if input.stdin {
        let text = files::bounded(std::io::stdin().lock()).and_then(files::utf8);
        return text.map_err(|why| Failure::new(format!("cannot read standard input: {why}")));
    }
    files::read_text(&input.path).map_err(|why| files::unreadable(&input.path, &why))
}

/// Compiles `text`, which is (or would be) at `path`.
pub fn compile(path: &Path, text: String, config: &Config) -> Compiled {
    let path =
        std::path::absolute(path).map(|p| files::normalize(&p)).unwrap_or_else(|_| path.to_owned());
    let root = root_of(&path, config);
    let root_file = SourceFile { path: name(&root, &path), text };
    let compilation = guard_compiler::compile(root_file, &mut Disk { root: root.clone() });
    let shown = compilation.files.iter().map(|file| shown(&root, file)).collect();
    Compiled { compilation, shown }
}

/// Compiles the guard of a command; problems are printed and end the command.
pub fn compile_one(
    path: &Path,
    config: &Config,
    term: &crate::term::Term,
) -> Result<Option<Compiled>, Failure> {
    let compiled = compile_alone(path, config)?;
    if compiled.compilation.output.is_some() {
        return Ok(Some(compiled));
    }
    compiled.print_errors(term);
    Ok(None)
}

/// Compiles one guard, with or without problems.
pub fn compile_alone(path: &Path, config: &Config) -> Result<Compiled, Failure> {
    let stdin = path.as_os_str() == "-";
    let shown = if stdin { Path::new("stdin.guard") } else { path };
    let text = read(&Input { path: path.to_owned(), walked: false, stdin })?;
    Ok(compile(shown, text, config))
}

/// Returns the project's root: the folder of `guard.toml`; else the current folder, if the file is
/// below it; else the file's folder.
fn root_of(path: &Path, config: &Config) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let candidates = config.root.iter().chain(std::iter::once(&here));
    let root = candidates.into_iter().find(|root| path.starts_with(root));
    root.map_or_else(|| path.parent().unwrap_or(Path::new("")).to_owned(), Clone::clone)
}

fn name(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn shown(root: &Path, file: &SourceFile) -> SourceFile {
    let bundled = std_library()
        .iter()
        .any(|(name, text)| file.text == *text && file.path == format!("std/{name}.guard"));
    let path = if bundled { file.path.clone() } else { files::display(&root.join(&file.path)) };
    SourceFile { path, text: file.text.clone() }
}

/// Loads the files of `use "…"` from disk, below the project's root.
struct Disk {
    root: PathBuf,
}

impl Loader for Disk {
    fn load(&mut self, path: &str) -> Result<String, String> {
        files::read_text(&self.root.join(path)).map_err(|why| {
            if why == "no such file or directory" { "no such file".into() } else { why }
        })
    }
}
