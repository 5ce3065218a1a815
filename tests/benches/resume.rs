//! Sessions taken up again: from a whole trace, from a snapshot, and by a hook that lives for one event.
//!
//! `cargo bench -p guard-tests --bench resume`.

use divan::Bencher;
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_runtime::{
    Ending, Event, Kernel, NoWorld, Proposal, Recorder, Secrets, SessionState, Settlement,
};
use guard_trace::store::{self, Commit, Durability};
use guard_trace::{Keys, recall, remember, resume};
use std::sync::{Arc, LazyLock};

const GUARD: &str = r#"
guard shop
budget money = 100000000
state { sold: int in 0..=1000000 = 0 }
invariant bounded { sold <= 1000000 }
tool look(item: string max 40)
tool buy(item: string max 40, amount: decimal in 0..=50) {
  requires look(item)
  costs amount money
  limit 1000000 per session
  deny when amount > 40
  effect sold += 1
}
"#;

const CALLS: usize = 100_000;
const NOW: i64 = 1_767_603_600_000;

fn main() {
    divan::main();
}

struct Played {
    kernel: Kernel,
    secrets: Arc<dyn Secrets>,
    session: SessionState,
    lines: Vec<String>,
    hash: [u8; 32],
}

fn args(text: &str) -> Json {
    Json::parse(text).expect("arguments")
}

/// A session of so many calls, each proposed and settled.
static PLAYED: LazyLock<Played> = LazyLock::new(|| {
    let root = SourceFile { path: "shop.guard".into(), text: GUARD.into() };
    let output = compile(root, &mut NoFiles).output.expect("it compiles");
    let plan = LoadedPlan::from_plan(output.plan, output.sources).expect("it loads");
    let kernel = Kernel::new(plan).expect("it runs");
    let secrets: Arc<dyn Secrets> = Arc::new(Keys::new([7; 32]).session("s"));
    let mut session = kernel.open("s", NOW, "/workspace").expect("it opens");
    let mut recorder = Recorder::new(Arc::clone(&secrets));
    let mut lines = vec![text(recorder.open(&kernel, &session, None))];
    let calls =
        [("look", args(r#"{"item": "a"}"#)), ("buy", args(r#"{"item": "a", "amount": 12.5}"#))];
    for at in 0..CALLS {
        let (tool, args) = &calls[at % 2];
        let call = format!("c{at}");
        let now = NOW + at as i64;
        let events = [
            Event::Propose(Proposal { call: &call, tool, args: args.into(), now }),
            Event::Settle(Settlement { call: &call, ending: Ending::Success(None), now }),
        ];
        for event in events {
            let outcome = kernel.step(&mut session, &event, &mut NoWorld).expect("it steps");
            lines.push(text(recorder.event(&kernel, &session, &event, &outcome)));
        }
    }
    let hash = *recorder.hash();
    Played { kernel, secrets, session, lines, hash }
});

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

/// 100,000 calls, every one decided again.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn from_the_trace(bencher: Bencher) {
    let played = &*PLAYED;
    bencher.bench(|| {
        let lines = played.lines.iter().map(String::as_str);
        resume(&played.kernel, &played.secrets, lines).expect("it goes on")
    });
}

/// The same session from its snapshot.
#[divan::bench]
fn from_a_snapshot(bencher: Bencher) {
    let played = &*PLAYED;
    let seq = played.lines.len() as u64;
    let bytes =
        remember(&played.kernel, &played.session, &[], &*played.secrets, seq).expect("bytes");
    bencher.bench(|| {
        recall(&played.kernel, &played.secrets, seq, played.hash, &bytes).expect("it goes on")
    });
}

/// A process that lives for one event: open, take up, decide, commit, close. The plan is loaded before.
#[divan::bench(args = ["full", "off"], sample_count = 200, sample_size = 1)]
fn hook(bencher: Bencher, durability: &str) {
    let played = &*PLAYED;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("traces.db");
    let durability = if durability == "full" { Durability::Full } else { Durability::Off };
    let open = || store::open(&path, durability, None).expect("a store");
    let (first, keys) = open();
    let secrets: Arc<dyn Secrets> = Arc::new(keys.session("s"));
    let kernel = &played.kernel;
    let session = kernel.open("s", NOW, "/workspace").expect("it opens");
    let mut recorder = Recorder::new(Arc::clone(&secrets));
    let line = text(recorder.open(kernel, &session, None));
    let memory = remember(kernel, &session, &[], &*secrets, 1);
    let commit =
        Commit { version: 0, records: &[&line], snapshot: memory.as_deref(), charges: &[] };
    first.commit("s", &commit).expect("it commits");
    drop(first);
    let look = args(r#"{"item": "a"}"#);
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        let (store, _) = open();
        let begun = store.begin("s").expect("it begins");
        let snapshot = begun.snapshot.expect("a snapshot");
        let seq = snapshot.version;
        let mut resumed =
            recall(kernel, &secrets, seq, begun.head.hash, &snapshot.bytes).expect("it goes on");
        let call = format!("c{number}");
        let proposal =
            Proposal { call: &call, tool: "look", args: (&look).into(), now: NOW + number };
        let event = Event::Propose(proposal);
        let outcome = kernel.step(&mut resumed.session, &event, &mut NoWorld).expect("it steps");
        let line = text(resumed.recorder.event(kernel, &resumed.session, &event, &outcome));
        let memory = remember(kernel, &resumed.session, &[], &*secrets, seq + 1);
        let commit =
            Commit { version: seq, records: &[&line], snapshot: memory.as_deref(), charges: &[] };
        store.commit("s", &commit).expect("it commits");
    });
}
