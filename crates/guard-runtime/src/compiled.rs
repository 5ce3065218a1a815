//! The compiled plan: compiled patterns, prepared expressions, and the dispatch of tool names.
//!
//! The data is immutable and independent of any session. The operations above read it. It is built
//! once per plan and shared by all sessions.

pub(crate) mod checks;
pub(crate) mod contracts;
mod dispatch;
pub(crate) mod expr;
pub(crate) mod feedback;
pub(crate) mod prepare;
pub(crate) mod proven;
mod rechecks;
pub(crate) mod screens;

use crate::error::KernelError;
use checks::PreparedChecks;
use contracts::CompiledContract;
use dispatch::Dispatch;
use expr::CompiledExpr;
use feedback::Providers;
use guard_contract::Schemas;
use guard_plan::LoadedPlan;
use guard_plan::decode::Decoder;
use guard_plan::plan::{
    CommandId, Field, Plan, ProbeAsks, RegexId, ToolId, TypeDef, TypeId, UnitId,
};
use prepare::{PreparedLesson, PreparedTool};
use proven::Proven;
use rechecks::Rechecks;
use regex::{Regex, RegexBuilder};

/// The maximum size of a compiled regular expression, in bytes.
const REGEX_BYTES: usize = 1 << 20;

/// A plan ready to decide.
#[derive(Debug)]
pub(crate) struct CompiledPlan {
    loaded: LoadedPlan,
    names: Dispatch,
    regexes: Box<[Regex]>,
    pub tools: Box<[PreparedTool]>,
    pub invariants: Box<[CompiledExpr]>,
    /// For each invariant, true if breaking it leads only to a warning (semantics §3.8).
    pub tolerated: Box<[bool]>,
    pub monitors: Box<[(CompiledExpr, Option<CompiledExpr>)]>,
    pub state: Box<[CompiledExpr]>,
    pub feedback: Providers,
    pub sources: Box<[Box<[PreparedLesson]>]>,
    pub checks: PreparedChecks,
    /// The proved invariants that are checked again on sampled calls.
    pub rechecks: Rechecks,
    /// The contracts by id, compiled if a check uses them.
    pub contracts: Box<[CompiledContract]>,
    /// For each command, true if a probe reads its standard output.
    stdout: Box<[bool]>,
    /// True if some transition requires evidence.
    pub evidence: bool,
    /// The unit `calls`.
    pub calls: UnitId,
    /// The units that the host charges and that have a budget.
    pub host_charged: Box<[UnitId]>,
}

impl CompiledPlan {
    /// Compiles a plan: checks its proofs, compiles its regular expressions and prepares its
    /// expressions.
    ///
    /// # Errors
    ///
    /// Returns an error if a regular expression does not compile or a proof does not hold.
    pub fn new(loaded: LoadedPlan, schemas: &dyn Schemas) -> Result<CompiledPlan, KernelError> {
        guard_proof::check(loaded.plan()).map_err(KernelError::Proof)?;
        CompiledPlan::with_checked_proofs(loaded, schemas)
    }

    /// Compiles a plan whose proofs were checked.
    pub(crate) fn with_checked_proofs(
        loaded: LoadedPlan,
        schemas: &dyn Schemas,
    ) -> Result<CompiledPlan, KernelError> {
        let plan = loaded.plan();
        let regexes = plan.regexes.iter().map(|pattern| {
            // Nested counts make a short pattern compile to gigabytes, and a plan may be hostile.
            let regex = RegexBuilder::new(pattern).size_limit(REGEX_BYTES).build();
            regex.map_err(|error| KernelError::Regex(pattern.clone(), error.to_string()))
        });
        let wire = plan.tools.iter().map(|tool| tool.wire_name.as_str()).zip(0..);
        // A tool's name in the guard is used only if no tool has it as its wire name.
        let names = wire.chain(plan.tools.iter().map(|tool| tool.name.as_str()).zip(0..));
        let units = || (0..).zip(&plan.units);
        let host = units().filter(|(_, unit)| unit.host_charged && unit.budget.is_some());
        let monitors = plan.monitors.iter();
        let sources = plan.sources.iter();
        let tolerated: Box<[bool]> =
            plan.invariants.iter().map(|inv| prepare::is_tolerated(plan, inv)).collect();
        let mut transitions = plan.lifecycles.iter().flat_map(|lifecycle| &lifecycle.transitions);
        Ok(CompiledPlan {
            regexes: regexes.collect::<Result<_, _>>()?,
            names: Dispatch::new(names),
            tools: tools(plan),
            invariants: plan
                .invariants
                .iter()
                .map(|inv| CompiledExpr::new(&inv.condition))
                .collect(),
            rechecks: Rechecks::new(plan, &tolerated),
            tolerated,
            monitors: monitors
                .map(|monitor| {
                    (CompiledExpr::new(&monitor.of), CompiledExpr::optional(&monitor.trigger))
                })
                .collect(),
            state: plan.state.iter().map(|var| CompiledExpr::new(&var.init)).collect(),
            feedback: Providers::new(plan),
            sources: sources
                .map(|source| source.learns.iter().map(PreparedLesson::new).collect())
                .collect(),
            checks: PreparedChecks::new(plan),
            contracts: contracts::compile(plan, schemas),
            stdout: stdout(plan),
            evidence: transitions.any(|transition| transition.evidence),
            calls: units().find(|(_, unit)| unit.name == "calls").map_or(0, |(id, _)| id),
            host_charged: host.map(|(id, _)| id).collect(),
            loaded,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.loaded.plan()
    }

    /// The plan as it was loaded, with hash and sources.
    pub fn loaded(&self) -> &LoadedPlan {
        &self.loaded
    }

    /// Returns the tool with this wire name, or else the tool with this name in the guard.
    pub fn tool(&self, name: &str) -> Option<ToolId> {
        self.names.find(name)
    }

    /// Returns true if a value that crosses the kernel (an argument or a record field) may be
    /// secret.
    pub fn has_secrets(&self) -> bool {
        let plan = self.plan();
        let secret = |fields: &[Field]| fields.iter().any(|field| field.secret);
        let record =
            |def: &TypeDef| matches!(def, TypeDef::Record { fields, .. } if secret(fields));
        plan.tools.iter().any(|tool| secret(&tool.params)) || plan.types.iter().any(record)
    }

    /// Returns true if a text matches one of the plan's patterns.
    pub fn matches(&self, regex: RegexId, text: &str) -> bool {
        self.regexes.get(regex as usize).is_some_and(|regex| regex.is_match(text))
    }

    /// Returns true if a probe reads the standard output of a command.
    pub fn keeps_stdout(&self, command: CommandId) -> bool {
        self.stdout.get(command as usize).is_some_and(|keeps| *keeps)
    }

    /// Returns a decoder of the plan's types. An open decoder accepts records with additional
    /// members.
    pub fn decoder<'a>(
        &'a self,
        workspace: &'a str,
        open: bool,
        matches: &'a dyn Fn(RegexId, &str) -> bool,
    ) -> Decoder<'a> {
        let plan = self.plan();
        let coercions = if open { &plan.coercions[..] } else { &[] };
        Decoder { types: &plan.types, workspace, open, coercions, matches }
    }
}

/// The compiled tools, with the facts proved about them.
fn tools(plan: &Plan) -> Box<[PreparedTool]> {
    let tools = (0..).zip(&plan.tools);
    let ready = tools.map(|(id, tool)| PreparedTool {
        proven: Proven::new(plan, id),
        ..PreparedTool::new(tool, plan)
    });
    ready.collect()
}

/// Returns, for each command, true if a probe that is not a `bool` reads its standard output.
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

/// Returns the definition of a type; for an option, the definition of its inner type.
pub(crate) fn resolved(types: &[TypeDef], ty: TypeId) -> Option<&TypeDef> {
    match types.get(ty as usize) {
        Some(TypeDef::Option { of }) => types.get(*of as usize),
        def => def,
    }
}
