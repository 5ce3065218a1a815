//! `guardc mcp-proxy`: guards the tools of an MCP server for any client.
//!
//! The messages of client and server pass through the protocol ([`guard_mcp::McpProxy`]): over
//! standard input and output (`stdio`), or over HTTP (`http`). This file has the arguments and
//! everything that is done before the first message. Every failure ends the proxy and the server: nothing passes unguarded.

mod gate;
mod http;
mod liveness;
mod pipes;
mod stdio;

use crate::commands::hook::{default_store, duration};
use crate::failure::{CommandResult, Failure};
use crate::report::visible;
use crate::term::Console;
use gate::{GateOptions, SessionGate};
use guard_hosts::Background;
use guard_mcp::{DescriptionChange, McpProxy, ProxyOptions, ToolLock};
use guard_plan::hex;
use guard_sdk::{Guard, Storage, sources};
use liveness::Liveness;
pub use pipes::{PipeLine, read_line};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// The interval between checks of deadlines while calls are in flight.
const TICK: Duration = Duration::from_millis(20);

/// The time for the last answers to a client that reads slowly.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Guards the tools of an MCP server: the client starts this proxy in place of the server
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard, or the plan that was compiled from it
    #[arg(long, value_name = "FILE", visible_alias = "guard")]
    pub plan: PathBuf,
    /// The session of all calls [default: `guard/session` in a call's `_meta`, GUARD_SESSION, or a new one]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The store of the sessions: a folder, or an SQLite database [default: guard in the user's state folder]
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// The durability of a record before its call goes on: full (on disk), batch:N (on disk,
    /// together with others of N milliseconds) or off
    #[arg(long, value_name = "LEVEL", default_value = "full", hide_default_value = true)]
    #[arg(value_parser = crate::commands::serve::durability)]
    pub durability: guard_sdk::Durability,
    /// The workspace of new sessions [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The person for whom the client acts. The record names them, and they may not approve its calls
    #[arg(long, value_name = "NAME", default_value = "mcp-client")]
    pub actor: String,
    /// The lock of the server's tools [default: the plan's name with `.mcp.lock`, if it is there]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// The reaction to a changed description of a locked tool: ignore, warn or deny
    #[arg(long, value_name = "WHAT", default_value = "warn", value_parser = description_change)]
    pub on_description: DescriptionChange,
    /// Do not ask for approvals through the client: deny a call that needs one, and say how to
    /// approve it
    #[arg(long)]
    pub no_elicitation: bool,
    /// The time that a call waits for another call in flight
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub wait: Duration,
    /// The time that the server may take for a call; a report of progress restarts it
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub call_timeout: Duration,
    /// The time that a person may take for an answer
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    pub answer_timeout: Duration,
    /// The time to wait for a session that another process uses
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    pub deadline: Duration,
    /// The time that the server may keep working after the client has left
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub linger: Duration,
    /// The URL of a server that speaks Streamable HTTP; the proxy then listens for clients
    #[arg(long, value_name = "URL", value_parser = http::upstream, conflicts_with = "server")]
    pub upstream: Option<hyper::Uri>,
    /// With `--upstream`: the address on which the proxy listens [default: 127.0.0.1:8484]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "server")]
    pub listen: Option<SocketAddr>,
    /// With `--upstream`: accept requests from web pages of this origin, besides those of this
    /// machine
    #[arg(long, value_name = "ORIGIN", conflicts_with = "server")]
    pub allow_origin: Vec<String>,
    /// The server: a program and its arguments
    #[arg(last = true, required_unless_present = "upstream", value_name = "SERVER")]
    pub server: Vec<String>,
}

fn description_change(text: &str) -> Result<DescriptionChange, String> {
    match text {
        "ignore" => Ok(DescriptionChange::Ignore),
        "warn" => Ok(DescriptionChange::Warn),
        "deny" => Ok(DescriptionChange::Deny),
        _ => Err("it is one of `ignore`, `warn` and `deny`".into()),
    }
}

/// An event that ends the proxy, or a phase of it.
enum ProxyEvent {
    ClientEnded,
    ClientGone,
    ServerEnded,
    Stopped,
    Failed(String),
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let (gate, options) = prepare(args, term)?;
    let (events, event) = channel();
    end_on_signals(&events);
    if let Some(upstream) = &args.upstream {
        return http::serve(args, upstream, McpProxy::new(gate, options), event, term);
    }
    stdio::serve(args, McpProxy::new(gate, options), event, &events, term)
}

/// Performs all steps that can fail before the server is started.
fn prepare(args: &Args, term: &Console) -> Result<(SessionGate, ProxyOptions), Failure> {
    let guard = Guard::from_file(&args.plan)?;
    let store = args.store.clone().map_or_else(default_store, Ok).map_err(Failure::new)?;
    let storage = Storage::open_with(&store, args.durability, None)?;
    let token = random_token()?;
    let workspace = match &args.workspace {
        Some(workspace) => workspace.clone(),
        None => std::env::current_dir().map_err(|error| Failure::new(error.to_string()))?,
    };
    let named = std::env::var("GUARD_SESSION").ok().filter(|id| !id.is_empty());
    let unnamed = args.session.is_none() && named.is_none();
    let default_session = named.unwrap_or_else(|| format!("mcp-{token}"));
    if unnamed {
        term.note(&format!(
            "guard: calls that name no session are in the session {default_session}"
        ));
    }
    let options = ProxyOptions {
        wait: args.wait,
        call_time: args.call_timeout,
        answer_time: args.answer_timeout,
        elicits: !args.no_elicitation,
        lock: lock(args)?,
        on_description: args.on_description,
        token: token.clone(),
    };
    let gate = GateOptions {
        session: args.session.clone(),
        default_session,
        workspace,
        actor: args.actor.clone(),
        deadline: args.deadline,
        plan: args.plan.clone(),
        store: args.store.clone(),
        token,
        // The headers of a request may repeat an argument.
        transforms: args.upstream.is_none(),
    };
    let liveness = Liveness::begin(&store, &gate.token).map_err(|error| {
        let why = crate::failure::reason(&error);
        Failure::new(format!(
            "cannot write next to the store `{}`: {why}",
            sources::display(&store)
        ))
    })?;
    Ok((SessionGate::new(guard, storage, gate, liveness).map_err(Failure::new)?, options))
}

/// Returns the given lock, or the one beside the plan.
fn lock(args: &Args) -> Result<Option<ToolLock>, Failure> {
    let beside = lock_path(&args.plan);
    let path = match &args.lock {
        Some(path) => path,
        None if beside.exists() => &beside,
        None => return Ok(None),
    };
    let lock = sources::read_text(path).and_then(|text| ToolLock::read(&text));
    lock.map(Some).map_err(|why| {
        Failure::new(format!("the lock `{}` cannot be used: {why}", sources::display(path)))
            .help("`guardc import mcp` writes it")
    })
}

/// Returns the path of the lock beside a guard or plan: `agent.guard` and `agent.plan` have
/// `agent.mcp.lock`.
pub fn lock_path(plan: &Path) -> PathBuf {
    plan.with_extension("mcp.lock")
}

/// Starts a server.
///
/// # Errors
///
/// Returns an error if it cannot be started.
pub fn start(
    server: &[String],
) -> Result<(Background, std::process::ChildStdin, std::process::ChildStdout), Failure> {
    let [program, arguments @ ..] = server else {
        return Err(Failure::new("a server is a program and its arguments"));
    };
    Background::start(Command::new(program).args(arguments)).map_err(|error| {
        Failure::new(format!("cannot start `{program}`: {}", crate::failure::reason(&error)))
    })
}

/// Returns an unpredictable text.
fn random_token() -> Result<String, Failure> {
    let random = guard_sdk::random_bytes::<8>()?;
    Ok(hex::encode(&random))
}

fn note(text: &str) {
    let text: String = text.chars().take(2_000).collect();
    let _ = writeln!(io::stderr().lock(), "guard: {}", visible(&text).replace(['\n', '\r'], " "));
}

/// Ends the proxy in order when the process is asked to end, and immediately when it is asked
/// again.
#[cfg(unix)]
fn end_on_signals(events: &Sender<ProxyEvent>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    let events = events.clone();
    std::thread::spawn(move || {
        for (count, signal) in signals.forever().enumerate() {
            if count > 0 || events.send(ProxyEvent::Stopped).is_err() {
                guard_hosts::end_commands();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(2);
            }
        }
    });
}

/// Does nothing, because this system has no such signals.
#[cfg(not(unix))]
fn end_on_signals(_: &Sender<ProxyEvent>) {}
