//! `guardc check`: reports all problems in one run.

mod stories;

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{self, InputText};
use crate::project::{self, Compiled};
use crate::report::{Finding, FindingFormat, FindingReport, TextRange};
use crate::term::{Console, Progress};
use guard_compiler::{CompilerOutput, SourceFile};
use guard_syntax::span::FileId;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Checks guards and reports every problem in one run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and directories (walked for `.guard` files); `-` is standard input
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// The format of the findings
    #[arg(long, value_enum, default_value_t)]
    pub format: FindingFormat,
    /// Treat standard input as a file of this path
    #[arg(long, value_name = "PATH")]
    pub stdin_filename: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub warnings_as_errors: bool,
    /// Print the worst-case number of evaluation steps of every tool
    #[arg(long)]
    pub cost: bool,
    /// Print findings only
    #[arg(long, short)]
    pub quiet: bool,
    /// Print at most this many findings as text; 0 is all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub max_diagnostics: usize,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let config = Config::discover(&std::path::PathBuf::from("."))?;
    let inputs = files::find(&args.paths, args.stdin_filename.as_deref(), &config)?;
    let mut run =
        CheckRun { report: FindingReport::default(), costs: String::new(), unread: false };
    run.all(&inputs, &config, term, args.cost);
    let mut report = run.report;
    if args.warnings_as_errors || config.warnings_as_errors {
        report.harden();
    }
    report.sort();
    // After a file that cannot be read, "no findings" would be a false reassurance.
    let quiet = args.quiet || (run.unread && report.roots == 0);
    report.print(term, args.format, args.max_diagnostics, quiet)?;
    if args.cost && args.format == FindingFormat::Text {
        term.print(&run.costs)?;
    }
    if run.unread {
        return Err(Failure::Said);
    }
    Ok(Exit::findings(report.failed()))
}

struct CheckRun {
    report: FindingReport,
    costs: String,
    unread: bool,
}

impl CheckRun {
    /// Compiles every root, then checks the libraries that no root uses.
    fn all(&mut self, inputs: &[InputText], config: &Config, term: &Console, cost: bool) {
        let mut progress = Progress::new(term, "checking", inputs.len());
        let mut libraries: Vec<(&InputText, String)> = Vec::new();
        let mut compiled: Vec<Compiled> = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            progress.at(index, &files::display(&input.path));
            let text = match project::read(input) {
                Ok(text) => text,
                Err(failure) => {
                    self.unread = true;
                    crate::say(term, &failure);
                    continue;
                }
            };
            // A library that was named on the command line is compiled as a root, so its missing
            // header is an error.
            if input.walked && is_library(&text) {
                libraries.push((input, text));
                continue;
            }
            let guard = project::compile(&input.path, text, config);
            if let Err(failure) = guard.check_plan() {
                self.unread = true;
                crate::say(term, &failure);
                continue;
            }
            self.root(&guard, config, cost);
            compiled.push(guard);
        }
        for (input, text) in libraries {
            if !compiled.iter().any(|c| c.reads(&input.path)) {
                self.library(input, &text);
            }
        }
    }

    fn root(&mut self, compiled: &Compiled, config: &Config, cost: bool) {
        self.report.roots += 1;
        let diagnostics = stories::told(&compiled.compilation);
        self.report.accepted += compiled.compilation.accepted;
        self.report.add(&compiled.shown, &diagnostics);
        let Some(output) = &compiled.compilation.output else {
            return;
        };
        if let Some(max) = config.max_steps {
            over_bound(&mut self.report, output, &compiled.shown, max);
        }
        if cost {
            self.costs.push_str(&cost_table(output));
        }
    }

    /// Checks only the syntax of an unused library.
    fn library(&mut self, input: &InputText, text: &str) {
        let file = SourceFile { path: files::display(&input.path), text: text.to_owned() };
        self.report.roots += 1;
        let diagnostics = guard_syntax::parse(FileId(0), text).diagnostics;
        self.report.add(&[file], &diagnostics);
    }
}

/// Returns true if a text is a library: it has no `guard` header.
pub fn is_library(text: &str) -> bool {
    let parsed = guard_syntax::parse(FileId(0), text);
    parsed.file.header.is_none() && !parsed.file.items.is_empty()
}

/// Adds a finding for each tool over the limit of `guard.toml`.
pub fn over_bound(
    report: &mut FindingReport,
    output: &CompilerOutput,
    shown: &[SourceFile],
    max: u64,
) {
    for tool in output.plan.tools.iter().filter(|tool| tool.steps > max) {
        let span = output.sources.spans.get(tool.span as usize);
        let file = span.and_then(|span| shown.get(span.file as usize)).or(shown.first());
        let Some(file) = file else { continue };
        let file = report.text(&file.path, &file.text);
        let text = &report.texts[file];
        let offset =
            |line: u32, column: u32| text.lines.offset(&text.text, line as usize, column as usize);
        let place = span.map_or(TextRange { file, start: 0, end: 0 }, |s| TextRange {
            file,
            start: offset(s.line, s.column),
            end: offset(s.end_line, s.end_column).max(offset(s.line, s.column)),
        });
        report.findings.push(Finding {
            code: "max-steps",
            error: true,
            message: format!(
                "a call of `{}` may take {} steps, more than {max}",
                tool.name, tool.steps
            ),
            primary: (place, "this tool".into()),
            secondary: Vec::new(),
            help: Some(
                "`max-steps` in `guard.toml` is the bound; smaller `max` on collections costs less"
                    .into(),
            ),
            fix: None,
        });
    }
}

fn cost_table(output: &CompilerOutput) -> String {
    let mut tools: Vec<_> = output.plan.tools.iter().map(|t| (t.steps, t.name.as_str())).collect();
    tools.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let width = tools.iter().map(|(_, name)| name.len()).max().unwrap_or(0).max(4);
    let mut out = format!("\n{}: worst-case steps of one call\n", output.plan.guard);
    for (steps, name) in tools {
        let _ = writeln!(out, "  {name:width$}  {:>9}", thousands(steps));
    }
    out
}

/// Formats `12345` as `12,345`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
