//! Any bytes as a producer's text: never a panic, the same in pieces as whole, every byte in one span, and what survives
//! is what the text holds.

#![no_main]

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_contract::{Checker, Input};
use guard_plan::json::Json;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const GUARD: &str = r#"guard fuzz
record Step { text: string max 20, done: bool? }
record Finding { rank: int in 0..=99, id: string matches /^[a-z]+$/, data: json?, steps: list<Step> }
record Note { note: string }
contract Report {
  summary: string max 200
  items findings: Finding max 3 by rank
  items findings.steps: Step max 2
  items notes: Note
  bounds { depth 6, string 100, bytes 300B, quarantine 5 }
}
"#;

static CHECKER: LazyLock<Checker> = LazyLock::new(|| {
    let root = SourceFile { path: "fuzz.guard".into(), text: GUARD.into() };
    let compilation = compile(root, &mut NoFiles);
    let output = compilation.output.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics));
    Checker::new(&output.plan, 0).expect("it can be made ready")
});

fuzz_target!(|bytes: &[u8]| {
    let Some((size, text)) = bytes.split_first() else { return };
    let report = CHECKER.check(text, &Input::none());
    let mut at = 0;
    for span in &report.spans {
        assert_eq!(span.at.start, at);
        assert!(span.at.end > at);
        at = span.at.end;
    }
    assert_eq!(at, text.len() as u64);
    let findings = &report.items["findings"];
    assert!(findings.len() <= 3 && report.quarantined.len() <= 5);
    for item in findings.iter().filter(|item| !item.repaired) {
        let raw = &text[item.at.start as usize..item.at.end as usize];
        // What was put together from its members need not read as a whole.
        if let Ok(read) = Json::parse_bytes(raw) {
            assert_eq!(read.get("id"), item.value.get("id"));
        }
    }
    let mut feed = CHECKER.feed();
    for piece in text.chunks(usize::from(*size) + 1) {
        feed.push(piece, &Input::none());
    }
    assert_eq!(feed.finish(&Input::none()), report);
});
