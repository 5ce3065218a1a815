//! The world on disk: the files of a workspace, commands run in it, and its git repository.

use crate::git;
use crate::run::run;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Content, Ran, TEXT_BYTES};
use guard_runtime::World;
use memchr::memmem::Finder;
use sha2::{Digest, Sha256};
use std::fs::{File, Metadata, OpenOptions};
use std::io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 256 << 20;
/// The maximum number of links on the way to a file.
const MAX_LINKS: usize = 40;

/// A workspace on disk.
///
/// Probes that the host provides have no answer here. Questions about anything outside of the
/// workspace, also about what a symbolic link in it leads to, have no answer.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// Opens the workspace at an existing directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory does not exist or cannot be resolved.
    pub fn new(root: &Path) -> io::Result<Disk> {
        Ok(Disk { root: root.canonicalize()? })
    }

    /// Opens a regular file of the workspace; `Ok(None)` if there is none; an error if that cannot
    /// be determined.
    fn open(&self, path: &str) -> io::Result<Option<(File, Metadata)>> {
        let Some(real) = self.inside(path)? else { return Ok(None) };
        let mut options = OpenOptions::new();
        options.read(true);
        // The file may have been replaced: a pipe must not block, and a link must not lead outside.
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt;
            let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
            options.custom_flags(flags.bits() as i32);
        }
        let file = match options.open(&real) {
            Ok(file) => file,
            Err(error) if error.kind() == NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let about = file.metadata()?;
        Ok(about.is_file().then_some((file, about)))
    }

    /// Returns the real path of what exists in the workspace; `Ok(None)` if nothing does; an error
    /// if that lies outside or cannot be determined.
    fn inside(&self, path: &str) -> io::Result<Option<PathBuf>> {
        let outside = || io::Error::other("it is outside the workspace");
        match Path::new(path).canonicalize() {
            Ok(real) if real.starts_with(&self.root) => Ok(Some(real)),
            Ok(_) => Err(outside()),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                let inside = self.would_hold(Path::new(path))?;
                if inside { Ok(None) } else { Err(outside()) }
            }
            Err(error) => Err(error),
        }
    }

    /// Returns true if a missing path belongs to the workspace: the nearest existing directory above
    /// it does, and every link on the way leads into the workspace.
    fn would_hold(&self, path: &Path) -> io::Result<bool> {
        let mut path = path.to_path_buf();
        for _ in 0..MAX_LINKS {
            let Some((real, missing)) = nearest_existing(&path)? else { return Ok(false) };
            let climbs = missing.components().any(|part| matches!(part, Component::ParentDir));
            if climbs || !real.starts_with(&self.root) {
                return Ok(false);
            }
            let mut rest = missing.components();
            let Some(first) = rest.next() else { return Ok(true) };
            match real.join(first).read_link() {
                Ok(target) => path = real.join(target).join(rest.as_path()),
                Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidInput) => {
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Opens a file that is small enough to be read.
    fn readable(&self, path: &str) -> Option<Option<File>> {
        match self.open(path).ok()? {
            Some((_, about)) if about.len() > MAX_FILE => None,
            Some((file, _)) => Some(Some(file)),
            None => Some(None),
        }
    }
}

impl World for Disk {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.inside(path).ok().map(|real| real.is_some())
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        None
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        Some(self.open(path).ok()?.is_some())
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        match self.readable(path)? {
            Some(file) => holds(file, text.as_bytes()).ok(),
            None => Some(false),
        }
    }

    fn text(&mut self, path: &str) -> Option<Content> {
        let Some((file, about)) = self.open(path).ok()? else { return Some(Content::Missing) };
        if about.len() > TEXT_BYTES as u64 {
            return Some(Content::TooLarge);
        }
        // The file may grow while it is read.
        let mut bytes = Vec::new();
        file.take(TEXT_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
        Some(Content::new(bytes))
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        match self.readable(path)? {
            Some(file) => hash(file).ok().map(Some),
            None => Some(None),
        }
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        Some(run(command, &self.root))
    }

    fn committed(&mut self) -> Option<bool> {
        git::committed(&self.root)
    }
}

/// Returns the real path of the nearest existing part of a path, and the rest of the path.
fn nearest_existing(path: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    for above in path.ancestors() {
        match above.canonicalize() {
            Ok(real) => {
                let missing = path.strip_prefix(above).unwrap_or(Path::new(""));
                return Ok(Some((real, missing.to_path_buf())));
            }
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns true if a file contains a text; reads the file in pieces.
fn holds(mut file: File, text: &[u8]) -> io::Result<bool> {
    let finder = Finder::new(text);
    let mut window: Vec<u8> = Vec::with_capacity((64 << 10) + text.len());
    loop {
        // The text may span the end of one piece and the beginning of the next.
        let kept = window.len().min(text.len().saturating_sub(1));
        window.drain(..window.len() - kept);
        let read = file.by_ref().take(64 << 10).read_to_end(&mut window)?;
        if finder.find(&window).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
    }
}

fn hash(mut file: File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = [0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(guard_plan::hex::encode(&hasher.finalize()))
}
