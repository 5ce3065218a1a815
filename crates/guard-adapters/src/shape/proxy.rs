//! A proxy between a client and a tool server: the server answers requests in any order, and the
//! client shows the responses in the order of its requests.

use crate::duty::{Gate, Work, with_feedback};
use crate::fault::Fault;
use guard_ack::Trouble;
use guard_ack::protocol::{Call, End};
use std::collections::{BTreeMap, VecDeque};

/// Runs the client's loop.
pub fn run(work: &mut Work) -> Result<End, Trouble> {
    work.begin()?;
    while let Some(turn) = work.ask_model()? {
        let responses = Proxy::default().forward(work, &turn.calls)?;
        for call in &turn.calls {
            let text = responses.get(&call.call).map_or("no response", String::as_str);
            work.answer(call, text);
        }
        if !turn.stop {
            continue;
        }
        let stopped = work.stop(&turn)?;
        if work.may_stop(&stopped) {
            return work.end(&turn, &stopped);
        }
    }
    Ok(work.abandoned())
}

/// The pending requests.
#[derive(Default)]
struct Proxy<'c> {
    /// The forwarded calls, by id.
    sent: BTreeMap<String, &'c Call>,
    /// The held calls, with the reasons.
    kept: VecDeque<(&'c Call, String)>,
    responses: BTreeMap<String, String>,
}

impl<'c> Proxy<'c> {
    /// Forwards requests or answers them itself, until each has its response.
    fn forward(
        mut self,
        work: &mut Work,
        requests: &'c [Call],
    ) -> Result<BTreeMap<String, String>, Trouble> {
        for call in requests {
            self.request(work, call)?;
        }
        while let Some((id, done)) = work.world.ended(true) {
            if let Some(call) = self.sent.remove(&id) {
                let both = work.settle(call, &done)?;
                self.responses.insert(id, with_feedback(&both));
            }
            for _ in 0..self.kept.len() {
                let Some((call, _)) = self.kept.pop_front() else { break };
                self.request(work, call)?;
            }
        }
        for (call, why) in self.kept {
            self.responses.insert(call.call.clone(), why);
        }
        Ok(self.responses)
    }

    fn request(&mut self, work: &mut Work, call: &'c Call) -> Result<(), Trouble> {
        if work.fault == Fault::RunsFirst {
            self.send(work, call);
            let _ = work.gate(call)?;
            return Ok(());
        }
        match work.gate(call)? {
            Gate::Run => self.send(work, call),
            Gate::Served(text) | Gate::Refused(text) => {
                self.responses.insert(call.call.clone(), text);
            }
            Gate::Wait(why) => self.kept.push_back((call, why)),
        }
        Ok(())
    }

    fn send(&mut self, work: &mut Work, call: &'c Call) {
        work.world.begin(call);
        self.sent.insert(call.call.clone(), call);
    }
}
