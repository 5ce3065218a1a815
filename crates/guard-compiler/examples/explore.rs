//! Prints what exploration finds in a guard: `cargo run -p guard-compiler --example explore FILE…`.

use guard_compiler::explore::{ExplorationLimits, explore};
use guard_compiler::{NoFiles, SourceFile, compile};

fn main() {
    let stories = std::env::var_os("STORIES").is_some();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let Some(output) = compile(SourceFile { path: path.clone(), text }, &mut NoFiles).output
        else {
            println!("{path}: does not compile");
            continue;
        };
        let program = &output.program;
        let begin = std::time::Instant::now();
        let found = explore(program, &ExplorationLimits::default(), &|| false);
        let took = begin.elapsed();
        let absent = found.absence();
        println!(
            "{path}: {took:.0?}, {} states, {} calls judged, depth {}, exhausted {}",
            found.states, found.judged, found.depth, found.exhausted
        );
        let line = |what: &str, session: &Option<guard_compiler::explore::ExploredSession>| {
            match session {
                Some(session) => println!("  {what}: {} steps", session.len()),
                None => println!("  {what}: {absent}"),
            }
            if let (true, Some(session)) = (stories, session) {
                print!("{}", session.story(program));
            }
        };
        for (tool, session) in program.tools.iter().zip(&found.tools) {
            line(&format!("tool {}", tool.name), session);
        }
        for (rule, session) in &found.rules {
            line(&format!("{:?} {}: {}", rule.kind, rule.owner, rule.text), session);
        }
        for (goal, session) in program.goals.iter().zip(&found.goals) {
            line(&format!("goal {}", goal.name), session);
        }
        if program.completion.is_some() {
            line("completion", &found.completion);
        }
        if found.deadlock.is_some() {
            line("deadlock", &found.deadlock);
        }
    }
}
