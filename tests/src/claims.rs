//! Laws of what is claimed to be proved, case by case: what deliberate bugs are held against, and tests run without any.

use crate::{
    bounded, claimed, compiled, differential, disproofs, exhausted, small, steps, walks, written,
};
use guard_compiler::CompilerOutput;
use guard_compiler::verify::{ObligationStatus, Verification, Width, verify, verify_at};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::{Certificate, Claim, Plan, Proof, ProofStep, Row};
use guard_plan::random::Rng;
use guard_runtime::{Kernel, NoWorld, Proposal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// A law: its name, and whether case `n` of it holds; none where it has no more cases.
pub type Law = (&'static str, fn(u64) -> Option<Result<(), String>>);

/// Every law, the cheapest first.
pub const LAWS: &[Law] = &[
    ("optimized expressions say the same", optimized),
    ("what is not so is not proved", open),
    ("what was proved stays proved", expected),
    ("what does not follow is not proved", written::not_implied),
    ("proofs are of one plan", written::changed),
    ("bounds follow, or nearly", bounded_cases),
    ("bounds, in sessions", bounded_sessions),
    ("one step from arbitrary states", stepped),
    ("four bits, everything", exhaustive),
    ("nothing was left to try", tried),
    ("certificates are accepted", accepted),
    ("spoiled certificates are refused", spoiled),
    ("edges, checks on", edges),
    ("what is claimed, in sessions", claimed),
    ("kernel, plans and reference agree", agree),
    ("no search contradicts a `no`", withstands),
];

/// The first case of a law that fails, with why; a panic is a failure.
pub fn first_failure(case: fn(u64) -> Option<Result<(), String>>) -> Option<(u64, String)> {
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
    (n < 400).then(|| match compiled(&small::source(&mut Rng::new(n))) {
        Some(output) => small::try_all(&output, &mut small::SmallCounts::default()),
        None => Ok(()),
    })
}

/// Explorations that tried everything.
fn tried(n: u64) -> Option<Result<(), String>> {
    (n < 4_000).then(|| {
        let rng = &mut Rng::new(n);
        match compiled(&exhausted::source(rng)) {
            Some(output) => exhausted::try_guard(
                &output.program,
                rng,
                &mut exhausted::ExplorationCounts::default(),
            ),
            None => Ok(()),
        }
    })
}

fn stepped(n: u64) -> Option<Result<(), String>> {
    (n < 1_000).then(|| {
        let rng = &mut Rng::new(n);
        match compiled(&steps::grammar::source(rng)) {
            Some(output) => steps::try_guard(&output, rng, 120, &mut steps::StepCounts::default()),
            None => Ok(()),
        }
    })
}

/// Guards about bounds: what follows is proved, what nearly follows is not.
fn bounded_cases(n: u64) -> Option<Result<(), String>> {
    use bounded::cases::{OPEN, PROVED};
    let all = PROVED.iter().map(|case| (case, true)).chain(OPEN.iter().map(|case| (case, false)));
    let ((claim, text), follows) = all.into_iter().nth(n as usize)?;
    let Some(output) = compiled(&format!("guard bounded\n{text}")) else {
        return Some(Err(format!("`{claim}` does not compile")));
    };
    let plan = &output.plan;
    let said = &output.verification;
    let open = |status: &ObligationStatus| !status.is_proved();
    let of = |tool: u32| follows || plan.tools[tool as usize].name == "t";
    let pairs = said.pairs.iter().filter(|one| of(one.tool)).map(|one| &one.status);
    let named = |var: u32| follows || plan.state[var as usize].name == "o";
    let types = said.refinements.iter().filter(|one| of(one.tool) && named(one.var));
    let is_open = pairs.chain(types.map(|one| &one.status)).any(open);
    let sound = loads(plan, &output);
    Some(match (is_open == follows, sound) {
        (true, _) if follows => Err(format!("`{claim}` is not proved")),
        (true, _) => Err(format!("`{claim}` is proved")),
        (false, sound) => sound.map_err(|why| format!("`{claim}`: {why}")),
    })
}

fn bounded_sessions(n: u64) -> Option<Result<(), String>> {
    (n < 600).then(|| {
        let rng = &mut Rng::new(n);
        match compiled(&bounded::grammar::source(rng)) {
            Some(output) => {
                bounded::try_guard(&output, rng, 30, &mut bounded::BoundCounts::default())
            }
            None => Ok(()),
        }
    })
}

fn claimed(n: u64) -> Option<Result<(), String>> {
    (n < 4_000).then(|| {
        let rng = &mut Rng::new(n);
        let guard = claimed::source(rng);
        match compiled(&guard.text) {
            Some(output) => claimed::try_guard(
                &guard,
                &output,
                rng,
                60,
                &mut claimed::PropertyCounts::default(),
            ),
            None => Ok(()),
        }
    })
}

fn edges(n: u64) -> Option<Result<(), String>> {
    (n < 400).then(|| {
        let rng = &mut Rng::new(n);
        let text = walks::source(rng);
        match compiled(&text) {
            Some(output) => walks::walk(&output, rng, 20, &mut walks::WalkCounts::default()),
            None => Ok(()),
        }
    })
}

fn agree(n: u64) -> Option<Result<(), String>> {
    (n < 160).then(|| differential::run(1 + n * 1_000, 25).map(drop).map_err(|one| one.what))
}

/// Pairs that are written down, the pairs of the cases, and edits of their guards.
fn withstands(n: u64) -> Option<Result<(), String>> {
    static WRITTEN: OnceLock<Vec<(String, String)>> = OnceLock::new();
    static PAIRS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let written = WRITTEN.get_or_init(|| (0..).map_while(written::compared).collect());
    let Some(beyond) = n.checked_sub(written.len() as u64) else {
        return Some(match disproofs::compare(&written[n as usize]) {
            Ok(0) => Err("a pair does not compile".into()),
            said => said.map(drop),
        });
    };
    let pair = disproofs::case(PAIRS.get_or_init(disproofs::pairs), beyond, 1)?;
    Some(disproofs::compare(&pair).map(drop))
}

/// The guards that the laws about certificates look at.
fn guard(n: u64) -> Option<CompilerOutput> {
    let rng = &mut Rng::new(n / 2);
    if n.is_multiple_of(2) { compiled(&walks::source(rng)) } else { compiled(&small::source(rng)) }
}

/// Loads a plan with its proofs into a kernel.
pub(crate) fn loads(plan: &Plan, output: &CompilerOutput) -> Result<(), String> {
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

/// Checks that a claim which the prover leaves open has no certificate of one step.
fn open_is_open(output: &CompilerOutput) -> Result<(), String> {
    for pair in &output.verification.pairs {
        if !matches!(pair.status, ObligationStatus::Checked(_)) {
            continue;
        }
        for var in 0..6 {
            let mut plan = output.plan.clone();
            let claim = Claim::Preserved { tool: pair.tool, invariant: pair.invariant, part: 0 };
            let steps = vec![ProofStep::Sum(vec![(1, Row::Least(var)), (1, Row::Greatest(var))])];
            plan.proofs.push(Proof { claim, certificate: Certificate { uses: Vec::new(), steps } });
            plan.proofs.sort_by(|a, b| a.claim.cmp(&b.claim));
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
        "fact f(id: string key, v: int)\nstate { n: int = 0 }\ninvariant i { n <= 3 }\ntool look(id: string) {\n  trusted\n  returns int\n  learn f(id, result)\n}\ntool t(id: string, x: int) {\n  deny unless known f(id)\n  deny when f[id] is some and x > 3\n  effect n = x\n}",
        "record R { a: string  b: int in 0..=2 }\nstate { x: map<string, int> max 5 = {}  l: list<int> max 5 = [] }\ninvariant i { all k, v in x: v <= 2 }\ninvariant j { all v in l: v >= 0 }\ntool t() {\n  returns R\n  observe x[result.a] = result.b\n  observe l = [result.b, 1]\n}",
    ];
    let text = match GUARDS.get(n as usize) {
        Some(text) => *text,
        None => written::cases(written::KEPT).nth(n as usize - GUARDS.len())?.1,
    };
    Some(match compiled(&format!("guard expected\n{text}")) {
        Some(output) if proves_all(&verify(&output.plan)) => Ok(()),
        Some(_) => Err("something that was proved is not".into()),
        None => Err("it does not compile".into()),
    })
}

fn proves_all(said: &Verification) -> bool {
    (!said.pairs.is_empty() || !said.observations.is_empty())
        && said.pairs.iter().all(|pair| pair.status.is_proved())
        && said.observations.iter().all(|one| one.status.is_proved())
}

/// Guards of which the invariant `i`, or else the type of `o`, is not kept by `t`, though it nearly is.
fn open(n: u64) -> Option<Result<(), String>> {
    const GUARDS: &[&str] = &[
        "type Small = int in 0..=3\nstate { o: Small? = none }\ntool t(x: int in 0..=9) { effect o = x }",
        "state { l: list<string> max 9 = []  b: bool = true }\ninvariant i { \"a\" in l implies b }\ntool t() { effect remove \"a\" from l\n effect b = false }",
        "state { l: list<int> max 5 = [] }\ninvariant i { 3 in l implies l[3] is some }\ntool t(x: int) { effect remove x from l }",
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
        "state {\n  a: list<int in 0..=5> max 4 = []\n  b: list<int in -5..=5> max 4 = []\n  z: int = 0\n}\ntool add_b(n: int in -5..=5) { effect append n to b }\ntool add_a(n: int in 0..=5) { effect append n to a }\ntool t() {\n  effect z = sum(y in b: y)\n}\ninvariant i { sum(x in a: x) <= 100 and z >= 0 }",
        "state { z: int = 0 }\ntool t(n: int in 0..=1000, m: int in 0..=1000) {\n  deny unless decimal(n) * decimal(m) <= 1\n  effect z = (n * 1000000) * (m * 1000000)\n}\ninvariant i { z <= 1000000 }",
        "state {\n  l: list<int> max 5 = []\n  z: int = 0\n}\ntool add(n: int in 0..=5) { effect append n to l }\ntool t(x: int) {\n  deny when any i, v in l: v > 100\n  effect z = if x in l then 500 else 5\n}\ninvariant j { all i, v in l: v >= 0 }\ninvariant i { z <= 10 }",
        "state { n: int = 0 }\ninvariant i { n <= 9 }\ntool t(x: int in 0..=9) { deny unless n + x <= 9\n effect n += x for y in [1, 2] }",
        "state { n: int = 0 }\ninvariant i { n >= 0 }\ntool t(x: int in 0..=9) { effect n = x / -2 }",
        "state { l: list<int> max 5 = [] }\ntool add(n: int in 0..=5) { effect append n to l }\ntool t(x: int) {\n  deny unless x in l\n  deny when any i, v in l: v > 100\n}\ninvariant j { all i, v in l: v >= 0 }",
        "record R { a: string  b: int }\nstate { x: map<string, int> max 5 = {}  y: map<string, int> max 5 = {} }\ninvariant i { all k, v in x: k in y }\ntool t() {\n  returns R\n  observe x[result.a] = result.b\n  observe y[result.a] = result.b\n}",
        "record R { a: string  b: int }\nstate { x: map<string, int> max 5 = {}  n: int = 0 }\ninvariant i { all k, v in x: v <= n }\ntool t() {\n  returns R\n  observe x[result.a] = result.b\n  observe n = result.b\n}",
        "fact f(id: string key, v: int)\nstate { n: int = 0 }\ninvariant i { n <= 3 }\ntool look(id: string) {\n  trusted\n  returns int\n  learn f(id, result)\n}\ntool t(a: string, b: string, x: int) {\n  deny unless known f(a)\n  deny when f[b] is some and x > 3\n  effect n = x\n}",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool look()\ntool t(x: int) {\n  deny unless calls(look) within last 3 calls >= 1\n  deny unless calls(look) within 5m == 0\n  effect n = x\n}",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool look()\ntool t(x: int) {\n  deny unless failures(look) within 5m >= 1\n  deny unless failures(look) within last 3 calls == 0\n  effect n = x\n}",
        // It takes longest.
        "state { l: list<int> max 5 = []  z: int = 0 }\ntool t(n: int in 0..=1000, p0: int, p1: int, p2: int, p3: int, p4: int, p5: int, p6: int, p7: int, p8: int, p9: int, p10: int) {\n  deny when p0 in l or p1 in l or p2 in l or p3 in l or p4 in l or p5 in l or p6 in l or p7 in l or p8 in l or p9 in l or p10 in l\n  deny unless all v0 in l: all v1 in l: all v2 in l: all v3 in l: all v4 in l: all v5 in l: v0 + v1 + v2 + v3 + v4 + v5 < 100\n  effect z = n\n}\ninvariant i { z <= 10 }",
    ];
    let written = written::cases(written::NEARLY_KEPT).count();
    let (title, text) = match (n as usize).checked_sub(written) {
        None => written::cases(written::NEARLY_KEPT).nth(n as usize)?,
        Some(n) => ("", *GUARDS.get(n)?),
    };
    Some(is_open(text).map_err(|why| format!("{why}: {title}")))
}

fn is_open(text: &str) -> Result<(), String> {
    let output = compiled(&format!("guard open\n{text}")).ok_or("it does not compile")?;
    // By one step alone: a bound of the session may prove it.
    let plan = &output.plan;
    let said = &verify_at(&output.plan, Width::REAL);
    let of = |tool: u32| plan.tools[tool as usize].name == "t";
    let pair = said
        .pairs
        .iter()
        .find(|one| of(one.tool) && plan.invariants[one.invariant as usize].rule.owner == "i");
    let refined = said
        .refinements
        .iter()
        .find(|one| of(one.tool) && plan.state[one.var as usize].name == "o");
    if said.impossible.iter().any(|one| of(one.tool)) {
        return Err("`t` is said never to be called".into());
    }
    let observed = said
        .observations
        .iter()
        .find(|one| of(one.tool) && plan.invariants[one.invariant as usize].rule.owner == "i");
    if let Some(observed) = observed {
        let proved = observed.status.is_proved();
        return if proved { Err("it is proved of what is observed".into()) } else { Ok(()) };
    }
    let checked = match (pair, refined) {
        (Some(pair), _) => !pair.status.is_proved(),
        (None, Some(refined)) => !refined.status.is_proved(),
        (None, None) => plan.tools.iter().any(|tool| tool.effects.is_empty()),
    };
    if checked { Ok(()) } else { Err("it is proved, or not looked at".into()) }
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
    let Some(output) = compiled(&text) else {
        return Some(Err(format!("`{condition}` does not compile")));
    };
    let kernel = |plan: &Plan| -> Result<Kernel, String> {
        let loaded = LoadedPlan::from_plan(plan.clone(), output.sources.clone());
        Kernel::new(loaded.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
    };
    let say = |kernel: &Kernel, x: i64, f: bool| -> Result<String, String> {
        let session = kernel.open("same", 0, "/").map_err(|error| error.to_string())?;
        let args = Json::parse(&format!("{{\"x\":{x},\"f\":{f}}}"));
        let args = args.map_err(|error| error.to_string())?;
        let proposal = Proposal { call: "1", tool: "t", args: (&args).into(), now: 0 };
        Ok(format!("{:?}", kernel.check(&session, &proposal, &mut NoWorld).verdict))
    };
    Some((|| {
        let lowered = kernel(&output.lowered)?;
        let plan = kernel(&output.plan)?;
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
