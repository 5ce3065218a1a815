//! `guardc ack report`: converts the reports of earlier runs to another format, with several
//! adapters side by side.

use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::term::Console;
use guard_ack::AckReport;
use guard_ack::report::{badge, html, json, junit, markdown, scoreboard, text};
use std::path::{Path, PathBuf};

/// Writes JSON reports of earlier runs in another form
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Reports that `guardc ack run --format json` wrote
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = KitReportFormat::Html)]
    pub format: KitReportFormat,
    /// Write the report to this file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The output format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum KitReportFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// JUnit XML, for build servers.
    Junit,
    /// For a pull request.
    Markdown,
    /// The matrix, one page.
    Html,
    /// A badge.
    Svg,
    /// Several adapters side by side, tier by tier.
    Scoreboard,
}

/// Formats reports. Only the page and the scoreboard combine several reports.
pub fn written(format: KitReportFormat, reports: &[(&AckReport, &str)]) -> String {
    let each = |write: &dyn Fn(&AckReport, &str) -> String| {
        reports
            .iter()
            .map(|(report, command)| write(report, command))
            .collect::<Vec<_>>()
            .join("\n")
    };
    match format {
        KitReportFormat::Text => each(&text::text),
        KitReportFormat::Json => {
            each(&|report, command| format!("{:#}\n", json::json(report, command)))
        }
        KitReportFormat::Junit => each(&junit::junit),
        KitReportFormat::Markdown => each(&markdown::markdown),
        KitReportFormat::Html => html::html(reports),
        KitReportFormat::Scoreboard => scoreboard::scoreboard(reports),
        KitReportFormat::Svg => each(&|report, _| badge::badge(report)),
    }
}

/// Reads a JSON report of an earlier run, and its command.
///
/// # Errors
///
/// Returns an error if the file is not a complete report.
pub fn read_report(path: &Path) -> Result<(AckReport, String), Failure> {
    let text = files::read_text(path).map_err(|why| files::unreadable(path, &why))?;
    let bad = |why| Failure::new(format!("`{}` is not a report: {why}", files::display(path)));
    json::read(&text).map_err(|why: String| bad(why))
}

/// Writes a report on standard output.
///
/// # Errors
///
/// Returns an error if the output cannot be written.
pub fn print(format: KitReportFormat, text: &str, term: &Console) -> Result<(), Failure> {
    if format == KitReportFormat::Text { term.print(text) } else { term.data(text) }
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let mut reports = Vec::new();
    for path in &args.files {
        reports.push(read_report(path)?);
    }
    let shown: Vec<(&AckReport, &str)> =
        reports.iter().map(|(report, command)| (report, command.as_str())).collect();
    let text = written(args.format, &shown);
    match &args.output {
        Some(path) => files::write_atomic(path, text.as_bytes())?,
        None => print(args.format, &text, term)?,
    }
    Ok(Exit::Fine)
}
