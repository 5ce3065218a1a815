//! `guardc approvals`: the calls and the halted sessions that wait for a person, and the answers.

use crate::commands::hook::default_store;
use crate::failure::{CommandResult, Exit, Failure};
use crate::sessions::open_waiting;
use crate::term::{Console, count};
use guard_hooks::Vocabulary;
use guard_plan::record::{Payload, Record};
use guard_plan::time;
use guard_sdk::approvals::{
    ApprovalLog, GrantExtent, Granted, PendingApproval, RequestState, instant,
};
use guard_sdk::{Guard, Host, Session, Storage, system_time};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The maximum time to wait for a session that another process uses.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lists and answers what waits for a person: calls that need an approval, and halted sessions
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store of the sessions [default: guard in the user's state folder]
    #[arg(long, value_name = "PATH", global = true)]
    pub store: Option<PathBuf>,
    #[command(subcommand)]
    pub action: ApprovalAction,
}

/// The subcommand.
#[derive(Debug, clap::Subcommand)]
pub enum ApprovalAction {
    /// Lists the requests that wait
    List {
        /// List answered requests too
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows one request: the exact call, the rules and their values, the answers
    Show {
        /// The id of the request, or the beginning of the id
        request: String,
    },
    /// Grants a request: for one call within an hour, unless `--for` says otherwise
    Grant {
        /// The id of the request, or the beginning of the id
        request: String,
        /// The person who grants it
        #[arg(long, value_name = "NAME")]
        by: String,
        /// The role in which they grant it; needed if the call needs several roles
        #[arg(long, value_name = "ROLE")]
        role: Option<String>,
        /// Grant all identical calls during this time, such as `30m`
        #[arg(long = "for", value_name = "TIME", value_parser = crate::commands::hook::duration)]
        span: Option<std::time::Duration>,
    },
    /// Refuses a request; the agent reads why
    Reject {
        /// The id of the request, or the beginning of the id
        request: String,
        /// The person who refuses it
        #[arg(long, value_name = "NAME")]
        by: String,
        /// The reason
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Ends the halt of a session
    Resume {
        /// The session
        session: String,
        /// The guard or plan of the session
        #[arg(long, value_name = "FILE")]
        plan: PathBuf,
        /// The person who resumes it
        #[arg(long, value_name = "NAME")]
        by: String,
        /// The role in which they resume it
        #[arg(long, value_name = "ROLE")]
        role: String,
    },
    /// Takes the grants of a request back
    Revoke {
        /// The id of the request, or the beginning of the id
        request: String,
        /// The person who revokes it
        #[arg(long, value_name = "NAME")]
        by: String,
    },
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let storage = open(args)?;
    let approvals = storage.approvals()?;
    let now = system_time();
    let changed = match &args.action {
        ApprovalAction::List { all, json } => return list(&approvals, *all, *json, now, term),
        ApprovalAction::Show { request } => {
            let request = approvals.find(request)?;
            term.print(&shown(&request, now))?;
            return Ok(Exit::Fine);
        }
        ApprovalAction::Grant { request, by, role, span } => {
            not_an_agent()?;
            let millis =
                |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            let extent = span.map_or(GrantExtent::Once, |span| GrantExtent::For(millis(span)));
            approvals.grant(request, by, role.as_deref(), extent, now)
        }
        // An agent may refuse: this, like a revocation, only takes permissions away.
        ApprovalAction::Reject { request, by, reason } => {
            approvals.reject(request, by, reason, now)
        }
        ApprovalAction::Resume { session, plan, by, role } => {
            not_an_agent()?;
            resume(&storage, session, plan, by.trim(), role.trim())?;
            term.print(&format!("session {session} continues\n"))?;
            return Ok(Exit::Fine);
        }
        ApprovalAction::Revoke { request, by } => approvals.revoke(request, by, now),
    };
    let request = changed?;
    term.print(&line(&request, now))?;
    Ok(Exit::Fine)
}

fn open(args: &Args) -> Result<Storage, Failure> {
    let store = args.store.clone().map_or_else(default_store, Ok).map_err(Failure::new)?;
    if !store.exists() {
        return Err(Failure::new(format!("there is no store at `{}`", store.display())));
    }
    Ok(Storage::open(&store)?)
}

/// Ends the halt of a session, in the name of a person who is not its agent. Returns the reason if
/// that is not possible.
fn resume(storage: &Storage, name: &str, plan: &Path, by: &str, role: &str) -> Result<(), Failure> {
    if by.is_empty() || role.is_empty() {
        return Err(Failure::new("a resume must name a person and a role"));
    }
    if !storage.contains(name)? {
        return Err(Failure::new(format!("there is no session `{name}` in this store")));
    }
    let guard = Guard::from_file(plan)?;
    let open = || guard.session(name).storage(storage).open();
    let mut session = open_waiting(open, Instant::now() + PATIENCE).map_err(Failure::new)?;
    let actors = agents(&session, storage, name)?;
    if let Some(actor) = actors.iter().find(|actor| actor.trim().eq_ignore_ascii_case(by)) {
        let message = format!("`{actor}` is the agent of this session and may not resume it");
        return Err(Failure::new(message));
    }
    session.resume(role, by)?;
    Ok(())
}

/// Returns the names of a session's agent: the one in the opening record, and those of its requests.
fn agents(session: &Session<Host>, storage: &Storage, name: &str) -> Result<Vec<String>, Failure> {
    let first = session.records()?.first().and_then(|line| Record::parse(line).ok());
    let requests = storage.approvals()?.requests(Some(name))?;
    let mut agents: Vec<String> =
        requests.into_iter().filter_map(|request| request.actor).collect();
    match first.map(|record| record.payload) {
        Some(Payload::Open(open)) => agents.extend(open.actor.map(Cow::into_owned)),
        // The opening record of a compacted session is gone. If nothing else names the agent, it
        // could resume the session itself.
        _ if agents.is_empty() => {
            let message = format!("session `{name}` was compacted, and no record names its agent");
            return Err(Failure::new(message)
                .help("resume it in the host that opened it (`session.resume`)"));
        }
        _ => {}
    }
    Ok(agents)
}

/// Refuses to grant in a process that an agent has started: the asker may not grant.
fn not_an_agent() -> Result<(), Failure> {
    for host in Vocabulary::ALL {
        if let Some(mark) = host.marks.iter().find(|mark| std::env::var_os(mark).is_some()) {
            let message = format!(
                "this shell belongs to {} (`{mark}` is set), and an agent may not grant its own requests",
                host.title
            );
            return Err(Failure::new(message).help("grant from a terminal of your own"));
        }
    }
    Ok(())
}

fn list(approvals: &ApprovalLog, all: bool, json: bool, now: i64, term: &Console) -> CommandResult {
    let mut requests = approvals.requests(None)?;
    requests.retain(|request| all || request.waiting(now) == RequestState::Answer);
    if json {
        let requests: Vec<_> = requests.iter().map(|request| to_json(request, now)).collect();
        term.data(&format!("{}\n", serde_json::json!({ "requests": requests })))?;
        return Ok(Exit::Fine);
    }
    let lines: String = requests.iter().map(|request| line(request, now)).collect();
    let total = count(requests.len(), "request");
    let what = if all { "" } else { " waiting" };
    term.print(&format!("{lines}{total}{what}\n"))?;
    Ok(Exit::Fine)
}

fn line(request: &PendingApproval, now: i64) -> String {
    let PendingApproval { id, tool, args, session, .. } = request;
    let args = visible(&args.chars().take(120).collect::<String>());
    let (tool, session) = (visible(tool), visible(session));
    format!("{id}  {}  {tool} {args}  (session {session})\n", visible(&state(request, now)))
}

/// Describes the state of a request.
fn state(request: &PendingApproval, now: i64) -> String {
    match (request.waiting(now), &request.rejected) {
        (_, Some(answer)) => format!("refused by {}", answer.by),
        (RequestState::Call, None) => "granted".into(),
        (RequestState::Over, None) => "over".into(),
        (..) => format!("waits for {}", request.roles.join(" and ")),
    }
}

fn shown(request: &PendingApproval, now: i64) -> String {
    let mut out = format!("request  {}\n", request.id);
    let _ = writeln!(out, "state    {}", visible(&state(request, now)));
    let _ = writeln!(out, "session  {}", visible(&request.session));
    if let Some(actor) = &request.actor {
        let _ = writeln!(out, "agent    {}", visible(actor));
    }
    let _ = writeln!(out, "asked    {}", age(now, request.asked_at));
    let _ = writeln!(out, "call     {} {}", visible(&request.tool), visible(&request.args));
    for reason in &request.reasons {
        let _ = writeln!(out, "rule     {}: {}", visible(&reason.rule), visible(&reason.message));
        if let Some(span) = &reason.span {
            let _ = writeln!(out, "         at {}", visible(span));
        }
        for (name, value) in &reason.values {
            let _ = writeln!(out, "         {} = {}", visible(name), visible(value));
        }
    }
    for grant in &request.grants {
        let _ = writeln!(out, "grant    {}", visible(&granted(grant, now)));
    }
    if let Some(answer) = &request.rejected {
        let _ = writeln!(out, "refusal  by {}: {}", visible(&answer.by), visible(&answer.reason));
    }
    out
}

fn granted(grant: &Granted, now: i64) -> String {
    let extent = if grant.once {
        "for one call".to_owned()
    } else {
        format!("for {}", time::speak_duration(grant.until.saturating_sub(grant.at)))
    };
    let state = match &grant.revoked {
        Some(by) => format!("revoked by {by}"),
        None if grant.once && grant.used > 0 => "used".into(),
        None if now >= grant.until => "expired".into(),
        None => format!("used {}", count(grant.used as usize, "time")),
    };
    format!("by {} as {}, {extent}, {state}", grant.by, grant.role)
}

/// Returns the age of a time as text, in whole minutes. Both times are in milliseconds since 1970.
fn age(now: i64, at: i64) -> String {
    match now.saturating_sub(at) {
        age if age < 60_000 => "less than a minute ago".into(),
        age => format!("{} ago", time::speak_duration(age - age % 60_000)),
    }
}

fn to_json(request: &PendingApproval, now: i64) -> serde_json::Value {
    let grant = |grant: &Granted| {
        serde_json::json!({
            "by": grant.by, "role": grant.role, "once": grant.once, "used": grant.used,
            "at": instant(grant.at), "until": instant(grant.until), "revoked": grant.revoked,
        })
    };
    serde_json::json!({
        "id": request.id, "session": request.session, "tool": request.tool, "args": request.args,
        "roles": request.roles, "reasons": request.reasons, "agent": request.actor,
        "asked": instant(request.asked_at), "state": state(request, now),
        "grants": request.grants.iter().map(grant).collect::<Vec<_>>(),
        "refused": request.rejected.as_ref().map(|answer| {
            serde_json::json!({ "by": answer.by, "reason": answer.reason, "at": instant(answer.at) })
        }),
    })
}

/// Formats a text of an agent or a guard on one line, without characters that move the cursor.
fn visible(text: &str) -> String {
    crate::report::visible(text).replace(['\n', '\r', '\t'], " ")
}
