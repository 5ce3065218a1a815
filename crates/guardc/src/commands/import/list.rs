//! The request for the list of tools of a running server, in both protocol eras.

use crate::commands::mcp_proxy::{PipeLine, read_line, start};
use crate::failure::Failure;
use guard_hosts::Background;
use guard_plan::json::{Json, write_string};
use std::io::{BufReader, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// The maximum number of pages that are read.
const MAX_PAGES: usize = 1_000;

/// The metadata of a request without a handshake.
const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"guardc","version":"1"}}"#;

/// A server that is asked one question after another.
struct AskedServer {
    /// The process, which ends the server when it is dropped.
    _process: Background,
    input: ChildStdin,
    messages: Receiver<Json>,
    timeout: Duration,
    next: i64,
}

/// Starts a server and returns its tools.
pub fn of_server(server: &[String], timeout: Duration) -> Result<Vec<Json>, Failure> {
    let (process, input, output) = start(server)?;
    let (send, messages) = sync_channel(64);
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        while let Ok(line) = read_line(&mut reader) {
            match line {
                PipeLine::End => return,
                PipeLine::TooLong(_) => {}
                PipeLine::Whole(line) => {
                    // A server may print other text to its output; the answer is among the lines
                    // that are JSON.
                    if let Ok(json) = Json::parse_bytes(&line)
                        && send.send(json).is_err()
                    {
                        return;
                    }
                }
            }
        }
    });
    let mut server = AskedServer { _process: process, input, messages, timeout, next: 0 };
    let greeting = r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"guardc","version":"1"}"#;
    // A server of the newer era refuses the handshake, and expects the metadata with each request.
    let meta = match server.ask("initialize", greeting)?.get("result") {
        Some(_) => {
            server.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
            None
        }
        None => Some(MODERN),
    };
    server.tools(meta)
}

impl AskedServer {
    fn tools(&mut self, meta: Option<&str>) -> Result<Vec<Json>, Failure> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        // A hostile server could name a next page for ever.
        for _ in 0..MAX_PAGES {
            let mut params: Vec<String> = meta.map(str::to_owned).into_iter().collect();
            if let Some(cursor) = &cursor {
                let mut text = String::from("\"cursor\":");
                write_string(cursor, &mut text);
                params.push(text);
            }
            let answer = self.ask("tools/list", &params.join(","))?;
            let Some(page) = guard_mcp::definitions(&answer) else {
                let message = "the server does not list its tools";
                return Err(match answer.get("error") {
                    Some(error) => Failure::new(format!("{message}: {error}")),
                    None => Failure::new(message),
                });
            };
            tools.extend(page);
            let next = answer.get("result").and_then(|result| result.get("nextCursor"));
            match next.and_then(Json::as_str) {
                Some(next) => cursor = Some(next.to_owned()),
                None => return Ok(tools),
            }
        }
        Err(Failure::new("the server's list of tools has no end"))
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.input.write_all(format!("{line}\n").as_bytes());
        written.map_err(|_| Failure::new("the server does not read its input"))
    }

    /// Sends a request, and returns the response. Other messages are skipped.
    fn ask(&mut self, method: &str, params: &str) -> Result<Json, Failure> {
        self.next += 1;
        let id = self.next;
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#
        ))?;
        let until = Instant::now() + self.timeout;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).map_err(|_| {
                Failure::new(format!("the server did not answer `{method}`"))
                    .help("what it writes to standard error is above")
            })?;
            // A request of the server may have the same number, so a message with a method is no
            // answer.
            if message.get("id") == Some(&Json::Int(id)) && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }
}
