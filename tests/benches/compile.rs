//! Benchmarks of parsing and compiling a guard, by its length: 1,000 to 100,000 lines; and of verifying it, by its
//! tools.

use divan::Bencher;
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_syntax::span::FileId;
use guard_tests::big;

/// Tools of a guard of about 1,000, 10,000 and 100,000 lines.
const TOOLS: [usize; 3] = [125, 1_250, 12_500];

fn main() {
    divan::main();
}

#[divan::bench(args = TOOLS, sample_count = 10)]
fn parse(bencher: Bencher, tools: usize) {
    let text = big::guard(tools);
    bencher.bench(|| guard_syntax::parse(FileId(0), &text));
}

#[divan::bench(args = TOOLS, sample_count = 10)]
fn check(bencher: Bencher, tools: usize) {
    let text = big::guard(tools);
    bencher.bench(|| {
        let root = SourceFile { path: "big.guard".into(), text: text.clone() };
        let compilation = compile(root, &mut NoFiles);
        assert!(compilation.output.is_some());
    });
}

/// Measures the verification of a guard with `tools` tools and 100 invariants.
#[divan::bench(args = [125, 250, 500, 1_000], sample_count = 10)]
fn verify(bencher: Bencher, tools: usize) {
    let root = SourceFile { path: "ledger.guard".into(), text: big::ledger(tools, 100) };
    let output = compile(root, &mut NoFiles).output.expect("it compiles");
    bencher.bench(|| guard_compiler::verify::verify(&output.plan));
}
