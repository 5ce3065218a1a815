//! Lines of the server. An answer without a pending question is dropped.

use super::locked::unreadable_list;
use super::{
    CallOnTheWay, CallStage, McpLink, McpProxy, OwnRequest, PendingRequest, ProxyOutput, whole,
};
use crate::gate::{CallGate, GuardedEnding, SettledCall};
use crate::listing;
use crate::message::{IdScanner, MAX_LINE, RpcMessage};
use crate::reply::{self, INTERNAL_ERROR, INVALID_REQUEST};
use crate::result::{ResultKind, forms, is_secret, made_anew, redacted, with_feedback};
use guard_plan::json::Json;
use std::collections::BTreeSet;
use std::time::Duration;

impl<G: CallGate> McpProxy<G> {
    /// Processes a line of the server, with or without its line feed.
    pub fn server_line(&mut self, link: McpLink, line: &[u8], now: Duration) -> Vec<ProxyOutput> {
        (self.link, self.now) = (link, now);
        if line.trim_ascii().is_empty() {
            self.pass_to_client(whole(line));
            return self.take();
        }
        match Json::parse_bytes(line) {
            Ok(Json::Array(messages)) => {
                self.batch(&messages, line, Self::server_message, ProxyOutput::ToClient);
            }
            Ok(message) => self.server_message(&message, whole(line)),
            Err(error) => {
                let mut scanner = IdScanner::default();
                scanner.feed(line);
                self.unreadable_from_server(&scanner, &format!("cannot be read: {error}"));
            }
        }
        self.take()
    }

    /// Processes a line of the server that is longer than [`MAX_LINE`].
    pub fn server_oversized(
        &mut self,
        link: McpLink,
        scanner: &IdScanner,
        now: Duration,
    ) -> Vec<ProxyOutput> {
        (self.link, self.now) = (link, now);
        let why = format!("is longer than {} MiB", MAX_LINE >> 20);
        self.unreadable_from_server(scanner, &why);
        self.take()
    }

    /// Drops a message that cannot be parsed, because it could be a result that must be checked.
    fn unreadable_from_server(&mut self, scanner: &IdScanner, why: &str) {
        self.note(format!("a message of the server was not forwarded: it {why}"));
        let Some(id) = scanner.id() else { return };
        if scanner.has_method() {
            // A request of the server must be answered, or it waits without end.
            self.send_to_server(&reply::error(&id, INVALID_REQUEST, &format!("the message {why}")));
            return;
        }
        match self.pending.get(&self.key(&id)).copied() {
            Some(PendingRequest::Call(number)) => {
                let was_sent = |call: &&CallOnTheWay| call.stage.was_sent();
                if let Some(call) = self.calls.get(&number).filter(was_sent).cloned() {
                    self.calls.remove(&number);
                    let settled = self.settle_failed(&call);
                    let text = format!("the server's answer {why}; the tool may have run");
                    self.tell_failure(&call, &text, &settled);
                    self.release_held();
                }
            }
            Some(_) => {
                self.pending.remove(&self.key(&id));
                let text = format!("the server's answer {why}");
                self.send_to_client(&reply::error(&id, INTERNAL_ERROR, &text));
            }
            None => {}
        }
    }

    fn server_message(&mut self, json: &Json, line: Vec<u8>) {
        match RpcMessage::read(json) {
            Ok(RpcMessage::Response { id }) => self.server_response(&id, json, line),
            // An answer of the client to such a request would be taken for an answer to the proxy.
            Ok(RpcMessage::Request { id, .. }) if self.is_own(&id) => {
                self.send_to_server(&reply::error(&id, INVALID_REQUEST, "the id is reserved"));
            }
            Ok(RpcMessage::Notification { method }) => {
                match method.as_str() {
                    "notifications/tools/list_changed" => self.tools_changed(),
                    "notifications/progress" => self.progressed(json),
                    _ => {}
                }
                self.pass_to_client(line);
            }
            Ok(RpcMessage::Request { .. } | RpcMessage::Other) => {
                self.pass_to_client(line);
            }
            Err(why) => self.note(format!("a message of the server was not forwarded: {why}")),
        }
    }

    /// Handles a progress report of the server for a call.
    fn progressed(&mut self, json: &Json) {
        let token = json.get("params").and_then(|params| params.get("progressToken"));
        let deadline = self.now + self.options.call_time;
        let peer = self.link.peer;
        let call = self.calls.values_mut().find(|call| {
            let known = call.meta.as_ref().and_then(|meta| meta.get("progressToken"));
            let own = call.link.peer == peer && call.stage == CallStage::Forwarded;
            own && known.is_some() && known == token
        });
        if let Some(call) = call {
            call.deadline = deadline;
        }
    }

    fn server_response(&mut self, id: &Json, json: &Json, line: Vec<u8>) {
        if let Some(own) = id.as_str().filter(|_| self.is_own(id)) {
            if let Some((_, OwnRequest::List(meta))) = self.own.get(own).cloned() {
                self.own.remove(own);
                self.page_listed(json, meta);
            }
            return;
        }
        match self.pending.get(&self.key(id)).copied() {
            Some(PendingRequest::Other(_)) => {
                self.pending.remove(&self.key(id));
                self.pass_to_client(line);
            }
            Some(PendingRequest::List(_)) => {
                self.pending.remove(&self.key(id));
                self.list_answered(id, json, line);
            }
            Some(PendingRequest::Call(number)) => {
                // A server could answer a held call ahead of time, and its result would pass
                // without a decision.
                let was_sent = |call: &CallOnTheWay| call.stage.was_sent();
                if self.calls.get(&number).is_some_and(was_sent)
                    && let Some(mut call) = self.calls.remove(&number)
                {
                    // A resumed stream is another exchange.
                    call.link = self.link;
                    self.call_answered(call, json, line);
                } else {
                    self.note("the server answered a call that it was not sent; dropped");
                }
            }
            // The server could not parse a message well enough to know its id.
            None if *id == Json::Null && json.get("result").is_none() => {
                self.pass_to_client(line);
            }
            None => self.note("the server answered a request that is not open; dropped"),
        }
    }

    fn list_answered(&mut self, id: &Json, json: &Json, line: Vec<u8>) {
        let Some(result) = json.get("result") else {
            self.pass_to_client(line);
            return;
        };
        let refused = match result.get("tools") {
            Some(Json::Array(tools)) => self.compare_listed(tools),
            _ => BTreeSet::new(),
        };
        let mut is_shown = |name: &str| !refused.contains(name);
        match listing::narrowed(self.gate.plan(), result, &mut is_shown) {
            None => self.send_to_client(&unreadable_list(id)),
            // The comparison ignores the order of members, and narrowing keeps it.
            Some(narrowed) if narrowed == *result => self.pass_to_client(line),
            Some(narrowed) => self.send_to_client(&with_result(json, narrowed)),
        }
    }

    fn call_answered(&mut self, call: CallOnTheWay, json: &Json, line: Vec<u8>) {
        let result = match (json.get("result"), json.get("error")) {
            // A message with both is a failure, because clients differ in the member that they
            // read.
            (Some(result), None) => result,
            _ => return self.call_failed(&call, json, line),
        };
        match ResultKind::from_result(result) {
            ResultKind::Succeeded => self.call_succeeded(&call, json, result, line),
            ResultKind::Failed => self.call_failed(&call, json, line),
            // The client would repeat a call with other arguments, which the server has not asked
            // for.
            ResultKind::InputRequired
                if call.modern
                    && call.stage == CallStage::Forwarded
                    && !call.guarded.transformed =>
            {
                self.input_required(call, result);
                self.pass_to_client(line);
            }
            ResultKind::InputRequired | ResultKind::Unknown => {
                let settled = self.settle_failed(&call);
                let text =
                    "the result is withheld: its kind cannot be checked; the tool may have run";
                self.tell_failure(&call, text, &settled);
                self.release_held();
            }
        }
    }

    fn call_succeeded(&mut self, call: &CallOnTheWay, json: &Json, result: &Json, line: Vec<u8>) {
        let forms = forms(result);
        // A cancelled call settles too, because its tool has run.
        let settled = self.gate.settle(&call.guarded, &GuardedEnding::Succeeded(forms.clone()));
        if call.stage == CallStage::Cancelled {
            self.forget_id(call);
            self.release_held();
            return;
        }
        let settled = match settled {
            Ok(settled) => settled,
            Err(why) => {
                let text = format!(
                    "the result is withheld, since it is not on record: {why}\nThe tool has run."
                );
                return self.deny(call, &text);
            }
        };
        let plan = self.gate.plan();
        let tool = plan.tools.iter().find(|tool| tool.wire_name == call.guarded.tool);
        let form = settled.shown.as_ref().or(forms.get(settled.form));
        let shown = match tool {
            Some(tool) if is_secret(plan, tool) => Some(redacted(plan, tool, form, result)),
            _ => settled.shown.as_ref().map(|shown| made_anew(shown.clone(), result)),
        };
        let shown = match (shown, settled.feedback.is_empty()) {
            (shown, true) => shown,
            (shown, false) => {
                Some(with_feedback(shown.as_ref().unwrap_or(result), &settled.feedback))
            }
        };
        self.forget_id(call);
        match shown {
            None => self.pass_to_client(line),
            Some(shown) => self.send_to_client(&with_result(json, shown)),
        }
        self.release_held();
    }

    /// Handles a failed tool, or an error of the server.
    fn call_failed(&mut self, call: &CallOnTheWay, json: &Json, line: Vec<u8>) {
        let settled = self.settle_failed(call);
        let plan = self.gate.plan();
        let tool = plan.tools.iter().find(|tool| tool.wire_name == call.guarded.tool);
        let secret = tool.is_some_and(|tool| is_secret(plan, tool));
        let changed = tool.is_some_and(|tool| !tool.transforms.is_empty());
        // The text of an error may repeat what a result would hide.
        let withheld = match (secret, changed) {
            (true, _) => Some("results of this tool hold secrets"),
            (false, true) => Some("parts of this tool's results are not shown"),
            (false, false) => None,
        };
        match (call.stage == CallStage::Cancelled, withheld) {
            (true, _) => self.forget_id(call),
            (false, Some(why)) => {
                let text = format!("the call failed; the message is withheld, since {why}");
                self.tell_failure(call, &text, &settled);
            }
            (false, None) => {
                self.forget_id(call);
                let result = json.get("result").filter(|_| !settled.feedback.is_empty());
                match result {
                    Some(result) => {
                        self.send_to_client(&with_result(
                            json,
                            with_feedback(result, &settled.feedback),
                        ));
                    }
                    None => self.pass_to_client(line),
                }
            }
        }
        self.release_held();
    }

    pub(super) fn tell_failure(&mut self, call: &CallOnTheWay, text: &str, settled: &SettledCall) {
        if call.stage == CallStage::Cancelled {
            return self.forget_id(call);
        }
        match settled.feedback.as_str() {
            "" => self.deny(call, text),
            feedback => self.deny(call, &format!("{text}\n\n{feedback}")),
        }
    }

    fn forget_id(&mut self, call: &CallOnTheWay) {
        self.pending.remove(&call.key());
    }
}

/// Returns a response with another result.
fn with_result(json: &Json, result: Json) -> Json {
    let Json::Object(members) = json else { return json.clone() };
    let members = members.iter().map(|(name, value)| match &**name {
        "result" => (name.clone(), result.clone()),
        _ => (name.clone(), value.clone()),
    });
    Json::Object(members.collect())
}
