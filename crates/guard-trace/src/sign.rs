//! Signatures of checkpoints: Ed25519, with keys in files.
//!
//! These keys are independent of the keys for secrets: a verifier of a trace need not be able to
//! read sealed data.

use crate::keys::KeyError;
use ed25519_dalek::{Signature, Signer, VerifyingKey};
use guard_plan::hex;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const PRIVATE: &str = "guard-signing-key ed25519 ";
const PUBLIC: &str = "guard-public-key ed25519 ";

/// A signing key. Its debug output omits the key.
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A public key, which identifies the signer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// Returns the given key.
    pub fn new(bytes: [u8; 32]) -> SigningKey {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(&bytes))
    }

    /// Reads the key in a file that [`SigningKey::make`] wrote.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or does not hold a key.
    pub fn read(path: &Path) -> Result<SigningKey, KeyError> {
        Ok(SigningKey::new(read(path, PRIVATE)?))
    }

    /// Generates a key and writes it, readable by its owner only, with the public key beside it;
    /// returns the path of the public key. Existing files are not overwritten.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the files exists or cannot be created.
    pub fn make(path: &Path) -> Result<(SigningKey, PathBuf), KeyError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(error.to_string()))?;
        let key = SigningKey::new(bytes);
        let mut beside = path.as_os_str().to_owned();
        beside.push(".pub");
        let beside = PathBuf::from(beside);
        if beside.exists() {
            return Err(KeyError::Io(beside, io::ErrorKind::AlreadyExists.into()));
        }
        write(path, 0o600, &format!("{PRIVATE}{}\n", hex::encode(&bytes)))?;
        write(&beside, 0o644, &format!("{PUBLIC}{}\n", key.public()))?;
        Ok((key, beside))
    }

    /// Returns the public key for this key's signatures.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0.as_bytes()))
    }
}

impl PublicKey {
    /// Parses a key from 64 hexadecimal digits.
    pub fn parse(digits: &str) -> Option<PublicKey> {
        VerifyingKey::from_bytes(&hex::decode(digits)?).ok().map(PublicKey)
    }

    /// Reads the key in a file: a public key, or the public key of a signing key.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or does not hold a key.
    pub fn read(path: &Path) -> Result<PublicKey, KeyError> {
        match read(path, PUBLIC) {
            Ok(bytes) => VerifyingKey::from_bytes(&bytes)
                .map(PublicKey)
                .map_err(|_| KeyError::NoKey(path.to_owned())),
            Err(KeyError::NoKey(_)) => Ok(SigningKey::read(path)?.public()),
            Err(error) => Err(error),
        }
    }

    /// Returns true if this key has signed a message.
    pub fn signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        // The strict form refuses weak keys, under which one signature is valid for several
        // messages.
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

fn read(path: &Path, kind: &str) -> Result<[u8; 32], KeyError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| KeyError::Io(path.to_owned(), error))?;
    let digits = text.trim_end().strip_prefix(kind);
    digits.and_then(hex::decode).ok_or_else(|| KeyError::NoKey(path.to_owned()))
}

fn write(path: &Path, mode: u32, text: &str) -> Result<(), KeyError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| KeyError::Io(path.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let (key, beside) = SigningKey::make(&path).unwrap();
        let signature = key.sign(b"said");
        for path in [&path, &beside] {
            let public = PublicKey::read(path).unwrap();
            assert_eq!(public, key.public());
            assert!(public.signed(b"said", &signature));
            assert!(!public.signed(b"sad", &signature));
        }
        assert!(SigningKey::make(&path).is_err());
        assert!(SigningKey::read(&beside).is_err());
        assert_eq!(PublicKey::parse(&key.public().to_string()), Some(key.public()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600);
        }
    }
}
