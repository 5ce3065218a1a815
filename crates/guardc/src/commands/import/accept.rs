//! The handling of imported tools: they are written as a guard with its lock, or compared with the
//! lock and accepted.

use super::GuardArgs;
use crate::draft::formatted;
use crate::failure::{CommandResult, Exit, Failure};
use crate::report::visible;
use crate::term::{Console, count};
use guard_mcp::{ToolDifference, ToolLock};
use guard_sdk::sources;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A function that returns true if a text is a regular expression of the language.
type IsPattern<'p> = &'p dyn Fn(&str) -> bool;

/// Tools that an external source declares.
pub struct ImportedTools<'t> {
    pub count: usize,
    pub lock: ToolLock,
    /// Writes the guard of this name.
    pub guard_text: &'t dyn Fn(&str, IsPattern<'_>) -> String,
    /// Writes the declaration of the tool of this name.
    pub declaration: &'t dyn Fn(&str, IsPattern<'_>) -> String,
    /// The source of the tools: `server`.
    pub owner: &'t str,
    /// The advice to the user if the generated guard has errors.
    pub defect: &'t str,
}

fn is_pattern(text: &str) -> bool {
    regex::Regex::new(text).is_ok()
}

impl ImportedTools<'_> {
    /// Writes the guard and its lock, or compares them with the lock.
    pub fn run(&self, args: &GuardArgs, lock: Option<PathBuf>, term: &Console) -> CommandResult {
        match (args.update, lock) {
            (false, lock) => self.import(args, lock.as_deref(), term),
            (true, Some(lock)) => self.update(args.accept, &lock, term),
            (true, None) => {
                Err(Failure::new("`--update` needs the guard (`-o`) or its lock (`--lock`)"))
            }
        }
    }

    /// Writes a guard and its lock.
    fn import(&self, args: &GuardArgs, lock: Option<&Path>, term: &Console) -> CommandResult {
        let path = args.output.as_deref();
        if let Some(path) = path.filter(|path| path.exists()) {
            let message = format!("`{}` is there already", sources::display(path));
            let help = format!("`--update` compares it with the {}", self.owner);
            return Err(Failure::new(message).help(help));
        }
        let stem = path.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        let name = args.name.clone().or(stem).unwrap_or_else(|| "imported".into());
        // A pattern that the language refuses becomes a comment.
        let text = formatted(&(self.guard_text)(&name, &is_pattern), self.defect)
            .or_else(|_| formatted(&(self.guard_text)(&name, &|_| false), self.defect))?;
        if let Some(lock) = lock {
            write(lock, &self.lock.text())?;
        }
        let Some(path) = path else {
            term.data(&text)?;
            return Ok(Exit::Fine);
        };
        write(path, &text)?;
        let mut said = format!("{}: {}\n", sources::display(path), count(self.count, "tool"));
        if let Some(lock) = lock {
            let _ = writeln!(said, "{}: locked", sources::display(lock));
        }
        term.print(&said)?;
        Ok(Exit::Fine)
    }

    /// Shows the changes since the lock was written, and accepts them if that is requested.
    fn update(&self, accept: bool, path: &Path, term: &Console) -> CommandResult {
        let shown = sources::display(path);
        let locked = sources::read_text(path).and_then(|text| ToolLock::read(&text));
        let locked =
            locked.map_err(|why| Failure::new(format!("cannot use the lock `{shown}`: {why}")))?;
        let differences = locked.differences(&self.lock);
        if differences.is_empty() {
            let owner = self.owner;
            term.print(&format!("{shown}: the {owner}'s tools are as they were accepted\n"))?;
            return Ok(Exit::Fine);
        }
        let mut out = String::new();
        let mut seen = BTreeSet::new();
        for difference in &differences {
            self.show(difference, &locked, &mut seen, &mut out);
        }
        let total = count(differences.len(), "tool");
        if !accept {
            let _ =
                writeln!(out, "{total} changed since {shown} was written; `--accept` accepts them");
            term.print(&out)?;
            return Ok(Exit::Findings);
        }
        write(path, &self.lock.text())?;
        let _ = writeln!(out, "{total} accepted in {shown}; declare in the guard what is new");
        term.print(&out)?;
        Ok(Exit::Fine)
    }

    /// Shows one difference. A shared schema is shown with the first tool that needs it.
    fn show<'d>(
        &self,
        difference: &'d ToolDifference,
        locked: &ToolLock,
        seen: &mut BTreeSet<&'d str>,
        out: &mut String,
    ) {
        let is_new = difference.before.is_empty();
        let is_gone = difference.after.is_empty();
        let what = match (is_new, is_gone) {
            (true, _) => "new",
            (_, true) => "gone",
            _ if difference.only_described => "another description",
            _ => "another schema",
        };
        let _ = writeln!(out, "{}: {what}", visible(&difference.tool));
        write_changes(&difference.before, &difference.after, "  ", out);
        for schema in &difference.shared {
            let is_shown = !seen.insert(schema);
            let again = if is_shown { ": as above" } else { ":" };
            let _ = writeln!(out, "  {}{again}", visible(schema));
            if !is_shown {
                let before = locked.schema_text(schema);
                let after = self.lock.schema_text(schema);
                write_changes(&before, &after, "    ", out);
            }
        }
        if !is_gone && !difference.only_described {
            let _ = writeln!(out, "  declared as:");
            for line in (self.declaration)(&difference.tool, &is_pattern).lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
}

/// Writes the lines that differ, with two lines of context around them.
fn write_changes(before: &str, after: &str, indent: &str, out: &mut String) {
    let changes = similar::TextDiff::from_lines(before, after);
    let changes = changes.unified_diff().context_radius(2).to_string();
    changes.lines().for_each(|line| _ = writeln!(out, "{indent}{}", visible(line)));
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    crate::files::write_atomic(path, text.as_bytes())
}
