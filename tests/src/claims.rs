//! Laws of what is claimed to be proved, case by case: what deliberate bugs are held against, and tests run without any.

use crate::{
    bounded, claimed, compiled, differential, disproofs, exhausted, kernel, loads, small, steps,
    walks, written,
};
use guard_compiler::CompilerOutput;
use guard_compiler::verify::{ObligationStatus, Pair, Verification, Width, verify, verify_at};
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

/// Case `n` of a law about guards that are drawn, one for each of so many seeds. A text that does not compile says nothing.
fn drawn(
    n: u64,
    seeds: u64,
    source: fn(&mut Rng) -> String,
    try_guard: impl Fn(&CompilerOutput, &mut Rng) -> Result<(), String>,
) -> Option<Result<(), String>> {
    (n < seeds).then(|| {
        let rng = &mut Rng::new(n);
        compiled(&source(rng)).map_or(Ok(()), |output| try_guard(&output, rng))
    })
}

fn exhaustive(n: u64) -> Option<Result<(), String>> {
    drawn(n, 400, small::source, |output, _| small::try_all(output, &mut Default::default()))
}

/// Explorations that tried everything.
fn tried(n: u64) -> Option<Result<(), String>> {
    drawn(n, 4_000, exhausted::source, |output, rng| {
        exhausted::try_guard(&output.program, rng, &mut Default::default())
    })
}

fn stepped(n: u64) -> Option<Result<(), String>> {
    drawn(n, 1_000, steps::grammar::source, |output, rng| {
        steps::try_guard(output, rng, 120, &mut Default::default())
    })
}

/// Guards about bounds: what follows is proved, what nearly follows is not.
fn bounded_cases(n: u64) -> Option<Result<(), String>> {
    let follow = written::cases(written::BOUNDED).map(|case| (case, true));
    let mut all = follow.chain(written::cases(written::NEARLY_BOUNDED).map(|case| (case, false)));
    let ((claim, text), follows) = all.nth(n as usize)?;
    let Some(output) = compiled(&format!("guard bounded\n{text}")) else {
        return Some(Err(format!("`{claim}` does not compile")));
    };
    let plan = &output.plan;
    let said = &output.verification;
    let open = |status: &ObligationStatus| !status.is_proved();
    let of = |tool: u32| follows || plan.tools[tool as usize].name == "t";
    let pairs = said.pairs.iter().filter(|pair| of(pair.tool)).map(|pair| &pair.status);
    let named = |var: u32| follows || plan.state[var as usize].name == "o";
    let types = said.refinements.iter().filter(|typed| of(typed.tool) && named(typed.var));
    let is_open = pairs.chain(types.map(|typed| &typed.status)).any(open);
    let sound = loads(plan, &output);
    Some(match (is_open == follows, sound) {
        (true, _) if follows => Err(format!("`{claim}` is not proved")),
        (true, _) => Err(format!("`{claim}` is proved")),
        (false, sound) => sound.map_err(|why| format!("`{claim}`: {why}")),
    })
}

fn bounded_sessions(n: u64) -> Option<Result<(), String>> {
    drawn(n, 600, bounded::grammar::source, |output, rng| {
        bounded::try_guard(output, rng, 30, &mut Default::default())
    })
}

fn claimed(n: u64) -> Option<Result<(), String>> {
    (n < 4_000).then(|| {
        let rng = &mut Rng::new(n);
        let guard = claimed::source(rng);
        compiled(&guard.text).map_or(Ok(()), |output| {
            claimed::try_guard(&guard, &output, rng, 60, &mut Default::default())
        })
    })
}

fn edges(n: u64) -> Option<Result<(), String>> {
    drawn(n, 400, walks::source, |output, rng| {
        walks::walk(output, rng, 20, &mut Default::default())
    })
}

fn agree(n: u64) -> Option<Result<(), String>> {
    (n < 160)
        .then(|| differential::run(1 + n * 1_000, 25).map(drop).map_err(|failure| failure.what))
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
    let (title, text) = written::cases(written::KEPT).nth(n as usize)?;
    Some(match compiled(&format!("guard expected\n{text}")) {
        Some(output) if proves_all(&verify(&output.plan)) => Ok(()),
        Some(_) => Err(format!("something that was proved is not: {title}")),
        None => Err(format!("it does not compile: {title}")),
    })
}

fn proves_all(said: &Verification) -> bool {
    let mut pairs = said.pairs.iter().chain(&said.observations).peekable();
    pairs.peek().is_some() && pairs.all(|pair| pair.status.is_proved())
}

/// Guards of which the invariant `i`, or else the type of `o`, is not kept by `t`, though it nearly is.
fn open(n: u64) -> Option<Result<(), String>> {
    let mut all = written::cases(written::NEARLY_KEPT).chain(written::cases(written::OPEN));
    let (title, text) = all.nth(n as usize)?;
    Some(is_open(text).map_err(|why| format!("{why}: {title}")))
}

fn is_open(text: &str) -> Result<(), String> {
    let output = compiled(&format!("guard open\n{text}")).ok_or("it does not compile")?;
    // By one step alone: a bound of the session may prove it.
    let plan = &output.plan;
    let said = &verify_at(&output.plan, Width::REAL);
    let of = |tool: u32| plan.tools[tool as usize].name == "t";
    let speaks =
        |one: &&Pair| of(one.tool) && plan.invariants[one.invariant as usize].rule.owner == "i";
    let pair = said.pairs.iter().find(speaks);
    let refined = said
        .refinements
        .iter()
        .find(|one| of(one.tool) && plan.state[one.var as usize].name == "o");
    if said.impossible.iter().any(|call| of(call.tool)) {
        return Err("`t` is said never to be called".into());
    }
    if let Some(observed) = said.observations.iter().find(speaks) {
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
    let condition = written::conditions().nth(n as usize)?;
    let text = format!("guard same\ntool t(x: int, f: bool) {{ deny when {condition} }}");
    let Some(output) = compiled(&text) else {
        return Some(Err(format!("`{condition}` does not compile")));
    };
    let say = |kernel: &Kernel, x: i64, f: bool| -> Result<String, String> {
        let session = kernel.open("same", 0, "/").map_err(|error| error.to_string())?;
        let args = Json::parse(&format!("{{\"x\":{x},\"f\":{f}}}"));
        let args = args.map_err(|error| error.to_string())?;
        let proposal = Proposal { call: "1", tool: "t", args: (&args).into(), now: 0 };
        Ok(format!("{:?}", kernel.check(&session, &proposal, &mut NoWorld).verdict))
    };
    Some((|| {
        let lowered = kernel(&output.lowered, &output)?;
        let plan = kernel(&output.plan, &output)?;
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
