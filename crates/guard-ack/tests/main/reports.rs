//! Tests of reports: they are written, read again, and refused if they are incomplete.

use guard_ack::case::CaseProblem;
use guard_ack::protocol::Declared;
use guard_ack::report::{
    Conformance, badge, diff, html, json, junit, markdown, scoreboard, standing, text,
};
use guard_ack::{
    AckReport, AdapterTrouble, BrokenPromise, CaseOutcome, CaseVerdict, TroubleKind, Unreadable,
};

fn report() -> AckReport {
    let outcome = |name: &str, verdict, known| CaseOutcome {
        name: name.into(),
        clause: "GATE-1".into(),
        claim: "A <claim> & more".into(),
        tier: 1,
        verdict,
        known,
        hint: Some("look here".into()),
        took: 1500,
        trouble: None,
        is_flaky: false,
        log: vec!["> hello {}".into()],
    };
    let broken = BrokenPromise {
        clause: "GATE-1".into(),
        at: "turn 2".into(),
        expected: "run: nothing".into(),
        observed: "run: `a` (<b>)".into(),
    };
    let known = outcome("gate/e", CaseVerdict::Passed, true);
    AckReport {
        adapter: Declared { name: "it".into(), version: "1".into(), ..Declared::default() },
        suite: "sha256:0123456789abcdef".into(),
        version: "1.1.0".into(),
        took: 2100,
        not_played: 0,
        seed: 7,
        outcomes: vec![
            outcome("gate/a", CaseVerdict::Passed, false),
            outcome("gate/b", CaseVerdict::Failed(vec![broken]), false),
            outcome(
                "gate/c",
                CaseVerdict::Errored(AdapterTrouble::new(TroubleKind::Hang, "it was silent")),
                false,
            ),
            outcome("gate/d", CaseVerdict::Skipped("parallel_calls".into()), false),
            CaseOutcome { log: Vec::new(), ..known },
        ],
        unreadable: Vec::new(),
    }
}

#[test]
fn the_four_outcomes_are_four_and_a_surprise_is_a_finding() {
    let report = report();
    let text = text::text(&report, "./it");
    for part in [
        "FAILED  gate/b",
        "expected  run: nothing",
        "observed  run: `a` (<b>)",
        "ERRORED  gate/c",
        "hang: it was silent",
        "PASSED  gate/e",
        "take it off the list",
        "it does not declare `parallel_calls`",
        "guardc ack run --case gate/b --seed 7 -- ./it",
        "5 cases in 2.1 s: 2 passed, 1 failed, 1 errored, 1 skipped",
        "often     look here",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!report.is_fine());
}

#[test]
fn what_is_written_is_read_again() {
    let mut report = report();
    report
        .outcomes
        .iter_mut()
        .filter(|one| !matches!(one.verdict, CaseVerdict::Failed(_) | CaseVerdict::Errored(_)))
        .for_each(|one| one.log.clear());
    let text = json::json(&report, "./it --fast").to_string();
    assert_eq!(json::read(&text), Ok((report, "./it --fast".into())));
}

/// A broken promise of a run that did not end is a failure, and the last messages are shown with
/// their numbers.
#[test]
fn a_silent_run_is_shown_with_its_promise_and_its_last_messages() {
    let mut report = report();
    report.outcomes.truncate(2);
    let trouble = AdapterTrouble::new(TroubleKind::Hang, "it was silent for 10 s");
    let silent = &mut report.outcomes[1];
    silent.log = (1..=7).map(|number| format!("> step {number}")).collect();
    silent.log.extend([format!("! {trouble}"), "! Traceback: gone".into()]);
    silent.trouble = Some(trouble);
    let text = text::text(&report, "./it");
    for part in [
        "FAILED  gate/b",
        "GATE-1:",
        "last        3 > step 3",
        "  7 > step 7",
        "it said   Traceback: gone",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("> step 2"), "{text}");
    report.outcomes[0].log.clear();
    let written = json::json(&report, "./it").to_string();
    assert_eq!(json::read(&written), Ok((report, "./it".into())));
}

#[test]
fn a_report_without_its_end_is_none() {
    let mut value = json::json(&report(), "./it");
    value.as_object_mut().unwrap().remove("closing");
    assert!(json::read(&value.to_string()).unwrap_err().contains("not whole"));
    let text = json::json(&report(), "./it").to_string();
    assert!(json::read(&text[..text.len() - 10]).is_err());
}

#[test]
fn markup_is_escaped() {
    let report = report();
    for markup in [junit::junit(&report, "./it"), html::html(&[(&report, "./it")])] {
        assert!(markup.contains("&lt;b&gt;") && !markup.contains("<b>)"), "{markup}");
    }
    assert!(markdown::markdown(&report, "./it").contains("run: `a` (<b>)"));
    assert!(badge::badge(&report).contains("does not conform: 3 findings"));
}

/// A report is read from a file that anybody may have written.
#[test]
fn no_text_of_a_report_is_markup() {
    let mut hostile = report();
    let bad = "`x`\n\n<script>alert(1)</script>| ![i](http://h/)\u{1b}[2J\u{202e}";
    hostile.adapter.name = bad.into();
    hostile.adapter.version = bad.into();
    hostile.suite = bad.into();
    hostile.version = bad.into();
    for outcome in &mut hostile.outcomes {
        outcome.name = format!("gate/{bad}");
        outcome.clause = bad.into();
        outcome.claim = bad.into();
        outcome.hint = Some(bad.into());
        if let CaseVerdict::Failed(broken) = &mut outcome.verdict {
            let text = || bad.to_owned();
            broken[0] =
                BrokenPromise { clause: text(), at: text(), expected: text(), observed: text() };
        }
    }
    let problem = CaseProblem { line: 1, message: bad.into(), help: Some(bad.into()) };
    hostile.unreadable =
        vec![Unreadable { name: bad.into(), file: bad.into(), problems: vec![problem] }];
    let page = html::html(&[(&hostile, bad)]);
    assert_eq!(page.matches("<script>").count(), 1, "only the script of the page");
    let board = scoreboard::scoreboard(&[(&hostile, bad)]);
    let cells = |row: &str| row.replace("\\|", "").matches('|').count();
    let rows: Vec<usize> = board.lines().filter(|line| line.starts_with('|')).map(cells).collect();
    assert_eq!(rows, vec![rows[0]; 3], "{board}");
    for line in (markdown::markdown(&hostile, bad) + &board).lines() {
        // Code may hold anything but its fence.
        let text: String = line.split("``").step_by(2).collect();
        assert!(!text.contains("<script"), "{line}");
        // A line of markup is no Markdown.
        assert!(line.starts_with("<details>") || !text.contains(" ![i]"), "{line}");
    }
    let text = text::text(&hostile, bad);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

/// A page has a section for each case, includes the script and the style, and lists the promises by
/// the cases that they explain.
#[test]
fn the_page_links_each_case_and_says_what_one_cause_explains() {
    let mut report = report();
    let mut twice = report.outcomes[1].clone();
    twice.name = "gate/z".into();
    if let CaseVerdict::Failed(broken) = &mut twice.verdict {
        broken.push(BrokenPromise { clause: "GATE-3".into(), ..broken[0].clone() });
    }
    report.outcomes.push(twice);
    let page = html::html(&[(&report, "./it")]);
    for outcome in &report.outcomes {
        let id = format!("id=\"0-{}\"", outcome.name);
        let link = format!("\"#0-{}\"", outcome.name);
        assert!(page.contains(&id) && page.contains(&link), "{id}");
    }
    for part in [
        "function sort(",
        "type=\"search\"",
        "<option>errored</option>",
        "data-outcomes=\"failed\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("src=") && !page.contains("http"), "the page needs nothing else");
    let rows: Vec<&str> =
        page.lines().filter(|line| line.contains("<details><summary>cases")).collect();
    assert!(rows[0].contains("GATE-1") && rows[0].contains("<td>2<td>1<td>"), "{rows:?}");
    assert!(rows[2].contains("GATE-3") && rows[2].contains("<td>1<td>0<td>"), "{rows:?}");
}

/// Returns a report in which these numbers of cases of each tier passed and were skipped.
fn tiers(passed: [usize; 6], skipped: usize) -> AckReport {
    let mut report = report();
    let passing = report.outcomes[0].clone();
    let skipping = report.outcomes[3].clone();
    report.outcomes.clear();
    for (tier, count) in (1..).zip(passed) {
        report.outcomes.extend(vec![CaseOutcome { tier, ..passing.clone() }; count]);
    }
    report.outcomes.extend(vec![CaseOutcome { tier: 6, ..skipping }; skipped]);
    report
}

#[test]
fn only_the_whole_suite_is_green() {
    const GREEN: &str = "#2c7a3f";
    let whole = tiers([3, 1, 1, 1, 1, 1], 0);
    assert_eq!(standing(&whole), (Conformance::Full, "conforms: all 6 tiers, 8 cases".into()));
    assert!(badge::badge(&whole).contains(GREEN));
    let one_tier = tiers([3, 0, 0, 0, 0, 0], 0);
    let one_skipped = tiers([3, 1, 1, 1, 1, 1], 1);
    let stopped_early = AckReport { not_played: 1, ..whole.clone() };
    let own_cases = AckReport { version: String::new(), ..whole };
    for report in [one_tier, one_skipped, stopped_early, own_cases] {
        let (standing, text) = standing(&report);
        assert_eq!(standing, Conformance::Partial, "{text}");
        assert!(text.starts_with("in part: "), "{text}");
        assert!(!badge::badge(&report).contains(GREEN), "{text}");
        assert!(text::text(&report, "./it").contains(&text), "{text}");
    }
    assert_eq!(standing(&tiers([0; 6], 2)).0, Conformance::NotJudged);
    assert_eq!(standing(&report()).0, Conformance::Failed);
}

#[test]
fn a_report_in_which_everything_was_skipped_is_not_fine() {
    let mut report = report();
    report.outcomes.retain(|one| matches!(one.verdict, CaseVerdict::Skipped(_)));
    assert!(!report.is_fine());
    let text = text::text(&report, "./it");
    assert!(
        text.contains("Nothing was judged: the adapter declares no capability at all."),
        "{text}"
    );
}

#[test]
fn a_case_that_passed_before_and_does_not_now_is_worse() {
    let old = report();
    let mut new = report();
    assert_eq!(diff::diff(&old, &new).text, "no difference\n");
    new.outcomes[0].verdict = new.outcomes[1].verdict.clone();
    new.outcomes[2].verdict = CaseVerdict::Passed;
    new.outcomes.remove(4);
    let changes = diff::diff(&old, &new);
    assert!(changes.is_worse);
    assert_eq!(
        changes.text,
        "worse: 2\n  gate/a: passed -> failed\n  gate/e: passed -> gone\nbetter: 1\n  gate/c: errored -> passed\n"
    );
    assert!(!diff::diff(&new, &old).text.contains("worse: 2"));
}

#[test]
fn timing_is_in_every_form() {
    let report = report();
    assert!(text::text(&report, "./it").contains("slowest: gate/a (1.5 s)"));
    assert_eq!(json::json(&report, "./it")["cases"][0]["milliseconds"], 1500);
    assert!(junit::junit(&report, "./it").contains("time=\"1.500\""));
}
