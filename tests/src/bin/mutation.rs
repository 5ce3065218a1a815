//! Deliberate bugs in obligations, prover, certificates and passes, which the laws must find.
//!
//! Prints one line a bug: where it is, which law killed it, after how many cases. Fails if one survives, or if a law fails
//! without any.

use guard_proof::mutant;
use guard_tests::claims::{LAWS, Law, first_failure};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bugs that are tried at the same time.
const WORKERS: usize = 2;

/// The bugs that the laws find, by the law that has found them before and is tried first: each one's name and place. CI tries them all.
const FOUND: &[(&str, &[(&str, &str)])] = &[
    (
        "optimized expressions say the same",
        &[
            ("a deny that always fires is dropped", "guard_compiler::optimize::drop"),
            ("`false and x` is x", "guard_compiler::optimize::fold"),
            ("folding loses a fault", "guard_compiler::optimize::fold"),
            ("nothing holds of nothing", "guard_compiler::optimize::fold"),
            ("order forgets faults", "guard_compiler::optimize::order"),
            ("not less is greater", "guard_compiler::optimize::simplify"),
            ("`x == false` is x", "guard_compiler::optimize::simplify"),
        ],
    ),
    (
        "bounds follow, or nearly",
        &[
            ("a needed hypothesis is dropped", "guard_compiler::verify::prover"),
            ("what is spent is settled", "guard_proof::bounds"),
            ("rows are counted from one", "guard_compiler::verify::prover"),
            ("a decimal is its int", "guard_proof::arith"),
            ("one case is enough", "guard_proof::certificate"),
            ("a longer list is as long", "guard_proof::collections"),
            ("a collection is never full", "guard_proof::effects"),
            ("`implies` is `or`", "guard_proof::eval"),
            ("a success moves no bound", "guard_proof::bounds"),
            ("a bound may be observed", "guard_proof::bounds"),
            ("a limit in shadow bounds", "guard_proof::bounds"),
            ("a limit of a window bounds", "guard_proof::bounds"),
            ("a limit of a key bounds", "guard_proof::bounds"),
            ("a limit that asks bounds", "guard_proof::bounds"),
            ("a settled call counts twice", "guard_proof::bounds"),
            ("every settled call has succeeded", "guard_proof::bounds"),
            ("a cost in shadow bounds", "guard_proof::charges"),
            ("a requirement is always asked", "guard_proof::claims"),
        ],
    ),
    (
        "nothing was left to try",
        &[
            ("a part of a value has classes", "guard_compiler::explore::classes"),
            ("a key of constants is any", "guard_compiler::explore::classes"),
            ("one text is all of a pattern", "guard_compiler::explore::inputs"),
            ("no call is in flight", "guard_compiler::explore::inputs"),
            ("a rule that faults is silent", "guard_compiler::explore::rules"),
            ("no condition faults", "guard_compiler::lint::never_fires"),
        ],
    ),
    (
        "no search contradicts a `no`",
        &[
            ("one tool fills a variable", "guard_compiler::diff::implied"),
            ("an entry is written again", "guard_compiler::diff::implied"),
            ("`all` wants an item", "guard_compiler::diff::implied"),
            ("a list has items", "guard_compiler::diff::implied"),
            ("a name is one tool's", "guard_compiler::diff::proof"),
            ("a warning is a refusal", "guard_compiler::diff::proof"),
            ("a full fact halts nothing", "guard_compiler::diff::proof::history"),
            ("a budget is spent alike", "guard_compiler::diff::proof"),
            ("a limit that asks refuses", "guard_compiler::diff::proof"),
            ("nothing waits", "guard_compiler::diff::proof"),
            ("what is read came about alike", "guard_compiler::diff::proof"),
            ("what writes reads nothing", "guard_compiler::diff::proof::history"),
            ("all that teaches is trusted", "guard_compiler::diff::proof::history"),
            ("a result that is not read halts nothing", "guard_compiler::diff::proof::history"),
            ("what is observed always fits", "guard_compiler::diff::proof::history"),
            ("what is reconciled halts nothing", "guard_compiler::diff::proof::history"),
            ("a counter counts one tool", "guard_compiler::diff::proof::history"),
            ("a counter reads one tool's key", "guard_compiler::diff::proof::reads"),
            ("a part that faults is passed over", "guard_compiler::diff::outcome"),
            ("more is as much", "guard_compiler::diff::outcome"),
            ("observing fills nothing", "guard_compiler::diff::proof::unfilled"),
            ("who is asked need not wait", "guard_compiler::diff::product"),
            ("a lower end is an upper end", "guard_compiler::diff::proof"),
            ("a lifecycle is any", "guard_compiler::diff::proof"),
            ("sources teach nothing", "guard_compiler::diff::proof::history"),
            ("a probe forgets", "guard_compiler::diff::proof::history"),
            ("what is observed halts nothing", "guard_compiler::diff::proof::history"),
            ("a requirement asks of no tool", "guard_compiler::diff::proof::reads"),
            ("an invariant reads what is written alone", "guard_compiler::diff::proof::reads"),
            ("nobody asks after calls", "guard_compiler::diff::proof::reads"),
        ],
    ),
    (
        "what is not so is not proved",
        &[
            ("all observations are written", "guard_proof::effects"),
            ("the prover splits two cases", "guard_compiler::verify::prover"),
            ("rounding is ignored", "guard_proof::arith"),
            ("products of all sorts are one", "guard_proof::arith"),
            ("a product is bounded from the other side", "guard_proof::arith"),
            ("an index is an element", "guard_proof::collections"),
            ("what is taken out was there", "guard_proof::collections"),
            ("a list loses all equal elements", "guard_proof::collections"),
            ("what is taken out stays", "guard_proof::collections"),
            ("an entry keeps its value", "guard_proof::collections"),
            ("only the first effect counts", "guard_proof::effects"),
            ("nothing is observed", "guard_proof::effects"),
            ("`+=` subtracts", "guard_proof::effects"),
            ("an option fits anything", "guard_proof::effects"),
            ("overflow is ignored", "guard_proof::encoder"),
            ("overflow begins one later", "guard_proof::encoder"),
            ("the right side never faults", "guard_proof::eval"),
            ("what is missing compares", "guard_proof::eval"),
            ("if and only if goes one way", "guard_proof::formula"),
            ("a frame forgets the second variable", "guard_proof::frame"),
            ("a monitor is assumed", "guard_proof::lib"),
            ("an invariant in shadow is assumed", "guard_proof::lib"),
            ("what is observed is assumed", "guard_proof::lib"),
            ("quantifiers share a variable whatever they range over", "guard_proof::quantifiers"),
            ("bound names of all quantifiers are one", "guard_proof::quantifiers"),
            ("a type proves itself", "guard_proof::system"),
            ("a deny is not negated", "guard_proof::system"),
            ("invariants are given afterwards", "guard_proof::system"),
            ("invariants never fault", "guard_proof::system"),
            ("later parts need nothing", "guard_proof::system"),
            ("a type ends one earlier", "guard_proof::value"),
            ("too much is a value", "guard_proof::eval"),
            ("bounds forget rounding", "guard_proof::arith"),
            ("all divisors round alike", "guard_proof::arith"),
            ("all divisors are one", "guard_proof::arith"),
            ("rounding and truncating are one", "guard_proof::arith"),
            ("a size always fits", "guard_proof::arith"),
            ("a floor is toward zero", "guard_proof::arith"),
            ("a collection of a type is never full", "guard_proof::collections"),
            ("no collection is empty", "guard_proof::collections"),
            ("elements as written differ", "guard_proof::collections"),
            ("the last element as written is lost", "guard_proof::collections"),
            ("what is put in is alone", "guard_proof::collections"),
            ("a replaced element is still there", "guard_proof::collections"),
            ("membership forgets the element", "guard_proof::collections"),
            ("a member has company", "guard_proof::collections"),
            ("all elements are equal", "guard_proof::collections"),
            ("all entries are equal", "guard_proof::collections"),
            ("all entries are one", "guard_proof::collections"),
            ("the last index is the size", "guard_proof::collections"),
            ("an element keeps its value", "guard_proof::collections"),
            ("a dropped entry is still there", "guard_proof::collections"),
            ("the size is an index", "guard_proof::collections"),
            ("an index may be negative", "guard_proof::collections"),
            ("`-=` adds", "guard_proof::effects"),
            ("`*=` adds", "guard_proof::effects"),
            ("a change takes its operands the other way round", "guard_proof::effects"),
            ("a record fits by its first field", "guard_proof::effects"),
            ("a type has no lower end", "guard_proof::effects"),
            ("all texts fit", "guard_proof::effects"),
            ("new elements fit", "guard_proof::effects"),
            ("operands of the unknown are dropped", "guard_proof::encoder"),
            ("an option has a value", "guard_proof::encoder"),
            ("a record has one field", "guard_proof::encoder"),
            ("numbers of all sorts are one", "guard_proof::encoder"),
            ("all changes are one", "guard_proof::encoder"),
            ("a changed collection is the old one", "guard_proof::encoder"),
            ("a choice between conditions has one side", "guard_proof::encoder"),
            ("choices share a variable whatever decides", "guard_proof::encoder"),
            ("choices share a variable whatever else there is", "guard_proof::encoder"),
            ("a choice is the lesser", "guard_proof::encoder"),
            ("nothing is too small", "guard_proof::encoder"),
            ("key and value are swapped", "guard_proof::eval"),
            ("all arguments are the first", "guard_proof::eval"),
            ("operands are swapped", "guard_proof::eval"),
            ("the right operand never faults", "guard_proof::eval"),
            ("only the first branch faults", "guard_proof::eval"),
            ("`else` is never needed", "guard_proof::eval"),
            ("some is none", "guard_proof::eval"),
            ("all fields are the first", "guard_proof::eval"),
            ("the other side is skipped", "guard_proof::eval"),
            ("only the left side is missing", "guard_proof::eval"),
            ("greater is at least", "guard_proof::eval"),
            ("at least is at most", "guard_proof::eval"),
            ("texts are ordered as numbers", "guard_proof::eval"),
            ("records are their first field", "guard_proof::eval"),
            ("nothing is the same as nothing else", "guard_proof::eval"),
            ("what is missing is a member", "guard_proof::eval"),
            ("bound names do not count", "guard_proof::bodies"),
            ("all bound names are one", "guard_proof::bodies"),
            ("a body reads the state before", "guard_proof::bodies"),
            ("all bodies are one", "guard_proof::bodies"),
            ("all functions are one", "guard_proof::questions"),
            ("a text is shorter", "guard_proof::questions"),
            ("any is all", "guard_proof::quantifiers"),
            ("bodies never fault", "guard_proof::quantifiers"),
            ("a quantifier forgets the last element", "guard_proof::quantifiers"),
            ("a new element is like the old ones", "guard_proof::quantifiers"),
            ("old entries count for nothing", "guard_proof::quantifiers"),
            ("elements never move", "guard_proof::quantifiers"),
            ("what goes never failed", "guard_proof::quantifiers"),
            ("what changes never faults", "guard_proof::quantifiers"),
            ("a witness holds", "guard_proof::quantifiers"),
            ("an element without index is any", "guard_proof::quantifiers"),
            ("what is true of all is true of the absent", "guard_proof::quantifiers"),
            ("quantifiers share a variable whatever they say", "guard_proof::quantifiers"),
            ("any and all share a variable", "guard_proof::quantifiers"),
            ("a sum counts twice", "guard_proof::quantifiers"),
            ("a sum keeps what is replaced", "guard_proof::quantifiers"),
            ("a sum has one summand less", "guard_proof::quantifiers"),
            ("the goal is not negated", "guard_proof::system"),
            ("a cost in shadow is charged", "guard_proof::system"),
            ("a budget is one less", "guard_proof::system"),
            ("what is unknown is always the same", "guard_proof::terms"),
            ("a type begins one later", "guard_proof::value"),
            ("an effect on elements is on one", "guard_proof::effects"),
            ("less is at most", "guard_proof::formula"),
        ],
    ),
    (
        "what was proved stays proved",
        &[
            ("multipliers are swapped", "guard_compiler::verify::prover"),
            ("equal is at most", "guard_proof::formula"),
            ("a negation keeps its edge", "guard_proof::formula"),
            ("cuts round the wrong way", "guard_proof::linear"),
            ("a rest may be the divisor", "guard_proof::arith"),
            ("a missing entry can be changed", "guard_proof::effects"),
            ("what is missing differs from nothing", "guard_proof::eval"),
            ("a known row has any key", "guard_proof::questions"),
        ],
    ),
    (
        "one step from arbitrary states",
        &[
            ("products are positive", "guard_proof::arith"),
            ("minus is plus", "guard_proof::arith"),
            ("a product has one factor", "guard_proof::arith"),
            ("a negative divisor is positive", "guard_proof::arith"),
            ("a floor is exact", "guard_proof::arith"),
            ("what is unknown is there", "guard_proof::encoder"),
            ("effects read what others wrote", "guard_proof::effects"),
            ("an unknown summand is 0 or 1", "guard_proof::quantifiers"),
            ("an enum has one variant less", "guard_proof::effects"),
            ("an `if` has one branch", "guard_proof::eval"),
            ("a range begins one later", "guard_proof::formula"),
            ("a new entry is like the old ones", "guard_proof::quantifiers"),
            ("a sum forgets the last element", "guard_proof::quantifiers"),
            ("any element is every element", "guard_proof::quantifiers"),
        ],
    ),
    (
        "four bits, everything",
        &[
            ("a quotient is rounded down", "guard_proof::arith"),
            ("a remainder is positive", "guard_proof::arith"),
            ("the least is the greatest", "guard_proof::arith"),
        ],
    ),
    (
        "certificates are accepted",
        &[
            ("a bound need not hold at first", "guard_proof::bounds"),
            ("all texts are one", "guard_proof::encoder"),
        ],
    ),
    (
        "spoiled certificates are refused",
        &[
            ("the greatest value has the other sign", "guard_proof::certificate"),
            ("an unfinished proof is one", "guard_proof::certificate"),
            ("zero is absurd", "guard_proof::certificate"),
        ],
    ),
    (
        "bounds, in sessions",
        &[
            ("what is put in is never new", "guard_proof::collections"),
            ("a choice takes the other", "guard_proof::encoder"),
            ("a deny in shadow is given", "guard_proof::system"),
        ],
    ),
    (
        "edges, checks on",
        &[
            ("what is put in is not there", "guard_proof::collections"),
            ("an enum lacks a variant", "guard_proof::value"),
        ],
    ),
    (
        "kernel, plans and reference agree",
        &[
            ("a failure gives nothing back", "guard_runtime::flights"),
            ("a success counts from its end", "guard_runtime::settle"),
            ("the last calls are one more", "guard_runtime::session"),
            ("two effects never meet", "guard_runtime::stage::effects"),
            ("an undecoded result is a success", "guard_runtime::settle"),
            ("proved invariants prove the types", "guard_runtime::compiled::prepare"),
            ("a text may vouch for itself", "guard_runtime::settle::endorse"),
            ("no condition endorses", "guard_runtime::settle::endorse"),
            ("what is not endorsed teaches", "guard_runtime::settle::learn"),
            ("a full fact forgets", "guard_runtime::session::facts"),
            ("every element is the first", "guard_runtime::settle::part"),
            ("what faults is not private", "guard_runtime::private"),
            ("a transform only advises", "guard_runtime::stage::rules"),
            ("a part is changed in the first element", "guard_runtime::transform"),
            ("a result that is not read is shown", "guard_runtime::transform"),
        ],
    ),
    ("proofs are of one plan", &[("a bound is never in flight twice", "guard_proof::bounds")]),
    (
        "what does not follow is not proved",
        &[
            ("a longer age is a shorter one", "guard_proof::claims"),
            ("a success since is any", "guard_proof::claims"),
            ("the last call is any", "guard_proof::claims"),
            ("the last call is of all tools", "guard_proof::claims"),
            ("a failure counts as a success", "guard_proof::claims"),
            ("one tool writes a variable", "guard_proof::claims"),
            ("a counter is full earlier", "guard_proof::claims"),
            ("a counter of successes counts failures", "guard_proof::claims"),
            ("historically is now", "guard_proof::claims"),
            ("once is now", "guard_proof::claims"),
            ("a property is given", "guard_proof::claims"),
            ("whatever holds at first", "guard_compiler::property"),
            ("whatever is tried is kept", "guard_compiler::property"),
            ("a window is any", "guard_compiler::property::limits"),
            ("failures are not counted either way", "guard_compiler::property::limits"),
            ("any count is enough", "guard_compiler::property::limits"),
            ("nobody approves a call over a limit", "guard_compiler::property::limits"),
            ("a limit that asks is a bound", "guard_proof::claims"),
            ("the last calls are the latest", "guard_proof::claims"),
        ],
    ),
];

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
    let found = FOUND.iter().flat_map(|(law, bugs)| bugs.iter().map(|bug| (*law, bug)));
    let open = OPEN.iter().map(|bug| ("", bug));
    let bugs: Vec<(&str, &(&str, &str))> = match &only {
        Some(name) => found.chain(open).filter(|(_, (bug, _))| bug == name).collect(),
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
                while let Some((first, (bug, place))) =
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
