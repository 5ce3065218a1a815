//! The state of a git repository, as far as git can tell it without trusting the repository's own
//! settings: an agent that may write files may write these settings too.

use crate::run::run_with;
use guard_plan::plan::Command;
use guard_plan::record::{Ran, RunEnd};
use std::collections::BTreeSet;
use std::path::Path;

/// The time limit of git, in milliseconds.
const GIT_TIME: i64 = 30_000;
/// The maximum output of git, in bytes. Without all of it there is no answer.
const MAX_OUTPUT: usize = 64 << 20;
/// The maximum number of submodules within one another.
const MAX_NESTED: usize = 8;
/// The maximum number of filters that the repository configures.
const MAX_FILTERS: usize = 100;

/// Options that no setting of the repository overrides. Replaced objects would hide what is staged,
/// and a bare repository within the workspace would be found before the workspace's own.
const FIXED: [&str; 14] = [
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.trustctime=true",
    "-c",
    "core.checkStat=default",
    "-c",
    "safe.bareRepository=explicit",
    "--literal-pathspecs",
];

/// The variables of git: it fetches nothing, because a transport is a program that the repository
/// configures.
const ENVIRONMENT: [(&str, &str); 2] = [("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];

/// A work tree, with the options that turn its filters off.
struct WorkTree<'w> {
    top: &'w Path,
    filters: Vec<String>,
}

/// Returns true if nothing is uncommitted in the repository of a folder and in its submodules;
/// `None` if there is no repository, or if it hides files from git.
pub(crate) fn committed(folder: &Path) -> Option<bool> {
    // `core.worktree` could name a clean copy.
    let top = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    tree_committed(top, 0)
}

fn tree_committed(top: &Path, nested: usize) -> Option<bool> {
    if nested > MAX_NESTED {
        return None;
    }
    let mut tree = WorkTree { top, filters: Vec::new() };
    tree.filters = tree.filters_off()?;
    // Submodules are asked on their own, because git would run their filters.
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
    let (status, changes) = tree.git(&status)?;
    if status != 0 {
        return None;
    }
    let submodules = tree.submodules()?;
    let (head, _) = tree.git(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
    if head != 0 || !changes.is_empty() {
        return Some(false);
    }
    for submodule in submodules {
        let folder = top.join(submodule);
        let is_repository = folder.join(".git").symlink_metadata().is_ok();
        // Git looks into no folder of a submodule that is not a repository.
        let is_committed = if is_repository {
            tree_committed(&folder, nested + 1)?
        } else {
            std::fs::read_dir(&folder).ok()?.next().is_none()
        };
        if !is_committed {
            return Some(false);
        }
    }
    Some(true)
}

impl WorkTree<'_> {
    /// Returns options that turn off the filters that the repository configures. They are programs
    /// of its settings, and could hide changes. Those of the system are kept.
    fn filters_off(&self) -> Option<Vec<String>> {
        let list = ["config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\."];
        let (status, output) = self.git(&list)?;
        if !matches!(status, 0 | 1) {
            return None;
        }
        let mut drivers = BTreeSet::new();
        let mut words = output.split_terminator('\0');
        while let (Some(scope), Some(key)) = (words.next(), words.next()) {
            let driver = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.'));
            if let (Some((driver, _)), true) = (driver, scope != "system") {
                drivers.insert(driver.to_owned());
            }
        }
        // Such a name cannot be given as an option.
        let is_plain = |driver: &String| !driver.contains(['=', '\n', '\u{fffd}']);
        if drivers.len() > MAX_FILTERS || !drivers.iter().all(is_plain) {
            return None;
        }
        let settings = ["clean=", "smudge=", "process=", "required=false"];
        let options = |driver: String| {
            settings.map(|setting| ["-c".to_owned(), format!("filter.{driver}.{setting}")])
        };
        Some(drivers.into_iter().flat_map(options).flatten().collect())
    }

    /// Returns the paths of the submodules; `None` if git is told not to look at some files.
    fn submodules(&self) -> Option<Vec<String>> {
        let (status, files) = self.git(&["ls-files", "-v", "--stage", "-z"])?;
        if status != 0 {
            return None;
        }
        let mut submodules = Vec::new();
        for file in files.split_terminator('\0') {
            let (about, path) = file.split_once('\t')?;
            let (tag, about) = about.split_once(' ')?;
            // Small letters are files that are assumed unchanged, and `S` those that are skipped.
            if tag == "S" || !tag.bytes().all(|byte| byte.is_ascii_uppercase()) {
                return None;
            }
            if about.starts_with("160000 ") {
                if path.contains('\u{fffd}') {
                    return None;
                }
                submodules.push(path.to_owned());
            }
        }
        Some(submodules)
    }

    /// Runs git in the work tree. It runs no program that the repository or the user configures.
    fn git(&self, arguments: &[&str]) -> Option<(i32, String)> {
        let work_tree = format!("--work-tree={}", self.top.to_str()?);
        let fixed = ["git", &work_tree];
        let words = fixed.iter().chain(&FIXED).map(|word| (*word).to_owned());
        let arguments = arguments.iter().map(|word| (*word).to_owned());
        let argv = words.chain(self.filters.iter().cloned()).chain(arguments).collect();
        let command = Command { argv, env: Vec::new(), within: GIT_TIME };
        match run_with(&command, self.top, &ENVIRONMENT, MAX_OUTPUT) {
            Ran { ended: RunEnd::Exited(status), stdout, .. } if stdout.len() < MAX_OUTPUT => {
                Some((status, stdout))
            }
            _ => None,
        }
    }
}
