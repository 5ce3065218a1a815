//! Checkpoints: the state of sessions as a few hashes that are stored elsewhere, and inclusion
//! proofs for single records.
//!
//! A checkpoint contains, for each session, the number of records, the hash of the last record and
//! the Merkle root of the records' hashes, and one root over all sessions, which is signed.
//! Checking a chain against it detects a removed tail and a replaced chain.

use crate::line::LineFields;
use crate::merkle::{self, Tree};
use crate::sign::{PublicKey, SigningKey};
use guard_plan::encode::Hash;
use guard_plan::hex;
use serde::{Deserialize, Serialize};

/// The version of the formats below.
pub const VERSION: u32 = 1;

/// The format name of a checkpoint.
pub const CHECKPOINT: &str = "guard-checkpoint";
/// The format name of a proof.
pub const PROOF: &str = "guard-proof";

/// Returns the JSON Schemas of the formats, each with its name.
#[cfg(feature = "schema")]
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("checkpoint", schemars::schema_for!(Checkpoint).to_value()),
        ("proof", schemars::schema_for!(InclusionProof).to_value()),
    ]
}

/// A checkpoint: the number and the hash of the last record of each session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The format name, `guard-checkpoint`.
    pub format: String,
    /// The format version, 1.
    pub version: u32,
    /// The entries of the sessions, sorted by id.
    pub sessions: Vec<CheckpointEntry>,
    /// The Merkle root over the sessions, 64 hexadecimal digits.
    pub root: String,
    /// The signature of the root, if the checkpoint is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<CheckpointSignature>,
}

/// The entry of one session in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckpointEntry {
    /// The id of the session.
    pub session: String,
    /// The number of the first stored record.
    pub first: u64,
    /// The number of records, including those that were dropped.
    pub records: u64,
    /// The hash of the last record, 64 hexadecimal digits.
    pub head: String,
    /// The Merkle root of the hashes of the records from the first one on, 64 hexadecimal digits.
    pub root: String,
}

/// A signature of a root over sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CheckpointSignature {
    /// The public key, 64 hexadecimal digits.
    pub key: String,
    /// The Ed25519 signature, 128 hexadecimal digits.
    pub signature: String,
}

/// A proof that a record belongs to a session in a checkpoint, without the session's other records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InclusionProof {
    /// The format name, `guard-proof`.
    pub format: String,
    /// The format version, 1.
    pub version: u32,
    /// The record, as it is in the trace.
    pub record: String,
    /// The entry of the session in the checkpoint.
    pub entry: CheckpointEntry,
    /// The hashes on the path from the record to the root of the session.
    pub path: Vec<String>,
    /// The number of sessions in the checkpoint.
    pub sessions: u64,
    /// The index of the session, from 0.
    pub index: u64,
    /// The hashes on the path from the session to the root of the checkpoint.
    pub anchor: Vec<String>,
    /// The root of the checkpoint, 64 hexadecimal digits.
    pub root: String,
    /// The signature of the root, if the checkpoint is signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<CheckpointSignature>,
}

/// The Merkle tree of one session, built as its records arrive.
#[derive(Debug, Clone, Default)]
pub struct SessionTree {
    tree: Tree,
    first: u64,
    head: Hash,
}

impl SessionTree {
    /// Adds a record.
    pub fn push(&mut self, seq: u64, hash: &Hash) {
        if self.tree.size() == 0 {
            self.first = seq;
        }
        self.tree.push(hash);
        self.head = *hash;
    }

    /// Returns the session's entry in a checkpoint.
    pub fn entry(&self, session: &str) -> CheckpointEntry {
        CheckpointEntry {
            session: session.to_owned(),
            first: self.first,
            records: self.first + self.tree.size(),
            head: hex::encode(&self.head),
            root: hex::encode(&self.tree.root()),
        }
    }
}

impl CheckpointEntry {
    /// Returns the head and the root as hashes; `None` if they are malformed.
    pub fn hashes(&self) -> Option<(Hash, Hash)> {
        Some((hex::decode_lower(self.head.as_bytes())?, hex::decode_lower(self.root.as_bytes())?))
    }

    /// Returns the leaf of the entry in the tree over sessions.
    fn leaf(&self) -> Option<Vec<u8>> {
        let (head, root) = self.hashes()?;
        let mut leaf = b"guard session\0".to_vec();
        // The length separates the name from the numbers, so that no two entries have the same
        // bytes.
        leaf.extend_from_slice(&(self.session.len() as u64).to_be_bytes());
        leaf.extend_from_slice(self.session.as_bytes());
        leaf.extend_from_slice(&self.first.to_be_bytes());
        leaf.extend_from_slice(&self.records.to_be_bytes());
        leaf.extend_from_slice(&head);
        leaf.extend_from_slice(&root);
        Some(leaf)
    }
}

/// Returns the signed message: the root over sessions, and their number.
fn message(sessions: u64, root: &Hash) -> Vec<u8> {
    // A prefix of its own keeps a signature from being valid for anything else that the key signs.
    [&b"guard checkpoint 1\0"[..], &sessions.to_be_bytes(), root].concat()
}

/// The reason why a checkpoint or a proof is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointError {
    /// The format is invalid. Contains the problem.
    Form(String),
    /// The root does not match the content.
    Root,
    /// The record does not match its hash.
    Record,
    /// The record does not belong to the session, or the session not to the checkpoint.
    Path,
    /// The signature is missing.
    Unsigned,
    /// The signature does not match the content.
    Signature,
    /// The signature was made with another key. Contains that key.
    Stranger(String),
    /// The proof leads to the root of another checkpoint.
    Other,
}

impl std::fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CheckpointError::Form(why) => f.write_str(why),
            CheckpointError::Root => f.write_str("it was changed: the root does not match"),
            CheckpointError::Record => {
                f.write_str("the record was changed: the hash does not match")
            }
            CheckpointError::Path => f.write_str("the record does not belong there"),
            CheckpointError::Unsigned => f.write_str("it is not signed"),
            CheckpointError::Signature => {
                f.write_str("it was changed: the signature does not match")
            }
            CheckpointError::Stranger(key) => write!(f, "it is signed with another key, {key}"),
            CheckpointError::Other => f.write_str("it belongs to a different checkpoint"),
        }
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// Returns a checkpoint of sessions, in any order.
    ///
    /// # Errors
    ///
    /// Returns an error if two sessions have the same id or a hash is malformed.
    pub fn new(
        mut sessions: Vec<CheckpointEntry>,
        key: Option<&SigningKey>,
    ) -> Result<Checkpoint, CheckpointError> {
        sessions.sort_by(|a, b| a.session.cmp(&b.session));
        let root = root(&sessions)?;
        let signature = key.map(|key| CheckpointSignature {
            key: key.public().to_string(),
            signature: digits(&key.sign(&message(sessions.len() as u64, &root))),
        });
        let format = CHECKPOINT.to_owned();
        let root = hex::encode(&root);
        Ok(Checkpoint { format, version: VERSION, sessions, root, signature })
    }

    /// Parses a checkpoint and checks that it is consistent.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a checkpoint or was changed.
    pub fn parse(text: &str) -> Result<Checkpoint, CheckpointError> {
        let read: Checkpoint =
            serde_json::from_str(text).map_err(|error| CheckpointError::Form(error.to_string()))?;
        known(&read.format, CHECKPOINT, read.version)?;
        let root = root(&read.sessions)?;
        if hex::encode(&root) != read.root {
            return Err(CheckpointError::Root);
        }
        if let Some(signature) = &read.signature {
            signature.check(read.sessions.len() as u64, &root)?;
        }
        Ok(read)
    }

    /// Checks that the checkpoint was signed with a key.
    ///
    /// # Errors
    ///
    /// Returns an error if it is unsigned or was signed with another key.
    pub fn signed_by(&self, key: &PublicKey) -> Result<(), CheckpointError> {
        signed_by(self.signature.as_ref(), key)
    }

    /// Returns the entry of a session.
    pub fn entry(&self, session: &str) -> Option<&CheckpointEntry> {
        let place = self.sessions.binary_search_by(|entry| entry.session.as_str().cmp(session));
        place.ok().map(|place| &self.sessions[place])
    }

    /// Proves that a record belongs to a session in the checkpoint. `hashes` are those of the
    /// session's records, from the first on; they are read once.
    ///
    /// # Errors
    ///
    /// Returns an error if the checkpoint does not contain the session or the record, or was made
    /// from other hashes.
    pub fn prove(
        &self,
        session: &str,
        record: &str,
        hashes: impl IntoIterator<Item = Hash>,
    ) -> Result<InclusionProof, CheckpointError> {
        let place = self.sessions.iter().position(|entry| entry.session == session);
        let place = place.ok_or(CheckpointError::Path)?;
        let entry = &self.sessions[place];
        let line = LineFields::read(record.as_bytes()).map_err(|_| CheckpointError::Record)?;
        let size = entry.records.saturating_sub(entry.first);
        let index = line.seq.checked_sub(entry.first).ok_or(CheckpointError::Path)?;
        let (path, root) = merkle::path(index, size, hashes).map_err(|_| CheckpointError::Path)?;
        if hex::encode(&root) != entry.root {
            return Err(CheckpointError::Root);
        }
        let mut leaves = Vec::with_capacity(self.sessions.len());
        for entry in &self.sessions {
            leaves.push(anchored(entry)?);
        }
        let index = place as u64;
        let sessions = self.sessions.len() as u64;
        let anchor = merkle::path(index, sessions, leaves).map_err(|_| CheckpointError::Path)?.0;
        let texts = |path: &[Hash]| path.iter().map(|hash| hex::encode(hash)).collect();
        let proof = InclusionProof {
            format: PROOF.to_owned(),
            version: VERSION,
            record: record.to_owned(),
            entry: entry.clone(),
            path: texts(&path),
            sessions,
            index,
            anchor: texts(&anchor),
            root: self.root.clone(),
            signature: self.signature.clone(),
        };
        proof.check()?;
        Ok(proof)
    }
}

impl InclusionProof {
    /// Parses a proof and checks that it is consistent: the record leads to the root that the proof
    /// names.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a proof or the proof does not hold.
    pub fn parse(text: &str) -> Result<InclusionProof, CheckpointError> {
        let read: InclusionProof =
            serde_json::from_str(text).map_err(|error| CheckpointError::Form(error.to_string()))?;
        known(&read.format, PROOF, read.version)?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), CheckpointError> {
        let line = LineFields::read(self.record.as_bytes()).map_err(|_| CheckpointError::Record)?;
        if !line.is_intact() {
            return Err(CheckpointError::Record);
        }
        let entry = &self.entry;
        let (_, root) = entry.hashes().ok_or(CheckpointError::Path)?;
        let index = line.seq.checked_sub(entry.first).ok_or(CheckpointError::Path)?;
        let size = entry.records.checked_sub(entry.first).ok_or(CheckpointError::Path)?;
        let led = merkle::climb(index, size, &line.hash, &hashes(&self.path)?);
        let leaf = anchored(entry)?;
        let top = merkle::climb(self.index, self.sessions, &leaf, &hashes(&self.anchor)?);
        let top = top.ok_or(CheckpointError::Path)?;
        if led != Some(root) || hex::encode(&top) != self.root {
            return Err(CheckpointError::Path);
        }
        match &self.signature {
            Some(signature) => signature.check(self.sessions, &top),
            None => Ok(()),
        }
    }

    /// Returns the number of the proved record.
    pub fn seq(&self) -> Option<u64> {
        LineFields::read(self.record.as_bytes()).ok().map(|line| line.seq)
    }

    /// Checks that the checkpoint that the proof leads to was signed with a key.
    ///
    /// # Errors
    ///
    /// Returns an error if it is unsigned or was signed with another key.
    pub fn signed_by(&self, key: &PublicKey) -> Result<(), CheckpointError> {
        signed_by(self.signature.as_ref(), key)
    }

    /// Checks that the proof leads to a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if it leads to another root.
    pub fn belongs(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let same =
            self.root == checkpoint.root && self.sessions == checkpoint.sessions.len() as u64;
        if same { Ok(()) } else { Err(CheckpointError::Other) }
    }
}

impl CheckpointSignature {
    fn check(&self, sessions: u64, root: &Hash) -> Result<(), CheckpointError> {
        let form =
            |what: &str| CheckpointError::Form(format!("the {what} of its signature is malformed"));
        let key = PublicKey::parse(&self.key).ok_or_else(|| form("key"))?;
        let signature = undigits(&self.signature).ok_or_else(|| form("content"))?;
        if key.signed(&message(sessions, root), &signature) {
            Ok(())
        } else {
            Err(CheckpointError::Signature)
        }
    }
}

fn signed_by(
    signature: Option<&CheckpointSignature>,
    key: &PublicKey,
) -> Result<(), CheckpointError> {
    match signature {
        None => Err(CheckpointError::Unsigned),
        Some(signature) if PublicKey::parse(&signature.key).as_ref() == Some(key) => Ok(()),
        Some(signature) => Err(CheckpointError::Stranger(signature.key.clone())),
    }
}

fn known(format: &str, expected: &str, version: u32) -> Result<(), CheckpointError> {
    match (format == expected, version) {
        (false, _) => Err(CheckpointError::Form(format!("its format is not `{expected}`"))),
        (true, VERSION) => Ok(()),
        (true, other) => Err(CheckpointError::Form(format!(
            "its version is {other}; this Guard reads version {VERSION}"
        ))),
    }
}

/// Returns the root over sessions, which are sorted and have distinct ids.
fn root(sessions: &[CheckpointEntry]) -> Result<Hash, CheckpointError> {
    // Without an order the same sessions would have several roots, and a name could stand twice.
    let sorted = sessions.windows(2).all(|two| two[0].session < two[1].session);
    if !sorted {
        return Err(CheckpointError::Form(
            "its sessions are not sorted, or one appears twice".into(),
        ));
    }
    let mut tree = Tree::default();
    for entry in sessions {
        tree.push(&anchored(entry)?);
    }
    Ok(tree.root())
}

/// Returns the hash of a session's entry, the leaf of the tree over sessions.
fn anchored(entry: &CheckpointEntry) -> Result<Hash, CheckpointError> {
    let none =
        || CheckpointError::Form(format!("a hash of session `{}` is malformed", entry.session));
    let leaf = entry.leaf().ok_or_else(none)?;
    Ok(merkle::leaf(&leaf))
}

fn hashes(digits: &[String]) -> Result<Vec<Hash>, CheckpointError> {
    let hashes = digits.iter().map(|digits| hex::decode_lower(digits.as_bytes()));
    hashes
        .collect::<Option<_>>()
        .ok_or_else(|| CheckpointError::Form("a hash of its path is malformed".into()))
}

fn digits(bytes: &[u8; 64]) -> String {
    hex::encode(bytes)
}

fn undigits(text: &str) -> Option<[u8; 64]> {
    let (first, second) = text.as_bytes().split_at_checked(64)?;
    let halves = [hex::decode_lower(first)?, hex::decode_lower(second)?];
    halves.concat().try_into().ok()
}
