//! Storage of a session's secrets: as marks in its trace and, if the host has a key, sealed.

use guard_plan::encode::Hash;
use sha2::{Digest, Sha256};
use std::fmt::Debug;

/// Keeps the secrets of one session. The same secret always has the same mark, and the same bytes
/// at the same record have the same seal, so a replayed trace is byte-identical.
pub trait Secrets: Debug + Send + Sync {
    /// Returns the mark of a secret: a hash that cannot be guessed by trial without the key.
    fn mark(&self, secret: &[u8]) -> Hash;

    /// Encrypts bytes for the holder of the key, bound to the record with this number. With `None`,
    /// only marks are kept, and the session cannot be resumed from its trace.
    fn seal(&self, seq: u64, clear: &[u8]) -> Option<String>;

    /// Decrypts the sealed bytes of a record. Returns `None` if they were not sealed, or sealed
    /// with another key.
    fn unseal(&self, seq: u64, sealed: &str) -> Option<Vec<u8>>;
}

/// A salt for marks that is random and not stored, without seals.
#[derive(Clone)]
pub struct Salt(Box<[u8]>);

impl Salt {
    /// Creates marks with a salt, which must be random and must not be stored.
    pub fn new(salt: &[u8]) -> Salt {
        Salt(salt.into())
    }
}

impl Debug for Salt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The salt must not reach a log: with it, marks could be tried against guessed secrets.
        f.write_str("Salt")
    }
}

impl Secrets for Salt {
    fn mark(&self, secret: &[u8]) -> Hash {
        let mut hasher = Sha256::new();
        // The length separates salt and secret, so that no other pair gives the same bytes.
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
