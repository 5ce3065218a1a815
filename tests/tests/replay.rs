//! Laws of replay: the same plan reproduces everything; a plan that only refuses more never first allows more.

use crate::cli::build_guardc;
use crate::inputs::Folder;
use guard_plan::LoadedPlan;
use guard_plan::random::Rng;
use guard_plan::replay_report::{Aspect, View};
use guard_runtime::Kernel;
use guard_tests::{compiled, differential, generate};
use guard_trace::Keys;
use guard_trace::import::{Form, Importer};
use guard_trace::reading::Records;
use guard_trace::replay::{Judge, Options, Replay, Replayed};

/// Events of one session.
const EVENTS: usize = 30;
/// Sessions of one guard.
const SESSIONS: usize = 4;

fn loaded(text: &str) -> Option<LoadedPlan> {
    let output = compiled(text)?;
    Some(LoadedPlan::from_plan(output.plan, output.sources).expect("what compiles loads"))
}

fn replayed(judge: &Judge, keys: Option<&Keys>, lines: &[String]) -> Replayed {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut records = Records::new(text.as_bytes());
    let options = Options { keys, keep: 100, marks: 0, foreign: false };
    let mut replay = None;
    while let Some(entry) = records.next_record().expect("a record") {
        assert!(entry.flaw.is_none(), "{:?}", entry.flaw);
        match &mut replay {
            None => {
                let begun = Replay::begin(judge, options, entry.record, Some(entry.line));
                replay = Some(begun.expect("the session opens"));
            }
            Some(replay) => {
                replay.record(entry.record, Some(entry.line)).expect("the event is taken");
            }
        }
    }
    replay.expect("a trace has records").end()
}

/// Sessions of drawn guards, each with the text of its guard.
fn sessions(
    seeds: std::ops::Range<u64>,
    mut each: impl FnMut(&generate::Generated, &Judge, &[String]),
) {
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let guard = generate::guard(&mut rng);
        let text = guard.text();
        let (Some(first), Some(second)) = (loaded(&text), loaded(&text)) else { continue };
        let kernel = Kernel::new(first).expect("a kernel");
        let judge = Judge::new(second).expect("a judge");
        for _ in 0..SESSIONS {
            let events = generate::events(&mut rng, &guard, EVENTS);
            if let Some(lines) = differential::recorded(&kernel, &events) {
                each(&guard, &judge, &lines);
            }
        }
    }
}

#[test]
fn the_same_plan_reproduces_everything() {
    let keys = Keys::new([7; 32]);
    let mut total = View::default();
    let mut blind = View::default();
    sessions(0..170, |guard, judge, lines| {
        let with = replayed(judge, Some(&keys), lines);
        let shown = || format!("{:#?}\n{}\n{}", with.differences, guard.text(), lines.join("\n"));
        assert!(with.own && with.recorded.is_same(), "{}", shown());
        assert_eq!(with.recorded, with.strict, "{}", shown());
        assert_eq!((with.recorded.skipped, with.recorded.untaken), (0, 0), "{}", shown());
        assert_eq!(with.records as usize, lines.len());
        total.add(&with.recorded);
        // Without the key nothing is claimed that is not so.
        let without = replayed(judge, None, lines);
        let claimed = without.recorded.changed() + without.recorded.records;
        assert_eq!(
            claimed,
            0,
            "{:#?}\n{}\n{}",
            without.differences,
            guard.text(),
            lines.join("\n")
        );
        blind.add(&without.recorded);
    });
    assert!(total.calls > 2_000, "{total:?}");
    assert!(blind.unsaid.secrets > 50, "{blind:?}");
    assert!(blind.same > total.same / 2, "{blind:?}");
}

/// A recorded session is a test that passes, unless something of it is left out.
#[test]
fn recorded_sessions_are_tests() {
    let guardc = build_guardc();
    let folder = Folder::new("to-test");
    let guard_file = folder.0.join("g.guard");
    let trace = folder.0.join("s.jsonl");
    let run = |args: &[&std::ffi::OsStr]| {
        std::process::Command::new(&guardc).args(args).output().expect("guardc runs")
    };
    let mut whole = 0;
    let mut cut = 0;
    sessions(0..100, |guard, _, lines| {
        // Of a long session something is always left out.
        let lines = &lines[..lines.len().min(8)];
        let text = guard.text();
        std::fs::write(&guard_file, &text).expect("a guard");
        std::fs::write(&trace, lines.join("\n") + "\n").expect("a trace");
        let trace = trace.as_os_str();
        let named = guard_file.as_os_str();
        let written =
            run(&["trace".as_ref(), "to-test".as_ref(), trace, "--guard".as_ref(), named]);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        if !written.stderr.is_empty() {
            cut += 1;
            return;
        }
        whole += 1;
        let test = String::from_utf8(written.stdout).expect("text");
        std::fs::write(&guard_file, format!("{text}\n{test}")).expect("a guard");
        let tested = run(&["test".as_ref(), named]);
        let said = String::from_utf8_lossy(&tested.stdout);
        let problems = String::from_utf8_lossy(&tested.stderr);
        assert!(tested.status.success(), "{said}{problems}\n{test}\n{}", lines.join("\n"));
    });
    assert!(whole > 20, "{whole} whole, {cut} cut");
}

/// A rule that refuses more may free what comes later, but what differs first in a session is a refusal.
#[test]
fn what_only_refuses_more_first_refuses_more() {
    let keys = Keys::new([7; 32]);
    let mut refused = 0;
    sessions(0..130, |guard, _, lines| {
        let text = guard.text();
        // The tool that is called most is refused most.
        let calls = |name: &str| {
            let named = format!("\"tool\":\"{name}\"");
            lines.iter().filter(|line| line.contains(&named)).count()
        };
        let Some(tool) = guard.tools.iter().max_by_key(|tool| calls(&tool.name)) else { return };
        for more in [
            format!("policy stricter for all {{ deny when calls({}) >= 1 }}", tool.name),
            format!("policy stricter for {} {{ limit 1 per session }}", tool.name),
        ] {
            let plan = loaded(&format!("{text}\n{more}\n")).expect("a stricter guard compiles");
            let judge = Judge::new(plan).expect("a judge");
            let said = replayed(&judge, Some(&keys), lines);
            let first =
                said.differences.iter().find(|one| one.strict && one.aspect == Aspect::Decision);
            let Some(first) = first else { continue };
            refused += 1;
            // A rule that reads what a call in flight may change waits for it, also where another would deny.
            let looser = first.now == "allow" || (first.then == "deny" && first.now != "wait");
            assert!(!looser, "{first:#?}\n{text}\n{more}\n{}", lines.join("\n"));
        }
    });
    assert!(refused > 120, "{refused}");
}

/// The verdicts that a guard gives on plain calls, as if it had been there.
fn tried(guard: &str, calls: &[&str]) -> Replayed {
    let judge = Judge::new(loaded(guard).expect("the guard compiles")).expect("a judge");
    let options = Options { keys: None, keep: 100, marks: 0, foreign: true };
    let mut importer = Importer::new(Some(Form::Plain), "log", "s");
    let mut replay: Option<Replay<'_>> = None;
    for (number, line) in (1..).zip(calls) {
        importer.line(number, line.as_bytes(), &mut |_, record| match &mut replay {
            None => {
                replay = Some(Replay::begin(&judge, options, record, None).expect("it opens"));
            }
            Some(replay) => replay.record(record, None).expect("the event is taken"),
        });
    }
    replay.expect("a session").end()
}

/// An answer that nobody has is put both ways; only what comes out the same is said.
#[test]
fn what_was_not_asked_is_not_guessed() {
    let guard = "guard g
tool read(path: path)
tool write(path: path) { requires read(path) when exists(path) }
tool move(path: path) {
  deny when exists(path) because \"it is there\"
  deny unless exists(path) because \"it is not there\"
}
tool both(a: path, b: path) { deny when exists(a) and exists(b) }
tool sure(path: path) {
  deny when exists(path)
  limit 1 per session
}
";
    let call = |tool: &str, path: &str| {
        format!("{{\"tool\":\"{tool}\",\"args\":{{\"path\":\"{path}\"}}}}")
    };
    let both = "{\"tool\":\"both\",\"args\":{\"a\":\"x\",\"b\":\"y\"}}".to_owned();
    let calls = [
        call("read", "seen"),
        call("write", "seen"),
        call("write", "unseen"),
        call("move", "x"),
        both,
        call("sure", "x"),
        call("sure", "x"),
    ];
    let said = tried(guard, &calls.each_ref().map(String::as_str));
    let view = &said.recorded;
    let told: Vec<(u64, Aspect)> =
        said.differences.iter().map(|one| (one.seq, one.aspect)).collect();
    // Records: 0 opens, then a proposal and a settlement each.
    let expected = [
        (5, Aspect::Unsaid),
        (7, Aspect::Decision),
        (9, Aspect::Unsaid),
        (11, Aspect::Unsaid),
        (13, Aspect::Decision),
    ];
    assert_eq!(told, expected, "{:#?}", said.differences);
    assert_eq!((view.calls, view.same, view.unsaid.world), (7, 2, 3), "{view:?}");
    assert!(said.differences[0].because.as_ref().is_some_and(|why| why.contains("unseen")));
}

/// Whatever becomes of a trace, nothing panics, and what is not as it was is said.
#[test]
fn traces_may_be_hostile() {
    let mut rng = Rng::new(11);
    let mut refused = 0;
    let mut flawed = 0;
    sessions(0..40, |_, judge, lines| {
        let mut bytes = lines.join("\n").into_bytes();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bytes.len());
            match rng.below(4) {
                0 => bytes[at] = rng.bits() as u8,
                1 => bytes[at] = *rng.pick(b"0123456789\"{}[],:-"),
                2 => _ = bytes.remove(at),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let mut records = Records::new(&bytes[..]);
        let options = Options { keys: None, keep: 10, marks: 10, foreign: false };
        let mut replay: Option<Replay<'_>> = None;
        loop {
            let entry = match records.next_record() {
                Ok(None) => break,
                Ok(Some(entry)) => entry,
                Err(_) => {
                    flawed += 1;
                    continue;
                }
            };
            flawed += usize::from(entry.flaw.is_some());
            let fed = match &mut replay {
                Some(replay) => replay.record(entry.record, Some(entry.line)),
                None => Replay::begin(judge, options, entry.record, Some(entry.line))
                    .map(|begun| replay = Some(begun)),
            };
            refused += usize::from(fed.is_err());
        }
    });
    assert!(flawed > 100, "{flawed}");
    assert!(refused < flawed, "{refused} of {flawed}");
}
