//! The compiler of the Guard language: from sources to diagnostics and a plan.
//!
//! Each phase is a module: `sources` loads the files, `names` resolves names, `types` checks types,
//! `lower` makes the plan, and `optimize` makes a faster plan. Only [`compile`] depends on the
//! order of the phases. The crate does not run plans and does not access terminals or files. A
//! [`Loader`] loads the texts that `use` names.

mod accept;
mod analysis;
mod defines;
mod errors;
mod fixes;
mod generated_tools;
pub mod hir;
mod limits;
mod lower;
mod names;
mod optimize;
pub mod scenario;
mod sources;
mod types;

pub use accept::keep_unaccepted;
pub use analysis::{diff, explore, lint, property, reference, verify};
pub use errors::CODES;
pub use sources::{Loader, NoFiles, SourceFile, library_path, std_library};

use guard_plan::plan::{Plan, Sources};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::{FileId, Span};

/// The result of a compilation.
pub struct Compilation {
    /// The loaded files, in order of loading. The `FileId` of a span is an index here.
    pub files: Vec<SourceFile>,
    /// All problems, ordered by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of warnings that comments accept. They are not among the diagnostics.
    pub accepted: usize,
    /// The output, if no diagnostic is an error.
    pub output: Option<CompilerOutput>,
    /// The output, if the only errors are invariants and properties that are declared `proved` and
    /// are not proved. It is for inspection and must not be run.
    pub unproved: Option<CompilerOutput>,
}

/// The output of a compilation.
pub struct CompilerOutput {
    /// The checked program, which the reference evaluator runs.
    pub program: hir::Program,
    /// The plan.
    pub plan: Plan,
    /// The plan before it was optimized. It makes the same decisions.
    pub lowered: Plan,
    /// The proved and the unproved parts of the plan.
    pub verification: verify::Verification,
    /// The source positions of the rules of both plans, and the optimizations.
    pub sources: Sources,
    /// The properties and their proofs; `None` if there are no properties.
    pub properties: Option<Properties>,
    /// The scenarios of its `test` blocks.
    pub scenarios: Vec<scenario::Scenario>,
}

/// The properties of a guard.
pub struct Properties {
    /// The program that contains them as rules in shadow mode.
    pub claimed: hir::Program,
    /// Their clauses, for each tool, in source order.
    pub claims: Vec<property::PropertyClaim>,
}

impl Properties {
    /// Decides whether each property holds, in the order of the program. For a property that is not
    /// proved, searches for a session that violates it.
    pub fn decide(
        &self,
        limits: &diff::WitnessLimits,
        stop: &dyn Fn() -> bool,
    ) -> Vec<property::PropertyOutcome> {
        property::decide(&self.claimed, &self.claims, limits, stop)
    }

    /// Returns the clauses of a property that are not proved.
    fn open(&self, property: hir::PropertyId) -> impl Iterator<Item = &property::PropertyClaim> {
        let open = move |claim: &&property::PropertyClaim| {
            claim.property == property && claim.proof.is_none()
        };
        self.claims.iter().filter(open)
    }

    /// Returns the program that is run. Of the properties, it contains only those that are
    /// monitored and not proved, as rules in shadow mode.
    fn program(&self) -> hir::Program {
        use property::Stance;
        property::with(&self.claimed, |tool, clause| {
            let Some(id) = clause.rule.property else { return Stance::Absent };
            let monitored = self.claimed.properties[id].mode == hir::PropertyMode::Monitor;
            let mut open = self.open(id);
            if monitored && open.any(|c| c.tool == tool && c.span == clause.rule.span) {
                Stance::Watches
            } else {
                Stance::Absent
            }
        })
    }
}

/// Compiles `root` and the files that it uses. It never fails: all errors are in the diagnostics.
pub fn compile(root: SourceFile, loader: &mut dyn Loader) -> Compilation {
    compile_despite(root, loader, &[])
}

/// Compiles a guard, but errors with the given codes are only reported and do not stop the
/// compilation. This is for laws about the evaluators on guards that the checker would reject. It
/// is not for guards that are run.
pub fn compile_despite(
    root: SourceFile,
    loader: &mut dyn Loader,
    forgiven: &[&str],
) -> Compilation {
    let mut sources = sources::load(root, loader);
    let mut diagnostics = std::mem::take(&mut sources.diagnostics);
    let syntax_errors = diagnostics.iter().any(Diagnostic::is_error);
    let names = names::resolve(&sources, &mut diagnostics);
    let checked = types::check(&names, Span::new(FileId(0), 0, 0), &mut diagnostics);
    if !syntax_errors {
        // It is unknown which names a broken item would have used.
        names.report_unused(&mut diagnostics);
    }
    sources.forgive_dropped(&mut diagnostics);
    let mut output = None;
    let mut unproved = None;
    let stops = |d: &&Diagnostic| d.is_error() && !forgiven.contains(&d.code);
    if !diagnostics.iter().any(|d| stops(&d)) {
        let made = finish(checked, &sources.files, &mut diagnostics);
        let codes: Vec<_> = diagnostics.iter().filter(stops).map(|d| d.code).collect();
        if codes.is_empty() {
            output = Some(made);
        } else if codes.iter().all(|code| *code == errors::NOT_PROVED) {
            unproved = Some(made);
        }
    }
    // Comments may accept warnings of every phase, so they are applied after all phases.
    let accepted = accept::apply(&sources.files, &mut diagnostics);
    diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    types::merge_uses(&mut diagnostics);
    fixes::keep_helpful(&sources.files, &mut diagnostics);
    Compilation { files: sources.files, diagnostics, accepted, output, unproved }
}

fn finish(
    mut checked: types::Checked,
    files: &[SourceFile],
    diagnostics: &mut Vec<Diagnostic>,
) -> CompilerOutput {
    let properties = (!checked.program.properties.is_empty()).then(|| {
        let claims = property::prove(&checked.program, files);
        Properties { claimed: checked.program.clone(), claims }
    });
    if let Some(properties) = &properties {
        checked.program = properties.program();
        properties_must_be_proved(properties, diagnostics);
    }
    let (lowered, mut sources) = lower::lower(&checked.program, files);
    let mut scenarios = checked.scenarios;
    lower::lower_expectations(&checked.program, &checked.expectations, &mut scenarios);
    scenario::fit::check(&lowered, &scenarios, diagnostics);
    for step in scenarios.iter_mut().flat_map(|s| &mut s.steps) {
        let text = &files[step.span.file.0 as usize].text;
        let text = text.get(step.span.start as usize..step.span.end as usize).unwrap_or_default();
        step.text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    scenario::join(&mut scenarios);
    for tool in lowered.tools.iter().filter(|t| t.steps > lower::MAX_STEPS) {
        let declared = checked.program.tools.iter().find(|t| t.name == tool.name);
        let span = declared.map(|t| t.span).unwrap_or_default();
        let costliest = lower::costliest(&lowered, tool).map(|costliest| {
            let at = &sources.spans[costliest.rule.span as usize];
            (format!("{}:{}:{}", sources.files[at.file as usize], at.line, at.column), costliest)
        });
        let steps = (tool.steps, lower::MAX_STEPS);
        diagnostics.push(errors::over_bound(span, &tool.name, steps, costliest));
    }
    initial_state(&checked.program, diagnostics);
    let (mut plan, rewrites) = optimize::optimize(&lowered);
    sources.rewrites = rewrites;
    let verification = verify::verify(&plan);
    plan.proofs = verification.proofs.clone();
    must_be_proved(&checked.program, &plan, &verification, diagnostics);
    // The findings that the prover makes about whole tools are in the report of `verify`.
    diagnostics.extend(lint::all(&checked.program, None, &lint::NoProver));
    let program = checked.program;
    CompilerOutput { program, plan, lowered, verification, sources, properties, scenarios }
}

/// Reports invariants that are declared `proved` and are not proved for every tool.
fn must_be_proved(
    program: &hir::Program,
    plan: &Plan,
    verification: &verify::Verification,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let effects =
        verification.pairs.iter().map(|pair| (pair.tool, pair.invariant, &pair.status, false));
    let observed = verification.observations.iter();
    let observed = observed
        .map(|observation| (observation.tool, observation.invariant, &observation.status, true));
    for (tool, invariant, status, observed) in effects.chain(observed) {
        let left = match status {
            verify::ObligationStatus::Proved(_) | verify::ObligationStatus::Vacuous => continue,
            verify::ObligationStatus::Checked(left)
            | verify::ObligationStatus::Simplified(_, left) => left,
        };
        let name = &plan.invariants[invariant as usize].rule.owner;
        let declared = program
            .invariants
            .iter()
            .find(|invariant| invariant.proved && invariant.rule.owner == *name);
        let Some(declared) = declared else { continue };
        let tool = &plan.tools[tool as usize].name;
        let span = program
            .tools
            .iter()
            .find(|declared| declared.name == *tool)
            .map(|declared| declared.span);
        let tool = (tool.as_str(), span.unwrap_or_default());
        diagnostics.push(errors::not_proved((name, declared.rule.span), tool, observed, left));
    }
}

/// Reports properties that are declared `proved` and do not follow from the rules of the guard.
fn properties_must_be_proved(properties: &Properties, diagnostics: &mut Vec<Diagnostic>) {
    for (id, property) in properties.claimed.properties.iter().enumerate() {
        let left: Vec<(String, String, Span)> = properties
            .open(id)
            .map(|claim| {
                let tool = &properties.claimed.tools[claim.tool];
                (tool.name.clone(), claim.text.clone(), claim.span)
            })
            .collect();
        if property.mode == hir::PropertyMode::Proved && !left.is_empty() {
            let named = (property.name.as_str(), property.span);
            diagnostics.push(errors::property_not_proved(named, &left));
        }
    }
}

/// Checks that a session begins in an allowed state. The reference evaluator checks this once.
fn initial_state(program: &hir::Program, diagnostics: &mut Vec<Diagnostic>) {
    let session = match reference::ReferenceSession::open(program, 0, "/", None) {
        Ok(session) => session,
        Err((var, why)) => {
            let var = &program.state[var];
            let why = format!("the initial value of `{}` {why}", var.name);
            let declared = Some((var.span, "declared here"));
            diagnostics.push(errors::initial_state(var.init.span, why, declared));
            return;
        }
    };
    for (at, why) in session.broken_initially() {
        let invariant = &program.invariants[at];
        // A monitor denies nothing, so it may be false initially.
        if invariant.monitor {
            continue;
        }
        let why = format!("the invariant `{}` {why} in the initial state", invariant.rule.owner);
        diagnostics.push(errors::initial_state(invariant.rule.span, why, None));
    }
}
