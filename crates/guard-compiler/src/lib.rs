//! The compiler of the Guard language: sources in, diagnostics and a plan out.
//!
//! Phases are modules, in this order: `sources` loads, `names` resolves, `types` checks, `lower` makes the
//! plan, `optimize` a faster one. Only [`compile`] knows the order. Knows nothing of running a plan, of terminals or of files: a
//! [`Loader`] brings the texts that `use` names.

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

/// Everything a compilation gives.
pub struct Compilation {
    /// The files read, in order of loading; a span's `FileId` is an index here.
    pub files: Vec<SourceFile>,
    /// All problems, ordered by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of warnings that comments accept; they are not among the diagnostics.
    pub accepted: usize,
    /// What was made, where no diagnostic is an error.
    pub output: Option<Output>,
    /// What was made, where nothing is wrong but that an invariant declared `proved` is not: to be looked into, not run.
    pub unproved: Option<Output>,
}

/// The results of a compilation.
pub struct Output {
    /// The checked program, which the reference evaluator runs.
    pub program: hir::Program,
    /// The plan.
    pub plan: Plan,
    /// The plan before it was optimized: it decides the same.
    pub lowered: Plan,
    /// What is proved of the plan, and what is not.
    pub verification: verify::Verification,
    /// Where the rules of both stand, and what was optimized.
    pub sources: Sources,
    /// What became of its properties; none where it has none.
    pub properties: Option<Properties>,
    /// The scenarios of its `test` blocks.
    pub scenarios: Vec<scenario::Scenario>,
}

/// The properties of a guard.
pub struct Properties {
    /// The program in which they stand, as rules in shadow.
    pub claimed: hir::Program,
    /// Their clauses, for each tool, in the order of the source.
    pub claims: Vec<property::PropertyClaim>,
}

impl Properties {
    /// Says whether each property holds, in the order of the program. A session that breaks what is not proved is looked for.
    pub fn decide(
        &self,
        limits: &diff::WitnessLimits,
        stop: &dyn Fn() -> bool,
    ) -> Vec<property::PropertyOutcome> {
        property::decide(&self.claimed, &self.claims, limits, stop)
    }

    /// The clauses of a property that are not proved.
    fn open(&self, property: hir::PropertyId) -> impl Iterator<Item = &property::PropertyClaim> {
        let open = move |claim: &&property::PropertyClaim| {
            claim.property == property && claim.proof.is_none()
        };
        self.claims.iter().filter(open)
    }

    /// The program that is run: of the properties only what is monitored and not proved is left, as rules in shadow.
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

/// Compiles `root` and whatever it uses. Never fails: what is wrong is in the diagnostics.
pub fn compile(root: SourceFile, loader: &mut dyn Loader) -> Compilation {
    compile_despite(root, loader, &[])
}

/// Compiles a guard of which some errors, by their codes, are reported and stop nothing. For laws about what the
/// evaluators do where the checker would let no guard through; not for guards that are run.
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
        // What a broken item would have used is unknown.
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
) -> Output {
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
        let costliest = lower::costliest(&lowered, tool).map(|(rule, steps)| {
            let at = &sources.spans[rule.span as usize];
            (format!("{}:{}:{}", sources.files[at.file as usize], at.line, at.column), steps)
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
    // What the prover shows of whole tools stands in the report of `verify`.
    diagnostics.extend(lint::all(&checked.program, None, &lint::NoProver));
    let program = checked.program;
    Output { program, plan, lowered, verification, sources, properties, scenarios }
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

/// Reports properties that are declared `proved` and do not follow from the guard's rules.
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

/// A session must begin in an allowed state: the reference evaluator looks at it once.
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
        // A monitor denies nothing, so it may be false at first.
        if invariant.monitor {
            continue;
        }
        let why = format!("the invariant `{}` {why} in the initial state", invariant.rule.owner);
        diagnostics.push(errors::initial_state(invariant.rule.span, why, None));
    }
}
