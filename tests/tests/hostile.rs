//! Hostile guards: whatever is written, the compiler answers, on a small stack and soon.

use crate::render::{self, Beside};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Compiles on a thread with 2 MiB of stack, and gives the codes raised, each with how often.
fn codes(name: &str, text: String) -> String {
    let started = Instant::now();
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let found = render::compile("hostile.guard", &text, Beside::default());
        let mut counts: std::collections::BTreeMap<&str, usize> = Default::default();
        found.diagnostics.iter().for_each(|d| *counts.entry(d.code).or_default() += 1);
        let counts: Vec<String> = counts.iter().map(|(code, n)| format!("{code}×{n}")).collect();
        (counts.join(" "), found.output.is_some())
    });
    let (codes, compiled) = worker.expect("a thread").join().expect("no panic");
    let took = started.elapsed();
    println!("{name}: {codes} {} in {took:?}", if compiled { "compiles" } else { "refused" });
    assert!(took < Duration::from_secs(20), "{name} took {took:?}");
    if compiled && codes.is_empty() { "clean".into() } else { codes }
}

fn repeated(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut out, at| {
        let _ = writeln!(out, "{}", line(at));
        out
    })
}

fn guard(items: &str) -> String {
    format!("guard hostile\n\n{items}\n")
}

#[test]
fn nothing_and_noise() {
    assert_eq!(codes("empty", String::new()), "G0101×1");
    assert_eq!(codes("blank", " \n\t\n".into()), "G0101×1");
    assert_eq!(codes("only a name", "guard x".into()), "clean");
    codes("zero bytes", "\0".repeat(10_000));
    codes("brackets", "({[".repeat(10_000));
    codes("words", "tool ".repeat(50_000));
}

#[test]
fn deep_expressions() {
    let deny = |e: String| guard(&format!("tool t(x: int, b: bool) {{ deny when {e} }}"));
    let nested = |n: usize| deny(format!("{}b{}", "(".repeat(n), ")".repeat(n)));
    assert_eq!(codes("parentheses", nested(120)), "clean");
    assert_eq!(codes("too many parentheses", nested(5_000)), "G0011×1");
    codes("and", deny(vec!["b"; 5_000].join(" and ")));
    codes("and at the limit", deny(vec!["b"; 127].join(" and ")));
    codes("plus at the limit", deny(format!("{} > 1", vec!["x"; 126].join(" + "))));
    codes("else", deny(vec!["b"; 5_000].join(" else ")));
    codes("not", deny(format!("{} b", "not ".repeat(5_000))));
    codes("not at the limit", deny(format!("{} b", "not ".repeat(126))));
    codes("fields", deny(format!("x{}", ".y".repeat(5_000))));
    codes("lists", deny(format!("{}{} == []", "[".repeat(120), "]".repeat(120))));
    codes("if", deny(format!("{} b", "if b then b else ".repeat(120))));
    codes("quantifiers", deny(format!("{} b", "all y in [1]: ".repeat(120))));
    codes("calls", deny(format!("{}x{} > 1", "abs(".repeat(120), ")".repeat(120))));
    codes("since", deny(vec!["b"; 120].join(" since ")));
}

#[test]
fn long_clauses() {
    let many = guard(&format!(
        "tool t(x: int) {{\n{}}}",
        repeated(10_000, |at| format!("  deny when x == {at}"))
    ));
    assert_eq!(codes("denies", many), "clean");
    let list: Vec<String> = (0..100_000).map(|at| at.to_string()).collect();
    let list = guard(&format!("tool t(x: int) {{ deny when x in [{}] }}", list.join(", ")));
    assert_eq!(codes("long list", list), "clean");
}

#[test]
fn chains_of_types() {
    let tool = "tool t(x: T0)\n";
    let aliases =
        repeated(10_000, |at| format!("type T{at} = T{}", at + 1)) + "type T10000 = int\n";
    assert_eq!(codes("aliases", guard(&(aliases + tool))), "clean");
    let backwards = repeated(10_000, |at| format!("type T{} = T{}", 9_999 - at, 10_000 - at))
        + "type T10000 = int\n";
    assert_eq!(codes("aliases backwards", guard(&(backwards + tool))), "clean");
    let circle = repeated(10_000, |at| format!("type T{at} = T{}", (at + 1) % 10_000));
    assert_eq!(codes("alias circle", guard(&(circle + tool))), "G0209×1");
    assert_eq!(codes("own alias", guard(&format!("type T0 = T0\n{tool}"))), "G0209×1");
    let lists =
        repeated(10_000, |at| format!("type T{at} = list<T{}>", at + 1)) + "type T10000 = int\n";
    assert_eq!(codes("nested lists", guard(&(lists + tool))), "G0209×1");
    let patterns = repeated(10_000, |at| format!("type T{at} = T{} matches /^a{at}$/", at + 1))
        + "type T10000 = string\n";
    codes("patterns", guard(&(patterns + tool)));
    let syntax = format!("tool t(x: {}int{})", "list<".repeat(5_000), ">".repeat(5_000));
    codes("nested syntax", guard(&syntax));
    let syntax = format!("tool t(x: {}int{})", "list<".repeat(127), ">".repeat(127));
    codes("nested syntax at the limit", guard(&syntax));
}

#[test]
fn chains_of_records() {
    let tool = "tool t(x: R0)\n";
    let chain = |n: usize| {
        let records = repeated(n, |at| format!("record R{at} {{ a: R{0}, b: R{0} }}", at + 1));
        guard(&format!("{records}record R{n} {{ a: int }}\n{tool}"))
    };
    assert_eq!(codes("records", chain(100)), "clean");
    assert_eq!(codes("too many records", chain(10_000)), "G0209×1");
    let circle = repeated(10_000, |at| format!("record R{at} {{ a: R{} }}", (at + 1) % 10_000));
    assert_eq!(codes("record circle", guard(&(circle + tool))), "G0209×1");
    let wide = repeated(100_000, |at| format!("  f{at}: int"));
    assert_eq!(codes("wide record", guard(&format!("record R0 {{\n{wide}}}\n{tool}"))), "clean");
    let own = "record R0 { a: list<map<string, R0>> }\n";
    assert_eq!(codes("own record", guard(&format!("{own}{tool}"))), "G0209×1");
}

#[test]
fn large_enums() {
    let variants = repeated(100_000, |at| format!("  v{at}"));
    let uses = repeated(2_000, |at| format!("  deny when e == v{}", at * 50));
    let text = guard(&format!("enum E {{\n{variants}}}\ntool t(e: E) {{\n{uses}}}"));
    assert_eq!(codes("variants", text), "clean");
    let uses = repeated(2_000, |at| format!("  deny when e == w{}", at * 50));
    let text = guard(&format!("enum E {{\n{variants}}}\ntool t(e: E) {{\n{uses}}}"));
    assert_eq!(codes("unknown variants", text), "G0117×2000");
    let uses = repeated(2_000, |at| format!("  deny when w{at} == x{at}"));
    let text = guard(&format!("enum E {{\n{variants}}}\ntool t(e: E) {{\n{uses}}}"));
    codes("unknown names", text);
}

#[test]
fn groups_and_requirements() {
    let tool = "tool t()\n";
    let nested = repeated(10_000, |at| format!("group g{at} = {{ g{} }}", at + 1));
    let nested = guard(&format!(
        "{nested}group g10000 = {{ t }}\npolicy p for g0 {{ limit 1 per 1m }}\n{tool}"
    ));
    assert_eq!(codes("groups", nested), "clean");
    let circle = repeated(10_000, |at| format!("group g{at} = {{ g{}, t }}", (at + 1) % 10_000));
    let circle = guard(&format!("{circle}policy p for g0 {{ limit 1 per 1m }}\n{tool}"));
    assert_eq!(codes("group circle", circle), "clean");
    let chain = repeated(5_000, |at| format!("tool t{at}() {{ requires t{} }}", at + 1));
    assert_eq!(codes("requirements", guard(&format!("{chain}tool t5000()"))), "clean");
    let circle = repeated(5_000, |at| format!("tool t{at}() {{ requires t{} }}", (at + 1) % 5_000));
    assert_eq!(codes("requirement circle", guard(&circle)), "G0302×1");
    let all: Vec<String> = (0..200).map(|at| format!("t{at}")).collect();
    let dense = repeated(200, |at| format!("tool t{at}() {{ requires {} }}", all.join(", ")));
    codes("requirements of all", guard(&dense));
}

#[test]
fn many_mistakes() {
    let tools = repeated(2_000, |at| format!("tool t{at}(x: int) {{ deny when y{at} > z{at} }}"));
    assert_eq!(codes("unknown names", guard(&tools)), "G0110×4000");
    let tools = repeated(3_000, |at| format!("tool t{at}() {{ requires u{at} }}"));
    assert_eq!(codes("unknown tools", guard(&tools)), "G0111×3000");
    let same = repeated(10_000, |_| "tool t()".into());
    assert_eq!(codes("one name", guard(&same)), "G0102×9999");
    let clauses = repeated(200, |at| format!("  deny when x{at} > 1"));
    let tools = repeated(200, |at| format!("tool t{at}()"));
    let policy = guard(&format!("policy p for all {{\n{clauses}}}\n{tools}"));
    assert_eq!(codes("one policy, many tools", policy), "G0110×200");
}

/// Many of everything: linear, or refused with a stated limit.
#[test]
fn many_rules_and_names() {
    let tools = |n: usize| repeated(n, |at| format!("tool t{at}()"));
    let same = repeated(40_000, |_| "tool a()".into());
    assert_eq!(codes("one name for 40,000 tools", guard(&same)), "G0102×39999");
    let unknown = repeated(20_000, |at| format!("deny when unknown_{at} > {at}"));
    let unknown = codes("20,000 unknown names", guard(&format!("tool t() {{\n{unknown}}}")));
    assert_eq!(unknown, "G0110×20000");
    let limits = |n: usize| {
        repeated(n, |at| format!("policy p{at} for all {{ limit {} per session }}", at + 1))
    };
    let many = codes("500 policies for 500 tools", guard(&(tools(500) + &limits(500))));
    assert_eq!(many, "G0316×1");
    let fewer = codes("90 policies for 500 tools", guard(&(tools(500) + &limits(90))));
    assert!(!fewer.contains("G0316"), "{fewer}");
    let matches = |n: usize| repeated(n, |at| format!("deny when s matches /^w{at}[a-z]+$/"));
    let tool = |clauses: String| guard(&format!("tool t(s: string) {{\n{clauses}}}"));
    assert_eq!(codes("2,000 expressions", tool(matches(2_000))), "G0316×1");
    assert_eq!(codes("500 expressions", tool(matches(500))), "clean");
    let chain = |at: usize| {
        let before: Vec<String> = (0..at).map(|one| format!("t{one}")).collect();
        if before.is_empty() {
            format!("tool t{at}()")
        } else {
            format!("tool t{at}() {{ requires {} }}", before.join(", "))
        }
    };
    codes("300 tools, each requires all before", guard(&repeated(300, chain)));
}

/// Many pairs of tool and invariant, none of them easy: what they may cost together is counted.
#[test]
fn many_hard_proofs() {
    // Without the shared allowance this takes minutes.
    const N: usize = 140;
    let vars = repeated(N, |at| format!("  v{at}: int in 0..400 = {at}"));
    let cases: Vec<String> = (0..N).map(|at| format!("(a != {at} or v{at} == {at})")).collect();
    let choices = repeated(N, |at| {
        let next = (at + 1) % N;
        let last = (at + 2) % N;
        format!("invariant j{at} {{ v{at} == 1 or v{next} == 2 or v{last} >= v{at} - 400 }}")
    });
    let tools = repeated(N, |at| format!("tool t{at}(x: int in 0..400) {{ effect v{at} = x }}"));
    let whole = format!("invariant whole {{ {} }}\n", cases.join(" and "));
    let state = format!("state {{\n  a: int in 0..400 = 0\n{vars}}}\n");
    codes("20,000 hard proofs", guard(&(state + &whole + &choices + &tools)));
}
