//! Laws of proofs: what is proved is so.

use guard_tests::rng::Rng;
use guard_tests::small::{self, Tried};

/// At four bits, in every state and with every argument.
#[test]
fn what_is_proved_of_small_guards_is_so() {
    let mut tried = Tried::default();
    let mut compiled = 0;
    for seed in 0..seeds(400) {
        let text = small::source(&mut Rng::new(seed));
        let Some(output) = small::compiled(&text) else { continue };
        compiled += 1;
        if let Err(why) = small::try_all(&output, &mut tried) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{compiled} guards: {tried:?}");
    assert!(tried.given * 10 > tried.proved, "hardly any proof needs anything: {tried:?}");
    assert!(tried.proved * 5 > tried.checked, "hardly anything is proved: {tried:?}");
    assert!(tried.impossible > 0, "nothing is impossible: {tried:?}");
}

/// How many seeds are tried: `GUARD_SEEDS` times as many where it is set.
fn seeds(usual: u64) -> u64 {
    let times = std::env::var("GUARD_SEEDS").ok().and_then(|times| times.parse::<u64>().ok());
    usual * times.unwrap_or(1)
}
