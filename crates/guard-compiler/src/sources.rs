//! The files of a compilation: the root, the files that it uses, and the bundled library, parsed.
//!
//! It reads no files itself: a [`Loader`] loads texts. It handles `use` items and no other items.

use crate::errors;
use crate::generated_tools;
use guard_syntax::ast::{ContractClause, File, ItemKind, ItemShape, UseTarget, Whole};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::{FileId, Span};
use std::collections::{HashMap, HashSet};

/// A source text with its displayed name.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The path with `/`, relative to the project if possible; `std/files.guard` for the bundled
    /// library.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Loads the texts that `use "…"` names. The path is already joined to the folder of the using file
/// and normalised. It never leads out of the project.
pub trait Loader {
    /// Loads the text of a file.
    ///
    /// # Errors
    ///
    /// The reason why the text cannot be loaded (`no such file`, `not UTF-8 at byte 17`).
    fn load(&mut self, path: &str) -> Result<String, String>;
}

/// A loader for guards that use no files.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&mut self, _: &str) -> Result<String, String> {
        Err("there are no other files here".into())
    }
}

/// Returns the bundled library: names and texts.
pub fn std_library() -> &'static [(&'static str, &'static str)] {
    &[
        ("assistant", include_str!("../std/assistant.guard")),
        ("files", include_str!("../std/files.guard")),
        ("git", include_str!("../std/git.guard")),
        ("hosts.claude_code", include_str!("../std/hosts/claude_code.guard")),
        ("hosts.codex", include_str!("../std/hosts/codex.guard")),
        ("hosts.files", include_str!("../std/hosts/files.guard")),
        ("hosts.gemini", include_str!("../std/hosts/gemini.guard")),
        ("shell", include_str!("../std/shell.guard")),
        ("web", include_str!("../std/web.guard")),
    ]
}

/// Returns the displayed path of a file of the bundled library: `std/hosts/codex.guard` for
/// `hosts.codex`.
pub fn library_path(name: &str) -> String {
    format!("std/{}.guard", name.replace('.', "/"))
}

/// The parsed files, in order of loading.
pub(crate) struct LoadedSources {
    pub files: Vec<SourceFile>,
    pub trees: Vec<File>,
    /// True for each file that belongs to the bundled library.
    pub bundled: Vec<bool>,
    /// The JSON Schemas that contracts name, by the position of the name. Schemas that cannot be
    /// read are not included.
    pub schemas: HashMap<Span, String>,
    pub diagnostics: Vec<Diagnostic>,
    /// The names of the items that could not be parsed.
    pub dropped: Vec<String>,
}

/// Loads and parses `root` and everything it uses, each file once.
pub(crate) fn load(root: SourceFile, loader: &mut dyn Loader) -> LoadedSources {
    let mut sources = LoadedSources {
        files: Vec::new(),
        trees: Vec::new(),
        bundled: Vec::new(),
        schemas: HashMap::new(),
        diagnostics: Vec::new(),
        dropped: Vec::new(),
    };
    let id = sources.add(root, false);
    let mut open = vec![FollowedFile { id, next: 0 }];
    while let Some(top) = open.last_mut() {
        let Some((target, span)) = next_use(&sources.trees[top.id], &mut top.next) else {
            open.pop();
            continue;
        };
        let using = top.id;
        if let Some(id) = sources.follow(using, &target, span, &open, loader) {
            open.push(FollowedFile { id, next: 0 });
        }
    }
    sources.schemas(loader);
    let served = generated_tools::declare(&sources.trees, &mut sources.diagnostics);
    // This tree has no file, so it comes last: its position is not the number of a file.
    sources.trees.push(served);
    sources.bundled.push(true);
    sources
}

/// A file whose `use` items are being followed.
struct FollowedFile {
    id: usize,
    next: usize,
}

fn next_use(tree: &File, next: &mut usize) -> Option<(UseTarget, Span)> {
    while let Some(item) = tree.items.get(*next) {
        *next += 1;
        if let ItemKind::Use(target) = &item.kind {
            return Some((target.clone(), item.span.0));
        }
    }
    None
}

/// The codes of names that are not declared.
const UNKNOWN: [&str; 6] = ["G0110", "G0111", "G0112", "G0114", "G0115", "G0118"];

impl LoadedSources {
    /// Removes the diagnostics about names whose declaration could not be parsed. The error of the
    /// declaration itself says what to correct.
    pub fn forgive_dropped(&self, diagnostics: &mut Vec<Diagnostic>) {
        let dropped: HashSet<&str> = self.dropped.iter().map(String::as_str).collect();
        let named = |span: Span| {
            let file = self.files.get(span.file.0 as usize)?;
            file.text.get(span.start as usize..span.end as usize)
        };
        diagnostics.retain(|found| {
            let is_dropped =
                || named(found.primary.span).is_some_and(|name| dropped.contains(name));
            !UNKNOWN.contains(&found.code) || !is_dropped()
        });
    }

    fn add(&mut self, file: SourceFile, bundled: bool) -> usize {
        let id = self.files.len();
        let parse = guard_syntax::parse(FileId(id as u32), &file.text);
        self.diagnostics.extend(parse.diagnostics);
        self.dropped.extend(parse.dropped);
        self.trees.push(parse.file);
        self.files.push(file);
        self.bundled.push(bundled);
        id
    }

    /// Returns the file to follow next, if `target` is a file that is not yet loaded.
    fn follow(
        &mut self,
        using: usize,
        target: &UseTarget,
        span: Span,
        open: &[FollowedFile],
        loader: &mut dyn Loader,
    ) -> Option<usize> {
        let (path, bundled) = match self.locate(using, target) {
            Ok(found) => found,
            Err(problem) => {
                self.diagnostics.push(*problem);
                return None;
            }
        };
        if let Some(id) = self.files.iter().position(|file| file.path == path) {
            // One would silently stand for the other, and its rules would be missing.
            if self.bundled[id] != bundled {
                let why = "a bundled library has this path too; rename the file";
                self.diagnostics.push(errors::cannot_use(span, &path, why));
                return None;
            }
            if let Some(from) = open.iter().position(|o| o.id == id) {
                let chain = open[from..].iter().map(|o| self.files[o.id].path.as_str());
                self.diagnostics.push(errors::use_cycle(span, chain.chain([path.as_str()])));
            }
            return None;
        }
        let text =
            match std_library().iter().find(|(name, _)| bundled && path == library_path(name)) {
                Some((_, text)) => Ok((*text).to_string()),
                None => loader.load(&path),
            };
        match text {
            Ok(text) => {
                let id = self.add(SourceFile { path, text }, bundled);
                if let Some(header) = &self.trees[id].header {
                    self.diagnostics.push(errors::used_guard(
                        span,
                        &self.files[id].path,
                        header.span.0,
                    ));
                }
                Some(id)
            }
            Err(why) => {
                self.diagnostics.push(errors::cannot_use(span, &path, &why));
                None
            }
        }
    }

    /// Loads the JSON Schemas that contracts name.
    fn schemas(&mut self, loader: &mut dyn Loader) {
        for (using, tree) in self.trees.iter().enumerate() {
            let contracts = tree.items.iter().filter_map(|item| match &item.kind {
                ItemKind::Contract(contract) => Some(contract),
                _ => None,
            });
            let shapes = contracts.flat_map(|contract| {
                let whole = match &contract.whole {
                    Some(Whole::Items(list, _)) => Some(&list.shape),
                    _ => None,
                };
                let clauses = contract.clauses.iter().filter_map(|clause| match &clause.node {
                    ContractClause::Items { list, .. } => Some(&list.shape),
                    _ => None,
                });
                whole.into_iter().chain(clauses)
            });
            for shape in shapes {
                let ItemShape::Schema(name) = shape else { continue };
                let Some(path) = join(&self.files[using].path, &name.node) else {
                    self.diagnostics.push(errors::use_outside(name));
                    continue;
                };
                match loader.load(&path) {
                    Ok(text) => _ = self.schemas.insert(name.span, text),
                    Err(why) => self.diagnostics.push(errors::cannot_use(name.span, &path, &why)),
                }
            }
        }
    }

    fn locate(&self, using: usize, target: &UseTarget) -> Result<(String, bool), Box<Diagnostic>> {
        match target {
            UseTarget::Std(name) => {
                if std_library().iter().any(|(known, _)| *known == name.node) {
                    Ok((library_path(&name.node), true))
                } else {
                    Err(Box::new(errors::unknown_library(
                        name,
                        std_library().iter().map(|(n, _)| *n),
                    )))
                }
            }
            UseTarget::File(path) => join(&self.files[using].path, &path.node)
                .map(|p| (p, false))
                .ok_or_else(|| Box::new(errors::use_outside(path))),
        }
    }
}

/// Returns `path` relative to the folder of `using`, normalised; `None` if it is absolute or leads
/// out of the project.
fn join(using: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with('/') || path.contains('\\') {
        return None;
    }
    let mut parts: Vec<&str> = using.split('/').collect();
    parts.pop();
    let rooted = using.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.is_empty()
                || (rooted && parts.len() == 1)
                || parts.last() == Some(&"..") =>
            {
                return None;
            }
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}
