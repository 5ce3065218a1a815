//! `guardc drive`: lets a reasoner choose actions, and performs the allowed ones, until the goals
//! are reached.

mod io;
mod process;

use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::plans;
use crate::play::{START, WORKSPACE};
use crate::term::{Console, Style};
use guard_advice::drive::{Clock, DriveIo, DriveLimits, JsonLines, Reasoner, Scripted, Tools};
use guard_plan::drive::{DriveReport, End, Round, RoundOutcome};
use guard_plan::json::Json;
use guard_plan::render::cut;
use guard_plan::{decimal, time};
use guard_sdk::Guard;
use io::{Best, Dry, External, Granting, RealClock, SimulatedTools};
use process::Process;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// Drives a session: a reasoner chooses, the guard decides, tools run
///
/// Without `--reasoner` and `--script`, each round takes the best action that is ready. Without
/// `--tools`, no tool runs: every allowed call succeeds, and the clock moves only when the session
/// waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A guard or a plan
    pub file: PathBuf,
    /// A file of choices, one JSON object per line
    #[arg(long, value_name = "FILE", conflicts_with = "reasoner")]
    pub script: Option<PathBuf>,
    /// A program that reads one situation per line and writes one choice per line; spaces separate
    /// its arguments
    #[arg(long, value_name = "COMMAND")]
    pub reasoner: Option<String>,
    /// A program that reads one call per line, `{"tool", "args"}`, and writes `{"outcome",
    /// "result"}`
    #[arg(long, value_name = "COMMAND")]
    pub tools: Option<String>,
    /// The time limit of each choice, and of each tool run
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub timeout: String,
    /// The folder in which questions about files, commands and git are answered
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The answer of a probe, as JSON
    #[arg(long, value_name = "NAME=VALUE")]
    pub probe: Vec<String>,
    /// Approve every call that needs this role
    #[arg(long, value_name = "ROLE")]
    pub approve: Vec<String>,
    /// The most rounds
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub steps: u64,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let plan = plans::open(&args.file, term)?;
    let guard = Guard::from_plan(plan.clone())?;
    let patience = patience(&args.timeout)?;
    let mut reasoner = reasoner(args, patience)?;
    let mut tools: Box<dyn Tools> = match &args.tools {
        Some(command) => Box::new(External(Process::start(command, patience)?)),
        None => Box::new(Dry),
    };
    let mut clock: Box<dyn Clock> = match &args.tools {
        Some(_) => Box::new(RealClock),
        None => Box::new(SimulatedTools(time::parse_rfc3339(START).unwrap_or_default())),
    };
    if let Some(path) = args.workspace.as_deref().filter(|path| path.is_file()) {
        return Err(Failure::new(format!("the workspace `{}` is not a directory", path.display())));
    }
    known_roles(&args.approve, &plan)?;
    let mut approvals = Granting(&args.approve);
    let answers = probes(args, &plan)?;
    let mut session = match &args.workspace {
        Some(workspace) => guard.session("drive").workspace(workspace),
        None => guard.session("drive").root(WORKSPACE),
    };
    session = session.at(clock.now());
    let cannot = |why| Failure::new(format!("the guard cannot begin a session: {why}"));
    let mut session = session.open().map_err(cannot)?;
    session.answer_probes(answers).map_err(cannot)?;
    let mut io = DriveIo {
        reasoner: reasoner.as_mut(),
        tools: tools.as_mut(),
        clock: clock.as_mut(),
        approvals: &mut approvals,
    };
    let limits = DriveLimits { steps: args.steps, ..DriveLimits::default() };
    // An interrupted drive would otherwise leave the reasoner and the tools running.
    crate::signals::end_commands_with_us(true);
    let report = session.drive(&mut io, &limits);
    if args.json {
        term.data(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else {
        term.print(&words(&report, args, term.out))?;
    }
    // Without a reasoner, a stop before the goals is not a choice.
    let short = report.end == End::Stopped && unasked(args) && report.progress.is_some();
    let good = matches!(report.end, End::GoalReached | End::Stopped) && !report.incomplete;
    Ok(Exit::findings(!good || short))
}

/// Returns true if the best action is chosen automatically, so that no reasoner asks to stop.
fn unasked(args: &Args) -> bool {
    args.script.is_none() && args.reasoner.is_none()
}

fn patience(text: &str) -> Result<Duration, Failure> {
    time::parse_span(text).ok_or_else(|| {
        Failure::new(format!("`{text}` is not a duration"))
            .help("write one, such as `--timeout 30s`")
    })
}

fn reasoner(args: &Args, patience: Duration) -> Result<Box<dyn Reasoner>, Failure> {
    Ok(match (&args.script, &args.reasoner) {
        (Some(script), _) => {
            let text = files::read_text(script).map_err(|why| files::unreadable(script, &why))?;
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            Box::new(Scripted::new(lines.map(str::to_owned)))
        }
        (None, Some(command)) => {
            let Process { reader, writer } = Process::start(command, patience)?;
            Box::new(JsonLines::new(reader, writer))
        }
        (None, None) => Box::new(Best { approves: !args.approve.is_empty() }),
    })
}

fn probes(args: &Args, plan: &guard_plan::LoadedPlan) -> Result<Vec<(Box<str>, Json)>, Failure> {
    let mut probes = Vec::new();
    for probe in &args.probe {
        let Some((name, value)) = probe.split_once('=') else {
            return Err(Failure::new(format!("`{probe}` is not a probe with an answer"))
                .help("write `--probe NAME=VALUE`, such as `--probe healthy=true`"));
        };
        let known = || plan.plan().probes.iter().map(|probe| probe.name.as_str());
        if !known().any(|known| known == name) {
            return Err(Failure::new(format!("the guard declares no probe `{name}`"))
                .maybe_help(crate::near::did_you_mean(name, known())));
        }
        let value = Json::parse(value).map_err(|error| {
            Failure::new(format!("the answer of `{name}` is not JSON: {error}"))
                .help("strings are quoted: `--probe 'name=\"text\"'`")
        })?;
        probes.push((name.into(), value));
    }
    Ok(probes)
}

/// Checks that the guard asks the roles of the approvers.
fn known_roles(roles: &[String], plan: &guard_plan::LoadedPlan) -> Result<(), Failure> {
    let plan = plan.plan();
    // A gate accepts the approval of any role.
    if plan.tools.iter().any(|tool| tool.may_be_gated()) {
        return Ok(());
    }
    let approvals = plan.tools.iter().flat_map(|tool| &tool.approvals);
    let escalations = plan.lifecycles.iter().filter_map(|transition| transition.escalate.as_ref());
    let known: BTreeSet<&str> = approvals
        .map(|approval| approval.role.as_str())
        .chain(plan.limits.iter().filter_map(|limit| limit.ask.as_deref()))
        .chain(escalations.map(|escalation| escalation.role.as_str()))
        .collect();
    match roles.iter().find(|role| !known.contains(role.as_str())) {
        Some(role) => {
            Err(Failure::new(format!("the guard asks for no approval by the role `{role}`"))
                .maybe_help(crate::near::did_you_mean(role, known)))
        }
        None => Ok(()),
    }
}

/// The maximum length of a shown text, in characters.
const TEXT_CHARS: usize = 2000;

/// Formats the report, one line per round.
fn words(report: &DriveReport, args: &Args, style: Style) -> String {
    let mut out = String::new();
    if args.tools.is_none() {
        let _ = writeln!(out, "{}", style.dim("no `--tools`: every allowed call succeeds"));
    }
    for round in &report.rounds {
        let _ = writeln!(out, "{:>4}  {}", round.number, what(round, style));
        if let Some(why) = &round.invalid {
            let why = cut(why, TEXT_CHARS);
            let _ = writeln!(out, "      {} {why}", style.yellow("not as chosen:"));
        }
        for reason in round.proposed.iter().flat_map(|put| &put.reasons) {
            let (message, rule) = (cut(&reason.message, TEXT_CHARS), cut(&reason.rule, TEXT_CHARS));
            let _ = writeln!(out, "      {message} ({rule})");
        }
    }
    let progress = report
        .progress
        .map(|part| format!(", progress {}%", decimal::format(part.0.saturating_mul(100))));
    let incomplete = if report.incomplete { ", incomplete" } else { "" };
    let ended = match report.end {
        End::Stopped if unasked(args) => style.yellow("nothing is ready"),
        _ => ended(&report.end, style),
    };
    let _ = writeln!(out, "{ended}{}{incomplete}", progress.unwrap_or_default());
    for spent in &report.spent {
        let _ = writeln!(out, "  {} {} spent", decimal::format(spent.amount.0), spent.unit);
    }
    out
}

fn what(round: &Round, style: Style) -> String {
    let call = match &round.proposed {
        Some(put) => cut(&format!("{} {}", put.tool, put.args), TEXT_CHARS),
        None => cut(round.choice.as_deref().unwrap_or("nothing"), TEXT_CHARS),
    };
    let outcome = match &round.outcome {
        RoundOutcome::Succeeded => style.green("succeeded"),
        RoundOutcome::Failed(why) => {
            format!("{}: {}", style.red("failed"), cut(why, TEXT_CHARS))
        }
        RoundOutcome::Refused => style.red("refused"),
        RoundOutcome::NotApproved => style.yellow("not approved"),
        RoundOutcome::Waited(until) => format!("waited until {}", time::format_rfc3339(*until)),
        RoundOutcome::StopBlocked(what) => {
            format!("{}: {}", style.red("may not stop"), what.replace("\\n", "\n      "))
        }
        RoundOutcome::Stopped => style.green("stopped"),
        RoundOutcome::Nothing => style.yellow("nothing to do"),
    };
    format!("{call}  {outcome}")
}

fn ended(end: &End, style: Style) -> String {
    match end {
        End::GoalReached => style.green("every goal is reached"),
        End::Stopped => style.green("stopped as the reasoner asked"),
        End::BudgetExhausted => style.yellow("no action is affordable any more"),
        End::Deadline => style.yellow("the deadline has passed"),
        End::Halted => style.red("the session is halted"),
        End::Stuck => style.red("stuck: no progress for too long"),
        End::Failures => style.red("too many failures in a row"),
        End::InvalidChoices => style.red("too many invalid choices in a row"),
        End::StepLimit => style.yellow("the maximum number of rounds is reached"),
        End::Error(why) => format!("{} {why}", style.red("the kernel did not accept an event:")),
    }
}
