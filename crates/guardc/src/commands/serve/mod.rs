//! `guardc serve`: the sidecar. Programs use it with JSON-RPC 2.0, one message per line, on
//! standard input and output.

mod answers;
mod contract_methods;
mod deadlines;
mod dispatch;
mod feeds;
mod http;
mod limits;
mod log;
mod params;
mod plans;
mod pool;
mod requests;
mod retention;
mod rpc;
mod server;
mod session_methods;
mod stats;

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::term::Console;
use deadlines::{Deadlines, PendingAnswer};
use dispatch::counted_as;
use guard_plan::lines::{NextLine, read_line, skip_line};
use guard_sdk::Durability;
use limits::{SidecarLimits, shown};
use pool::Pool;
use rpc::{Request, RpcError};
use server::{Server, ServerOptions, StorageOptions};
use stats::Stats;
use std::io::{self, BufReader, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Serves the sidecar protocol on standard input and output
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard or plan of sessions that name none; `plan.reload` or a hang-up signal reloads it
    #[arg(long, value_name = "GUARD")]
    pub plan: Option<PathBuf>,
    /// Keep the trace of every session in this folder, one file each, or in this SQLite database
    #[arg(long, value_name = "PATH", visible_alias = "store")]
    pub journal: Option<PathBuf>,
    /// The durability of a record before its answer is sent: full (on disk), batch:N (on disk,
    /// together with others of N milliseconds) or off
    #[arg(long, value_name = "LEVEL", default_value = "full", value_parser = durability)]
    #[arg(hide_default_value = true)]
    pub durability: Durability,
    /// The key that seals secrets and snapshots; created if it is missing [default: the key beside
    /// the traces]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Compare every Nth decision with that of the plan before it was optimized
    #[arg(long, value_name = "1/N", value_parser = one_in)]
    pub shadow: Option<NonZeroU32>,
    /// Check the proved invariants again on one of N calls [default: 1/256]
    #[arg(long, value_name = "1/N|off", value_parser = sample)]
    pub recheck: Option<Sample>,
    /// The most requests that run at once, each of another session; with 1, all are answered in
    /// order
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: u16,
    #[command(flatten)]
    pub limits: SidecarLimits,
    #[command(flatten)]
    pub retention: retention::Args,
    /// Log to standard error, one JSON object per line
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub log: Option<log::LogLevel>,
    /// Serve OpenMetrics at this address: a port of this machine, or ADDRESS:PORT
    #[arg(long, value_name = "ADDRESS", value_parser = http::address)]
    pub metrics: Option<SocketAddr>,
}

/// Parses the N of `1/N`.
fn one_in(text: &str) -> Result<NonZeroU32, String> {
    let every = text.strip_prefix("1/").and_then(|n| n.parse().ok());
    every.ok_or_else(|| "write it as `1/100`: one decision of a hundred".into())
}

/// The rate at which calls have their proved invariants checked again: one of N calls, or none.
#[derive(Debug, Clone, Copy)]
pub struct Sample(Option<NonZeroU32>);

/// Parses `1/N` or `off`.
fn sample(text: &str) -> Result<Sample, String> {
    match text {
        "off" => Ok(Sample(None)),
        _ => one_in(text).map(|every| Sample(Some(every))),
    }
}

/// Parses the name of a durability level.
pub fn durability(text: &str) -> Result<Durability, String> {
    let millis = |text: &str| text.parse().ok().map(Duration::from_millis);
    match text {
        "full" => Some(Durability::Full),
        "off" => Some(Durability::Off),
        "batch" => Some(Durability::Batch(Duration::from_millis(2))),
        other => other.strip_prefix("batch:").and_then(millis).map(Durability::Batch),
    }
    .ok_or_else(|| "it is one of `full`, `batch`, `batch:5` (milliseconds) and `off`".into())
}

/// The exit code of a process whose main thread panics.
const PANICKED: i32 = 101;

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    if term.out_tty {
        term.note("guardc serves JSON-RPC 2.0, one object a line; the end of the input ends it");
    }
    crate::signals::end_commands_with_us(args.plan.is_none());
    let at = args.journal.clone();
    let key = args.key.clone();
    let storage = StorageOptions { at, durability: args.durability, key };
    let shadow = args.shadow;
    let limits = args.limits;
    let recheck = args.recheck.map(|sample| sample.0);
    let stats = Arc::new(Stats::default());
    if let Some(address) = args.metrics {
        let bound = http::serve(address, Arc::clone(&stats));
        let bound = bound.map_err(|error| {
            Failure::new(format!("cannot listen at {address}: {}", reason(&error)))
        })?;
        term.note(&format!("metrics at http://{bound}/metrics"));
    }
    let plan = args.plan.clone();
    let retention = args.retention.over(Config::discover(Path::new("."))?.retention);
    if retention.keep.is_some() && retention.older_than.is_none() {
        let help =
            "give the age too: `--prune-older-than 30d`, or `older-than` under `[retention]`";
        return Err(Failure::new("`keep` has no effect without an age").help(help));
    }
    let options = ServerOptions { plan, storage, shadow, recheck, limits, retention };
    let server = Arc::new(Server::new(options, Arc::clone(&stats)));
    // A sidecar whose store cannot be used does not start.
    server.storage(None).map_err(|error| Failure::new(error.message))?;
    retention::begin(&server);
    let watch = limits.max_request_time.map(|time| (Deadlines::start(), time));
    let failed = OnceLock::new();
    let service = Arc::new(Service { server, stats, level: args.log, limits, watch, failed });
    if args.plan.is_some() {
        // A sidecar whose guard cannot be used does not start either.
        let loaded = service.server.call("plan.reload", None);
        loaded.map_err(|error| Failure::new(error.message))?;
        let reloads = Arc::clone(&service);
        crate::signals::on_hang_up(move || reloads.reload());
    }
    let pool = (args.workers > 1)
        .then(|| Pool::new(usize::from(args.workers), || std::process::exit(PANICKED)));
    read_requests(&service, pool)?;
    match service.failed.get() {
        Some(kind) => Err(Failure::output(&io::Error::from(*kind))),
        None => Ok(Exit::Fine),
    }
}

/// Reads lines until the end of the input, and waits for the last answer.
fn read_requests(service: &Arc<Service>, mut pool: Option<Pool>) -> Result<(), Failure> {
    let mut input = BufReader::new(io::stdin().lock());
    let longest = usize::try_from(service.limits.max_request_size).unwrap_or(usize::MAX);
    while service.failed.get().is_none() {
        let line = read_line(&mut input, longest).map_err(|e| unreadable(&e))?;
        match line {
            NextLine::End => break,
            NextLine::TooLong => {
                // The rest of the line would be read as a request of its own.
                skip_line(&mut input).map_err(|e| unreadable(&e))?;
                let longest = shown(service.limits.max_request_size);
                let message = format!(
                    "the line is longer than {longest}; `--max-request-size` takes longer ones"
                );
                let error = RpcError { code: "request_too_large", ..RpcError::request(message) };
                service.stats.answered("other", Some(error.code), Duration::ZERO);
                service.write(rpc::answer(None, Err(error)));
            }
            NextLine::Whole(text) | NextLine::Open(text) if text.trim_ascii().is_empty() => {}
            NextLine::Whole(text) | NextLine::Open(text) => match (rpc::read(&text), &mut pool) {
                (Err(answer), _) => service.write(answer),
                (Ok(request), None) => {
                    let turn = service.watched(&request);
                    service.answer(&request, &turn);
                }
                (Ok(request), Some(pool)) => {
                    let turn = service.watched(&request);
                    let service = Arc::clone(service);
                    let queue = request.queue();
                    let job = Box::new(move || service.answer(&request, &turn));
                    pool.submit(queue, job).map_err(|error| {
                        Failure::new(format!("cannot start a thread: {}", reason(&error)))
                    })?;
                }
            },
        }
    }
    if let Some(pool) = pool {
        pool.finish();
    }
    Ok(())
}

/// The state that the workers share.
struct Service {
    server: Arc<Server>,
    stats: Arc<Stats>,
    level: Option<log::LogLevel>,
    limits: SidecarLimits,
    /// The time limit of requests, and the thread that checks it.
    watch: Option<(Arc<Deadlines>, Duration)>,
    /// The reason why answers can no longer be written.
    failed: OnceLock<io::ErrorKind>,
}

impl Service {
    /// Loads the guard again after a signal. The result is printed on standard error.
    fn reload(&self) {
        let begun = Instant::now();
        let result = self.server.call("plan.reload", None);
        let error = result.as_ref().err();
        let took = begun.elapsed();
        self.stats.answered("plan.reload", error.map(|error| error.code), took);
        log::request(log::LogLevel::Info, "plan.reload", None, error, took);
    }

    /// Starts the time limit of a request.
    fn watched(self: &Arc<Service>, request: &Request) -> Arc<PendingAnswer> {
        let turn = Arc::<PendingAnswer>::default();
        if let Some((watch, time)) = &self.watch {
            let service = Arc::clone(self);
            let time = *time;
            let id = request.id.clone();
            let method = request.method().to_owned();
            let session = request.session();
            let late = Box::new(move |begun: bool| {
                let error = timed_out(time, begun);
                service.stats.answered(counted_as(&method), Some(error.code), time);
                if let Some(level) = service.level {
                    log::request(level, &method, session.as_deref(), Some(&error), time);
                }
                if let Some(id) = id.as_deref() {
                    service.write(rpc::answer(Some(id), Err(error)));
                }
            });
            watch.add(time, Arc::clone(&turn), late);
        }
        turn
    }

    /// Runs a request, and writes its answer if one is expected.
    fn answer(&self, request: &Request, turn: &PendingAnswer) {
        // The client has been told that the request will not run.
        if !turn.begin() {
            return;
        }
        let begun = Instant::now();
        let method = request.method();
        let params = request.params.as_deref();
        let result = self.server.call(method, params);
        // The client has an answer already, and a second one with the same id would break the
        // protocol.
        if turn.answer().is_none() {
            return;
        }
        let code = result.as_ref().err().map(|error| error.code);
        let took = begun.elapsed();
        self.stats.answered(counted_as(method), code, took);
        if let Some(level) = self.level {
            log::request(level, method, request.session().as_deref(), result.as_ref().err(), took);
        }
        if let Some(id) = request.id.as_deref() {
            self.write(rpc::answer(Some(id), result));
        }
    }

    fn write(&self, mut answer: String) {
        answer.push('\n');
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush());
        if let Err(error) = written {
            let _ = self.failed.set(error.kind());
        }
    }
}

/// Returns the error of a request that took too long.
fn timed_out(time: Duration, begun: bool) -> RpcError {
    let seconds = time.as_secs_f64();
    let what = if begun {
        "it continues, but its answer is not sent: the trace records what it does"
    } else {
        "it was not started and will not run"
    };
    let message =
        format!("the request took longer than {seconds} s (`--max-request-time`): {what}");
    RpcError::failed("timed_out", message).with("begun", begun.into())
}

/// Returns the failure that standard input cannot be read.
fn unreadable(error: &io::Error) -> Failure {
    Failure::new(format!("cannot read standard input: {}", reason(error)))
}
