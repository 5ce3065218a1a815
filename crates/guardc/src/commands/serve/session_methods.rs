//! The methods about one open session: its calls, approvals, items, facts and advice. Opening and
//! closing of sessions are in `server`.

use super::answers::{self, RpcAnswer};
use super::params::{amount, exact_args, instant};
use super::requests::{
    AdviseRequest, ApproveRequest, FactsRequest, ItemRequest, ItemsRequest, MoveRequest,
    PromptRequest, ProposeRequest, ResumeRequest, RevokeApproval, SettleRequest, StopRequest,
    UsageRequest,
};
use super::rpc::RpcError;
use super::server::Server;
use guard_runtime::DEFAULT_APPROVAL;

/// The default and the maximum number of rows of a fact in one answer.
const ROWS: usize = 1000;

impl Server {
    pub(super) fn propose(&self, request: ProposeRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        // Text that the kernel cannot parse is the agent's mistake, and leads to a verdict. The
        // line itself was JSON.
        let args = request.args.as_ref().map_or("{}", |args| args.get());
        self.with(&request.session, request.probes, |session| {
            let proposed = session.at(now).propose(&request.call, &request.tool, args)?;
            self.stats.decided(proposed.verdict.decision);
            Ok(answers::proposed(&proposed, session))
        })
    }

    pub(super) fn settle(&self, request: SettleRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        if !matches!(request.outcome.as_str(), "success" | "failure") {
            let other = &request.outcome;
            let message = format!("`outcome` is \"success\" or \"failure\", not \"{other}\"");
            return Err(RpcError::params(message));
        }
        self.with(&request.session, request.probes, |session| {
            let session_now = session.at(now);
            // A result that the kernel cannot parse ends the call as well. The line itself was
            // JSON.
            let settled = match (request.outcome == "success", &request.result) {
                (true, Some(result)) => session_now.settle_text(&request.call, result.get())?,
                (true, None) => session_now.settle(&request.call, Ok(None))?,
                (false, _) => session_now.settle(&request.call, Err(()))?,
            };
            Ok(answers::settled(&settled, session))
        })
    }

    pub(super) fn prompt(&self, request: PromptRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, None, |session| {
            Ok(answers::learned(&*session.at(now).prompt(&request.text)?))
        })
    }

    pub(super) fn stop(&self, request: StopRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, request.probes, |session| {
            Ok(answers::stopped(&*session.at(now).stop(request.reason.as_deref())?))
        })
    }

    pub(super) fn advise(&self, request: AdviseRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, request.probes, |session| answers::advice(session.at(now)))
    }

    pub(super) fn guide(&self, session: &str) -> RpcAnswer {
        let guide = self.with(session, None, |session| Ok(session.guard().guide()))?;
        Ok(serde_json::json!({ "prompt": guide }).to_string())
    }

    pub(super) fn facts(&self, request: FactsRequest) -> RpcAnswer {
        let from = request.from.unwrap_or(0);
        let limit = request.limit.unwrap_or(ROWS).min(ROWS);
        self.with(&request.session, None, |session| {
            Ok(answers::facts(&session.facts(&request.fact, from, limit)?))
        })
    }

    pub(super) fn item(&self, request: ItemRequest) -> RpcAnswer {
        self.with(&request.session, None, |session| {
            Ok(answers::item(&session.item(&request.item)?))
        })
    }

    pub(super) fn items(&self, request: ItemsRequest) -> RpcAnswer {
        let ItemsRequest { session, lifecycle, state, after } = request;
        self.with(&session, None, |session| {
            Ok(session.items(&lifecycle, state.as_deref(), after.as_deref())?.to_string())
        })
    }

    pub(super) fn verify(&self, request: ItemRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, request.probes, |session| {
            let moved = session.at(now).verify_item(&request.item)?;
            answers::moved(&moved, session)
        })
    }

    pub(super) fn move_item(&self, request: MoveRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let by = request.by.unwrap_or_default();
        let reason = request.reason.as_deref();
        self.with(&request.session, None, |session| {
            let session_now = session.at(now);
            let moved = session_now.move_item(&request.item, &request.transition, &by, reason)?;
            answers::moved(&moved, session)
        })
    }

    pub(super) fn approve(&self, request: ApproveRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let expires = request.expires.map(|text| instant(Some(text))).transpose()?;
        let args = exact_args(request.args)?;
        let tool = request.tool;
        let role = request.role;
        let by = request.by.unwrap_or_default();
        self.with(&request.session, None, |session| {
            session.at(now).approve(&tool, &args, &role, &by, expires)?;
            let until = session.state().now().saturating_add(DEFAULT_APPROVAL);
            Ok(answers::approved(&tool, &role, &by, expires.unwrap_or(until)))
        })
    }

    pub(super) fn revoke(&self, request: RevokeApproval) -> RpcAnswer {
        let now = instant(request.now)?;
        let args = exact_args(request.args)?;
        let by = request.by.unwrap_or_default();
        self.with(&request.session, None, |session| {
            session.at(now).revoke(&request.tool, &args, &request.role, &by)?;
            Ok("{}".into())
        })
    }

    pub(super) fn usage(&self, request: UsageRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let amount = amount("amount", &request.amount)?;
        self.with(&request.session, None, |session| {
            session.at(now).usage(&request.unit, amount)?;
            Ok("{}".into())
        })
    }

    pub(super) fn resume(&self, request: ResumeRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let by = request.by.unwrap_or_default();
        self.with(&request.session, None, |session| {
            session.at(now).resume(&request.role, &by)?;
            Ok("{}".into())
        })
    }

    pub(super) fn state(&self, session: &str) -> RpcAnswer {
        self.with(session, None, |session| Ok(answers::state(session)))
    }

    pub(super) fn trace(&self, session: &str) -> RpcAnswer {
        self.with(session, None, |session| answers::trace(session))
    }
}
