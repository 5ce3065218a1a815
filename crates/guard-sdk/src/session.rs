//! A durable session: kernel, world, recorder and store behind one interface.

use crate::arguments::{CallArguments, read};
use crate::clock::system_time;
use crate::error::SessionError;
use crate::guard::Guard;
use crate::persistence::Persistence;
use crate::recorded::Recorded;
use crate::world::AnsweringWorld;
use guard_hosts::Host;
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_runtime::{
    Arguments, CallApproval, Ending, Event, HaltEnd, Learned, Move, Moved, Outcome, Proposal,
    Proposed, Recorder, Revocation, SessionState, Settled, Settlement, StopAttempt, Stopped,
    UsageReport, UserPrompt, Verify, World,
};

/// One agent's run under a guard.
///
/// Every method that takes an event returns after the event's record is stored. After an error the
/// event has no effect, unless the store failed: then the session refuses everything
/// ([`SessionError::Broken`]) until it is opened again.
pub struct Session<W = Host> {
    pub(crate) guard: Guard,
    pub(crate) state: SessionState,
    pub(crate) recorder: Recorder,
    pub(crate) world: AnsweringWorld<W>,
    pub(crate) persistence: Persistence,
    /// The time of the next event, if it is not the system's time.
    pub(crate) next_time: Option<Millis>,
    pub(crate) resumed: bool,
    /// The person or system for whom the agent acts, from the host that opened the session.
    pub(crate) actor: Option<String>,
}

impl<W: World> Session<W> {
    /// Sets the time of the next event, in milliseconds since 1970, in place of the system's time.
    /// The session's clock never runs backwards.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ndeadline 1h\ntool ping()")?;
    /// let mut session = guard.session("s1").at(0).open()?;
    /// let late = session.at(3_600_001).propose("1", "ping", "{}")?;
    /// assert!(!late.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn at(&mut self, now: Millis) -> &mut Self {
        self.next_time = Some(now);
        self
    }

    pub(crate) fn now(&mut self) -> Millis {
        self.next_time.take().unwrap_or_else(system_time)
    }

    /// Applies any event of the kernel. The typed methods below are easier to use.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let mut session = guard.session("s1").open()?;
    /// use guard_sdk::{Event, Outcome};
    /// use guard_runtime::StopAttempt;
    /// let stopped = session.apply(&Event::Stop(StopAttempt { reason: None, now: 0 }))?;
    /// assert!(matches!(*stopped, Outcome::Stopped(_)));
    /// assert!(stopped.record().contains(r#""kind":"stop""#));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the method for that event.
    pub fn apply(&mut self, event: &Event<'_>) -> Result<Recorded<Outcome>, SessionError> {
        let (outcome, record) = self.commit_event(event)?;
        Ok(Recorded::new(outcome, record))
    }

    /// Decides a call before it runs. An allowed call is in flight until it is settled, and only
    /// then may the tool run. Arguments that cannot be parsed also lead to a verdict, which is
    /// recorded.
    ///
    /// ```
    /// use guard_sdk::{Decision, Guard};
    /// let guard = Guard::compile("demo.guard", "guard demo\ntool pay(amount: int in 1..=100)")?;
    /// let mut session = guard.session("s1").open()?;
    /// assert_eq!(session.propose("1", "pay", r#"{"amount": 5}"#)?.verdict.decision, Decision::Allow);
    /// let refused = session.propose("2", "pay", r#"{"amount": 500}"#)?;
    /// assert_eq!(refused.verdict.decision, Decision::Deny);
    /// let unreadable = session.propose("3", "pay", r#"{"amount": 5"#)?;
    /// assert_eq!(unreadable.verdict.decision, Decision::Deny);
    /// assert!(unreadable.record().contains("invalid_arguments"));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if a call with this id is in flight; the store's errors.
    pub fn propose<'a>(
        &mut self,
        call: &str,
        tool: &str,
        args: impl Into<CallArguments<'a>>,
    ) -> Result<Recorded<Proposed>, SessionError> {
        let now = self.now();
        let parsed;
        let args = match args.into() {
            CallArguments::Value(json) => Arguments::Read(json),
            CallArguments::Text(text) => {
                parsed = read(text);
                match &parsed {
                    Ok(json) => Arguments::Read(json),
                    Err(error) => Arguments::Unreadable { text, error },
                }
            }
        };
        self.outcome(&Event::Propose(Proposal { call, tool, args, now }), |outcome| match outcome {
            Outcome::Proposed(proposed) => Some(proposed),
            _ => None,
        })
    }

    /// Reports the end of an allowed call: with a result, without a result, or with an error.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()\ntool pong() { requires ping }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// session.settle("1", Ok(Some(&guard_sdk::Json::string("done"))))?;
    /// assert!(session.propose("2", "pong", "{}")?.verdict.is_allowed());
    /// session.settle("2", Err(()))?;
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if no call with this id is in flight; the store's errors.
    pub fn settle(
        &mut self,
        call: &str,
        ending: Result<Option<&Json>, ()>,
    ) -> Result<Recorded<Settled>, SessionError> {
        self.settle_as(
            call,
            match ending {
                Ok(result) => Ending::Success(result),
                Err(()) => Ending::Failure,
            },
        )
    }

    /// Reports that a call succeeded, with its result as text. A text that cannot be parsed (a
    /// duplicate key, a lone surrogate, too deep, longer than 16 MiB) settles the call as well: the result counts as
    /// one that does not decode.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()\ntool pong() { requires ping }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// session.settle_text("1", r#"{"a": 1, "a": 2}"#)?;
    /// assert!(!session.propose("2", "pong", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if no call with this id is in flight; the store's errors.
    pub fn settle_text(
        &mut self,
        call: &str,
        text: &str,
    ) -> Result<Recorded<Settled>, SessionError> {
        match read(text) {
            Ok(json) => self.settle_as(call, Ending::Success(Some(&json))),
            Err(error) => self.settle_as(call, Ending::Unreadable { text, error: &error }),
        }
    }

    /// Reports that a call succeeded with a result that is not JSON. `text` shows the result, and
    /// `error` is the reason why it is not JSON. It counts as a result that does not decode.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()\ntool pong() { requires ping }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// session.settle_unreadable("1", "<html>", "the server answered with a web page")?;
    /// assert!(session.in_flight().is_empty());
    /// assert!(!session.propose("2", "pong", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Session::settle`].
    pub fn settle_unreadable(
        &mut self,
        call: &str,
        text: &str,
        error: &str,
    ) -> Result<Recorded<Settled>, SessionError> {
        self.settle_as(call, Ending::Unreadable { text, error })
    }

    fn settle_as(
        &mut self,
        call: &str,
        ending: Ending<'_>,
    ) -> Result<Recorded<Settled>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Settle(Settlement { call, ending, now }), |outcome| match outcome {
            Outcome::Settled(settled) => Some(settled),
            _ => None,
        })
    }

    /// Records that a person in a role approves exactly this call, until `expires` (milliseconds
    /// since 1970) or for one hour.
    ///
    /// ```
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// let args = guard_sdk::Json::parse(r#"{"amount": 5}"#).unwrap();
    /// assert!(!session.propose("1", "pay", &args)?.verdict.is_allowed());
    /// session.approve("pay", &args, "boss", "kim", None)?;
    /// assert!(session.propose("2", "pay", &args)?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if the tool or its arguments do not fit the guard; the store's
    /// errors.
    pub fn approve(
        &mut self,
        tool: &str,
        args: &Json,
        role: &str,
        by: &str,
        expires: Option<Millis>,
    ) -> Result<Recorded<()>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Approve(CallApproval { tool, args, role, by, expires, now }), accepted)
    }

    /// Records that a person revokes a role's approval of exactly this call. An approval that a
    /// call has used stays used.
    ///
    /// ```
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// let args = guard_sdk::Json::parse(r#"{"amount": 5}"#).unwrap();
    /// session.approve("pay", &args, "boss", "kim", None)?;
    /// session.revoke("pay", &args, "boss", "kim")?;
    /// assert!(!session.propose("1", "pay", &args)?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Session::approve`]; [`SessionError::Step`] if there is no approval to
    /// revoke.
    pub fn revoke(
        &mut self,
        tool: &str,
        args: &Json,
        role: &str,
        by: &str,
    ) -> Result<Recorded<()>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Revoke(Revocation { tool, args, role, by, now }), accepted)
    }

    /// Adds to the amount spent of a unit that the host charges. `amount` is in 10⁻⁶ units.
    ///
    /// ```
    /// # let source = "guard demo\nbudget tokens = 1000\ntool ping() { costs 1 tokens }";
    /// # let source = "guard demo\nbudget tokens = 1000\ntool ping()";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// // The guard has `budget tokens = 1000`; the model has used them all.
    /// session.usage("tokens", 1_000_000_000)?;
    /// let refused = session.propose("1", "ping", "{}")?;
    /// assert_eq!(refused.verdict.reasons[0].code, guard_sdk::Code::Budget);
    /// assert!(session.usage("tokens", -1).is_err());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if the host does not charge the unit, or the amount is negative; the
    /// store's errors.
    pub fn usage(&mut self, unit: &str, amount: i64) -> Result<Recorded<()>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Usage(UsageReport { unit, amount, now }), accepted)
    }

    /// Ends a halt, in the name of a person in a role.
    ///
    /// ```
    /// # let source = "guard demo\nstate { free: int in 0..=9 = 9 }\ntool look() { returns int, observe free = result }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "look", "{}")?;
    /// // The result does not fit the state `free: int in 0..=9`: nothing is allowed until a person has looked.
    /// assert!(session.settle_text("1", "12")?.halted);
    /// assert_eq!(session.propose("2", "look", "{}")?.verdict.reasons[0].code, guard_sdk::Code::Halted);
    /// session.resume("operator", "kim")?;
    /// assert!(session.propose("3", "look", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if the session is not halted; the store's errors.
    pub fn resume(&mut self, role: &str, by: &str) -> Result<Recorded<()>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Resume(HaltEnd { role, by, now }), accepted)
    }

    /// Reports a message of the user. Facts are learned from it, and values in it have the prompt
    /// as their origin.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let mut session = guard.session("s1").open()?;
    /// let learned = session.prompt("please send it to ann@example.com")?;
    /// assert_eq!(learned.learned, 0);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The store's errors.
    pub fn prompt(&mut self, text: &str) -> Result<Recorded<Learned>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Prompt(UserPrompt { text, now }), |outcome| match outcome {
            Outcome::Prompted(learned) => Some(learned),
            _ => None,
        })
    }

    /// Asks whether the agent may stop. The outcome of a blocked stop says what is missing.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\nstate { done: bool = false }\ncompletion { done }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// let stopped = session.stop(Some("stop"))?;
    /// assert!(!stopped.message.is_empty());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The store's errors.
    pub fn stop(&mut self, reason: Option<&str>) -> Result<Recorded<Stopped>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Stop(StopAttempt { reason, now }), |outcome| match outcome {
            Outcome::Stopped(stopped) => Some(stopped),
            _ => None,
        })
    }

    /// Checks the criteria of an item. The item then is verified or goes back.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let source = "guard demo
    /// # lifecycle todo { fields { content: string }, initial open, agent claim: open -> claimed
    /// #   harness verify: claimed -> done when criteria pass, harness reject: claimed -> open when criteria fail
    /// #   final done, criteria file }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").workspace(folder.path()).open()?;
    /// let todo = r#"{"content": "write it", "criteria": [{"file": "report.md"}]}"#;
    /// assert!(session.propose("1", "todo_create", todo)?.verdict.is_allowed());
    /// assert!(session.propose("2", "todo_claim", r#"{"id": "todo-1"}"#)?.verdict.is_allowed());
    /// assert_eq!(session.verify_item("todo-1")?.change.after, "open");
    /// std::fs::write(folder.path().join("report.md"), "done").unwrap();
    /// session.propose("3", "todo_claim", r#"{"id": "todo-1"}"#)?;
    /// assert_eq!(session.verify_item("todo-1")?.change.after, "done");
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if there is no such item or nothing to verify; the store's errors.
    pub fn verify_item(&mut self, item: &str) -> Result<Recorded<Moved>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Verify(Verify { item, now }), moved)
    }

    /// Moves an item by hand, in the name of a person.
    ///
    /// ```
    /// # let source = "guard demo
    /// # lifecycle todo { fields { content: string }, initial open, agent claim: open -> claimed
    /// #   harness verify: claimed -> done when criteria pass, harness reopen: claimed -> open
    /// #   final done, criteria file }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "todo_create", r#"{"content": "write it", "criteria": [{"file": "a"}]}"#)?;
    /// session.propose("2", "todo_claim", r#"{"id": "todo-1"}"#)?;
    /// let moved = session.move_item("todo-1", "reopen", "kim", Some("too short"))?;
    /// assert_eq!(moved.change.after, "open");
    /// assert!(moved.record().contains("too short"));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if there is no such item or transition; the store's errors.
    pub fn move_item(
        &mut self,
        item: &str,
        transition: &str,
        by: &str,
        reason: Option<&str>,
    ) -> Result<Recorded<Moved>, SessionError> {
        let now = self.now();
        self.outcome(&Event::Move(Move { item, transition, by, reason, now }), moved)
    }

    /// Reports the host's answers to its probes, which are valid until the next ones. If all
    /// answers are already known, nothing is recorded and the result is `None`.
    ///
    /// ```
    /// # let source = "guard demo\nprobe idle { host }\ntool ping() { ready when probe idle }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// use guard_sdk::Json;
    /// let told = session.answer_probes(vec![("idle".into(), Json::Bool(true))])?;
    /// assert!(told.is_some_and(|told| told.record().contains("idle")));
    /// assert!(session.propose("1", "ping", "{}")?.verdict.is_allowed());
    /// // The same answer again is not recorded again.
    /// assert!(session.answer_probes(vec![("idle".into(), Json::Bool(true))])?.is_none());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownProbe`]; the store's errors.
    pub fn answer_probes(
        &mut self,
        answers: Vec<(Box<str>, Json)>,
    ) -> Result<Option<Recorded<()>>, SessionError> {
        let names = || self.guard.plan().probes.iter().map(|probe| probe.name.as_str());
        if let Some((name, _)) =
            answers.iter().find(|(name, _)| !names().any(|known| *known == **name))
        {
            let near = guard_plan::near::nearest(name, names()).map(str::to_owned);
            return Err(SessionError::UnknownProbe(name.to_string(), near));
        }
        let known = |(name, json): &(Box<str>, Json)| self.world.answers.get(&**name) == Some(json);
        if answers.iter().all(known) {
            return Ok(None);
        }
        self.expect_room()?;
        let json = Json::Object(answers);
        let record = self.commit_record(|session| {
            let Session { guard, state, recorder, .. } = session;
            recorder.answers(guard.kernel(), state, &json).to_vec()
        })?;
        if let Json::Object(answers) = json {
            let answers = answers.into_iter().map(|(name, json)| (name.into(), json));
            self.world.answers.extend(answers);
        }
        Ok(Some(Recorded::new((), record)))
    }

    fn outcome<T>(
        &mut self,
        event: &Event<'_>,
        expected: impl FnOnce(Outcome) -> Option<T>,
    ) -> Result<Recorded<T>, SessionError> {
        let recorded = self.apply(event)?.map(expected);
        // INVARIANT: the kernel's outcome has the kind of its event.
        Ok(recorded.map(|outcome| outcome.expect("the outcome has the kind of its event")))
    }
}

fn accepted(outcome: Outcome) -> Option<()> {
    matches!(outcome, Outcome::Taken).then_some(())
}

fn moved(outcome: Outcome) -> Option<Moved> {
    match outcome {
        Outcome::Item(moved) => Some(moved),
        _ => None,
    }
}
