//! Large guards for benchmarks: every tool with its own rules, as a real one has.

use std::fmt::Write as _;

/// A guard with so many tools; about eight lines each.
pub fn guard(tools: usize) -> String {
    let mut text = String::from(
        "guard big\n\nenum Env { dev, staging, prod }\n\nstate {\n  replicas: int in 0..=1000 = 0\n  live: \
         set<Env> max 3 = {}\n}\n\nbudget usd = 100000.00\n\ninvariant cap { replicas <= 900 }\n\n",
    );
    for at in 0..tools {
        let requires =
            if at % 10 == 0 { String::new() } else { format!("  requires tool_{}\n", at - 1) };
        let effect = if at % 2 == 0 { "add env to live" } else { "replicas += count" };
        let _ = write!(
            text,
            "/// Tool number {at}.\ntool tool_{at}(env: Env, count: int in 1..=5, path: path) {{\n{requires}  costs \
             0.50 usd\n  deny when env == staging and count > 3 because \"staging holds at most \
             {{count}}\"\n  effect {effect}\n}}\n\n"
        );
    }
    text
}

/// A guard of so many tools and so many invariants, each over two variables; every tool writes two.
pub fn ledger(tools: usize, invariants: usize) -> String {
    let mut text = String::from("guard ledger\n\nstate {\n");
    for at in 0..invariants {
        let _ = writeln!(text, "  v{at}: int in 0..=100000 = 0");
    }
    text.push_str("}\n\n");
    for at in 0..invariants {
        let next = (at + 1) % invariants;
        let _ = writeln!(text, "invariant i{at} {{ v{at} + v{next} <= 150000 }}");
    }
    for at in 0..tools {
        let a = at % invariants;
        let b = (at + 1) % invariants;
        let _ = write!(
            text,
            "\ntool t{at}(n: int in 0..=1000, m: int in 0..=1000) {{\n  deny unless v{a} + n + v{b} + m <= 150000\n  \
             deny when v{a} + n > 100000\n  effect v{a} += n\n  effect v{b} = m\n}}\n"
        );
    }
    text
}
