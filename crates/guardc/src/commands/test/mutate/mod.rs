//! `guardc test --mutate`: tests whether a guard's tests notice the removal or weakening of a rule.
//!
//! Each mutant is compiled and its tests are run. A mutant that no test notices survives, unless
//! the comparison of guards proves that it allows and refuses the same calls. Source:
//! `docs/reference/tests.md`.

mod mutants;

use super::{Args, TestFormat, suite};
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::InputText;
use crate::project::{self, Compiled};
use crate::report::FindingReport;
use crate::term::{Console, Progress, Style, count};
use guard_compiler::diff::{Answer, WitnessLimits, diff};
use guard_compiler::{CompilerOutput, SourceFile};
use mutants::{Mutant, mutants};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The fate of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MutantFate {
    /// A test fails.
    Noticed,
    /// It does not compile.
    Refused,
    /// The mutant is proved to allow and to refuse the same calls.
    Same,
    /// All tests pass.
    Survives,
}

/// A mutant and its fate.
struct TriedMutant {
    at: String,
    old: String,
    new: Option<String>,
    fate: MutantFate,
}

/// A guard with its mutants.
struct Mutated {
    file: String,
    tried: Vec<TriedMutant>,
}

impl Mutated {
    fn count(&self, fate: MutantFate) -> usize {
        self.tried.iter().filter(|tried| tried.fate == fate).count()
    }
}

/// Runs the command.
pub fn run(args: &Args, inputs: &[InputText], config: &Config, term: &Console) -> CommandResult {
    let mut all: Vec<Mutated> = Vec::new();
    let mut report = FindingReport::default();
    for input in inputs {
        let text = project::read(input)?;
        if input.walked && super::super::check::is_library(&text) {
            continue;
        }
        let compiled = project::compile(&input.path, text.clone(), config);
        report.roots += 1;
        report.add(&compiled.shown, &compiled.compilation.diagnostics);
        let Compiled { compilation, shown } = compiled;
        let Some(output) = compilation.output else { continue };
        let file = shown.first().map_or_else(String::new, |file| file.path.clone());
        if !passes(args, &output, &shown)? {
            return Err(Failure::new(format!("the tests of `{file}` do not pass"))
                .help("run `guardc test` without --mutate, and repair the failing tests"));
        }
        let guard = MutatedGuard { path: &input.path, text: &text, output: &output, file: &file };
        all.push(guard.mutated(args, config, term)?);
    }
    if report.failed() {
        report.findings.retain(|finding| finding.error);
        report.sort();
        report.print_to_stderr(term);
    }
    match args.format {
        TestFormat::Json => term.data(&as_json(&all))?,
        _ => term.print(&as_text(&all, term.out))?,
    }
    let survives = all.iter().any(|guard| guard.count(MutantFate::Survives) > 0);
    Ok(Exit::findings(survives || report.failed()))
}

/// Returns true if every wanted test passes.
fn passes(args: &Args, output: &CompilerOutput, shown: &[SourceFile]) -> Result<bool, Failure> {
    Ok(suite(args, output, shown)?.ran.iter().all(|test| test.failure.is_none()))
}

/// A guard whose tests pass.
struct MutatedGuard<'g> {
    path: &'g PathBuf,
    text: &'g str,
    output: &'g CompilerOutput,
    file: &'g str,
}

impl MutatedGuard<'_> {
    fn mutated(&self, args: &Args, config: &Config, term: &Console) -> Result<Mutated, Failure> {
        let mutants = mutants(self.text, &self.output.program);
        let mut progress = Progress::new(term, "mutating", mutants.len());
        let mut tried = Vec::new();
        for (index, mutant) in mutants.iter().enumerate() {
            progress.at(index, self.file);
            tried.push(self.tried(mutant, args, config)?);
        }
        Ok(Mutated { file: self.file.to_owned(), tried })
    }

    fn tried(&self, mutant: &Mutant, args: &Args, config: &Config) -> Result<TriedMutant, Failure> {
        let compiled = project::compile(self.path, mutant.text(self.text), config);
        let fate = match compiled.compilation.output {
            None => MutantFate::Refused,
            Some(output) if !passes(args, &output, &compiled.shown)? => MutantFate::Noticed,
            Some(output) if self.decides_like(&output) => MutantFate::Same,
            Some(_) => MutantFate::Survives,
        };
        let start = mutant.rule.start as usize;
        let end = mutant.rule.end as usize;
        let old = self.text.get(start..end).unwrap_or_default();
        let new = (!mutant.removes()).then(|| self.changed_rule(mutant));
        let (line, column) = place(self.text, mutant.part.start);
        let at = format!("{}:{line}:{column}", self.file);
        Ok(TriedMutant { at, old: one_line(old), new: new.map(|new| one_line(&new)), fate })
    }

    /// Returns true if the comparison proves that both guards are equivalent, without a search.
    fn decides_like(&self, mutant: &CompilerOutput) -> bool {
        let limits = WitnessLimits { states: 0, calls: 0, climbs: 0, ..WitnessLimits::default() };
        // The search for witnesses ends at once, because only proofs count here.
        let found = diff(&self.output.program, &mutant.program, &limits, &|| true);
        let no = |looser: bool| found.answers(looser).all(|answer| matches!(answer, Answer::No));
        no(true) && no(false) && found.undeclared.is_none()
    }

    /// Returns the changed rule as it is in the mutant.
    fn changed_rule(&self, mutant: &Mutant) -> String {
        let start = mutant.rule.start as usize;
        let end = mutant.rule.end as usize;
        let before = self.text.get(start..mutant.part.start).unwrap_or_default();
        let after = self.text.get(mutant.part.end..end).unwrap_or_default();
        [before, &mutant.new, after].concat()
    }
}

/// Returns the line and column of a byte, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn as_text(all: &[Mutated], style: Style) -> String {
    let mut out = String::new();
    for guard in all {
        let _ = writeln!(out, "{}", style.bold(&guard.file));
        let left = guard.tried.iter().filter(|tried| tried.fate == MutantFate::Survives);
        for tried in left {
            let change = match &tried.new {
                None => format!("removed `{}`", tried.old),
                Some(new) => format!("`{}` → `{new}`", tried.old),
            };
            let _ = writeln!(out, "  {}: {change}", style.cyan(&tried.at));
        }
        let survive = guard.count(MutantFate::Survives);
        let noticed = guard.count(MutantFate::Noticed) + guard.count(MutantFate::Refused);
        let said = match survive {
            0 => style.green("none survives"),
            n => style.red(&format!("{n} noticed by no test")),
        };
        let same = match guard.count(MutantFate::Same) {
            0 => String::new(),
            n => format!(", {n} proved to decide alike"),
        };
        let changes = count(guard.tried.len(), "change");
        let _ = writeln!(out, "  {changes}: {noticed} noticed{same}, {said}");
    }
    out
}

fn as_json(all: &[Mutated]) -> String {
    let mutant = |tried: &TriedMutant| -> Value {
        let fate = match tried.fate {
            MutantFate::Noticed => "noticed",
            MutantFate::Refused => "refused",
            MutantFate::Same => "same",
            MutantFate::Survives => "survives",
        };
        json!({ "at": tried.at, "old": tried.old, "new": tried.new, "fate": fate })
    };
    let guard = |guard: &Mutated| -> Value {
        json!({
            "file": guard.file,
            "mutants": guard.tried.iter().map(mutant).collect::<Vec<_>>(),
            "survive": guard.count(MutantFate::Survives),
        })
    };
    format!("{:#}\n", json!({ "guards": all.iter().map(guard).collect::<Vec<_>>() }))
}
