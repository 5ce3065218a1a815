//! A benchmark of parsing a command line of 200 characters.

use divan::{Bencher, black_box};

const LINE: &str = r#"cd crates/foo && RUST_BACKTRACE=1 cargo test --workspace -- --nocapture 2>&1 | grep -v "warning: unused" | tail -n 40 > "$TMP/out.log" || (echo "failed: $?" >&2; for f in src/*.rs; do wc -l "$f"; done)"#;

fn main() {
    divan::main();
}

#[divan::bench]
fn line_of_200_characters(bencher: Bencher) {
    bencher.bench(|| guard_command::read(black_box(LINE), "/workspace"));
}

#[divan::bench]
fn short_line(bencher: Bencher) {
    bencher.bench(|| {
        guard_command::read(black_box("cargo test -p web 2>&1 | tail -20"), "/workspace")
    });
}
