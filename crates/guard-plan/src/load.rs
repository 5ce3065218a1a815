//! The loader, the only way to obtain a [`LoadedPlan`]: all bytes are untrusted until they are
//! loaded here.
//!
//! The loader checks size, form, version, checksum and content hash first, and then the structure
//! of everything, so that a loaded plan needs no further checks. The kernel compiles regular
//! expressions and evaluates constants.

use crate::encode::{self, Document, FORMAT, FORMAT_VERSION, HEADER, Hash, MAGIC};
use crate::plan::{Expr, Plan, SourceSpan, Sources, SpanId, ToolId};
use crate::validate;
use serde::Deserialize;
use std::fmt;

/// The maximum size of the binary form, in bytes.
pub const MAX_BINARY_BYTES: usize = 8 << 20;

/// The maximum size of the JSON form, in bytes.
pub const MAX_JSON_BYTES: usize = 64 << 20;

/// A plan with a valid structure. Only [`load`] and [`LoadedPlan::from_plan`] create it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedPlan {
    plan: Plan,
    sources: Sources,
    hash: Hash,
}

/// The reason why bytes are not a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// The bytes exceed the maximum size.
    TooLarge {
        /// The actual size, in bytes.
        bytes: usize,
        /// The maximum size, in bytes.
        max: usize,
    },
    /// The bytes start like neither form.
    UnknownForm,
    /// The format version is not supported. Contains the version.
    Version(u32),
    /// The checksum does not match: the bytes were damaged.
    Checksum,
    /// The content hash does not match the plan.
    Hash,
    /// The bytes cannot be decoded. Contains the reason.
    Malformed(String),
    /// The bytes decode to an invalid plan. Contains the position and the problem.
    Invalid(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::TooLarge { bytes, max } => {
                write!(f, "the plan has {bytes} bytes; at most {max} are read")
            }
            LoadError::UnknownForm => {
                f.write_str("this is not a plan: it begins like neither of the two forms")
            }
            LoadError::Version(version) => write!(
                f,
                "the plan has version {version}, and this Guard reads version {FORMAT_VERSION}: compile it again"
            ),
            LoadError::Checksum => f.write_str("the plan is damaged: its checksum is wrong"),
            LoadError::Hash => f.write_str("the content hash does not match the plan"),
            LoadError::Malformed(why) => write!(f, "the plan does not decode: {why}"),
            LoadError::Invalid(why) => write!(f, "the plan is unsound: {why}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl LoadedPlan {
    /// Wraps a plan that was just compiled. It is checked like any other plan.
    ///
    /// # Errors
    ///
    /// Returns the first problem of the structure.
    pub fn from_plan(plan: Plan, sources: Sources) -> Result<LoadedPlan, LoadError> {
        let body = encode::body(&plan);
        limit(body.len(), MAX_BINARY_BYTES)?;
        LoadedPlan::new(plan, sources, encode::hash_body(&body))
    }

    /// Checks that a plan that was just compiled would be loaded.
    ///
    /// # Errors
    ///
    /// Returns the first problem for which the plan would not be loaded.
    pub fn check(plan: &Plan, sources: &Sources) -> Result<(), LoadError> {
        limit(encode::body(plan).len(), MAX_BINARY_BYTES)?;
        validate::plan(plan, sources).map_err(LoadError::Invalid)
    }

    fn new(plan: Plan, sources: Sources, hash: Hash) -> Result<LoadedPlan, LoadError> {
        validate::plan(&plan, &sources).map_err(LoadError::Invalid)?;
        Ok(LoadedPlan { plan, sources, hash })
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the source positions of the plan's rules.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the content hash.
    pub fn hash(&self) -> &Hash {
        &self.hash
    }

    /// Returns the content hash as text, `sha256:…`.
    pub fn hash_text(&self) -> String {
        encode::hash_text(&self.hash)
    }

    /// Returns `file:line:column` of a span, if known.
    pub fn span_text(&self, span: SpanId) -> Option<String> {
        let SourceSpan { file, line, column, .. } = self.sources.spans.get(span as usize)?;
        let file = self.sources.files.get(*file as usize)?;
        Some(format!("{file}:{line}:{column}"))
    }

    /// Checks that an expression can be evaluated with this plan: it is valid, refers only to
    /// entities of the plan, and reads only state, history, clock and world (neither arguments nor
    /// a result).
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be evaluated with this plan.
    pub fn admits(&self, expr: &Expr) -> Result<(), LoadError> {
        LoadedPlan::admits_beside(&self.plan, expr)
    }

    /// Checks an expression like [`LoadedPlan::admits`], for a plan that was just compiled.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be evaluated with this plan.
    pub fn admits_beside(plan: &Plan, expr: &Expr) -> Result<(), LoadError> {
        validate::beside(plan, expr).map_err(LoadError::Invalid)
    }

    /// Checks an expression that may also read the arguments of a tool.
    ///
    /// # Errors
    ///
    /// Returns an error if it refers to an entity that the plan or the tool does not have.
    pub fn admits_in_call(&self, tool: ToolId, expr: &Expr) -> Result<(), LoadError> {
        validate::beside_call(&self.plan, tool, expr).map_err(LoadError::Invalid)
    }

    /// Returns the binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode::to_bytes(&self.plan, &self.sources)
    }

    /// Returns the JSON form.
    pub fn to_json(&self) -> String {
        encode::to_json(&self.plan, &self.sources)
    }
}

/// Reads a plan in either form.
///
/// # Errors
///
/// Returns the reason why the bytes are not a plan.
pub fn load(bytes: &[u8]) -> Result<LoadedPlan, LoadError> {
    if bytes.starts_with(MAGIC) {
        return load_binary(bytes);
    }
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'{') { load_json(bytes) } else { Err(LoadError::UnknownForm) }
}

fn limit(bytes: usize, max: usize) -> Result<(), LoadError> {
    if bytes > max { Err(LoadError::TooLarge { bytes, max }) } else { Ok(()) }
}

fn load_binary(bytes: &[u8]) -> Result<LoadedPlan, LoadError> {
    limit(bytes.len(), MAX_BINARY_BYTES)?;
    let cut = || LoadError::Malformed("it ends within its header".into());
    let (version, rest) = bytes[MAGIC.len()..].split_first_chunk::<4>().ok_or_else(cut)?;
    let version = u32::from_le_bytes(*version);
    if version != FORMAT_VERSION {
        return Err(LoadError::Version(version));
    }
    let (hash, rest) = rest.split_first_chunk::<32>().ok_or_else(cut)?;
    let (checksum, body) = rest.split_first_chunk::<32>().ok_or_else(cut)?;
    debug_assert_eq!(bytes.len() - body.len(), HEADER);
    if encode::checksum(hash, body) != *checksum {
        return Err(LoadError::Checksum);
    }
    let malformed = |error: postcard::Error| LoadError::Malformed(error.to_string());
    let (plan, rest) = postcard::take_from_bytes::<Plan>(body).map_err(malformed)?;
    let (sources, rest) = postcard::take_from_bytes::<Sources>(rest).map_err(malformed)?;
    if !rest.is_empty() {
        return Err(LoadError::Malformed("extra bytes follow it".into()));
    }
    // The hash covers the canonical bytes: any other encoding of the plan has a different hash.
    if encode::content_hash(&plan) != *hash {
        return Err(LoadError::Hash);
    }
    LoadedPlan::new(plan, sources, *hash)
}

/// The first members of a document, independent of its version.
#[derive(Deserialize)]
struct PlanHeader {
    format: String,
    version: u32,
}

fn load_json(bytes: &[u8]) -> Result<LoadedPlan, LoadError> {
    limit(bytes.len(), MAX_JSON_BYTES)?;
    let malformed = |error: serde_json::Error| LoadError::Malformed(error.to_string());
    // Another version may have another form, so the version is read before the plan.
    let head: PlanHeader = serde_json::from_slice(bytes).map_err(malformed)?;
    if head.format != FORMAT {
        return Err(LoadError::UnknownForm);
    }
    if head.version != FORMAT_VERSION {
        return Err(LoadError::Version(head.version));
    }
    let document: Document = serde_json::from_slice(bytes).map_err(malformed)?;
    let hash = encode::content_hash(&document.plan);
    if encode::hash_text(&hash) != document.hash {
        return Err(LoadError::Hash);
    }
    LoadedPlan::new(document.plan, document.sources, hash)
}
