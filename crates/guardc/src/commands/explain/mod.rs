//! `guardc explain`: explains a code, or the checks of a guard on each call.

pub mod codes;
mod origin;
mod tools;

use crate::failure::{CommandResult, Exit, Failure};
use crate::near;
use crate::plans;
use crate::term::Console;
use guard_compiler::verify::{Verification, verify};
use std::path::{Path, PathBuf};

/// Explains a code, or says in words what a guard checks on each call
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A code (`G0110`, `requires`), a guard or a plan
    #[arg(required_unless_present = "list")]
    pub what: Option<String>,
    /// Explain only this tool of the guard
    pub tool: Option<String>,
    /// List every code
    #[arg(long)]
    pub list: bool,
    /// For each argument of a recorded call: where the session had seen the value, who had taught
    /// it, and which rules read it
    #[arg(long, num_args = 2, value_names = ["TRACE", "CALL"], requires = "what", conflicts_with = "tool")]
    pub origin: Option<Vec<String>>,
    /// The file with the key of the trace's secrets
    #[arg(long, value_name = "FILE", requires = "origin")]
    pub key: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    if args.list {
        term.print(&list(term))?;
        return Ok(Exit::Fine);
    }
    let what = args.what.as_deref().unwrap_or_default();
    if let Some([trace, call]) = args.origin.as_deref() {
        let query = origin::Query { trace: Path::new(trace), call, key: args.key.as_deref() };
        return origin::run(Path::new(what), &query, term);
    }
    if let Some(page) = codes::page(what) {
        term.print(&painted(page, term))?;
        return Ok(Exit::Fine);
    }
    // A file of this name is meant before a code, since codes such as `limit` are ordinary words.
    if let Some((means, remedy)) = codes::reason(what).filter(|_| !Path::new(what).exists()) {
        let code = term.out.bold(what);
        term.print(&format!("{code}: {means}\n\nA reason of a verdict. {remedy}\n"))?;
        return Ok(Exit::Fine);
    }
    if what != "-" && !Path::new(what).exists() && !what.contains(['.', '/', '\\']) {
        return Err(unknown(what));
    }
    guard(Path::new(what), args.tool.as_deref(), term)
}

fn guard(path: &Path, tool: Option<&str>, term: &Console) -> CommandResult {
    let opened = plans::open(path, term)?;
    let plan = opened.plan();
    let tools: Vec<_> = match tool {
        None => plan.tools.iter().collect(),
        Some(name) => {
            let found: Vec<_> =
                plan.tools.iter().filter(|t| t.name == name || t.wire_name == name).collect();
            if found.is_empty() {
                let names = plan.tools.iter().map(|t| t.name.as_str());
                let failure = Failure::new(format!("`{}` declares no tool `{name}`", plan.guard));
                return Err(failure.maybe_help(near::did_you_mean(name, names)));
            }
            found
        }
    };
    let mut text = String::new();
    if tool.is_none() {
        text.push_str(&tools::overview(plan, &opened.hash_text(), term.out));
        text.push_str(&tools::elsewhere(&opened.sources().rewrites));
    }
    // Without proofs the plan omits no check; with proofs, their bases are computed again.
    let verification = if plan.proofs.is_empty() { Verification::default() } else { verify(plan) };
    for tool in tools {
        let rewrites = &opened.sources().rewrites;
        text.push_str(&tools::explain(plan, tool, rewrites, &verification, term.out));
    }
    term.print(text.trim_start_matches('\n'))?;
    Ok(Exit::Fine)
}

fn unknown(what: &str) -> Failure {
    let looks_like_code = what.len() <= 6
        && what.starts_with(['G', 'g'])
        && what[1..].bytes().all(|b| b.is_ascii_digit());
    let message = if looks_like_code {
        format!("there is no code `{what}`")
    } else {
        format!("`{what}` is not a code, a guard or a plan")
    };
    let names = codes::all().map(|(code, _)| code).chain(codes::reasons().map(|(name, _)| name));
    let near = near::did_you_mean(what, names);
    Failure::new(message)
        .help(near.unwrap_or_else(|| "`guardc explain --list` lists every code".into()))
}

fn list(term: &Console) -> String {
    let style = term.out;
    let mut out = format!("{}\n", style.bold("reasons of verdicts"));
    for (name, means) in codes::reasons() {
        out.push_str(&format!(
            "  {}{:pad$}  {means}\n",
            style.cyan(name),
            "",
            pad = 17 - name.len()
        ));
    }
    out.push_str(&format!("\n{}\n", style.bold("diagnostics")));
    for (code, page) in codes::all() {
        out.push_str(&format!("  {}  {}\n", style.cyan(code), codes::title(page)));
    }
    out
}

/// Formats a page with bold headings and dimmed code.
fn painted(page: &str, term: &Console) -> String {
    if !term.out.on {
        return format!("{}\n", page.trim_end());
    }
    let mut fenced = false;
    let mut out = String::new();
    for line in page.trim_end().lines() {
        let fence = line.starts_with("```");
        let shown = if fence {
            fenced = !fenced;
            continue;
        } else if fenced {
            term.out.cyan(&format!("    {line}"))
        } else if line.starts_with('#') {
            term.out.bold(line.trim_start_matches('#').trim())
        } else {
            line.to_owned()
        };
        out.push_str(&shown);
        out.push('\n');
    }
    out
}
