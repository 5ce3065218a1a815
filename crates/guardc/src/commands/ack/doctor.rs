//! `guardc ack doctor`: checks the wiring of an adapter before any case, in small steps, with a
//! hint for each failing step.

use crate::failure::{CommandResult, Exit};
use crate::term::Console;
use guard_ack::{Contestant, Played, case, clause, play, process};
use std::time::Duration;

/// Checks that an adapter can be started and answers, before any case
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command that starts the adapter, after `--`; no shell
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<String>,
    /// How long one step of the adapter may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
}

const HEAD: &str = r#"
clause = "GATE-1"
claim = "doctor"
needs = ["tool_policies"]
guard = "guard doctor\ntool ping()\ntool pong() { requires ping }"
"#;

/// The steps, in order: a name, the hint for a failure, the turns.
const STEPS: [(&str, &str, &str); 3] = [
    (
        "a loop that ends at once",
        "answer `run` when the model answers `stop`: with `ended` and the model's `output`",
        "[[turn]]\nstop = true\noutput = \"over\"\n[expect]\nexecuted = []\nended = \"stopped\"\n",
    ),
    (
        "one call that is allowed",
        "ask the guard about the call, run it with `tool.execute`, settle it, and show the result as a `tool` message with the call's id",
        "[[turn]]\ncalls = [{ id = \"a\", tool = \"ping\", result = \"pinged\" }]\n[[turn]]\nstop = true\n[expect]\nexecuted = [\"a\"]\nended = \"stopped\"\n",
    ),
    (
        "one call that is denied",
        "do not run it, show the guard's message as the answer to the call, and ask the model again",
        "[[turn]]\ncalls = [{ id = \"a\", tool = \"pong\" }]\n[[turn]]\nsees = [{ call = \"a\", has = \"requires `ping`\" }]\nstop = true\n[expect]\nexecuted = []\nended = \"stopped\"\n",
    ),
];

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let mut contestant = process::AdapterCommand::new(args.command.clone(), super::environment());
    contestant.patience = Duration::from_secs(args.timeout);
    for (number, (what, help, turns)) in STEPS.iter().enumerate() {
        let Ok(case) = case::parse("gate/doctor", &format!("{HEAD}{turns}"), 1) else { continue };
        let (played, seen) = play(&case, &contestant as &dyn Contestant, "doctor", 1, &|_| None);
        if number == 0 && !seen.declared.name.is_empty() {
            declared(&seen.declared, term)?;
        }
        let wrong = match played {
            Played::Judged(broken) if broken.is_empty() => {
                term.print(&format!("{}  {what}\n", term.out.green("works")))?;
                continue;
            }
            Played::Judged(broken) => broken
                .iter()
                .map(|promise| {
                    format!("  expected  {}\n  observed  {}", promise.expected, promise.observed)
                })
                .collect::<Vec<_>>()
                .join("\n"),
            Played::Errored(trouble) => format!("  {trouble}"),
            Played::Skipped(missing) => {
                format!("  it does not declare `{missing}`, which every case needs")
            }
        };
        term.print(&format!("{}  {what}\n{wrong}\n  help      {help}\n\n", term.out.red("wrong")))?;
        term.print(&format!("messages:\n  {}\n", seen.log.join("\n  ")))?;
        return Ok(Exit::Findings);
    }
    term.print("The wiring works: continue with `guardc ack run`.\n")?;
    Ok(Exit::Fine)
}

fn declared(
    said: &guard_ack::protocol::Declared,
    term: &Console,
) -> Result<(), crate::failure::Failure> {
    let (has, lacks): (Vec<&str>, Vec<&str>) = clause::capabilities()
        .iter()
        .map(|capability| capability.name)
        .partition(|name| said.has(name));
    // An adapter that accepts guards needs no plain policies.
    let is_lacking = |name: &&str| *name != "plain_policies" || !said.has("tool_policies");
    let lacks: Vec<&str> = lacks.into_iter().filter(is_lacking).collect();
    let list = |names: &[&str]| if names.is_empty() { "nothing".into() } else { names.join(", ") };
    let lacking = if lacks.is_empty() {
        String::new()
    } else {
        format!("\n  does not declare {}", list(&lacks))
    };
    term.print(&format!("{} {} declares {}{lacking}\n", said.name, said.version, list(&has)))
}
