//! `guardc render`: a guard as documentation or diagram.

mod docs;
mod graph;

use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::plans;
use crate::term::Console;
use guard_plan::LoadedPlan;
use std::path::{Path, PathBuf};

/// Writes a guard as a prompt, as documentation or as a drawing
#[derive(Debug, clap::Args)]
pub struct Args {
    /// As what.
    #[command(subcommand)]
    pub what: RenderedView,
}

/// The forms in which a guard is rendered.
#[derive(Debug, clap::Subcommand)]
pub enum RenderedView {
    /// Writes the text that an agent should read before it begins
    Prompt(Files),
    /// Writes a reference for people, in Markdown
    Docs(Files),
    /// Draws the tools, what they depend on and what gates them
    Graph {
        /// From where, and to where.
        #[command(flatten)]
        files: Files,
        /// The format of the drawing [default: by the ending of OUT; `svg` on standard output]
        #[arg(long, value_enum)]
        format: Option<DrawingFormat>,
    },
}

/// The input and the output of a rendering.
#[derive(Debug, clap::Args)]
pub struct Files {
    /// A guard or a plan; `-` is a guard on standard input
    pub file: PathBuf,
    /// Write to this file; `-` is standard output [default: -]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// The two forms of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DrawingFormat {
    /// A picture, for browsers and pages.
    Svg,
    /// Text for Graphviz.
    Dot,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    match &args.what {
        RenderedView::Prompt(files) => render(files, term, |plan| guard_advice::guide(plan.plan())),
        RenderedView::Docs(files) => render(files, term, docs::docs),
        RenderedView::Graph { files, format } => {
            let drawing = match format.map_or_else(|| by_name(files), Ok)? {
                DrawingFormat::Svg => graph::svg,
                DrawingFormat::Dot => graph::dot,
            };
            render(files, term, |plan| drawing(plan.plan()))
        }
    }
}

/// Returns the form that the output's file name implies.
fn by_name(files: &Files) -> Result<DrawingFormat, Failure> {
    let out = files.output.as_deref().unwrap_or(Path::new("-"));
    let extension = out.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        None | Some("svg") => Ok(DrawingFormat::Svg),
        Some("dot" | "gv") => Ok(DrawingFormat::Dot),
        Some(other) => {
            let shown = files::display(out);
            let help = "name it `.svg` or `.dot`, or choose with `--format svg` or `--format dot`";
            Err(Failure::new(format!("`{shown}`: a drawing cannot be written as `{other}`"))
                .help(help))
        }
    }
}

/// Opens the guard or plan, and writes the rendering. A guard with errors is not rendered.
fn render(files: &Files, term: &Console, what: impl Fn(&LoadedPlan) -> String) -> CommandResult {
    let plan = plans::open(&files.file, term)?;
    let text = what(&plan);
    match files.output.as_deref().filter(|out| out.as_os_str() != "-") {
        None => term.data(&text)?,
        Some(out) if files::same(out, &files.file) => {
            let shown = files::display(out);
            return Err(Failure::new(format!("`{shown}` would overwrite the guard itself")));
        }
        Some(out) => files::write_atomic(out, text.as_bytes())?,
    }
    Ok(Exit::Fine)
}
