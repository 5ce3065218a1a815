//! Deliberate bugs in obligations, prover, certificates and passes, which the laws must find.
//!
//! Prints one line a bug: where it is, which law killed it, after how many cases. Fails if one survives, or if a law fails
//! without any.

use guard_proof::mutant;
use guard_tests::claims::{LAWS, Law, first_failure};
use guard_tests::written::cases;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bugs that are tried at the same time.
const WORKERS: usize = 2;

/// The bugs that the laws find, below the law that has found them before and is tried first: a line `PLACE: NAME` each. CI tries them
/// all.
const FOUND: &str = include_str!("../../suite/proofs/planted.txt");

/// The bugs that no law finds. `--all` tries them too, `--open` them alone.
const OPEN: &[(&str, &str)] = &[
    // Whoever needs fewer roles keeps at least as many approvals: the answer would be right.
    ("a gate uses up nothing", "guard_compiler::diff::proof"),
    // The search approves a call only for those who are asked, and a gate asks nobody.
    ("a gate never faults", "guard_compiler::diff::proof"),
    // An effect that is gone refuses nothing, whatever speaks of it: the answer would be right.
    ("no invariant speaks of an effect", "guard_compiler::diff::proof"),
    // Where it does not fit, what halts a session differs, too. Only of stops nothing else is said, and no law looks at them.
    ("what is observed fits", "guard_compiler::diff::proof::history"),
];

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let argument = std::env::args().nth(1);
    let all = argument.as_deref() == Some("--all");
    let open_alone = argument.as_deref() == Some("--open");
    let only = argument.filter(|argument| !argument.starts_with("--"));
    mutant::set("");
    for (law, case) in LAWS {
        if let Some((n, why)) = first_failure(*case) {
            println!("without any bug, `{law}` fails at {n}: {why}");
            return ExitCode::FAILURE;
        }
    }
    let found = cases(FOUND).flat_map(|(law, bugs)| {
        bugs.lines().filter(|line| !line.is_empty()).map(move |line| {
            (law, line.split_once(": ").unwrap_or_else(|| panic!("no place and name: {line}")))
        })
    });
    let open = OPEN.iter().map(|(bug, place)| ("", (*place, *bug)));
    let bugs: Vec<(&str, (&str, &str))> = match &only {
        Some(name) => found.chain(open).filter(|(_, (_, bug))| bug == name).collect(),
        None if all => found.chain(open).collect(),
        None if open_alone => open.collect(),
        None => found.collect(),
    };
    println!("| bug | where | killed by | case |\n| --- | --- | --- | --- |");
    let next = AtomicUsize::new(0);
    let survivors = AtomicUsize::new(0);
    // A bug is switched on in its own thread alone.
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((first, (place, bug))) =
                    bugs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    mutant::set(bug);
                    let (usual, others): (Vec<&Law>, Vec<&Law>) =
                        LAWS.iter().partition(|(law, _)| law == first);
                    let killed = usual
                        .into_iter()
                        .chain(others)
                        .find_map(|(law, case)| Some((law, first_failure(*case)?.0)));
                    mutant::set("");
                    match killed {
                        Some((law, n)) => println!("| {bug} | `{place}` | {law} | {n} |"),
                        None => {
                            survivors.fetch_add(1, Ordering::Relaxed);
                            println!("| {bug} | `{place}` | **survives** | |");
                        }
                    }
                }
            });
        }
    });
    let survivors = survivors.into_inner();
    println!("\n{} bugs, {survivors} survive", bugs.len());
    if survivors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
