//! Laws that span crates: the two evaluators agree, order says nothing, proven shapes of plans.

use guard_compiler::{Loader, NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::random::Rng;
use guard_plan::verdict::{Code, Decision};
use guard_runtime::{Kernel, NoWorld, Proposal};
use guard_syntax::ast::{ClauseKind, File, ItemKind, Lifecycle, LifecycleClause};
use guard_syntax::span::FileId;
use guard_tests::generate::{any_call, escapes, fenced};
use guard_tests::{compiled, differential, generate, guards_in};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Kernel and reference evaluator say the same; many more sessions with `cargo xtask differential N`.
#[test]
fn kernel_and_reference_agree() {
    match differential::run(1, 5_000) {
        Ok(coverage) => {
            // Of one guard come ten sessions. A generator that drifts from the language would weaken every law.
            assert!(coverage.discarded < 500, "most drawn guards do not compile\n{coverage}");
            let contracts = Code::UnknownReference as usize;
            let quiet: Vec<usize> =
                (0..14).filter(|at| coverage.reasons[*at] == 0 && *at != contracts).collect();
            assert!(quiet.is_empty(), "codes never given: {quiet:?}\n{coverage}");
            assert!(coverage.quiet().is_empty(), "never met: {:?}\n{coverage}", coverage.quiet());
            assert!(
                coverage.allowed * 10 > coverage.refused,
                "hardly anything is allowed\n{coverage}"
            );
        }
        Err(divergence) => panic!("{divergence}"),
    }
}

/// A spoilt memory is refused, or is one of another session: nothing panics on it.
/// No text leads beyond an allow-list over an extractor (expressions, "What extractors promise"), and some texts pass.
#[test]
fn fences_hold() {
    let mut rng = Rng::new(7);
    for form in 0..2 {
        let guard = fenced(form);
        let output = compiled(&guard).expect("the guard compiles");
        let plan = LoadedPlan::from_plan(output.plan, output.sources).expect("its plan loads");
        let kernel = Kernel::new(plan).expect("its plan runs");
        let session = kernel.open("s", 0, "/").expect("a session opens");
        let mut allowed = 0;
        let mut escaped = BTreeSet::new();
        for _ in 0..100_000 {
            let (tool, args) = any_call(&mut rng);
            let proposal = Proposal { call: "c", tool: &tool, args: (&args).into(), now: 0 };
            let verdict = kernel.check(&session, &proposal, &mut NoWorld).verdict;
            if verdict.decision == Decision::Allow {
                allowed += 1;
                if escapes(&guard, &tool, &args) {
                    escaped.insert(format!("{tool} allows {args}"));
                }
            }
        }
        assert!(escaped.is_empty(), "{escaped:#?}");
        assert!(allowed > 5_000, "only {allowed} texts pass");
    }
}

#[test]
fn memories_may_be_hostile() {
    let (taken, refused) = differential::spoil(1, 400);
    assert!(taken > 100 && refused > 100, "{taken} taken, {refused} refused");
}

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs")
}

struct FromSpecs;

impl Loader for FromSpecs {
    fn load(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(specs().join(path)).map_err(|e| e.to_string())
    }
}

/// The content hash of a guard, which compiles.
fn hash(text: &str, loader: &mut dyn Loader) -> Option<String> {
    let root = SourceFile { path: "examples/shuffled.guard".into(), text: text.into() };
    let output = compile(root, loader).output?;
    Some(
        LoadedPlan::from_plan(output.plan, output.sources)
            .map(|p| p.hash_text())
            .unwrap_or_else(|e| e.to_string()),
    )
}

/// Puts items, and clauses within tools and policies, in another order.
pub fn shuffle(file: &mut File, rng: &mut Rng) {
    reorder(&mut file.items, rng);
    for item in &mut file.items {
        match &mut item.kind {
            ItemKind::Tool(tool) => reorder(&mut tool.clauses, rng),
            ItemKind::Policy(policy) => {
                reorder(&mut policy.clauses, rng);
                reorder(&mut policy.tools.members, rng);
            }
            ItemKind::Group(group) => reorder(&mut group.members.members, rng),
            ItemKind::State(vars) => reorder(vars, rng),
            ItemKind::Source(source) => reorder(&mut source.learns, rng),
            ItemKind::Probe(probe) => reorder(&mut probe.clauses, rng),
            ItemKind::Feedback(feedback) => reorder(&mut feedback.triggers, rng),
            ItemKind::Attest(attest) => reorder(&mut attest.dimensions, rng),
            ItemKind::Goal(goal) => reorder(&mut goal.conditions, rng),
            ItemKind::Lifecycle(lifecycle) => shuffle_lifecycle(lifecycle, rng),
            _ => {}
        }
        let clauses = match &mut item.kind {
            ItemKind::Tool(tool) => &mut tool.clauses,
            ItemKind::Policy(policy) => &mut policy.clauses,
            _ => continue,
        };
        for clause in clauses {
            match &mut clause.kind {
                ClauseKind::Requires { all, .. } => reorder(all, rng),
                ClauseKind::Effect(effects) => reorder(effects, rng),
                ClauseKind::Tags(tags) => reorder(tags, rng),
                _ => {}
            }
        }
    }
}

/// Clauses, and the lists of names in them; the fields are the order of parameters.
fn shuffle_lifecycle(lifecycle: &mut Lifecycle, rng: &mut Rng) {
    reorder(&mut lifecycle.clauses, rng);
    for clause in &mut lifecycle.clauses {
        match &mut clause.node {
            LifecycleClause::Transition(transition) => reorder(&mut transition.from, rng),
            LifecycleClause::Final(states) => reorder(states, rng),
            LifecycleClause::Criteria(kinds) => reorder(kinds, rng),
            _ => {}
        }
    }
}

fn reorder<T>(items: &mut [T], rng: &mut Rng) {
    for at in (1..items.len()).rev() {
        items.swap(at, rng.below(at + 1));
    }
}

fn same_hash_shuffled(text: &str, loader: &mut dyn Loader, rng: &mut Rng) {
    let Some(expected) = hash(text, loader) else { return };
    for _ in 0..4 {
        let mut file = guard_syntax::parse(FileId(0), text).file;
        shuffle(&mut file, rng);
        let shuffled = guard_syntax::print(&file);
        assert_eq!(hash(&shuffled, loader), Some(expected.clone()), "of\n{text}\nand\n{shuffled}");
    }
}

#[test]
fn order_does_not_change_the_hash() {
    let mut rng = Rng::new(7);
    let mut seen = 0;
    let folders = [specs().join("examples"), specs().join("seeds")];
    for path in folders.iter().flat_map(|folder| guards_in(folder)) {
        let text = std::fs::read_to_string(&path).expect("an example");
        assert!(hash(&text, &mut FromSpecs).is_some(), "{} does not compile", path.display());
        same_hash_shuffled(&text, &mut FromSpecs, &mut rng);
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} examples");
    for seed in 0..90 {
        let drawn = generate::guard(&mut Rng::new(seed));
        same_hash_shuffled(&drawn.text(), &mut NoFiles, &mut rng);
    }
}

/// A compiled plan loads in both forms, and is the same plan.
#[test]
fn compiled_plans_load() {
    for seed in 0..130 {
        let text = generate::guard(&mut Rng::new(seed)).text();
        let root = SourceFile { path: "g.guard".into(), text: text.clone() };
        let Some(output) = compile(root, &mut NoFiles).output else { continue };
        let made = LoadedPlan::from_plan(output.plan, output.sources)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        for bytes in [made.to_bytes(), made.to_json().into_bytes()] {
            let loaded = guard_plan::load(&bytes).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(loaded.plan(), made.plan());
            assert_eq!(loaded.hash(), made.hash());
        }
    }
}

/// An empty declaration is refused, or has a plan that loads.
#[test]
fn empty_declarations_are_refused_or_load() {
    let empty = [
        "feedback f every 1m { }",
        "feedback f on denied { } { info: \"x\" }",
        "completion { }",
        "completion { all { } }",
        "completion { any { } }",
        "attest good { }",
        "goal g { }",
        "source prompt { }",
        "source start { }",
        "probe p { }",
        "lifecycle l { }",
        "lifecycle l { initial a }",
        "lifecycle l { fields { } initial a final a }",
        "state { }",
        "policy q for all { }",
    ];
    for item in empty {
        let text = format!("guard g\n{item}\ntool t()\n");
        let root = SourceFile { path: "g.guard".into(), text: text.clone() };
        let Some(output) = compile(root, &mut NoFiles).output else { continue };
        let loaded = LoadedPlan::from_plan(output.plan, output.sources);
        assert!(loaded.is_ok(), "{:?} of\n{text}", loaded.err());
    }
}
