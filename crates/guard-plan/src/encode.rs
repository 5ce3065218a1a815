//! The encoding of a plan as bytes: content hash, binary form, JSON form.
//!
//! The same plan gives the same bytes on every machine. `load` decodes them.

use crate::hex;
use crate::plan::{Plan, Sources};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of the plan's formats. A loader reads no other version.
pub const FORMAT_VERSION: u32 = 13;

/// The first bytes of the binary form.
pub const MAGIC: &[u8; 10] = b"GUARDPLAN\n";

/// The format name in the JSON form.
pub const FORMAT: &str = "guard-plan";

/// The length of the binary form's header, in bytes: magic, version, content hash, checksum.
pub(crate) const HEADER: usize = MAGIC.len() + 4 + 32 + 32;

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// The JSON form of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The format name, `guard-plan`.
    pub format: String,
    /// The format version, [`FORMAT_VERSION`].
    pub version: u32,
    /// The content hash, `sha256:` and 64 hexadecimal digits.
    pub hash: String,
    /// The plan.
    pub plan: Plan,
    /// The source positions of the rules; not part of the hash.
    pub sources: Sources,
}

/// Returns the canonical bytes of a plan or its sources.
pub(crate) fn body<T: Serialize>(value: &T) -> Vec<u8> {
    // INVARIANT: every type of the plan has a known length, which is postcard's only requirement.
    postcard::to_allocvec(value).expect("a plan is plain data")
}

/// Returns the size of a part of a plan in the binary form, in bytes.
pub fn size<T: Serialize>(part: &T) -> usize {
    body(part).len()
}

/// Returns the content hash of a plan. It covers the decisions, but not the source positions.
pub fn content_hash(plan: &Plan) -> Hash {
    hash_body(&body(plan))
}

pub(crate) fn hash_body(body: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(MAGIC);
    // The same bytes in another version would be another plan.
    hasher.update(FORMAT_VERSION.to_le_bytes());
    hasher.update(body);
    hasher.finalize().into()
}

/// Returns the standard text of a hash: `sha256:` and 64 hexadecimal digits.
pub fn hash_text(hash: &Hash) -> String {
    format!("sha256:{}", hex::encode(hash))
}

/// Returns the binary form.
pub fn to_bytes(plan: &Plan, sources: &Sources) -> Vec<u8> {
    let mut rest = body(plan);
    let hash = hash_body(&rest);
    rest.extend(body(sources));
    seal(&rest, &hash)
}

/// Returns the binary form of canonical bytes. `body` has the bytes of a plan with this hash,
/// followed by the bytes of its sources.
pub fn seal(body: &[u8], hash: &Hash) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.extend_from_slice(hash);
    out.extend_from_slice(&checksum(hash, body));
    out.extend_from_slice(body);
    out
}

/// Returns the checksum of a file: over everything except the checksum itself.
pub(crate) fn checksum(hash: &Hash, body: &[u8]) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(MAGIC);
    hasher.update(FORMAT_VERSION.to_le_bytes());
    hasher.update(hash);
    hasher.update(body);
    hasher.finalize().into()
}

/// Returns the JSON form, indented by two spaces, with a final newline.
pub fn to_json(plan: &Plan, sources: &Sources) -> String {
    let document = Document {
        format: FORMAT.into(),
        version: FORMAT_VERSION,
        hash: hash_text(&content_hash(plan)),
        plan: plan.clone(),
        sources: sources.clone(),
    };
    // INVARIANT: all map keys of a plan are strings; other keys are the only possible error.
    let mut text = serde_json::to_string_pretty(&document).expect("a plan is plain data");
    text.push('\n');
    text
}
