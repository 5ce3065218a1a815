//! A session as a `test` block to paste into a guard.

use super::super::session::{Act, ExploredEnding, ExploredSession, START, SessionStep};
use super::{call, json, quoted, short, status};
use crate::analysis::reference::{Ask, Outline};
use crate::hir::Program;
use guard_plan::json::Json;
use guard_plan::time::format_rfc3339;
use guard_plan::verdict::Decision;
use guard_plan::words::duration;
use std::fmt::Write as _;

impl ExploredSession {
    /// A `test` block that plays the session and expects what was said of it.
    pub fn test_block(&self, program: &Program, title: &str) -> String {
        let mut out = format!("test {} {{\n", quoted(title));
        if let Some(data) = &self.data {
            let _ = writeln!(out, "  data {}", json(data));
        }
        if self.start != START {
            let _ = writeln!(out, "  at {}", quoted(&format_rfc3339(self.start)));
        }
        let mut known: Vec<(Ask, Json)> = Vec::new();
        for step in &self.steps {
            for (ask, answer) in &step.world {
                if !known.contains(&(ask.clone(), answer.clone())) {
                    known.retain(|(other, _)| other != ask);
                    known.push((ask.clone(), answer.clone()));
                    if let Some(said) = world_line(ask, answer, &step.world) {
                        let _ = writeln!(out, "  {said}");
                    }
                }
            }
            scenario(program, step, &mut out);
        }
        out + "}\n"
    }
}

fn world_line(ask: &Ask, answer: &Json, world: &[(Ask, Json)]) -> Option<String> {
    let yes = *answer == Json::Bool(true);
    Some(match ask {
        Ask::Exists(path) | Ask::File(path) => {
            // A file's content says that it is there.
            let holds = |(ask, is): &(Ask, Json)| {
                matches!(ask, Ask::Contains(of, _) if of == path) && *is == Json::Bool(true)
            };
            if world.iter().any(holds) {
                return None;
            }
            format!("{} {}", if yes { "exists" } else { "missing" }, quoted(short(path)))
        }
        Ask::Contains(path, text) if yes => {
            format!("file {} contains {}", quoted(short(path)), quoted(text))
        }
        Ask::Contains(..) => return None,
        Ask::Sha256(path) if *answer != Json::Null => format!("exists {}", quoted(short(path))),
        Ask::Text(path) if *answer == Json::Null => format!("missing {}", quoted(short(path))),
        Ask::Sha256(_) | Ask::Text(_) => return None,
        Ask::Probe(name) => format!("probe {name} = {}", json(answer)),
        Ask::Run(argv) => {
            let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
            let printed = match answer {
                Json::Array(parts) => parts.get(1).and_then(Json::as_str).unwrap_or_default(),
                _ => "",
            };
            let printed = match printed {
                "" => String::new(),
                text => format!(" contains {}", quoted(text)),
            };
            format!("command {} exits {}{printed}", words.join(" "), status(answer))
        }
        Ask::Committed => if yes { "git committed" } else { "git uncommitted" }.into(),
    })
}

fn scenario(program: &Program, step: &SessionStep, out: &mut String) {
    let said = &step.said;
    let text = match &step.act {
        Act::Call { id, tool, args, then } => {
            let call = call(program, tool, args);
            match (said.decision, then) {
                (Some(Decision::Allow), ExploredEnding::Succeeds(Some(result))) => {
                    format!("ok {call} as {} returns {}", name(id), json(result))
                }
                (Some(Decision::Allow), ExploredEnding::Succeeds(None)) => {
                    format!("ok {call} as {}", name(id))
                }
                (Some(Decision::Allow), ExploredEnding::Unreadable) => {
                    format!("ok {call} as {} undecoded", name(id))
                }
                (Some(Decision::Allow), ExploredEnding::Fails) => {
                    format!("fails {call} as {}", name(id))
                }
                (Some(Decision::Allow), ExploredEnding::Flies) => {
                    format!("start {} = {call}", name(id))
                }
                (Some(Decision::Ask), _) => format!("asks {call}"),
                (Some(Decision::Wait), _) => format!("waits {call}"),
                _ => {
                    let deny = |r: &&Outline| r.2 == Decision::Deny;
                    let code = said.reasons.iter().find(deny).map(|r| r.0);
                    let by = code.map_or_else(String::new, |c| format!(" by {}", c.as_str()));
                    format!("denied {call}{by}")
                }
            }
        }
        Act::Settle(id, ExploredEnding::Fails) => format!("finish {} fails", name(id)),
        Act::Settle(id, ExploredEnding::Unreadable) => format!("finish {} ok undecoded", name(id)),
        Act::Settle(id, _) => format!("finish {} ok", name(id)),
        Act::Approve { tool, args, role } => {
            format!("approve {} by {role}", call(program, tool, args))
        }
        Act::Wait(millis) => format!("after {}", duration(*millis)),
        Act::Prompt(text) => format!("prompt {}", quoted(text)),
        Act::Usage(unit, amount) => {
            format!("usage {} {unit}", guard_plan::decimal::format(*amount))
        }
        Act::Resume => "resume by operator".into(),
        Act::Verify(item) => format!("verify {}", quoted(item)),
        Act::Move(item, transition) => format!("move {} by {transition}", quoted(item)),
        Act::Stop => {
            let word = match said.decision {
                Some(Decision::Allow) if said.notes.iter().any(|n| n == "incomplete") => {
                    "incomplete"
                }
                Some(Decision::Allow) if !said.notes.is_empty() => "bypassed",
                Some(Decision::Allow) => "allowed",
                _ => "blocked",
            };
            format!("stop {word}")
        }
    };
    let _ = writeln!(out, "  {text}");
}

/// The id of a call as a name.
fn name(id: &str) -> String {
    id.replace('-', "_")
}
