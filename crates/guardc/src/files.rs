//! Reading, finding and writing files, with errors a person can act on.

use crate::config::Config;
use crate::failure::{Failure, reason};
use crate::near;
pub use guard_sdk::sources::{
    MAX_BYTES, display, normalize, read_bounded, read_bytes, read_text, utf8,
};
use guard_trace::draft::{DraftFile, SHARED};
use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Returns the folder of a file; for a bare name, the current folder.
pub fn folder_of(path: &Path) -> &Path {
    // The parent of a bare name is an empty path, which is no folder.
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the failure for an unreadable `path`, with a suggestion from the same folder.
pub fn unreadable(path: &Path, why: &str) -> Failure {
    let failure = Failure::new(format!("cannot read `{}`: {why}", display(path)));
    if path.exists() {
        return failure;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = folder_of(path);
    let neighbours: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| {
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    let near = neighbours.iter().map(String::as_str).filter(|neighbour| *neighbour != name);
    let near = near::nearest(&name, near);
    failure.maybe_help(near.map(|near| format!("did you mean `{}`?", display(&folder.join(near)))))
}

/// Returns true if two names refer to the same file.
pub fn same(a: &Path, b: &Path) -> bool {
    a == b || std::fs::canonicalize(a).is_ok_and(|a| std::fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// Checks that a command does not write over a trace that it reads: one of its inputs, or a trace in
/// a folder among them.
pub fn refuse_input(output: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let Ok(written) = std::fs::canonicalize(output) else { return Ok(()) };
    let is_trace = written.extension().is_some_and(|ending| ending == "jsonl");
    let is_read = |input: &PathBuf| {
        let input = std::fs::canonicalize(input);
        input.is_ok_and(|input| written == input || (is_trace && written.starts_with(&input)))
    };
    if inputs.iter().any(is_read) {
        let message = format!("`{}` would be overwritten while it is read", display(output));
        return Err(Failure::new(message).help("name another file to write to"));
    }
    Ok(())
}

/// A file that replaces the one at its path when it is complete. A device is written in place.
pub struct OutputFile {
    path: PathBuf,
    target: PathBuf,
    to: OutputTarget,
}

enum OutputTarget {
    Draft(DraftFile),
    InPlace(std::fs::File),
}

impl OutputFile {
    /// Begins to write a file.
    pub fn create(path: &Path) -> Result<OutputFile, Failure> {
        if path.is_dir() {
            return Err(unwritable(path, &std::io::ErrorKind::IsADirectory.into()));
        }
        // Links and devices are kept: the target is replaced, or written in place.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let meta = std::fs::metadata(&target);
        let to = if meta.as_ref().is_ok_and(|meta| !meta.is_file()) {
            std::fs::File::create(&target).map(OutputTarget::InPlace)
        } else {
            DraftFile::beside(&target, SHARED).and_then(|draft| {
                if let Ok(meta) = meta {
                    draft.file().set_permissions(meta.permissions())?;
                }
                Ok(OutputTarget::Draft(draft))
            })
        };
        let to = to.map_err(|error| unwritable(path, &error))?;
        Ok(OutputFile { path: path.to_owned(), target, to })
    }

    /// Gives the file its name, after everything is on disk.
    pub fn finish(self) -> Result<(), Failure> {
        match self.to {
            OutputTarget::InPlace(_) => Ok(()),
            OutputTarget::Draft(draft) => {
                draft.replace(&self.target).map_err(|error| unwritable(&self.path, &error))
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.to {
            OutputTarget::Draft(draft) => draft.write(bytes),
            OutputTarget::InPlace(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.to {
            OutputTarget::Draft(draft) => draft.flush(),
            OutputTarget::InPlace(file) => file.flush(),
        }
    }
}

/// Writes a file atomically: a temporary file is written first, then replaces it.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(|error| unwritable(path, &error))?;
    file.finish()
}

/// Returns the failure for a `path` that cannot be written.
pub fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot write `{}`: {}", display(path), reason(error)))
}

/// One input text.
pub struct InputText {
    /// The path; for standard input, the assumed path.
    pub path: PathBuf,
    /// True if found in a directory rather than named.
    pub walked: bool,
    /// True if given on standard input.
    pub stdin: bool,
}

/// Returns the `.guard` files that `paths` name: files as given, directories searched. By default
/// the current directory.
pub fn find(
    paths: &[PathBuf],
    stdin_filename: Option<&Path>,
    config: &Config,
) -> Result<Vec<InputText>, Failure> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    if paths.iter().filter(|p| p.as_os_str() == "-").count() > 1 {
        return Err(Failure::new("standard input is given twice"));
    }
    if stdin_filename.is_some() && !paths.iter().any(|p| p.as_os_str() == "-") {
        return Err(Failure::new("`--stdin-filename` is given, but not `-`"));
    }
    let filter = FileFilter::new(config)?;
    let mut found: Vec<InputText> = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let path = stdin_filename.unwrap_or(Path::new("stdin.guard")).to_owned();
            found.push(InputText { path, walked: false, stdin: true });
        } else if path.is_dir() {
            let walked = walk(path, &filter)?;
            found.extend(walked.into_iter().map(|path| InputText {
                path,
                walked: true,
                stdin: false,
            }));
        } else if path.exists() {
            found.push(InputText { path: path.clone(), walked: false, stdin: false });
        } else {
            let why = std::fs::metadata(path).map_err(|e| reason(&e)).err().unwrap_or_default();
            return Err(unreadable(path, &why));
        }
    }
    let mut seen = std::collections::HashSet::new();
    // A file that was named and also found by walking is examined once.
    found.retain(|input| input.stdin || seen.insert(std::fs::canonicalize(&input.path).ok()));
    if found.is_empty() {
        let shown: Vec<String> = paths.iter().map(|p| format!("`{}`", display(p))).collect();
        return Err(Failure::new(format!("no `.guard` files in {}", shown.join(", "))));
    }
    Ok(found)
}

/// The `include` and `exclude` of the configuration.
struct FileFilter {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
}

impl FileFilter {
    fn new(config: &Config) -> Result<FileFilter, Failure> {
        let root = config.root.clone().unwrap_or_default();
        let build = |globs: &[String]| -> Result<Option<Gitignore>, Failure> {
            if globs.is_empty() {
                return Ok(None);
            }
            let mut builder = GitignoreBuilder::new(&root);
            for glob in globs {
                let bad = |e: ignore::Error| {
                    Failure::new(format!("bad glob `{glob}` in `guard.toml`: {e}"))
                };
                builder.add_line(None, glob).map_err(bad)?;
            }
            builder
                .build()
                .map(Some)
                .map_err(|e| Failure::new(format!("bad globs in `guard.toml`: {e}")))
        };
        Ok(FileFilter { include: build(&config.include)?, exclude: build(&config.exclude)? })
    }

    fn takes(&self, path: &Path) -> bool {
        let Ok(path) = std::path::absolute(path).map(|p| normalize(&p)) else {
            return true;
        };
        let matches = |globs: &Gitignore| {
            path.starts_with(globs.path())
                && globs.matched_path_or_any_parents(&path, false).is_ignore()
        };
        self.include.as_ref().is_none_or(matches) && !self.exclude.as_ref().is_some_and(matches)
    }
}

/// The names of the files that list the paths to skip in a walk.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Refuses a folder whose ignore files the walk could not read, because opening a FIFO would block
/// for ever.
fn walkable(folder: &Path) -> Result<(), Failure> {
    let odd = |name: &&&str| std::fs::metadata(folder.join(name)).is_ok_and(|meta| !meta.is_file());
    match IGNORE_FILES.iter().find(odd) {
        Some(name) => {
            let shown = display(&folder.join(name));
            Err(Failure::new(format!("cannot read `{shown}`: it is not a regular file")))
        }
        None => Ok(()),
    }
}

fn walk(folder: &Path, filter: &FileFilter) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // The walk also reads the ignore files of the folders above.
    whole.ancestors().try_for_each(walkable)?;
    let refused = Arc::new(Mutex::new(None));
    let seen = refused.clone();
    let walk = WalkBuilder::new(folder)
        .require_git(false)
        .sort_by_file_path(Ord::cmp)
        .filter_entry(move |entry| {
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            let result = if is_file { Ok(()) } else { walkable(entry.path()) };
            result.map_err(|failure| seen.lock().map(|mut seen| *seen = Some(failure))).is_ok()
        })
        .build();
    for entry in walk {
        let entry = entry.map_err(|e| {
            let shown = display(folder);
            let why = e.io_error().map(reason).unwrap_or_else(|| e.to_string());
            Failure::new(format!("cannot walk `{shown}`: {why}"))
        })?;
        let path = entry.path();
        let is_file = entry.file_type().is_some_and(|t| !t.is_dir());
        if is_file && path.extension().is_some_and(|e| e == "guard") && filter.takes(path) {
            files.push(path.strip_prefix("./").unwrap_or(path).to_owned());
        }
    }
    let refused = refused.lock().map(|mut refused| refused.take()).unwrap_or_default();
    refused.map_or(Ok(files), Err)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_through_no_prepared_link() {
        let folder = std::env::temp_dir().join(format!("guardc-files-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        let (path, target) = (folder.join("report"), folder.join("target"));
        std::fs::write(&target, "of somebody else").expect("written");
        let prepared = folder.join(format!(".report.{}.tmp", std::process::id()));
        std::os::unix::fs::symlink(&target, prepared).expect("a link");
        // A link at the path itself is the user's, and is kept.
        let link = folder.join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        for to in [&path, &link] {
            write_atomic(to, b"a report").unwrap_or_else(|_| panic!("it can be written"));
        }
        assert_eq!(std::fs::read(&target).expect("read"), b"of somebody else");
        assert_eq!(std::fs::read(&path).expect("read"), b"a report");
        assert!(link.is_symlink());
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
