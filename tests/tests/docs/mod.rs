//! Tests of the documentation: guards on its pages compile, and commands and messages print what the pages show.
//!
//! In `README.md` and `docs/`, except `docs/codes` which has a suite of its own:
//! a `guard` block is a whole guard without errors, formatted; `guard file="…"` is a file that it uses; `rust file="…"`
//! and the like show a file of the repository. A
//! `console` block is commands, `$ …`, each with what it prints. A `json` block with `-->` and `<--` is a
//! conversation with `guardc serve`, one process a page. `GUARD_BLESS=1` rewrites outputs and answers.
//!
//! Commands run at the root of the repository; those of a guide that has `guard file="…"` blocks in a folder of its
//! own, into which these are written as they come.

mod serve;

use crate::render::{self, Beside};
use crate::sidecar::Sidecar;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// The pages, as paths from the root.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/guide", "docs/reference"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("there are pages").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                pages.push(format!("{folder}/{name}"));
            }
        }
    }
    pages.sort();
    pages
}

/// A fenced block of a page: what stands behind the fence, where its lines begin, and its lines.
struct Block<'a> {
    info: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

impl Block<'_> {
    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The name of a file that the block is, rather than a guard of the page.
    fn file(&self) -> Option<&str> {
        self.info.strip_prefix("guard file=\"")?.strip_suffix('"')
    }
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => block.lines.push(line),
            (None, Some(info)) => open = Some(Block { info, line: at + 1, lines: Vec::new() }),
            (None, None) => {}
        }
    }
    found
}

#[test]
fn guards_of_the_pages_compile() {
    let mut problems = String::new();
    for name in pages() {
        let page = std::fs::read_to_string(root().join(&name)).expect("a page");
        let blocks = blocks(&page);
        let files = blocks.iter().filter_map(|b| Some((b.file()?.to_owned(), b.text())));
        let files: std::collections::BTreeMap<String, String> = files.collect();
        for block in blocks.iter().filter(|b| b.info == "guard") {
            let text = block.text();
            let mut complain = |what: &str| {
                let _ = writeln!(problems, "{name}:{}: {what}", block.line);
            };
            let compilation = render::compile("agent.guard", &text, Beside(files.clone()));
            if compilation.output.is_none() {
                complain(&render::diagnostics(&compilation));
            }
            match guard_syntax::format(&text) {
                Ok(formatted) if formatted == text => {}
                Ok(formatted) => complain(&format!("not formatted; it should be\n{formatted}")),
                Err(_) => complain("does not parse"),
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

/// A block ```` ```LANG file="PATH" ```` of another language is that file, byte for byte.
#[test]
fn files_of_the_pages_are_what_the_pages_show() {
    for name in pages() {
        let page = std::fs::read_to_string(root().join(&name)).expect("a page");
        for block in blocks(&page).iter().filter(|block| block.file().is_none()) {
            let Some((_, path)) = block.info.split_once(" file=\"") else { continue };
            let path = path.trim_end_matches('"');
            let file = std::fs::read_to_string(root().join(path)).expect("the file that is shown");
            assert_eq!(block.text(), file, "{name}:{} differs from {path}", block.line);
        }
    }
}

/// The tests of a guard on a page pass.
#[test]
fn tests_of_the_pages_pass() {
    let guardc = crate::cli::build_guardc();
    let folder = std::env::temp_dir().join(format!("guard-pages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let mut problems = String::new();
    for name in pages() {
        let page = std::fs::read_to_string(root().join(&name)).expect("a page");
        for block in blocks(&page) {
            let whole = block.info == "guard" && block.lines.iter().any(|l| l.starts_with("test "));
            if !whole || block.lines.iter().any(|line| line.starts_with("use \"")) {
                continue;
            }
            let file = folder.join("agent.guard");
            std::fs::write(&file, block.text()).expect("a writable folder");
            let ran = Command::new(&guardc).arg("test").arg(&file).output().expect("guardc runs");
            if !ran.status.success() {
                let said = String::from_utf8_lossy(&ran.stdout);
                let _ = writeln!(problems, "{name}:{}: {said}", block.line);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(problems.is_empty(), "{problems}");
}

/// The reference lists every builtin as its row says, and every reason code.
#[test]
fn lists_of_the_reference_are_whole() {
    let read = |name: &str| std::fs::read_to_string(root().join("docs/reference").join(name));
    let functions = read("expressions.md").expect("a page");
    for row in guard_plan::builtin::TABLE.iter().filter(|row| row.is_function()) {
        let stands = functions.lines().any(|line| {
            line.starts_with(&format!("| `{}(", row.name))
                && line.ends_with(&format!("| {} |", row.doc))
        });
        assert!(stands, "expressions.md: no row `{}(…)` that ends with: {}", row.name, row.doc);
    }
    let verdicts = read("verdicts.md").expect("a page");
    for code in guard_plan::verdict::Code::ALL {
        assert!(verdicts.contains(&format!("\n| `{}` |", code.as_str())), "verdicts.md: {code:?}");
    }
}

#[test]
fn commands_and_messages_of_the_pages_print_what_they_show() {
    let guardc = crate::cli::build_guardc();
    let mut problems = String::new();
    for name in pages() {
        let path = root().join(&name);
        let page = std::fs::read_to_string(&path).expect("a page");
        let again = Player::new(&guardc, &name, &page).page(&page);
        problems.extend(render::compare(&path, &again));
    }
    assert!(problems.is_empty(), "{problems}\nGUARD_BLESS=1 accepts what is printed now");
}

/// Plays the blocks of one page.
struct Player<'a> {
    guardc: &'a Path,
    folder: PathBuf,
    own_folder: bool,
    sidecar: Option<Sidecar>,
}

impl Drop for Player<'_> {
    fn drop(&mut self) {
        if self.own_folder {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

impl<'a> Player<'a> {
    fn new(guardc: &'a Path, path: &str, page: &str) -> Player<'a> {
        let files = blocks(page).iter().any(|block| block.file().is_some());
        let own_folder = path.starts_with("docs/guide/") && files;
        let folder = if own_folder {
            let name = path.rsplit('/').next().unwrap_or_default();
            let folder = std::env::temp_dir().join(format!("guard-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a temporary folder");
            folder
        } else {
            root()
        };
        Player { guardc, folder, own_folder, sidecar: None }
    }

    /// The page with what its commands and messages print now.
    fn page(&mut self, page: &str) -> String {
        let mut out = String::new();
        let mut next = 0;
        let lines: Vec<&str> = page.lines().collect();
        for block in blocks(page) {
            lines[next..block.line].iter().for_each(|line| out.extend([line, "\n"]));
            next = block.line + block.lines.len();
            if let (Some(file), true) = (block.file(), self.own_folder) {
                std::fs::write(self.folder.join(file), block.text()).expect("a writable folder");
            }
            match block.info {
                "console" => self.console(&block, &mut out),
                "json" if block.lines.iter().any(|l| l.starts_with("--> ")) => {
                    self.conversation(&block, &mut out);
                }
                _ => out.push_str(&block.text()),
            }
        }
        lines[next..].iter().for_each(|line| out.extend([line, "\n"]));
        out
    }

    fn console(&self, block: &Block, out: &mut String) {
        for command in block.lines.iter().filter_map(|line| line.strip_prefix("$ ")) {
            let _ = writeln!(out, "$ {command}");
            out.push_str(&self.run(command));
        }
    }

    /// Runs a command and returns its output, standard output first.
    fn run(&self, command: &str) -> String {
        let beside = self.guardc.parent().expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(beside.to_owned()).chain(std::env::split_paths(&path));
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.folder)
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env("GUARDC", self.guardc)
            .env_remove("NO_COLOR")
            .env_remove("FORCE_COLOR")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell");
        let printed = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&printed).trim_end().to_owned();
        if text.is_empty() { text } else { text + "\n" }
    }

    /// Asks every question again.
    fn conversation(&mut self, block: &Block, out: &mut String) {
        let sidecar = self.sidecar.get_or_insert_with(|| {
            Sidecar::start(Command::new(self.guardc).arg("serve").current_dir(&self.folder))
        });
        let mut lines = block.lines.iter().peekable();
        while let Some(line) = lines.next() {
            let Some(first) = line.strip_prefix("--> ") else { continue };
            let mut question = first.to_owned();
            let more = |line: &&str| !line.starts_with("--> ") && !line.starts_with("<--");
            while let Some(line) = lines.next_if(|line| more(line)) {
                question.extend(["\n", line]);
            }
            let answer = serve::laid_out(sidecar, &question.replace('\n', " "));
            let _ = writeln!(out, "--> {question}\n<-- {answer}");
        }
    }
}
