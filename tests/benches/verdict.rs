//! Benchmarks of a verdict of a real guard: the retail example, alone and among up to a thousand other tools.

use divan::{Bencher, black_box};
use guard_compiler::{Loader, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_runtime::{
    CallApproval, Ending, Kernel, NoWorld, Proposal, Scratch, SessionState, Settlement,
};

fn main() {
    divan::main();
}

/// For each optimizer pass: its name, rules that it improves, and the arguments of an allowed call.
const PASSES: [(&str, &str, &str); 5] = [
    (
        "simplify",
        "deny unless a <= n deny unless n <= 9 deny when (if a > 9 then true else false) deny when a in {7}",
        r#"{"a": 0, "s": "x", "xs": []}"#,
    ),
    (
        "fold",
        r#"deny when a > 2 * 60 + 5 deny when s == lower("ABC") or false deny when len("abc") == 4 and a < 0"#,
        r#"{"a": 1, "s": "some text", "xs": []}"#,
    ),
    (
        "drop",
        "deny when a > 3 and false deny when 2 < 1 and s in xs",
        r#"{"a": 1, "s": "", "xs": []}"#,
    ),
    (
        "order",
        "deny when (any x in xs: x == s) and a > 3 deny when s matches /^.*(foo|bar).*$/ and a > 3",
        r#"{"a": 1, "s": "a text of some length", "xs": ["a", "b", "c", "d", "e", "f", "g", "h"]}"#,
    ),
    (
        "merge",
        r#"deny when s matches /^rm .*$/ or s matches /^dd .*$/ or s matches /^.*mkfs.*$/ or glob(s, "**/.ssh/*")"#,
        r#"{"a": 1, "s": "cargo test --workspace", "xs": []}"#,
    ),
];

/// A guard on which one pass works, as it was lowered and optimized.
#[divan::bench(args = PASSES.iter().flat_map(|(pass, ..)| [(*pass, false), (*pass, true)]), sample_size = 500)]
fn passes(bencher: Bencher, (pass, optimized): (&str, bool)) {
    let (_, rules, args) = PASSES.iter().find(|(name, ..)| *name == pass).expect("a pass");
    let text = format!(
        "guard g\nstate {{ n: int = 0 }}\ntool work(a: int, s: string, xs: list<string> max 9) {{ {rules} }}\n"
    );
    let root = SourceFile { path: "g.guard".into(), text };
    let output = compile(root, &mut Std).output.expect("a sound guard");
    let plan = if optimized { output.plan } else { output.lowered };
    let loaded = LoadedPlan::from_plan(plan, output.sources).expect("a sound plan");
    let kernel = Kernel::new(loaded).expect("a kernel");
    let session = kernel.open("s", 0, "/ws").expect("a session");
    let args = json(args);
    let proposal = Proposal { call: "c", tool: "work", args: (&args).into(), now: 1 };
    allowed(bencher, &kernel, &session, &proposal);
}

/// Measures the decision on a proposal that is allowed.
fn allowed(bencher: Bencher, kernel: &Kernel, session: &SessionState, proposal: &Proposal<'_>) {
    let mut scratch = Scratch::default();
    let proposed = kernel.check(session, proposal, &mut NoWorld);
    assert!(proposed.verdict.reasons.is_empty(), "{:?}", proposed.verdict);
    bencher.bench_local(|| {
        black_box(kernel.check_with(session, black_box(proposal), &mut NoWorld, &mut scratch))
    });
}

/// The same call, put in flight and settled.
#[divan::bench(args = OTHERS, sample_size = 500)]
fn lookup_settled(bencher: Bencher, others: usize) {
    let kernel = retail(others);
    let mut session = conversation(&kernel);
    let args = json(r#"{"order_id": "W1"}"#);
    let order = json(
        r#"{"order_id": "W1", "user_id": "mia", "status": "pending", "items": [{"item_id": "i1", "product_id": "p", "price": 10}], "payment_history": [{"transaction_type": "payment", "amount": 10, "payment_method_id": "card_1"}]}"#,
    );
    bencher.bench_local(move || {
        let proposal =
            Proposal { call: "c", tool: "get_order_details", args: (&args).into(), now: 2 };
        black_box(kernel.propose(&mut session, &proposal, &mut NoWorld).expect("a free id"));
        let settlement = Settlement { call: "c", ending: Ending::Success(Some(&order)), now: 2 };
        black_box(kernel.settle(&mut session, &settlement, &mut NoWorld).expect("in flight"));
    });
}

/// Tools of the guard besides retail's own ten.
const OTHERS: [usize; 3] = [0, 90, 990];

/// The declarations of the shop's tools.
const TOOLS: &str = include_str!("../../specs/field/tau2/retail.tools.guard");

struct Std;

impl Loader for Std {
    fn load(&mut self, path: &str) -> Result<String, String> {
        match path {
            "retail.tools.guard" => Ok(TOOLS.to_owned()),
            path => Err(path.to_owned()),
        }
    }
}

/// The retail guard, and so many other tools with rules of their own.
fn retail(others: usize) -> Kernel {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/field/tau2/retail.guard");
    let mut text = std::fs::read_to_string(path).expect("the retail guard");
    for n in 0..others {
        text.push_str(&format!(
            "tool other_{n}(a: string, b: int) {{\n  deny when user is none\n  deny when b > {n}\n}}\n"
        ));
    }
    let root = SourceFile { path: "retail.guard".into(), text };
    let output = compile(root, &mut Std).output.expect("a sound guard");
    let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("a sound plan");
    Kernel::new(loaded).expect("a kernel")
}

fn json(text: &str) -> Json {
    Json::parse(text).expect("JSON")
}

fn call(kernel: &Kernel, session: &mut SessionState, tool: &str, args: &str, result: &str) {
    let args = json(args);
    let proposal = Proposal { call: "c", tool, args: (&args).into(), now: 1 };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("a free id");
    assert!(proposed.verdict.reasons.is_empty(), "{:?}", proposed.verdict);
    let result = json(result);
    let settlement = Settlement { call: "c", ending: Ending::Success(Some(&result)), now: 1 };
    kernel.settle(session, &settlement, &mut NoWorld).expect("in flight");
}

/// A conversation with one customer, three orders looked up.
fn conversation(kernel: &Kernel) -> SessionState {
    let mut session = kernel.open("s", 0, "/ws").expect("a session");
    call(kernel, &mut session, "find_user_id_by_email", r#"{"email": "mia@x.org"}"#, r#""mia""#);
    let methods = r#"{"payment_methods": {"card_1": {"source": "credit_card"}, "gift_1": {"source": "gift_card", "balance": 5}}}"#;
    call(kernel, &mut session, "get_user_details", r#"{"user_id": "mia"}"#, methods);
    for (id, status) in [("W1", "pending"), ("W2", "delivered"), ("W3", "pending")] {
        let order = format!(
            r#"{{"order_id": "{id}", "user_id": "mia", "status": "{status}", "items": [{{"item_id": "i1", "product_id": "p", "price": 10}}], "payment_history": [{{"transaction_type": "payment", "amount": 10, "payment_method_id": "card_1"}}]}}"#
        );
        let args = format!(r#"{{"order_id": "{id}"}}"#);
        call(kernel, &mut session, "get_order_details", &args, &order);
    }
    session
}

fn verdict(bencher: Bencher, others: usize, tool: &str, args: &str, approved: bool) {
    let kernel = retail(others);
    let mut session = conversation(&kernel);
    let args = json(args);
    if approved {
        let role = "customer";
        let by = "mia";
        let approve =
            CallApproval { tool, args: &args, role, by, expires: Some(1_000_000), now: 1 };
        kernel.approve(&mut session, &approve).expect("an approval");
    }
    let proposal = Proposal { call: "c", tool, args: (&args).into(), now: 2 };
    allowed(bencher, &kernel, &session, &proposal);
}

/// One argument, one rule on the state, one map to write later.
#[divan::bench(args = OTHERS, sample_size = 500)]
fn lookup(bencher: Bencher, others: usize) {
    verdict(bencher, others, "get_order_details", r#"{"order_id": "W1"}"#, false);
}

/// One argument, and a rule that compares it with the state.
#[divan::bench(args = OTHERS, sample_size = 500)]
fn own_data(bencher: Bencher, others: usize) {
    verdict(bencher, others, "get_user_details", r#"{"user_id": "mia"}"#, false);
}

/// An enum, a keyed requirement, two rules on an order, an approval, a limit, an effect.
#[divan::bench(args = OTHERS, sample_size = 500)]
fn cancel(bencher: Bencher, others: usize) {
    let args = r#"{"order_id": "W1", "reason": "no longer needed"}"#;
    verdict(bencher, others, "cancel_pending_order", args, true);
}

/// The same with a list, two keyed requirements and three rules.
#[divan::bench(args = OTHERS, sample_size = 500)]
fn returning(bencher: Bencher, others: usize) {
    let args = r#"{"order_id": "W2", "item_ids": ["i1"], "payment_method_id": "card_1"}"#;
    verdict(bencher, others, "return_delivered_order_items", args, true);
}
