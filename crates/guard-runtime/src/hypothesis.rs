//! Hypothetical questions: expressions and calls over a session at a given time, with arguments and
//! values that are not committed. Nothing changes.
//!
//! The decision stages themselves compute the answers, so advice cannot disagree with a verdict.

mod unchosen;

use crate::compiled::expr::CompiledExpr;
use crate::compiled::{CompiledPlan, prepare};
use crate::decide;
use crate::eval::context::{Context, DecisionResources};
use crate::evaluate::foreign;
use crate::reason::FoundReasons;
use crate::session::flight::PendingWrites;
use crate::session::{SessionState, UnusedApproval};
use crate::stage::{
    DecidedCall, approvals, budgets, conflicts, effects, limits, requirements, rules,
};
use crate::val::Val;
use crate::world::{World, WorldAnswers};
use guard_plan::key;
use guard_plan::plan::{Expr, Millis, Requirement, Tool, ToolId, UnitId, VarId};
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Reason, Verdict};
use unchosen::Unchosen;

/// A session at a given time, and the world, which is asked each question at most once. The steps
/// of one hypothesis are bounded together, like those of one decision.
pub struct Hypothesis<'h> {
    compiled: &'h CompiledPlan,
    session: &'h SessionState,
    now: Millis,
    decision: DecisionResources,
    answers: WorldAnswers<'h>,
}

/// The values that a hypothesis assumes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Assumed<'a> {
    /// The tool and the arguments of a call.
    pub call: Option<(ToolId, &'a [Value])>,
    /// Values of variables, in place of the committed ones.
    pub writes: &'a [(VarId, Value)],
}

/// A hypothetical call. If its arguments are not chosen, only the rules that do not read them
/// apply: a call that these rules refuse is refused with any arguments.
pub struct HypotheticalCall<'c> {
    id: ToolId,
    rules: Rules<'c>,
    args: Option<&'c [Value]>,
}

/// The rules of a hypothetical call.
enum Rules<'c> {
    /// All rules.
    All(&'c Tool, &'c prepare::PreparedTool),
    /// The rules that do not read the arguments.
    Unchosen(Box<Unchosen>),
}

/// The changes that a call would make if it were allowed and succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    /// The charges, in units of 10⁻⁶.
    pub charges: Vec<(UnitId, i64)>,
    /// The values of the variables that its effects write.
    pub writes: Vec<(VarId, Value)>,
}

impl HypotheticalCall<'_> {
    /// Returns the tool with the applicable rules.
    pub fn tool(&self) -> &Tool {
        self.stages().tool
    }

    /// Returns the arguments, if they are chosen.
    pub fn args(&self) -> Option<&[Value]> {
        self.args
    }

    /// Returns the variables that effects write with values that depend on the arguments.
    pub fn unknown(&self) -> &[VarId] {
        match &self.rules {
            Rules::All(..) => &[],
            Rules::Unchosen(unchosen) => &unchosen.unknown,
        }
    }

    /// Returns the units whose cost depends on the arguments: the actual cost is higher than the
    /// foreseen one.
    pub fn open_units(&self) -> &[UnitId] {
        match &self.rules {
            Rules::All(..) => &[],
            Rules::Unchosen(unchosen) => &unchosen.units,
        }
    }

    /// Returns the call in the form that the stages take.
    fn stages(&self) -> DecidedCall<'_> {
        let (tool, ready) = match &self.rules {
            Rules::All(tool, ready) => (*tool, *ready),
            Rules::Unchosen(unchosen) => (&unchosen.tool, &unchosen.ready),
        };
        DecidedCall { id: self.id, tool, ready }
    }
}

impl<'h> Hypothesis<'h> {
    pub(crate) fn new(
        compiled: &'h CompiledPlan,
        session: &'h SessionState,
        now: Millis,
        world: &'h mut dyn World,
    ) -> Hypothesis<'h> {
        let decision = DecisionResources::default();
        let answers = WorldAnswers::new(world);
        // The clock of a session never runs backwards (§2).
        Hypothesis { compiled, session, now: session.now.max(now), decision, answers }
    }

    /// Returns a call of a tool with the given arguments, which have the types of its parameters,
    /// or without chosen arguments. `None` if the plan has no such tool.
    pub fn call<'c>(
        &'c self,
        id: ToolId,
        args: Option<&'c [Value]>,
    ) -> Option<HypotheticalCall<'c>> {
        let tool = self.compiled.plan().tools.get(id as usize)?;
        let rules = match args {
            Some(_) => Rules::All(tool, &self.compiled.tools[id as usize]),
            None => Rules::Unchosen(Box::new(Unchosen::new(self.compiled, id))),
        };
        Some(HypotheticalCall { id, rules, args })
    }

    /// Evaluates an expression of this plan.
    ///
    /// # Errors
    ///
    /// Returns the fault of the expression. A reference to an entity that the plan or the call does
    /// not have is a fault.
    pub fn evaluate(&self, expr: &Expr, assumed: &Assumed<'_>) -> Result<Value, Fault> {
        let loaded = self.compiled.loaded();
        match assumed.call {
            Some((tool, _)) => loaded.admits_in_call(tool, expr),
            None => loaded.admits(expr),
        }
        .map_err(foreign)?;
        let args = assumed.call.map_or(&[][..], |(_, args)| args);
        let writes = assumed.writes;
        self.read(args, |cx| Context { writes, ..*cx }.eval_shown(&CompiledExpr::new(expr)))
    }

    /// Returns true if calls have met a requirement; `key` holds the values of its key.
    pub fn meets(&self, requirement: &Requirement, key: &[Value]) -> bool {
        let Requirement { tool, key: keyed, .. } = requirement;
        let done = match keyed {
            Some(keyed) => {
                let index = self.session.indexes.get(keyed.index as usize);
                index.and_then(|index| index.get(&*key::encode(key))).copied()
            }
            None => self.session.tools.get(*tool as usize).and_then(|history| history.done),
        };
        self.read(&[], |cx| cx.meets(requirement, done))
    }

    /// Returns the verdict of the stages on a call, ignoring a halt. If the arguments are not
    /// chosen, the approvals of the call of this tool that has most of them count.
    pub fn verdict(&self, call: &HypotheticalCall<'_>) -> Verdict {
        self.read(call.args.unwrap_or_default(), |cx| {
            let mut findings = judged(cx, call.stages());
            if call.args.is_none() {
                leave_out_approved(cx, call, &mut findings.reasons);
            }
            findings.verdict(cx.compiled.plan().shadow)
        })
    }

    /// Returns the changes that a call would make.
    pub fn foresee(&self, call: &HypotheticalCall<'_>) -> Foreseen {
        self.read(call.args.unwrap_or_default(), |cx| {
            let stages = call.stages();
            let mut draft = PendingWrites::default();
            let mut findings = FoundReasons::default();
            budgets::check(cx, stages, &mut draft, &mut findings);
            effects::check(cx, stages, &mut draft, &mut findings);
            Foreseen { charges: draft.charges, writes: draft.writes }
        })
    }

    /// Runs a function that reads the session, with the arguments of a call.
    fn read<T>(&self, args: &[Value], read: impl FnOnce(&Context<'_>) -> T) -> T {
        let args: Vec<Val<'_>> = args.iter().map(Val::from_value).collect();
        let context = Context::new(self.compiled, self.session, &self.decision, &self.answers);
        read(&Context { now: self.now, args: &args, ..context })
    }
}

/// Leaves out the reasons that the approvals of one call answer: of the call that lacks fewest. Roles
/// that approved different calls do not count together.
fn leave_out_approved(cx: &Context<'_>, call: &HypotheticalCall<'_>, reasons: &mut Vec<Reason>) {
    let rules = &call.tool().approvals;
    let is_fresh = |grant: &UnusedApproval| {
        let mut rules = rules.iter().filter(|rule| rule.role == *grant.role);
        rules.all(|rule| rule.within.is_none_or(|age| cx.now.saturating_sub(grant.given) <= age))
    };
    let answers = |grant: &UnusedApproval, reason: &Reason| match reason.code {
        Code::Gated => true,
        Code::Approval => is_fresh(grant) && reason.needs.iter().all(|role| **role == *grant.role),
        _ => false,
    };
    let live = || {
        let approvals = cx.session.approvals.iter();
        approvals.filter(|grant| grant.tool == call.id && grant.expires > cx.now)
    };
    let open = |approved: &UnusedApproval| -> Vec<Reason> {
        let answered = |reason: &&Reason| {
            live().any(|grant| grant.key == approved.key && answers(grant, reason))
        };
        reasons.iter().filter(|reason| !answered(reason)).cloned().collect()
    };
    if let Some(fewest) = live().map(open).min_by_key(Vec::len) {
        *reasons = fewest;
    }
}

/// Returns the findings of the stages.
fn judged<'a>(cx: &Context<'a>, call: DecidedCall<'a>) -> FoundReasons {
    let mut draft = PendingWrites::default();
    let mut findings = FoundReasons::default();
    requirements::check(cx, call, &mut draft, &mut findings);
    rules::check(cx, call, &mut findings);
    limits::check(cx, call, &mut draft, &mut findings);
    budgets::check(cx, call, &mut draft, &mut findings);
    budgets::check_deadline(cx, &mut findings);
    effects::check(cx, call, &mut draft, &mut findings);
    approvals::check(cx, call, &mut draft, &mut findings);
    conflicts::check(cx, call, &mut findings);
    decide::check_last(cx, call, &mut findings);
    findings
}
