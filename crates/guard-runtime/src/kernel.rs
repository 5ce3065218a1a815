//! The kernel: a plan made ready to decide, shared by all its sessions.

use crate::contract::{self, Judge};
use crate::dispatch::Dispatch;
use crate::error::{KernelError, StepError};
use crate::eval::{Context, Decision, resolved};
use crate::feedback::Providers;
use crate::prepare::{Learn, Prepared, Proven, Tool};
use crate::session::counter::Counter;
use crate::session::facts::Table;
use crate::session::items::Items;
use crate::session::origins::Origins;
use crate::session::probes::Attempts;
use crate::session::sorted::Keyed;
use crate::session::{History, Session, Times, Truth};
use crate::shadow::Shadow;
use crate::stop::Checks;
use crate::val::Val;
use crate::world::{Answers, NoWorld, Questions, World};
use guard_contract::{NoSchemas, Schemas};
use guard_plan::decode::Decoder;
use guard_plan::json::Json;
use guard_plan::plan::{
    CommandId, Expr, Field, Millis, Plan, ProbeAsks, RegexId, ToolId, TypeDef, UnitId, VarId,
};
use guard_plan::value::{Fault, Value};
use guard_plan::{LoadError, LoadedPlan};
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;

/// Most bytes a compiled regular expression may take.
const REGEX_BYTES: usize = 1 << 20;

/// The tools made ready, with what is proved of them.
fn tools(plan: &Plan) -> Box<[Tool]> {
    let tools = (0..).zip(&plan.tools);
    let ready =
        tools.map(|(id, tool)| Tool { proven: Proven::new(plan, id), ..Tool::new(tool, plan) });
    ready.collect()
}

/// A plan ready to decide. It keeps nothing of any session, so that one kernel behind an `Arc` serves all.
#[derive(Debug)]
pub struct Kernel {
    loaded: LoadedPlan,
    names: Dispatch,
    regexes: Box<[Regex]>,
    pub(crate) tools: Box<[Tool]>,
    pub(crate) invariants: Box<[Prepared]>,
    pub(crate) monitors: Box<[(Prepared, Option<Prepared>)]>,
    state: Box<[Prepared]>,
    pub(crate) feedback: Providers,
    pub(crate) sources: Box<[Box<[Learn]>]>,
    pub(crate) checks: Checks,
    /// By contract: made ready where a check asks for it.
    pub(crate) contracts: Box<[Judge]>,
    /// Commands whose standard output a probe reads.
    stdout: Box<[bool]>,
    /// Some transition requires evidence.
    pub(crate) evidence: bool,
    /// The unit `calls`.
    pub(crate) calls: UnitId,
    /// The units that the host charges and that have a budget.
    pub(crate) host_charged: Box<[UnitId]>,
    /// The full plan, where it decides beside this one.
    pub(crate) shadow: Option<Box<Shadow>>,
}

impl Kernel {
    /// Makes a plan ready: compiles its regular expressions, builds its constants, looks at its initial
    /// state. What conforms to a contract with a JSON Schema it cannot say.
    pub fn new(loaded: LoadedPlan) -> Result<Kernel, KernelError> {
        Kernel::with_schemas(loaded, &NoSchemas)
    }

    /// The same, with someone who carries out JSON Schemas.
    pub fn with_schemas(loaded: LoadedPlan, schemas: &dyn Schemas) -> Result<Kernel, KernelError> {
        let plan = loaded.plan();
        guard_proof::check(plan).map_err(KernelError::Proof)?;
        let regexes = plan.regexes.iter().map(|pattern| {
            let regex = RegexBuilder::new(pattern).size_limit(REGEX_BYTES).build();
            regex.map_err(|error| KernelError::Regex(pattern.clone(), error.to_string()))
        });
        let wire = plan.tools.iter().map(|tool| tool.wire_name.as_str()).zip(0..);
        // A guard name is heard only where no tool has it as its wire name.
        let names = wire.chain(plan.tools.iter().map(|tool| tool.name.as_str()).zip(0..));
        let units = || (0..).zip(&plan.units);
        let host = units().filter(|(_, unit)| unit.host_charged && unit.budget.is_some());
        let kernel = Kernel {
            regexes: regexes.collect::<Result<_, _>>()?,
            names: Dispatch::new(names),
            tools: tools(plan),
            invariants: plan.invariants.iter().map(|inv| Prepared::new(&inv.condition)).collect(),
            monitors: plan
                .monitors
                .iter()
                .map(|monitor| (Prepared::new(&monitor.of), Prepared::optional(&monitor.trigger)))
                .collect(),
            state: plan.state.iter().map(|var| Prepared::new(&var.init)).collect(),
            feedback: Providers::new(plan),
            sources: plan
                .sources
                .iter()
                .map(|source| source.learns.iter().map(Learn::new).collect())
                .collect(),
            checks: Checks::new(plan),
            contracts: contract::judges(plan, schemas),
            stdout: stdout(plan),
            evidence: plan
                .lifecycles
                .iter()
                .any(|lifecycle| lifecycle.transitions.iter().any(|one| one.evidence)),
            calls: units().find(|(_, unit)| unit.name == "calls").map_or(0, |(id, _)| id),
            host_charged: host.map(|(id, _)| id).collect(),
            shadow: None,
            loaded,
        };
        let session = kernel.open("", 0, "/");
        let session = session.map_err(|error| KernelError::State(error.to_string()))?;
        kernel.begins_sound(&session)?;
        Ok(kernel)
    }

    /// What is proved holds from call to call: so it must hold at first.
    pub(crate) fn begins_sound(&self, session: &Session) -> Result<(), KernelError> {
        let plan = self.plan();
        if plan.proofs.is_empty() {
            return Ok(());
        }
        let (decision, mut world) = (Decision::default(), NoWorld);
        let answers = Answers::new(&mut world);
        let cx = self.context(session, &decision, &answers);
        let assumed = guard_proof::assumable(plan, &plan.proofs);
        for (id, _) in assumed.iter().enumerate().filter(|(_, assumed)| **assumed) {
            if cx.holds(&self.invariants[id]) != Ok(true) {
                let name = &plan.invariants[id].rule.owner;
                return Err(KernelError::State(format!("`{name}` does not hold at first")));
            }
        }
        Ok(())
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.loaded.plan()
    }

    /// The plan as it was loaded, with hash and sources.
    pub fn loaded(&self) -> &LoadedPlan {
        &self.loaded
    }

    /// Whether something that crosses it may be secret: an argument, or what is inside of a value.
    pub fn has_secrets(&self) -> bool {
        let plan = self.plan();
        let secret = |fields: &[Field]| fields.iter().any(|field| field.secret);
        let record =
            |def: &TypeDef| matches!(def, TypeDef::Record { fields, .. } if secret(fields));
        plan.tools.iter().any(|tool| secret(&tool.params)) || plan.types.iter().any(record)
    }

    /// The tool with a wire name, or else with this name in the guard.
    pub fn tool(&self, name: &str) -> Option<ToolId> {
        self.names.find(name)
    }

    pub(crate) fn matches(&self, regex: RegexId, text: &str) -> bool {
        self.regexes.get(regex as usize).is_some_and(|regex| regex.is_match(text))
    }

    /// Whether somebody reads what a command prints.
    pub(crate) fn keeps_stdout(&self, command: CommandId) -> bool {
        self.stdout.get(command as usize).is_some_and(|keeps| *keeps)
    }

    pub(crate) fn decoder<'a>(
        &'a self,
        session: &'a Session,
        open: bool,
        matches: &'a dyn Fn(RegexId, &str) -> bool,
    ) -> Decoder<'a> {
        Decoder { types: &self.plan().types, workspace: &session.workspace, open, matches }
    }

    /// Begins a session that is given nothing.
    pub fn open(&self, id: &str, start: Millis, workspace: &str) -> Result<Session, StepError> {
        self.open_with(id, start, workspace, None)
    }

    /// Begins a session, which learns from the data the host gives (semantics §8).
    pub fn open_with(
        &self,
        id: &str,
        start: Millis,
        workspace: &str,
        data: Option<&Json>,
    ) -> Result<Session, StepError> {
        let plan = self.plan();
        let path = |path: &str, base: &str| {
            let normal = guard_plan::path::normalise(base, path);
            normal.map(|path| path.into_owned().into_boxed_str()).map_err(StepError::Workspace)
        };
        let workspace = path(workspace, "/")?;
        let paths = plan.paths.iter().map(|literal| path(literal, &workspace));
        let mut session = Session {
            id: id.into(),
            start,
            now: start,
            paths: paths.collect::<Result<_, _>>()?,
            workspace,
            state: Box::default(),
            spent: vec![0; plan.units.len()].into(),
            counters: plan.limits.iter().map(Counter::new).collect(),
            tools: vec![History::default(); plan.tools.len()].into(),
            succeeded: vec![0; plan.tools.len().div_ceil(64)].into(),
            indexes: vec![Keyed::default(); plan.indexes.len()].into(),
            windows: plan.windows.iter().map(|window| Times::new(window.within)).collect(),
            facts: plan.facts.iter().map(|fact| Table::new(fact, &plan.types)).collect(),
            monitors: vec![Truth { value: Ok(false), operand: Ok(false) }; plan.monitors.len()]
                .into(),
            flights: Vec::new(),
            spare: Vec::new(),
            approvals: Vec::new(),
            decisions: 0,
            full: false,
            settlements: 0,
            calls: 0,
            halted: None,
            probes: vec![Attempts::default(); plan.probes.len()].into(),
            origins: Origins::default(),
            feedback: self.feedback.memory(start),
            items: plan.lifecycles.iter().map(Items::new).collect(),
            ended: HashMap::new(),
            prompts: 0,
            blocked: 0,
            opening: None,
            changes: Vec::new(),
            charged: Vec::new(),
        };
        session.state = self.initial_state(&session)?;
        if let Some(data) = data {
            self.start(&mut session, data);
        }
        self.begin_monitors(&mut session);
        Ok(session)
    }

    fn initial_state(
        &self,
        session: &Session,
    ) -> Result<Box<[guard_plan::value::Value]>, StepError> {
        let mut world = NoWorld;
        let (decision, answers) = (Decision::default(), Answers::new(&mut world));
        let context = self.context(session, &decision, &answers);
        let matches = |id, text: &str| self.matches(id, text);
        let decoder = self.decoder(session, false, &matches);
        let mut state = Vec::with_capacity(self.state.len());
        for (var, init) in self.plan().state.iter().zip(&self.state) {
            let fail = |why: String| StepError::InitialState(var.name.clone(), why);
            let value = context.eval(init).map_err(|fault| fail(fault.to_string()))?.into_value();
            decoder.conform(var.ty, &value).map_err(|problem| fail(problem.to_string()))?;
            state.push(value);
        }
        Ok(state.into())
    }

    /// The value of an expression over what a session remembers, the clock and the world; nothing changes, and
    /// a halt does not matter. For those who look at a session from outside: tests, tools.
    ///
    /// The expression is one that was lowered against this plan, which alone keeps the memories it asks for;
    /// one that refers to what the plan does not have is a fault. The session is one that this kernel has
    /// opened.
    pub fn evaluate(
        &self,
        session: &Session,
        expr: &Expr,
        now: Millis,
        world: &mut dyn World,
    ) -> Result<Value, Fault> {
        self.loaded.admits(expr).map_err(|error| match error {
            LoadError::Invalid(why) => Fault::Decode(format!("no expression of this plan: {why}")),
            other => Fault::Decode(other.to_string()),
        })?;
        let (decision, answers) = (Decision::default(), Answers::new(world));
        let context = self.context(session, &decision, &answers);
        Context { now: session.now.max(now), ..context }.eval_shown(&Prepared::new(expr))
    }

    /// What an expression without arguments may read.
    pub(crate) fn context<'a>(
        &'a self,
        session: &'a Session,
        decision: &'a Decision,
        answers: &'a dyn Questions,
    ) -> Context<'a> {
        let now = session.now;
        let (args, writes): (&[Val<'a>], &[(VarId, Value)]) = (&[], &[]);
        Context { kernel: self, session, decision, answers, now, args, writes, result: None }
    }
}

/// By command: whether a probe that is no `bool` reads what it prints.
fn stdout(plan: &Plan) -> Box<[bool]> {
    let mut stdout = vec![false; plan.commands.len()];
    for probe in &plan.probes {
        if let ProbeAsks::Command(id) = probe.asks
            && !matches!(resolved(&plan.types, probe.returns), Some(TypeDef::Bool))
        {
            stdout[id as usize] = true;
        }
    }
    stdout.into()
}
