//! Plans: compiled here from a guard, or loaded from what was compiled before.

use crate::config::Config;
use crate::failure::Failure;
use crate::files;
use crate::project;
use crate::term::Term;
use guard_plan::encode;
use guard_plan::plan::{Plan, Sources};
use std::path::Path;

/// A plan with what is known beside it.
pub struct Opened {
    plan: Plan,
    sources: Sources,
    hash: String,
}

impl Opened {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where its rules stand.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Its content hash.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// Opens a guard or a plan, whichever it is; none where the guard has errors, which have been said.
pub fn open(path: &Path, config: &Config, term: &Term) -> Result<Option<Opened>, Failure> {
    let Some(compiled) = project::compile_one(path, config, term)? else {
        return Ok(None);
    };
    let Some(output) = compiled.compilation.output else {
        return Ok(None);
    };
    let hash = encode::hash_text(&encode::content_hash(&output.plan));
    Ok(Some(Opened {
        plan: output.plan,
        sources: output.sources,
        hash,
    }))
}
