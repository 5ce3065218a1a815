//! The effect of each line of an interactive session.

use super::call::{self, Typed};
use crate::commands::test::reason_lines;
use crate::failure::Failure;
use crate::near;
use crate::play::Play;
use crate::term::Style;
use guard_plan::json::Json;
use guard_plan::record::{Delivered, NoteKind, rendered};
use guard_plan::time;
use guard_plan::verdict::{Decision, Verdict};
use guard_plan::words::{self, duration};
use guard_sdk::Guard;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The result of a line.
pub enum LineResult {
    /// An answer.
    Text(String),
    /// An error message for an invalid line.
    Misunderstood(String),
    /// The end of the session.
    Quit,
}

const VERBS: [&str; 6] = ["ok", "fail", "start", "finish", "approve", "revoke"];

/// The commands, their syntax and their descriptions.
const COMMANDS: [(&str, &str, &str); 24] = [
    ("state", ":state", "the guard's variables, budgets and calls in flight"),
    ("tools", ":tools", "what can be called"),
    ("why", ":why", "the last verdict, all of it"),
    ("after", ":after 5m", "the clock advances"),
    ("at", ":at 2026-01-10T09:00:00Z", "the clock is set; before anything happens: the beginning"),
    ("exists", ":exists PATH", "a file is there"),
    ("missing", ":missing PATH", "a file is not there"),
    ("probe", ":probe NAME = VALUE", "what a probe answers from now on"),
    (
        "command",
        ":command \"cargo\" \"test\" exits 0",
        "what a command of the guard does from now on",
    ),
    ("git", ":git committed", "nothing is uncommitted; or `:git uncommitted`"),
    ("usage", ":usage N UNIT", "the host reports use"),
    ("prompt", ":prompt TEXT", "the user writes a prompt"),
    ("open", ":open {\"known\": []}", "a new session, opened with this"),
    ("items", ":items [ITEM]", "the items of all lifecycles, or one in full"),
    ("verify", ":verify ITEM", "the harness judges an item's criteria"),
    ("move", ":move ITEM by TRANSITION [because WHY]", "the harness moves an item"),
    ("facts", ":facts [NAME]", "the learned facts and their sources"),
    ("advise", ":advise [json]", "the possible next calls, ranked"),
    ("stop", ":stop", "the agent would stop"),
    ("resume", ":resume by ROLE", "a halt ends"),
    ("trace", ":trace", "everything that has happened"),
    ("reset", ":reset", "a new session"),
    ("help", ":help", "this"),
    ("quit", ":quit", "the end"),
];

/// An interactive session.
pub struct Repl<'a> {
    pub(super) guard: &'a Guard,
    pub(super) play: Play,
    pub(super) style: Style,
    started: BTreeMap<String, String>,
    last: Option<Verdict>,
}

pub(super) type LineAnswer = Result<String, String>;

impl<'a> Repl<'a> {
    /// Creates a session that has just begun.
    pub fn new(guard: &'a Guard, style: Style) -> Result<Repl<'a>, Failure> {
        let play = Play::new(guard)?;
        Ok(Repl { guard, play, style, started: BTreeMap::new(), last: None })
    }

    /// Returns the greeting.
    pub fn greeting(&self) -> String {
        let plan = self.guard.plan();
        let example = plan.tools.first().map_or_else(|| "lint".into(), |tool| tool.name.clone());
        format!(
            "{}: {}. Type a call, such as {}, or {}.\n",
            self.style.bold(&plan.guard),
            crate::term::count(plan.tools.len(), "tool"),
            self.style.cyan(&format!("{example}(…)")),
            self.style.cyan(":help")
        )
    }

    /// Processes a line.
    pub fn line(&mut self, line: &str) -> LineResult {
        if matches!(line, ":quit" | ":q" | ":exit" | "exit" | "quit") {
            return LineResult::Quit;
        }
        let answer = match line.strip_prefix(':') {
            Some(command) => self.command(command.trim()),
            None => self.verb(line),
        };
        match answer {
            Ok(text) => LineResult::Text(text),
            Err(text) => LineResult::Misunderstood(format!("{} {text}\n", self.style.red("?"))),
        }
    }

    fn verb(&mut self, line: &str) -> LineAnswer {
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match first {
            "ok" | "call" if !rest.is_empty() => self.call(rest, true),
            "fail" | "fails" if !rest.is_empty() => self.call(rest, false),
            "start" => self.start(rest),
            "finish" => self.finish(rest),
            "approve" => self.approve(rest),
            "revoke" => self.revoke(rest),
            _ => self.call(line, true),
        }
    }

    /// Parses a call of a tool that the guard declares, or of an undeclared tool that it would
    /// allow.
    fn typed<'t>(&self, text: &'t str) -> Result<(Typed, &'t str), String> {
        let plan = self.guard.plan();
        let (typed, rest) = call::parse(text, plan)?;
        let known = plan.tools.iter().any(|t| t.name == typed.tool || t.wire_name == typed.tool);
        // An undeclared tool may be allowed by the guard, so a call in full notation is proposed in
        // any case.
        let bare = !text.contains(['(', '{']);
        if !known && bare {
            let names = plan
                .tools
                .iter()
                .flat_map(|t| [t.name.as_str(), t.wire_name.as_str()])
                .chain(VERBS);
            let command = COMMANDS.iter().find(|(name, ..)| *name == typed.tool);
            if let Some((name, usage, _)) = command {
                return Err(format!("`{name}` is a command: write `{usage}`"));
            }
            let near = near::did_you_mean(&typed.tool, names);
            let near =
                near.unwrap_or_else(|| "`:tools` lists the tools, `:help` the commands".into());
            return Err(format!("no tool and no command is called `{}`; {near}", typed.tool));
        }
        Ok((typed, rest))
    }

    fn call(&mut self, text: &str, success: bool) -> LineAnswer {
        let (typed, rest) = self.typed(text)?;
        let result = returned(rest)?;
        let before = self.play.state();
        let (id, proposed) = self.play.propose(None, &typed.tool, &typed.args)?;
        let mut out = self.verdict(&proposed.verdict);
        match &proposed.served {
            Some(answer) => {
                let answer = answer.to_string();
                let _ = writeln!(out, "  {answer}");
                out.push_str(&self.delivered(&proposed.feedback));
            }
            None if proposed.verdict.decision == Decision::Allow => {
                if !self.guard.plan().lifecycles.is_empty() {
                    // The id is shown because evidence names calls.
                    let _ = writeln!(out, "  {}", self.style.dim(&id));
                }
                out.push_str(&self.settled(&id, success, result.as_ref(), before)?);
            }
            None => out.push_str(&self.delivered(&proposed.feedback)),
        }
        self.last = Some(proposed.verdict);
        Ok(out)
    }

    fn settled(
        &mut self,
        id: &str,
        success: bool,
        result: Option<&Json>,
        before: Vec<(String, String)>,
    ) -> LineAnswer {
        let settled = self.play.settle(id, success, result)?;
        let mut out = String::new();
        if !success {
            let _ = writeln!(out, "  {}", self.style.dim("failed: nothing changes"));
        }
        for ((name, new), (_, old)) in
            self.play.state().iter().zip(before).filter(|(new, old)| new.1 != old.1)
        {
            let _ = writeln!(out, "  {name}: {old} → {}", self.style.bold(new));
        }
        for note in &settled.notes {
            let kind = match note.kind {
                NoteKind::Shadow => self.style.dim("in shadow:"),
                NoteKind::Warning => self.style.yellow("warning:"),
                NoteKind::Transform => self.style.dim("transformed:"),
                NoteKind::Undecoded => self.style.yellow("unreadable:"),
                NoteKind::Feedback => self.style.yellow("feedback:"),
                NoteKind::Mismatch => self.style.yellow("mismatch:"),
                NoteKind::Halt => continue,
            };
            let _ = writeln!(out, "  {kind} {} ({})", note.message, note.rule);
        }
        if let Some(why) = self.play.halted() {
            let _ = writeln!(out, "  {} {why}", self.style.red("halted:"));
        }
        out.push_str(&self.delivered(&settled.feedback));
        Ok(out)
    }

    /// Formats feedback as the agent would read it.
    fn delivered(&self, feedback: &[Delivered]) -> String {
        rendered(feedback).lines().map(|line| format!("  {}\n", self.style.cyan(line))).collect()
    }

    fn verdict(&self, verdict: &Verdict) -> String {
        let word = verdict.decision.as_str();
        let word = match verdict.decision {
            Decision::Allow => self.style.green(word),
            Decision::Ask | Decision::Wait => self.style.yellow(word),
            Decision::Deny => self.style.red(word),
        };
        let mut out = format!("{word}\n");
        for reason in &verdict.reasons {
            out.push_str(
                &reason_lines(reason, self.style)
                    .lines()
                    .map(|l| format!("  {l}\n"))
                    .collect::<String>(),
            );
        }
        for reason in &verdict.shadowed {
            let said =
                format!("in shadow: {} ({}) {}", reason.code.as_str(), reason.rule, reason.message);
            let _ = writeln!(out, "  {}", self.style.dim(&said));
        }
        out
    }

    fn start(&mut self, text: &str) -> LineAnswer {
        let Some((name, call)) = text.split_once('=').map(|(n, c)| (n.trim(), c.trim())) else {
            return Err("write `start NAME = CALL`".into());
        };
        if self.started.contains_key(name) {
            return Err(format!("`{name}` is in flight already"));
        }
        let (typed, _) = self.typed(call)?;
        let (id, proposed) = self.play.propose(None, &typed.tool, &typed.args)?;
        let mut out = self.verdict(&proposed.verdict);
        out.push_str(&self.delivered(&proposed.feedback));
        if proposed.verdict.decision == Decision::Allow && proposed.served.is_none() {
            self.started.insert(name.to_owned(), id);
            let _ = writeln!(
                out,
                "  in flight; `finish {name} ok` or `finish {name} fails` settles it"
            );
        }
        self.last = Some(proposed.verdict);
        Ok(out)
    }

    fn finish(&mut self, text: &str) -> LineAnswer {
        let mut words = text.splitn(3, char::is_whitespace);
        let name = words.next().unwrap_or_default();
        let how = words.next().unwrap_or_default();
        let success = match how {
            "ok" => true,
            "fails" | "fail" => false,
            _ => return Err("write `finish NAME ok` or `finish NAME fails`".into()),
        };
        let result = returned(words.next().unwrap_or_default())?;
        let Some(id) = self.started.remove(name) else {
            let near = near::did_you_mean(name, self.started.keys().map(String::as_str));
            return Err(format!(
                "nothing is in flight as `{name}`; {}",
                near.unwrap_or_else(|| "`:state` lists them".into())
            ));
        };
        let before = self.play.state();
        let out = self.settled(&id, success, result.as_ref(), before)?;
        Ok(if out.is_empty() { "settled\n".into() } else { format!("settled\n{out}") })
    }

    fn approve(&mut self, text: &str) -> LineAnswer {
        let (typed, rest) = self.typed(text)?;
        let role = rest.strip_prefix("by ").map(str::trim).filter(|role| !role.is_empty());
        let role = role.ok_or("write `approve CALL by ROLE`")?;
        let plan = self.guard.plan();
        let roles = || {
            let approvals = plan.tools.iter().flat_map(|t| &t.approvals).map(|a| a.role.as_str());
            approvals.chain(plan.limits.iter().filter_map(|limit| limit.ask.as_deref()))
        };
        let unknown = roles().next().is_some() && !roles().any(|known| known == role);
        let near = if unknown { near::did_you_mean(role, roles()) } else { None };
        self.play.approve(&typed.tool, &typed.args, role, "you", None)?;
        let note = near.map(|near| format!("; no rule asks `{role}`, {near}")).unwrap_or_default();
        Ok(format!("recorded, good for one call within an hour{note}\n"))
    }

    fn revoke(&mut self, text: &str) -> LineAnswer {
        let (typed, rest) = self.typed(text)?;
        let role = rest.strip_prefix("by ").map(str::trim).filter(|role| !role.is_empty());
        let role = role.ok_or("write `revoke CALL by ROLE`")?;
        self.play.revoke(&typed.tool, &typed.args, role, "you")?;
        Ok("taken back\n".into())
    }

    pub(super) fn command(&mut self, text: &str) -> LineAnswer {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match name {
            "state" => Ok(self.state()),
            "tools" => Ok(self.tools()),
            "why" => Ok(self.why()),
            "trace" => Ok(self.play.trace()),
            "help" => Ok(self.help()),
            "reset" => {
                *self = Repl::new(self.guard, self.style)
                    .map_err(|_| "the guard cannot begin a session")?;
                Ok("a new session\n".into())
            }
            "after" => {
                let millis =
                    time::parse_duration(rest).ok_or("write a duration, such as `:after 5m`")?;
                self.play.advance(millis)?;
                Ok(self.clock())
            }
            "at" => {
                let at = time::parse_rfc3339(rest.trim_matches('"'))
                    .ok_or("write a time, such as `:at 2026-01-10T09:00:00Z`")?;
                self.play.set_clock(at)?;
                Ok(self.clock())
            }
            "exists" | "missing" if !rest.is_empty() => {
                let there = name == "exists";
                let path = self.play.world().file(rest.trim_matches('"'), there.then(String::new));
                Ok(format!("{path} is {}there\n", if there { "" } else { "not " }))
            }
            "exists" | "missing" => Err(format!("write `:{name} PATH`")),
            "probe" => self.probe(rest),
            "usage" => self.usage(rest),
            "prompt" => self.prompt(rest),
            "open" => self.open(rest),
            "command" => self.simulate(rest),
            "git" => self.git(rest),
            "items" => self.items(rest),
            "verify" => self.verify(rest),
            "move" => self.move_item(rest),
            "facts" => self.facts(rest),
            "stop" => self.stop(),
            "advise" => self.advise(rest),
            "resume" => {
                let role = rest.strip_prefix("by ").unwrap_or(rest).trim();
                self.play.resume(if role.is_empty() { "owner" } else { role }, "you")?;
                Ok("resumed\n".into())
            }
            "quit" => Err("write `:quit`".into()),
            other => {
                let near = near::nearest(other, COMMANDS.map(|(name, _, _)| name).into_iter());
                let near = near.map(|near| format!("did you mean `:{near}`?"));
                let near = near.unwrap_or_else(|| "`:help` lists what there is".into());
                Err(format!("there is no `:{other}`; {near}"))
            }
        }
    }

    fn probe(&mut self, text: &str) -> LineAnswer {
        let (name, value) = text.split_once('=').ok_or("write `:probe NAME = VALUE`")?;
        let name = name.trim();
        let probes = || self.guard.plan().probes.iter().map(|p| p.name.as_str());
        if !probes().any(|known| known == name) {
            let near = near::did_you_mean(name, probes())
                .unwrap_or_else(|| "the guard declares no such probe".into());
            return Err(format!("no probe is called `{name}`; {near}"));
        }
        self.play.world().probes.insert(name.to_owned(), call::value(value)?);
        Ok(format!("{name} answers {}\n", value.trim()))
    }

    fn usage(&mut self, text: &str) -> LineAnswer {
        let (amount, unit) = text.split_once(char::is_whitespace).ok_or("write `:usage N UNIT`")?;
        let amount = guard_plan::decimal::parse(amount)
            .ok_or_else(|| format!("`{amount}` is not an amount"))?;
        self.play.usage(unit.trim(), amount)?;
        Ok("recorded\n".into())
    }

    fn clock(&self) -> String {
        format!("{}, {} after the start\n", self.play.time(), duration(self.play.elapsed()))
    }

    fn state(&self) -> String {
        let mut rows = self.play.state();
        rows.extend(self.play.budgets());
        rows.push(("clock".into(), self.clock().trim().to_owned()));
        for (name, id) in &self.started {
            rows.push(("in flight".into(), format!("{name} ({id})")));
        }
        if let Some(why) = self.play.halted() {
            rows.push(("halted".into(), why));
        }
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        rows.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect()
    }

    fn tools(&self) -> String {
        let plan = self.guard.plan();
        let signature = |t: &guard_plan::plan::Tool| {
            format!("{}({})", words::tool_name(t), words::parameters(plan, &t.params))
        };
        plan.tools
            .iter()
            .map(|tool| {
                let doc = tool.doc.lines().next().unwrap_or_default().trim();
                let doc = if doc.is_empty() {
                    String::new()
                } else {
                    format!("  {}", self.style.dim(doc))
                };
                format!("  {}{doc}\n", self.style.cyan(&signature(tool)))
            })
            .collect()
    }

    fn why(&self) -> String {
        let Some(verdict) = &self.last else {
            return "nothing was proposed yet\n".into();
        };
        let mut out = self.verdict(verdict);
        if verdict.reasons.is_empty() {
            out.push_str("  every rule let it pass\n");
        }
        for (label, value) in verdict.reasons.iter().flat_map(|reason| &reason.values) {
            let _ = writeln!(out, "  {label} = {value}");
        }
        out
    }

    fn help(&self) -> String {
        let calls = [
            ("deploy(env: dev, count: 1)", "proposes a call; if it is allowed, it succeeds"),
            ("deploy {\"env\": \"dev\"}", "the same, arguments as JSON"),
            ("ok CALL returns VALUE", "with a result"),
            ("fail CALL", "if it is allowed, it fails"),
            ("start NAME = CALL", "if it is allowed, it stays in flight"),
            ("finish NAME ok", "settles it; or `finish NAME fails`"),
            ("approve CALL by ROLE", "a person approves exactly this call"),
            ("revoke CALL by ROLE", "a person revokes that approval"),
        ];
        let rows =
            calls.iter().copied().chain(COMMANDS.iter().map(|(_, form, what)| (*form, *what)));
        rows.map(|(form, what)| {
            format!(
                "  {}{:pad$}  {what}\n",
                self.style.cyan(form),
                "",
                pad = 27usize.saturating_sub(form.len())
            )
        })
        .collect()
    }
}

/// Parses an optional `returns VALUE`.
fn returned(text: &str) -> Result<Option<Json>, String> {
    match text.trim() {
        "" => Ok(None),
        text => match text.strip_prefix("returns ") {
            Some(value) => call::value(value).map(Some),
            None => {
                Err(format!("`{text}` after the call is not understood; write `returns VALUE`"))
            }
        },
    }
}
