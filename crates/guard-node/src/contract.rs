//! Contracts: texts judged whole or as they arrive.

use crate::reply::{ReplyFailure, caught, json, json_text, text};
use guard_plan::json::Json;
use guard_plan::report::Report;
use guard_runtime::SessionState;
use guard_sdk::{Contract, Guard, TextOptions};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Task};
use napi_derive::napi;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The workspace of contracts outside of a session.
const NO_WORKSPACE: &str = "/workspace";

/// The lists of known values that a host hands over, by name.
pub fn known_lists(known: Option<&str>) -> Result<BTreeMap<String, Vec<Json>>, ReplyFailure> {
    let wrong = || ReplyFailure::argument("`known` is an object of lists");
    let Some(known) = known else { return Ok(BTreeMap::new()) };
    let Json::Object(members) = json(known)? else { return Err(wrong()) };
    let list = |(name, values): (Box<str>, Json)| match values {
        Json::Array(values) => Ok((name.into(), values)),
        _ => Err(wrong()),
    };
    members.into_iter().map(list).collect()
}

/// A report as text: a line with its heads, and the whole report, which may be long and is often not read.
pub fn report_text(report: &Report) -> Result<String, ReplyFailure> {
    let mut text = json_text(&serde_json::json!({
        "state": report.state.name(),
        "kept": report.kept(),
        "quarantinedCount": report.quarantined_count,
        "truncated": report.truncated,
        "reviewRequired": report.review_required,
        "lacks": report.lacks(10),
    }))?;
    text.push('\n');
    text.push_str(&json_text(report)?);
    Ok(text)
}

/// One contract of a guard.
#[napi]
pub struct NodeContract {
    guard: Guard,
    contract: Arc<Contract>,
}

impl NodeContract {
    /// A contract of a guard.
    pub fn new(guard: Guard, contract: Contract) -> NodeContract {
        NodeContract { guard, contract: Arc::new(contract) }
    }
}

/// A text that is judged beside the event loop.
pub struct LaterCheck {
    contract: Arc<Contract>,
    text: Vec<u8>,
    finish_reason: Option<String>,
    known: Option<String>,
}

fn checked(
    contract: &Contract,
    bytes: &[u8],
    finish_reason: Option<&str>,
    known: Option<&str>,
) -> String {
    text(caught(|| {
        let options = TextOptions { finish_reason, known: known_lists(known)? };
        report_text(&contract.check(bytes, &options).map_err(|error| ReplyFailure::from(&error))?)
    }))
}

impl Task for LaterCheck {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        let finish = self.finish_reason.as_deref();
        let known = self.known.as_deref();
        Ok(checked(&self.contract, &self.text, finish, known))
    }

    fn resolve(&mut self, _env: Env, output: String) -> napi::Result<String> {
        Ok(output)
    }
}

#[napi]
impl NodeContract {
    /// Judges a text.
    #[napi]
    pub fn check(
        &self,
        bytes: Buffer,
        finish_reason: Option<String>,
        known: Option<String>,
    ) -> String {
        checked(&self.contract, &bytes, finish_reason.as_deref(), known.as_deref())
    }

    /// Judges a text in another thread.
    #[napi]
    pub fn check_later(
        &self,
        bytes: Buffer,
        finish_reason: Option<String>,
        known: Option<String>,
    ) -> AsyncTask<LaterCheck> {
        // A copy: the caller may write into its buffer while the other thread reads.
        let contract = self.contract.clone();
        let text = bytes.to_vec();
        AsyncTask::new(LaterCheck { contract, text, finish_reason, known })
    }

    /// Begins to judge a text that arrives in pieces.
    #[napi]
    pub fn feed(&self, known: Option<String>) -> napi::Result<NodeFeed> {
        let feed = caught(|| {
            let name = self.contract.name();
            let index = self.guard.plan().contracts.iter().position(|known| known.name == name);
            let state = self.guard.kernel().open("contract", 0, NO_WORKSPACE);
            Ok(NodeFeed {
                guard: self.guard.clone(),
                index: index
                    .ok_or_else(|| ReplyFailure::contract("the plan does not have the contract"))?,
                state: state.map_err(|error| ReplyFailure::contract(error.to_string()))?,
                known: known_lists(known.as_deref())?,
                feed: Some(self.contract.checker().feed()),
            })
        });
        feed.map_err(|failure| failure.thrown())
    }

    /// The JSON Schema, in the full or the strict profile.
    #[napi]
    pub fn schema(&self, known: Option<String>, strict: bool) -> String {
        text(caught(|| {
            let known = known_lists(known.as_deref())?;
            if !strict {
                return json_text(&self.contract.schema(&known));
            }
            let refused = |refused: Vec<String>| ReplyFailure::contract(refused.join("; "));
            json_text(&self.contract.strict_schema(&known).map_err(refused)?.schema)
        }))
    }

    /// The instructions for a producer.
    #[napi]
    pub fn prompt(&self, known: Option<String>) -> String {
        text(caught(|| json_text(&self.contract.prompt(&known_lists(known.as_deref())?))))
    }
}

/// A text that arrives in pieces.
#[napi]
pub struct NodeFeed {
    guard: Guard,
    index: usize,
    state: SessionState,
    known: BTreeMap<String, Vec<Json>>,
    feed: Option<guard_contract::Feed>,
}

impl NodeFeed {
    /// Runs something with the feed and the answers to the contract's references. After a panic the feed has ended.
    fn run(
        &mut self,
        finish_reason: Option<&str>,
        work: impl FnOnce(
            guard_contract::Feed,
            &guard_contract::Input<'_>,
        ) -> (Option<guard_contract::Feed>, Result<String, ReplyFailure>),
    ) -> String {
        let NodeFeed { guard, index, state, known, feed } = self;
        text(caught(|| {
            let taken =
                feed.take().ok_or_else(|| ReplyFailure::contract("the text has ended already"))?;
            let known = guard.kernel().known(state, *index, known);
            let known = known.ok_or_else(|| ReplyFailure::contract("the contract is not known"))?;
            let input =
                guard_contract::Input { finish_reason, known: &known, workspace: NO_WORKSPACE };
            let (rest, answer) = work(taken, &input);
            *feed = rest;
            answer
        }))
    }
}

#[napi]
impl NodeFeed {
    /// Takes a piece, and returns the valid items that it completes.
    #[napi]
    pub fn push(&mut self, bytes: Buffer) -> String {
        self.run(None, |mut feed, input| {
            let items = feed.push(&bytes, input);
            let values = Json::Array(items.iter().map(|item| item.value.clone()).collect());
            (Some(feed), Ok(values.to_string()))
        })
    }

    /// Ends the text and returns its report.
    #[napi]
    pub fn finish(&mut self, finish_reason: Option<String>) -> String {
        self.run(finish_reason.as_deref(), |feed, input| (None, report_text(&feed.finish(input))))
    }
}
