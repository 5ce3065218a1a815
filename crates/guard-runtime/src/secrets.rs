//! How a session's secrets are kept: as marks in its trace, and, by whoever has a key, sealed.

use guard_plan::encode::Hash;
use sha2::{Digest, Sha256};
use std::fmt::Debug;

/// Whoever keeps the secrets of one session. The same secret always gets the same mark, and the same bytes at the
/// same record the same seal: a trace that is decided again comes out as it was.
pub trait Secrets: Debug + Send + Sync {
    /// What stands for a secret: a hash that nobody can try out without the key.
    fn mark(&self, secret: &[u8]) -> Hash;

    /// Text that holds the bytes for whoever has the key, bound to the record with this number. None: nothing but
    /// marks is kept, and the session cannot be taken up from its trace.
    fn seal(&self, seq: u64, clear: &[u8]) -> Option<String>;

    /// What was sealed at a record. None: it was not, or with another key.
    fn unseal(&self, seq: u64, sealed: &str) -> Option<Vec<u8>>;
}

/// Marks with a salt that nobody knows, and nothing more.
#[derive(Clone)]
pub struct Salt(Box<[u8]>);

impl Salt {
    /// A salt: random, and kept nowhere.
    pub fn new(salt: &[u8]) -> Salt {
        Salt(salt.into())
    }
}

impl Debug for Salt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Salt")
    }
}

impl Secrets for Salt {
    fn mark(&self, secret: &[u8]) -> Hash {
        let mut hasher = Sha256::new();
        hasher.update((self.0.len() as u64).to_be_bytes());
        hasher.update(&self.0);
        hasher.update(secret);
        hasher.finalize().into()
    }

    fn seal(&self, _: u64, _: &[u8]) -> Option<String> {
        None
    }

    fn unseal(&self, _: u64, _: &str) -> Option<Vec<u8>> {
        None
    }
}
