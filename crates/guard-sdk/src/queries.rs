//! Questions to a session that change nothing: what would be decided, what it remembers, what could be done next.

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
use guard_runtime::{
    FactRow, ProofViolation, Proposal, Proposed, Session as SessionState, StepError, World,
};

impl<W: World> Session<W> {
    /// The session's id.
    pub fn id(&self) -> &str {
        self.state.id()
    }

    /// The guard it runs under.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Returns true if the session was resumed from earlier records when it was opened.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The ids of the calls that were allowed and are not settled, in the order of their proposals.
    pub fn in_flight(&self) -> Vec<&str> {
        self.state.in_flight()
    }

    /// Its memory: state, budgets, history.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The world that answers its questions.
    pub fn world(&self) -> &W {
        &self.world.world
    }

    /// The same, to change it.
    pub fn world_mut(&mut self) -> &mut W {
        &mut self.world.world
    }

    /// Returns the number of records and the hash of the last one, as `sha256:…`.
    pub fn head(&self) -> (u64, String) {
        (self.recorder.seq(), hash_text(self.recorder.hash()))
    }

    /// Its memory as JSON, without secrets.
    pub fn state_json(&self) -> Json {
        self.state.state_json(self.guard.kernel())
    }

    /// The report of a wrong proof, as the record of its event holds it: without secrets, to be sent to the makers of
    /// Guard.
    pub fn report(&self, broken: &ProofViolation) -> record::BrokenProof {
        self.recorder.report(self.guard.kernel(), &self.state, broken)
    }

    /// The verdict that a call would get now; nothing changes and nothing is recorded.
    pub fn preview(&mut self, tool: &str, args: &Json) -> Proposed {
        let now = self.now();
        let proposal = Proposal { call: "preview", tool, args: args.into(), now };
        self.guard.kernel().check(&self.state, &proposal, &mut self.world)
    }

    /// Returns true if a value has the declared type of a tool's results; the tool under the name that the host uses. A
    /// tool without a declared type takes any value.
    pub fn is_result(&self, tool: &str, json: &Json) -> bool {
        self.guard.kernel().is_result(&self.state, tool, json)
    }

    /// Returns true if a `transform` may change what a tool returns before the agent reads it, the tool under the host's name
    /// or the guard's. A host that cannot show [`Settled::shown`](guard_runtime::Settled::shown) in place of a result must not run such a tool.
    pub fn changes_result(&self, tool: &str) -> bool {
        let plan = self.guard.plan();
        let known = plan.tools.iter().find(|known| known.wire_name == tool);
        let known = known.or_else(|| plan.tools.iter().find(|known| known.name == tool));
        let changes = known
            .is_some_and(|tool| tool.transforms.iter().any(|transform| !transform.rule.shadow));
        changes && !plan.shadow
    }

    /// Returns the denial of a call whose result a `transform` may change, for a host that hands results on as they are. The
    /// session does not see the call.
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

    /// Every tool judged and ranked: what could be done next. Nothing changes.
    pub fn advise(&mut self) -> Advice {
        let now = self.now();
        guard_advice::advise(self.guard.kernel(), &self.state, now, &mut self.world)
    }

    /// The value of an expression of this guard's plan now. Nothing changes.
    ///
    /// # Errors
    ///
    /// Why it has no value.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let now = self.now();
        self.guard.kernel().evaluate(&self.state, expr, now, &mut self.world)
    }

    /// All of one item, as JSON.
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] where there is no such item.
    pub fn item(&self, id: &str) -> Result<Json, SessionError> {
        let item = self.state.item(self.guard.kernel(), id);
        item.ok_or_else(|| StepError::UnknownItem(id.to_owned()).into())
    }

    /// A page of the items of a lifecycle, as its list tool shows them: in a state, after an id.
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`] where there is no such lifecycle or state.
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

    /// Returns where a value was seen so far, by its text (`seen(x)`, semantics §8); nothing where no rule of the guard asks
    /// for origins.
    pub fn seen(&self, text: &str) -> Vec<Origin> {
        self.state.seen(text).collect()
    }

    /// At most `limit` rows of a fact, oldest first, from a row's number on.
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`] where there is no such fact.
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
