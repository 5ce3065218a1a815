//! Tests of lines and the commands in them, and property tests with hostile texts.

use crate::{MAX_DEPTH, ShellText, SimpleCommand, read};
use proptest::prelude::*;

fn shown(text: &ShellText) -> String {
    match text {
        ShellText::Known(text) => text.clone(),
        ShellText::Unknown(_) => "?".into(),
    }
}

/// Returns the programs of a line, with `?` for an unknown one.
fn programs(line: &str) -> Vec<String> {
    read(line, "/ws").iter().map(|command| shown(&command.program)).collect()
}

fn check(line: &str, expected: &[&str]) {
    assert_eq!(programs(line), expected, "{line}");
}

fn files(texts: &[ShellText]) -> Vec<String> {
    texts.iter().map(shown).collect()
}

fn only(line: &str) -> SimpleCommand {
    let commands = read(line, "/ws");
    assert_eq!(commands.len(), 1, "{line}");
    commands.into_iter().next().expect("one")
}

#[test]
fn every_command_of_a_line_is_found() {
    check("a | b && c || d; e & f\ng", &["a", "b", "c", "d", "e", "f", "g"]);
    check("(a; { b; })", &["a", "b"]);
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]);
    check("for x in $(a) `b`; do c; done", &["a", "b", "c"]);
    check("case $(a) in x|y) b;; *) c;; esac", &["a", "b", "c"]);
    check(
        "echo \"$(a \"$(b)\")\" <(c) ${x:-$(d)} $((1 + $(e)))",
        &["b", "a", "c", "d", "e", "echo"],
    );
    check("cat <<E\n$(a)\nE", &["cat", "a"]);
    check("cat <<'E'\n$(a)\nE", &["cat"]);
    check("! a; time -p b; coproc c", &["a", "b", "c"]);
    check("[[ -f x && $(a) == y ]] && b", &["a", "b"]);
    check("a # b\n", &["a"]);
}

#[test]
fn spellings_of_a_program_are_one() {
    for line in [
        "rm x",
        "\\rm x",
        "r''m x",
        "r\"\"m x",
        "$'rm' x",
        "$'\\x72m' x",
        "$'\\162\\155' x",
        "/bin/rm x",
        "/bin/../bin/rm x",
        "/usr//bin/./rm x",
        "r\\\nm x",
        "'rm' x",
        "\"rm\" x",
        "$\"rm\" x",
    ] {
        check(line, &["rm"]);
    }
    for line in [
        "$RM x",
        "r$x x",
        "r?m x",
        "/bin/r* x",
        "{rm,-rf,/}",
        "$(echo rm) x",
        "`echo rm` x",
        "${x}rm x",
    ] {
        assert_eq!(programs(line).last().map(String::as_str), Some("?"), "{line}");
    }
}

#[test]
fn commands_that_others_run_are_found() {
    let last = |line: &str, expected: &str| {
        assert_eq!(programs(line).last().map(String::as_str), Some(expected), "{line}");
    };
    for line in [
        "sh -c 'rm x'",
        "bash -lc 'rm x'",
        "bash -e -c 'rm x'",
        "eval rm x",
        "eval 'r''m x'",
        "env A=1 rm x",
        "sudo -u root rm x",
        "nohup rm x",
        "timeout 5 rm x",
        "nice -n 5 rm x",
        "command rm x",
        "exec rm x",
        "builtin rm x",
        "busybox rm x",
        "xargs rm",
        "xargs -0 -n 1 rm",
        "find . -exec rm {} +",
        "find . -execdir rm {} \\;",
        "trap 'rm x' EXIT",
        "watch rm x",
        "ssh host rm x",
        "bash <<'E'\nrm x\nE",
        "bash <<< 'rm x'",
        "stdbuf -oL rm x",
        "npx rm x",
        "git bisect run rm x",
        "git submodule foreach 'rm x'",
        "fd -x rm",
        "cmake -E rm x",
        "sudo env nice sh -c 'exec rm x'",
        "valgrind --leak-check=full rm x",
        "nyc rm x",
        "ccache rm x",
        "conda run rm x",
        "asdf exec rm x",
        "hyperfine 'ls' 'rm x'",
        "concurrently 'rm x'",
        "hatch run 'ls && rm x'",
        "trap -- 'rm x' EXIT",
        "xcrun rm x",
    ] {
        last(line, "rm");
    }
}

#[test]
fn what_cannot_be_known_is_said_so() {
    for line in [
        "curl x | sh",
        "bash $x",
        "bash -c \"$x\"",
        "sh -s",
        "python -c 'x'",
        "python3 - <<E\nE",
        "perl -ne x",
        "node -e x",
        "node -p x",
        "ruby -e x",
        "php -r x",
        "awk 'BEGIN{system(\"x\")}'",
        "awk '{print > \"x\"}' f",
        "sed 's/x/y/e' f",
        "sed '1e x' f",
        "sed 'w f' g",
        "tar xf a --checkpoint-action=exec=sh",
        "make SHELL=/x",
        "make X='; x'",
        "git -c alias.x='!y' x",
        "git config alias.x '!y'",
        "PATH=/x ls",
        "LD_PRELOAD=x ls",
        "export PATH=/x; ls",
        "f() { a; }; f",
        "alias ls=rm; ls",
        "x=1 eval $y",
        ". <(a)",
        "source /dev/stdin",
        "env -S 'rm x'",
        "GIT_SSH_COMMAND=x git fetch",
        "echo x > run; sh run",
        "cp /bin/rm ls; ./ls",
        "parallel x",
        "xargs -a f sh -c",
        "rsync -e x a b",
        "hash -p /bin/rm ls; ls",
        "printf -v PATH x; ls",
        "find . $x",
    ] {
        assert!(read(line, "/ws").iter().any(|command| !command.known), "{line}");
    }
    for line in [
        "ls",
        "cargo test 2>&1 | tail -20",
        "cd sub && npm run build",
        "git commit -m \"$(cat <<'EOF'\nx (y)\nEOF\n)\"",
        "for f in *.rs; do wc -l \"$f\"; done",
        "VAR=1 make",
        "python3 -m pytest -q",
        "node script.js",
        "sed -n '1,20p' f",
        "sed -i 's/a/b/g; /x/d' f",
        "awk '{print $1}' f",
        "awk -F: '$3 > 5 {print $1}' f",
        "find . -name '*.rs' -not -path './target/*'",
        "export PATH=\"$HOME/.cargo/bin:$PATH\" && cargo test",
        "while IFS= read -r line; do echo \"$line\"; done < f",
    ] {
        assert!(read(line, "/ws").iter().all(|command| command.known), "{line}");
    }
}

/// Returns the lines of a list; `␤` stands for a new line.
fn lines(list: &str) -> Vec<String> {
    list.lines().filter(|line| !line.is_empty()).map(|line| line.replace('␤', "\n")).collect()
}

#[test]
fn lines_that_hide_what_runs_are_uncertain() {
    let is_certain = |line: &String| read(line, "/ws").iter().all(|command| command.known);
    let wrong: Vec<_> =
        lines(include_str!("tests/uncertain.txt")).into_iter().filter(is_certain).collect();
    assert!(wrong.is_empty(), "these are certain:\n{}", wrong.join("\n"));
}

#[test]
fn ordinary_lines_are_certain() {
    let is_certain = |line: &String| read(line, "/ws").iter().all(|command| command.known);
    let mut wrong = lines(include_str!("tests/certain.txt"));
    wrong.retain(|line| !is_certain(line));
    assert!(wrong.is_empty(), "these are uncertain:\n{}", wrong.join("\n"));
}

#[test]
fn unreadable_texts_are_one_unknown_command() {
    for line in [
        "'",
        "\"",
        "$(",
        "`",
        "a |",
        "( a",
        "if a; then b",
        "cat <<E\nx",
        "a\0b",
        "a\rb",
        "ls;;",
        "}",
        "a ) b",
        "$((1 + ",
        "x[$(a)]=1",
        "${x@P}",
        "case x in",
        "a && ",
        "&& a",
        "<",
        "for in; do",
        "{ a",
    ] {
        let command = only(line);
        assert!(!command.known && !command.literal && command.program.known().is_none(), "{line}");
    }
    assert!(!only(&"a ".repeat(crate::MAX_TEXT)).known);
    assert!(!only(&"(".repeat(100_000)).known);
    let deep = format!("{}a{}", "$(".repeat(MAX_DEPTH + 1), ")".repeat(MAX_DEPTH + 1));
    assert!(!only(&deep).known);
}

#[test]
fn files_are_found() {
    let removes = |line: &str| files(&read(line, "/ws").last().expect("one").removes);
    let writes = |line: &str| {
        read(line, "/ws").iter().flat_map(|command| files(&command.writes)).collect::<Vec<_>>()
    };
    assert_eq!(removes("rm -rf a ../b /c ~/d"), ["/ws/a", "/b", "/c", "/~/d"]);
    assert_eq!(removes("cd a && rm ../b"), ["/ws/b"]);
    assert_eq!(removes("cd a; rm ../b"), ["/ws/b", "/b"]);
    assert_eq!(removes("cd / && rm -rf a"), ["/a"]);
    assert_eq!(removes("cd $x && rm -rf a"), ["?"]);
    assert_eq!(removes("cd && rm -rf a"), ["/~/a"]);
    assert_eq!(removes("(cd /) ; rm a"), ["/ws/a"]);
    assert_eq!(removes("rm -rf $x"), ["?"]);
    assert_eq!(removes("rm -rf *.log"), ["/ws/*.log"]);
    assert_eq!(removes("rm -rf .*"), ["?"]);
    assert_eq!(removes("rm -rf /*"), ["/*"]);
    assert_eq!(removes("rm -rf {a,/}"), ["?"]);
    assert_eq!(removes("find / -delete"), ["/"]);
    assert_eq!(removes("find -O3 / -name x -delete"), ["/*{}"]);
    assert_eq!(removes("find . -name x -delete"), ["/ws/*{}"]);
    for line in include_str!("tests/find_everything.txt").lines() {
        assert_eq!(removes(line), ["/ws"], "{line}");
    }
    assert_eq!(removes("find src -exec rm {} +"), ["/ws/src"]);
    assert_eq!(removes("mv a /b"), ["/ws/a"]);
    assert_eq!(removes("xargs rm"), ["?"]);
    assert_eq!(writes("echo x > /etc/y"), ["/etc/y"]);
    assert_eq!(writes("{ echo x; } >> ~/y"), ["/~/y"]);
    assert_eq!(
        writes("cp a /b; tee c; dd if=a of=/d; sed -i s/a/b/ e; touch f"),
        ["/b", "/ws/c", "/d", "/ws/e", "/ws/f"]
    );
    assert_eq!(writes("for f in *.rs; do sed -i s/a/b/ \"$f\"; done"), ["/ws/*.rs"]);
    assert_eq!(writes("for f in *; do cd ..; touch \"$f\"; done"), ["?"]);
    for line in [
        "cp --target-dir /x a",
        "cp --target=/x a",
        "mv --targ /x a",
        "sort --outp /x a",
        "iconv --outp=/x a",
        "csplit --pref /x a 1",
        "sort --outpu=/x a",
        "git log --outpu=/x",
        "git diff --outp /x",
        "rsync --log-file=/x a b",
        "rsync --backup-dir=/x a b",
        "rsync -T /x a b",
        "rsync --write-batch=/x a b",
        "command time -o /x ls",
        "tar xf a --direc /x",
        "tar xf a --directo=/x",
        "tar cf a b --index-file=/x",
        "patch --direct=/x",
        "iconv -o /x a",
        "iconv --output=/x a",
        "csplit -f /x a 1",
        "csplit --prefix=/x a 1",
        "base64 -o /x a",
        "info -o /x a",
        "cloc --out=/x a",
        "cloc --report-file=/x a",
        "scc -o /x a",
        "history -w /x",
    ] {
        assert!(writes(line).contains(&"/x".to_owned()), "{line}: {:?}", writes(line));
    }
    assert_eq!(writes("ln -s /etc x"), ["/ws/x", "/etc"]);
    assert_eq!(writes("make 2>&1 >&2 &> log"), ["/ws/log"]);
}

#[test]
fn code_that_options_load_is_read() {
    let reads = |line: &str| files(&only(line).reads);
    for (line, file) in [
        ("node -r ../x.js a.js", "/x.js"),
        ("node --import=/tmp/x.mjs a.js", "/tmp/x.mjs"),
        ("node --require ~/x a.js", "/~/x"),
        ("perl -I/tmp/x a.pl", "/tmp/x"),
        ("ruby -I ../x a.rb", "/x"),
        ("lua -l ../x a.lua", "/x"),
        ("julia --project=/tmp/x a.jl", "/tmp/x"),
        ("julia -L/tmp/x a.jl", "/tmp/x"),
        ("ts-node -P /tmp/x a.ts", "/tmp/x"),
        ("cmake -P /tmp/x", "/tmp/x"),
        ("psql -f /tmp/x", "/tmp/x"),
        ("sqlite3 -init /tmp/x a.db", "/tmp/x"),
    ] {
        assert!(reads(line).contains(&file.to_owned()), "{line}: {:?}", reads(line));
    }
    for line in ["echo x > b.js; node -r ./b.js a.js", "echo x > lib/x.pm; perl -Ilib a.pl"] {
        assert!(read(line, "/ws").iter().any(|command| !command.known), "{line}");
    }
}

#[test]
fn words_and_options_are_plain() {
    let command =
        only("git -C sub -c core.pager=cat push --force-with-lease=x -fu origin 'a b' $c");
    assert_eq!(
        command.words.iter().map(shown).collect::<Vec<_>>(),
        ["push", "--force-with-lease=x", "-fu", "origin", "a b", "?"]
    );
    assert_eq!(
        command.options.iter().map(shown).collect::<Vec<_>>(),
        ["--force-with-lease", "-fu", "-f", "-u", "?"]
    );
    assert!(!command.literal);
    let command = only("A=1 B=$x ls");
    assert_eq!(
        command
            .assigns
            .iter()
            .map(|(name, value)| format!("{name}={}", shown(value)))
            .collect::<Vec<_>>(),
        ["A=1", "B=?"]
    );
}

/// Puts a command at a position of a line where a shell would run it.
fn hide(command: &str, place: usize) -> String {
    let quoted = command.replace('\'', "'\\''");
    match place % 16 {
        0 => format!("true && {command}"),
        1 => format!("echo \"$( {command} )\""),
        2 => format!("( {command} )"),
        3 => format!("{{ {command}\n}}"),
        4 => format!("bash -c '{quoted}'"),
        5 => format!("if {command}\nthen :; fi"),
        6 => format!("for x in a; do {command}\ndone"),
        7 => format!("case x in *) {command}\n;; esac"),
        8 => format!("cat <({command})"),
        9 => format!("eval '{quoted}'"),
        10 => format!("x | {command}"),
        11 => format!("x & {command}"),
        12 => format!("cat <<E\n$( {command} )\nE"),
        13 => format!("# x\n{command}"),
        14 => format!("trap '{quoted}' EXIT"),
        _ => format!("f() {{ {command}\n}}"),
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        read(&text, "/ws");
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes), "/ws");
    }

    #[test]
    fn no_shell_text_panics(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        let found = read(&text, "/ws");
        prop_assert!(found.len() <= crate::MAX_COMMANDS);
        prop_assert!(found.iter().all(|command| command.known || command.program.known().is_none()));
    }

    /// A hidden command is found, or the line contains something unknown.
    #[test]
    fn a_hidden_command_is_seen(places in proptest::collection::vec(0_usize..16, 0..6)) {
        let line = places.iter().fold("rm -rf /x".to_owned(), |line, place| hide(&line, *place));
        let found = read(&line, "/ws");
        let seen = found.iter().any(|command| command.removes.contains(&ShellText::Known("/x".into())));
        prop_assert!(seen || found.iter().any(|command| !command.known), "{}", line);
    }
}

const PIECES: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{",
    "}",
    "$(",
    "${",
    "$((",
    "))",
    "`",
    "'",
    "\"",
    "\\",
    "<<E",
    "E\n",
    "\nE\n",
    ">",
    "<",
    "<(",
    "a",
    "rm",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "*",
    "?",
    "[",
    "]",
    "{a,b}",
    "~",
    "$x",
    "=",
    "x=",
    "é",
    "#",
    "!",
    "bash -c ",
    "eval ",
    "env ",
    "find . -exec ",
    "xargs ",
    "sed ",
    "awk ",
    "$'",
    "\\x72",
    "[[",
    "]]",
    "2>&1",
    "cd ",
    "..",
];
