//! Files that are complete when they appear: they are written under another name and then moved.
//!
//! An agent may be able to write to the folder. So the other name cannot be predicted, and the file
//! must be new: a link that was put there would lead the text to another file.

use guard_plan::hex;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The permissions of a file that everybody may read, as far as the process permits it.
pub const SHARED: u32 = 0o666;

/// The permissions of a file that only its owner may read.
pub const PRIVATE: u32 = 0o600;

/// A file without its final name. It is removed if it is dropped without one.
#[derive(Debug)]
pub struct DraftFile {
    file: File,
    path: PathBuf,
    moved: bool,
}

impl DraftFile {
    /// Creates an empty file in the folder of `target`, with these permissions.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created, or the system provides no randomness.
    pub fn beside(target: &Path, mode: u32) -> io::Result<DraftFile> {
        let mut options = OpenOptions::new();
        // A file or a link that exists is refused, not opened.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        let path = unpredictable(target)?;
        options.open(&path).map(|file| DraftFile { file, path, moved: false })
    }

    /// Returns the open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Synchronises the file to disk and gives it its name, in place of a file that has it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be synchronised or renamed.
    pub fn replace(self, target: &Path) -> io::Result<()> {
        // Without this a crash could leave the name with an empty file.
        self.file.sync_all()?;
        self.rename(target)
    }

    /// Gives the file its name as [`DraftFile::replace`] does, but does not wait for the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be renamed.
    pub fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.moved = true;
        Ok(())
    }

    /// Synchronises the file to disk and gives it its name, if no file has it.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::AlreadyExists`] if a file has the name, or another error if the file
    /// cannot be synchronised or linked.
    pub fn place(self, target: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        // A rename would replace a file that another process has put there.
        fs::hard_link(&self.path, target)
    }
}

impl Write for DraftFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.moved {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns a hidden name in the folder of a file.
fn unpredictable(target: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(target.with_file_name(format!(".{}.draft", hex::encode(&random))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_draft_gets_its_name_or_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        drop(DraftFile::beside(&path, SHARED).unwrap());
        assert!(names(folder.path()).is_empty());
        for text in ["one", "two"] {
            let mut draft = DraftFile::beside(&path, SHARED).unwrap();
            draft.write_all(text.as_bytes()).unwrap();
            draft.replace(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let taken = DraftFile::beside(&path, SHARED).unwrap().place(&path).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(folder.path()), ["report"]);
    }

    #[test]
    fn no_two_drafts_have_a_name_that_one_could_predict() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        let drafts = [(); 2].map(|()| DraftFile::beside(&path, PRIVATE).unwrap());
        let names = names(folder.path());
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|name| name.starts_with('.') && name.len() == 23), "{names:?}");
        #[cfg(unix)]
        for draft in &drafts {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(draft.file().metadata().unwrap().permissions().mode() & 0o777, PRIVATE);
        }
    }
}
