//! The file of one session's requests. It is locked while it is written, and each line has a tag.

use super::ApprovalError;
use crate::Reason;
use guard_plan::hex;
use guard_plan::plan::Millis;
use guard_runtime::Secrets;
use guard_trace::SessionKeys;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RequestEntry {
    /// The request.
    pub id: String,
    /// The time, in milliseconds since 1970.
    pub at: Millis,
    #[serde(flatten)]
    pub kind: RequestEvent,
}

/// A request, or an answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum RequestEvent {
    Ask {
        tool: String,
        args: String,
        roles: Vec<String>,
        reasons: Vec<Reason>,
        call: String,
        actor: Option<String>,
    },
    Grant {
        by: String,
        role: String,
        once: bool,
        until: Millis,
    },
    Reject {
        by: String,
        reason: String,
    },
    Revoke {
        by: String,
    },
    Used {
        call: String,
        /// The indexes of the grants.
        grants: Vec<usize>,
    },
}

/// A line as it is in the file.
#[derive(Serialize, Deserialize)]
struct Tagged {
    entry: Box<serde_json::value::RawValue>,
    tag: String,
}

/// The path of the file of a session's requests.
pub(super) struct RequestFile {
    path: PathBuf,
    keys: SessionKeys,
}

/// A locked file of requests, with its entries.
pub(super) struct OpenFile {
    file: File,
    place: RequestFile,
    entries: Vec<RequestEntry>,
    /// The tag of the last line.
    last: String,
}

impl RequestFile {
    pub fn new(path: PathBuf, keys: SessionKeys) -> RequestFile {
        RequestFile { path, keys }
    }

    fn fail(&self, error: &std::io::Error) -> ApprovalError {
        ApprovalError::Io(self.path.clone(), crate::sources::reason(error))
    }

    /// Reads the entries without a lock. A line that is still being written is ignored.
    pub fn read(&self) -> Result<Vec<RequestEntry>, ApprovalError> {
        match std::fs::read(&self.path) {
            Ok(bytes) => self.parse(&bytes).map(|(entries, ..)| entries),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Opens and locks the file, or creates it. A line that a crash has cut off is removed.
    pub fn open(self) -> Result<OpenFile, ApprovalError> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| self.fail(&error))?;
        }
        // The lines of a request are its author's, and would be written into the linked file.
        if std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.is_symlink()) {
            let why = "it is a symbolic link, and requests are not written through links";
            return Err(ApprovalError::Io(self.path.clone(), why.into()));
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&self.path);
        let mut file = file.map_err(|error| self.fail(&error))?;
        file.lock().map_err(|error| self.fail(&error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| self.fail(&error))?;
        let (entries, last, whole) = self.parse(&bytes)?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(|error| self.fail(&error))?;
        }
        Ok(OpenFile { file, place: self, entries, last })
    }

    /// Returns the entries, the last tag, and the length of the complete lines.
    fn parse(&self, bytes: &[u8]) -> Result<(Vec<RequestEntry>, String, usize), ApprovalError> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut entries = Vec::new();
        let mut last = String::new();
        for (at, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
            let damaged = || ApprovalError::Damaged(self.path.clone(), at + 1);
            let tagged: Tagged = serde_json::from_slice(line).map_err(|_| damaged())?;
            if self.tag(&last, tagged.entry.get()) != tagged.tag {
                return Err(damaged());
            }
            entries.push(serde_json::from_str(tagged.entry.get()).map_err(|_| damaged())?);
            last = tagged.tag;
        }
        Ok((entries, last, whole))
    }

    fn tag(&self, last: &str, entry: &str) -> String {
        hex::encode(&self.keys.mark(format!("approvals\0{last}\0{entry}").as_bytes()))
    }
}

impl OpenFile {
    pub fn entries(&self) -> &[RequestEntry] {
        &self.entries
    }

    /// Appends an entry. The entry is on disk when this function returns.
    pub fn append(&mut self, entry: RequestEntry) -> Result<(), ApprovalError> {
        let bad = |error: serde_json::Error| {
            ApprovalError::Io(self.place.path.clone(), error.to_string())
        };
        let text = serde_json::value::to_raw_value(&entry).map_err(bad)?;
        let tag = self.place.tag(&self.last, text.get());
        let mut line =
            serde_json::to_vec(&Tagged { entry: text, tag: tag.clone() }).map_err(bad)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| self.place.fail(&error))?;
        self.entries.push(entry);
        self.last = tag;
        Ok(())
    }
}
