//! The identity of the file at a path: the test whether it is still the one that a store has open.

use super::StoreError;
use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::path::Path;

pub(super) const GONE: &str = "was deleted or moved while it was open";
pub(super) const REPLACED: &str = "was replaced by another file while it was open";
pub(super) const CUT: &str = "was cut while it was open: records are missing at its end";
pub(super) const OVERWRITTEN: &str = "was written by another process while it was open";

/// Returns true if an error means that there is no file at the path.
pub(super) fn is_absent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns true if two files are the same.
#[cfg(unix)]
pub(super) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Always returns true: a system without inodes does not let an open file be deleted or replaced.
#[cfg(not(unix))]
pub(super) fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Refuses a symbolic link: its target is not a file of this folder.
pub(super) fn refuse_link(path: &Path) -> Result<(), StoreError> {
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        let why = "it is a symbolic link, and records are not written through links".to_owned();
        Err(StoreError::Damaged { path: path.to_owned(), session: None, record: None, why })
    } else {
        Ok(())
    }
}
