//! A session's items, facts, feedback and probes, for external readers. Secrets are excluded.

mod state;

use crate::kernel::Kernel;
use crate::page::{brief, object, page};
use crate::session::SessionState;
use crate::session::items::{self, ItemCriterion, ItemEvidence, SessionItem};
use crate::session::{ProbeTurn, Spoken};
use crate::world_checks;
use guard_plan::json::Json;
use guard_plan::origin::Origin;
use guard_plan::plan::{Actor, Lifecycle, Millis, ToolId};
use guard_plan::{render, time};

/// A row of a fact, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactRow {
    /// The sequence number among all rows ever added, ascending.
    pub number: u64,
    /// The row, an object.
    pub row: Json,
    /// The source: the id of the call that taught it, `prompt N`, or `start`.
    pub by: Box<str>,
}

/// The last settlement of a tool's call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastSettlement {
    /// The sequence number among the settlements of the session, ascending.
    pub number: u64,
    /// The time of the settlement.
    pub time: Millis,
    /// True if the call succeeded.
    pub success: bool,
}

fn text(text: &str) -> Json {
    Json::string(text)
}

impl SessionState {
    /// Returns the number of successful and failed calls of a tool.
    pub fn outcomes(&self, tool: ToolId) -> Option<(u64, u64)> {
        let history = self.tools.get(tool as usize)?;
        Some((history.successes, history.failures))
    }

    /// Returns the last settlement of a tool, if any.
    pub fn last_settlement(&self, tool: ToolId) -> Option<LastSettlement> {
        let history = self.tools.get(tool as usize)?;
        let success = history.success.map(|stamp| (stamp, true));
        let failure = history.failure.map(|stamp| (stamp, false));
        let stamps = success.into_iter().chain(failure);
        let (stamp, success) = stamps.max_by_key(|(stamp, _)| stamp.settlement)?;
        Some(LastSettlement { number: stamp.settlement, time: stamp.time, success })
    }

    /// Returns the rows of a fact, oldest first: at most `limit`, from a sequence number on.
    pub fn facts(
        &self,
        kernel: &Kernel,
        name: &str,
        from: u64,
        limit: usize,
    ) -> Option<Vec<FactRow>> {
        let plan = kernel.plan();
        let id = plan.facts.binary_search_by(|fact| fact.name.as_str().cmp(name)).ok()?;
        let ty = plan.facts[id].row;
        let rows = self.facts.get(id)?.rows_from(from).take(limit);
        let secret = &mut |_: &_| text(render::SECRET);
        let row = |(number, value, by): (u64, &_, &str)| {
            let row = render::to_json_redacted(&plan.types, ty, value, secret);
            FactRow { number, row, by: by.into() }
        };
        Some(rows.map(row).collect())
    }

    /// The number of events judged for feedback.
    pub fn judged(&self) -> u64 {
        self.feedback.judged
    }

    /// Returns the messages of a feedback provider, if any.
    pub fn spoken(&self, kernel: &Kernel, provider: &str) -> Option<Spoken<'_>> {
        let all = &kernel.plan().feedback;
        let id = all.binary_search_by(|feedback| feedback.name.as_str().cmp(provider)).ok()?;
        self.feedback.spoken(id as u32)
    }

    /// Returns the time when a probe is asked again.
    pub fn next_attempt(&self, kernel: &Kernel, probe: &str) -> Option<ProbeTurn> {
        let probes = &kernel.plan().probes;
        let id = probes.binary_search_by(|known| known.name.as_str().cmp(probe)).ok()?;
        Some(self.probes.get(id)?.turn(&probes[id], self.now))
    }

    /// Returns the number of values with a known origin, and whether the table is full.
    pub fn origins(&self) -> (usize, bool) {
        self.origins.size()
    }

    /// Returns the origins of a value so far, found by its text; none if no rule of the guard asks
    /// for origins.
    pub fn seen(&self, text: &str) -> impl Iterator<Item = Origin> + use<> {
        self.origins.all(text)
    }

    /// The number of blocked stops.
    pub fn blocked(&self) -> u32 {
        self.blocked
    }

    /// Returns the state of an item.
    pub fn item_state<'k>(&self, kernel: &'k Kernel, id: &str) -> Option<&'k str> {
        let (at, number) = items::place(kernel.plan(), id)?;
        let item = self.items.get(at as usize)?.get(number)?;
        let lifecycle = &kernel.plan().lifecycles[at as usize];
        lifecycle.states.get(item.state() as usize).map(String::as_str)
    }

    /// Returns all data of an item.
    pub fn item(&self, kernel: &Kernel, id: &str) -> Option<Json> {
        let (at, number) = items::place(kernel.plan(), id)?;
        let item = self.items.get(at as usize)?.get(number)?;
        let lifecycle = &kernel.plan().lifecycles[at as usize];
        let Json::Object(mut members) = brief(&kernel.compiled, lifecycle, number, item) else {
            return None;
        };
        let criteria =
            item.criteria.iter().map(|criterion| self.criterion(kernel, criterion)).collect();
        let evidence = item.evidence.iter().map(|evidence| self.evidence(evidence)).collect();
        let more = [
            ("criteria", Json::Array(criteria)),
            ("evidence", Json::Array(evidence)),
            ("created", text(&time::format_rfc3339(item.created))),
            ("last", last(lifecycle, item)),
        ];
        members.extend(more.map(|(key, json)| (key.into(), json)));
        Some(Json::Object(members))
    }

    /// Returns a page of the items of a lifecycle, as its list tool shows them. The page can be
    /// limited to one state, and starts after an id.
    pub fn items(
        &self,
        kernel: &Kernel,
        lifecycle: &str,
        state: Option<&str>,
        after: Option<&str>,
    ) -> Option<Json> {
        let all = &kernel.plan().lifecycles;
        let at = all.binary_search_by(|known| known.name.as_str().cmp(lifecycle)).ok()?;
        let place =
            |state| all[at].states.iter().position(|known| known == state).map(|at| at as u32);
        let state = match state {
            Some(state) => Some(place(state)?),
            None => None,
        };
        let after = match after {
            Some(id) => {
                items::place(kernel.plan(), id).filter(|(found, _)| *found as usize == at)?.1
            }
            None => 0,
        };
        Some(page(&kernel.compiled, &all[at], self.items.get(at)?, state, after))
    }

    fn criterion(&self, kernel: &Kernel, criterion: &ItemCriterion) -> Json {
        let path = |path: &str| text(&world_checks::shown(self, path));
        object(match criterion {
            ItemCriterion::File(file) => vec![("file", path(file))],
            ItemCriterion::Contains(file, part) => {
                vec![("file", path(file)), ("contains", text(part))]
            }
            ItemCriterion::Command(id) => {
                let words = kernel.plan().commands[*id as usize].argv.iter();
                vec![("command", Json::Array(words.map(|word| text(word)).collect()))]
            }
            ItemCriterion::Committed => vec![("git_commit", Json::Bool(true))],
            ItemCriterion::Probe(id) => {
                vec![("probe", text(&kernel.plan().probes[*id as usize].name))]
            }
        })
    }

    fn evidence(&self, evidence: &ItemEvidence) -> Json {
        object(match evidence {
            ItemEvidence::Call(id) => vec![("call", text(id))],
            ItemEvidence::File(path, hash) => {
                vec![("file", text(&world_checks::shown(self, path))), ("sha256", text(hash))]
            }
        })
    }
}

fn last(lifecycle: &Lifecycle, item: &SessionItem) -> Json {
    let transition = item.last.transition.and_then(|at| lifecycle.transitions.get(at as usize));
    let actor = match item.last.actor {
        Actor::Agent => "agent",
        Actor::Harness => "harness",
    };
    object(vec![
        ("time", text(&time::format_rfc3339(item.last.time))),
        ("actor", text(actor)),
        ("transition", text(transition.map_or("create", |transition| &transition.name))),
        ("by", text(&item.last.by)),
    ])
}
