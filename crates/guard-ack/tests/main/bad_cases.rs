//! Tests of the messages about cases that cannot be read: the position, the problem and the
//! suggestion.

use guard_ack::case::parse;

const GOOD: &str = r#"clause = "GATE-1"
claim = "a claim"
needs = ["tool_policies"]
guard = "guard g"

[[turn]]
calls = [{ id = "a", tool = "t" }]

[[turn]]
sees = [{ call = "a", has = "x" }]
stop = true

[expect]
executed = ["a"]
ended = "stopped"
"#;

fn said(from: &str, to: &str) -> String {
    let text = GOOD.replacen(from, to, 1);
    assert_ne!(text, GOOD, "`{from}` does not stand in the case");
    let problems = parse("gate/bad", &text, 1).expect_err("it is a good case");
    problems.iter().map(|it| format!("{}: {it}", it.line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_good_one_is_good() {
    assert!(parse("gate/good", GOOD, 1).is_ok());
}

#[test]
fn a_typo_has_its_line_and_a_near_miss() {
    let check = |from, to, expected: &str| assert_eq!(said(from, to), expected);
    check(
        "clause = ",
        "cluse = ",
        "1: unknown field `cluse`, expected one of `clause`, `claim`, `needs`, `since`, `hint`, `tags`, `guard`, `policy`, `start`, `data`, `contract`, `tools`, `world`, `kills`, `turn`, `expect`, `run`; did you mean `clause`?",
    );
    check("GATE-1", "GATES-1", "1: there is no clause `GATES-1`; did you mean `GATE-1`?");
    check(
        "tool_policies",
        "tool_polices",
        "3: there is no capability `tool_polices`; did you mean `tool_policies`?",
    );
    check("GATE-1", "DONE-1", "1: `DONE-1` is a clause of `completion`, not of `gate`");
    check("\"stopped\"", "\"stoped\"", "15: no loop ends `stoped`; did you mean `stopped`?");
    check(
        "executed = [\"a\"]",
        "executed = [\"b\"]",
        "14: no call before has the id `b`; did you mean `a`?",
    );
    check(
        "stop = true",
        "stop = false",
        "6: a turn either makes `calls` or has `stop = true`\n6: the last turn of a run is a stop",
    );
    check("a claim", "<<wrd:x>>", "2: there is no placeholder of kind `wrd`; did you mean `word`?");
    check("a claim", "<<word:x", "2: `<<` without `>>` on its line");
    check("has = \"x\"", "times = 1", "10: `sees` needs `has` or `lacks`");
    check(
        "tool = \"t\"",
        "tool = \"t\", takes = \"5 min\"",
        "7: `5 min` is not a duration; write `30s`, `5m` or `1h30m`",
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let text = GOOD
        .replace("GATE-1", "NONE")
        .replace("tool_policies", "nothing")
        .replace("\"stopped\"", "\"never\"");
    assert_eq!(parse("gate/bad", &text, 1).expect_err("it is bad").len(), 3);
}
