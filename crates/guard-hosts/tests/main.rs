//! Real commands and real files.

#![cfg(unix)]

use guard_hosts::{Disk, run};
use guard_plan::plan::Command;
use guard_plan::record::{Content, Ran, RunEnd, TEXT_BYTES};
use guard_runtime::World;
use std::fs;
use std::path::Path;

/// Runs a line of shell; the shell is the command.
fn shell(line: &str, within: i64) -> Ran {
    command(&["/bin/sh", "-c", line], &[], within)
}

fn command(argv: &[&str], env: &[&str], within: i64) -> Ran {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    run(&Command { argv: words(argv), env: words(env), within }, Path::new("/"))
}

const LONG: i64 = 60_000;

#[test]
fn what_a_file_holds() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("report.json"), "{\"a\": 1}").unwrap();
    fs::write(at("binary"), [0xff, 0xfe]).unwrap();
    fs::write(at("large"), " ".repeat(TEXT_BYTES + 1)).unwrap();
    fs::write(at("just"), " ".repeat(TEXT_BYTES)).unwrap();
    let mut disk = Disk::new(folder.path()).unwrap();
    assert_eq!(disk.text(&at("report.json")), Some(Content::Text("{\"a\": 1}".into())));
    assert_eq!(disk.text(&at("binary")), Some(Content::NotText));
    assert_eq!(disk.text(&at("large")), Some(Content::TooLarge));
    assert!(matches!(disk.text(&at("just")), Some(Content::Text(_))));
    assert_eq!(disk.text(&at("none")), Some(Content::Missing));
    assert_eq!(disk.text(folder.path().to_str().unwrap()), Some(Content::Missing));
    assert_eq!(disk.text("/etc/hostname"), None);
}

#[test]
fn how_it_ends() {
    assert_eq!(shell("exit 0", LONG).ended, RunEnd::Exited(0));
    assert_eq!(shell("exit 7", LONG).ended, RunEnd::Exited(7));
    assert_eq!(shell("kill -9 $$", LONG).ended, RunEnd::Signalled(9));
    let missing = command(&["no-such-binary-anywhere"], &[], LONG);
    assert_eq!(
        missing.ended,
        RunEnd::NotStarted("there is no `no-such-binary-anywhere` here".into())
    );
    assert!(matches!(command(&["/"], &[], LONG).ended, RunEnd::NotStarted(_)));
    assert!(matches!(command(&[], &[], LONG).ended, RunEnd::NotStarted(_)));
}

#[test]
fn what_never_ends_is_killed_with_all_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    // The child holds the pipe open; only killing the group lets us read it to its end.
    let line = format!("sleep 1000 & echo $! > {}; sleep 1000", file.display());
    assert_eq!(shell(&line, 300).ended, RunEnd::TimedOut);
    gone(&file);
}

#[test]
fn what_is_left_behind_is_killed_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let line = format!("sleep 1000 & echo $! > {}; exit 3", file.display());
    assert_eq!(shell(&line, LONG).ended, RunEnd::Exited(3));
    gone(&file);
}

#[cfg(target_os = "linux")]
#[test]
fn what_leaves_the_group_is_killed_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let number = file.display();
    // It holds the pipe of the command.
    let left = format!(
        "setsid sh -c 'echo $$ > {number}; exec sleep 1000' & while [ ! -s {number} ]; do :; done"
    );
    assert_eq!(shell(&left, LONG).ended, RunEnd::Exited(0));
    gone(&file);
    fs::remove_file(&file).unwrap();
    // It holds no pipe, and its parent lives until the time is over.
    let silent =
        format!("setsid sh -c 'echo $$ > {number}; exec sleep 1000' > /dev/null 2>&1 & sleep 1000");
    assert_eq!(shell(&silent, 1_000).ended, RunEnd::TimedOut);
    gone(&file);
    fs::remove_file(&file).unwrap();
    // It holds no pipe, and its parent has ended.
    let orphan = format!(
        "(setsid sh -c 'echo $$ > {number}; exec sleep 1000' > /dev/null 2>&1 &); while [ ! -s {number} ]; do :; done"
    );
    assert_eq!(shell(&orphan, LONG).ended, RunEnd::Exited(0));
    gone(&file);
}

#[test]
fn nothing_is_said_of_what_lies_outside() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("a"), "").unwrap();
    std::os::unix::fs::symlink("/etc", at("out")).unwrap();
    for (target, link) in [
        ("nowhere", "dangling"),
        ("./further", "chain"),
        ("dangling/x", "further"),
        ("/no-such-file-anywhere", "absolute"),
        ("../no-such-file", "relative"),
        ("absolute", "second"),
        ("nowhere/../../no-such-file", "through"),
    ] {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    let mut disk = Disk::new(folder.path()).unwrap();
    assert_eq!(disk.exists(&at("a")), Some(true));
    assert_eq!(disk.exists(&at("b")), Some(false));
    assert_eq!(disk.exists(&at("b/c")), Some(false));
    for inside in ["dangling", "dangling/x", "chain", "further"] {
        assert_eq!(disk.exists(&at(inside)), Some(false), "{inside}");
    }
    for outside in ["absolute", "absolute/x", "relative", "second", "through"] {
        assert_eq!(disk.exists(&at(outside)), None, "{outside}");
        assert_eq!(disk.file(&at(outside)), None, "{outside}");
        assert_eq!(disk.sha256(&at(outside)), None, "{outside}");
    }
    assert_eq!(disk.exists(folder.path().to_str().unwrap()), Some(true));
    assert_eq!(disk.exists("/etc/hostname"), None);
    assert_eq!(disk.exists("/etc/no-such-file"), None);
    assert_eq!(disk.exists(&at("out/hostname")), None);
    assert_eq!(disk.exists(&at("out/no-such-file")), None);
}

/// The process whose number stands in a file is gone, or waits to be reaped; a signal takes a moment to arrive.
fn gone(file: &Path) {
    let pid = fs::read_to_string(file).unwrap();
    let ended = || {
        std::thread::yield_now();
        let status = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        status.is_err() || status.is_ok_and(|it| it.contains(") Z"))
    };
    assert!((0..1_000_000).any(|_| ended()), "{} still runs", pid.trim());
}

#[test]
fn what_prints_for_ever_is_bounded() {
    let ran = shell("yes oh no", 300);
    assert_eq!(ran.ended, RunEnd::TimedOut);
    assert!(ran.output.contains("oh no\noh no"));
    assert!(ran.output.len() <= 16 << 10 && ran.stdout.len() <= 64 << 10);
}

#[test]
fn both_outputs_are_kept() {
    let ran = shell("echo out; echo err >&2", LONG);
    assert_eq!(ran.output, "out\nerr\n");
    assert_eq!(ran.stdout, "out\n");
    assert_eq!(shell("printf '\\377'", LONG).output, "\u{fffd}");
}

#[test]
fn nothing_is_inherited_but_what_is_named() {
    let environment = |names: &[&str]| {
        let output = command(&["env"], names, LONG).output;
        let named = output.lines().filter(|line| !line.starts_with("GUARD_COMMAND="));
        named.map(|line| line.split('=').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(environment(&[]).is_empty());
    assert_eq!(environment(&["PATH", "SURELY_NOT_SET_HERE"]), ["PATH"]);
    assert_eq!(shell("cat", LONG).ended, RunEnd::Exited(0));
}

#[test]
fn words_are_given_as_they_are() {
    let words = ["printf", "%s|", "a b", "$(id)", "*", "; rm -rf x", ""];
    assert_eq!(command(&words, &[], LONG).output, "a b|$(id)|*|; rm -rf x||");
}

fn disk() -> (tempfile::TempDir, Disk) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("work")).unwrap();
    let disk = Disk::new(&folder.path().join("work")).unwrap();
    (folder, disk)
}

fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join("work").join(name).to_str().unwrap().to_owned()
}

#[test]
fn files_are_regular_and_inside() {
    let (folder, mut disk) = disk();
    fs::write(at(&folder, "here.md"), "text").unwrap();
    fs::create_dir(at(&folder, "dir")).unwrap();
    fs::write(folder.path().join("outside.md"), "text").unwrap();
    std::os::unix::fs::symlink("../outside.md", at(&folder, "link.md")).unwrap();
    std::os::unix::fs::symlink("..", at(&folder, "up")).unwrap();
    std::os::unix::fs::symlink("here.md", at(&folder, "alias.md")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(at(&folder, "pipe")).status().unwrap().success()
    );
    let cases = [
        ("here.md", Some(true)),
        ("alias.md", Some(true)),
        ("dir", Some(false)),
        ("pipe", Some(false)),
        ("missing.md", Some(false)),
        ("missing/missing.md", Some(false)),
        ("here.md/missing.md", Some(false)),
        ("link.md", None),
        ("up/outside.md", None),
        ("up/missing.md", None),
        ("../outside.md", None),
    ];
    for (name, expected) in cases {
        assert_eq!(disk.file(&at(&folder, name)), expected, "{name}");
        let none = expected
            .map(|there| there.then(|| disk.sha256(&at(&folder, "here.md")).unwrap().unwrap()));
        assert_eq!(disk.sha256(&at(&folder, name)), none, "{name}");
        assert_eq!(disk.contains(&at(&folder, name), "ex"), expected, "{name}");
    }
    assert_eq!(disk.exists(&at(&folder, "pipe")), Some(true));
    assert_eq!(disk.exists(&at(&folder, "nowhere")), Some(false));
}

#[test]
fn a_text_is_found_wherever_it_stands() {
    let (folder, mut disk) = disk();
    let piece = 64 << 10;
    for before in [0, 1, piece - 3, piece - 1, piece, 3 * piece - 2] {
        let text = format!("{}needle", "x".repeat(before));
        fs::write(at(&folder, "hay"), text).unwrap();
        assert_eq!(disk.contains(&at(&folder, "hay"), "needle"), Some(true), "after {before}");
        assert_eq!(disk.contains(&at(&folder, "hay"), "needles"), Some(false));
        assert_eq!(disk.contains(&at(&folder, "hay"), ""), Some(true));
    }
}

/// Runs git in a folder as an agent may, and requires that it succeeds.
fn git(folder: &Path, arguments: &[&str]) {
    let fixed = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
    let local = ["-c", "protocol.file.allow=always"];
    let mut git = std::process::Command::new("git");
    let done = git.args(fixed).args(local).args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// Makes a repository with the committed files `a` and `sub/b`.
fn repository(folder: &Path) {
    git(folder, &["init"]);
    fs::write(folder.join("a"), "1").unwrap();
    fs::create_dir(folder.join("sub")).unwrap();
    fs::write(folder.join("sub/b"), "1").unwrap();
    git(folder, &["add", "."]);
    git(folder, &["commit", "-m", "a"]);
}

#[test]
fn git_says_what_is_uncommitted() {
    let (folder, mut disk) = disk();
    let top = folder.path().join("work");
    assert_eq!(disk.committed(), None, "there is no repository");
    git(&top, &["init"]);
    assert_eq!(disk.committed(), Some(false), "there is no commit");
    fs::write(at(&folder, "a"), "1").unwrap();
    git(&top, &["add", "."]);
    git(&top, &["commit", "-m", "a"]);
    assert_eq!(disk.committed(), Some(true));
    fs::create_dir(at(&folder, "sub")).unwrap();
    let mut below = Disk::new(&top.join("sub")).unwrap();
    assert_eq!(below.committed(), Some(true), "the repository is above");
    fs::write(at(&folder, "b"), "1").unwrap();
    assert_eq!(disk.committed(), Some(false));
    assert_eq!(below.committed(), Some(false));
}

#[test]
fn settings_of_the_repository_hide_nothing() {
    type Hide = fn(&Path, &Path);
    let change = |top: &Path| fs::write(top.join("a"), "2").unwrap();
    let cases: [(&str, Hide, Option<bool>); 8] = [
        ("assumed", |top, _| git(top, &["update-index", "--assume-unchanged", "a"]), None),
        ("skipped", |top, _| git(top, &["update-index", "--skip-worktree", "a"]), None),
        (
            "the tree is elsewhere",
            |top, copy| git(top, &["config", "core.worktree", copy.to_str().unwrap()]),
            Some(false),
        ),
        (
            "a filter",
            |top, copy| {
                fs::write(top.join(".git/info/attributes"), "* filter=x.y\n").unwrap();
                let clean = format!("touch {}/ran; printf 1", copy.display());
                git(top, &["config", "filter.x.y.clean", &clean]);
                git(top, &["config", "filter.x.y.required", "true"]);
            },
            Some(false),
        ),
        (
            "a filter that no option can name",
            |top, _| git(top, &["config", "filter.x=y.clean", "printf 1"]),
            None,
        ),
        (
            "a replaced commit",
            |top, _| {
                fs::write(top.join("a"), "2").unwrap();
                git(top, &["checkout", "-b", "other"]);
                git(top, &["commit", "-a", "-m", "b"]);
                git(top, &["checkout", "main"]);
                git(top, &["replace", "main", "other"]);
                git(top, &["checkout", "other", "--", "a"]);
            },
            Some(false),
        ),
        (
            "untracked files are not shown",
            |top, _| {
                git(top, &["commit", "-a", "-m", "b"]);
                fs::write(top.join("new"), "").unwrap();
                git(top, &["config", "status.showUntrackedFiles", "no"]);
            },
            Some(false),
        ),
        (
            "times of files do not count",
            |top, _| {
                git(top, &["config", "core.trustctime", "false"]);
                git(top, &["config", "core.checkStat", "minimal"]);
            },
            Some(false),
        ),
    ];
    for (name, hide, expected) in cases {
        let (folder, mut disk) = disk();
        let top = folder.path().join("work");
        repository(&top);
        let copy = tempfile::tempdir().unwrap();
        fs::write(copy.path().join("a"), "1").unwrap();
        fs::create_dir(copy.path().join("sub")).unwrap();
        fs::write(copy.path().join("sub/b"), "1").unwrap();
        change(&top);
        hide(&top, copy.path());
        assert_eq!(disk.committed(), expected, "{name}");
        assert!(!copy.path().join("ran").exists(), "{name}: a program ran");
    }
}

#[test]
fn submodules_are_asked_too() {
    type Change = fn(&Path);
    let cases: [(&str, Change, Option<bool>); 6] = [
        ("nothing", |_| {}, Some(true)),
        ("a changed file", |sub| fs::write(sub.join("a"), "2").unwrap(), Some(false)),
        ("a new file", |sub| fs::write(sub.join("c"), "2").unwrap(), Some(false)),
        (
            "an assumed file",
            |sub| {
                git(sub, &["update-index", "--assume-unchanged", "a"]);
                fs::write(sub.join("a"), "2").unwrap();
            },
            None,
        ),
        (
            "a filter",
            |sub| {
                fs::write(sub.join(".gitattributes"), "* filter=x\n").unwrap();
                git(sub, &["config", "filter.x.clean", "touch ../ran; printf 1"]);
                fs::write(sub.join("a"), "2").unwrap();
            },
            Some(false),
        ),
        (
            "no repository any more",
            |sub| {
                fs::remove_file(sub.join(".git")).unwrap();
                fs::write(sub.join("a"), "2").unwrap();
            },
            Some(false),
        ),
    ];
    for (name, change, expected) in cases {
        let other = tempfile::tempdir().unwrap();
        repository(other.path());
        let (folder, mut disk) = disk();
        let top = folder.path().join("work");
        repository(&top);
        git(&top, &["submodule", "add", other.path().to_str().unwrap(), "m"]);
        git(&top, &["commit", "-m", "m"]);
        git(&top, &["config", "diff.ignoreSubmodules", "all"]);
        git(&top, &["config", "submodule.m.ignore", "all"]);
        change(&top.join("m"));
        assert_eq!(disk.committed(), expected, "{name}");
        assert!(!top.join("ran").exists(), "{name}: a program ran");
    }
}
