//! An SMT solver as a process. It is asked over a pipe, one process answers all questions, and our
//! own time limit applies in addition to the solver's. The compiler uses its answers only as hints,
//! and trusts none of them.

use crate::failure::Failure;
use crate::files;
use crate::term::{Console, Progress};
use guard_compiler::CompilerOutput;
use guard_compiler::verify::smt::{OpenGoal, PROLOGUE};
use guard_plan::lines::read_text_line;
use guard_plan::plan::{Plan, Proof};
use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The solver's time limit for one question, in milliseconds.
const LIMIT: u64 = 5_000;
/// The additional time until the solver is killed.
const GRACE: Duration = Duration::from_secs(3);
/// The maximum length of a line of an answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// The result for an open goal.
pub enum SolverResult {
    /// The goal holds, and the prover has found a certificate with the solver's hint.
    Certified,
    /// The goal holds according to the solver alone.
    Holds,
    /// The goal does not follow. Contains a state and a call that can be replayed, if found.
    Fails(Option<String>),
    /// The solver gave no answer. Contains the reason.
    Unknown(String),
}

impl SolverResult {
    /// Returns identifiers for programs.
    pub fn words(&self) -> (&'static str, Option<&str>) {
        match self {
            SolverResult::Certified => ("certified", None),
            SolverResult::Holds => ("holds", None),
            SolverResult::Fails(model) => ("fails", model.as_deref()),
            SolverResult::Unknown(why) => ("unknown", Some(why)),
        }
    }
}

/// Writes the questions as files.
pub fn emit(folder: &Path, plan: &Plan, goals: &[OpenGoal]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|why| {
        Failure::new(format!("cannot write questions to `{}`: {why}", files::display(folder)))
    })?;
    for (at, goal) in goals.iter().enumerate() {
        let tool = &plan.tools[goal.tool as usize].name;
        let script = format!(
            "; Can `{tool}` break `{}`? `unsat` says that it cannot.\n{PROLOGUE}{}(check-sat)\n",
            goal.text,
            goal.assertions()
        );
        files::write_atomic(&folder.join(format!("{at:03}-{tool}.smt2")), script.as_bytes())?;
    }
    Ok(())
}

/// Asks about every goal.
pub fn ask_all(
    path: &Path,
    output: &CompilerOutput,
    goals: Vec<OpenGoal>,
    term: &Console,
) -> Result<Vec<(OpenGoal, SolverResult)>, Failure> {
    let mut progress = Progress::new(term, "asking the solver", goals.len());
    let mut solver: Option<Solver> = None;
    let mut solved = Vec::with_capacity(goals.len());
    for (at, goal) in goals.into_iter().enumerate() {
        progress.at(at, &goal.text);
        let mut asked = match solver.take() {
            Some(solver) => solver,
            None => Solver::start(path)?,
        };
        let said = match asked.ask(&goal) {
            Ok(answer) => {
                solver = Some(asked);
                weighed(output, &goal, answer)
            }
            // A process that died or does not answer is replaced for the next question.
            Err(why) => SolverResult::Unknown(why),
        };
        solved.push((goal, said));
    }
    Ok(solved)
}

/// Returns the proofs found with a solver's hints.
pub fn proofs(path: &Path, output: &CompilerOutput, term: &Console) -> Result<Vec<Proof>, Failure> {
    let goals = guard_compiler::verify::smt::open_goals(&output.plan);
    let mut proofs = Vec::new();
    let mut progress = Progress::new(term, "asking the solver", goals.len());
    let mut solver = Solver::start(path)?;
    for (at, goal) in goals.iter().enumerate() {
        progress.at(at, &goal.text);
        match solver.ask(goal) {
            Ok(SolverAnswer::Unsat(core)) => proofs.extend(goal.proof(&core)),
            Ok(_) => {}
            Err(_) => solver = Solver::start(path)?,
        }
    }
    Ok(proofs)
}

fn weighed(output: &CompilerOutput, goal: &OpenGoal, answer: SolverAnswer) -> SolverResult {
    match answer {
        SolverAnswer::Unsat(core) if goal.proof(&core).is_some() => SolverResult::Certified,
        SolverAnswer::Unsat(_) => SolverResult::Holds,
        SolverAnswer::Sat(model) => {
            let value = |var| model.get(&var).copied();
            SolverResult::Fails(goal.counterexample(&output.program, &output.plan, &value))
        }
        SolverAnswer::Unknown(why) => SolverResult::Unknown(why),
    }
}

enum SolverAnswer {
    /// The question is unsatisfiable. Contains the numbers of the relevant hypotheses.
    Unsat(Vec<u32>),
    Sat(HashMap<u32, i128>),
    Unknown(String),
}

struct Solver {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
}

impl Drop for Solver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Solver {
    fn start(path: &Path) -> Result<Solver, Failure> {
        let cvc5 = path.file_stem().is_some_and(|name| name.to_string_lossy().contains("cvc5"));
        let limit = if cvc5 { format!("--tlimit-per={LIMIT}") } else { format!("-t:{LIMIT}") };
        let arguments: &[&str] = if cvc5 {
            &["--incremental", "--lang=smt2", &limit]
        } else {
            &["-in", "-smt2", &limit]
        };
        let spawned = Command::new(path)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let shown = path.display();
        let mut child = spawned.map_err(|why| {
            let failure = Failure::new(format!("cannot start the solver `{shown}`: {why}"));
            failure.help(
                "`--solver z3` needs z3 on the search path; a path to z3 or cvc5 does as well",
            )
        })?;
        let (Some(mut to), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new(format!("the solver `{shown}` has no pipes")));
        };
        let (lines, from) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            // A longer line cannot contain a usable answer.
            while let Ok(Some(line)) = read_text_line(&mut out, MAX_ANSWER) {
                if lines.send(line).is_err() {
                    break;
                }
            }
        });
        // A write error appears when the question is asked.
        let _ = to.write_all(PROLOGUE.as_bytes());
        Ok(Solver { child, to, from })
    }

    fn ask(&mut self, goal: &OpenGoal) -> Result<SolverAnswer, String> {
        self.say(&format!("(push 1)\n{}(check-sat)\n", goal.assertions()))?;
        let answer = self.line()?;
        let answer = match answer.as_str() {
            "unsat" => {
                let core = self.reply("(get-unsat-core)")?;
                let names = core.split(|c: char| !c.is_ascii_alphanumeric());
                SolverAnswer::Unsat(sorted(
                    names.filter_map(|name| name.strip_prefix('h')?.parse().ok()),
                ))
            }
            "sat" => {
                let names: Vec<String> = goal.vars().iter().map(|var| format!("v{var}")).collect();
                SolverAnswer::Sat(model(
                    &self.reply(&format!("(get-value ({}))", names.join(" ")))?,
                ))
            }
            "unknown" => SolverAnswer::Unknown("it gave up within its time limit".into()),
            other => {
                return Err(format!(
                    "it answered `{}`",
                    other.chars().take(200).collect::<String>()
                ));
            }
        };
        self.say("(pop 1)\n")?;
        Ok(answer)
    }

    fn say(&mut self, text: &str) -> Result<(), String> {
        let said = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
        said.map_err(|why| format!("it does not read its input: {why}"))
    }

    fn line(&mut self) -> Result<String, String> {
        let limit = Duration::from_millis(LIMIT) + GRACE;
        match self.from.recv_timeout(limit) {
            Ok(line) => Ok(line.trim().to_owned()),
            Err(RecvTimeoutError::Timeout) => Err("it does not answer in time".into()),
            Err(RecvTimeoutError::Disconnected) => Err("it has ended".into()),
        }
    }

    /// Reads one complete parenthesized reply, over any number of lines.
    fn reply(&mut self, request: &str) -> Result<String, String> {
        self.say(&format!("{request}\n"))?;
        let mut reply = String::new();
        loop {
            reply.push_str(&self.line()?);
            reply.push(' ');
            let depth = reply.matches('(').count() as i64 - reply.matches(')').count() as i64;
            if depth <= 0 || reply.len() > 1 << 20 {
                return Ok(reply);
            }
        }
    }
}

fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Parses a model: `((v1 5) (v2 (- 3)))`.
fn model(reply: &str) -> HashMap<u32, i128> {
    let spaced = reply.replace(['(', ')'], " ");
    let mut words = spaced.split_whitespace().peekable();
    let mut model = HashMap::new();
    while let Some(word) = words.next() {
        let Some(var) = word.strip_prefix('v').and_then(|var| var.parse().ok()) else { continue };
        let negative = words.next_if_eq(&"-").is_some();
        if let Some(number) = words.next().and_then(|number| number.parse::<i128>().ok()) {
            model.insert(var, if negative { -number } else { number });
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models() {
        let model = model("((v1 5) (v12 (- 3)) (v2 0))");
        assert_eq!(model, HashMap::from([(1, 5), (12, -3), (2, 0)]));
        assert!(super::model("(error \"no\")").is_empty());
    }
}
