//! `tidy`: what the compiler cannot check.
//!
//! Each rule is a function from the repository to complaints, one line each.

mod codes;
mod definitions;
mod knots;
mod layers;
mod layout;
mod sources;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the repository, as git sees them: tracked, or new and not ignored.
pub struct Repo {
    /// The root.
    pub root: PathBuf,
    /// Paths from the root, with `/`, sorted.
    pub files: Vec<String>,
}

impl Repo {
    fn open(root: &Path) -> Result<Repo, String> {
        let list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
        let output = Command::new("git").args(list).current_dir(root).output();
        let output = output.map_err(|e| format!("cannot run git: {e}"))?;
        if !output.status.success() {
            return Err(format!(
                "git ls-files: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        let names = String::from_utf8_lossy(&output.stdout);
        let mut files: Vec<String> = names
            .split('\0')
            .filter(|name| !name.is_empty() && root.join(name).symlink_metadata().is_ok())
            .map(str::to_owned)
            .collect();
        files.sort();
        files.dedup();
        Ok(Repo { root: root.to_owned(), files })
    }

    /// The text of a file; empty where it is none.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).unwrap_or_default()
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str).filter(|name| name.ends_with(".rs"))
    }
}

/// The findings of a rule.
#[derive(Default)]
pub struct TidyFindings {
    /// What must be put right.
    pub problems: Vec<String>,
    /// What is worth a look.
    pub notes: Vec<String>,
}

impl TidyFindings {
    /// Adds a problem.
    pub fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

/// Runs every rule; true where nothing must be put right.
pub fn run(root: &Path, args: &[String]) -> Result<bool, String> {
    if let Some(arg) = args.first() {
        return Err(format!("`tidy` takes no arguments, but got `{arg}`"));
    }
    let repo = Repo::open(root)?;
    let mut found = TidyFindings::default();
    layers::check(&repo, &mut found)?;
    layout::check(&repo, &mut found);
    sources::check(&repo, &mut found);
    definitions::check(&repo, &mut found);
    knots::check(&repo, &mut found);
    codes::check(&repo, &mut found);
    for note in &found.notes {
        println!("note: {note}");
    }
    for problem in &found.problems {
        println!("error: {problem}");
    }
    println!(
        "tidy: {} files, {} errors, {} notes",
        repo.files.len(),
        found.problems.len(),
        found.notes.len()
    );
    Ok(found.problems.is_empty())
}
