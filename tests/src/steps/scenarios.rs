//! Small coupled rules, each about one construct: an invariant, what a tool asks and what it does. With some numbers they are so, with
//! others nearly. They are written down in `suite/proofs/steps.txt`.

use crate::written::{STEPS, scenarios};
use guard_plan::random::Rng;

/// A random one with the number `at`: state, invariant, tool.
pub fn draw(rng: &mut Rng, at: usize) -> (String, String, String) {
    let known = scenarios(STEPS);
    let (state, invariant, body) = *rng.pick(&known);
    let k = rng.below(7);
    let j = rng.below(7);
    let j = if rng.chance(50) { k } else { j };
    let order = ["<=", "<=", "<", ">=", ">", "==", "!="][rng.below(7)];
    let fill = |text: &str| {
        text.replace("K0", "0")
            .replace("J0", ["2", "3", "-2", "-1"][k % 4])
            .replace(" O ", &format!(" {order} "))
            .replace("K", &k.to_string())
            .replace("J", &j.to_string())
    };
    let also = if body.contains("sz2") {
        "  sz: int = 0\n  sz2: decimal = 0\n"
    } else {
        "  sz: int = 0\n"
    };
    let tool = format!(
        "tool s{at}(x: int in 0..=9, y: int, g: string max 5, h: string, f: bool, c: decimal in 0..=9, u: int in -9..=9) {{\n{}\n}}\n",
        fill(body)
    );
    (format!("{also}{state}\n"), format!("invariant s{at} {{ {} }}\n", fill(invariant)), tool)
}
