//! `guardc test`: runs the scenarios of guards on the real kernel, with a simulated clock and
//! world.

mod coverage;
mod json;
mod junit;
mod mutate;
mod runner;
mod session_steps;
mod text;

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{self, InputText};
use crate::plans;
use crate::project;
use crate::report::FindingReport;
use crate::term::{Console, Progress};
use coverage::{Coverage, CoveredRule};
use guard_compiler::{CompilerOutput, SourceFile};
use guard_sdk::Guard;
use runner::TestResult;
use std::path::PathBuf;
pub use text::reason_lines;

/// Runs the `test` blocks of guards
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and directories; `-` is standard input
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Run only tests whose title contains this text
    #[arg(long, value_name = "FILTER")]
    pub run: Option<String>,
    /// The format of the results
    #[arg(long, value_enum, default_value_t)]
    pub format: TestFormat,
    /// List the rules that no test saw pass a call, or refuse one
    #[arg(long)]
    pub coverage: bool,
    /// Fail if the tests saw less than this percentage of the rule outcomes
    #[arg(long, value_name = "PCT", value_parser = percent)]
    pub min_coverage: Option<f64>,
    /// Remove and weaken one rule at a time, and list the changes that no test notices
    #[arg(long, conflicts_with_all = ["coverage", "min_coverage"])]
    pub mutate: bool,
    /// Treat standard input as a file of this path
    #[arg(long, value_name = "PATH")]
    pub stdin_filename: Option<PathBuf>,
}

impl Args {
    /// Returns true if a test with this title is to be run.
    fn wants(&self, title: &str) -> bool {
        self.run.as_ref().is_none_or(|filter| title.contains(filter.as_str()))
    }
}

/// The output format of test results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum TestFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// JUnit XML, for build servers.
    Junit,
}

/// The results of one guard.
pub struct TestedGuard {
    /// The displayed file.
    pub file: String,
    /// The name.
    pub guard: String,
    /// The results of its tests, in order.
    pub ran: Vec<TestResult>,
    /// The rules.
    pub rules: Vec<ShownRule>,
}

/// A rule with its displayed text.
pub struct ShownRule {
    /// The rule.
    pub rule: CoveredRule,
    /// The displayed `file:line:column`; the guard's file if the rule has no position.
    pub at: String,
    /// The first line of its text.
    pub text: String,
}

/// The results of a run of tests.
#[derive(Default)]
pub struct Results {
    /// The suites, one for each guard with tests.
    pub suites: Vec<TestedGuard>,
    /// The number of guards with errors.
    pub broken: usize,
    /// The minimum percentage of rule outcomes.
    pub min_coverage: Option<f64>,
    /// True if coverage was requested.
    pub coverage: bool,
}

impl Results {
    /// Returns the number of tests, and of failed ones.
    pub fn counts(&self) -> (usize, usize) {
        let ran = || self.suites.iter().flat_map(|suite| &suite.ran);
        (ran().count(), ran().filter(|test| test.failure.is_some()).count())
    }

    /// Returns the number of observed rule outcomes, and of all.
    pub fn sides(&self) -> (usize, usize) {
        coverage::total(
            self.suites.iter().flat_map(|suite| suite.rules.iter().map(|shown| &shown.rule)),
        )
    }

    /// Returns true if the coverage is too low.
    pub fn uncovered(&self) -> bool {
        self.min_coverage.is_some_and(|min| coverage::percent(self.sides()) < min)
    }
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let config = Config::discover(&PathBuf::from("."))?;
    let inputs = files::find(&args.paths, args.stdin_filename.as_deref(), &config)?;
    if args.mutate {
        if args.format == TestFormat::Junit {
            return Err(Failure::new("--mutate has no JUnit form").help("use text or json"));
        }
        return mutate::run(args, &inputs, &config, term);
    }
    let mut results = Results {
        // The project's minimum is meant for all tests, and a filter runs only some of them.
        min_coverage: args.min_coverage.or(config.min_coverage.filter(|_| args.run.is_none())),
        coverage: args.coverage,
        ..Results::default()
    };
    let mut report = FindingReport::default();
    let mut progress = Progress::new(term, "testing", inputs.len());
    let mut unread = false;
    for (index, input) in inputs.iter().enumerate() {
        progress.at(index, &files::display(&input.path));
        if let Err(failure) = one(args, input, &config, &mut results, &mut report) {
            unread = true;
            crate::say(term, &failure);
        }
    }
    drop(progress);
    if report.failed() {
        report.findings.retain(|finding| finding.error);
        report.sort();
        report.print_to_stderr(term);
    }
    match args.format {
        TestFormat::Text => term.print(&text::render(&results, term.out))?,
        TestFormat::Json => term.data(&json::render(&results))?,
        TestFormat::Junit => term.data(&junit::render(&results)?)?,
    }
    if unread {
        return Err(Failure::Said);
    }
    let (ran, failed) = results.counts();
    // A guard that does not compile may contain the test.
    if let (0, 0, Some(filter)) = (ran, results.broken, &args.run) {
        return Err(Failure::new(format!("no test's title contains `{filter}`")));
    }
    Ok(Exit::findings(failed > 0 || results.broken > 0 || results.uncovered()))
}

fn one(
    args: &Args,
    input: &InputText,
    config: &Config,
    results: &mut Results,
    report: &mut FindingReport,
) -> Result<(), Failure> {
    let text = project::read(input)?;
    if input.walked && super::check::is_library(&text) {
        return Ok(());
    }
    let compiled = project::compile(&input.path, text, config);
    report.roots += 1;
    report.add(&compiled.shown, &compiled.compilation.diagnostics);
    let Some(output) = compiled.compilation.output else {
        results.broken += 1;
        return Ok(());
    };
    let suite = suite(args, &output, &compiled.shown)?;
    if args.run.is_none() || !suite.ran.is_empty() {
        results.suites.push(suite);
    }
    Ok(())
}

fn suite(
    args: &Args,
    output: &CompilerOutput,
    shown: &[SourceFile],
) -> Result<TestedGuard, Failure> {
    let plan = plans::loaded(output.plan.clone(), output.sources.clone())?;
    let guard = Guard::from_plan(plan.clone())?;
    let mut coverage = Coverage::new(&plan);
    let ran = output
        .scenarios
        .iter()
        .filter(|scenario| args.wants(&scenario.title))
        .map(|scenario| runner::run(&guard, &output.scenarios, scenario, shown, &mut coverage))
        .collect::<Result<_, _>>()?;
    let rules = coverage.rules().map(|rule| show(&plan, rule, shown)).collect();
    let file = shown.first().map_or_else(String::new, |file| file.path.clone());
    Ok(TestedGuard { file, guard: plan.plan().guard.clone(), ran, rules })
}

fn show(plan: &guard_plan::LoadedPlan, rule: &CoveredRule, shown: &[SourceFile]) -> ShownRule {
    let span = plan.sources().spans.get(rule.span as usize);
    let file = span.and_then(|span| shown.get(span.file as usize));
    let (Some(span), Some(file)) = (span, file) else {
        let at = shown.first().map_or_else(String::new, |file| file.path.clone());
        return ShownRule { rule: rule.clone(), at, text: rule.kind.word().to_owned() };
    };
    let line = file.text.lines().nth(span.line.saturating_sub(1) as usize).unwrap_or_default();
    let text: String = line.chars().skip(span.column.saturating_sub(1) as usize).collect();
    ShownRule {
        rule: rule.clone(),
        at: format!("{}:{}:{}", file.path, span.line, span.column),
        text: text.trim().trim_end_matches('{').trim_end().to_owned(),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    number
        .ok()
        .filter(|n| (0.0..=100.0).contains(n))
        .ok_or_else(|| "a number from 0 to 100 is expected".into())
}
