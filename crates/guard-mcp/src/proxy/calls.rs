//! The handling of calls: decided, forwarded, held, settled, answered.

use super::locked::LockCheck;
use super::{AfterList, CallOnTheWay, CallStage, McpProxy, PendingRequest, ProxyOutput};
use crate::gate::{CallGate, GateAnswer, GuardedCall, GuardedEnding, SettledCall};
use crate::reply;
use guard_plan::json::Json;
use guard_plan::naming;

impl<G: CallGate> McpProxy<G> {
    /// Returns the server's name of a tool that was called by its name in the guard. The server may
    /// have another tool with the guard's name.
    fn real_name(&self, name: &str) -> Option<String> {
        let tools = &self.gate.plan().tools;
        if tools.iter().any(|tool| tool.wire_name == name) {
            return None;
        }
        tools.iter().find(|tool| tool.name == name).map(|tool| tool.wire_name.clone())
    }

    /// Compares the tool of a call with the locked one, asks the gate, and acts on its answer.
    pub(super) fn decide(&mut self, mut call: CallOnTheWay, held: bool) {
        if let Some(real) = self.real_name(&call.guarded.tool) {
            let why = format!("`{}` is the guard's own name for `{real}`", call.guarded.tool);
            return self.deny(&call, &why);
        }
        // An allowed call is sent at once, so every decision, also a later one, needs a current
        // comparison.
        match self.check_lock(&call) {
            LockCheck::Fits => {}
            LockCheck::Refused(why) => return self.deny(&call, &why),
            LockCheck::MustList if held => return self.list_first(call, AfterList::DecideHeld),
            LockCheck::MustList => {
                call.deadline = self.now + self.options.wait;
                return self.list_first(call, AfterList::Decide);
            }
        }
        match self.gate.propose(&mut call.guarded, held) {
            GateAnswer::Allow => self.forward(call),
            GateAnswer::Served(result, feedback) => {
                let result = reply::served(&result, &feedback, call.modern);
                self.respond(&call, result);
                self.release_held();
            }
            GateAnswer::Deny(why) => self.deny(&call, &why),
            GateAnswer::Ask(question) => self.ask(call, question),
            GateAnswer::Wait(why) => {
                // The time counts from the first decision, so that a retry does not prolong it.
                if !held {
                    call.deadline = self.now + self.options.wait;
                }
                if call.deadline <= self.now {
                    return self.deny(&call, &wait_too_long(&why));
                }
                call.stage = CallStage::Held(why);
                self.insert(call);
            }
        }
    }

    /// Continues a call after the server has listed its tools.
    pub(super) fn continue_listed(&mut self, call: CallOnTheWay) {
        match call.stage {
            CallStage::Listing(AfterList::SendInputs) => self.send_inputs(call),
            CallStage::Listing(AfterList::DecideHeld) => self.decide(call, true),
            _ => self.decide(call, false),
        }
    }

    /// Denies a call whose tool could not be compared with the lock.
    pub(super) fn deny_unlisted(&mut self, call: &CallOnTheWay, why: &str) {
        if call.stage.in_flight() { self.deny_in_flight(call, why) } else { self.deny(call, why) }
    }

    /// Denies a call that the guard has allowed: for the session it has failed.
    pub(super) fn deny_in_flight(&mut self, call: &CallOnTheWay, why: &str) {
        self.settle_failed(call);
        self.deny(call, why);
        self.release_held();
    }

    pub(super) fn forward(&mut self, mut call: CallOnTheWay) {
        call.stage = CallStage::Forwarded;
        call.deadline = self.now + self.options.call_time;
        // The line is not needed again.
        let line = std::mem::take(&mut call.line);
        let line =
            if call.guarded.transformed { self.with_arguments(&line, &call.guarded) } else { line };
        self.out.push(ProxyOutput::ToServer(call.link, line));
        self.insert(call);
    }

    /// Returns the line of a call with the arguments from the gate, under the server's names of the
    /// parameters.
    fn with_arguments(&self, line: &[u8], call: &GuardedCall) -> Vec<u8> {
        // INVARIANT: the line was parsed as this call.
        let read = std::str::from_utf8(line).ok().and_then(|text| Json::parse(text).ok());
        let Some(Json::Object(mut message)) = read else { return Vec::new() };
        let properties = self.options.lock.as_ref().map(|lock| lock.properties(&call.tool));
        let params = message.iter_mut().find(|(name, _)| **name == *"params");
        if let Some((_, Json::Object(params))) = params {
            let written = params.iter().find(|(name, _)| **name == *"arguments");
            let written = written.map_or(&Json::Null, |(_, args)| args);
            let args = naming::restored(&call.args, written, &properties.unwrap_or_default());
            params.retain(|(name, _)| **name != *"arguments");
            params.push(("arguments".into(), args));
        }
        reply::line(&Json::Object(message))
    }

    pub(super) fn insert(&mut self, call: CallOnTheWay) {
        let number = call.guarded.number;
        self.pending.insert(call.key(), PendingRequest::Call(number));
        self.calls.insert(number, call);
    }

    /// Removes a call for which the client wants no answer.
    pub(super) fn forget(&mut self, number: u64) {
        if let Some(call) = self.calls.remove(&number) {
            self.pending.remove(&call.key());
            if call.stage.in_flight() {
                self.settle_failed(&call);
                self.release_held();
            }
        }
    }

    /// Answers a call with a result, and removes it.
    pub(super) fn respond(&mut self, call: &CallOnTheWay, result: Json) {
        self.pending.remove(&call.key());
        self.calls.remove(&call.guarded.number);
        let line = reply::line(&reply::response(&call.id, result));
        self.out.push(ProxyOutput::ToClient(call.link, line));
    }

    /// Answers a call with a denial, and removes it.
    pub(super) fn deny(&mut self, call: &CallOnTheWay, why: &str) {
        self.respond(call, reply::denial(why, call.modern));
    }

    /// Settles a call that has failed. If that cannot be recorded, the call stays in flight, which
    /// can only refuse other calls, never allow them.
    pub(super) fn settle_failed(&mut self, call: &CallOnTheWay) -> SettledCall {
        match self.gate.settle(&call.guarded, &GuardedEnding::Failed) {
            Ok(settled) => settled,
            Err(why) => {
                self.note(format!(
                    "the end of a call of `{}` is not on record: {why}",
                    call.guarded.tool
                ));
                SettledCall::default()
            }
        }
    }

    /// Decides held calls again, oldest first.
    pub(super) fn release_held(&mut self) {
        self.tried = self.now;
        let held = |call: &CallOnTheWay| matches!(call.stage, CallStage::Held(_));
        let held: Vec<u64> =
            self.calls.iter().filter(|(_, call)| held(call)).map(|(number, _)| *number).collect();
        for number in held {
            if let Some(call) = self.calls.remove(&number) {
                self.decide(call, true);
            }
        }
    }

    /// Ends a call whose time limit has passed.
    pub(super) fn too_late(&mut self, number: u64) {
        let Some(call) = self.calls.remove(&number) else { return };
        match &call.stage {
            CallStage::Begun => self.deny(&call, "it was not decided in time"),
            CallStage::Listing(_) => {
                self.deny_unlisted(
                    &call,
                    "the server did not list its tools in time to compare them with the lock",
                );
            }
            CallStage::Held(why) => self.deny(&call, &wait_too_long(why)),
            CallStage::Asking(own, question) => {
                self.withdraw_question(call.link, own);
                self.deny(&call, &question.denial);
            }
            CallStage::Forwarded => {
                let limit = i64::try_from(self.options.call_time.as_millis()).unwrap_or(i64::MAX);
                let limit = guard_plan::words::duration(limit);
                // The server hears of it, because a call that goes on may still have effects.
                let line = reply::line(&reply::cancelled(&call.id, "no answer in time"));
                self.out.push(ProxyOutput::ToServer(call.link, line));
                let why =
                    format!("the server did not answer within {limit}; the tool may have run");
                self.deny_in_flight(&call, &why);
            }
            CallStage::Cancelled | CallStage::InputRequired(_) => {
                // The request of a call with inputs was answered, and its id may be in use again.
                if call.stage == CallStage::Cancelled {
                    self.pending.remove(&call.key());
                }
                self.settle_failed(&call);
                self.release_held();
            }
        }
    }
}

fn wait_too_long(why: &str) -> String {
    format!("{why}\nThis call may be made again later.")
}
