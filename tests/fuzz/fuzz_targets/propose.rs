//! Any lines of events on a guard that uses every clause: never a panic, never a state outside its types.
//!
//! A line is a tool's name and JSON arguments; `!` settles the oldest call with JSON as its result, `?` as
//! a failure; digits alone let seconds pass.

#![no_main]

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, Settlement};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static KERNEL: LazyLock<Kernel> = LazyLock::new(|| {
    let text = include_str!("../every_clause.guard");
    let root = SourceFile { path: "every_clause.guard".into(), text: text.into() };
    let compilation = compile(root, &mut NoFiles);
    let output = compilation.output.unwrap_or_else(|| panic!("{:?}", compilation.diagnostics));
    let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("it loads");
    Kernel::new(loaded).expect("it runs")
});

fuzz_target!(|text: &str| {
    let kernel = &*KERNEL;
    let mut session = kernel.open("s", 0, "/workspace").expect("it opens");
    let mut now = 0i64;
    let mut flying: Vec<String> = Vec::new();
    for (at, line) in text.lines().take(200).enumerate() {
        let call = at.to_string();
        if let Ok(seconds) = line.parse::<u32>() {
            now += i64::from(seconds) * 1000;
        } else if let Some(result) = line.strip_prefix('!').or(line.strip_prefix('?')) {
            let Some(call) = flying.pop() else { continue };
            let result = Json::parse(result).ok();
            let ending = if line.starts_with('!') { Ending::Success(result.as_ref()) } else { Ending::Failure };
            let _ = kernel.settle(&mut session, &Settlement { call: &call, ending, now }, &mut NoWorld);
        } else if let Some((tool, args)) = line.split_once(' ')
            && let Ok(args) = Json::parse(args)
        {
            let proposal = Proposal { call: &call, tool, args: &args, now };
            if kernel.propose(&mut session, &proposal, &mut NoWorld).is_ok() {
                flying.push(call);
            }
        }
    }
    let _ = session.state_json(kernel);
});
