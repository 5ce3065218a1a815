//! The comparison of the server's tools with the lock: the tools are listed before the first call
//! of a locked tool, and again after they change.

use super::{
    AfterList, CallOnTheWay, CallStage, DescriptionChange, McpLink, McpProxy, OwnRequest,
    ProxyOutput,
};
use crate::gate::CallGate;
use crate::lock::LockState;
use crate::reply::{self, object};
use guard_plan::json::Json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The maximum number of pages of a list that are read.
const MAX_PAGES: usize = 1_000;

/// The last list of the server's tools.
#[derive(Debug, Default)]
pub(super) struct ListedTools {
    states: HashMap<String, LockState>,
    /// True if the states cover all tools.
    complete: bool,
    /// True while pages are requested.
    asking: bool,
    /// True if the tools have changed since the first page was requested.
    outdated: bool,
    pages: usize,
    /// The tools whose change was already noted.
    noted: BTreeSet<String>,
}

/// The result of the lock for a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LockCheck {
    /// There is no lock for the tool, or the tool is the accepted one.
    Fits,
    /// The tool has changed. Contains the reason for the denial.
    Refused(String),
    /// The server's tools are not known yet.
    MustList,
}

impl<G: CallGate> McpProxy<G> {
    pub(super) fn check_lock(&mut self, call: &CallOnTheWay) -> LockCheck {
        let tool = &call.guarded.tool;
        let Some(lock) = &self.options.lock else { return LockCheck::Fits };
        // A tool without a lock is judged by the guard alone.
        if !lock.names().any(|name| name == tool) {
            return LockCheck::Fits;
        }
        if !self.listed.complete {
            return LockCheck::MustList;
        }
        match self.listed.states.get(tool) {
            None => LockCheck::Refused(format!("the server no longer has the tool `{tool}`")),
            Some(state) if self.is_accepted(*state) => LockCheck::Fits,
            Some(state) => LockCheck::Refused(changed(tool, *state)),
        }
    }

    fn is_accepted(&self, state: LockState) -> bool {
        match state {
            LockState::Accepted | LockState::Unlocked => true,
            LockState::DescriptionChanged => self.options.on_description != DescriptionChange::Deny,
            LockState::SchemaChanged => false,
        }
    }

    /// Compares a page of a client's list with the lock. Returns the names that may not be called.
    pub(super) fn compare_listed(&mut self, tools: &[Json]) -> BTreeSet<String> {
        let mut refused = BTreeSet::new();
        for (name, state) in self.compare(tools) {
            if !self.is_accepted(state) {
                refused.insert(name.clone());
            }
            // The answer may be older than the list that is known, so it accepts no tool. It only
            // shows that the tools must be listed again.
            if self.listed.complete && self.listed.states.get(&name) != Some(&state) {
                self.tools_changed();
            }
        }
        refused
    }

    /// Compares a page of the server's tools with the lock. A tool that is listed twice has the
    /// worse state.
    fn compare(&mut self, tools: &[Json]) -> BTreeMap<String, LockState> {
        let mut states = BTreeMap::new();
        for definition in tools {
            let Some(name) = definition.get("name").and_then(Json::as_str) else { continue };
            let Some(lock) = &self.options.lock else { continue };
            let state = lock.state(name, definition);
            let worst = states.entry(name.to_owned()).or_insert(state);
            *worst = state.max(*worst);
            let told = match state {
                LockState::DescriptionChanged => {
                    self.options.on_description != DescriptionChange::Ignore
                }
                state => state == LockState::SchemaChanged,
            };
            if told && self.listed.noted.insert(name.to_owned()) {
                self.note(changed(name, state));
            }
        }
        states
    }

    /// Lists the server's tools before the next step of a call.
    pub(super) fn list_first(&mut self, mut call: CallOnTheWay, then: AfterList) {
        // A request that is in progress serves this call too.
        if !self.listed.asking {
            // The exchange of the current line may be over before the one of a held call.
            self.list_tools(call.link, call.meta.as_ref().map_or(Json::Null, own_meta));
        }
        call.stage = CallStage::Listing(then);
        self.insert(call);
    }

    /// Requests the first page of the server's tools.
    fn list_tools(&mut self, link: McpLink, meta: Json) {
        // States of an older list would accept tools that the server no longer has.
        self.listed =
            ListedTools { noted: std::mem::take(&mut self.listed.noted), ..Default::default() };
        self.listed.asking = true;
        self.ask_page(link, meta, None);
    }

    fn ask_page(&mut self, link: McpLink, meta: Json, cursor: Option<Json>) {
        let own = self.own_id();
        let mut params = Vec::new();
        if meta != Json::Null {
            params.push(("_meta".into(), meta.clone()));
        }
        params.extend(cursor.map(|cursor| ("cursor".into(), cursor)));
        let request = object([
            ("jsonrpc", Json::string("2.0")),
            ("id", Json::string(&own)),
            ("method", Json::string("tools/list")),
            ("params", Json::Object(params)),
        ]);
        self.own.insert(own, (link, OwnRequest::List(meta)));
        self.out.push(ProxyOutput::ToServer(link, reply::line(&request)));
    }

    /// Processes a page of the server's tools, which this proxy has requested.
    pub(super) fn page_listed(&mut self, json: &Json, meta: Json) {
        let result = json.get("result");
        let tools = result.and_then(|result| result.get("tools"));
        let Some(Json::Array(tools)) = tools else {
            return self
                .not_listed("the server did not list its tools to compare them with the lock");
        };
        // Pages from before and after a change make no list, and this page may be either.
        if self.listed.outdated {
            return self.list_again(meta);
        }
        for (name, state) in self.compare(tools) {
            let worst = self.listed.states.entry(name).or_insert(state);
            *worst = state.max(*worst);
        }
        self.listed.pages += 1;
        match result.and_then(|result| result.get("nextCursor")) {
            Some(cursor @ Json::String(_)) if self.listed.pages < MAX_PAGES => {
                self.ask_page(self.link, meta, Some(cursor.clone()));
            }
            None | Some(Json::Null) => {
                (self.listed.asking, self.listed.complete) = (false, true);
                let waiting = self.listing_calls();
                waiting.into_iter().for_each(|call| self.continue_listed(call));
            }
            Some(_) => self.not_listed("the server's list of tools has no end"),
        }
    }

    /// Requests the list from its beginning, if a call still waits for it. A server whose tools
    /// change without end is asked until the last call has waited too long.
    fn list_again(&mut self, meta: Json) {
        self.listed.asking = false;
        if self.calls.values().any(is_listing) {
            self.list_tools(self.link, meta);
        }
    }

    pub(super) fn not_listed(&mut self, why: &str) {
        self.listed.asking = false;
        let waiting = self.listing_calls();
        waiting.iter().for_each(|call| self.deny_unlisted(call, why));
    }

    /// Takes the calls that wait for the list.
    fn listing_calls(&mut self) -> Vec<CallOnTheWay> {
        let numbers: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, call)| is_listing(call))
            .map(|(number, _)| *number)
            .collect();
        numbers.iter().filter_map(|number| self.calls.remove(number)).collect()
    }

    /// Handles the server's notification that its tools have changed.
    pub(super) fn tools_changed(&mut self) {
        self.listed.complete = false;
        self.listed.outdated = self.listed.asking;
    }
}

fn is_listing(call: &CallOnTheWay) -> bool {
    matches!(call.stage, CallStage::Listing(_))
}

fn changed(tool: &str, state: LockState) -> String {
    let what = match state {
        LockState::DescriptionChanged => "description",
        _ => "schema",
    };
    format!(
        "the server has changed the {what} of `{tool}` since it was accepted; `guardc import mcp --update` shows the \
         difference"
    )
}

/// Returns the metadata of a request of the proxy, from that of a call.
fn own_meta(meta: &Json) -> Json {
    let Json::Object(members) = meta else { return Json::Null };
    // Progress tokens and sessions belong to the call, so only members of the protocol are copied.
    let protocol = members.iter().filter(|(name, _)| name.starts_with("io.modelcontextprotocol/"));
    match protocol.cloned().collect::<Vec<_>>() {
        members if members.is_empty() => Json::Null,
        members => Json::Object(members),
    }
}

/// Returns the response to a list that cannot be read.
pub(super) fn unreadable_list(id: &Json) -> Json {
    reply::error(id, reply::INTERNAL_ERROR, "the server's list of tools cannot be read")
}
