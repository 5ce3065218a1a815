//! The journal of a session: its trace in a file, each record on disk before the event is answered.
//!
//! A record that was cut by a crash was never answered, and goes.

use super::rpc::Error;
use crate::failure::reason;
use guard_plan::plan::{Field, Plan, TypeDef};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// An open journal; nobody else can open it meanwhile.
pub struct Journal {
    file: File,
    broken: bool,
}

/// Where the journal of a session lies. Ids become file names, so they are plain.
pub fn path(dir: &Path, session: &str) -> Result<PathBuf, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if session.is_empty()
        || session.len() > 128
        || session.starts_with('.')
        || !session.chars().all(plain)
    {
        let message =
            "the id of a session with a journal has 1 to 128 letters, digits, `-`, `_` or `.`";
        return Err(Error::failed("bad_session_id", message));
    }
    Ok(dir.join(format!("{session}.jsonl")))
}

/// Whether some argument or result is secret. Its trace holds hashes only, which the kernel cannot be given
/// again.
pub fn has_secrets(plan: &Plan) -> bool {
    let secret = |fields: &[Field]| fields.iter().any(|field| field.secret);
    plan.tools.iter().any(|tool| secret(&tool.params))
        || plan
            .types
            .iter()
            .any(|def| matches!(def, TypeDef::Record { fields, .. } if secret(fields)))
}

impl Journal {
    /// Opens a journal, or begins one; gives back the lines in it.
    pub fn open(path: &Path) -> Result<(Journal, Vec<String>), Error> {
        let fail = |error: std::io::Error| {
            let message =
                format!("cannot use the journal `{}`: {}", path.display(), reason(&error));
            Error::failed("journal_failed", message)
        };
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(fail)?;
        }
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("the journal `{}` is in use", path.display());
                return Err(Error::failed("journal_locked", message));
            }
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        // A new file is safe only when its folder is; not every system can say so.
        if let Some(folder) = path.parent().and_then(|dir| File::open(dir).ok()) {
            let _ = folder.sync_all();
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(fail)?;
            file.seek(std::io::SeekFrom::End(0)).map_err(fail)?;
        }
        bytes.truncate(whole);
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Error::failed(
                "journal_damaged",
                format!("the journal `{}` is not UTF-8, at byte {at}", path.display()),
            )
        })?;
        Ok((Journal { file, broken: false }, text.lines().map(str::to_owned).collect()))
    }

    /// Appends a record; when this returns, it is on disk. After a failure nothing more is taken: what the
    /// session remembers and what the journal says are no longer the same.
    pub fn append(&mut self, record: &[u8]) -> Result<(), Error> {
        self.whole()?;
        let mut line = record.to_vec();
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            self.broken = true;
            Error::failed("journal_failed", format!("cannot write the journal: {}", reason(&error)))
        })
    }

    /// Refuses to go on after a failure.
    pub fn whole(&self) -> Result<(), Error> {
        if self.broken {
            return Err(Error::failed(
                "journal_failed",
                "the journal could not be written: open the session again",
            ));
        }
        Ok(())
    }
}
