//! A cache of reports, keyed by their inputs: the plan, the guard's source, the options, and this
//! program's version.

use super::Args;
use crate::failure::Failure;
use crate::files;
use crate::term::Console;
use guard_compiler::{CompilerOutput, SourceFile};
use guard_plan::encode;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The location of a cached report.
pub struct Cache {
    path: PathBuf,
}

/// A cached report.
pub struct Kept {
    /// The report.
    pub report: String,
    /// True if the command ended with findings.
    pub findings: bool,
}

const FINE: &str = "fine\n";
const FINDINGS: &str = "findings\n";

impl Cache {
    /// Returns the location of the report for these inputs.
    pub fn new(
        folder: &Path,
        args: &Args,
        (output, files): (&CompilerOutput, &[SourceFile]),
        warnings_as_errors: bool,
        term: &Console,
    ) -> Cache {
        let mut hash = Sha256::new();
        // The tests begin the exploration, and comments accept warnings: both are in no plan.
        for text in files.iter().flat_map(|file| [&file.path, &file.text]) {
            hash.update(text.len().to_be_bytes());
            hash.update(text);
        }
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(encode::to_bytes(&output.lowered, &output.sources));
        hash.update(encode::to_bytes(&output.plan, &output.sources));
        let properties = output.properties.as_ref();
        hash.update(format!(
            "{:?}",
            properties.map(|checked| (&checked.claimed.properties, &checked.claimed.tools))
        ));
        let options =
            (args.format as u8, args.require_proved, warnings_as_errors, args.depth, args.states);
        hash.update(format!("{options:?} {}", term.out.on));
        let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Cache { path: folder.join(name) }
    }

    /// Returns the report, if it is cached and intact.
    pub fn read(&self) -> Option<Kept> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let fine = text.strip_prefix(FINE).map(|report| (report, false));
        let (report, findings) =
            fine.or(text.strip_prefix(FINDINGS).map(|report| (report, true)))?;
        Some(Kept { report: report.to_owned(), findings })
    }

    /// Caches a report.
    pub fn write(&self, report: &str, findings: bool) -> Result<(), Failure> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|why| {
            Failure::new(format!("cannot keep reports in `{}`: {why}", files::display(folder)))
        })?;
        let first = if findings { FINDINGS } else { FINE };
        files::write_atomic(&self.path, format!("{first}{report}").as_bytes())
    }
}
