//! Command lines under `std.shell`: those that agents write every day pass, the ways around a rule do not.
//!
//! `suite/shell/pass.txt` and `deny.txt` hold one case a line; `␤` stands for a new line, `␍` for a carriage return.

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::verdict::Decision;
use guard_runtime::{Arguments, Kernel, NoWorld, Proposal};
use std::path::Path;

const GUARD: &str = "guard lines

use std.shell

tool bash(command: command) {
  tags runs_command
}
";

fn kernel(text: &str) -> Kernel {
    let file = SourceFile { path: "lines.guard".into(), text: text.into() };
    let output = compile(file, &mut NoFiles).output.expect("a guard that compiles");
    Kernel::new(LoadedPlan::from_plan(output.plan, output.sources).unwrap()).unwrap()
}

/// Returns whether a guard allows a line, in a session of its own.
fn allows(kernel: &Kernel, line: &str) -> bool {
    let text = line.replace('␤', "\n").replace('␍', "\r");
    allows_args(kernel, vec![("command".into(), Json::String(text.into()))])
}

/// Returns whether a guard allows a call with two lines.
fn allows_both(kernel: &Kernel, command: &str, other: &str) -> bool {
    let text = |name: &str, text: &str| (name.into(), Json::String(text.into()));
    allows_args(kernel, vec![text("command", command), text("other", other)])
}

fn allows_args(kernel: &Kernel, arguments: Vec<(Box<str>, Json)>) -> bool {
    let arguments = Json::Object(arguments);
    let session = kernel.open("s", 0, "/work/project").expect("a session");
    let args = Arguments::Read(&arguments);
    let proposal = Proposal { call: "c", tool: "bash", args, now: 0 };
    kernel.check(&session, &proposal, &mut NoWorld).verdict.decision == Decision::Allow
}

/// Names each line of a list that is decided otherwise.
fn judge(list: &str, allowed: bool) {
    let kernel = kernel(GUARD);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/shell").join(list);
    let text = std::fs::read_to_string(path).expect("a list of lines");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 150, "{list} has {} lines", lines.len());
    let wrong: Vec<&str> =
        lines.into_iter().filter(|line| allows(&kernel, line) != allowed).collect();
    assert!(wrong.is_empty(), "{list}, decided otherwise:\n{}", wrong.join("\n"));
}

#[test]
fn ordinary_lines_pass() {
    judge("pass.txt", true);
}

#[test]
fn ways_around_are_denied() {
    judge("deny.txt", false);
}

#[test]
fn unknown_commands_are_denied_unless_a_rule_asks() {
    let tool =
        |rules: &str| kernel(&format!("guard t\n\ntool bash(command: command) {{{rules}}}\n"));
    let silent = tool("");
    assert!(allows(&silent, "rm x"));
    assert!(!allows(&silent, "rm $x"));
    assert!(!allows(&silent, "$x"));
    assert!(!allows(&silent, "("));
    let asks = "\n deny when any c in commands(command): not c.literal and c.program != \"echo\"\n";
    assert!(allows(&tool(asks), "echo $x"));
    assert!(!allows(&tool(asks), "rm $x"));
    assert!(!allows(&tool(asks), "$x"));
    let both = "\n deny when any c in commands(command): not c.certain and not c.literal and c.written == \"a\"\n";
    assert!(allows(&tool(both), "$x"));
    let shadow =
        "\n shadow deny when any c in commands(command): not c.certain and not c.literal\n";
    assert!(!allows(&tool(shadow), "$x"));
    let listed =
        "\n deny unless all c in commands(command): c.program in {\"ls\"} or c.certain and false\n";
    assert!(allows(&tool(listed), "ls; /bin/../bin/ls"));
    for line in ["$x", "(", "./ls", "PATH=x ls", "ls | $x", "ls() { rm x; }; ls", "l?"] {
        assert!(!allows(&tool(listed), line), "{line}");
    }
    let two = |rules: &str| {
        kernel(&format!("guard t\n\ntool bash(command: command, other: command) {{{rules}}}\n"))
    };
    let other = "\n deny when (any d in commands(other): not d.certain or not d.literal) or any c in commands(command): c.program == \"dd\"\n";
    assert!(!allows_both(&two(other), "$x", "ls"));
    assert!(!allows_both(&two(other), "ls", "$x"));
    assert!(allows_both(&two(other), "ls", "ls"));
    let nested = "\n deny when any c in commands(command): any d in commands(other): not d.certain and not d.literal and c.program == \"dd\"\n";
    assert!(!allows_both(&two(nested), "$x", "ls"));
    assert!(allows_both(&two(nested), "ls", "$x"));
    let inside = "\n deny when any c in commands(command): not c.literal and false\n deny unless all c in commands(command): all f in c.removes: f within \"/\"\n";
    assert!(allows(&tool(inside), "rm x"));
    assert!(!allows(&tool(inside), "rm $x"));
}
