//! The detection of living proxies beside a store: each holds a lock on its own file, which the
//! system releases when the process ends.
//!
//! A proxy that was killed leaves its calls in flight. The next process that opens their session
//! detects that, and settles them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The sign that a proxy is alive.
#[derive(Debug)]
pub struct Liveness {
    folder: PathBuf,
    token: String,
    /// Locked as long as this process lives.
    _file: File,
}

impl Liveness {
    /// Creates the sign of this proxy beside a store.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be made or locked.
    pub fn begin(store: &Path, token: &str) -> io::Result<Liveness> {
        let folder = if store.is_dir() {
            store.join(".proxies")
        } else {
            let mut name = store.as_os_str().to_owned();
            name.push(".proxies");
            name.into()
        };
        fs::create_dir_all(&folder)?;
        let file = File::create_new(folder.join(token))?;
        file.lock()?;
        Ok(Liveness { folder, token: token.to_owned(), _file: file })
    }

    /// Returns true if the proxy with this token may be alive. The file of a dead proxy is removed.
    pub fn is_alive(&self, token: &str) -> bool {
        // Any other text could name a file outside of the folder.
        let named = token.len() == self.token.len() && token.bytes().all(|b| b.is_ascii_hexdigit());
        if token == self.token || !named {
            return true;
        }
        let path = self.folder.join(token);
        let gone = match File::open(&path) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if gone {
            // The file may already be gone.
            let _ = fs::remove_file(path);
        }
        !gone
    }

    /// Removes the sign.
    pub fn end(&self) {
        let _ = fs::remove_file(self.folder.join(&self.token));
    }
}
