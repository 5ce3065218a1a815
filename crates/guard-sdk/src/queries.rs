//! Queries to a session, which change nothing: the decision about a call, the state, the possible
//! next steps.

use crate::error::SessionError;
use crate::guard::Guard;
use crate::session::Session;
use guard_plan::advice::Advice;
use guard_plan::encode::hash_text;
use guard_plan::json::Json;
use guard_plan::origin::Origin;
use guard_plan::plan::Expr;
use guard_plan::record;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Decision, Reason};
use guard_runtime::{FactRow, ProofViolation, Proposal, Proposed, SessionState, StepError, World};

impl<W: World> Session<W> {
    /// Returns the session's id.
    pub fn id(&self) -> &str {
        self.state.id()
    }

    /// Returns the guard of the session.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns true if the session was resumed from earlier records when it was opened.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Returns the ids of the calls that were allowed and are not settled, in the order of their
    /// proposals.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// assert_eq!(session.in_flight(), ["1"]);
    /// session.settle("1", Ok(None))?;
    /// assert!(session.in_flight().is_empty());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn in_flight(&self) -> Vec<&str> {
        self.state.in_flight()
    }

    /// Returns the state of the session: values, budgets, history.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Returns the world that answers the session's questions.
    pub fn world(&self) -> &W {
        &self.world.world
    }

    /// Returns the world that answers the session's questions, for changes.
    ///
    /// ```
    /// # use guard_sdk::{Guard, Json, World};
    /// # struct Queue { idle: bool }
    /// # impl World for Queue {
    /// #     fn exists(&mut self, _: &str) -> Option<bool> { None }
    /// #     fn probe(&mut self, name: &str) -> Option<Json> { (name == "idle").then(|| Json::Bool(self.idle)) }
    /// # }
    /// # let guard = Guard::compile("demo.guard", "guard demo\nprobe idle { host }\ntool ping() { ready when probe idle }")?;
    /// let mut session = guard.session_in("s1", Queue { idle: false }).open_in_world()?;
    /// session.world_mut().idle = true;
    /// assert!(session.propose("1", "ping", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn world_mut(&mut self) -> &mut W {
        &mut self.world.world
    }

    /// Returns the number of records and the hash of the last one, as `sha256:…`.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let mut session = guard.session("s1").open()?;
    /// assert_eq!(session.head().0, 1);
    /// session.propose("1", "ping", "{}")?;
    /// let (records, hash) = session.head();
    /// assert_eq!(records, 2);
    /// assert!(hash.starts_with("sha256:"));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn head(&self) -> (u64, String) {
        (self.recorder.seq(), hash_text(self.recorder.hash()))
    }

    /// Returns the state as JSON, without secrets.
    ///
    /// ```
    /// # let source = "guard demo\nstate { pages: int = 0 }\ntool read() { effect pages += 1 }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "read", "{}")?;
    /// session.settle("1", Ok(None))?;
    /// let state = session.state_json();
    /// assert!(state.to_string().contains(r#""pages":1"#));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn state_json(&self) -> Json {
        self.state.state_json(self.guard.kernel())
    }

    /// Returns the report of a wrong proof, in the form of the event's record: without secrets, so
    /// that it can be sent to the makers of Guard.
    pub fn report(&self, broken: &ProofViolation) -> record::BrokenProof {
        self.recorder.report(self.guard.kernel(), &self.state, broken)
    }

    /// Returns the verdict that a call would get now. Nothing changes and nothing is recorded.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool pay(amount: int) { approval boss }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// use guard_sdk::{Decision, Json};
    /// let args = Json::parse(r#"{"amount": 5}"#).unwrap();
    /// assert_eq!(session.preview("pay", &args).verdict.decision, Decision::Ask);
    /// // Nothing is recorded but the beginning of the session.
    /// assert_eq!(session.head().0, 1);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn preview(&mut self, tool: &str, args: &Json) -> Proposed {
        let now = self.now();
        let proposal = Proposal { call: "preview", tool, args: args.into(), now };
        self.guard.kernel().check(&self.state, &proposal, &mut self.world)
    }

    /// Returns true if a value has the declared type of a tool's results. The tool has the name
    /// that the host uses. A tool without a declared type accepts any value.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool count() { returns int }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// use guard_sdk::Json;
    /// assert!(session.is_result("count", &Json::parse("3").unwrap()));
    /// assert!(!session.is_result("count", &Json::string("three")));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn is_result(&self, tool: &str, json: &Json) -> bool {
        self.guard.kernel().is_result(&self.state, tool, json)
    }

    /// Returns true if a `transform` may change a tool's result before the agent reads it. The tool
    /// has the host's name or the guard's name. A host that cannot show
    /// [`Settled::shown`](guard_runtime::Settled::shown) in place of a result must not run such a
    /// tool.
    ///
    /// ```
    /// # let source = "guard demo\nrecord Customer { name: string, card: string }
    /// # tool find() { returns Customer, transform result.card = \"…\" }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// assert!(session.changes_result("find"));
    /// session.propose("1", "find", "{}")?;
    /// let settled = session.settle_text("1", r#"{"name": "Ann", "card": "4111"}"#)?;
    /// let shown = settled.shown.as_ref().map(|shown| shown.to_string());
    /// assert_eq!(shown.as_deref(), Some(r#"{"name":"Ann","card":"…"}"#));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn changes_result(&self, tool: &str) -> bool {
        let plan = self.guard.plan();
        let changes = plan
            .called(tool)
            .is_some_and(|tool| tool.transforms.iter().any(|transform| !transform.rule.shadow));
        changes && !plan.shadow
    }

    /// Returns the denial of a call whose result a `transform` may change, for a host that passes
    /// results on unchanged. The call is not an event of the session.
    ///
    /// ```
    /// # let source = "guard demo\nrecord Customer { name: string, card: string }
    /// # tool find() { returns Customer, transform result.card = \"…\" }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// let denied = session.unshowable("find").expect("its result would be changed");
    /// assert_eq!(denied.verdict.reasons[0].code, guard_sdk::Code::Transform);
    /// assert!(session.unshowable("other").is_none());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn unshowable(&self, tool: &str) -> Option<Proposed> {
        self.changes_result(tool).then(|| {
            Proposed::denied(Reason {
                code: Code::Transform,
                decision: Decision::Deny,
                rule: tool.to_owned(),
                message: format!(
                    "the guard changes what `{tool}` returns before it is read, which this host cannot do: the call does not run"
                ),
                help: String::new(),
                span: None,
                needs: Vec::new(),
                values: Vec::new(),
            })
        })
    }

    /// Returns every tool, judged and ranked: the possible next steps. Nothing changes.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool lint()\ntool deploy() { requires lint }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// let advice = session.advise();
    /// let status = |tool| advice.actions.iter().find(|it| it.tool == tool).map(|it| it.status.as_str());
    /// assert_eq!((status("lint"), status("deploy")), (Some("READY"), Some("BLOCKED")));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn advise(&mut self) -> Advice {
        let now = self.now();
        guard_advice::advise(self.guard.kernel(), &self.state, now, &mut self.world)
    }

    /// Returns the current value of an expression of this guard's plan. Nothing changes.
    ///
    /// ```
    /// # let source = "guard demo\nstate { pages: int = 0 }\ninvariant few { pages <= 9 }\ntool read() { effect pages += 1 }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// use guard_plan::value::Value;
    /// let condition = &guard.plan().invariants[0].condition;
    /// assert_eq!(session.evaluate(condition), Ok(Value::Bool(true)));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The reason why the expression has no value.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let now = self.now();
        self.guard.kernel().evaluate(&self.state, expr, now, &mut self.world)
    }

    /// Returns all data of one item, as JSON.
    ///
    /// ```
    /// # let source = "guard demo
    /// # lifecycle todo { fields { content: string }, initial open, agent claim: open -> claimed
    /// #   harness verify: claimed -> done when criteria pass, harness reject: claimed -> open when criteria fail
    /// #   final done, criteria file }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "todo_create", r#"{"content": "write it", "criteria": [{"file": "a"}]}"#)?;
    /// assert!(session.item("todo-1")?.to_string().contains("write it"));
    /// assert_eq!(session.item("todo-2").unwrap_err().code(), "no_such_item");
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if there is no such item.
    pub fn item(&self, id: &str) -> Result<Json, SessionError> {
        let item = self.state.item(self.guard.kernel(), id);
        item.ok_or_else(|| StepError::UnknownItem(id.to_owned()).into())
    }

    /// Returns a page of the items of a lifecycle, as its list tool shows them. The page can be
    /// limited to one state, and starts after an id.
    ///
    /// ```
    /// # let source = "guard demo
    /// # lifecycle todo { fields { content: string }, initial open, agent claim: open -> claimed
    /// #   harness verify: claimed -> done when criteria pass, harness reject: claimed -> open when criteria fail
    /// #   final done, criteria file }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "todo_create", r#"{"content": "write it", "criteria": [{"file": "a"}]}"#)?;
    /// assert!(session.items("todo", Some("open"), None)?.to_string().contains("todo-1"));
    /// assert_eq!(session.items("tood", None, None).unwrap_err().code(), "no_such_lifecycle");
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`] if there is no such lifecycle or state.
    pub fn items(
        &self,
        lifecycle: &str,
        state: Option<&str>,
        after: Option<&str>,
    ) -> Result<Json, SessionError> {
        let page = self.state.items(self.guard.kernel(), lifecycle, state, after);
        let names = self.guard.plan().lifecycles.iter().map(|known| known.name.as_str());
        page.ok_or_else(|| unknown("lifecycle", lifecycle, names))
    }

    /// Returns the origins of a value so far, found by its text (`seen(x)`, semantics §8). The list
    /// is empty if no rule of the guard asks for origins.
    ///
    /// ```
    /// # let source = "guard demo\nfact friend(address: string)\nsource prompt { learn friend(emails(text)) }
    /// # tool send(to: string) { deny unless known friend(to) or origin(to) == prompt }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.prompt("please write to ann@example.com")?;
    /// assert_eq!(session.seen("ann@example.com"), [guard_plan::origin::Origin::Prompt]);
    /// assert!(session.seen("eve@example.com").is_empty());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn seen(&self, text: &str) -> Vec<Origin> {
        self.state.seen(text).collect()
    }

    /// Returns at most `limit` rows of a fact, oldest first, from a row number on.
    ///
    /// ```
    /// # let source = "guard demo\nfact friend(address: string)\nsource prompt { learn friend(emails(text)) }
    /// # tool send(to: string) { deny unless known friend(to) or origin(to) == prompt }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.prompt("please write to ann@example.com")?;
    /// let rows = session.facts("friend", 0, 10)?;
    /// assert_eq!(rows[0].row.to_string(), r#"{"address":"ann@example.com"}"#);
    /// assert_eq!(&*rows[0].by, "prompt 1");
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`] if there is no such fact.
    pub fn facts(&self, fact: &str, from: u64, limit: usize) -> Result<Vec<FactRow>, SessionError> {
        let rows = self.state.facts(self.guard.kernel(), fact, from, limit);
        let names = self.guard.plan().facts.iter().map(|known| known.name.as_str());
        rows.ok_or_else(|| unknown("fact", fact, names))
    }
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> SessionError {
    let near = guard_plan::near::nearest(name, known.filter(|known| *known != name));
    SessionError::Unknown(what, name.to_owned(), near.map(str::to_owned))
}
