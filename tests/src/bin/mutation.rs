//! Deliberate bugs in obligations, prover, certificates and passes, each of which some law must find.
//!
//! Prints one line a bug: where it is, which law killed it, after how many cases. Fails if one survives, or if a law fails
//! without any.

use guard_compiler::Output;
use guard_compiler::verify::{Status, verify};
use guard_plan::LoadedPlan;
use guard_plan::plan::{Plan, ProofStep};
use guard_proof::mutant;
use guard_runtime::Kernel;
use guard_tests::rng::Rng;
use guard_tests::{differential, small, walks};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Every bug: its name, and where it is.
const BUGS: &[(&str, &str)] = &[
    ("a type ends one earlier", "guard_proof::value"),
    ("an enum lacks a variant", "guard_proof::value"),
    ("cuts round the wrong way", "guard_proof::linear"),
    ("only the first effect counts", "guard_proof::effects"),
    ("effects read what others wrote", "guard_proof::effects"),
    ("nothing is observed", "guard_proof::effects"),
    ("`+=` subtracts", "guard_proof::effects"),
    ("an option fits anything", "guard_proof::effects"),
    ("a collection is never full", "guard_proof::effects"),
    ("a longer list is as long", "guard_proof::collections"),
    ("what is put in is never new", "guard_proof::collections"),
    ("what is taken out was there", "guard_proof::collections"),
    ("what is put in is not there", "guard_proof::collections"),
    ("a list loses all equal elements", "guard_proof::collections"),
    ("what is taken out stays", "guard_proof::collections"),
    ("an entry keeps its value", "guard_proof::collections"),
    ("a new entry is like the old ones", "guard_proof::collections"),
    ("a sum forgets the last element", "guard_proof::collections"),
    ("products are positive", "guard_proof::arith"),
    ("rounding is ignored", "guard_proof::arith"),
    ("a quotient is rounded down", "guard_proof::arith"),
    ("a remainder is positive", "guard_proof::arith"),
    ("the least is the greatest", "guard_proof::arith"),
    ("`implies` is `or`", "guard_proof::eval"),
    ("an `if` has one branch", "guard_proof::eval"),
    ("the right side never faults", "guard_proof::eval"),
    ("what is missing compares", "guard_proof::eval"),
    ("less is at most", "guard_proof::formula"),
    ("equal is at most", "guard_proof::formula"),
    ("a range begins one later", "guard_proof::formula"),
    ("if and only if goes one way", "guard_proof::formula"),
    ("a negation keeps its edge", "guard_proof::formula"),
    ("a monitor is assumed", "guard_proof::lib"),
    ("an invariant in shadow is assumed", "guard_proof::lib"),
    ("what is observed is assumed", "guard_proof::lib"),
    ("all texts are one", "guard_proof::encoder"),
    ("a choice takes the other", "guard_proof::encoder"),
    ("overflow is ignored", "guard_proof::encoder"),
    ("overflow begins one later", "guard_proof::encoder"),
    ("the greatest value has the other sign", "guard_proof::certificate"),
    ("an unfinished proof is one", "guard_proof::certificate"),
    ("zero is absurd", "guard_proof::certificate"),
    ("one case is enough", "guard_proof::certificate"),
    ("a type proves itself", "guard_proof::system"),
    ("a deny in shadow is given", "guard_proof::system"),
    ("a deny is not negated", "guard_proof::system"),
    ("invariants are given afterwards", "guard_proof::system"),
    ("invariants never fault", "guard_proof::system"),
    ("later parts need nothing", "guard_proof::system"),
    ("a frame forgets the second variable", "guard_proof::frame"),
    ("a needed hypothesis is dropped", "guard_compiler::verify::prover"),
    ("the prover splits two cases", "guard_compiler::verify::prover"),
    ("multipliers are swapped", "guard_compiler::verify::prover"),
    ("rows are counted from one", "guard_compiler::verify::prover"),
    ("`false and x` is x", "guard_compiler::optimize::fold"),
    ("folding loses a fault", "guard_compiler::optimize::fold"),
    ("nothing holds of nothing", "guard_compiler::optimize::fold"),
    ("order forgets faults", "guard_compiler::optimize::order"),
    ("a deny that always fires is dropped", "guard_compiler::optimize::drop"),
    ("not less is greater", "guard_compiler::optimize::simplify"),
    ("`x == false` is x", "guard_compiler::optimize::simplify"),
];

/// A law: its name, and whether case `n` of it holds; none where it has no more cases.
type Law = (&'static str, fn(u64) -> Option<Result<(), String>>);

const LAWS: &[Law] = &[
    ("spoiled certificates are refused", spoiled),
    ("four bits, everything", exhaustive),
    ("certificates are accepted", accepted),
    ("what was proved stays proved", expected),
    ("what is not so is not proved", open),
    ("optimized expressions say the same", optimized),
    ("edges, checks on", edges),
    ("kernel, plans and reference agree", agree),
];

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let only = std::env::args().nth(1);
    mutant::set("");
    for (law, case) in LAWS {
        if let Some((n, why)) = first_failure(*case) {
            println!("without any bug, `{law}` fails at {n}: {why}");
            return ExitCode::FAILURE;
        }
    }
    let mut survivors = 0;
    println!("| bug | where | killed by | case |\n| --- | --- | --- | --- |");
    for (bug, place) in BUGS.iter().filter(|(bug, _)| only.as_deref().is_none_or(|one| one == *bug))
    {
        mutant::set(bug);
        let killed = LAWS.iter().find_map(|(law, case)| Some((law, first_failure(*case)?.0)));
        mutant::set("");
        match killed {
            Some((law, n)) => println!("| {bug} | `{place}` | {law} | {n} |"),
            None => {
                survivors += 1;
                println!("| {bug} | `{place}` | **survives** | |");
            }
        }
    }
    println!("\n{} bugs, {survivors} survive", BUGS.len());
    if survivors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The first case of a law that fails, with why; a panic is a failure.
fn first_failure(case: fn(u64) -> Option<Result<(), String>>) -> Option<(u64, String)> {
    for n in 0.. {
        match catch_unwind(AssertUnwindSafe(|| case(n))) {
            Ok(None) => return None,
            Ok(Some(Ok(()))) => {}
            Ok(Some(Err(why))) => return Some((n, why)),
            Err(_) => return Some((n, "it panics".into())),
        }
    }
    None
}

fn exhaustive(n: u64) -> Option<Result<(), String>> {
    (n < 400).then(|| match small::compiled(&small::source(&mut Rng::new(n))) {
        Some(output) => small::try_all(&output, &mut small::Tried::default()),
        None => Ok(()),
    })
}

fn edges(n: u64) -> Option<Result<(), String>> {
    (n < 400).then(|| {
        let rng = &mut Rng::new(n);
        let text = walks::source(rng);
        match walks::compiled(&text) {
            Some(output) => walks::walk(&output, rng, 20, &mut walks::Tried::default()),
            None => Ok(()),
        }
    })
}

fn agree(n: u64) -> Option<Result<(), String>> {
    (n < 40).then(|| differential::run(1 + n * 1_000, 25).map(drop).map_err(|one| one.what))
}

/// The guards that the laws about certificates look at.
fn guard(n: u64) -> Option<Output> {
    let rng = &mut Rng::new(n / 2);
    if n.is_multiple_of(2) {
        walks::compiled(&walks::source(rng))
    } else {
        small::compiled(&small::source(rng))
    }
}

fn loads(plan: &Plan, output: &Output) -> Result<(), String> {
    let loaded = LoadedPlan::from_plan(plan.clone(), output.sources.clone());
    let loaded = loaded.map_err(|error| error.to_string())?;
    Kernel::new(loaded).map(drop).map_err(|error| error.to_string())
}

fn accepted(n: u64) -> Option<Result<(), String>> {
    (n < 200).then(|| guard(n).map_or(Ok(()), |output| loads(&output.plan, &output)))
}

/// Certificates that say nothing, that are cut, and that belong to something else.
fn spoiled(n: u64) -> Option<Result<(), String>> {
    (n < 200).then(|| {
        let Some(output) = guard(n) else { return Ok(()) };
        let refused = |plan: &Plan, what: &str| match loads(plan, &output) {
            Ok(()) => Err(format!("{what} is accepted")),
            Err(_) => Ok(()),
        };
        for at in 0..output.plan.proofs.len() {
            let steps = &output.plan.proofs[at].certificate.steps;
            let mut plan = output.plan.clone();
            let certificate = &mut plan.proofs[at].certificate;
            if !steps.is_empty() {
                certificate.steps.pop();
                refused(&plan, "a certificate without its last step")?;
                plan.proofs[at].certificate.steps = vec![ProofStep::Sum(Vec::new())];
                refused(&plan, "a sum of nothing")?;
            }
            if let Some(split) = steps.iter().position(|step| matches!(step, ProofStep::Split(_))) {
                let mut steps = steps.clone();
                steps.truncate(split + 2);
                plan.proofs[at].certificate.steps = steps;
                if plan.proofs[at].certificate.steps.len()
                    < output.plan.proofs[at].certificate.steps.len()
                {
                    refused(&plan, "a split of which one case is shown")?;
                }
            }
        }
        open_is_open(&output)
    })
}

/// What the prover leaves open has no certificate of one step either.
fn open_is_open(output: &Output) -> Result<(), String> {
    use guard_plan::plan::{Certificate, Claim, Proof, Row};
    for pair in &output.verification.pairs {
        if !matches!(pair.status, Status::Checked(_)) {
            continue;
        }
        for var in 0..6 {
            let mut plan = output.plan.clone();
            let claim = Claim::Preserved { tool: pair.tool, invariant: pair.invariant, part: 0 };
            let steps = vec![ProofStep::Sum(vec![(1, Row::Least(var)), (1, Row::Greatest(var))])];
            plan.proofs.push(Proof { claim, certificate: Certificate { uses: Vec::new(), steps } });
            plan.proofs.sort_by_key(|proof| proof.claim);
            if loads(&plan, output).is_ok() {
                return Err("a range that excludes nothing proves something".into());
            }
        }
    }
    Ok(())
}

/// Guards of which every invariant is proved.
fn expected(n: u64) -> Option<Result<(), String>> {
    const GUARDS: &[&str] = &[
        "state { n: int = 0 }\ninvariant i { n >= 0 }\ntool t(x: int) { deny unless x <= n\n effect n -= x }",
        "state { n: int = 0 }\ninvariant i { n >= 0 }\ntool t(x: int) { deny unless x >= 0\n effect n += x }",
        "state { s: set<string> max 5 = {} }\ninvariant i { len(s) <= 3 }\ntool t(x: string) { deny when len(s) >= 3\n effect add x to s }",
        "state { s: set<string> max 5 = {} }\ninvariant i { len(s) <= 3 }\ntool t(x: string) { effect remove x from s }",
        "state { m: map<string, int> max 5 = {} }\ninvariant i { all k, v in m: v <= 8 }\ntool t(k: string, x: int) { deny when x > 8\n effect m[k] = x }",
        "state { l: list<int> max 5 = [] }\ninvariant i { sum(x in l: x) <= 9 }\ntool t(x: int) { deny unless sum(y in l: y) + x <= 9\n effect append x to l }",
        "enum E { a, b, c }\nstate { e: E = a  n: int = 0 }\ninvariant i { e == c implies n > 2 }\ntool t() { deny unless n > 2\n effect e = c }",
        "state { o: int? = none }\ninvariant i { o is none or (o else 0) >= 3 }\ntool t(x: int) { deny unless x >= 3\n effect o = x }",
        "state { n: int = 0 }\ninvariant i { 2 * n != 7 }\ntool t(x: int in 0..=9) { effect n = x }",
        "state { a: int = 0  b: int in 0..=99 = 0 }\ninvariant i { 2 * a <= b }\ntool t(x: int) { deny unless 3 * x <= b\n deny unless x >= 0\n effect a = x }",
    ];
    let text = format!("guard expected\n{}", GUARDS.get(n as usize)?);
    Some(match walks::compiled(&text) {
        Some(output) if verify(&output.plan).pairs.iter().all(|pair| pair.status.is_proved()) => {
            Ok(())
        }
        Some(_) => Err("something that was proved is not".into()),
        None => Err("it does not compile".into()),
    })
}

/// Guards of which the invariant `i`, or else the type of `o`, is not kept by `t`, though it nearly is.
fn open(n: u64) -> Option<Result<(), String>> {
    const GUARDS: &[&str] = &[
        "type Small = int in 0..=3\nstate { o: Small? = none }\ntool t(x: int in 0..=9) { effect o = x }",
        "state { l: list<string> max 9 = []  b: bool = true }\ninvariant i { \"a\" in l implies b }\ntool t() { effect remove \"a\" from l\n effect b = false }",
        "state { s: set<string> max 9 = {\"a\"}  b: bool = false }\ninvariant i { \"a\" in s or b }\ntool t() { effect remove \"a\" from s }",
        "state { m: map<string, int> max 9 = {} }\ninvariant i { (m[\"a\"] else 0) <= 5 }\ntool t(x: int) { deny unless \"a\" in m\n effect m[\"a\"] = x }",
        "state { d: decimal in 0..=10 = 0  r: decimal in 0..=10 = 0 }\ninvariant i { 3 * r <= d }\ntool t() { effect r = d / 3 }",
        "state { n: int = 0  b: bool = false }\ninvariant i { not b or n + 1 > n }\ntool t(x: int) { effect n = x\n effect b = true }",
        "state { n: int = 0 }\ninvariant i { n + 1 > n }\ntool t(x: int) { effect n = x }",
        "state { o: int? = 3  b: bool = false }\ninvariant i { o == 3 or b }\ntool t() { effect delete o }",
        "state { b: bool = false  c: bool = false }\ninvariant i { b == c }\ntool t(f: bool) { deny when f and not c\n effect b = f }",
        "state { n: int = 0 }\ninvariant m monitor { n <= 3 }\ninvariant i { n <= 4 }\ntool t() { effect n += 1 }",
        "state { n: int = 0 }\ninvariant m shadow { n <= 3 }\ninvariant i { n <= 4 }\ntool t() { effect n += 1 }",
        "state { n: int = 0  k: int = 0 }\ninvariant m { n <= 3 }\ninvariant i { k <= 3 }\ntool t() { effect k = n }\ntool look() { trusted\n returns int in 0..=9\n observe n = result }",
        "state { p: path = \"a\"  k: int = 0 }\ninvariant m { p == \"/a\" }\ninvariant i { p == \"/a\" or k <= 3 }\ntool t(x: int) { effect k = x }",
        "state { a: int = 0  n: int = 0 }\ninvariant i { n <= 3 }\ntool t(x: int) { effect a = 1\n effect n = x }",
        "state { s: set<string> max 9 = {}  k: int in 0..=9 = 0 }\ninvariant i { len(s) <= k }\ntool t(x: string) { deny unless k >= 1\n effect remove x from s\n effect k -= 1 }",
    ];
    let text = format!("guard open\n{}", GUARDS.get(n as usize)?);
    let Some(output) = walks::compiled(&text) else {
        return Some(Err("it does not compile".into()));
    };
    let (plan, said) = (&output.plan, &output.verification);
    let of = |tool: u32| plan.tools[tool as usize].name == "t";
    let pair = said
        .pairs
        .iter()
        .find(|one| of(one.tool) && plan.invariants[one.invariant as usize].rule.owner == "i");
    let refined = said
        .refinements
        .iter()
        .find(|one| of(one.tool) && plan.state[one.var as usize].name == "o");
    let checked = match (pair, refined) {
        (Some(pair), _) => !pair.status.is_proved(),
        (None, Some(refined)) => !refined.status.is_proved(),
        (None, None) => false,
    };
    Some(if checked { Ok(()) } else { Err("it is proved, or not looked at".into()) })
}

/// Conditions that a pass rewrites, judged by the plan as lowered and by the optimized one.
fn optimized(n: u64) -> Option<Result<(), String>> {
    const CONDITIONS: &[&str] = &[
        "false and x > 0",
        "10 / x > 1 and false",
        "10 / x > 1 or true",
        "f == false",
        "false == f",
        "all y in [x, 1]: y > 0",
        "not (x < 1)",
        "not (f and x > 1)",
        "f and f",
        "if f then true else false",
        "if f then false else true",
        "x in [1]",
        "1 + 1 > x",
        "(10 / x > 1 or f) and (f or 10 / x > 1)",
        "true implies f",
        "f implies false",
        "10 / x > 1 implies true",
        "true and f",
        "x > 0 or false",
        "any y in [x]: y > 1 and true",
        "min(1, 2) > x",
        "f and 10 / x > 1",
        "10 / x > 1 and f",
        "all y in []: f",
    ];
    let condition = CONDITIONS.get(n as usize)?;
    let text = format!("guard same\ntool t(x: int, f: bool) {{ deny when {condition} }}");
    let Some(output) = walks::compiled(&text) else {
        return Some(Err(format!("`{condition}` does not compile")));
    };
    let kernel = |plan: &Plan| -> Result<Kernel, String> {
        let loaded = LoadedPlan::from_plan(plan.clone(), output.sources.clone());
        Kernel::new(loaded.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
    };
    let say = |kernel: &Kernel, x: i64, f: bool| -> Result<String, String> {
        let session = kernel.open("same", 0, "/").map_err(|error| error.to_string())?;
        let args = guard_plan::json::Json::parse(&format!("{{\"x\":{x},\"f\":{f}}}"));
        let args = args.map_err(|error| error.to_string())?;
        let proposal = guard_runtime::Proposal { call: "1", tool: "t", args: &args, now: 0 };
        Ok(format!("{:?}", kernel.check(&session, &proposal, &mut guard_runtime::NoWorld).verdict))
    };
    Some((|| {
        let (lowered, plan) = (kernel(&output.lowered)?, kernel(&output.plan)?);
        for x in -1..=3 {
            for f in [false, true] {
                if say(&lowered, x, f)? != say(&plan, x, f)? {
                    return Err(format!("`{condition}` differs at {x}, {f}"));
                }
            }
        }
        Ok(())
    })())
}
