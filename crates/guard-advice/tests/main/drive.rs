//! Tests of drives of small plans, with one claim each.

use super::build::*;
use guard_advice::drive::*;
use guard_plan::drive::{DriveReport, End, RoundOutcome};
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::verdict::Code;
use guard_runtime::*;
use std::io::{BufReader, Cursor, Read};

/// Tools that record their calls. Those in `fails` fail.
#[derive(Default)]
struct Log {
    ran: Vec<String>,
    fails: Vec<&'static str>,
}

impl Tools for Log {
    fn run(&mut self, tool: &str, args: &Json) -> ToolOutcome {
        self.ran.push(format!("{tool}{args}").replace("wire.", "").replace("{}", ""));
        if self.fails.iter().any(|name| tool.ends_with(name)) {
            ToolOutcome::Failure("it broke\nbadly".into())
        } else {
            ToolOutcome::Success(None)
        }
    }
}

/// A clock that does not advance until a caller waits.
#[derive(Default)]
struct Still {
    now: i64,
    waits: Vec<i64>,
}

impl Clock for Still {
    fn now(&mut self) -> i64 {
        self.now
    }

    fn wait_until(&mut self, at: i64) {
        self.waits.push(at - self.now);
        self.now = at;
    }
}

/// A probe that answers yes after this many questions.
struct Later(usize);

impl World for Later {
    fn exists(&mut self, _: &str) -> Option<bool> {
        None
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        self.0 = self.0.saturating_sub(1);
        Some(Json::Bool(self.0 == 0))
    }
}

/// A person who approves everything, once.
struct Ann(bool);

impl Approvals for Ann {
    fn ask(&mut self, wanted: &Wanted<'_>) -> Option<Approved> {
        assert_eq!((wanted.role, wanted.message), ("human", "`risky` needs the approval of human"));
        std::mem::replace(&mut self.0, false).then(|| Approved { by: "ann".into(), expires: None })
    }
}

/// A drive under test.
struct Run {
    kernel: Kernel,
    session: SessionState,
    tools: Log,
    world: Later,
    clock: Still,
    ann: Ann,
    limits: DriveLimits,
}

impl Run {
    fn new(plan: Plan) -> Run {
        let kernel = kernel(plan);
        let session = kernel.open("s", 0, "/ws").unwrap();
        let tools = Log::default();
        let world = Later(0);
        let clock = Still::default();
        let ann = Ann(false);
        Run { kernel, session, tools, world, clock, ann, limits: DriveLimits::default() }
    }

    fn with(&mut self, reasoner: &mut dyn Reasoner) -> DriveReport {
        let Run { kernel, session, world, .. } = self;
        let mut session = UnrecordedSession { kernel, session, world };
        let mut io = DriveIo {
            reasoner,
            tools: &mut self.tools,
            clock: &mut self.clock,
            approvals: &mut self.ann,
        };
        drive(&mut session, &mut io, &self.limits)
    }

    fn drive(&mut self, replies: &[&str]) -> DriveReport {
        self.with(&mut Scripted::new(replies.iter().copied()))
    }
}

/// A plan with `a` before `b`, in which `b` reaches the goal.
fn two() -> Plan {
    let mut plan = plan();
    plan.state.push(variable("done", BOOL, Node::Bool(false)));
    plan.tools = vec![tool("a", &[]), tool("b", &[])];
    plan.tools[1].requires.push(requires("b", &[0]));
    plan.tools[1].effects.push(effect("b", 0, EffectOp::Set, expr([Node::Bool(true)])));
    let conditions = vec![("done".into(), expr([Node::State(0)]))];
    plan.goals.push(Goal { name: "g".into(), doc: String::new(), span: 0, conditions });
    plan
}

/// A plan without a goal and with one tool.
fn one() -> Plan {
    let mut plan = plan();
    plan.tools.push(tool("a", &[]));
    plan
}

const A: &str = r#"{"action": "a", "reasoning": "first"}"#;
const B: &str = r#"{"action": "b", "args": {}}"#;

#[test]
fn to_the_goal() {
    let mut run = Run::new(two());
    let report = run.drive(&[A, B]);
    assert_eq!((report.end, report.rounds.len()), (End::GoalReached, 2));
    assert_eq!(report.progress.unwrap().to_string(), "1");
    let round = &report.rounds[0];
    assert_eq!((round.choice.as_deref(), &*round.reasoning), (Some("a"), "first"));
    assert_eq!((&round.invalid, &round.outcome), (&None, &RoundOutcome::Succeeded));
    let put = round.proposed.as_ref().unwrap();
    assert_eq!((&*put.tool, put.fallback, put.value.is_some()), ("wire.a", false, true));
    assert_eq!(report.spent[0].amount.to_string(), "2");
    assert_eq!(run.tools.ran, ["a", "b"]);
}

/// An invalid choice is replaced by the best action that is ready.
#[test]
fn invalid_choices_fall_back() {
    let check = |reply: Reply, why: &str| {
        let mut run = Run::new(two());
        let report = run.with(&mut Scripted::replying([reply]));
        assert_eq!(report.rounds[0].invalid.as_deref(), Some(why));
        assert_eq!(report.rounds[0].outcome, RoundOutcome::Succeeded);
        assert!(report.rounds[0].proposed.as_ref().unwrap().fallback);
        assert_eq!((report.end, run.tools.ran), (End::Stopped, vec!["a".to_owned()]));
    };
    let text = |text: &str| Reply::Text(text.into());
    check(text("Sure! I would"), "the reply is not JSON: expected a value at line 1, column 1");
    check(text(B), "requires: `b` requires `a` (call `a` first)");
    check(
        text(r#"{"action": "wipe_disk"}"#),
        "unknown_tool: the guard declares no tool `wipe_disk`",
    );
    check(
        text(r#"{"action": "a", "args": {"force": true}}"#),
        "invalid_arguments: `force`: is not a parameter; there are none (`a` takes ())",
    );
    check(Reply::TimedOut, "the reasoner took too long");
    check(Reply::Failed("gone".into()), "gone");
}

#[test]
fn a_blocked_action_is_never_run() {
    let mut run = Run::new(two());
    run.tools.fails = vec!["a"];
    let report = run.drive(&[B; 40]);
    assert_eq!(report.end, End::Failures);
    assert_eq!(run.tools.ran, ["a"; 5]);
    let outcome = &report.rounds[4].outcome;
    assert_eq!(*outcome, RoundOutcome::Failed("it broke\\nbadly".into()));
}

#[test]
fn getting_nowhere() {
    let mut run = Run::new(two());
    let report = run.drive(&[A; 40]);
    // The first success is new, the ten after it are not.
    assert_eq!((report.end, report.rounds.len()), (End::Stuck, 11));

    let mut run = Run::new(plan());
    let report = run.drive(&[A; 40]);
    assert_eq!((report.end, report.rounds.len()), (End::InvalidChoices, 10));
    assert_eq!(report.rounds[0].outcome, RoundOutcome::Refused);

    run.limits.invalid = 100;
    let report = run.drive(&["", "[]"]);
    assert_eq!(report.rounds[1].outcome, RoundOutcome::Nothing);
}

#[test]
fn limits_of_steps_budget_and_time() {
    let mut run = Run::new(two());
    run.limits.steps = 3;
    let report = run.drive(&[A; 40]);
    assert_eq!((report.end, report.rounds.len()), (End::StepLimit, 3));

    let mut plan = one();
    plan.units = vec![unit("calls", Some(2))];
    let report = Run::new(plan).drive(&[A; 40]);
    assert_eq!((report.end, report.rounds.len()), (End::BudgetExhausted, 2));

    let mut plan = one();
    plan.deadline = Some(1_000);
    let mut run = Run::new(plan);
    run.clock.now = 1_000;
    assert_eq!(run.drive(&[A]).end, End::Deadline);

    let mut plan = one();
    let condition = expr([Node::Bool(false)]);
    plan.tools[0].reconciles.push(reconcile("a", condition, "false"));
    let report = Run::new(plan).drive(&[A, A]);
    assert_eq!((report.end, report.rounds.len()), (End::Halted, 1));
}

#[test]
fn stopping() {
    let report = Run::new(two()).drive(&[r#"{"stop": true, "reasoning": "enough"}"#]);
    assert_eq!((report.end, report.incomplete), (End::Stopped, false));
    assert_eq!(report.rounds[0].outcome, RoundOutcome::Stopped);
    assert_eq!(report.rounds[0].reasoning, "enough");
}

/// A reached goal does not end the drive before the completion holds, and this is reported once.
#[test]
fn completion_holds_a_drive() {
    let mut plan = two();
    let kind = CheckKind::Condition(expr([Node::Called {
        tool: 2,
        key: None,
        since: None,
        within: None,
    }]));
    let check = Check { kind, text: "called(report)".into(), span: 0 };
    plan.completion = Some(Completion { span: 0, at_most: 20, checks: Checks(vec![check]) });
    plan.tools.push(tool("report", &[]));
    let stop = r#"{"stop": true}"#;
    let report = Run::new(plan).drive(&[stop, A, B, r#"{"action": "report"}"#]);
    assert_eq!((report.end, report.incomplete, report.rounds.len()), (End::GoalReached, false, 4));
    let RoundOutcome::StopBlocked(why) = &report.rounds[0].outcome else { panic!("blocked") };
    assert!(why.contains("called(report)"), "{why}");
}

/// A reasoner that keeps the outcomes of the last rounds that it receives.
#[derive(Default)]
struct Listener(Vec<String>);

impl Reasoner for Listener {
    fn choose(&mut self, situation: &Situation<'_>) -> Reply {
        let last = situation.last.unwrap_or_default();
        self.0.push(format!("{last} {}", situation.feedback));
        assert!(situation.text.contains(situation.feedback));
        Reply::Text(if self.0.len() < 3 { A } else { r#"{"stop":true}"# }.into())
    }
}

#[test]
fn feedback_is_heard_in_the_next_round() {
    let mut plan = one();
    let message = Message { parts: vec![Part::Text("Go on.".into())] };
    let block = Block { severity: Severity::Info, when: None, message, notes: vec![] };
    let triggers = vec![Trigger::Calls(2)];
    plan.feedback.push(Feedback { name: "coach".into(), span: 0, triggers, blocks: vec![block] });
    let mut listener = Listener::default();
    Run::new(plan).with(&mut listener);
    assert_eq!(
        listener.0,
        [
            " ",
            "`wire.a` succeeded ",
            "`wire.a` succeeded <feedback provider='coach'>\nGo on.\n</feedback>",
        ]
    );
}

#[test]
fn approvals() {
    let risky = || {
        let mut plan = plan();
        let mut risky = tool("risky", &[]);
        risky.approvals.push(approval("risky", "human"));
        plan.tools.push(risky);
        Run::new(plan)
    };
    let choice = r#"{"action": "risky"}"#;
    let mut run = risky();
    let report = run.drive(&[choice]);
    assert_eq!(
        (&report.rounds[0].outcome, &report.rounds[0].invalid),
        (&RoundOutcome::NotApproved, &None)
    );
    assert!(run.tools.ran.is_empty());

    let mut run = risky();
    run.ann = Ann(true);
    let report = run.drive(&[choice, choice, "garbage"]);
    assert_eq!(report.rounds[0].outcome, RoundOutcome::Succeeded);
    assert_eq!(report.rounds[1].outcome, RoundOutcome::NotApproved);
    // An action that needs an approval never replaces a choice.
    assert_eq!(report.rounds[2].outcome, RoundOutcome::Nothing);
    assert_eq!(run.tools.ran, ["risky"]);
}

/// A drive waits for a probe that is not ready. It waits longer each time, by the clock of the
/// host.
#[test]
fn waiting() {
    let mut plan = one();
    plan.probes.push(probe("db", BOOL));
    plan.tools[0].ready.push(Ready { rule: rule("a"), probe: 0 });
    let mut run = Run::new(plan);
    run.world = Later(9);
    run.limits.longest_wait = 3_000;
    let report = run.drive(&[A; 6]);
    assert_eq!(run.clock.waits, [1_000, 2_000, 3_000, 3_000]);
    assert_eq!(
        (&report.rounds[0].outcome, &report.rounds[0].invalid),
        (&RoundOutcome::Waited(1_000), &None)
    );
    assert_eq!(report.rounds[0].proposed.as_ref().unwrap().reasons[0].code, Code::NotReady);
    assert_eq!(run.tools.ran[0], "a");
}

/// The drive waits exactly as long as the guard sets between two questions to a probe. It does not wait for a probe
/// that is given up, and ends as stuck.
#[test]
fn waiting_as_the_guard_says() {
    let mut plan = one();
    plan.probes.push(Probe {
        backoff: Some(Backoff { factor: 3_000_000, up_to: 5_000 }),
        within: Some(8_000),
        ..probe("db", BOOL)
    });
    plan.tools[0].ready.push(Ready { rule: rule("a"), probe: 0 });
    let mut run = Run::new(plan);
    run.world = Later(usize::MAX);
    let report = run.drive(&[A; 40]);
    // The window of eight seconds ends with an attempt.
    assert_eq!(run.clock.waits, [1_000, 3_000, 4_000]);
    assert_eq!((report.end, run.tools.ran.len()), (End::Stuck, 0));
}

#[test]
fn reports_are_short_and_keep_secrets() {
    let mut plan = plan();
    plan.tools.push(tool("login", &[("token", STRING), ("name", STRING)]));
    let long = "n".repeat(10_000);
    let choice = format!(
        r#"{{"action": "login", "args": {{"token": "hunter2", "name": "x"}}, "reasoning": "{long}"}}"#
    );
    let longer = format!(r#"{{"action": "login", "args": {{"token": "t", "name": "{long}"}}}}"#);
    let report = Run::new(plan).drive(&[&choice, &longer]);
    let args = |round: usize| report.rounds[round].proposed.as_ref().unwrap().args.to_string();
    assert_eq!(args(0), r#"{"token":"(secret)","name":"x"}"#);
    assert!(report.rounds[0].reasoning.len() < 600 && args(1).len() < 600);
}

/// The reasoner receives the outcome of its last choice, and the pipe carries one object per line.
#[test]
fn json_lines() {
    let replies = format!("{B}\nnot json\n{}\n{A}\n\u{fffd}", "x".repeat(MAX_REPLY_BYTES * 3));
    let mut written = Vec::new();
    let mut run = Run::new(two());
    run.limits.stuck = 3;
    let report = run.with(&mut JsonLines::new(Cursor::new(replies), &mut written));
    let invalid: Vec<_> =
        report.rounds.iter().map(|round| round.invalid.as_deref().unwrap_or("")).collect();
    assert_eq!(invalid[0], "requires: `b` requires `a` (call `a` first)");
    assert_eq!(invalid[1], "the reply is not JSON: expected a value at line 1, column 1");
    assert_eq!(report.end, End::GoalReached);
    let lines: Vec<Json> = String::from_utf8(written)
        .unwrap()
        .lines()
        .map(|line| Json::parse(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    let last = lines[1].get("last").and_then(Json::as_str);
    assert_eq!(
        last,
        Some(
            "your choice was not accepted: requires: `b` requires `a` (call `a` first); instead `wire.a` \
             succeeded"
        )
    );
    let text = lines[1].get("text").and_then(Json::as_str).unwrap();
    assert!(
        text.starts_with("LAST ROUND: your choice") && text.contains("\n### [READY] b (id=b)\n")
    );
    assert!(lines[1].get("advice").and_then(|advice| advice.get("actions")).is_some());
}

#[test]
fn long_lines_and_silence() {
    let long = "x".repeat(MAX_REPLY_BYTES * 3);
    // The longest line that is read, a line that is too long, a valid line without a line break,
    // and nothing.
    let replies = format!("{}\n{long}\n{A}", "y".repeat(MAX_REPLY_BYTES));
    let mut run = Run::new(one());
    run.limits.steps = 4;
    let reader = BufReader::with_capacity(7, replies.as_bytes().chain(std::io::empty()));
    let report = run.with(&mut JsonLines::new(reader, std::io::sink()));
    let invalid: Vec<_> =
        report.rounds.iter().map(|round| round.invalid.as_deref().unwrap_or("")).collect();
    assert_eq!(
        invalid,
        [
            "the reply is not JSON: expected a value at line 1, column 1",
            "the reply is longer than 1048576 bytes",
            "",
            "the reasoner has ended",
        ]
    );
}
