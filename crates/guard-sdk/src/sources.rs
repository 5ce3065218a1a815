//! Guards on disk: bounded reading of files, and loading of `use` files below the project's root.
//!
//! This module decides nothing and prints nothing. Only regular files are read, because a pipe or a
//! device could block for ever.

use guard_compiler::{Compilation, Loader, SourceFile, library_path, std_library};
use guard_plan::encode::MAGIC;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The error text if the process, or the system, has no more file descriptors.
pub(crate) const TOO_MANY_FILES: &str = "too many files are open";

/// The maximum size of files and texts, in bytes. Larger ones are not read.
pub const MAX_BYTES: u64 = 16 << 20;

/// The file that marks the root of a project.
pub const PROJECT_FILE: &str = "guard.toml";

/// A compilation. Its files are named as a person would type them from the current folder.
pub struct CompiledSource {
    /// The compiler's output.
    pub compilation: Compilation,
    /// The files of the compilation under the names that are shown to people.
    pub shown: Vec<SourceFile>,
    /// The files that were read from disk, with absolute paths, without the root file itself.
    pub used: Vec<(PathBuf, String)>,
}

/// Compiles `text`, the content of `path`. Files that it uses are loaded from below `root`. The
/// default root is [`project_root`].
///
/// ```
/// use guard_sdk::sources;
/// let source = sources::compile("demo.guard".as_ref(), "guard demo\ntool a() { requires b }".into(), None);
/// assert!(source.compilation.output.is_none());
/// assert_eq!(source.shown[0].path, "demo.guard");
/// ```
pub fn compile(path: &Path, text: String, root: Option<&Path>) -> CompiledSource {
    let path = std::path::absolute(path).map(|p| normalize(&p)).unwrap_or_else(|_| path.to_owned());
    let root = match root.filter(|root| path.starts_with(root)) {
        Some(root) => root.to_owned(),
        None => project_root(&path),
    };
    let name = path.strip_prefix(&root).unwrap_or(&path);
    let file = SourceFile { path: name.to_string_lossy().replace('\\', "/"), text };
    let mut loader = FileLoader { root: root.clone(), used: Vec::new() };
    let compilation = guard_compiler::compile(file, &mut loader);
    let shown = compilation.files.iter().map(|file| shown(&root, file)).collect();
    CompiledSource { compilation, shown, used: loader.used }
}

/// Returns the root of the project of the file at an absolute path. The root is the nearest folder
/// above the file with a `guard.toml`, otherwise the current folder if the file is below it,
/// otherwise the file's own folder.
pub fn project_root(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(root) = folder.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file()) {
        return root.to_owned();
    }
    match std::env::current_dir() {
        Ok(here) if path.starts_with(&here) => here,
        _ => folder.to_owned(),
    }
}

fn shown(root: &Path, file: &SourceFile) -> SourceFile {
    let bundled = std_library()
        .iter()
        .any(|(name, text)| file.text == *text && file.path == library_path(name));
    let path = if bundled { file.path.clone() } else { display(&root.join(&file.path)) };
    SourceFile { path, text: file.text.clone() }
}

/// A loader of `use "…"` files from below the project's root.
struct FileLoader {
    root: PathBuf,
    used: Vec<(PathBuf, String)>,
}

impl Loader for FileLoader {
    fn load(&mut self, path: &str) -> Result<String, String> {
        let path = self.root.join(path);
        // A symbolic link may lead anywhere, so the target itself must be below the root.
        let inside = match (std::fs::canonicalize(&path), std::fs::canonicalize(&self.root)) {
            (Ok(target), Ok(root)) => target.starts_with(root),
            _ => true,
        };
        if !inside {
            return Err("it is a link to a place outside the project".into());
        }
        let text = read_text(&path).map_err(|why| match why.as_str() {
            "no such file or directory" => "no such file".into(),
            _ => why,
        })?;
        self.used.push((path, text.clone()));
        Ok(text)
    }
}

/// Returns true if the bytes are a plan, in binary or JSON form. The source of a guard begins with
/// a word or a comment instead.
///
/// ```
/// assert!(guard_sdk::sources::is_plan(br#"{"plan": {}}"#));
/// assert!(!guard_sdk::sources::is_plan(b"guard demo"));
/// ```
pub fn is_plan(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
}

/// Returns a path as a person would type it from the current folder, with `/`.
pub fn display(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = &normalize(path);
    let shown = path.strip_prefix(&here).unwrap_or(path);
    let shown = if shown.as_os_str().is_empty() { Path::new(".") } else { shown };
    shown.to_string_lossy().replace('\\', "/")
}

/// Normalizes `a/./b/../c` to `a/c`, without reading the disk.
///
/// ```
/// use std::path::Path;
/// assert_eq!(guard_sdk::sources::normalize(Path::new("a/./b/../c")), Path::new("a/c"));
/// ```
pub fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    normal.push("..");
                }
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Reads a regular file of at most [`MAX_BYTES`].
///
/// # Errors
///
/// The reason as text: lower case, without a full stop.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|e| reason(&e))?;
    if meta.is_dir() {
        return Err("it is a directory".into());
    }
    if !meta.is_file() {
        return Err("it is not a regular file; `-` reads standard input".into());
    }
    if meta.len() > MAX_BYTES {
        return Err("it is larger than 16 MiB".into());
    }
    let file = std::fs::File::open(path).map_err(|e| reason(&e))?;
    read_bounded(file, MAX_BYTES)
}

/// Reads all bytes of a reader that has at most `max` bytes.
///
/// ```
/// assert_eq!(guard_sdk::sources::read_bounded(&b"text"[..], 1 << 20).as_deref(), Ok(&b"text"[..]));
/// let long = std::io::repeat(b' ');
/// assert_eq!(guard_sdk::sources::read_bounded(long, 1 << 20), Err("it is larger than 1 MiB".into()));
/// ```
///
/// # Errors
///
/// The errors of [`read_bytes`].
pub fn read_bounded(from: impl Read, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(max + 1).read_to_end(&mut bytes).map_err(|e| reason(&e))?;
    if bytes.len() as u64 > max {
        return Err(format!("it is larger than {} MiB", max >> 20));
    }
    Ok(bytes)
}

/// Converts bytes to text.
///
/// ```
/// assert_eq!(guard_sdk::sources::utf8(b"a\xff".to_vec()), Err("it is not UTF-8, at byte 1".into()));
/// ```
///
/// # Errors
///
/// The bytes are not UTF-8. The message names the first invalid byte.
pub fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes)
        .map_err(|e| format!("it is not UTF-8, at byte {}", e.utf8_error().valid_up_to()))
}

/// Reads the text of a regular file.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("demo.guard");
/// std::fs::write(&path, "guard demo").unwrap();
/// assert_eq!(guard_sdk::sources::read_text(&path).as_deref(), Ok("guard demo"));
/// assert_eq!(guard_sdk::sources::read_text(folder.path()), Err("it is a directory".into()));
/// ```
///
/// # Errors
///
/// The errors of [`read_bytes`] and [`utf8`].
pub fn read_text(path: &Path) -> Result<String, String> {
    utf8(read_bytes(path)?)
}

/// Returns an error of the operating system as text: lower case, without its number.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        // `EMFILE` and `ENFILE` have no `ErrorKind`.
        _ if cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24)) => TOO_MANY_FILES.into(),
        io::ErrorKind::NotFound => "no such file or directory".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        io::ErrorKind::NotADirectory => "a part of the path is not a directory".into(),
        io::ErrorKind::StorageFull => "no space left".into(),
        io::ErrorKind::AlreadyExists => "it already exists".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut letters = text.chars();
            letters.next().map(|c| c.to_lowercase().chain(letters).collect()).unwrap_or_default()
        }
    }
}
