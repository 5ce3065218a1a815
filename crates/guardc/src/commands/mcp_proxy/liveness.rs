//! The proxies that are alive beside a store: each holds a lock on a file of its own, which the system gives up with it.
//!
//! A proxy that was killed leaves its calls in flight. Whoever opens their session next finds out, and settles them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The sign of a living proxy.
#[derive(Debug)]
pub struct Liveness {
    folder: PathBuf,
    token: String,
    /// Locked as long as this process lives.
    _file: File,
}

impl Liveness {
    /// Gives the sign of this proxy beside a store.
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
        let file = File::create(folder.join(token))?;
        file.lock()?;
        Ok(Liveness { folder, token: token.to_owned(), _file: file })
    }

    /// Returns true if the proxy with this token may be alive. The file of a dead one is removed.
    pub fn is_alive(&self, token: &str) -> bool {
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
            // It may be gone already.
            let _ = fs::remove_file(path);
        }
        !gone
    }

    /// Takes the sign back.
    pub fn end(&self) {
        let _ = fs::remove_file(self.folder.join(&self.token));
    }
}
