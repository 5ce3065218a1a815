//! The lines about the whole session: prompts, commands, items, facts, stops.

use super::call;
use super::session::{LineAnswer, Repl};
use crate::near;
use guard_plan::json::Json;
use guard_plan::record::{ItemChange, RunEnd, StopDecision};
use std::fmt::Write as _;

/// The maximum number of shown rows of a fact.
const ROWS: usize = 50;

impl Repl<'_> {
    pub(super) fn prompt(&mut self, text: &str) -> LineAnswer {
        if text.is_empty() {
            return Err("write `:prompt TEXT`".into());
        }
        let learned = self.play.prompt(text)?;
        let mut out = format!("{} learned\n", crate::term::count(learned.learned as usize, "row"));
        for note in &learned.notes {
            let _ = writeln!(out, "  {}: {}", note.rule, note.message);
        }
        Ok(out)
    }

    pub(super) fn open(&mut self, text: &str) -> LineAnswer {
        let data = call::value(text)?;
        // The arguments of opening are judged by a new session only, since they teach its first
        // facts.
        self.command("reset")?;
        self.play.open(&data)?;
        Ok("a new session\n".into())
    }

    /// Parses `"cargo" "test" exits 0`, or `… times out`.
    pub(super) fn simulate(&mut self, text: &str) -> LineAnswer {
        let usage = || "write `:command \"cargo\" \"test\" exits 0`, or `times out`".to_owned();
        let end = text.rfind('"').ok_or_else(usage)?;
        let (words, outcome) = text.split_at(end + 1);
        let argv: Vec<String> = serde_json::Deserializer::from_str(words)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|_| usage())?;
        let ended = match outcome.trim() {
            "times out" => RunEnd::TimedOut,
            status => {
                let status =
                    status.strip_prefix("exits ").and_then(|s| s.trim().parse::<u8>().ok());
                RunEnd::Exited(status.ok_or_else(usage)?.into())
            }
        };
        let known = &self.guard.plan().commands;
        if !known.iter().any(|command| command.argv == argv) {
            let known: Vec<String> =
                known.iter().map(|c| format!("`{}`", c.argv.join(" "))).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(format!("the guard has no such command; its commands: {known}"));
        }
        let said = format!("`{}` {}\n", argv.join(" "), outcome.trim());
        self.play.world().commands.insert(argv, (ended, String::new()));
        Ok(said)
    }

    pub(super) fn git(&mut self, text: &str) -> LineAnswer {
        self.play.world().committed = match text {
            "committed" => true,
            "uncommitted" => false,
            _ => return Err("write `:git committed` or `:git uncommitted`".into()),
        };
        Ok(format!("{text}\n"))
    }

    pub(super) fn items(&self, item: &str) -> LineAnswer {
        let session = self.play.session();
        if !item.is_empty() {
            let found = session.state().item(self.guard.kernel(), item);
            let found =
                found.ok_or_else(|| format!("there is no item `{item}`; `:items` lists them"))?;
            return Ok(members(&found));
        }
        let mut out = String::new();
        for lifecycle in &self.guard.plan().lifecycles {
            let page = session.items(&lifecycle.name, None, None).ok();
            let Some(Json::Array(items)) = page.as_ref().and_then(|page| page.get("items")) else {
                continue;
            };
            for item in items {
                let _ = writeln!(out, "  {item}");
            }
        }
        Ok(if out.is_empty() { "there are no items yet\n".into() } else { out })
    }

    pub(super) fn verify(&mut self, item: &str) -> LineAnswer {
        self.play.verify(item).map(|change| moved(&change))
    }

    pub(super) fn move_item(&mut self, text: &str) -> LineAnswer {
        let usage = "write `:move ITEM by TRANSITION`, and `because WHY` as needed";
        let (item, rest) = text.split_once(" by ").ok_or(usage)?;
        let (transition, reason) = match rest.split_once(" because ") {
            Some((transition, reason)) => (transition, Some(reason.trim().trim_matches('"'))),
            None => (rest, None),
        };
        let change = self.play.move_item(item.trim(), transition.trim(), "you", reason)?;
        Ok(moved(&change))
    }

    pub(super) fn facts(&self, name: &str) -> LineAnswer {
        let facts = &self.guard.plan().facts;
        let names = || facts.iter().map(|fact| fact.name.as_str());
        if !name.is_empty() && !names().any(|known| known == name) {
            let near = near::did_you_mean(name, names());
            let near = near.unwrap_or_else(|| "`:facts` shows all of them".into());
            return Err(format!("no fact is called `{name}`; {near}"));
        }
        let mut out = String::new();
        for fact in names().filter(|fact| name.is_empty() || *fact == name) {
            let rows = self.play.session().facts(fact, 0, ROWS).unwrap_or_default();
            for row in rows {
                let _ = writeln!(out, "  {fact} {} from {}", row.row, row.by);
            }
        }
        Ok(if out.is_empty() { "nothing was learned yet\n".into() } else { out })
    }

    pub(super) fn advise(&mut self, form: &str) -> LineAnswer {
        let advice = self.play.advise();
        match form {
            "" => Ok(advice.text() + "\n"),
            "json" => Ok(advice.to_json() + "\n"),
            _ => Err("write `:advise` or `:advise json`".into()),
        }
    }

    pub(super) fn stop(&mut self) -> LineAnswer {
        let stopped = self.play.stop()?;
        let word = match (stopped.decision, &stopped.bypassed, stopped.incomplete) {
            (StopDecision::Block, ..) => self.style.red("block"),
            (_, Some(why), _) => format!("{} ({why}: not checked)", self.style.yellow("allow")),
            (_, None, true) => format!("{} (incomplete)", self.style.yellow("allow")),
            (_, None, false) => self.style.green("allow"),
        };
        let lines = stopped.message.lines().map(|line| format!("  {line}\n"));
        Ok(format!("{word}\n{}", lines.collect::<String>()))
    }
}

/// Formats a change of an item, and its unmet criteria.
fn moved(change: &ItemChange) -> String {
    let mut out = format!("{} is {}\n", change.item, change.after);
    for why in change.reasons.iter().chain(&change.unanswered) {
        let _ = writeln!(out, "  {why}");
    }
    out
}

/// Formats the members of an object, one per line.
fn members(json: &Json) -> String {
    let Json::Object(members) = json else { return format!("  {json}\n") };
    members.iter().map(|(name, value)| format!("  {name}: {value}\n")).collect()
}
