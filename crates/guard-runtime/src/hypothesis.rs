//! Questions about what would be: expressions and calls over a session at a time, with arguments and values that
//! nobody has committed. Nothing changes.
//!
//! Answered by the stages themselves, so that advice cannot disagree with a verdict.

mod unchosen;

use crate::compiled::prepare::Prepared;
use crate::compiled::{CompiledPlan, prepare};
use crate::eval::context::{Context, Decision};
use crate::evaluate::foreign;
use crate::reason::Findings;
use crate::session::Session;
use crate::session::flight::Draft;
use crate::stage::{
    Call, approvals, budgets, conflicts, effects, limits, ready, requirements, rules,
};
use crate::val::Val;
use crate::world::{Answers, World};
use guard_plan::key;
use guard_plan::plan::{Expr, Millis, Requirement, Tool, ToolId, UnitId, VarId};
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Verdict};
use unchosen::Unchosen;

/// A session at a time, and the world, which is asked each question at most once. The steps of one hypothesis are
/// bounded together, as those of one decision are.
pub struct Hypothesis<'h> {
    compiled: &'h CompiledPlan,
    session: &'h Session,
    now: Millis,
    decision: Decision,
    answers: Answers<'h>,
}

/// The values that a hypothesis assumes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Assumed<'a> {
    /// The tool and the arguments of a call.
    pub call: Option<(ToolId, &'a [Value])>,
    /// Values of variables, in place of the committed ones.
    pub writes: &'a [(VarId, Value)],
}

/// A call that nobody has made. Where its arguments are not chosen, only the rules count that do not read them: what
/// they refuse is refused with any arguments.
pub struct HypotheticalCall<'c> {
    id: ToolId,
    rules: Rules<'c>,
    args: Option<&'c [Value]>,
}

/// The rules of a hypothetical call.
enum Rules<'c> {
    /// All of them.
    All(&'c Tool, &'c prepare::Tool),
    /// Those that do not read the arguments.
    Unchosen(Box<Unchosen>),
}

/// What a call would change, if it were allowed and succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    /// What it costs, in units of 10⁻⁶.
    pub charges: Vec<(UnitId, i64)>,
    /// The values of the variables that its effects write.
    pub writes: Vec<(VarId, Value)>,
}

impl HypotheticalCall<'_> {
    /// The tool with the rules that count.
    pub fn tool(&self) -> &Tool {
        self.stages().tool
    }

    /// The arguments, where they are chosen.
    pub fn args(&self) -> Option<&[Value]> {
        self.args
    }

    /// The variables that effects write in a way that only the arguments say.
    pub fn unknown(&self) -> &[VarId] {
        match &self.rules {
            Rules::All(..) => &[],
            Rules::Unchosen(unchosen) => &unchosen.unknown,
        }
    }

    /// The units of which the call costs more than is foreseen, since only its arguments say how much.
    pub fn open_units(&self) -> &[UnitId] {
        match &self.rules {
            Rules::All(..) => &[],
            Rules::Unchosen(unchosen) => &unchosen.units,
        }
    }

    /// The call as the stages know it.
    fn stages(&self) -> Call<'_> {
        let (tool, ready) = match &self.rules {
            Rules::All(tool, ready) => (*tool, *ready),
            Rules::Unchosen(unchosen) => (&unchosen.tool, &unchosen.ready),
        };
        Call { id: self.id, tool, ready }
    }
}

impl<'h> Hypothesis<'h> {
    pub(crate) fn new(
        compiled: &'h CompiledPlan,
        session: &'h Session,
        now: Millis,
        world: &'h mut dyn World,
    ) -> Hypothesis<'h> {
        let (decision, answers) = (Decision::default(), Answers::new(world));
        Hypothesis { compiled, session, now: session.now.max(now), decision, answers }
    }

    /// A call of a tool with chosen arguments, which have the types of its parameters, or with none chosen. None where
    /// the plan has no such tool.
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

    /// The value of an expression of this plan.
    ///
    /// # Errors
    ///
    /// The fault of the expression. One that refers to what the plan or the call does not have is a fault.
    pub fn evaluate(&self, expr: &Expr, assumed: &Assumed<'_>) -> Result<Value, Fault> {
        let loaded = self.compiled.loaded();
        match assumed.call {
            Some((tool, _)) => loaded.admits_in_call(tool, expr),
            None => loaded.admits(expr),
        }
        .map_err(foreign)?;
        let args = assumed.call.map_or(&[][..], |(_, args)| args);
        let writes = assumed.writes;
        self.read(args, |cx| Context { writes, ..*cx }.eval_shown(&Prepared::new(expr)))
    }

    /// Whether calls have met a requirement; `key` holds the values of its key.
    pub fn meets(&self, requirement: &Requirement, key: &[Value]) -> bool {
        let Requirement { tool, key: keyed, since, within } = requirement;
        let stamp = match keyed {
            Some(keyed) => {
                let index = self.session.indexes.get(keyed.index as usize);
                index.and_then(|index| index.get(&*key::of(key))).copied()
            }
            None => self.session.tools.get(*tool as usize).and_then(|history| history.success),
        };
        self.read(&[], |cx| cx.counts(stamp, *since, *within))
    }

    /// The verdict of the stages on a call, but for the halt. An approval of any call of the tool counts, where the
    /// arguments are not chosen.
    pub fn verdict(&self, call: &HypotheticalCall<'_>) -> Verdict {
        self.read(call.args.unwrap_or_default(), |cx| {
            let mut findings = judged(cx, call.stages());
            let approved =
                |grant: &crate::session::Grant| grant.tool == call.id && grant.expires > cx.now;
            if call.args.is_none() && cx.session.approvals.iter().any(approved) {
                let asks = |code| matches!(code, Code::Approval | Code::Gated);
                findings.reasons.retain(|reason| !asks(reason.code));
            }
            findings.verdict(cx.compiled.plan().shadow)
        })
    }

    /// What a call would change.
    pub fn foresee(&self, call: &HypotheticalCall<'_>) -> Foreseen {
        self.read(call.args.unwrap_or_default(), |cx| {
            let stages = call.stages();
            let (mut draft, mut findings) = (Draft::default(), Findings::default());
            budgets::check(cx, stages, &mut draft, &mut findings);
            effects::check(cx, stages, &mut draft, &mut findings);
            Foreseen { charges: draft.charges, writes: draft.writes }
        })
    }

    /// Runs something that reads the session, with the arguments of a call.
    fn read<T>(&self, args: &[Value], read: impl FnOnce(&Context<'_>) -> T) -> T {
        let args: Vec<Val<'_>> = args.iter().map(Val::of).collect();
        let context = Context::new(self.compiled, self.session, &self.decision, &self.answers);
        read(&Context { now: self.now, args: &args, ..context })
    }
}

/// The findings of the stages. A verdict puts reasons in order, so the order of the stages means nothing here.
fn judged<'a>(cx: &Context<'a>, call: Call<'a>) -> Findings {
    let (mut draft, mut findings) = (Draft::default(), Findings::default());
    requirements::check(cx, call, &mut draft, &mut findings);
    rules::check(cx, call, &mut findings);
    limits::check(cx, call, &mut draft, &mut findings);
    budgets::check(cx, call, &mut draft, &mut findings);
    budgets::check_deadline(cx, &mut findings);
    effects::check(cx, call, &mut draft, &mut findings);
    approvals::check(cx, call, &mut draft, &mut findings);
    ready::check(cx, call, &mut findings);
    conflicts::check(cx, call, &mut findings);
    findings
}
