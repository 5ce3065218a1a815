//! Property tests of a drive, for any plan, any reasoner and any tools.

use super::build::kernel;
use super::wild::{self, Dice, Probes};
use guard_advice::drive::*;
use guard_plan::advice::{Action, Status};
use guard_plan::drive::End;
use guard_plan::json::Json;
use guard_plan::verdict::Decision;
use guard_runtime::*;
use proptest::prelude::*;
use std::cell::RefCell;

/// The calls that were allowed and have not run yet: tools and arguments.
type Allowed = RefCell<Vec<(String, Json)>>;

/// A reasoner with arbitrary replies: garbage, silence, blocked actions, and sometimes a valid
/// choice.
struct Fool(Dice);

impl Reasoner for Fool {
    fn choose(&mut self, situation: &Situation<'_>) -> Reply {
        let dice = &mut self.0;
        let ready = |action: &&Action| action.status == Status::Ready;
        let ready: Vec<&Action> = situation.advice.actions.iter().filter(ready).collect();
        if !ready.is_empty() && dice.one_in(2) {
            let Action { tool, args, .. } = ready[dice.below(ready.len())];
            let args = args.as_ref().map_or("{\"n\":1}".into(), Json::to_string);
            return Reply::Text(format!(r#"{{"action":"{tool}","args":{args}}}"#));
        }
        let tool = match situation.advice.actions.as_slice() {
            [] => "none",
            actions => {
                let action = &actions[dice.below(actions.len())];
                if dice.one_in(2) { &action.tool } else { &action.wire_name }
            }
        };
        let args = dice.pick(&[
            r#"{}"#,
            r#"{"env":"prod"}"#,
            r#"{"count":2}"#,
            r#"{"env":"dev","flag":true}"#,
            r#"{"n":1,"env":"dev"}"#,
            r#"{"text":"x"}"#,
            r#"{"count":9}"#,
        ]);
        match dice.below(12) {
            0 => Reply::TimedOut,
            1 => Reply::Failed("gone".into()),
            2 => Reply::Text("rm -rf /".into()),
            3 => Reply::Text(r#"{"action":"wipe","args":{}}"#.into()),
            4 if dice.one_in(4) => Reply::Text(r#"{"stop":true}"#.into()),
            5 | 6 => Reply::Text(format!(r#"{{"action":"{tool}"}}"#)),
            _ => Reply::Text(format!(r#"{{"action":"{tool}","args":{args}}}"#)),
        }
    }
}

/// Tools that fail the test when they are asked to run a call that was not allowed.
struct Careful<'a>(&'a Allowed, Dice);

impl Tools for Careful<'_> {
    fn run(&mut self, tool: &str, args: &Json) -> ToolOutcome {
        let allowed = self.0.borrow_mut().pop().expect("nothing was allowed");
        assert_eq!((&*allowed.0, &allowed.1), (tool, args));
        if self.1.one_in(3) {
            ToolOutcome::Failure("no".into())
        } else {
            ToolOutcome::Success(None)
        }
    }
}

/// A session that remembers the calls that the kernel has allowed.
struct Notary<'a>(UnrecordedSession<'a>, &'a Allowed);

impl DriveSession for Notary<'_> {
    fn kernel(&self) -> &Kernel {
        self.0.kernel()
    }

    fn state(&self) -> &SessionState {
        self.0.state()
    }

    fn step(&mut self, event: &Event<'_>) -> Result<Outcome, String> {
        let outcome = self.0.step(event)?;
        if let (Event::Propose(proposal), Outcome::Proposed(proposed)) = (event, &outcome)
            && proposed.verdict.decision == Decision::Allow
        {
            let plan = self.kernel().plan();
            let declared = self.kernel().tool(proposal.tool).is_some();
            assert!(plan.default_allow || declared || plan.shadow);
            self.1.borrow_mut().push((proposal.tool.into(), proposal.args.json().unwrap().clone()));
        }
        Ok(outcome)
    }

    fn advise(&mut self, now: i64) -> guard_plan::advice::Advice {
        self.0.advise(now)
    }
}

struct Hands(i64, Dice);

impl Clock for Hands {
    fn now(&mut self) -> i64 {
        self.0 += self.1.below(500) as i64;
        self.0
    }

    fn wait_until(&mut self, at: i64) {
        self.0 = self.0.max(at);
    }
}

struct Moody(Dice);

impl Approvals for Moody {
    fn ask(&mut self, wanted: &Wanted<'_>) -> Option<Approved> {
        assert_eq!(wanted.role, "human");
        self.0.one_in(2).then(|| Approved { by: "ann".into(), expires: None })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_runs_that_is_not_allowed_and_it_ends(seed: u64) {
        let mut dice = Dice::new(seed);
        let kernel = kernel(wild::plan(&mut dice));
        let mut world = Probes::any(&mut dice);
        let (mut session, now) = wild::session(&mut dice, &kernel, &mut world);
        let flying = session.in_flight().len();
        let allowed = Allowed::default();
        let mut more = || Dice::new(dice.below(usize::MAX) as u64);
        let mut io = DriveIo {
            reasoner: &mut Fool(more()),
            tools: &mut Careful(&allowed, more()),
            clock: &mut Hands(now, more()),
            approvals: &mut Moody(more()),
        };
        let limits = DriveLimits { steps: 25, ..DriveLimits::default() };
        let unrecorded =
            UnrecordedSession { kernel: &kernel, session: &mut session, world: &mut world };
        let report = drive(&mut Notary(unrecorded, &allowed), &mut io, &limits);
        // Every allowed call was run and settled.
        prop_assert!(allowed.borrow().is_empty());
        prop_assert_eq!(session.in_flight().len(), flying);
        prop_assert!(report.rounds.len() <= 25);
        prop_assert!(!matches!(report.end, End::Error(_)), "{:?}", report.end);
        for (i, round) in report.rounds.iter().enumerate() {
            prop_assert_eq!(round.number, i as u64 + 1);
            let fallback = round.proposed.as_ref().is_some_and(|put| put.fallback);
            prop_assert!(!fallback || round.invalid.is_some());
        }
        if report.end == End::BudgetExhausted {
            let advice = guard_advice::advise(&kernel, &session, 0, &mut Probes(None));
            prop_assert!(advice.actions.iter().all(|action| action.status == Status::Blocked));
        }
    }
}
