//! The errors of a store, and their messages.

use crate::keys::KeyError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The error of a store operation.
pub enum StoreError {
    /// The session id is not 1 to 128 letters, digits, `-`, `_` or `.`, or begins with `.`.
    BadSession(String),
    /// The commit does not follow the stored records, or is invalid. Nothing was written.
    Misfit(String),
    /// Another process uses the file, and did not release it in time.
    Locked(PathBuf),
    /// The disk is full.
    Full(PathBuf),
    /// The process, or the system, has too many files open.
    Exhausted(PathBuf),
    /// The file cannot be read or written.
    Io(PathBuf, String),
    /// The stored data differs from the data that was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The session, if known.
        session: Option<String>,
        /// The number of the record, if known.
        record: Option<u64>,
        /// The problem.
        why: String,
    },
    /// The file is not the one that contains the records: it was deleted, moved, replaced or cut
    /// off.
    Lost {
        /// The file.
        path: PathBuf,
        /// The change to it.
        why: String,
    },
    /// The store was written by another version of Guard.
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: i64,
        /// The supported version.
        known: i64,
    },
    /// The file is not a store.
    NoStore(PathBuf),
    /// An earlier commit of the session failed. Further commits are refused until the session is
    /// begun again.
    Refused(String),
    /// The key of the store cannot be used.
    Key(KeyError),
}

/// The same text as the `Display` form, because `main` prints the `Debug` form of an error.
impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::BadSession(_) => f.write_str(
                "the id of a session in a store has 1 to 128 letters, digits, `-`, `_` or `.`",
            ),
            StoreError::Misfit(why) => write!(f, "the store does not accept it: {why}"),
            StoreError::Locked(path) => {
                write!(f, "`{}` is held by another process", path.display())
            }
            StoreError::Full(path) => write!(f, "no space left for `{}`", path.display()),
            StoreError::Exhausted(path) => {
                write!(f, "cannot open `{}`: too many files are open", path.display())
            }
            StoreError::Io(path, why) => write!(f, "cannot use `{}`: {why}", path.display()),
            StoreError::Damaged { path, session, record, why } => {
                write!(f, "`{}` is damaged", path.display())?;
                match (session, record) {
                    (Some(id), Some(record)) => write!(f, ", record {record} of `{id}`")?,
                    (Some(id), None) => write!(f, ", session `{id}`")?,
                    (None, Some(record)) => write!(f, ", record {record}")?,
                    (None, None) => {}
                }
                write!(f, ": {why}")
            }
            StoreError::Lost { path, why } => write!(f, "`{}` {why}", path.display()),
            StoreError::Version { path, found, known } => {
                let path = path.display();
                write!(
                    f,
                    "`{path}` is a store of version {found}; this Guard reads version {known}"
                )
            }
            StoreError::NoStore(path) => write!(f, "`{}` is not a store of traces", path.display()),
            StoreError::Refused(id) => {
                write!(f, "session `{id}` could not be written: close it, then open it again")
            }
            StoreError::Key(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// Returns the error for a file that no longer contains the records.
    pub(crate) fn lost(path: &Path, why: &str) -> StoreError {
        StoreError::Lost { path: path.to_owned(), why: why.to_owned() }
    }

    /// Converts an IO error on a file.
    pub(crate) fn io(path: &Path, error: &io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => StoreError::Full(path.to_owned()),
            io::ErrorKind::NotFound => StoreError::Io(path.to_owned(), "it does not exist".into()),
            _ if is_exhausted(error) => StoreError::Exhausted(path.to_owned()),
            _ => StoreError::Io(path.to_owned(), error.to_string()),
        }
    }

    /// Returns true if the error concerns the disk, so that the state of earlier writes is unknown.
    pub(crate) fn is_of_writing(&self) -> bool {
        !matches!(
            self,
            StoreError::BadSession(_)
                | StoreError::Misfit(_)
                | StoreError::Locked(_)
                | StoreError::Refused(_)
        )
    }
}

/// Returns true if the process, or the system, has no more file descriptors (`EMFILE`, `ENFILE`).
fn is_exhausted(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}
