//! Why a store does not do what it was asked, and how that is said.

use crate::keys::KeyError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a store does not do what it was asked.
#[derive(Debug)]
pub enum StoreError {
    /// The id of a session is not 1 to 128 letters, digits, `-`, `_` or `.`, the first of them no `.`.
    BadSession(String),
    /// What should be committed does not follow what is there, or makes no sense. Nothing was written.
    Misfit(String),
    /// Somebody else has it, and did not give it up in time.
    Locked(PathBuf),
    /// No room is left.
    Full(PathBuf),
    /// It cannot be read or written.
    Io(PathBuf, String),
    /// What is there is not what was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The session, where it is known.
        session: Option<String>,
        /// The number of the record, where it is known.
        record: Option<u64>,
        /// What is wrong.
        why: String,
    },
    /// The store is of another version of Guard.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The file is something else.
    NoStore(PathBuf),
    /// An earlier commit of the session failed: it is refused until the session is begun again.
    Refused(String),
    /// The key of the store cannot be used.
    Key(KeyError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::BadSession(_) => f.write_str(
                "the id of a session in a store has 1 to 128 letters, digits, `-`, `_` or `.`",
            ),
            StoreError::Misfit(why) => write!(f, "the store does not take it: {why}"),
            StoreError::Locked(path) => write!(f, "`{}` is in use", path.display()),
            StoreError::Full(path) => write!(f, "no space left for `{}`", path.display()),
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
            StoreError::Version { path, found, known } => {
                let path = path.display();
                write!(f, "`{path}` is a store of version {found}; this is version {known}")
            }
            StoreError::NoStore(path) => write!(f, "`{}` is no store of traces", path.display()),
            StoreError::Refused(id) => {
                write!(f, "session `{id}` could not be written: open it again")
            }
            StoreError::Key(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {}

impl StoreError {
    /// An error of input or output on a file.
    pub(crate) fn io(path: &Path, error: &io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => StoreError::Full(path.to_owned()),
            io::ErrorKind::NotFound => StoreError::Io(path.to_owned(), "it is not there".into()),
            _ => StoreError::Io(path.to_owned(), error.to_string()),
        }
    }

    /// Whether it says something of the disk, and so of what may have been written.
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
