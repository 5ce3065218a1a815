//! The action for pull requests ends with the exit codes of `guardc diff`, and where nothing is said it lets nothing pass that is not
//! known to be the same or tighter.

use std::path::{Path, PathBuf};
use std::process::Command;

const OLD: &str = "guard g\nbudget money = 1000\ntool ta() { costs 0.5 money }\ntool tb() { limit 2 per session }\n";

/// A git repository with one committed guard.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("guard-action-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let repository = Repository(folder);
        repository.write("g.guard", OLD);
        for args in [
            &["init", "--quiet"][..],
            &["add", "."],
            &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "first"],
        ] {
            let done = Command::new("git").args(args).current_dir(&repository.0).status();
            assert!(done.is_ok_and(|status| status.success()), "git {args:?}");
        }
        repository
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).expect("the folder is writable");
    }

    /// The exit code of the action, and what it printed.
    fn act(&self, variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let guardc = crate::cli::build_guardc();
        let folder = guardc.parent().expect("a folder").display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/actions/guard-diff/diff.sh");
        let output = Command::new("bash")
            .arg(script)
            .current_dir(&self.0)
            .env("PATH", format!("{folder}:{path}"))
            .env_remove("GITHUB_STEP_SUMMARY")
            .envs([("GUARD", "g.guard"), ("BASE", "HEAD")])
            .envs(variables.iter().copied())
            .output()
            .expect("bash runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn ends_as_the_diff_does() {
    let repository = Repository::new("codes");
    let ends = |new: &str, variables: &[(&str, &str)]| {
        repository.write("g.guard", new);
        repository.act(variables)
    };
    assert_eq!(ends(OLD, &[]).0, Some(0), "the same");
    assert_eq!(ends(&OLD.replace("limit 2", "limit 1"), &[]).0, Some(0), "tighter");
    assert_eq!(ends(&OLD.replace("limit 2", "limit 1"), &[("ALLOW", "none")]).0, Some(1));
    let (code, printed) = ends(&OLD.replace("limit 2", "limit 3"), &[]);
    assert_eq!(code, Some(1), "looser");
    assert!(printed.contains("::error file=g.guard::"), "{printed}");
    // Nothing can reach a budget this far off, and nothing proves that it does not matter.
    let far = OLD.replace("= 1000", "= 2000");
    assert_eq!(ends(&far, &[]).0, Some(3), "not decided");
    let (code, printed) = ends(&far, &[("UNDECIDED", "warn")]);
    assert_eq!(code, Some(0), "not decided is a warning where that is said");
    assert!(printed.contains("::warning file=g.guard::"), "{printed}");
    assert_eq!(ends("guard g\ntool", &[]).0, Some(2), "the new guard has errors");
    assert_eq!(ends(OLD, &[("GUARD", "other.guard")]).0, Some(2), "no old guard");
    assert_eq!(ends(OLD, &[("BASE", "nowhere")]).0, Some(2), "no such revision");
    assert_eq!(ends(OLD, &[("ALLOW", "everything")]).0, Some(2), "no such word");
}
