//! The reasoners, tools, clocks and approvals of a drive on the command line.

use super::process::Process;
use guard_advice::drive::{
    Approvals, Approved, Clock, Reasoner, Reply, Situation, ToolOutcome, Tools, Wanted,
};
use guard_plan::advice::{Action, Status};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// A reasoner that chooses the best action that is ready. If approvals are possible, it otherwise
/// chooses the best action that asks for one.
pub struct Best {
    /// True if approvals are possible.
    pub approves: bool,
}

impl Reasoner for Best {
    fn choose(&mut self, situation: &Situation<'_>) -> Reply {
        let advice = situation.advice;
        let asks = || {
            let asks = |action: &&Action| action.status == Status::Ask && action.args.is_some();
            advice.actions.iter().find(asks).filter(|_| self.approves)
        };
        Reply::Text(match advice.best().or_else(asks) {
            Some(action) => {
                let reasoning = "the most valuable action";
                let args = &action.args;
                json!({ "action": action.tool, "args": args, "reasoning": reasoning }).to_string()
            }
            None => json!({ "stop": true, "reasoning": "nothing is ready" }).to_string(),
        })
    }
}

/// Tools that run nothing.
pub struct Dry;

impl Tools for Dry {
    fn run(&mut self, _: &str, _: &Json) -> ToolOutcome {
        ToolOutcome::Success(None)
    }
}

/// The maximum length of a line that reports the ending of a call, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// Tools that run the calls in an external program.
pub struct External(pub Process);

impl External {
    fn exchange(&mut self, tool: &str, args: &Json) -> Result<ToolOutcome, String> {
        let cannot = |error: std::io::Error| {
            format!("cannot communicate with the program that runs the tools: {error}")
        };
        let mut line = json!({ "tool": tool, "args": args }).to_string();
        line.push('\n');
        let Process { reader, writer } = &mut self.0;
        writer.write_all(line.as_bytes()).and_then(|()| writer.flush()).map_err(cannot)?;
        let Some(answer) = reader.line(MAX_ANSWER).map_err(cannot)? else {
            return Err("the program that runs the tools has ended".into());
        };
        let answer = std::str::from_utf8(&answer).map_err(|_| "its answer is not UTF-8")?;
        let answer =
            Json::parse(answer).map_err(|error| format!("its answer is not JSON: {error}"))?;
        match answer.get("outcome") {
            Some(Json::String(word)) if **word == *"success" => {
                Ok(ToolOutcome::Success(answer.get("result").cloned()))
            }
            Some(Json::String(word)) if **word == *"failure" => {
                let said = answer.get("result").map(ToString::to_string);
                Ok(ToolOutcome::Failure(said.unwrap_or_default()))
            }
            _ => Err("its answer has no `outcome`, \"success\" or \"failure\"".into()),
        }
    }
}

impl Tools for External {
    fn run(&mut self, tool: &str, args: &Json) -> ToolOutcome {
        self.exchange(tool, args).unwrap_or_else(ToolOutcome::Failure)
    }
}

/// A clock that advances only by waiting.
pub struct SimulatedTools(pub Millis);

impl Clock for SimulatedTools {
    fn now(&mut self) -> Millis {
        self.0
    }

    fn wait_until(&mut self, at: Millis) {
        self.0 = self.0.max(at);
    }
}

/// The machine's clock.
pub struct RealClock;

impl Clock for RealClock {
    fn now(&mut self) -> Millis {
        guard_sdk::system_time()
    }

    fn wait_until(&mut self, at: Millis) {
        let left = u64::try_from(at.saturating_sub(self.now())).unwrap_or(0);
        std::thread::sleep(Duration::from_millis(left));
    }
}

/// Approvals that are granted for some roles.
pub struct Granting<'a>(pub &'a [String]);

impl Approvals for Granting<'_> {
    fn ask(&mut self, wanted: &Wanted<'_>) -> Option<Approved> {
        let granted = self.0.iter().any(|role| role == wanted.role);
        granted.then(|| Approved { by: "the command line".into(), expires: None })
    }
}
