//! Any lines of events on a guard that uses every clause: never a panic, never a state outside its types.
//!
//! A line is a tool's name and JSON arguments; `!` settles the latest call with JSON as its result, `?` as
//! a failure; `>` is a prompt, `.` a stop, `=` verifies an item, `/` moves one (`/todo-1 reopen`), `*` asks for
//! advice; digits alone let seconds pass. What the world says is drawn from the question.

#![no_main]

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Ran, RunEnd};
use guard_runtime::{Ending, Kernel, Move, UserPrompt, Proposal, Settlement, StopAttempt, Verify, World};
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

/// Says one thing or another, and now and then nothing.
struct Fickle(u32);

impl Fickle {
    fn draw(&mut self) -> Option<bool> {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match self.0 >> 30 {
            0 => None,
            one => Some(one == 1),
        }
    }
}

impl World for Fickle {
    fn exists(&mut self, _: &str) -> Option<bool> {
        self.draw()
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        self.draw().map(|half| Json::Number(if half { "0.5" } else { "7" }.into()))
    }

    fn file(&mut self, _: &str) -> Option<bool> {
        self.draw()
    }

    fn contains(&mut self, _: &str, _: &str) -> Option<bool> {
        self.draw()
    }

    fn sha256(&mut self, _: &str) -> Option<Option<String>> {
        self.draw().map(|there| there.then(|| "0".repeat(64)))
    }

    fn run(&mut self, _: &Command) -> Option<Ran> {
        let ended = if self.draw()? { RunEnd::Exited(0) } else { RunEnd::TimedOut };
        Some(Ran { ended, output: "<oh>".into(), stdout: String::new() })
    }

    fn committed(&mut self) -> Option<bool> {
        self.draw()
    }
}

fuzz_target!(|text: &str| {
    let kernel = &*KERNEL;
    let (data, text) = text.split_once('\n').unwrap_or(("", text));
    let data = Json::parse(data).ok();
    let opened = kernel.open_with("s", 0, "/workspace", data.as_ref());
    let mut session = opened.expect("it opens");
    let world = &mut Fickle(text.len() as u32);
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
            let _ = kernel.settle(&mut session, &Settlement { call: &call, ending, now }, world);
        } else if let Some(text) = line.strip_prefix('>') {
            let _ = kernel.prompt(&mut session, &UserPrompt { text, now }, world);
        } else if line == "." {
            let _ = kernel.stop(&mut session, &StopAttempt { reason: None, now }, world);
        } else if line == "*" {
            let advice = guard_advice::advise(&kernel, &session, now, world);
            assert!(!advice.text().is_empty());
        } else if let Some(item) = line.strip_prefix('=') {
            let _ = kernel.verify(&mut session, &Verify { item, now }, world);
        } else if let Some((item, transition)) = line.strip_prefix('/').and_then(|l| l.split_once(' ')) {
            let by = Move { item, transition, by: "fuzz", reason: Some("because"), now };
            let _ = kernel.move_item(&mut session, &by);
        } else if let Some((tool, args)) = line.split_once(' ')
            && let Ok(args) = Json::parse(args)
        {
            let proposal = Proposal { call: &call, tool, args: (&args).into(), now };
            if kernel.propose(&mut session, &proposal, world).is_ok() {
                flying.push(call);
            }
        }
    }
    let _ = session.state_json(kernel);
});
