//! `guardc ack outage`: a sidecar whose guard fails at a chosen question, for cases about failing
//! guards.
//!
//! The process is between the adapter and `guardc serve`, and counts the questions. The kit starts
//! adapters with a script in place of `GUARDC` that runs it.

use crate::failure::{CommandResult, Exit, Failure};
use crate::options::named;
use guard_ack::process::OUTAGE;
use guard_ack::protocol::{self, MAX_LINE, OutageKind, Question};
use guard_plan::lines::read_text_line;
use serde_json::{Value, json};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs `guardc ARGS`, and fails when a call is proposed
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The number of the question at which it fails, from 1
    #[arg(long, value_name = "N")]
    pub at: u64,
    /// The questions that are counted
    #[arg(long, value_parser = named::<Question>, default_value = "propose")]
    pub on: Question,
    /// It fails only while this file is there
    #[arg(long = "while", value_name = "FILE")]
    pub marker: PathBuf,
    /// The way in which it fails
    #[arg(long, value_parser = named::<OutageKind>)]
    pub how: OutageKind,
    /// The arguments for `guardc`
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<String>,
}

/// Returns the method of the sidecar that asks a question.
fn method(question: Question) -> &'static str {
    match question {
        Question::Propose => "call.propose",
        Question::Settle => "call.settle",
        Question::Usage => "session.usage",
        Question::Stop => "session.stop",
        Question::Prompt => "session.prompt",
    }
}

/// Writes the script that starts a guard which fails. Returns its path.
///
/// # Errors
///
/// Returns an error if the script cannot be written.
pub fn script(folder: &Path, outage: &protocol::Outage) -> io::Result<String> {
    let binary = std::env::current_exe()?;
    let quoted = format!("'{}'", binary.to_string_lossy().replace('\'', "'\\''"));
    let marker = folder.join(OUTAGE);
    std::fs::write(&marker, "")?;
    let protocol::Outage { at, how, on, .. } = outage;
    let text = format!(
        "#!/bin/sh\nexec {quoted} ack outage --at {at} --how {how} --on {on} --while '{}' -- \"$@\"\n",
        marker.display()
    );
    let path = folder.join("guardc");
    std::fs::write(&path, text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(path.to_string_lossy().into_owned())
}

/// Runs the command.
pub fn run(args: &Args) -> CommandResult {
    let fail = |error: io::Error| Failure::output(&error);
    let binary = std::env::current_exe().map_err(fail)?;
    let mut command = Command::new(binary);
    command.args(&args.arguments);
    // An adapter may also ask for a version or compile a guard; only the sidecar is to fail.
    if args.arguments.first().is_none_or(|command| command != "serve") {
        let status = command.status().map_err(fail)?;
        return Ok(Exit::findings(!status.success()));
    }
    let mut guard = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(fail)?;
    let (Some(mut told), Some(answers)) = (guard.stdin.take(), guard.stdout.take()) else {
        return Err(Failure::new("the guard has no pipes"));
    };
    std::thread::spawn(move || {
        let mut answers = BufReader::new(answers);
        loop {
            match read_text_line(&mut answers, MAX_LINE) {
                Ok(Some(line)) if say(&line).is_ok() => {}
                Ok(_) => return,
                // The adapter would otherwise wait for ever.
                Err(error) => {
                    eprintln!("the guard's answer cannot be read: {error}");
                    std::process::exit(1);
                }
            }
        }
    });
    let mut asked = 0;
    let mut input = io::stdin().lock();
    while let Some(line) = read_text_line(&mut input, MAX_LINE).map_err(fail)? {
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        let is_counted = request["method"] == method(args.on);
        asked += u64::from(is_counted);
        let is_due = match args.how {
            OutageKind::ErrsOnce => is_counted && asked == args.at,
            OutageKind::Errs | OutageKind::Dies | OutageKind::Hangs => asked >= args.at,
        };
        // The kit removes the file where the case says that the outage is over.
        let is_down = is_due && args.marker.exists();
        match (is_down, args.how) {
            (false, _) => writeln!(told, "{line}").map_err(fail)?,
            (true, OutageKind::Errs | OutageKind::ErrsOnce) => {
                let error = json!({ "code": -32603, "message": "internal error" });
                let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
                say(&answer.to_string()).map_err(fail)?;
            }
            (true, OutageKind::Dies) => {
                let _ = guard.kill();
                return Ok(Exit::Findings);
            }
            // The process does not even see the end of its input, so the process that started it
            // must end it.
            (true, OutageKind::Hangs) => loop {
                std::thread::park();
            },
        }
    }
    drop(told);
    let _ = guard.wait();
    Ok(Exit::Fine)
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
