//! A proxy between a client and a tool server. The server answers requests in any order, and the
//! client shows the responses in the order of its requests.

use crate::duties::{Duties, with_feedback};
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{LoopEnd, ModelCall};
use std::collections::{BTreeMap, VecDeque};

/// Runs the client's loop.
pub fn run(duties: &mut dyn Duties, harness: &mut Harness) -> AdapterResult<LoopEnd> {
    duties.begin(harness)?;
    while let Some(turn) = duties.ask_model(harness)? {
        let responses = Proxy::default().forward(duties, harness, &turn.calls)?;
        for call in &turn.calls {
            let text = responses.get(&call.call).map_or("no response", String::as_str);
            harness.answer(call, text);
        }
        if !turn.stop {
            continue;
        }
        let stopped = duties.stop(harness, &turn)?;
        if duties.may_stop(harness, &stopped) {
            return duties.end(harness, &turn, &stopped);
        }
    }
    Ok(duties.abandoned(harness))
}

/// The pending requests.
#[derive(Default)]
struct Proxy<'c> {
    /// The forwarded calls, by id.
    sent: BTreeMap<String, &'c ModelCall>,
    /// The held calls, with the reasons.
    kept: VecDeque<(&'c ModelCall, String)>,
    responses: BTreeMap<String, String>,
}

impl<'c> Proxy<'c> {
    /// Forwards requests or answers them itself, until each request has its response.
    fn forward(
        mut self,
        duties: &mut dyn Duties,
        harness: &mut Harness,
        requests: &'c [ModelCall],
    ) -> AdapterResult<BTreeMap<String, String>> {
        for call in requests {
            self.request(duties, harness, call)?;
        }
        while let Some((id, done)) = duties.finished(harness) {
            if let Some(call) = self.sent.remove(&id) {
                let both = duties.settle(harness, call, &done)?;
                self.responses.insert(id, with_feedback(&both));
            }
            // A call that must wait again is appended, so the number of rounds is fixed beforehand.
            for _ in 0..self.kept.len() {
                let Some((call, _)) = self.kept.pop_front() else { break };
                self.request(duties, harness, call)?;
            }
        }
        for (call, why) in self.kept {
            self.responses.insert(call.call.clone(), why);
        }
        Ok(self.responses)
    }

    fn request(
        &mut self,
        duties: &mut dyn Duties,
        harness: &mut Harness,
        call: &'c ModelCall,
    ) -> AdapterResult<()> {
        match duties.call(harness, call)? {
            Gate::Run => {
                self.sent.insert(call.call.clone(), call);
            }
            Gate::Served(text) | Gate::Refused(text) => {
                self.responses.insert(call.call.clone(), text);
            }
            Gate::Wait(why) => self.kept.push_back((call, why)),
        }
        Ok(())
    }
}
