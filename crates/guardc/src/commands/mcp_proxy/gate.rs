//! The gate of the proxy: sessions in a store. They are opened for a call and closed soon after,
//! because hooks and other proxies also use them.

use super::liveness::Liveness;
use crate::sessions::{open_waiting, resume_hint, store_option};
use guard_mcp::{
    ApprovalQuestion, CallGate, GateAnswer, GuardedCall, GuardedEnding, PersonsAnswer, SettledCall,
};
use guard_plan::json::Json;
use guard_plan::plan::Plan;
use guard_plan::record::{Delivered, rendered};
use guard_plan::verdict::Code;
use guard_sdk::approvals::{ApprovalLog, GrantExtent, PendingApproval, ProposedCall};
use guard_sdk::{Decision, Guard, Proposed, Session, SessionError, Storage, system_time};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The idle time after which a session is closed.
const IDLE: Duration = Duration::from_millis(50);

/// The time after which a session is closed even if calls continue to arrive, and the length of
/// that pause.
const HOLD: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(25);

/// The settings of a gate.
#[derive(Debug, Clone)]
pub struct GateOptions {
    /// The session of all calls.
    pub session: Option<String>,
    /// The session of calls that do not name one.
    pub default_session: String,
    /// The workspace of new sessions.
    pub workspace: PathBuf,
    /// The person or system for whom the client acts.
    pub actor: String,
    /// The maximum time to wait for a session that another process uses.
    pub deadline: Duration,
    /// The plan as it was given.
    pub plan: PathBuf,
    /// The path of the store in messages about approvals, if it is not the user's default store.
    pub store: Option<PathBuf>,
    /// A text that no other proxy has, for the ids of calls.
    pub token: String,
    /// True if a call may reach the server with other arguments than the client's.
    pub transforms: bool,
}

/// The gate over sessions in a store.
pub struct SessionGate {
    guard: Guard,
    storage: Storage,
    approvals: ApprovalLog,
    options: GateOptions,
    liveness: Liveness,
    /// The sessions that were searched for calls of dead proxies.
    looked: BTreeSet<String>,
    held: Option<HeldSession>,
    /// The end of a pause in which other processes may use the session.
    pause: Option<Instant>,
    /// Feedback on allowed calls, which the agent reads with the result.
    feedback: HashMap<u64, String>,
}

struct HeldSession {
    session: Session,
    since: Instant,
    used: Instant,
}

impl SessionGate {
    /// Creates a gate without a session.
    ///
    /// # Errors
    ///
    /// Returns the reason if the store has no place for approvals.
    pub fn new(
        guard: Guard,
        storage: Storage,
        options: GateOptions,
        liveness: Liveness,
    ) -> Result<SessionGate, String> {
        let approvals = storage.approvals().map_err(|error| error.to_string())?;
        Ok(SessionGate {
            guard,
            storage,
            approvals,
            options,
            liveness,
            looked: BTreeSet::new(),
            held: None,
            pause: None,
            feedback: HashMap::new(),
        })
    }

    /// Closes the session, because the proxy ends.
    pub fn leave(&mut self) {
        self.held = None;
        self.liveness.end();
    }

    /// Settles the calls of proxies that were killed, because nobody will report their endings.
    fn settle_abandoned(&mut self, session: &mut Session) -> Result<(), String> {
        if !self.looked.insert(session.id().to_owned()) {
            return Ok(());
        }
        // Ids of hooks and other hosts have another form, and their calls may still be running.
        let abandoned = |id: &&str| {
            let token = id.strip_prefix("mcp-").and_then(|rest| rest.split_once('-'));
            token.is_some_and(|(token, _)| !self.liveness.is_alive(token))
        };
        let abandoned: Vec<String> =
            session.in_flight().into_iter().filter(abandoned).map(str::to_owned).collect();
        for id in abandoned {
            // Nobody knows how the call ended, and only a success could satisfy a requirement or a
            // goal.
            session.settle(&id, Err(())).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Returns true if a session is held.
    pub fn is_active(&self) -> bool {
        self.held.is_some()
    }

    /// Closes a session that was not used for a while.
    pub fn rest(&mut self) {
        if self.held.as_ref().is_some_and(|held| held.used.elapsed() >= IDLE) {
            self.held = None;
        }
    }

    /// Returns the id of a call's session.
    fn session_of<'a>(&'a self, call: &'a GuardedCall) -> &'a str {
        let named = self.options.session.as_ref().or(call.session.as_ref());
        named.unwrap_or(&self.options.default_session)
    }

    fn resume_hint(&self, call: &GuardedCall) -> String {
        resume_hint(self.session_of(call), &self.options.plan, self.options.store.as_deref())
    }

    /// Returns the session of a call, and opens it if necessary.
    fn open(&mut self, call: &GuardedCall) -> Result<&mut Session, String> {
        let id = self.session_of(call).to_owned();
        let now = Instant::now();
        if let Some(held) = &self.held {
            let over = held.since.elapsed() >= HOLD;
            if over || held.session.id() != id {
                // Other processes poll for the lock, and would miss a session that is free only for
                // a moment.
                self.pause = over.then(|| now + PAUSE);
                self.held = None;
            }
        }
        let held = match self.held.take() {
            Some(held) => held,
            None => {
                if let Some(until) = self.pause.take() {
                    std::thread::sleep(until.saturating_duration_since(now));
                }
                let GateOptions { actor, workspace, deadline, .. } = &self.options;
                let open = || {
                    let session = self.guard.session(&id).storage(&self.storage).actor(actor);
                    session.first_workspace(workspace).open()
                };
                let mut session = open_waiting(open, now + *deadline)?;
                self.settle_abandoned(&mut session)?;
                HeldSession { session, since: Instant::now(), used: now }
            }
        };
        let held = self.held.insert(HeldSession { used: Instant::now(), ..held });
        Ok(&mut held.session)
    }

    fn call_id(&self, call: &GuardedCall) -> String {
        format!("mcp-{}-{}", self.options.token, call.number)
    }

    /// Handles an error. After an error of its store, a session must be opened again.
    fn failed(&mut self, error: &SessionError) -> String {
        self.held = None;
        error.to_string()
    }

    fn try_propose(&mut self, call: &mut GuardedCall, held: bool) -> Result<GateAnswer, String> {
        let id = self.call_id(call);
        let approvals = self.approvals.clone();
        let transforms = self.options.transforms;
        let session = self.open(call)?;
        // A call that still has to wait is not proposed, or each attempt would be recorded as a
        // refusal.
        if held {
            let refreshed = session.refresh();
            let preview = session.preview(&call.tool, &call.args);
            if let Err(error) = refreshed {
                return Err(self.failed(&error));
            }
            if preview.verdict.decision == Decision::Wait {
                return Ok(GateAnswer::Wait(preview.verdict.message()));
            }
        }
        let mut propose =
            |args: &Json| session.propose_with(&id, &call.tool, &args.to_string(), &approvals);
        let mut decided = propose(&call.args);
        // A call is changed once only: rules whose changes undo each other would otherwise never
        // end.
        if let Ok(refused) = &decided
            && transforms
            && !call.transformed
            && let Some(instead) = refused.proposed.instead.clone()
        {
            decided = propose(&instead);
            (call.args, call.transformed) = (instead, true);
        }
        let ProposedCall { proposed, request } = match decided {
            Ok(decided) => decided,
            Err(error) => return Err(self.failed(&error)),
        };
        Ok(self.said(call, &proposed, request))
    }

    fn said(
        &mut self,
        call: &GuardedCall,
        proposed: &Proposed,
        request: Option<PendingApproval>,
    ) -> GateAnswer {
        let feedback = rendered(&proposed.feedback);
        if let Some(served) = &proposed.served {
            return GateAnswer::Served(served.clone(), feedback);
        }
        match (proposed.verdict.decision, request) {
            (Decision::Allow, _) => {
                if !feedback.is_empty() {
                    self.feedback.insert(call.number, feedback);
                }
                GateAnswer::Allow
            }
            (_, Some(request)) => self.ask(proposed, &request),
            (Decision::Wait, None) => GateAnswer::Wait(proposed.verdict.message()),
            (_, None) => {
                let mut text = proposed.verdict.message();
                if proposed.verdict.reasons.iter().any(|reason| reason.code == Code::Halted) {
                    text.push_str(&self.resume_hint(call));
                }
                append(&mut text, &proposed.feedback);
                GateAnswer::Deny(text)
            }
        }
    }

    fn ask(&self, proposed: &Proposed, request: &PendingApproval) -> GateAnswer {
        let why = proposed.verdict.message();
        if let Some(refusal) = &request.rejected {
            let text =
                format!("{why}\n{} refused exactly this call: {}", refusal.by, refusal.reason);
            return GateAnswer::Deny(text);
        }
        let store = store_option(self.options.store.as_deref());
        let id = &request.id;
        let mut denial = format!(
            "{why}\nThis call waits for approval as {id}. A person grants it with `guardc approvals grant {id} \
             --by NAME{store}`; then make exactly this call again."
        );
        append(&mut denial, &proposed.feedback);
        let question = match &request.roles[..] {
            [role] => Some(question(request, role, &why)),
            _ => None,
        };
        GateAnswer::Ask(ApprovalQuestion { request: request.id.clone(), question, denial })
    }

    fn try_settle(
        &mut self,
        call: &GuardedCall,
        ending: &GuardedEnding,
    ) -> Result<SettledCall, String> {
        let id = self.call_id(call);
        let mut feedback = self.feedback.remove(&call.number).unwrap_or_default();
        let session = self.open(call)?;
        let mut form = 0;
        let settled = match ending {
            GuardedEnding::Failed => session.settle(&id, Err(())),
            GuardedEnding::Succeeded(forms) => {
                // If no form fits, the first one is settled, and the guard reports it as a result
                // of another type.
                let fits = forms.iter().position(|form| session.is_result(&call.tool, form));
                form = fits.unwrap_or(0);
                session.settle(&id, Ok(forms.get(form)))
            }
        };
        let settled = match settled {
            Ok(settled) => settled,
            Err(error) => return Err(self.failed(&error)),
        };
        let halt = session.state().halted();
        let halted =
            halt.map(|halt| format!("the session is halted by {}: {}", halt.rule, halt.message));
        if let Some(halted) = halted {
            line(&mut feedback, &(halted + &self.resume_hint(call)));
        }
        line(&mut feedback, &rendered(&settled.feedback));
        let shown = settled.shown.clone();
        Ok(SettledCall { form, feedback, shown })
    }
}

impl CallGate for SessionGate {
    fn plan(&self) -> &Plan {
        self.guard.plan()
    }

    fn propose(&mut self, call: &mut GuardedCall, held: bool) -> GateAnswer {
        match self.try_propose(call, held) {
            Ok(answer) => answer,
            Err(why) => GateAnswer::Deny(format!("guard: denied, since {why}")),
        }
    }

    fn check_again(&mut self, call: &GuardedCall) -> Result<(), String> {
        let session = self.open(call)?;
        if let Err(error) = session.refresh() {
            return Err(self.failed(&error));
        }
        let preview = session.preview(&call.tool, &call.args);
        // The call itself was already counted, charged and approved, and is in flight.
        let own = [Code::Limit, Code::Budget, Code::Approval, Code::Gated, Code::Conflict];
        let refusals = preview
            .verdict
            .reasons
            .iter()
            .filter(|reason| reason.decision == Decision::Deny && !own.contains(&reason.code));
        let refusals: Vec<String> = refusals.map(guard_sdk::Reason::text).collect();
        if refusals.is_empty() { Ok(()) } else { Err(refusals.join("\n")) }
    }

    fn answer(
        &mut self,
        call: &GuardedCall,
        request: &str,
        answer: &PersonsAnswer,
    ) -> Result<(), String> {
        let approvals = self.approvals.clone();
        let id = self.open(call)?.id().to_owned();
        // A client could answer an old question after the call was changed; the answer holds for
        // exact arguments.
        if approvals.request_id(&id, &call.tool, &call.args) != request {
            return Err("the answer is for another call".into());
        }
        let now = system_time();
        let answered = if answer.approves {
            approvals.grant(request, &answer.name, None, GrantExtent::Once, now)
        } else {
            let reason = match answer.reason.trim() {
                "" => "no reason given",
                reason => reason,
            };
            approvals.reject(request, &answer.name, reason, now)
        };
        answered.map(drop).map_err(|error| error.to_string())
    }

    fn settle(
        &mut self,
        call: &GuardedCall,
        ending: &GuardedEnding,
    ) -> Result<SettledCall, String> {
        self.try_settle(call, ending)
    }
}

fn append(text: &mut String, feedback: &[Delivered]) {
    let rendered = rendered(feedback);
    if !rendered.is_empty() {
        text.push_str("\n\n");
        text.push_str(&rendered);
    }
}

fn line(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Formats the question to a person: the exact call, with marks for its secrets, and the rule.
fn question(request: &PendingApproval, role: &str, why: &str) -> String {
    let visible = crate::report::visible;
    format!(
        "{}\n\nCall: {} {}\n\nDo you approve exactly this call, as {}?",
        visible(why),
        visible(&request.tool),
        visible(&request.args),
        visible(role)
    )
}
