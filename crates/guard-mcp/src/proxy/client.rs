//! Lines of the client. A line that cannot be parsed never reaches the server, because it could be
//! a call.

use super::{
    CANCEL_GRACE, CallOnTheWay, CallStage, MAX_PENDING, McpLink, McpProxy, PendingRequest,
    ProxyOutput, SESSION_KEY, whole,
};
use crate::gate::{CallGate, GuardedCall};
use crate::message::{IdScanner, MAX_LINE, RpcMessage, is_id, resembles, unambiguous_call};
use crate::reply::{
    self, INVALID_PARAMS, INVALID_REQUEST, META_CAPABILITIES, META_VERSION, PARSE_ERROR,
};
use crate::schema::get;
use guard_plan::json::Json;
use guard_plan::naming;
use std::time::Duration;

impl<G: CallGate> McpProxy<G> {
    /// Processes a line of the client, with or without its line feed.
    pub fn client_line(&mut self, link: McpLink, line: &[u8], now: Duration) -> Vec<ProxyOutput> {
        (self.link, self.now) = (link, now);
        if line.trim_ascii().is_empty() {
            self.pass_to_server(whole(line));
            return self.take();
        }
        match Json::parse_bytes(line) {
            Ok(Json::Array(messages)) => self.client_batch(&messages, line),
            Ok(message) => self.client_message(&message, whole(line)),
            Err(error) => {
                let mut scanner = IdScanner::default();
                scanner.feed(line);
                self.unreadable_from_client(&scanner, &error.to_string());
            }
        }
        self.take()
    }

    /// Processes a line of the client that is longer than [`MAX_LINE`].
    pub fn client_oversized(
        &mut self,
        link: McpLink,
        scanner: &IdScanner,
        now: Duration,
    ) -> Vec<ProxyOutput> {
        (self.link, self.now) = (link, now);
        let why = format!("the message is longer than {} MiB", MAX_LINE >> 20);
        self.unreadable_from_client(scanner, &why);
        self.take()
    }

    fn unreadable_from_client(&mut self, scanner: &IdScanner, why: &str) {
        let id = scanner.id().unwrap_or(Json::Null);
        self.send_to_client(&reply::error(&id, PARSE_ERROR, &format!("not forwarded: {why}")));
    }

    fn client_batch(&mut self, messages: &[Json], line: &[u8]) {
        // An element that is not an object could hide a call from this reader, as in a batch within
        // a batch.
        if messages.iter().any(|message| !matches!(message, Json::Object(_))) {
            let why = "a batch holds messages only";
            self.send_to_client(&reply::error(&Json::Null, INVALID_REQUEST, why));
            return;
        }
        self.batch(messages, line, Self::client_message, ProxyOutput::ToServer);
    }

    fn client_message(&mut self, json: &Json, line: Vec<u8>) {
        let message = match RpcMessage::read(json) {
            Ok(message) => message,
            Err(why) => {
                let id = json.get("id").filter(|id| is_id(id)).unwrap_or(&Json::Null);
                self.send_to_client(&reply::error(id, INVALID_REQUEST, &why));
                return;
            }
        };
        match message {
            RpcMessage::Request { id, method } => self.client_request(&id, &method, json, line),
            RpcMessage::Notification { method } => self.client_notification(&method, json, line),
            RpcMessage::Response { id } if self.is_own(&id) => self.person_answered(&id, json),
            RpcMessage::Response { .. } | RpcMessage::Other => {
                self.pass_to_server(line);
            }
        }
    }

    fn client_request(&mut self, id: &Json, method: &str, json: &Json, line: Vec<u8>) {
        let refusal = match () {
            () if self.is_own(id) => Some("the id is reserved"),
            // The answers to two requests with one id could not be told apart, so an unchecked
            // result could pass.
            () if self.pending.contains_key(&self.key(id)) => Some("the id is in use"),
            () if self.pending.len() >= MAX_PENDING => Some("too many requests are unanswered"),
            // A lenient server could read another spelling as a call.
            () if resembles(method, "tools/call") => Some("the method is `tools/call`"),
            () => None,
        };
        if let Some(why) = refusal {
            self.send_to_client(&reply::error(id, INVALID_REQUEST, why));
            return;
        }
        let pending = match method {
            "tools/call" => return self.call(id, json, line),
            "tools/list" => PendingRequest::List(self.link.exchange),
            "initialize" => {
                let capabilities = json.get("params").and_then(|params| params.get("capabilities"));
                if has_forms(capabilities) {
                    _ = self.eliciting.insert(self.link.peer);
                } else {
                    _ = self.eliciting.remove(&self.link.peer);
                }
                PendingRequest::Other(self.link.exchange)
            }
            _ => PendingRequest::Other(self.link.exchange),
        };
        self.pending.insert(self.key(id), pending);
        self.pass_to_server(line);
    }

    fn client_notification(&mut self, method: &str, json: &Json, line: Vec<u8>) {
        if method == "tools/call" || resembles(method, "tools/call") {
            self.note("a `tools/call` without an id was not forwarded: no answer could be sent");
            return;
        }
        if method == "notifications/cancelled" {
            return self.cancel(json, line);
        }
        self.pass_to_server(line);
    }

    /// Handles a cancellation. A call that was sent to the server may have run. It is settled when
    /// the server answers, or after a short time.
    fn cancel(&mut self, json: &Json, line: Vec<u8>) {
        let id = json.get("params").and_then(|params| params.get("requestId"));
        let pending = id.and_then(|id| self.pending.get(&self.key(id)).copied());
        let Some(PendingRequest::Call(number)) = pending else {
            self.pass_to_server(line);
            return;
        };
        let deadline = self.now + CANCEL_GRACE;
        let Some(call) = self.calls.get_mut(&number) else { return };
        match &call.stage {
            CallStage::Forwarded => {
                (call.stage, call.deadline) = (CallStage::Cancelled, deadline);
                self.pass_to_server(line);
            }
            CallStage::Cancelled => self.pass_to_server(line),
            CallStage::Asking(own, _) => {
                let own = own.clone();
                let link = call.link;
                self.withdraw_question(link, &own);
                self.forget(number);
            }
            _ => self.forget(number),
        }
    }

    /// Begins a call of a tool.
    fn call(&mut self, id: &Json, json: &Json, line: Vec<u8>) {
        let invalid = |proxy: &mut McpProxy<G>, why: &str| {
            proxy.send_to_client(&reply::error(id, INVALID_PARAMS, why));
        };
        let Some(Json::Object(params)) = json.get("params") else {
            return invalid(self, "`params` is an object");
        };
        if let Err(why) = unambiguous_call(params) {
            return invalid(self, &why);
        }
        let Some(tool) = get(params, "name").and_then(Json::as_str) else {
            return invalid(self, "`name` is the name of a tool");
        };
        let meta = get(params, "_meta");
        let modern = meta.is_some_and(|meta| meta.get(META_VERSION).is_some());
        let can_ask = if modern {
            has_forms(meta.and_then(|meta| meta.get(META_CAPABILITIES)))
        } else {
            self.eliciting.contains(&self.link.peer)
        };
        let args = match get(params, "arguments") {
            None | Some(Json::Null) => Ok(Json::Object(Vec::new())),
            Some(args) => {
                let lock = self.options.lock.as_ref();
                let properties = lock.map(|lock| lock.properties(tool)).unwrap_or_default();
                naming::renamed(args, &properties)
                    .map(|named| named.unwrap_or_else(|| args.clone()))
            }
        };
        let session = meta.and_then(|meta| meta.get(SESSION_KEY));
        self.next_call += 1;
        let call = CallOnTheWay {
            guarded: GuardedCall {
                number: self.next_call,
                session: session.and_then(Json::as_str).map(str::to_owned),
                tool: tool.to_owned(),
                args: args.clone().unwrap_or(Json::Null),
                transformed: false,
            },
            link: self.link,
            id: id.clone(),
            line,
            meta: meta.cloned(),
            modern,
            elicits: can_ask && self.options.elicits,
            asked: false,
            stage: CallStage::Begun,
            deadline: self.now,
        };
        let given = |name: &str| get(params, name).is_some_and(|value| *value != Json::Null);
        match args {
            Err(why) => self.deny(&call, &why),
            Ok(_) if session.is_some_and(|id| id.as_str().is_none()) => {
                self.deny(&call, "`guard/session` is a string");
            }
            Ok(_) if given("task") => self.deny(
                &call,
                "a call as a task cannot be guarded: its result would not be checked. Make it without `task`.",
            ),
            Ok(_) if given("inputResponses") || given("requestState") => {
                self.call_again(call, params, json);
            }
            Ok(_) => self.decide(call, false),
        }
    }
}

/// Returns true if the capabilities include elicitation by forms.
fn has_forms(capabilities: Option<&Json>) -> bool {
    match capabilities.and_then(|capabilities| capabilities.get("elicitation")) {
        Some(Json::Object(modes)) => modes.is_empty() || get(modes, "form").is_some(),
        _ => false,
    }
}
