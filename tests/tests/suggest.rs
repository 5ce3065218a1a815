//! Laws of suggested guards: whatever the sessions hold, the guard compiles as it is formatted, is the same every time, holds
//! no secret, and denies nothing that was allowed in them.

use guard_draft::suggest::{SessionObserver, Suggestion};
use guard_plan::LoadedPlan;
use guard_plan::random::Rng;
use guard_plan::record::Record;
use guard_plan::verdict::Decision;
use guard_tests::compiled;
use guard_trace::import::{Form, Importer};
use guard_trace::replay::{Judge, Options, Replay};
use std::collections::BTreeMap;

/// Names of tools: words of the language, of its expressions, and what is no name at all.
const TOOLS: [&str; 24] = [
    "tool",
    "policy",
    "deny",
    "when",
    "each",
    "commands",
    "null",
    "read",
    "write",
    "Bash",
    "bash",
    "mcp__x__y",
    "a b",
    "a\"b",
    "x\\y",
    "*/",
    "// z",
    "tool z()",
    "",
    "a\nb",
    "1st",
    "-n",
    "übel",
    "{x}",
];

/// Names of parameters, likewise.
const PARAMS: [&str; 32] = [
    "when",
    "because",
    "historically",
    "null",
    "each",
    "workspace",
    "now",
    "elapsed",
    "result",
    "len",
    "commands",
    "command",
    "path",
    "file_path",
    "url",
    "id",
    "order_id",
    "secret",
    "api_key",
    "in",
    "if",
    "1st",
    "-n",
    "a-b",
    "a b",
    "é",
    "in_",
    "text",
    "amount",
    "count",
    "some",
    "of",
];

/// A secret that stands in some arguments.
const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn value(rng: &mut Rng, kind: usize, depth: u32) -> String {
    let texts = [
        "dev",
        "prod",
        "",
        "in progress",
        "a\\\"b",
        "{x}",
        "\\u202etxet",
        "kim@example.com",
        "/workspace/a.rs",
        "/workspace/../etc",
        "/etc/passwd",
        "src/b.rs",
        "..",
        "https://docs.rs/x",
        "https://docs.rs:80/a?b#c",
        "http://evil.example",
        "https://u:p@h/",
        "2026-01-05T09:00:00Z",
        "ls -l",
        "git status && cargo test",
        "rm $X",
        "$(x)",
        "cat a | sh",
        "for f in a; do echo $f; done",
        SECRET,
        "\\u0000",
        "a\\\\b",
    ];
    match kind {
        0 => ["true", "false"][rng.below(2)].into(),
        1 => ["0", "1", "-5", "42", "9223372036854775807", "-9223372036854775808"][rng.below(6)]
            .into(),
        2 => ["0.5", "1e3", "5.0", "1e99", "0.0000001", "-0", "9999999999999"][rng.below(7)].into(),
        3 => "null".into(),
        4 if depth < 7 => {
            let kind = rng.below(13);
            let items: Vec<String> =
                (0..rng.below(3)).map(|_| value(rng, kind, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        5 if depth < 7 => {
            let names = ["k", "when", "a-b", "token", "n", "command"];
            let members: BTreeMap<&str, String> = (0..rng.below(3))
                .map(|_| {
                    let name = names[rng.below(6)];
                    let kind = rng.below(13);
                    (name, value(rng, kind, depth + 1))
                })
                .collect();
            let members: Vec<String> =
                members.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
            format!("{{{}}}", members.join(","))
        }
        // Texts of one sort, or of all.
        _ => {
            let (first, count) =
                [(0, 3), (8, 3), (13, 2), (17, 1), (18, 2), (18, 5), (0, 27)][kind % 7];
            format!("\"{}\"", texts[first + rng.below(count)])
        }
    }
}

/// A log of mixed sessions, a call a line.
fn log(rng: &mut Rng) -> Vec<String> {
    let text = |text: &str| guard_plan::json::Json::string(text).to_string();
    // Few tools with few parameters, of mostly one kind each: else nothing would ever hold.
    let tools: Vec<&str> = (0..1 + rng.below(5)).map(|_| TOOLS[rng.below(24)]).collect();
    let params: Vec<(&str, usize)> =
        (0..1 + rng.below(5)).map(|_| (PARAMS[rng.below(32)], rng.below(20))).collect();
    let strange = rng.below(4) == 0;
    (0..rng.below(60))
        .map(|_| {
            let tool = tools[rng.below(tools.len())];
            let mut args = BTreeMap::new();
            for (name, kind) in &params {
                let kind = if strange && rng.below(8) == 0 { rng.below(20) } else { *kind };
                if rng.below(8) != 0 {
                    args.insert(*name, value(rng, kind, 0));
                }
            }
            let args: Vec<String> = args.iter().map(|(k, v)| format!("{}:{v}", text(k))).collect();
            let outcome = ["success", "success", "success", "failure", "denied"][rng.below(5)];
            format!(
                "{{\"session\":\"s{}\",\"tool\":{},\"args\":{{{}}},\"outcome\":\"{outcome}\"}}",
                rng.below(4),
                text(tool),
                args.join(",")
            )
        })
        .collect()
}

/// The records of a log, by session.
fn records(log: &[String]) -> Vec<(String, Record)> {
    let mut importer = Importer::new(Some(Form::Plain), "log", "s");
    let mut records = Vec::new();
    for (number, line) in (1..).zip(log) {
        importer.line(number, line.as_bytes(), &mut |session, record| {
            records.push((session.to_owned(), record));
        });
    }
    records
}

fn suggested(records: &[(String, Record)], min_support: u64) -> Suggestion {
    let mut observer = SessionObserver::new();
    records.iter().for_each(|(session, record)| observer.record(session, record));
    observer.suggestion("drawn", min_support)
}

/// Returns how many allowed calls a guard denies when it decides the sessions again.
fn denied(guard: &str, records: &[(String, Record)]) -> u64 {
    let output = compiled(guard).unwrap_or_else(|| panic!("it has errors:\n{guard}"));
    let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("what compiles loads");
    let judge = Judge::new(loaded).expect("a judge");
    let options = Options { keys: None, keep: 0, marks: 0, foreign: true };
    let mut sessions: BTreeMap<&str, Replay<'_>> = BTreeMap::new();
    for (session, record) in records {
        match sessions.get_mut(&**session) {
            Some(replay) => replay.record(record.clone(), None).expect("the event is taken"),
            None => {
                let begun = Replay::begin(&judge, options, record.clone(), None);
                sessions.insert(session, begun.expect("it opens"));
            }
        }
    }
    let shifts = sessions.into_values().map(|replay| {
        let view = replay.end().recorded;
        let unsaid = &view.unsaid;
        assert_eq!((unsaid.world, unsaid.secrets, unsaid.after), (0, 0, 0), "{guard}");
        let lost = view.decisions.iter().filter(|shift| shift.then == Decision::Allow);
        lost.map(|shift| shift.count).sum::<u64>()
    });
    shifts.sum()
}

#[test]
fn nothing_that_was_allowed_is_denied() {
    let mut rules = 0;
    let mut lists = 0;
    let mut undeclarable = 0;
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let log = log(&mut rng);
        let records = records(&log);
        let min_support = 1 + rng.below(6) as u64;
        let suggestion = suggested(&records, min_support);
        let shown = || format!("seed {seed}\n{}\n{}", log.join("\n"), suggestion.text);
        assert_eq!(suggestion, suggested(&records, min_support), "{}", shown());
        assert!(!suggestion.text.contains(SECRET), "{}", shown());
        assert!(!suggestion.text.contains("kim@"), "{}", shown());
        if suggestion.tools == 0 {
            continue;
        }
        let formatted = guard_syntax::format(&suggestion.text);
        let formatted = formatted.unwrap_or_else(|_| panic!("{}", shown()));
        let passed = suggestion.unseen.undeclarable + suggestion.unseen.nameless;
        assert_eq!(denied(&formatted, &records), passed, "{}", shown());
        rules += suggestion.rules;
        lists += usize::from(suggestion.text.contains(" in {"));
        undeclarable += suggestion.unseen.undeclarable;
    }
    assert!(rules > 5_000 && lists > 100 && undeclarable > 50, "{rules} {lists} {undeclarable}");
}
