//! A decision beside the same decision written by hand in Rust: two prerequisites, an enum argument, a balance, a count, an
//! effect on two variables, one invariant.

use divan::{Bencher, black_box};
use guard_compiler::{Loader, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_runtime::{
    Arguments, Ending, Kernel, NoWorld, Proposal, Scratch, SessionState, Settlement,
};
use std::collections::HashMap;

#[global_allocator]
static ALLOC: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

/// Tools of the guard.
const TOOLS: [usize; 3] = [1, 100, 1_000];
const ARGS: &str = r#"{"kind": "refund", "amount": 3}"#;

const GUARD: &str = "guard floor
enum Kind { sale, refund, correction }
state { balance: int = 1000000000000, booked: int = 0 }
tool login()
tool lookup()
tool book(kind: Kind, amount: int) {
  requires login, lookup
  deny when kind == correction
  deny when amount > balance
  deny when booked >= 1000000000
  effect {
    balance -= amount
    booked += 1
  }
}
invariant solvent { balance >= 0 }
";

struct NoFiles;

impl Loader for NoFiles {
    fn load(&mut self, path: &str) -> Result<String, String> {
        Err(path.to_owned())
    }
}

/// The guard among so many tools, and a session in which the prerequisites are met.
fn guarded(tools: usize) -> (Kernel, SessionState) {
    let mut text = GUARD.to_owned();
    for n in 1..tools {
        text.push_str(&format!("tool other_{n}(a: string, b: int) {{ deny when b > {n} }}\n"));
    }
    let root = SourceFile { path: "floor.guard".into(), text };
    let output = compile(root, &mut NoFiles).output.expect("a sound guard");
    let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("a sound plan");
    let kernel = Kernel::new(loaded).expect("a kernel");
    let mut session = kernel.open("s", 0, "/ws").expect("a session");
    for tool in ["login", "lookup"] {
        proposed_and_settled(&kernel, &mut session, tool, &Json::Object(Vec::new()));
    }
    (kernel, session)
}

fn proposed_and_settled(kernel: &Kernel, session: &mut SessionState, tool: &str, args: &Json) {
    let proposal = Proposal { call: "call-1", tool, args: args.into(), now: 1 };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("a free id");
    assert!(proposed.verdict.reasons.is_empty(), "{:?}", proposed.verdict);
    let settlement = Settlement { call: "call-1", ending: Ending::Success(None), now: 1 };
    black_box(kernel.settle(session, &settlement, &mut NoWorld).expect("in flight"));
}

/// The decision by the kernel, from arguments that were read.
#[divan::bench(args = TOOLS, sample_size = 1000)]
fn guard(bencher: Bencher, tools: usize) {
    let (kernel, session) = guarded(tools);
    let args = Json::parse(ARGS).expect("JSON");
    let proposal = Proposal { call: "call-1", tool: "book", args: (&args).into(), now: 2 };
    let mut scratch = Scratch::default();
    bencher.bench_local(|| {
        let proposal = black_box(&proposal);
        black_box(kernel.check_with(&session, proposal, &mut NoWorld, &mut scratch))
    });
}

/// The same from JSON text.
#[divan::bench(args = TOOLS, sample_size = 1000)]
fn guard_from_text(bencher: Bencher, tools: usize) {
    let (kernel, session) = guarded(tools);
    let mut scratch = Scratch::default();
    bencher.bench_local(|| {
        let args = Json::parse(black_box(ARGS)).expect("JSON");
        let args = Arguments::Read(&args);
        let proposal = Proposal { call: "call-1", tool: "book", args, now: 2 };
        black_box(kernel.check_with(&session, &proposal, &mut NoWorld, &mut scratch))
    });
}

/// Proposed, in flight, and settled.
#[divan::bench(args = TOOLS, sample_size = 1000)]
fn guard_propose_and_settle(bencher: Bencher, tools: usize) {
    let (kernel, mut session) = guarded(tools);
    let args = Json::parse(ARGS).expect("JSON");
    bencher.bench_local(move || {
        proposed_and_settled(&kernel, &mut session, "book", black_box(&args));
    });
}

/// The same decision by hand.
struct ByHand {
    tools: HashMap<String, usize>,
    succeeded: Vec<bool>,
    balance: i64,
    booked: i64,
}

impl ByHand {
    fn new(tools: usize) -> ByHand {
        let names = ["login", "lookup", "book"].map(String::from).into_iter();
        let names = names.chain((1..tools).map(|n| format!("other_{n}")));
        let tools: HashMap<String, usize> = names.zip(0..).collect();
        let succeeded = vec![true; tools.len()];
        ByHand { tools, succeeded, balance: 1_000_000_000_000, booked: 0 }
    }

    /// The values of the two variables after the call, or why it is refused.
    fn book(&self, kind: &str, amount: i64) -> Result<(i64, i64), &'static str> {
        if !(self.succeeded[0] && self.succeeded[1]) {
            return Err("requires login, lookup");
        }
        match kind {
            "sale" | "refund" => {}
            "correction" => return Err("no corrections"),
            _ => return Err("no such kind"),
        }
        if amount > self.balance {
            return Err("more than the balance");
        }
        if self.booked >= 1_000_000_000 {
            return Err("too many");
        }
        let balance = self.balance.checked_sub(amount).ok_or("overflow")?;
        let booked = self.booked.checked_add(1).ok_or("overflow")?;
        if balance < 0 { Err("not solvent") } else { Ok((balance, booked)) }
    }

    fn decide(&self, tool: &str, args: &serde_json::Value) -> Result<(i64, i64), &'static str> {
        let members = args.as_object().filter(|members| members.len() == 2);
        let members = members.ok_or("no object of two")?;
        let kind = members.get("kind").and_then(serde_json::Value::as_str).ok_or("no kind")?;
        let amount =
            members.get("amount").and_then(serde_json::Value::as_i64).ok_or("no amount")?;
        match self.tools.get(tool) {
            Some(2) => self.book(kind, amount),
            _ => Err("no such tool"),
        }
    }
}

/// By hand, from a `&str` and an `i64`: no names, no JSON.
#[divan::bench(args = TOOLS, sample_size = 1000)]
fn hand_typed(bencher: Bencher, tools: usize) {
    let state = ByHand::new(tools);
    bencher.bench_local(|| black_box(&state).book(black_box("refund"), black_box(3)));
}

/// By hand, from the name of the tool and JSON that was read.
#[divan::bench(args = TOOLS, sample_size = 1000)]
fn hand(bencher: Bencher, tools: usize) {
    let state = ByHand::new(tools);
    let args: serde_json::Value = serde_json::from_str(ARGS).expect("JSON");
    bencher.bench_local(|| black_box(&state).decide(black_box("book"), black_box(&args)));
}

/// By hand, from JSON text.
#[divan::bench(args = TOOLS, sample_size = 1000)]
fn hand_from_text(bencher: Bencher, tools: usize) {
    let state = ByHand::new(tools);
    bencher.bench_local(|| {
        let args: serde_json::Value = serde_json::from_str(black_box(ARGS)).expect("JSON");
        black_box(&state).decide(black_box("book"), &args)
    });
}
