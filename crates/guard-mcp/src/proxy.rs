//! The proxy as a state machine: lines in, lines out. What it remembers is about calls on their way; sessions are the
//! gate's.

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

/// The most requests that may be unanswered at the same time.
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
    /// How long a call is held for calls in flight.
    pub wait: Duration,
    /// How long a server may take for a call; progress begins the time anew.
    pub call_time: Duration,
    /// How long a person, or a client with inputs, may take for an answer.
    pub answer_time: Duration,
    /// True if clients that can are asked for approvals.
    pub elicits: bool,
    /// The lock of the server's tools.
    pub lock: Option<ToolLock>,
    /// The consequence of a changed description.
    pub on_description: DescriptionChange,
    /// A text that no other proxy has, for the ids of its own requests.
    pub token: String,
}

/// The consequence of a description that differs from the lock, where the schema does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptionChange {
    /// Nothing.
    Ignore,
    /// A note.
    Warn,
    /// The tool's calls are denied.
    Deny,
}

/// The way of a message: over standard input and output all go one way; over HTTP each exchange is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct McpLink {
    /// The client, as far as it is known: ids of requests are unique for each.
    pub peer: u64,
    /// The exchange of a request and its answers.
    pub exchange: u64,
}

/// A consequence of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyOutput {
    /// A line for the client, with its line feed.
    ToClient(McpLink, Vec<u8>),
    /// A line for the server, with its line feed.
    ToServer(McpLink, Vec<u8>),
    /// A note for whoever runs the proxy.
    Note(String),
}

/// The proxy of one server and its clients.
#[derive(Debug)]
pub struct McpProxy<G> {
    gate: G,
    options: ProxyOptions,
    calls: BTreeMap<u64, CallOnTheWay>,
    next_call: u64,
    /// The clients' requests without an answer, by peer and the text of their ids.
    pending: HashMap<(u64, String), PendingRequest>,
    /// Requests of our own without an answer, by id, and where they went.
    own: HashMap<String, (McpLink, OwnRequest)>,
    next_own: u64,
    /// The peers that have announced in their handshake that they can ask a person.
    eliciting: HashSet<u64>,
    listed: locked::ListedTools,
    tried: Duration,
    now: Duration,
    /// The way of the line that is being read.
    link: McpLink,
    out: Vec<ProxyOutput>,
}

/// A request of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingRequest {
    Call(u64),
    /// A list of tools, asked for in this exchange.
    List(u64),
    /// Anything else, asked for in this exchange.
    Other(u64),
}

/// A request of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OwnRequest {
    /// To the client: may this call run?
    Approval(u64),
    /// To the server: a page of its tools.
    List(Json),
}

/// A call of a tool between its request and its answer.
#[derive(Debug, Clone)]
struct CallOnTheWay {
    guarded: GuardedCall,
    /// The way of its answer.
    link: McpLink,
    id: Json,
    /// The line for the server.
    line: Vec<u8>,
    meta: Option<Json>,
    modern: bool,
    elicits: bool,
    /// True if a person was asked already.
    asked: bool,
    stage: CallStage,
    deadline: Duration,
}

/// The stage of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallStage {
    /// New.
    Begun,
    /// The server's tools are being compared with the lock.
    Listing,
    /// Held until a call in flight settles: why.
    Held(String),
    /// A person was asked, by the request with this id.
    Asking(String, ApprovalQuestion),
    /// The server has it.
    Forwarded,
    /// The server has it, and the client has cancelled it.
    Cancelled,
    /// The server has asked for inputs; the client makes the call again, with this state.
    InputRequired(Option<Json>),
}

impl CallOnTheWay {
    /// The key of its request: a string and a number are different ids.
    fn key(&self) -> (u64, String) {
        (self.link.peer, self.id.to_string())
    }
}

impl PendingRequest {
    /// The exchange of a request that is not a call.
    fn exchange(self) -> Option<u64> {
        match self {
            PendingRequest::Call(_) => None,
            PendingRequest::List(exchange) | PendingRequest::Other(exchange) => Some(exchange),
        }
    }
}

impl CallStage {
    /// Returns true if the call is in flight in its session.
    fn in_flight(&self) -> bool {
        matches!(self, CallStage::Forwarded | CallStage::Cancelled | CallStage::InputRequired(_))
    }
}

impl<G: CallGate> McpProxy<G> {
    /// A proxy before the first line.
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

    /// The gate.
    pub fn gate(&mut self) -> &mut G {
        &mut self.gate
    }

    /// Returns true if a call is held: it may still go to the server.
    pub fn holds_calls(&self) -> bool {
        let held = |call: &CallOnTheWay| !call.stage.in_flight();
        self.calls.values().any(held)
    }

    /// The time at which [`McpProxy::tick`] has something to do; the times of all methods begin at the same moment.
    pub fn next_deadline(&self) -> Option<Duration> {
        let deadlines = self.calls.values().map(|call| match call.stage {
            CallStage::Held(_) => call.deadline.min(self.tried + RETRY_INTERVAL),
            _ => call.deadline,
        });
        deadlines.min()
    }

    /// Ends what has taken too long, and tries held calls again.
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

    /// The client will send nothing more: nobody can answer for a person.
    pub fn client_ended(&mut self, now: Duration) -> Vec<ProxyOutput> {
        self.now = now;
        let asking = |call: &CallOnTheWay| matches!(call.stage, CallStage::Asking(..));
        let asking: Vec<u64> =
            self.calls.iter().filter(|(_, call)| asking(call)).map(|(number, _)| *number).collect();
        asking.into_iter().for_each(|number| self.too_late(number));
        self.take()
    }

    /// The server is gone: every call in flight has failed, and every request gets an answer.
    pub fn server_ended(&mut self, now: Duration, why: &str) -> Vec<ProxyOutput> {
        self.now = now;
        let numbers: Vec<u64> = self.calls.keys().copied().collect();
        for number in numbers {
            let Some(call) = self.calls.remove(&number) else { continue };
            if call.stage.in_flight() {
                self.settle_failed(&call);
            }
            match call.stage {
                CallStage::InputRequired(_) => {}
                CallStage::Cancelled => _ = self.pending.remove(&call.key()),
                _ => self.deny(&call, why),
            }
        }
        self.refuse_others(|_| true, why);
        self.take()
    }

    /// The server's part of an exchange is over: what it has not answered there has failed.
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

    /// The client has left an exchange, which cancels what it asked for there.
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

    /// Forgets what a client has announced: its session is over.
    pub fn peer_ended(&mut self, peer: u64) {
        self.eliciting.remove(&peer);
    }

    fn calls_of(&self, link: McpLink) -> Vec<u64> {
        let calls = self.calls.iter().filter(|(_, call)| call.link == link);
        calls.map(|(number, _)| *number).collect()
    }

    /// Nobody will answer a list of tools that this proxy has asked for in an exchange that is over.
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

    /// Sends a message to the client of the line that is being read.
    fn send_to_client(&mut self, message: &Json) {
        self.pass_to_client(reply::line(message));
    }

    /// Sends a message to the server, on the way of the line that is being read.
    fn send_to_server(&mut self, message: &Json) {
        self.pass_to_server(reply::line(message));
    }

    fn pass_to_client(&mut self, line: Vec<u8>) {
        self.out.push(ProxyOutput::ToClient(self.link, line));
    }

    fn pass_to_server(&mut self, line: Vec<u8>) {
        self.out.push(ProxyOutput::ToServer(self.link, line));
    }

    /// The key of a request of the client whose line is being read.
    fn key(&self, id: &Json) -> (u64, String) {
        (self.link.peer, id.to_string())
    }

    fn note(&mut self, text: impl Into<String>) {
        self.out.push(ProxyOutput::Note(text.into()));
    }

    /// A new id for a request of our own. It begins with a random text: neither side can have chosen it before.
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

/// A line with its line feed.
fn whole(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}

#[cfg(test)]
mod tests;
