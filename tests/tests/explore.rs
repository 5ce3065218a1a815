//! Exploration: cases with what is reachable as a person reads it, and its laws.
//!
//! `tests/suite/explore/*.guard`; `GUARD_BLESS=1` rewrites what stands beside them.

use crate::render::{self, Beside};
use guard_compiler::explore::{
    Act, Exploration, ExplorationLimits, ExploredEnding, ExploredSession, SessionStep, explore,
};
use guard_compiler::hir::Program;
use guard_compiler::reference::Ask;
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Ran, RunEnd, StopDecision};
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_runtime::{
    CallApproval, Ending, HaltEnd, Kernel, Move, Proposal, SessionState, Settlement, StopAttempt,
    UsageReport, UserPrompt, Verify, World,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn guards(folder: &str) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a readable guard");
        (path, text)
    };
    guard_tests::guards_in(&root().join(folder)).into_iter().map(read).collect()
}

fn compiled(text: &str) -> guard_compiler::CompilerOutput {
    let compiled = render::compile("case.guard", text, Beside(Default::default()));
    let problems: Vec<_> = compiled.diagnostics.iter().map(|d| &d.message).collect();
    compiled.output.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

/// Everything that was looked for, by name, and its session.
fn found<'e>(
    program: &Program,
    exploration: &'e Exploration,
) -> Vec<(String, &'e Option<ExploredSession>)> {
    let mut all = Vec::new();
    for (tool, session) in program.tools.iter().zip(&exploration.tools) {
        all.push((format!("tool {}", tool.name), session));
    }
    for (rule, session) in &exploration.rules {
        all.push((format!("{:?} of {}: {}", rule.kind, rule.owner, rule.text), session));
    }
    for (goal, session) in program.goals.iter().zip(&exploration.goals) {
        all.push((format!("goal {}", goal.name), session));
    }
    if program.completion.is_some() {
        all.push(("completion".into(), &exploration.completion));
        all.push(("deadlock".into(), &exploration.deadlock));
    }
    all
}

#[test]
fn cases() {
    let mut failures = String::new();
    for (path, text) in guards("tests/suite/explore") {
        let program = compiled(&text).program;
        let of = explore(&program, &ExplorationLimits::default(), &|| false);
        let mut got = String::new();
        for (name, session) in found(&program, &of) {
            match session {
                Some(session) => {
                    let _ = write!(got, "{name}\n{}", session.story(&program));
                }
                None => {
                    let _ = writeln!(got, "{name}\n     {}", of.absence());
                }
            }
        }
        failures.extend(render::compare(&path.with_extension("out"), &got));
    }
    assert!(failures.is_empty(), "{failures}\nGUARD_BLESS=1 accepts what is printed now");
}

/// A world that answers as a step says.
struct Told<'s>(&'s [(Ask, Json)]);

impl Told<'_> {
    fn truth(&self, ask: &Ask) -> Option<bool> {
        match self.answer(ask)? {
            Json::Bool(is) => Some(*is),
            _ => None,
        }
    }

    fn answer(&self, ask: &Ask) -> Option<&Json> {
        self.0.iter().find(|(known, _)| known == ask).map(|(_, answer)| answer)
    }
}

impl World for Told<'_> {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.truth(&Ask::Exists(path.into()))
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.answer(&Ask::Probe(name.into())).cloned()
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.truth(&Ask::File(path.into()))
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        self.truth(&Ask::Contains(path.into(), text.into()))
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        match self.answer(&Ask::Sha256(path.into()))? {
            Json::String(hash) => Some(Some(hash.to_string())),
            _ => Some(None),
        }
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        let Json::Array(parts) = self.answer(&Ask::Run(command.argv.clone()))? else { return None };
        let [Json::Int(status), Json::String(printed)] = parts.as_slice() else { return None };
        let ended = RunEnd::Exited(*status as i32);
        Some(Ran { ended, output: printed.to_string(), stdout: printed.to_string() })
    }

    fn committed(&mut self) -> Option<bool> {
        self.truth(&Ask::Committed)
    }
}

fn outlines(verdict: &Verdict) -> Vec<(Code, String)> {
    let rule = |r: &guard_plan::verdict::Reason| match r.code {
        Code::Halted => "session".into(),
        _ => r.rule.clone(),
    };
    let mut outlines: Vec<_> = verdict.reasons.iter().map(|r| (r.code, rule(r))).collect();
    outlines.sort();
    outlines.dedup();
    outlines
}

fn settle(
    kernel: &Kernel,
    run: &mut SessionState,
    id: &str,
    then: &ExploredEnding,
    now: i64,
    world: &mut Told,
) {
    let ending = match then {
        ExploredEnding::Succeeds(result) => Ending::Success(result.as_ref()),
        ExploredEnding::Unreadable => Ending::Unreadable { text: "", error: "nothing" },
        ExploredEnding::Fails => Ending::Failure,
        ExploredEnding::Flies => return,
    };
    let settlement = Settlement { call: id, ending, now };
    kernel.settle(run, &settlement, world).expect("the call is in flight");
}

/// Plays a step on the kernel; what it says of a call or a stop must be what the session says.
fn play(
    kernel: &Kernel,
    run: &mut SessionState,
    step: &SessionStep,
    now: &mut i64,
) -> Result<(), String> {
    let world = &mut Told(&step.world);
    let wrong = |e: guard_runtime::StepError| e.to_string();
    match &step.act {
        Act::Call { id, tool, args, then } => {
            let proposal = Proposal { call: id, tool, args: args.into(), now: *now };
            let proposed = kernel.propose(run, &proposal, world).map_err(wrong)?;
            let mut said: Vec<(Code, String)> =
                step.said.reasons.iter().map(|r| (r.0, r.1.clone())).collect();
            said.dedup();
            let decision = proposed.verdict.decision;
            if step.said.decision != Some(decision) || outlines(&proposed.verdict) != said {
                return Err(format!("{:?} and {:?}", proposed.verdict, step.said));
            }
            if decision == Decision::Allow && proposed.served.is_none() {
                settle(kernel, run, id, then, *now, world);
            }
        }
        Act::Settle(id, then) => settle(kernel, run, id, then, *now, world),
        Act::Approve { tool, args, role } => {
            let by = "somebody";
            let approve = CallApproval { tool, args, role, by, expires: None, now: *now };
            kernel.approve(run, &approve).map_err(wrong)?;
        }
        Act::Wait(millis) => *now += millis,
        Act::Prompt(text) => {
            kernel.prompt(run, &UserPrompt { text, now: *now }, world).map_err(wrong)?;
        }
        Act::Usage(unit, amount) => {
            kernel.usage(run, &UsageReport { unit, amount: *amount, now: *now }).map_err(wrong)?;
        }
        Act::Resume => {
            let resume = HaltEnd { role: "operator", by: "somebody", now: *now };
            kernel.resume(run, &resume).map_err(wrong)?;
        }
        Act::Verify(item) => {
            kernel.verify(run, &Verify { item, now: *now }, world).map_err(wrong)?;
        }
        Act::Move(item, transition) => {
            let by = "harness";
            let reason = None;
            let now = *now;
            kernel.move_item(run, &Move { item, transition, by, reason, now }).map_err(wrong)?;
        }
        Act::Stop => {
            let stopped = kernel.stop(run, &StopAttempt { reason: None, now: *now }, world);
            let allowed = stopped.map_err(wrong)?.decision == StopDecision::Allow;
            if allowed != (step.said.decision == Some(Decision::Allow)) {
                return Err(format!("stops {allowed}, not {:?}", step.said));
            }
        }
    }
    Ok(())
}

/// Sessions found by exploration replay alike on the kernel and on the reference evaluator, and read as tests.
#[test]
fn sessions_replay() {
    let folders = ["specs/examples", "specs/seeds", "tests/suite/explore"];
    let mut sessions = 0;
    for (path, text) in folders.iter().flat_map(|folder| guards(folder)) {
        let output = compiled(&text);
        let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("the plan loads");
        let kernel = Kernel::new(loaded).expect("the plan runs");
        let of = explore(&output.program, &ExplorationLimits::default(), &|| false);
        let mut tests = text.clone();
        for (name, session) in found(&output.program, &of) {
            let Some(session) = session else { continue };
            assert!(session.replays(&output.program), "{name} of {path:?}");
            let data = session.data.as_ref();
            let mut now = session.start;
            let mut run = kernel.open_with("s", now, "/workspace", data).expect("it opens");
            for (at, step) in session.steps.iter().enumerate() {
                if let Err(what) = play(&kernel, &mut run, step, &mut now) {
                    let story = session.story(&output.program);
                    panic!("{name} of {path:?}, step {}: {what}\n{story}", at + 1);
                }
            }
            sessions += 1;
            tests += "\n";
            tests += &session.test_block(&output.program, &format!("{sessions}: {name}"));
        }
        compiled(&tests);
    }
    assert!(sessions > 200, "only {sessions} sessions");
}

/// Returns the lengths of the shortest sessions by what they show; `None` if the exploration was not complete.
fn lengths(text: &str) -> Option<Vec<(String, Option<usize>)>> {
    let program = compiled(text).program;
    let limits = ExplorationLimits {
        depth: 12,
        states: 2_000,
        calls: 40_000,
        ..ExplorationLimits::default()
    };
    let of = explore(&program, &limits, &|| false);
    let length = |(name, session): (String, &Option<ExploredSession>)| {
        (name, session.as_ref().map(|session| session.len()))
    };
    let mut all: Vec<_> = found(&program, &of).into_iter().map(length).collect();
    all.sort();
    of.whole.then_some(all)
}

/// Neither the order of declarations nor names change how far away something is.
/// A long chain of requirements: the tools out of reach share the calls that are judged.
#[test]
fn many_tools_out_of_reach_share_the_effort() {
    let chain = (1..60).map(|at| format!("tool t{at}() {{ requires t{} since edit }}\n", at - 1));
    let text = format!("guard chain\ntool edit()\ntool t0()\n{}", chain.collect::<String>());
    let of = explore(&compiled(&text).program, &ExplorationLimits::default(), &|| false);
    assert!(of.tools.iter().any(Option::is_none));
    assert!(of.judged < 300_000, "{}", of.judged);
}

/// Neither the order of declarations nor names change how far away something is.
#[test]
fn order_and_names_do_not_matter() {
    let mut rng = guard_plan::random::Rng::new(11);
    let mut compared = 0;
    for (path, text) in guards("tests/suite/explore") {
        let Some(expected) = lengths(&text) else { continue };
        for _ in 0..3 {
            let mut file = guard_syntax::parse(guard_syntax::span::FileId(0), &text).file;
            crate::laws::shuffle(&mut file, &mut rng);
            let shuffled = guard_syntax::print(&file);
            assert_eq!(lengths(&shuffled), Some(expected.clone()), "{path:?}\n{shuffled}");
        }
        let program = compiled(&text).program;
        let mut renamed = text.clone();
        for (at, var) in program.state.iter().enumerate() {
            renamed = renamed.replace(&var.name, &format!("v{}_{}", 9 - at, var.name));
        }
        let of_names = |of: Vec<(String, Option<usize>)>| {
            let mut lengths: Vec<Option<usize>> = of.into_iter().map(|(_, len)| len).collect();
            lengths.sort();
            lengths
        };
        let again = lengths(&renamed).map(of_names);
        assert_eq!(again, Some(of_names(expected)), "{path:?}\n{renamed}");
        compared += 1;
    }
    assert!(compared >= 5, "only {compared} guards were looked at whole");
}
