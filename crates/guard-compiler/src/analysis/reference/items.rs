//! Lifecycles: the tools that they declare, and the actions of the harness (semantics §11).

use super::criteria::{Criterion, Evidence, object, text};
use super::eval::Env;
use super::findings::Findings;
use super::{Answerer, Misuse, ReferenceSession};
use crate::hir::{Lifecycle, LifecycleId, RuleMeta, Served, ServedOp, Tool, Transition};
use guard_plan::json::Json;
use guard_plan::plan::Actor;
use guard_plan::record::ItemChange;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use guard_plan::{render, time};

/// The maximum number of items on a page of a list.
const PAGE: usize = 100;
/// The maximum number of items of a lifecycle.
const MOST: usize = 100_000;
/// The maximum length of a reason that is kept, in characters.
const REASON: usize = 1_000;

/// An item of a lifecycle.
#[derive(Clone)]
pub(super) struct ReferenceItem {
    pub state: usize,
    fields: Vec<Value>,
    pub criteria: Vec<Criterion>,
    evidence: Vec<Evidence>,
    rejections: u64,
    reasons: Vec<String>,
    created: i64,
    last: Last,
}

impl ReferenceItem {
    /// Returns the number of times that the item was rejected.
    pub(super) fn rejections(&self) -> u64 {
        self.rejections
    }
}

/// The last change of an item.
#[derive(Clone)]
struct Last {
    time: i64,
    actor: Actor,
    transition: String,
    by: String,
}

/// The action of a call of a served tool.
#[derive(Clone)]
pub(super) enum ItemAction {
    Create(Vec<Value>, Vec<Criterion>),
    List(Option<usize>, usize),
    Move(usize, usize, Vec<Evidence>),
}

/// The attributes of a change of an item.
struct ItemMove<'c> {
    actor: Actor,
    by: &'c str,
    transition: Option<usize>,
    reasons: Vec<String>,
    rejects: bool,
}

impl ReferenceSession<'_> {
    /// Returns the action of a served call. If the call is not possible, adds a finding and returns
    /// `None`.
    pub(super) fn deed(
        &self,
        tool: &Tool,
        env: Env,
        findings: &mut Findings,
    ) -> Option<ItemAction> {
        let served = tool.served?;
        let deed = self.possible(served, env);
        if deed.is_none() {
            let name = &self.program.lifecycles[served.lifecycle].name;
            findings.named(name, Code::Lifecycle, Decision::Deny);
        }
        deed
    }

    fn possible(&self, Served { lifecycle: at, op }: Served, env: Env) -> Option<ItemAction> {
        let lifecycle = &self.program.lifecycles[at];
        let items = &self.items[at];
        match op {
            ServedOp::Create => {
                let (fields, criteria) = env.args.split_at(lifecycle.fields.len());
                let criteria = match criteria.first() {
                    Some(list) => self.criteria(lifecycle, list)?,
                    None => Vec::new(),
                };
                (items.len() < MOST).then(|| ItemAction::Create(fields.to_vec(), criteria))
            }
            ServedOp::List => {
                let state = match &env.args[0] {
                    Value::Enum(sorted) => Some(state_by_name(lifecycle, *sorted)),
                    _ => None,
                };
                let after = match &env.args[1] {
                    Value::String(id) => self.item_of(at, id)? + 1,
                    _ => 0,
                };
                Some(ItemAction::List(state, after))
            }
            ServedOp::Move(transition) => {
                let Value::String(id) = &env.args[0] else { return None };
                let number = self.item_of(at, id)?;
                let step = &lifecycle.transitions[transition as usize];
                if !step.from.contains(&items[number].state) {
                    return None;
                }
                let evidence =
                    if step.evidence { self.evidence(&env.args[1], env)? } else { Vec::new() };
                Some(ItemAction::Move(number, transition as usize, evidence))
            }
        }
    }

    /// Returns the role that must approve a move of an item that was rejected too often, and the
    /// rule that requires it.
    pub(super) fn escalated(&self, tool: &Tool, env: Env) -> Option<(RuleMeta, String)> {
        let Served { lifecycle: at, op: ServedOp::Move(_) } = tool.served? else { return None };
        let escalate = self.program.lifecycles[at].escalate.as_ref()?;
        let Value::String(id) = &env.args[0] else { return None };
        let item = &self.items[at][self.item_of(at, id)?];
        let rule = RuleMeta {
            owner: self.program.lifecycles[at].name.clone(),
            doc: String::new(),
            shadow: false,
            property: None,
            span: tool.span,
        };
        (item.rejections >= u64::from(escalate.after)).then(|| (rule, escalate.role.clone()))
    }

    /// Returns the index of an item of this lifecycle.
    fn item_of(&self, lifecycle: LifecycleId, id: &str) -> Option<usize> {
        (0..self.items[lifecycle].len()).find(|at| self.id(lifecycle, *at) == id)
    }

    fn id(&self, lifecycle: LifecycleId, at: usize) -> String {
        format!("{}-{}", self.program.lifecycles[lifecycle].name, at + 1)
    }

    /// Performs the action, and returns the result.
    pub(super) fn perform(&mut self, lifecycle: LifecycleId, deed: ItemAction, call: &str) -> Json {
        let (at, transition) = match deed {
            ItemAction::List(state, after) => return self.page(lifecycle, state, after),
            ItemAction::Create(fields, criteria) => {
                self.items[lifecycle].push(ReferenceItem {
                    state: self.program.lifecycles[lifecycle].initial,
                    fields,
                    criteria,
                    evidence: Vec::new(),
                    rejections: 0,
                    reasons: Vec::new(),
                    created: self.now,
                    last: Last {
                        time: self.now,
                        actor: Actor::Agent,
                        transition: "create".into(),
                        by: call.into(),
                    },
                });
                (self.items[lifecycle].len() - 1, None)
            }
            ItemAction::Move(at, transition, evidence) => {
                if self.program.lifecycles[lifecycle].transitions[transition].evidence {
                    self.items[lifecycle][at].evidence = evidence;
                }
                (at, Some(transition))
            }
        };
        let change = ItemMove {
            actor: Actor::Agent,
            by: call,
            transition,
            reasons: Vec::new(),
            rejects: false,
        };
        let change = self.change(lifecycle, at, change);
        self.outcome.items.push(change);
        let item = &self.items[lifecycle][at];
        let state = &self.program.lifecycles[lifecycle].states[item.state];
        object([("id", text(&self.id(lifecycle, at))), ("state", text(state))])
    }

    /// Changes an item. Without a transition, the item is new.
    fn change(&mut self, lifecycle: LifecycleId, at: usize, change: ItemMove) -> ItemChange {
        let declared = &self.program.lifecycles[lifecycle];
        let item = &mut self.items[lifecycle][at];
        let before = change.transition.map(|_| declared.states[item.state].clone());
        let step = change.transition.map(|at| &declared.transitions[at]);
        item.state = step.map_or(declared.initial, |step| step.to);
        item.rejections += u64::from(change.rejects);
        item.reasons = change.reasons.clone();
        let transition = step.map_or("create", |step| &step.name).to_string();
        item.last = Last {
            time: self.now,
            actor: change.actor,
            transition: transition.clone(),
            by: change.by.into(),
        };
        ItemChange {
            actor: change.actor,
            by: change.by.into(),
            transition: Some(transition),
            before,
            reasons: change.reasons,
            ..self.unmoved(lifecycle, at)
        }
    }

    fn page(&self, lifecycle: LifecycleId, state: Option<usize>, after: usize) -> Json {
        let items = &self.items[lifecycle];
        let fits = |at: &usize| state.is_none_or(|state| items[*at].state == state);
        let total = (0..items.len()).filter(fits).count();
        let rest: Vec<usize> = (after..items.len()).filter(fits).collect();
        let shown = rest.iter().take(PAGE).map(|at| Json::Object(self.brief(lifecycle, *at)));
        object([
            ("items", Json::Array(shown.collect())),
            ("total", Json::Int(total as i64)),
            ("more", Json::Bool(rest.len() > PAGE)),
        ])
    }

    fn brief(&self, lifecycle: LifecycleId, at: usize) -> Vec<(Box<str>, Json)> {
        let declared = &self.program.lifecycles[lifecycle];
        let item = &self.items[lifecycle][at];
        let field = |(field, value): (&crate::hir::Field, &Value)| {
            let secret = &mut |_: &Value| text(render::SECRET);
            let ty = self.read.tables.ty(&field.ty);
            let json = if field.secret {
                text(render::SECRET)
            } else {
                render::to_json_redacted(&self.read.types, ty, value, secret)
            };
            (field.name.as_str().into(), json)
        };
        let fields = declared.fields.iter().zip(&item.fields).map(field).collect();
        let reasons = item.reasons.iter().map(|reason| text(reason)).collect();
        let members = [
            ("id", text(&self.id(lifecycle, at))),
            ("state", text(&declared.states[item.state])),
            ("fields", Json::Object(fields)),
            ("rejections", Json::Int(item.rejections as i64)),
            ("reasons", Json::Array(reasons)),
        ];
        members.map(|(name, json)| (name.into(), json)).into()
    }

    /// Returns every item with all of its data, by lifecycle.
    pub fn items(&self) -> Vec<(String, Json)> {
        let mut all = Vec::new();
        for (lifecycle, items) in self.items.iter().enumerate() {
            for (at, item) in items.iter().enumerate() {
                let mut members = self.brief(lifecycle, at);
                let criteria =
                    item.criteria.iter().map(|criterion| self.criterion_json(criterion)).collect();
                let evidence =
                    item.evidence.iter().map(|evidence| self.evidence_json(evidence)).collect();
                let actor = match item.last.actor {
                    Actor::Agent => "agent",
                    Actor::Harness => "harness",
                };
                let last = object([
                    ("time", text(&time::format_rfc3339(item.last.time))),
                    ("actor", text(actor)),
                    ("transition", text(&item.last.transition)),
                    ("by", text(&item.last.by)),
                ]);
                members.push(("criteria".into(), Json::Array(criteria)));
                members.push(("evidence".into(), Json::Array(evidence)));
                members.push(("created".into(), text(&time::format_rfc3339(item.created))));
                members.push(("last".into(), last));
                all.push((self.id(lifecycle, at), Json::Object(members)));
            }
        }
        all
    }

    fn anywhere(&self, id: &str) -> Result<(LifecycleId, usize), Misuse> {
        (0..self.items.len())
            .find_map(|lifecycle| Some((lifecycle, self.item_of(lifecycle, id)?)))
            .ok_or_else(|| Misuse(format!("no item `{id}`")))
    }

    /// Moves an item manually, on behalf of the harness.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an unknown item, and for a transition that the harness cannot make now.
    pub fn move_item(
        &mut self,
        id: &str,
        transition: &str,
        by: &str,
        reason: Option<&str>,
        now: i64,
    ) -> Result<ItemChange, Misuse> {
        let (lifecycle, item) = self.anywhere(id)?;
        let declared = &self.program.lifecycles[lifecycle];
        let state = self.items[lifecycle][item].state;
        let by_hand = |step: &&Transition| {
            step.name == transition
                && step.actor == Actor::Harness
                && step.criteria.is_none()
                && step.from.contains(&state)
        };
        let Some(at) = declared.transitions.iter().position(|step| by_hand(&step)) else {
            return Err(Misuse(format!("`{transition}` cannot be made manually here")));
        };
        self.advance(now);
        let rejects = reason.is_some() && !declared.finals.contains(&declared.transitions[at].to);
        let reasons = reason.iter().map(|why| why.chars().take(REASON).collect()).collect();
        let change = ItemMove { actor: Actor::Harness, by, transition: Some(at), reasons, rejects };
        Ok(self.change(lifecycle, item, change))
    }

    /// Verifies the criteria of an item, on behalf of the harness.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an unknown item, and for a state in which nothing is verified.
    pub fn verify(&mut self, id: &str, now: i64, world: Answerer) -> Result<ItemChange, Misuse> {
        let (lifecycle, at) = self.anywhere(id)?;
        let declared = &self.program.lifecycles[lifecycle];
        let item = self.items[lifecycle][at].clone();
        let judged = |passes: bool| {
            let fits = |step: &Transition| {
                step.criteria == Some(passes)
                    && step.actor == Actor::Harness
                    && step.from.contains(&item.state)
            };
            let places =
                (0..declared.transitions.len()).filter(|at| fits(&declared.transitions[*at]));
            places.min_by_key(|at| &declared.transitions[*at].name)
        };
        let passed = judged(true);
        let failed = judged(false);
        if passed.is_none() {
            return Err(Misuse(format!("`{id}` is in a state without verification")));
        }
        self.advance(now);
        let env = Env::new(&self.state, world);
        let answers: Vec<Option<bool>> =
            item.criteria.iter().map(|criterion| self.is_fulfilled(criterion, env)).collect();
        self.keep_answers();
        let unknown = |count: usize| vec!["?".to_string(); count];
        let lacks = answers.iter().filter(|answer| **answer == Some(false)).count();
        let unanswered = answers.iter().filter(|answer| answer.is_none()).count();
        let step = match (unanswered, lacks) {
            (0, 0) => passed,
            (0, _) => failed,
            _ => None,
        };
        let mut change = match step {
            Some(step) => {
                let change = ItemMove {
                    actor: Actor::Harness,
                    by: "verify",
                    transition: Some(step),
                    reasons: unknown(lacks),
                    rejects: lacks > 0,
                };
                self.change(lifecycle, at, change)
            }
            None => {
                if unanswered == 0 {
                    self.items[lifecycle][at].reasons = unknown(lacks);
                }
                self.unmoved(lifecycle, at)
            }
        };
        (change.reasons, change.unanswered) = (unknown(lacks), unknown(unanswered));
        Ok(change)
    }

    fn unmoved(&self, lifecycle: LifecycleId, at: usize) -> ItemChange {
        let declared = &self.program.lifecycles[lifecycle];
        let item = &self.items[lifecycle][at];
        ItemChange {
            item: self.id(lifecycle, at),
            lifecycle: declared.name.clone(),
            actor: Actor::Harness,
            by: "verify".into(),
            transition: None,
            before: Some(declared.states[item.state].clone()),
            after: declared.states[item.state].clone(),
            reasons: Vec::new(),
            unanswered: Vec::new(),
            rejections: item.rejections,
        }
    }
}

/// Returns the index of the state at an index of the sorted names. The parameter of the list tool
/// uses the sorted names.
fn state_by_name(lifecycle: &Lifecycle, sorted: u32) -> usize {
    let mut order: Vec<usize> = (0..lifecycle.states.len()).collect();
    order.sort_by_key(|at| &lifecycle.states[*at]);
    order.get(sorted as usize).copied().unwrap_or(0)
}
