//! The judge over its line protocol: what it finds in this process, it finds in another.

use crate::cli::build_guardc;
use crate::render;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Faults, each with its clause and a case that finds it for that clause, from the committed matrix.
fn faults() -> Vec<(String, String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ack/matrix.txt");
    let matrix = std::fs::read_to_string(path).expect("the matrix is there");
    let line = |line: &str| {
        let (fault, case) = line.split_once(" by its clause: ").expect("a fault and a case");
        let mut words = fault.split_whitespace();
        let clause = words.next().expect("a clause");
        let name = words.next().expect("a fault");
        (name.to_owned(), clause.to_owned(), case.to_owned())
    };
    matrix.lines().map(line).collect()
}

#[test]
fn faults_die_over_the_line_for_the_same_reason() {
    let guardc = build_guardc();
    for (fault, clause, case) in faults() {
        let out = Command::new(&guardc)
            .args([
                "ack",
                "run",
                "--seed",
                "20260105",
                "--timeout",
                "3",
                "--format",
                "json",
                "--case",
                &case,
                "--",
            ])
            .arg(&guardc)
            .args(["ack", "adapter", "--shape", "hooks", "--fault", &fault])
            .stderr(Stdio::null())
            .output()
            .expect("guardc is there");
        assert_eq!(out.status.code(), Some(1), "{fault} passes {case}");
        let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
        let outcomes = report["cases"].as_array().expect("cases");
        // An adapter that hangs or crashes shows nothing of the clause.
        let is_found = outcomes.iter().any(|outcome| {
            let findings = outcome["broken"].as_array().into_iter().flatten();
            outcome["outcome"] == "failed" && findings.clone().any(|it| it["clause"] == *clause)
        });
        assert!(is_found, "{fault}: {report}");
    }
}

/// The reference evaluator runs and ends as the cases expect, wherever it can play them.
#[test]
fn the_reference_evaluator_expects_what_the_cases_expect() {
    let guardc = build_guardc();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ack/cases");
    let mut same = 0;
    for area in std::fs::read_dir(cases).expect("the cases are there") {
        for case in std::fs::read_dir(area.expect("an area").path()).expect("an area") {
            let case = case.expect("a case").path();
            let out = Command::new(&guardc).args(["ack", "bless"]).arg(&case).output();
            let out = out.expect("guardc is there");
            let said = String::from_utf8_lossy(&out.stdout);
            assert_ne!(out.status.code(), Some(1), "{said}");
            same += usize::from(out.status.code() == Some(0));
        }
    }
    assert!(same >= 140, "only {same} cases were played");
}

/// The head of the scoreboard, with the hash of the suite, is the one that the cases have now. Its
/// rows need all adapters: `.ci/run` compares them.
#[test]
fn the_scoreboard_is_of_the_current_suite() {
    let guardc = build_guardc();
    let out = |args: &[&str]| {
        let out = Command::new(&guardc).args(args).output().expect("guardc is there");
        String::from_utf8(out.stdout).expect("text")
    };
    let report = std::env::temp_dir().join(format!("guard_scoreboard_{}", std::process::id()));
    let path = report.to_str().expect("a path of text");
    out(&[
        "ack", "run", "--case", "gate/*", "--ours", "hooks", "--format", "json", "--output", path,
    ]);
    let current = out(&["ack", "report", "--format", "scoreboard", path]);
    std::fs::remove_file(&report).expect("the report was written");
    let head = |board: &str| board.split("\n| ").next().map(str::to_owned).unwrap_or_default();
    let board = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ack/scoreboard.md");
    let committed = std::fs::read_to_string(&board).expect("the scoreboard is there");
    let expected = committed.replacen(&head(&committed), &head(&current), 1);
    let problems = render::compare(&board, &expected);
    let problems = problems.unwrap_or_default();
    assert!(problems.is_empty(), "{problems}\nGUARD_BLESS=1 accepts the current suite");
}

/// The lists of planted faults and of mutants name texts of the adapters. `.ci/run` plays them; an
/// edit that moves such a text is told here.
#[test]
fn planted_faults_and_mutants_are_of_the_current_adapters() {
    let mutants = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ack/mutants");
    for script in
        ["planted.py guardc --check", "run.py guardc python typescript --check --names sample.txt"]
    {
        let words = script.split(' ');
        let out = Command::new("python3").args(words).current_dir(&mutants).output();
        let out = out.expect("python3 is there");
        let said = [out.stdout, out.stderr].concat();
        assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&said));
    }
}

/// The output of `guardc ack run --format json` conforms to its schema, for any findings.
#[test]
fn reports_are_as_their_schema_says() {
    let guardc = build_guardc();
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/ack-report.schema.json");
    let schema = std::fs::read_to_string(path).expect("the schema is there");
    let schema = serde_json::from_str(&schema).expect("JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for more in [
        &["--ours", "proxy", "--fault", "first-reason"][..],
        &["--case", "gate/*", "--", "cat"],
        &["--ours", "hooks", "--cases", "tests/suite/cli/inputs/ack_cases"],
    ] {
        let out = Command::new(&guardc)
            .args(["ack", "run", "--format", "json"])
            .args(more)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .stderr(Stdio::null())
            .output()
            .expect("guardc is there");
        let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
        let errors: Vec<String> = validator
            .iter_errors(&report)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{more:?}: {}", errors.join("\n"));
    }
}

/// The commands of the guide, in order, each with the lines that the page shows of its output.
fn guide() -> Vec<(String, Vec<String>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/ack.md");
    let page = std::fs::read_to_string(page).expect("the guide is there");
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_shown = false;
    for line in page.lines() {
        match (line.strip_prefix("$ "), line) {
            (Some(command), _) => {
                commands.push((command.to_owned(), Vec::new()));
                is_shown = true;
            }
            (None, "```") => is_shown = false,
            (None, line) if is_shown => {
                commands.last_mut().expect("a command").1.push(line.to_owned());
            }
            (None, _) => {}
        }
    }
    commands
}

/// Returns whether a shown line stands in an output; `…` is any text of a line, and alone it is any lines.
fn stands_in(shown: &str, output: &str) -> bool {
    let holds = |line: &str| {
        shown
            .split('…')
            .try_fold(line, |rest, part| rest.split_once(part).map(|(_, rest)| rest))
            .is_some()
    };
    output.lines().any(holds)
}

/// From the sample to the badge, in an empty folder.
#[test]
fn the_path_of_the_guide_can_be_walked() {
    let guardc = build_guardc();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide-of-adapters");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", guardc.parent().expect("a folder").display());
    let commands = guide();
    assert!(commands.len() >= 10, "{commands:?}");
    for (command, shown) in commands {
        let out = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder)
            .env("PATH", &path)
            .env("GUARDC", &guardc)
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
        for line in &shown {
            assert!(stands_in(line, &said), "`{command}` does not print `{line}`:\n{said}");
        }
        let fails = shown.iter().any(|line| line.starts_with("does not conform"));
        assert_eq!(out.status.code(), Some(i32::from(fails)), "`{command}`:\n{said}");
    }
    let badge = std::fs::read_to_string(folder.join("badge.svg")).expect("a badge");
    assert!(badge.contains("in part: "), "{badge}");
    let report = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(report.contains("gate/every_reason_is_shown"));
}

/// Ways to break the Python sample: a text, what stands there instead, a case that notices, and the clause it names.
const BROKEN: [(&str, &str, &str, &str); 15] = [
    (
        "        done = kit.ask(\"tool.execute\", session=session, **call)\n",
        "        done = {\"outcome\": \"success\", \"result\": \"done\"}\n",
        "gate/allowed_call_runs_once",
        "GATE-3",
    ),
    (
        "        if said[\"verdict\"] != \"allow\":\n",
        "        if False:\n",
        "gate/denied_call_does_not_run",
        "GATE-1",
    ),
    (
        "            return joined(said[\"message\"], said[\"rendered\"])\n",
        "            return \"denied\"\n",
        "gate/denial_is_shown",
        "GATE-4",
    ),
    (
        "\"outcome\": done[\"outcome\"], \"result\": done",
        "\"outcome\": \"success\", \"result\": done",
        "gate/failed_call_does_not_count",
        "GATE-8",
    ),
    (
        "    tell(method, session, **event)\n",
        "    pass\n",
        "effects/the_users_words_reach_the_guard",
        "EFFECT-12",
    ),
    (
        "        tell(\"session.usage\", session, unit=unit, amount=amount)\n",
        "        pass\n",
        "effects/usage_is_reported",
        "EFFECT-8",
    ),
    (
        "    return kit.ask(\"clock.now\", session=session)[\"now\"]\n",
        "    return \"2026-01-05T09:00:00Z\"\n",
        "effects/windows_follow_the_clock",
        "EFFECT-9",
    ),
    (
        "joined(text if done[\"outcome\"] == \"success\" else f\"error: {text}\", settled[\"rendered\"])",
        "text",
        "steering/feedback_is_shown_next_and_once",
        "STEER-1",
    ),
    (
        "            if stop[\"decision\"] == \"allow\":\n",
        "            if True:\n",
        "completion/blocks_early_stop",
        "DONE-1",
    ),
    (
        "            messages.append({\"role\": \"user\", \"text\": stop[\"message\"]})\n",
        "            messages.append({\"role\": \"user\", \"text\": \"go on\"})\n",
        "completion/blocks_early_stop",
        "DONE-2",
    ),
    (
        "        if said[\"verdict\"] != \"allow\":\n",
        "        if said[\"verdict\"] not in (\"allow\", \"ask\"):\n",
        "boundary/refused_call_does_not_run",
        "ASK-3",
    ),
    ("        forget(session)\n", "        pass\n", "durability/reset_begins_anew", "KEEP-11"),
    (
        "guard.process.kill()\n# end",
        "threading.Event().wait()\n",
        "gate/process_ends_when_its_input_ends",
        "LOOP-12",
    ),
    (
        "guard.process.kill()\n# end",
        "sys.exit(3)\n",
        "gate/process_with_open_sessions_ends",
        "LOOP-12",
    ),
    (
        "guard.process.kill()\n# end",
        "guard.process.stdin.close()\n",
        "gate/guard_that_hangs_is_not_left_behind",
        "LOOP-12",
    ),
];

#[test]
fn a_broken_copy_of_the_sample_is_told_which_promise_it_broke() {
    let guardc = build_guardc();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ack/adapters/python/adapter.py");
    let sample = std::fs::read_to_string(sample).expect("the sample is there") + "# end";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-samples");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (at, (old, new, case, clause)) in BROKEN.iter().enumerate() {
        assert_eq!(sample.matches(old).count(), 1, "the sample has {old:?} once");
        let copy = folder.join(format!("adapter-{at}.py"));
        std::fs::write(&copy, sample.replace(old, new)).expect("it can be written");
        let out = Command::new(&guardc)
            .args(["ack", "run", "--timeout", "4", "--case", case, "--", "python3"])
            .arg(&copy)
            .stderr(Stdio::null())
            .output()
            .expect("guardc is there");
        let said = String::from_utf8_lossy(&out.stdout);
        assert_eq!(out.status.code(), Some(1), "{new:?} is not noticed\n{said}");
        let names = said.lines().any(|line| line.trim_start().starts_with(&format!("{clause}: ")));
        assert!(names && said.contains("expected") && said.contains("observed"), "{new:?}\n{said}");
        assert!(said.lines().count() < 45, "more than a screen\n{said}");
    }
}
