//! Advice and drives over the guards that users see.

use guard_advice::drive::*;
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::drive::{DriveReport, End};
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Ran, RunEnd};
use guard_runtime::{Kernel, World};
use guard_tests::guards_in;
use std::path::Path;

fn guard(path: &str) -> Kernel {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let text = std::fs::read_to_string(specs.join(path)).expect("a guard");
    let output = compile(SourceFile { path: path.into(), text }, &mut NoFiles).output;
    let output = output.expect("a guard that compiles");
    Kernel::new(LoadedPlan::from_plan(output.plan, output.sources).unwrap()).unwrap()
}

/// A place where every command succeeds.
struct Bright;

impl World for Bright {
    fn exists(&mut self, _: &str) -> Option<bool> {
        Some(false)
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        Json::parse(if name == "quality_score" { "0.9" } else { "0" }).ok()
    }

    fn file(&mut self, _: &str) -> Option<bool> {
        Some(true)
    }

    fn run(&mut self, _: &Command) -> Option<Ran> {
        let output = String::new();
        let stdout = String::new();
        Some(Ran { ended: RunEnd::Exited(0), output, stdout })
    }
}

/// Tools that do as they are told, and say what they are called.
#[derive(Default)]
struct Obedient(Vec<String>);

impl Tools for Obedient {
    fn run(&mut self, tool: &str, _: &Json) -> ToolOutcome {
        self.0.push(tool.into());
        ToolOutcome::Success(Json::parse(r#"{"name": "db-1"}"#).ok())
    }
}

/// Checks that a JSON text conforms to its published schema.
#[track_caller]
fn conforms(name: &str, text: &str) {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/reference/{name}.schema.json"));
    let schema = std::fs::read_to_string(page).expect("a schema");
    let schema = serde_json::from_str(&schema).expect("JSON");
    let instance = serde_json::from_str(text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let errors: Vec<String> =
        validator.iter_errors(&instance).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

struct Still;

impl Clock for Still {
    fn now(&mut self) -> i64 {
        0
    }

    fn wait_until(&mut self, _: i64) {}
}

fn driven(
    path: &str,
    reasoner: &mut dyn Reasoner,
    limits: &DriveLimits,
) -> (DriveReport, Vec<String>) {
    let kernel = guard(path);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let mut tools = Obedient::default();
    let world = &mut Bright;
    let mut session = UnrecordedSession { kernel: &kernel, session: &mut session, world };
    let mut io = DriveIo { reasoner, tools: &mut tools, clock: &mut Still, approvals: &mut Nobody };
    (drive(&mut session, &mut io, limits), tools.0)
}

/// The example of the source, played to its end by the advice alone: whoever should choose says nothing useful.
#[test]
fn the_advice_alone_deploys() {
    let nonsense = (0..40).map(|_| "I am not sure.");
    let limits = DriveLimits { invalid: 40, ..DriveLimits::default() };
    let (report, ran) = driven("seeds/constrai.guard", &mut Scripted::new(nonsense), &limits);
    conforms("drive-report", &serde_json::to_string(&report).expect("JSON"));
    assert_eq!(report.end, End::GoalReached, "{ran:?}");
    assert_eq!(ran, ["analyze", "build", "test", "provision", "deploy", "announce"]);
}

/// Tools that the kernel serves are chosen by name; they are neither advised nor run.
#[test]
fn items_are_served() {
    let create = r#"{"action": "todo_create", "args": {"content": "x", "criteria": [{"git_commit": true}]}}"#;
    let start = r#"{"action": "todo_start", "args": {"id": "todo-1"}}"#;
    let script = [create, start, start];
    let (report, ran) = driven(
        "seeds/compymac.guard",
        &mut Scripted::new(script),
        &DriveLimits { steps: 3, ..DriveLimits::default() },
    );
    let invalid: Vec<bool> = report.rounds.iter().map(|round| round.invalid.is_some()).collect();
    assert_eq!(invalid, [false, false, true], "{:?}", report.rounds);
    assert!(!ran.iter().any(|tool| tool.starts_with("todo")));
}

/// Every guard of `specs` has advice, and its text stays short.
#[test]
fn every_guard_has_advice() {
    let folders = ["examples", "seeds"];
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    for path in folders.iter().flat_map(|folder| guards_in(&specs.join(folder))) {
        let kernel = guard(&path.strip_prefix(&specs).expect("below").to_string_lossy());
        let session = kernel.open("s", 0, "/ws").unwrap();
        let advice = guard_advice::advise(&kernel, &session, 0, &mut Bright);
        conforms("advice", &advice.to_json());
        let again: guard_plan::advice::Advice =
            serde_json::from_str(&advice.to_json()).expect("advice");
        assert_eq!(again, advice, "{}", path.display());
        assert!(advice.text().len() < 40_000, "{}", path.display());
    }
}
