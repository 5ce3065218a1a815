//! A measurement of the time of parsing and formatting: `cargo run --release -p guard-syntax
//! --example timing [FILE…]`.
//!
//! Without files, generated guards of growing length are parsed. With files, each file is parsed
//! and its diagnostics are shown.

use guard_syntax::span::FileId;
use std::fmt::Write as _;
use std::time::Instant;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        for lines in [1_000, 10_000, 100_000] {
            let text = generated(lines / 10);
            time(&format!("{} lines, {} KB", text.lines().count(), text.len() / 1000), &text);
        }
    }
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for d in &time(&path, &text).diagnostics {
            println!("  {}..{} {} {}", d.primary.span.start, d.primary.span.end, d.code, d.message);
        }
    }
}

fn time(what: &str, text: &str) -> guard_syntax::Parse {
    let parse = guard_syntax::parse(FileId(0), text);
    let runs = (20_000_000 / text.len().max(1)).clamp(3, 50);
    let measure = |f: &dyn Fn()| {
        let times = (0..runs).map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64() * 1000.0
        });
        times.fold(f64::MAX, f64::min)
    };
    let parsing = measure(&|| drop(guard_syntax::parse(FileId(0), text)));
    let formatting = measure(&|| drop(guard_syntax::format(text)));
    println!(
        "{what}: {} items, parse {parsing:.2} ms, format {formatting:.2} ms",
        parse.file.items.len()
    );
    parse
}

/// Returns a guard of `tools` tools with one rule each.
fn generated(tools: usize) -> String {
    let mut text = String::from(
        "guard generated\n\nstate {\n  total: int in 0..=1000000 = 0\n}\n\nbudget usd = 5000.00\n",
    );
    for n in 0..tools {
        let _ = write!(
            text,
            "\n/// Does the work of step {n}.\ntool step_{n}(path: path, count: int in 1..=5, mode: string max 80) {{\n  \
             costs 0.25 * count usd\n  requires step_{} since step_0 within 10m\n  \
             deny when count > 3 and not (mode in {{\"fast\", \"slow\"}}) or total + count >= 900000 because \"{{path}} is too much for {{mode}}\"\n  \
             limit 5 per 1h by path // keyed\n  effect {{\n    total += count * 2\n  }}\n}}\n",
            n / 2
        );
    }
    text
}
