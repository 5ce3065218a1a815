//! `guardc doctor`: checks whether the hook of a host would decide, and would block if it cannot
//! decide. Each finding has a remedy.

use crate::commands::hook::line::HookLine;
use crate::commands::hook::{default_store, host};
use crate::commands::install::{SettingsPlace, TIMEOUT, read};
use crate::failure::{CommandResult, Exit, reason};
use crate::files;
use crate::term::{Console, count};
use guard_hooks::settings::{self, InstalledHook};
use guard_hooks::{TimeUnit, Vocabulary};
use guard_plan::time;
use guard_sdk::{Guard, Storage, system_time};
use guard_trace::draft::{DraftFile, SHARED};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Checks that the hooks of coding agents are installed, fail closed, and can use their guard and
/// store
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agents [default: those whose settings have a hook]
    #[arg(value_parser = host)]
    pub hosts: Vec<&'static Vocabulary>,
    #[command(flatten)]
    pub place: SettingsPlace,
    /// Do not start the agent to ask for its version
    #[arg(long)]
    pub no_version: bool,
}

/// One result of a check: the observation, and the remedy if it is a problem.
struct DoctorFinding {
    text: String,
    repair: Option<String>,
}

/// The findings about one host.
#[derive(Default)]
struct DoctorFindings(Vec<DoctorFinding>);

impl DoctorFindings {
    fn fine(&mut self, text: impl Into<String>) {
        self.0.push(DoctorFinding { text: text.into(), repair: None });
    }

    fn problem(&mut self, text: impl Into<String>, repair: impl Into<String>) {
        self.0.push(DoctorFinding { text: text.into(), repair: Some(repair.into()) });
    }
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let mut problems = 0;
    let mut hosts = args.hosts.clone();
    if hosts.is_empty() {
        for host in Vocabulary::ALL {
            let text = read(&args.place.path(host)?)?;
            let found = settings::installed(host, &text);
            hosts.extend(found.map_or(true, |found| !found.is_empty()).then_some(host));
        }
    }
    if hosts.is_empty() {
        term.print("no hook is installed here\n  repair: guardc install HOST --plan FILE\n")?;
        return Ok(Exit::Findings);
    }
    for host in hosts {
        let mut findings = DoctorFindings::default();
        check(host, args, &mut findings)?;
        term.print(&format!("{}\n", term.out.bold(host.title)))?;
        for DoctorFinding { text, repair } in &findings.0 {
            let mark = if repair.is_none() { "ok     " } else { "problem" };
            term.print(&format!("  {mark}  {text}\n"))?;
            if let Some(repair) = repair {
                problems += 1;
                term.print(&format!("           repair: {repair}\n"))?;
            }
        }
    }
    term.print(&format!("{}\n", count(problems, "problem")))?;
    Ok(Exit::findings(problems > 0))
}

fn check(
    host: &'static Vocabulary,
    args: &Args,
    findings: &mut DoctorFindings,
) -> Result<(), crate::failure::Failure> {
    clock(findings);
    if !args.no_version {
        version(host, findings);
    }
    let path = args.place.path(host)?;
    let name = files::display(&path);
    let again = format!("guardc install {} --plan FILE", host.name);
    let hooks = match settings::installed(host, &read(&path)?) {
        Ok(hooks) => hooks,
        Err(why) => {
            findings
                .problem(format!("{name}: {why}"), "correct the file, then install the hook again");
            return Ok(());
        }
    };
    if hooks.is_empty() {
        findings.problem(format!("{name} has no hook"), again);
        return Ok(());
    }
    registered(host, &hooks, &name, &again, findings);
    closed(host, &hooks, &again, findings);
    let mut lines: Vec<&str> = hooks.iter().map(InstalledHook::command).collect();
    // A line is registered for several events, one after another, and is examined once.
    lines.dedup();
    for text in lines {
        match HookLine::read(text, host) {
            Some(line) => {
                program(&line, &again, findings);
                plan(&line, findings);
                store(&line, findings);
            }
            None => findings.problem(
                format!("the command line is not one of `guardc install`: {text}"),
                &*again,
            ),
        }
    }
    Ok(())
}

/// Checks that the hook is installed for every relevant event.
fn registered(
    host: &Vocabulary,
    hooks: &[InstalledHook],
    name: &str,
    again: &str,
    findings: &mut DoctorFindings,
) {
    let here = |event: &str, matcher: Option<&str>| {
        hooks.iter().any(|hook| hook.event == event && hook.matcher.as_deref() == matcher)
    };
    let missing = host.registered.iter().filter(|(event, matcher)| !here(event, *matcher));
    let missing: Vec<&str> = missing.map(|(event, _)| *event).collect();
    if missing.is_empty() {
        findings.fine(format!("installed in {name} for {}", count(host.registered.len(), "event")))
    } else {
        findings
            .problem(format!("{name} has no hook for every call at {}", missing.join(", ")), again)
    }
    if hooks.len() > host.registered.len() {
        findings.problem(format!("{name} has the hook more than once for an event"), again);
    }
}

/// Checks that a failure of the hook blocks, and that the host waits longer than the hook.
fn closed(
    host: &'static Vocabulary,
    hooks: &[InstalledHook],
    again: &str,
    findings: &mut DoctorFindings,
) {
    let shell = |hook: &InstalledHook| {
        HookLine::read(hook.command(), host).is_some_and(|line| line.guarded || !cfg!(unix))
    };
    let members = |hook: &InstalledHook| {
        host.fail_closed.iter().all(|(name, value)| hook.hook[*name].as_str() == Some(value))
    };
    let unit = match host.time_unit {
        TimeUnit::Seconds => 1,
        TimeUnit::Milliseconds => 1000,
    };
    let waits = |hook: &InstalledHook| {
        hook.hook["timeout"].as_u64().is_some_and(|limit| limit >= TIMEOUT * unit)
    };
    let before = findings.0.len();
    if !hooks.iter().all(shell) {
        findings.problem("a hook that is missing or killed lets calls pass", again);
    }
    if !hooks.iter().all(members) {
        let names: Vec<&str> = host.fail_closed.iter().map(|(name, _)| *name).collect();
        findings
            .problem(format!("`{}` does not make the host fail closed", names.join("`, `")), again);
    }
    if !hooks.iter().all(waits) {
        findings.problem("the host may give up before the hook does, and let the call pass", again);
    }
    if findings.0.len() == before {
        findings.fine("a hook that fails blocks");
    }
}

/// Checks that the program of the hook can be started.
fn program(line: &HookLine, again: &str, findings: &mut DoctorFindings) {
    let name = line.guardc.display();
    if !line.guardc.is_file() {
        findings.problem(format!("`{name}` is not there: every event is blocked"), again);
        return;
    }
    let ours = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    if std::fs::canonicalize(&line.guardc).ok() == ours {
        findings.fine(format!("the hook is this program, version {}", env!("CARGO_PKG_VERSION")))
    } else {
        findings.problem(format!("the hook is a different program, `{name}`"), again)
    }
}

/// Checks that the guard can be used, and that a plan is not older than its guard.
fn plan(line: &HookLine, findings: &mut DoctorFindings) {
    let name = files::display(&line.plan);
    match Guard::from_file(&line.plan) {
        Ok(guard) => {
            let tools = count(guard.plan().tools.len(), "tool");
            findings.fine(format!("{name} is the guard `{}` with {tools}", guard.name()));
        }
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().take(2).collect::<Vec<_>>().join(" ");
            findings.problem(
                format!("the guard cannot be used: {first}"),
                format!("guardc check {name}"),
            );
        }
    }
    let source = line.plan.with_extension("guard");
    let changed = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
    // A missing source has no time, which is less than every time.
    if source != line.plan && changed(&source) > changed(&line.plan) {
        let source = files::display(&source);
        findings.problem(
            format!("{source} has changed since {name} was compiled"),
            format!("guardc compile {source} -o {name}"),
        );
    }
}

/// Checks that sessions can be stored.
fn store(line: &HookLine, findings: &mut DoctorFindings) {
    let store = match line.store.clone().map_or_else(default_store, Ok) {
        Ok(store) => store,
        Err(why) => {
            return findings.problem(why, "set HOME for the host, or install with `--store`");
        }
    };
    let name = files::display(&store);
    let sessions = Storage::open(&store).and_then(|storage| {
        let sessions = storage.store().sessions()?;
        Ok((storage, sessions))
    });
    let (storage, sessions) = match sessions {
        Ok(found) => found,
        Err(error) => {
            return findings.problem(
                format!("the store cannot be used: {error}"),
                format!("make `{name}` a folder that you can write"),
            );
        }
    };
    if store.is_dir() {
        // Permissions, quotas and read-only mounts are known only after an attempt.
        if let Err(error) = DraftFile::beside(&store.join("probe"), SHARED) {
            return findings.problem(
                format!("the store `{name}` cannot be written: {}", reason(&error)),
                format!("make `{name}` a folder that you can write"),
            );
        }
    }
    match storage.approvals().map(|approvals| approvals.requests(None)) {
        Ok(Err(error)) => findings.problem(
            format!("the requests for approval cannot be used: {error}"),
            "find out who changed the file; move it away to begin with an empty one",
        ),
        _ => findings
            .fine(format!("the store {name} can be written; {}", count(sessions.len(), "session"))),
    }
}

/// Checks that deadlines and approvals can rely on the system's clock.
fn clock(findings: &mut DoctorFindings) {
    let now = system_time();
    // The year of this version of Guard, and a time after its expected use.
    let sane = time::parse_rfc3339("2025-01-01T00:00:00Z").unwrap_or_default()
        ..time::parse_rfc3339("2100-01-01T00:00:00Z").unwrap_or(i64::MAX);
    if sane.contains(&now) {
        findings.fine("the clock is plausible")
    } else {
        findings.problem(
            format!("the clock shows {}", time::format_rfc3339(now)),
            "set the system's clock: deadlines and approvals depend on it",
        )
    }
}

/// Checks that the host's version was tested.
fn version(host: &Vocabulary, findings: &mut DoctorFindings) {
    let known = host.versions.join(", ");
    match ask_version(host.program) {
        Some(version) if host.versions.iter().any(|known| is_version(&version, known)) => {
            findings.fine(format!("{} {version} is known", host.title));
        }
        Some(version) => findings.problem(
            format!(
                "{} {version} was not tried with this version of Guard ({known} were)",
                host.title
            ),
            "try a call that the guard denies, and see that it does not run",
        ),
        None => findings.problem(
            format!("`{} --version` gives no version", host.program),
            format!(
                "put `{}` on the path, or leave the check out with `--no-version`",
                host.program
            ),
        ),
    }
}

/// Returns true if a version is a known one or begins with a known one: `2.1.330` is `2.1`.
fn is_version(version: &str, known: &str) -> bool {
    version.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the first version in the output of a program, within five seconds.
fn ask_version(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // A host may open a login or an update on start, and then never end.
    let until = Instant::now() + Duration::from_secs(5);
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut text = String::new();
    child.stdout.take()?.take(10_000).read_to_string(&mut text).ok()?;
    let word =
        text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(word.trim_matches(|c: char| !c.is_ascii_digit()).to_owned())
}
