//! Questions to people, and repeated calls: with a person's answer, or with inputs for the server.

use super::locked::LockCheck;
use super::{AfterList, CallOnTheWay, CallStage, McpLink, McpProxy, OwnRequest, ProxyOutput};
use crate::gate::{ApprovalQuestion, CallGate, PersonsAnswer};
use crate::reply::{self, APPROVAL_INPUT};
use crate::schema::{get, set};
use guard_plan::json::Json;

/// The prefix of the proxy's own `requestState`.
const STATE_PREFIX: &str = "guard-approval:";

impl<G: CallGate> McpProxy<G> {
    /// Asks a person through the client, if the client supports it. Otherwise the call is denied,
    /// with instructions for approving it.
    pub(super) fn ask(&mut self, mut call: CallOnTheWay, question: ApprovalQuestion) {
        // A call asks only once, or a rule that still is not satisfied would ask without end.
        let text = question.question.clone().filter(|_| call.elicits && !call.asked);
        let Some(text) = text else {
            return self.deny(&call, &question.denial);
        };
        if call.modern {
            // The call is not in flight. The client repeats it, and it is decided then.
            let state = format!("{STATE_PREFIX}{}", question.request);
            return self.respond(&call, reply::input_required(&text, &state));
        }
        let own = self.own_id();
        let line = reply::line(&reply::elicitation(&Json::string(&own), &text));
        self.out.push(ProxyOutput::ToClient(call.link, line));
        self.own.insert(own.clone(), (call.link, OwnRequest::Approval(call.guarded.number)));
        call.deadline = self.now + self.options.answer_time;
        call.stage = CallStage::Asking(own, question);
        self.insert(call);
    }

    /// Processes a person's answer to a question. An answer to a question that is over is ignored.
    pub(super) fn person_answered(&mut self, id: &Json, json: &Json) {
        let own = id.as_str().unwrap_or_default();
        let Some((asked, OwnRequest::Approval(number))) = self.own.get(own).cloned() else {
            return;
        };
        // Over HTTP, another client could approve its own calls in the name of the person who was
        // asked.
        if asked.peer != self.link.peer {
            return self.note("a client answered a question that another was asked; dropped");
        }
        self.own.remove(own);
        let Some(mut call) = self.calls.remove(&number) else { return };
        let CallStage::Asking(_, question) = &call.stage else { return };
        let request = question.request.clone();
        let denial = question.denial.clone();
        call.asked = true;
        match json.get("result").and_then(answer) {
            Some(answer) => self.answered(call, &request, &answer),
            None => self.deny(&call, &denial),
        }
    }

    fn answered(&mut self, call: CallOnTheWay, request: &str, answer: &PersonsAnswer) {
        match self.gate.answer(&call.guarded, request, answer) {
            // The next decision finds the refusal, and reports the person and the reason.
            Ok(()) => self.decide(call, false),
            Err(why) => self.deny(&call, &format!("the approval is not accepted: {why}")),
        }
    }

    pub(super) fn withdraw_question(&mut self, link: McpLink, own: &str) {
        if self.own.remove(own).is_some() {
            let line = reply::line(&reply::cancelled(&Json::string(own), "the call is over"));
            self.out.push(ProxyOutput::ToClient(link, line));
        }
    }

    /// Handles a call that is repeated with inputs. The inputs come from outside and teach the
    /// session nothing.
    pub(super) fn call_again(
        &mut self,
        mut call: CallOnTheWay,
        params: &[(Box<str>, Json)],
        json: &Json,
    ) {
        let state = get(params, "requestState");
        let request = state.and_then(Json::as_str).and_then(|text| text.strip_prefix(STATE_PREFIX));
        if let Some(request) = request {
            call.line = reply::line(&without_inputs(json));
            call.asked = true;
            let given = get(params, "inputResponses").and_then(|inputs| inputs.get(APPROVAL_INPUT));
            return match given.and_then(answer) {
                Some(answer) => self.answered(call, request, &answer),
                None => self.decide(call, false),
            };
        }
        // An answer for one call must not admit another, so everything that the guard decided about
        // is compared.
        let same = |known: &&CallOnTheWay| {
            known.stage == CallStage::InputRequired(state.cloned())
                && known.guarded.tool == call.guarded.tool
                && known.guarded.args == call.guarded.args
                && known.guarded.session == call.guarded.session
        };
        let Some(number) = self.calls.values().find(same).map(|known| known.guarded.number) else {
            // The call has not been allowed yet, so it is handled as a new call.
            return self.decide(call, false);
        };
        self.calls.remove(&number);
        // The call keeps its number, so that it is charged and settled once.
        call.guarded.number = number;
        call.deadline = self.now + self.options.wait;
        self.send_inputs(call);
    }

    /// Sends a call in flight to the server with its inputs.
    pub(super) fn send_inputs(&mut self, call: CallOnTheWay) {
        // The tool and the session may have changed while the client collected the inputs.
        let checked = match self.check_lock(&call) {
            LockCheck::Fits => self.gate.check_again(&call.guarded),
            LockCheck::Refused(why) => Err(why),
            LockCheck::MustList => return self.list_first(call, AfterList::SendInputs),
        };
        match checked {
            Ok(()) => self.forward(call),
            Err(why) => self.deny_in_flight(&call, &why),
        }
    }

    /// Handles a server's request for inputs. The call stays in flight until the client repeats it.
    pub(super) fn input_required(&mut self, mut call: CallOnTheWay, result: &Json) {
        self.pending.remove(&call.key());
        call.stage = CallStage::InputRequired(result.get("requestState").cloned());
        call.deadline = self.now + self.options.answer_time;
        self.calls.insert(call.guarded.number, call);
    }
}

/// Returns a person's answer; `None` if the person has not decided.
fn answer(result: &Json) -> Option<PersonsAnswer> {
    if result.get("action").and_then(Json::as_str) != Some("accept") {
        return None;
    }
    let content = result.get("content")?;
    let text = |name: &str| content.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    // Only a boolean decides; any other value leaves the call denied.
    let Some(Json::Bool(approves)) = content.get("approve") else { return None };
    Some(PersonsAnswer { approves: *approves, name: text("name"), reason: text("reason") })
}

/// Returns a call as it was before a person was asked.
fn without_inputs(json: &Json) -> Json {
    let Json::Object(members) = json else { return json.clone() };
    let mut members = members.clone();
    if let Some(Json::Object(params)) = get(&members, "params") {
        let inputs = ["inputResponses", "requestState"];
        let params = params.iter().filter(|(name, _)| !inputs.contains(&&**name));
        let params = Json::Object(params.cloned().collect());
        set(&mut members, "params", params);
    }
    Json::Object(members)
}
