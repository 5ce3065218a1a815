//! A running sidecar, asked line by line.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The process of `guardc serve`; dropped, it is killed as `kill -9` does it.
pub struct Sidecar {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Sidecar {
    /// Starts a command that serves.
    pub fn start(command: &mut Command) -> Sidecar {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("guardc runs");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Sidecar { process, input, output }
    }

    /// Sends a line; returns that of the answer, nothing where the process has ended.
    pub fn line(&mut self, line: &str) -> String {
        let mut answer = String::new();
        let _ = writeln!(self.input, "{line}").and_then(|()| self.output.read_line(&mut answer));
        answer
    }

    /// Calls a method; returns the result or the error, `null` where the process has ended.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.line(&request.to_string());
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        answer.get("result").or(answer.get("error")).cloned().unwrap_or_default()
    }
}
