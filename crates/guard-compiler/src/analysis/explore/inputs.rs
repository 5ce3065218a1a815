//! Inputs of an exploration: calls with their arguments, results, prompts and the passing of time.

use super::classes::{Classes, Hint, ValuePlace};
use super::session::{named_times, start_of};
use super::state_key::Questions;
use super::values::draw::Constants;
use super::values::{MOST_VARIANTS, Maker, combinations, tidy};
use crate::analysis::reference::ReferenceSession;
use crate::hir::{
    CheckKind, ClauseKind, Expr, ExprKind, Program, Served, ServedOp, Tool, ToolId, Type,
};
use guard_plan::json::Json;
use guard_plan::plan::{CompareOp, CriterionKind, LimitScope};
use guard_plan::random::Rng;
use guard_plan::time::HOUR;
use guard_plan::value::Value;
use std::collections::BTreeSet;

/// Most arguments of one tool that are tried in one state.
const MOST_CALLS: usize = 64;
/// The same, where only the plainest are tried.
const FEW_CALLS: usize = 12;
/// Most results of one call.
const MOST_RESULTS: usize = 24;
/// Most items of one lifecycle that are made.
const MOST_ITEMS: usize = 2;

/// The inputs that a guard's sessions may receive.
pub(crate) struct Inputs<'p> {
    program: &'p Program,
    /// How many values of a place are tried: the plainest.
    few: usize,
    /// The times that the guard compares with `now`, in milliseconds since 1970.
    named: BTreeSet<i64>,
    classes: Classes<'p>,
    /// Every argument and result that can matter is tried, whatever the state.
    pub whole: bool,
    /// Of each tool its calls, where they do not depend on the state.
    fixed: Vec<Option<Vec<Vec<Value>>>>,
}

/// Returns true if a tool requires calls in an order.
fn asks_for_order(tool: &Tool) -> bool {
    tool.clauses.iter().any(|clause| {
        let ClauseKind::Requires { any_of, .. } = &clause.kind else { return false };
        any_of.iter().any(|r| r.since.is_some() || r.latest)
    })
}

impl<'p> Inputs<'p> {
    /// The inputs of a guard; `session` is a fresh one.
    pub fn new(program: &'p Program, session: &ReferenceSession<'p>, few: usize) -> Self {
        let classes = Classes::new(program, session);
        let fixed = vec![None; program.tools.len()];
        let named = named_times(program);
        let mut inputs = Inputs { program, few, named, classes, whole: false, fixed };
        for tool in 0..program.tools.len() {
            if inputs.is_fixed(tool) {
                inputs.fixed[tool] = Some(inputs.made(tool, session));
            }
        }
        inputs.whole = inputs.covers(session);
        inputs
    }

    fn maker<'c>(&'c self, session: &'c ReferenceSession<'p>) -> Maker<'c, 'p> {
        Maker { program: self.program, classes: &self.classes, session }
    }

    /// Returns true if the arguments of a tool are the same in every state: nothing flows into them.
    fn is_fixed(&self, tool: ToolId) -> bool {
        let tool_def = &self.program.tools[tool];
        tool_def.served.is_none()
            && (0..tool_def.params.len()).all(|at| {
                let class = self.classes.class(&ValuePlace::Param(tool, at as u32));
                class.is_none_or(|class| {
                    let free = matches!(tool_def.params[at].ty, Type::Bool | Type::Enum(_));
                    let parts = class.members.iter().all(|m| self.classes.parts(*m).is_empty());
                    free || !class.opaque || (class.members.len() == 1 && parts && !moves(class))
                })
            })
            && tool_def.params.iter().all(|p| {
                !matches!(p.ty, Type::Record(_) | Type::List(..) | Type::Set(..) | Type::Map(..))
            })
    }

    /// Returns true if the inputs cover all that can matter: every parameter is enumerated, compared with constants
    /// only, or unread, and no result is read.
    fn covers(&self, session: &ReferenceSession<'p>) -> bool {
        let program = self.program;
        let params = program.tools.iter().enumerate().flat_map(|(id, tool)| {
            tool.params.iter().enumerate().map(move |(at, param)| (id, at as u32, &param.ty))
        });
        let mut covered = params.into_iter().all(|(id, at, ty)| {
            let class = self.classes.class(&ValuePlace::Param(id, at));
            class.is_none_or(|class| {
                // One text of a pattern says nothing of the others.
                let plain = match ty.required() {
                    Type::Int(..) => true,
                    Type::String(bounds) => {
                        bounds.patterns.is_empty()
                            || guard_proof::mutant!("one text is all of a pattern")
                    }
                    _ => false,
                };
                let plain = plain && !class.opaque && class.hints.len() <= 3;
                !class.used && !class.opaque || plain || self.is_few(ty.required())
            })
        });
        for (id, tool) in program.tools.iter().enumerate() {
            let read = self.classes.is_read(&ValuePlace::Result(id));
            covered &= !read || tool.returns.as_ref().is_some_and(|ty| self.is_few(ty));
            // A call or a result of which no example was found may still be possible.
            let has_result = tool.returns.is_none() || self.has_result(id, session);
            let has_examples = has_result && !self.calls(id, session).is_empty()
                || guard_proof::mutant!("what has no example does not exist");
            let tried = has_examples && self.fixed[id].is_some() && self.is_full(id, session);
            covered &= tried && tool.served.is_none() && !self.repeats(id, session);
        }
        let probes = program.probes.iter().all(|p| *p.returns.required() == Type::Bool);
        // What conforms to a contract is not made up.
        let mut conforms = false;
        program.each_check(&mut |check| conforms |= matches!(check.kind, CheckKind::Conforms(..)));
        // What the host reports is not tried, and goals are looked at in one world only.
        let mut outside = false;
        super::rules::each_condition(program, &mut |root| {
            outside |= root.any(&mut |e| {
                match &e.kind {
                    // A call in flight is paid for and not counted yet, and none is left in flight.
                    ExprKind::Spent(_) | ExprKind::Remaining(_) => {
                        !guard_proof::mutant!("no call is in flight")
                    }
                    // Where a text comes from, and other workspaces, are not tried.
                    ExprKind::Origin(_) | ExprKind::Seen(_) | ExprKind::MayRead(..) => true,
                    ExprKind::Said | ExprKind::Workspace | ExprKind::Within(..) => true,
                    // Calls are tried one after the other: what was decided early does not end late.
                    ExprKind::Called { since: Some(_), .. }
                    | ExprKind::Failed { since: Some(_), .. }
                    | ExprKind::LastArg(..)
                    | ExprKind::LastResult(_)
                    | ExprKind::Temporal(..) => true,
                    // Between two texts there are others.
                    ExprKind::Compare(op, a, _) => {
                        let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
                        ordered && matches!(a.ty.required(), Type::String(_) | Type::Path)
                    }
                    _ => false,
                }
            });
        });
        let asks = |e: &Expr| matches!(e.kind, ExprKind::Exists(_) | ExprKind::Probe(_));
        let mut goals = program.goals.iter().flat_map(|goal| &goal.conditions);
        outside |= goals.any(|(_, e)| e.any(&mut |part| asks(part)));
        outside |= program.default_allow || program.tools.iter().any(asks_for_order);
        covered && probes && !conforms && !outside && program.sources.is_empty()
    }

    /// Returns true if the maker tries all values of a type.
    fn is_few(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool => true,
            Type::Enum(definition) => {
                self.program.enums[*definition].variants.len() <= MOST_VARIANTS
                    || guard_proof::mutant!("all variants of an enum are tried")
            }
            _ => false,
        }
    }

    fn has_result(&self, tool: ToolId, session: &ReferenceSession<'p>) -> bool {
        let returns = self.program.tools[tool].returns.as_ref();
        let class = self.classes.find(&ValuePlace::Result(tool));
        !self.maker(session).results(returns, class).is_empty()
    }

    /// Returns true if all combinations of the values of a tool's parameters are tried.
    fn is_full(&self, tool: ToolId, session: &ReferenceSession<'p>) -> bool {
        let maker = self.maker(session);
        let params = self.program.tools[tool].params.iter().enumerate();
        let count = |(at, param): (usize, &crate::hir::Field)| {
            maker.values(&param.ty, self.classes.find(&ValuePlace::Param(tool, at as u32))).len()
        };
        params.map(count).fold(1, usize::saturating_mul) <= MOST_CALLS
    }

    /// Returns true if a tool has a limit on identical calls, and more calls are possible than are tried.
    fn repeats(&self, tool: ToolId, session: &ReferenceSession<'p>) -> bool {
        let tool_def = &self.program.tools[tool];
        let is_identical = |limit: usize| self.program.limits[limit].scope == LimitScope::Identical;
        let identical = tool_def.clauses.iter().any(
            |clause| matches!(clause.kind, ClauseKind::Limit { limit, .. } if is_identical(limit)),
        );
        let sizes = tool_def.params.iter().map(|param| size(self.program, &param.ty));
        identical && self.calls(tool, session).len() != sizes.fold(1, usize::saturating_mul)
    }

    /// The arguments of a tool worth trying in a state, the plainest first.
    pub fn calls(&self, tool: ToolId, session: &ReferenceSession<'p>) -> Vec<Vec<Value>> {
        match &self.fixed[tool] {
            Some(fixed) => fixed.clone(),
            None => self.made(tool, session),
        }
    }

    fn made(&self, tool: ToolId, session: &ReferenceSession<'p>) -> Vec<Vec<Value>> {
        let tool_def = &self.program.tools[tool];
        let maker = self.maker(session);
        let mut lists: Vec<Vec<Value>> = Vec::new();
        for (at, param) in tool_def.params.iter().enumerate() {
            let list = match tool_def.served {
                Some(served) => self.served(served, at, &param.ty, session),
                None => None,
            };
            let mut list = list.unwrap_or_else(|| {
                let node = self.classes.find(&ValuePlace::Param(tool, at as u32));
                maker.values(&param.ty, node)
            });
            if !matches!(param.ty, Type::Enum(_)) {
                list.truncate(self.few);
            }
            lists.push(list);
        }
        combinations(&lists, if self.few < MOST_CALLS { FEW_CALLS } else { MOST_CALLS })
    }

    /// The values of a parameter of a lifecycle's tool; none where it is like any other.
    fn served(
        &self,
        served: Served,
        at: usize,
        ty: &Type,
        session: &ReferenceSession<'p>,
    ) -> Option<Vec<Value>> {
        let lifecycle = &self.program.lifecycles[served.lifecycle];
        let items = session.item_states(served.lifecycle).count();
        let json: Vec<Json> = match (served.op, at) {
            (ServedOp::Create, _) if items >= MOST_ITEMS => Vec::new(),
            (ServedOp::Create, at) if at >= lifecycle.fields.len() => {
                lifecycle.criteria.iter().filter_map(|kind| self.criterion(*kind)).collect()
            }
            (ServedOp::Create, _) => return None,
            (ServedOp::List, _) => return Some(vec![Value::None]),
            (ServedOp::Move(_), 0) => (0..items.max(1))
                .map(|at| Json::string(&format!("{}-{}", lifecycle.name, at + 1)))
                .collect(),
            (ServedOp::Move(_), _) => {
                let file = object("file", Json::string("a.txt"));
                let call = session.good_call().map(|id| object("call", Json::string(id)));
                call.into_iter().chain([file]).map(|json| Json::Array(vec![json])).collect()
            }
        };
        Some(json.iter().filter_map(|json| session.read_json(ty, json)).collect())
    }

    fn criterion(&self, kind: CriterionKind) -> Option<Json> {
        let criterion = match kind {
            CriterionKind::File => object("file", Json::string("a.txt")),
            CriterionKind::FileContains => Json::Object(vec![
                ("file".into(), Json::string("a.txt")),
                ("contains".into(), Json::string("a")),
            ]),
            CriterionKind::Command => {
                let mut words = None;
                self.program.each_command(&mut |c| _ = words.get_or_insert(c.argv.clone()));
                object("command", Json::Array(words?.iter().map(|w| Json::string(w)).collect()))
            }
            CriterionKind::GitCommit => object("git_commit", Json::Bool(true)),
            CriterionKind::Probe => {
                let probe = self.program.probes.iter().find(|p| p.returns == Type::Bool)?;
                object("probe", Json::string(&probe.name))
            }
        };
        Some(Json::Array(vec![criterion]))
    }

    /// Arguments of a tool, drawn at random; none where a parameter has no value.
    pub fn draw_call(
        &self,
        tool: ToolId,
        session: &ReferenceSession<'p>,
        constants: &Constants,
        rng: &mut Rng,
    ) -> Option<Json> {
        let tool_def = &self.program.tools[tool];
        let maker = self.maker(session);
        let mut args = Vec::new();
        for (at, param) in tool_def.params.iter().enumerate() {
            let served = tool_def.served.and_then(|s| self.served(s, at, &param.ty, session));
            args.push(match served {
                Some(list) if list.is_empty() => return None,
                Some(list) => rng.pick(&list).clone(),
                None => {
                    let node = self.classes.find(&ValuePlace::Param(tool, at as u32));
                    maker.draw(&param.ty, node, constants, rng)?
                }
            });
        }
        Some(written(self.program, session, tool, &args))
    }

    /// A result of a tool, drawn at random.
    pub fn draw_result(
        &self,
        tool: ToolId,
        session: &ReferenceSession<'p>,
        constants: &Constants,
        rng: &mut Rng,
    ) -> Option<Json> {
        let place = ValuePlace::Result(tool);
        let returns = self.program.tools[tool].returns.as_ref();
        if returns.is_none() && !self.classes.is_read(&place) {
            return None;
        }
        self.maker(session).draw_result(returns, self.classes.find(&place), constants, rng)
    }

    /// Returns the possible results of a call of a tool; `null` where nothing reads the result.
    pub fn results(&self, tool: ToolId, session: &ReferenceSession<'p>) -> Vec<Option<Json>> {
        let place = ValuePlace::Result(tool);
        let returns = self.program.tools[tool].returns.as_ref();
        let read = self.classes.is_read(&place);
        if !read && returns.is_none() {
            return vec![None];
        }
        let mut results = self.maker(session).results(returns, self.classes.find(&place));
        let most = self.few.saturating_mul(2).min(MOST_RESULTS);
        results.truncate(if read { most } else { 1 });
        if results.is_empty() {
            return vec![None];
        }
        results.into_iter().map(Some).collect()
    }

    /// Returns the possible answers of each probe.
    pub fn answers(&self, session: &ReferenceSession<'p>) -> Vec<Vec<Json>> {
        let maker = self.maker(session);
        let answers = |at: usize| {
            let ty = &self.program.probes[at].returns;
            maker.results(Some(ty), self.classes.find(&ValuePlace::Probe(at)))
        };
        (0..self.program.probes.len()).map(answers).collect()
    }

    /// Returns the times at which sessions may begin, in milliseconds since 1970. If the guard reads the clock, a time
    /// at night and one at the weekend are among them.
    pub fn starts(&self) -> Vec<i64> {
        let start = start_of([self.program]);
        let mut clock = false;
        super::rules::each_condition(self.program, &mut |root| {
            clock |= root.any(&mut |e| matches!(e.kind, ExprKind::Clock(_)));
        });
        if clock { vec![start, start - 6 * HOUR, start + 5 * 24 * HOUR] } else { vec![start] }
    }

    /// Returns the possible start values, besides none.
    pub fn data(&self, session: &ReferenceSession<'p>) -> Vec<Json> {
        let Some(node) = self.classes.find(&ValuePlace::Data) else { return Vec::new() };
        let mut data = self.maker(session).results(None, Some(node));
        data.truncate(3);
        data
    }

    /// Returns the possible prompts.
    pub fn prompts(&self, session: &ReferenceSession<'p>) -> Vec<String> {
        let Some(node) = self.classes.find(&ValuePlace::Prompt) else { return Vec::new() };
        let said = self.maker(session).results(None, Some(node));
        said.iter().filter_map(|json| json.as_str().map(String::from)).take(2).collect()
    }

    /// Returns the times to wait for: those that the guard names. Times are in milliseconds since 1970.
    pub fn waits(&self, questions: &Questions, session: &ReferenceSession<'p>) -> BTreeSet<i64> {
        let (now, start) = session.clock_at();
        let mut until: BTreeSet<i64> = BTreeSet::new();
        for (limit, _, time, ..) in session.counted() {
            if let LimitScope::Window(window) = self.program.limits[limit].scope {
                until.insert(time + window);
            }
        }
        for span in questions.spans() {
            until.extend(session.past().map(|p| p.time + span + 1));
        }
        for probe in &self.program.probes {
            let waits = [probe.every, probe.backoff.as_ref().map(|b| b.up_to), probe.within];
            until.extend(waits.into_iter().flatten().map(|d| now + d));
        }
        if questions.time {
            self.clock(now, start, &mut until);
        }
        let late = self.program.deadline.map(|d| start + d);
        until.retain(|at| *at > now && late.is_none_or(|late| *at < late));
        until.into_iter().map(|at| at - now).collect()
    }

    /// Adds the times at which conditions on the clock may change.
    fn clock(&self, now: i64, start: i64, until: &mut BTreeSet<i64>) {
        let mut named: BTreeSet<i64> = BTreeSet::new();
        let mut clock = false;
        super::rules::each_condition(self.program, &mut |root| {
            root.walk(&mut |e| match &e.kind {
                ExprKind::Duration(d) => _ = named.insert(*d),
                ExprKind::Clock(_) => clock = true,
                _ => {}
            });
        });
        for span in named.into_iter().filter(|span| *span > 0) {
            until.extend([start + span, start + span + 1]);
            if let Some(deadline) = self.program.deadline {
                until.extend([start + deadline - span, start + deadline - span + 1]);
            }
        }
        until.extend(self.named.iter().flat_map(|time| [*time, time + 1]));
        if clock {
            let hour = (now / HOUR + 1) * HOUR;
            // The hours of a day, then the same hour on other days.
            until.extend([0, 2, 7, 11, 15].map(|hours| hour + hours * HOUR));
            until.extend([1, 5].map(|days| now + days * 24 * HOUR));
        }
    }
}

/// The arguments as a caller writes them; missing options are left out.
pub(crate) fn written(
    program: &Program,
    session: &ReferenceSession,
    tool: ToolId,
    args: &[Value],
) -> Json {
    let given = program.tools[tool].params.iter().zip(args).filter(|(_, v)| **v != Value::None);
    let member = given.map(|(param, value)| {
        (param.name.as_str().into(), tidy(session.to_json(&param.ty, value)))
    });
    Json::Object(member.collect())
}

/// The arguments as values.
pub(crate) fn read(
    program: &Program,
    session: &ReferenceSession,
    tool: ToolId,
    args: &Json,
) -> Option<Vec<Value>> {
    let params = program.tools[tool].params.iter();
    let value = |param: &crate::hir::Field| match args.get(&param.name) {
        Some(json) => session.read_json(&param.ty, json),
        None => Some(Value::None),
    };
    params.map(value).collect()
}

fn moves(class: &super::classes::Class) -> bool {
    let state = |hint: &Hint| matches!(hint, Hint::Moves(..) | Hint::Pays(_) | Hint::Gives(_));
    class.hints.iter().any(state)
}

fn size(program: &Program, ty: &Type) -> usize {
    match ty.required() {
        Type::Bool => 2,
        Type::Enum(definition) => program.enums[*definition].variants.len(),
        _ => usize::MAX / 64,
    }
}

fn object(name: &str, value: Json) -> Json {
    Json::Object(vec![(name.into(), value)])
}
