//! The methods about contracts: checks of texts, whole or in pieces, and the texts that tell a model
//! about a contract.

use super::answers::{self, RpcAnswer};
use super::feeds;
use super::params::known_lists;
use super::requests::{CheckRequest, ContractRequest, FinishRequest, PushRequest, ReaskRequest};
use super::rpc::RpcError;
use super::server::Server;
use guard_sdk::{Contract, Lists, TextOptions};
use serde_json::json;

impl Server {
    pub(super) fn check(&self, request: CheckRequest) -> RpcAnswer {
        let known = known_lists(request.known.as_deref())?;
        let options = TextOptions { finish_reason: request.finish_reason.as_deref(), known };
        let contract = &request.contract;
        let text = &request.text;
        match (&request.session, &request.plan) {
            (Some(id), None) => self.with(id, None, |session| {
                answers::report(&*session.check_text(contract, text, &options)?)
            }),
            (None, Some(path)) => {
                let contract = self.guards.load(path)?.contract(contract)?;
                answers::report(&contract.check(text, &options)?)
            }
            _ => Err(RpcError::params("give either `session` or `plan`, a path")),
        }
    }

    pub(super) fn feed(&self, request: ContractRequest) -> RpcAnswer {
        let session = request.session.clone();
        let (contract, known, _) = self.hint(request)?;
        let open = feeds::OpenFeed { session, feed: contract.feed(known)? };
        Ok(serde_json::json!({ "feed": self.feeds.open(open)? }).to_string())
    }

    pub(super) fn push(&self, request: PushRequest) -> RpcAnswer {
        let mut open = self.feeds.take(&request.feed)?;
        let text = request.text.as_bytes();
        let items = match open.session.clone() {
            None => Ok(open.feed.push(text)),
            Some(id) => self.with(&id, None, |session| Ok(session.push_text(&mut open.feed, text))),
        };
        // If the session is gone, the text is kept.
        self.feeds.put(&request.feed, open);
        Ok(feeds::pushed(&items?))
    }

    pub(super) fn finish(&self, request: FinishRequest) -> RpcAnswer {
        let feeds::OpenFeed { session, feed } = self.feeds.take(&request.feed)?;
        let reason = request.finish_reason.as_deref();
        let report = match session {
            None => feed.finish(reason),
            Some(id) => self.with(&id, None, |session| feeds::finish(session, feed, reason))?,
        };
        answers::report(&report)
    }

    pub(super) fn schema(&self, request: ContractRequest) -> RpcAnswer {
        let (contract, known, strict) = self.hint(request)?;
        answers::schema(&contract, &known, strict)
    }

    pub(super) fn contract_prompt(&self, request: ContractRequest) -> RpcAnswer {
        let (contract, known, _) = self.hint(request)?;
        Ok(json!({ "prompt": contract.prompt(&known) }).to_string())
    }

    pub(super) fn reask(&self, request: ReaskRequest) -> RpcAnswer {
        let ReaskRequest { session, plan, contract, known, report } = request;
        let hint = ContractRequest { session, plan, contract, known, profile: None };
        let (contract, known, _) = self.hint(hint)?;
        Ok(json!({ "prompt": contract.reask(&report, &known) }).to_string())
    }

    /// Returns a contract, the host's lists, and true if the strict profile is requested.
    fn hint(&self, request: ContractRequest) -> Result<(Contract, Lists, bool), RpcError> {
        let known = known_lists(request.known.as_deref())?;
        let strict = match request.profile.as_deref() {
            None | Some("full") => false,
            Some("strict") => true,
            Some(_) => return Err(RpcError::params("`profile` is `full` or `strict`")),
        };
        Ok((self.contract(&request)?, known, strict))
    }

    fn contract(&self, request: &ContractRequest) -> Result<Contract, RpcError> {
        let guard = match (&request.session, &request.plan) {
            (Some(id), None) => self.with(id, None, |session| Ok(session.guard().clone()))?,
            (None, Some(path)) => self.guards.load(path)?,
            _ => return Err(RpcError::params("give either `session` or `plan`, a path")),
        };
        Ok(guard.contract(&request.contract)?)
    }
}
