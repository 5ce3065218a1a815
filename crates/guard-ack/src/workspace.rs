//! The folder in which a case is played. It is created when the case begins, and removed when it
//! ends.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static MADE: AtomicU64 = AtomicU64::new(0);

/// A temporary folder, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Creates a new folder with these files.
    pub fn new(files: &BTreeMap<String, String>) -> io::Result<Workspace> {
        let base = std::env::temp_dir();
        let root = loop {
            let name = format!(
                "guard-ack-{}-{}",
                std::process::id(),
                MADE.fetch_add(1, Ordering::Relaxed)
            );
            let root = base.join(name);
            // The call fails if the name exists, so nobody else can have prepared the folder or a
            // link.
            match std::fs::create_dir(&root) {
                Ok(()) => break root.canonicalize()?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let workspace = Workspace { root };
        for (name, text) in files {
            workspace.write(name, text)?;
        }
        Ok(workspace)
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.inside(name)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match std::fs::remove_file(self.inside(name)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the path of a file, which must be within the folder.
    fn inside(&self, name: &str) -> io::Result<PathBuf> {
        let plain = |part| matches!(part, std::path::Component::Normal(_));
        if Path::new(name).components().all(plain) {
            Ok(self.root.join(name))
        } else {
            Err(io::Error::other(format!("`{name}` is not below the workspace")))
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // Another process may hold the folder; then the system must clean it up.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
