//! The key that encrypts secrets in traces for its holder.
//!
//! One key of 32 bytes serves a folder or a database. Each session has its own keys, derived from
//! it and the session's id. This module does not sign; see checkpoints.

use crate::draft::{self, DraftFile};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use guard_plan::encode::Hash;
use guard_plan::hex;
use guard_runtime::Secrets;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The length of an XChaCha20 nonce, in bytes.
const NONCE: usize = 24;

/// A key for the secrets of many sessions. Its debug output omits the key.
#[derive(Clone)]
pub struct Keys(Hash);

/// The reason why there is no key.
#[derive(Debug)]
pub enum KeyError {
    /// The file cannot be read or created.
    Io(PathBuf, io::Error),
    /// The file does not contain exactly 64 hexadecimal digits.
    NoKey(PathBuf),
    /// The system provides no randomness.
    Random(String),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Io(path, error) => {
                write!(f, "cannot use the key `{}`: {error}", path.display())
            }
            KeyError::NoKey(path) => {
                write!(f, "`{}` is not a key: it should hold 64 hexadecimal digits", path.display())
            }
            KeyError::Random(why) => write!(f, "the system gives no randomness: {why}"),
        }
    }
}

impl std::error::Error for KeyError {}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// Returns the given key.
    pub fn new(key: Hash) -> Keys {
        Keys(key)
    }

    /// Generates a key from the system's randomness.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no randomness.
    pub fn random() -> Result<Keys, KeyError> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| KeyError::Random(error.to_string()))?;
        Ok(Keys(key))
    }

    /// Reads the key in a file: 64 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or does not hold a key.
    pub fn read(path: &Path) -> Result<Keys, KeyError> {
        let text =
            fs::read_to_string(path).map_err(|error| KeyError::Io(path.to_owned(), error))?;
        let key = hex::decode(text.trim()).ok_or_else(|| KeyError::NoKey(path.to_owned()))?;
        Ok(Keys(key))
    }

    /// Reads the key in a file; a missing file is created with a new key, readable by its owner
    /// only.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or created, or does not hold a key.
    pub fn read_or_make(path: &Path) -> Result<Keys, KeyError> {
        let fail = |error| KeyError::Io(path.to_owned(), error);
        match Keys::read(path) {
            Err(KeyError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        let keys = Keys::random()?;
        // The key is first written under another name, so that no reader sees a part of a key. A
        // key that another process has made in the meantime is not replaced, but used.
        let mut draft = DraftFile::beside(path, draft::PRIVATE).map_err(fail)?;
        draft.write_all(format!("{}\n", hex::encode(&keys.0)).as_bytes()).map_err(fail)?;
        match draft.place(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(fail(error)),
            _ => Keys::read(path),
        }
    }

    /// Returns the tag of a snapshot: over the session, the number of records before it, the hash
    /// of the last one, and the content.
    pub(crate) fn tag(&self, session: &str, head: (u64, &Hash), bytes: &[u8]) -> Hash {
        self.tagging(session, head, bytes).finalize().into_bytes().into()
    }

    /// Returns true if a tag matches a snapshot, in constant time.
    pub(crate) fn bears(
        &self,
        session: &str,
        head: (u64, &Hash),
        bytes: &[u8],
        tag: &[u8],
    ) -> bool {
        self.tagging(session, head, bytes).verify_slice(tag).is_ok()
    }

    fn tagging(&self, session: &str, (version, hash): (u64, &Hash), bytes: &[u8]) -> Hmac<Sha256> {
        // Each use of the key has a key of its own, derived from it.
        let key = mac(&self.0, &[b"guard snapshot"]);
        // INVARIANT: HMAC takes a key of any length.
        let mut tag = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length");
        tag.update(&(session.len() as u64).to_be_bytes());
        tag.update(session.as_bytes());
        tag.update(&version.to_be_bytes());
        tag.update(hash);
        tag.update(bytes);
        tag
    }

    /// Returns the keys of one session.
    pub fn session(&self, id: &str) -> SessionKeys {
        let derive = |use_: &str| mac(&self.0, &[use_.as_bytes(), b"\0", id.as_bytes()]);
        SessionKeys {
            mark: derive("guard mark"),
            nonce: derive("guard nonce"),
            seal: derive("guard seal"),
        }
    }
}

/// The keys of one session: marks, and seals by XChaCha20-Poly1305. The nonce is derived from the
/// sealed text, so no nonce serves two texts, even if a session is resumed twice from the same
/// record.
#[derive(Clone)]
pub struct SessionKeys {
    mark: Hash,
    nonce: Hash,
    seal: Hash,
}

impl fmt::Debug for SessionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKeys")
    }
}

impl Secrets for SessionKeys {
    fn mark(&self, secret: &[u8]) -> Hash {
        mac(&self.mark, &[secret])
    }

    fn seal(&self, seq: u64, clear: &[u8]) -> Option<String> {
        // The number binds a sealed part to its record, so that it opens in no other one.
        let aad = seq.to_be_bytes();
        let nonce = mac(&self.nonce, &[&aad, clear]);
        let cipher = XChaCha20Poly1305::new(&self.seal.into());
        let nonce = XNonce::try_from(&nonce[..NONCE]).ok()?;
        let sealed = cipher.encrypt(&nonce, Payload { msg: clear, aad: &aad }).ok()?;
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed);
        Some(STANDARD_NO_PAD.encode(bytes))
    }

    fn unseal(&self, seq: u64, sealed: &str) -> Option<Vec<u8>> {
        let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let cipher = XChaCha20Poly1305::new(&self.seal.into());
        let nonce = XNonce::try_from(nonce).ok()?;
        let payload = Payload { msg: sealed, aad: &seq.to_be_bytes() };
        cipher.decrypt(&nonce, payload).ok()
    }
}

fn mac(key: &Hash, parts: &[&[u8]]) -> Hash {
    // INVARIANT: HMAC takes a key of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_at_its_record_with_its_key_alone() {
        let keys = Keys::new([7; 32]);
        let ours = keys.session("s1");
        let sealed = ours.seal(3, b"hush").unwrap();
        assert_eq!(ours.unseal(3, &sealed).as_deref(), Some(&b"hush"[..]));
        assert_eq!(ours.seal(3, b"hush").unwrap(), sealed, "the same at the same record");
        assert_ne!(ours.seal(4, b"hush").unwrap(), sealed);
        assert_eq!(ours.unseal(4, &sealed), None);
        assert_eq!(keys.session("s2").unseal(3, &sealed), None);
        assert_eq!(Keys::new([8; 32]).session("s1").unseal(3, &sealed), None);
        for broken in ["", "hush", &sealed[1..], &sealed[..sealed.len() - 1]] {
            assert_eq!(ours.unseal(3, broken), None, "{broken}");
        }
        assert_ne!(ours.mark(b"hush"), keys.session("s2").mark(b"hush"));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_goes_into_no_file_that_was_prepared() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let names = (0..8).map(|draft| format!("key.{}.{draft}", std::process::id()));
        let prepared: Vec<PathBuf> = names.map(|name| folder.path().join(name)).collect();
        prepared.iter().for_each(|path| fs::write(path, "").unwrap());
        Keys::read_or_make(&path).unwrap();
        assert!(prepared.iter().all(|path| fs::read(path).is_ok_and(|text| text.is_empty())));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/key");
        let made = Keys::read_or_make(&path).unwrap();
        assert_eq!(Keys::read_or_make(&path).unwrap().0, made.0);
        std::fs::write(&path, "no key\n").unwrap();
        let error = Keys::read_or_make(&path).unwrap_err().to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
