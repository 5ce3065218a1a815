//! The proxy as a state machine: lines in, lines out. Its state concerns calls in progress.
//! Sessions belong to the gate.

mod approvals;
mod calls;
mod client;
mod locked;
mod server;

use crate::gate::{ApprovalQuestion, CallGate, GuardedCall};
use crate::lock::ToolLock;
use crate::reply;
use guard_plan::json::Json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// The maximum number of unanswered requests.
const MAX_PENDING: usize = 10_000;

/// The time that a server has to answer a call after the client has cancelled it.
const CANCEL_GRACE: Duration = Duration::from_secs(1);

/// The interval between attempts to admit a held call: another process may have settled the call that it waits for.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The key in `_meta` that names a session.
const SESSION_KEY: &str = "guard/session";

/// The settings of a proxy.
#[derive(Debug, Clone)]
pub struct ProxyOptions {
    /// The maximum time that a call is held for calls in flight.
    pub wait: Duration,
    /// The maximum time of a server for a call. A progress report restarts the time.
    pub call_time: Duration,
    /// The maximum time of a person, or a client with inputs, for an answer.
    pub answer_time: Duration,
    /// True if clients are asked for approvals, where they support it.
    pub elicits: bool,
    /// The lock of the server's tools.
    pub lock: Option<ToolLock>,
    /// The effect of a changed description.
    pub on_description: DescriptionChange,
    /// A text that no other proxy has, for the ids of this proxy's requests.
    pub token: String,
}

/// The effect of a description that differs from the lock, if the schema does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptionChange {
    /// The change has no effect.
    Ignore,
    /// The change is noted.
    Warn,
    /// The calls of the tool are denied.
    Deny,
}

/// The connection of a message. Over standard input and output there is one connection; over HTTP
/// each exchange is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct McpLink {
    /// The client, if it is known. Ids of requests are unique for each client.
    pub peer: u64,
    /// The exchange of a request and its answers.
    pub exchange: u64,
}

/// An output of the proxy for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyOutput {
    /// A line for the client, with its line feed.
    ToClient(McpLink, Vec<u8>),
    /// A line for the server, with its line feed.
    ToServer(McpLink, Vec<u8>),
    /// A note for the operator of the proxy.
    Note(String),
}

/// The proxy of one server and its clients.
#[derive(Debug)]
pub struct McpProxy<G> {
    gate: G,
    options: ProxyOptions,
    calls: BTreeMap<u64, CallOnTheWay>,
    next_call: u64,
    /// The clients' unanswered requests, by peer and the text of their ids.
    pending: HashMap<(u64, String), PendingRequest>,
    /// The proxy's own unanswered requests, by id, with their destination.
    own: HashMap<String, (McpLink, OwnRequest)>,
    next_own: u64,
    /// The peers that have announced in their handshake that they can ask a person.
    eliciting: HashSet<u64>,
    listed: locked::ListedTools,
    tried: Duration,
    now: Duration,
    /// The connection of the current line.
    link: McpLink,
    out: Vec<ProxyOutput>,
}

/// A request of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingRequest {
    Call(u64),
    /// A list of tools, requested in this exchange.
    List(u64),
    /// Any other request of this exchange.
    Other(u64),
}

/// A request of the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OwnRequest {
    /// A question to the client whether this call may run.
    Approval(u64),
    /// A request to the server for a page of its tools.
    List(Json),
}

/// A call of a tool between its request and its answer.
#[derive(Debug, Clone)]
struct CallOnTheWay {
    guarded: GuardedCall,
    /// The connection for its answer.
    link: McpLink,
    id: Json,
    /// The line for the server.
    line: Vec<u8>,
    meta: Option<Json>,
    modern: bool,
    elicits: bool,
    /// True if a person was already asked.
    asked: bool,
    stage: CallStage,
    deadline: Duration,
}

/// The stage of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallStage {
    /// The call is new.
    Begun,
    /// The server's tools are being compared with the lock. Contains the step that follows.
    Listing(AfterList),
    /// The call is held until a call in flight is settled. Contains the reason.
    Held(String),
    /// A person was asked, by the request with this id.
    Asking(String, ApprovalQuestion),
    /// The call was sent to the server.
    Forwarded,
    /// The call was sent to the server, and the client has cancelled it.
    Cancelled,
    /// The server has asked for inputs. The client repeats the call, with this state.
    InputRequired(Option<Json>),
}

/// The step of a call for which the server's tools must be compared with the lock first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterList {
    /// The gate decides the call.
    Decide,
    /// The gate decides the held call again.
    DecideHeld,
    /// The call, which is in flight, is sent to the server with its inputs.
    SendInputs,
}

impl CallOnTheWay {
    /// Returns the key of its request. A string and a number are different ids.
    fn key(&self) -> (u64, String) {
        (self.link.peer, self.id.to_string())
    }
}

impl PendingRequest {
    /// Returns the exchange of a request that is not a call.
    fn exchange(self) -> Option<u64> {
        match self {
            PendingRequest::Call(_) => None,
            PendingRequest::List(exchange) | PendingRequest::Other(exchange) => Some(exchange),
        }
    }
}

impl CallStage {
    /// Returns true if the call is in flight in its session, so that it must be settled.
    fn in_flight(&self) -> bool {
        self.was_sent() || *self == CallStage::Listing(AfterList::SendInputs)
    }

    /// Returns true if the server has the call, and nothing more is sent to it.
    fn was_sent(&self) -> bool {
        matches!(self, CallStage::Forwarded | CallStage::Cancelled | CallStage::InputRequired(_))
    }
}

impl<G: CallGate> McpProxy<G> {
    /// Creates a proxy before the first line.
    pub fn new(gate: G, options: ProxyOptions) -> McpProxy<G> {
        McpProxy {
            gate,
            options,
            calls: BTreeMap::new(),
            next_call: 0,
            pending: HashMap::new(),
            own: HashMap::new(),
            next_own: 0,
            eliciting: HashSet::new(),
            listed: locked::ListedTools::default(),
            tried: Duration::ZERO,
            now: Duration::ZERO,
            link: McpLink::default(),
            out: Vec::new(),
        }
    }

    /// Returns the gate.
    pub fn gate(&mut self) -> &mut G {
        &mut self.gate
    }

    /// Returns true if a call is held, which may still go to the server.
    pub fn holds_calls(&self) -> bool {
        let held = |call: &CallOnTheWay| !call.stage.was_sent();
        self.calls.values().any(held)
    }

    /// Returns the time at which [`McpProxy::tick`] has something to do. The times of all methods
    /// have the same origin.
    pub fn next_deadline(&self) -> Option<Duration> {
        let deadlines = self.calls.values().map(|call| match call.stage {
            CallStage::Held(_) => call.deadline.min(self.tried + RETRY_INTERVAL),
            _ => call.deadline,
        });
        deadlines.min()
    }

    /// Ends calls and requests that have taken too long, and tries held calls again.
    pub fn tick(&mut self, now: Duration) -> Vec<ProxyOutput> {
        self.now = now;
        let late: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, call)| call.deadline <= now)
            .map(|(number, _)| *number)
            .collect();
        late.into_iter().for_each(|number| self.too_late(number));
        if now >= self.tried + RETRY_INTERVAL {
            self.release_held();
        }
        self.take()
    }

    /// Handles the end of the client's input: no person can answer any more.
    pub fn client_ended(&mut self, now: Duration) -> Vec<ProxyOutput> {
        self.now = now;
        let asking = |call: &CallOnTheWay| matches!(call.stage, CallStage::Asking(..));
        let asking: Vec<u64> =
            self.calls.iter().filter(|(_, call)| asking(call)).map(|(number, _)| *number).collect();
        asking.into_iter().for_each(|number| self.too_late(number));
        self.take()
    }

    /// Handles the loss of the server: every call in flight has failed, and every request gets an
    /// answer.
    pub fn server_ended(&mut self, now: Duration, why: &str) -> Vec<ProxyOutput> {
        self.now = now;
        let numbers: Vec<u64> = self.calls.keys().copied().collect();
        for number in numbers {
            let Some(call) = self.calls.remove(&number) else { continue };
            if call.stage.in_flight() {
                self.settle_failed(&call);
            }
            match call.stage {
                // This request was answered already, with the question of the server.
                CallStage::InputRequired(_) => {}
                // A cancelled request gets no answer, and its client expects none.
                CallStage::Cancelled => _ = self.pending.remove(&call.key()),
                _ => self.deny(&call, why),
            }
        }
        self.refuse_others(|_| true, why);
        self.take()
    }

    /// Handles the end of the server's part of an exchange: everything unanswered in it has failed.
    pub fn exchange_ended(&mut self, link: McpLink, now: Duration, why: &str) -> Vec<ProxyOutput> {
        self.now = now;
        self.end_own_list(link);
        for number in self.calls_of(link) {
            let Some(call) = self.calls.get(&number) else { continue };
            if !matches!(call.stage, CallStage::Forwarded | CallStage::Cancelled) {
                continue;
            }
            let call = call.clone();
            self.calls.remove(&number);
            let settled = self.settle_failed(&call);
            self.tell_failure(&call, &format!("{why}; the tool may have run"), &settled);
        }
        self.refuse_others(|exchange| exchange == link.exchange, why);
        self.release_held();
        self.take()
    }

    /// Handles a client that has left an exchange, which cancels its requests there.
    pub fn exchange_left(&mut self, link: McpLink, now: Duration) -> Vec<ProxyOutput> {
        self.now = now;
        self.end_own_list(link);
        for number in self.calls_of(link) {
            let Some(call) = self.calls.get_mut(&number) else { continue };
            match &call.stage {
                CallStage::Forwarded => {
                    (call.stage, call.deadline) = (CallStage::Cancelled, now + CANCEL_GRACE);
                }
                CallStage::Asking(own, _) => {
                    self.own.remove(own);
                    self.forget(number);
                }
                CallStage::Cancelled | CallStage::InputRequired(_) => {}
                _ => self.forget(number),
            }
        }
        self.pending.retain(|_, request| request.exchange() != Some(link.exchange));
        self.take()
    }

    /// Forgets the announcements of a client whose session is over.
    pub fn peer_ended(&mut self, peer: u64) {
        self.eliciting.remove(&peer);
    }

    fn calls_of(&self, link: McpLink) -> Vec<u64> {
        let calls = self.calls.iter().filter(|(_, call)| call.link == link);
        calls.map(|(number, _)| *number).collect()
    }

    /// Cancels the proxy's own list request in an exchange that is over, because nobody will answer
    /// it.
    fn end_own_list(&mut self, link: McpLink) {
        let lists = |(own, (at, request)): (&String, &(McpLink, OwnRequest))| {
            (*at == link && matches!(request, OwnRequest::List(_))).then(|| own.clone())
        };
        if let Some(own) = self.own.iter().find_map(lists) {
            self.own.remove(&own);
            self.not_listed("the server did not list its tools to compare them with the lock");
        }
    }

    /// Answers requests of some exchanges, other than calls, with an error.
    fn refuse_others(&mut self, refused: impl Fn(u64) -> bool, why: &str) {
        let mut others = Vec::new();
        self.pending.retain(|(peer, id), request| match request.exchange() {
            Some(exchange) if refused(exchange) => {
                others.push((McpLink { peer: *peer, exchange }, id.clone()));
                false
            }
            _ => true,
        });
        // A hash map has no order, and the same input should give the same output.
        others.sort();
        for (link, id) in others {
            let id = Json::parse(&id).unwrap_or(Json::Null);
            let line = reply::line(&reply::error(&id, reply::INTERNAL_ERROR, why));
            self.out.push(ProxyOutput::ToClient(link, line));
        }
    }

    fn take(&mut self) -> Vec<ProxyOutput> {
        std::mem::take(&mut self.out)
    }

    /// Processes a batch. Its messages are handled one by one. If all pass, the line passes
    /// unchanged.
    fn batch(
        &mut self,
        messages: &[Json],
        line: &[u8],
        handle: fn(&mut Self, &Json, Vec<u8>),
        passed: fn(McpLink, Vec<u8>) -> ProxyOutput,
    ) {
        let before = self.out.len();
        let mut lines = Vec::with_capacity(messages.len());
        for message in messages {
            lines.push(passed(self.link, reply::line(message)));
            handle(self, message, reply::line(message));
        }
        // Equal outputs prove that each message passed as it was, so that the spelling of the batch
        // can stay.
        if self.out[before..] == lines[..] {
            self.out.truncate(before);
            self.out.push(passed(self.link, whole(line)));
        }
    }

    /// Sends a message to the client of the current line.
    fn send_to_client(&mut self, message: &Json) {
        self.pass_to_client(reply::line(message));
    }

    /// Sends a message to the server, on the connection of the current line.
    fn send_to_server(&mut self, message: &Json) {
        self.pass_to_server(reply::line(message));
    }

    fn pass_to_client(&mut self, line: Vec<u8>) {
        self.out.push(ProxyOutput::ToClient(self.link, line));
    }

    fn pass_to_server(&mut self, line: Vec<u8>) {
        self.out.push(ProxyOutput::ToServer(self.link, line));
    }

    /// Returns the key of a request of the current line's client.
    fn key(&self, id: &Json) -> (u64, String) {
        (self.link.peer, id.to_string())
    }

    fn note(&mut self, text: impl Into<String>) {
        self.out.push(ProxyOutput::Note(text.into()));
    }

    /// Returns a new id for a request of the proxy. It begins with a random text, so neither side
    /// can have chosen it before.
    fn own_id(&mut self) -> String {
        self.next_own += 1;
        format!("{}{}", self.own_prefix(), self.next_own)
    }

    fn own_prefix(&self) -> String {
        format!("guard-{}-", self.options.token)
    }

    fn is_own(&self, id: &Json) -> bool {
        id.as_str().is_some_and(|id| id.starts_with(&self.own_prefix()))
    }
}

/// Returns a line with its line feed.
fn whole(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}

#[cfg(test)]
mod tests;
