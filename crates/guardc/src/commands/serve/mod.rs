//! `guardc serve`: the sidecar. Programs use it with JSON-RPC 2.0, one message per line, on
//! standard input and output.

mod answers;
mod requests;
mod rpc;
mod server;

use crate::failure::{Exit, Failure, Outcome, reason};
use crate::term::Term;
use guard_plan::lines::{Line, read_line, skip_line};
use guard_sdk::Durability;
use rpc::{Error, Request};
use serde_json::value::RawValue;
use server::{Server, StorageOptions};
use std::io::{self, BufReader, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Serves the sidecar protocol on standard input and output
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the trace of every session in this folder, a file each, or in this SQLite database
    #[arg(long, value_name = "PATH", visible_alias = "store")]
    pub journal: Option<PathBuf>,
    /// How durable a record is when it is answered: full, batch:N (milliseconds) or off
    #[arg(long, value_name = "LEVEL", default_value = "full", value_parser = durability)]
    #[arg(hide_default_value = true)]
    pub durability: Durability,
    /// The key that seals secrets and snapshots; made where it is missing, beside the traces unless named
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Have the plan as lowered decide beside the optimized one on every Nth decision
    #[arg(long, value_name = "1/N", value_parser = one_in)]
    pub shadow: Option<NonZeroU32>,
}

/// Parses the N of `1/N`.
fn one_in(text: &str) -> Result<NonZeroU32, String> {
    let every = text.strip_prefix("1/").and_then(|n| n.parse().ok());
    every.ok_or_else(|| "write it as `1/100`: one decision of a hundred".into())
}

/// Parses the name of a durability level.
fn durability(text: &str) -> Result<Durability, String> {
    let millis = |text: &str| text.parse().ok().map(Duration::from_millis);
    match text {
        "full" => Some(Durability::Full),
        "off" => Some(Durability::Off),
        "batch" => Some(Durability::Batch(Duration::from_millis(2))),
        other => other.strip_prefix("batch:").and_then(millis).map(Durability::Batch),
    }
    .ok_or_else(|| "it is one of `full`, `batch`, `batch:5` (milliseconds) and `off`".into())
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    if term.out_tty {
        term.note("guardc serves JSON-RPC 2.0, one object a line; the end of the input ends it");
    }
    crate::signals::end_commands_with_us();
    let (at, key) = (args.journal.clone(), args.key.clone());
    let mut server =
        Server::new(StorageOptions { at, durability: args.durability, key }, args.shadow);
    let mut input = BufReader::new(io::stdin().lock());
    loop {
        let line = read_line(&mut input, rpc::MAX_LINE).map_err(|e| unreadable(&e))?;
        let answer = match line {
            Line::End => return Ok(Exit::Fine),
            Line::TooLong => {
                skip_line(&mut input).map_err(|e| unreadable(&e))?;
                Some(rpc::answer(None, Err(Error::parse("the line is longer than 16 MiB"))))
            }
            Line::Whole(text) | Line::Open(text) if text.trim_ascii().is_empty() => None,
            Line::Whole(text) | Line::Open(text) => one(&mut server, &text),
        };
        if let Some(mut answer) = answer {
            answer.push('\n');
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(answer.as_bytes())
                .and_then(|()| stdout.flush())
                .map_err(|e| Failure::output(&e))?;
        }
    }
}

/// Processes one line; returns its answer, if one is expected.
fn one(server: &mut Server, line: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the line is not UTF-8, at byte {}", error.valid_up_to());
            return Some(rpc::answer(None, Err(Error::parse(message))));
        }
    };
    let raw: &RawValue = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            return Some(rpc::answer(
                None,
                Err(Error::parse(format!("the line is not JSON: {error}"))),
            ));
        }
    };
    if !raw.get().starts_with('{') {
        return Some(rpc::answer(
            None,
            Err(Error::request("a request is an object; batches are not taken")),
        ));
    }
    let request: Request = match serde_json::from_str(raw.get()) {
        Ok(request) => request,
        Err(error) => {
            return Some(rpc::answer(
                None,
                Err(Error::request(format!("the line is no request: {error}"))),
            ));
        }
    };
    let id = request.id.as_deref();
    let scalar = id.is_none_or(|id| !id.get().starts_with(['{', '[', 't', 'f']));
    if request.jsonrpc.as_deref() != Some("2.0") || !scalar {
        let message = "a request has `jsonrpc` \"2.0\" and an `id` that is a string or a number";
        return Some(rpc::answer(id.filter(|_| scalar), Err(Error::request(message))));
    }
    let Some(method) = &request.method else {
        return Some(rpc::answer(id, Err(Error::request("a request has a `method`"))));
    };
    let result = server.call(method, request.params.as_deref());
    request.id.as_deref().map(|id| rpc::answer(Some(id), result))
}

/// Standard input cannot be read.
fn unreadable(error: &io::Error) -> Failure {
    Failure::new(format!("cannot read standard input: {}", reason(error)))
}
