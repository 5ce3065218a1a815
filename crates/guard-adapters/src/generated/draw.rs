//! Random guards and scripts that are small enough for most sessions to end.

use super::scenario::{
    GeneratedCall, GeneratedGrant, GeneratedScenario, GeneratedTool, GeneratedTurn,
};
use crate::reference::SHADE;
use guard_plan::random::Rng;
use serde_json::{Map, Value};

const PARAMS: [&[(&str, &str)]; 5] = [
    &[],
    &[("n", "int in 0..=9")],
    &[("key", "string max 20")],
    &[("path", "path")],
    &[("n", "int in 0..=9"), ("key", "string max 20")],
];
const KEYS: [&str; 3] = ["red", "green", "7"];
const FILES: [&str; 3] = ["out/plan.txt", "out/report.txt", "notes.md"];
const ROLES: [&str; 2] = ["owner", "auditor"];
const SYLLABLES: [&str; 16] = [
    "ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu", "za",
];

/// The state of drawing a scenario.
struct Drawing {
    rng: Rng,
    words: Vec<String>,
    tools: Vec<GeneratedTool>,
}

/// Draws a scenario of a run. Its guard may not compile.
pub fn scenario(seed: u64, number: u64, attempt: u64) -> GeneratedScenario {
    // A scenario is named by its numbers, so another random sequence would give other scenarios.
    let mut rng =
        Rng::new(seed.wrapping_add(attempt << 48) ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
    rng.bits();
    let mut drawing = Drawing { rng, words: Vec::new(), tools: Vec::new() };
    for at in 0..2 + drawing.rng.below(3) {
        let params = if at == 0 { PARAMS[1] } else { *drawing.rng.pick(&PARAMS) };
        let name = drawing.word();
        drawing.tools.push(GeneratedTool { name, params, clauses: Vec::new() });
    }
    for at in 0..drawing.tools.len() {
        let clauses = drawing.clauses(at);
        drawing.tools[at].clauses = clauses;
    }
    let items = drawing.items();
    let mut turns = drawing.turns();
    // The evaluator refuses usage of a unit without a budget, and the case would not be playable.
    if !items.iter().any(|item| item.starts_with("budget tokens")) {
        turns.iter_mut().for_each(|turn| turn.usage = None);
    }
    let approvals = ROLES.map(|role| (role.to_owned(), drawing.grants()));
    let data = items.iter().any(|item| item.starts_with("source start"));
    GeneratedScenario {
        items,
        turns,
        approvals: approvals.into(),
        data: data.then(|| KEYS[0].to_owned()),
        tools: drawing.tools,
    }
}

impl Drawing {
    /// Draws a new word that is not part of another.
    fn word(&mut self) -> String {
        loop {
            let word: String = (0..4).map(|_| *self.rng.pick(&SYLLABLES)).collect();
            if !self.words.contains(&word) {
                self.words.push(word.clone());
                return word;
            }
        }
    }

    fn other(&mut self, at: usize) -> Option<String> {
        let names: Vec<String> = self.tools[..at].iter().map(|tool| tool.name.clone()).collect();
        (!names.is_empty()).then(|| self.rng.pick(&names).clone())
    }

    fn clauses(&mut self, at: usize) -> Vec<String> {
        let params: Vec<&str> = self.tools[at].params.iter().map(|(name, _)| *name).collect();
        let mut clauses: Vec<String> =
            (0..self.rng.below(4)).map(|_| self.clause(at, &params)).collect();
        if self.rng.chance(50) {
            clauses.push(if params.contains(&"n") && self.rng.chance(60) {
                "effect total += n".into()
            } else {
                "effect total += 1".into()
            });
        }
        if self.rng.chance(25) {
            clauses.push("effect done = true".into());
        }
        if self.rng.chance(15) {
            clauses.push("returns int".into());
            clauses.push("observe seen = result".into());
        }
        clauses
    }

    fn clause(&mut self, at: usize, params: &[&str]) -> String {
        let other = self.other(at);
        match (self.rng.below(14), other) {
            (0 | 1, Some(other)) => {
                let since = if self.rng.chance(25) { " within 5m" } else { "" };
                format!("requires {other}{since}")
            }
            (2, Some(other)) if params.contains(&"key") => {
                let keyed = self.tools.iter().find(|tool| tool.name == other);
                let keyed =
                    keyed.is_some_and(|tool| tool.params.iter().any(|(name, _)| *name == "key"));
                format!("requires {other}{}", if keyed { "(key)" } else { "" })
            }
            (3 | 4, _) => {
                let shape =
                    *self.rng.pick(&["3 per session", "1 per session", "2 per 10m", "2 identical"]);
                format!("limit {shape}")
            }
            (5, _) => "limit 1 in flight".into(),
            (6, _) => format!("costs {} usd", self.rng.pick(&["1.50", "0.10", "4", "2.25"])),
            (7, _) => {
                let when = if params.contains(&"n") {
                    format!(" when n > {}", self.rng.below(7))
                } else {
                    String::new()
                };
                format!("approval {}{when}", self.rng.pick(&ROLES))
            }
            _ => {
                let word = self.word();
                let shade = self.rng.chance(12);
                let condition = self.condition(at, params);
                if shade {
                    format!("shadow deny when {condition} because \"{SHADE}{word}\"")
                } else {
                    format!("deny when {condition} because \"{word} is why\"")
                }
            }
        }
    }

    fn condition(&mut self, at: usize, params: &[&str]) -> String {
        let some = self.rng.below(self.tools.len());
        let tool = self.tools[some].name.clone();
        let number = self.rng.below(6);
        if self.rng.chance(50) {
            if params.contains(&"n") {
                return format!("n > {}", 3 + number);
            }
            if params.contains(&"key") {
                let key = self.rng.pick(&KEYS);
                return if self.rng.chance(40) {
                    "not known who(key)".into()
                } else {
                    format!("key == \"{key}\"")
                };
            }
            if params.contains(&"path") {
                return self
                    .rng
                    .pick(&["path within \"out\"", "exists(path)", "not (path within workspace)"])
                    .to_string();
            }
        }
        match self.rng.below(6) {
            0 => format!("total > {}", 2 + number),
            1 => "not done".into(),
            2 => format!("calls({tool}) >= {}", 1 + number / 2),
            3 => format!("exists(\"{}\")", self.rng.pick(&FILES)),
            4 if at > 0 => format!("failed({})", self.tools[0].name),
            _ => format!("seen == {number}"),
        }
    }

    fn items(&mut self) -> Vec<String> {
        let mut items =
            vec!["state { total: int = 0  done: bool = false  seen: int = 9 }".to_owned()];
        items.push("fact who(name: string)".into());
        let maybe = |rng: &mut Rng, percent: usize, text: String, items: &mut Vec<String>| {
            if rng.chance(percent) {
                items.push(text);
            }
        };
        let rng = &mut self.rng;
        let usd = rng.pick(&["5", "3.00", "20"]).to_string();
        // Costs without a budget do not compile; the scenario is then drawn again.
        maybe(rng, 60, format!("budget usd = {usd}"), &mut items);
        let calls = 2 + rng.below(6);
        let cap = 4 + rng.below(12);
        maybe(rng, 20, format!("budget calls = {calls}"), &mut items);
        maybe(rng, 25, "budget tokens = 1000".into(), &mut items);
        maybe(rng, 25, "deadline 30m".into(), &mut items);
        maybe(rng, 40, format!("invariant cap {{ total <= {cap} }}"), &mut items);
        maybe(rng, 15, "invariant low monitor { total <= 2 }".into(), &mut items);
        maybe(rng, 30, "source start { learn who(data.names[*]) }".into(), &mut items);
        maybe(rng, 40, "source prompt { learn who(quoted(text)) }".into(), &mut items);
        maybe(rng, 8, "default allow".into(), &mut items);
        if self.rng.chance(20) {
            let tool = self.rng.below(self.tools.len());
            let word = self.word();
            let name = self.tools[tool].name.clone();
            items.push(format!(
                "policy extra for {{ {name} }} {{\n  deny when total > 5 because \"{word} is why\"\n}}"
            ));
        }
        for at in 0..self.rng.below(3).min(self.rng.below(3)) {
            items.push(self.feedback(at));
        }
        if self.rng.chance(35) {
            items.push(self.completion());
        }
        items
    }

    fn feedback(&mut self, at: usize) -> String {
        let tool = self.rng.below(self.tools.len());
        let word = self.word();
        let tool = self.tools[tool].name.clone();
        let trigger = match self.rng.below(7) {
            0 | 1 => format!("every {} calls", 1 + self.rng.below(3)),
            2 => format!("every {}", self.rng.pick(&["1m", "10m"])),
            3 => format!("on created(\"{}\")", self.rng.pick(&FILES)),
            4 => format!("on denied {tool}"),
            5 => format!("on failures({tool}) >= 1"),
            _ => format!("on total > {}", self.rng.below(5)),
        };
        let severity = self.rng.pick(&["info", "caution", "warning"]);
        let suggest =
            if self.rng.chance(40) { "\n    suggest \"Look & see <again>.\"" } else { "" };
        format!(
            "feedback f{at} {trigger} {{\n  {severity}: \"{word} after {{elapsed}}, {{total}}\"{suggest}\n}}"
        )
    }

    fn completion(&mut self) -> String {
        let mut checks = vec![format!("at most {} blocks", 1 + self.rng.below(3))];
        for file in FILES {
            if self.rng.chance(40) {
                checks.push(format!("file \"{file}\""));
            }
        }
        if checks.len() == 1 || self.rng.chance(30) {
            checks.push(self.rng.pick(&["total > 1", "done"]).to_string());
        }
        format!("completion {{\n  {}\n}}", checks.join("\n  "))
    }

    fn grants(&mut self) -> Vec<GeneratedGrant> {
        let grant = |rng: &mut Rng| GeneratedGrant {
            granted: rng.chance(70),
            lasts: rng.chance(30).then_some("1m"),
        };
        (0..1 + self.rng.below(3)).map(|_| grant(&mut self.rng)).collect()
    }

    fn turns(&mut self) -> Vec<GeneratedTurn> {
        let mut turns: Vec<GeneratedTurn> =
            (0..4 + self.rng.below(7)).map(|_| self.turn()).collect();
        turns.push(self.stop());
        turns
    }

    fn stop(&mut self) -> GeneratedTurn {
        let word = self.word();
        GeneratedTurn { output: Some(format!(" {word}\n")), ..GeneratedTurn::default() }
    }

    fn turn(&mut self) -> GeneratedTurn {
        let stop = self.rng.chance(14);
        let mut turn = if stop { self.stop() } else { GeneratedTurn::default() };
        if self.rng.chance(35) {
            turn.after = Some(*self.rng.pick(&["30s", "2m", "11m"]));
        }
        turn.usage = self.rng.chance(25).then(|| 100 + self.rng.below(500));
        if self.rng.chance(15) {
            let word = self.word();
            turn.prompt = Some(format!("Now {word}, with \"{}\".", self.rng.pick(&KEYS)));
        }
        if !stop {
            let count = 1 + self.rng.below(4).saturating_sub(1);
            for _ in 0..count {
                // Some rules concern repeated identical calls.
                let again = turn.calls.last().cloned().filter(|_| self.rng.chance(20));
                let call = again.unwrap_or_else(|| self.call());
                turn.calls.push(call);
            }
            turn.overlap = count > 1 && self.rng.chance(50);
        }
        turn
    }

    fn call(&mut self) -> GeneratedCall {
        let at = self.rng.below(self.tools.len());
        let tool = self.tools[at].clone();
        let returns = tool.clauses.iter().any(|clause| clause == "returns int");
        let name = match self.rng.below(40) {
            0 => self.word(),
            1 => tool.name.to_uppercase(),
            2 => format!("mcp__server__{}", tool.name),
            3 => tool.name[..tool.name.len() - 1].to_owned(),
            _ => tool.name.clone(),
        };
        let mut args: Map<String, Value> =
            tool.params.iter().map(|(name, _)| ((*name).to_owned(), self.arg(name))).collect();
        self.spoil(&mut args);
        let word = self.word();
        GeneratedCall {
            tool: name,
            args,
            fails: self.rng.chance(15),
            result: if returns {
                Value::from(self.rng.below(6))
            } else {
                Value::from(format!("{word} came of it"))
            },
            takes: self.rng.chance(20).then(|| *self.rng.pick(&["10s", "4m"])),
            writes: self.rng.chance(25).then(|| (*self.rng.pick(&FILES)).to_owned()),
            removes: self.rng.chance(8).then(|| (*self.rng.pick(&FILES)).to_owned()),
        }
    }

    fn arg(&mut self, param: &str) -> Value {
        match param {
            "n" => Value::from(self.rng.below(10)),
            "key" => Value::from(*self.rng.pick(&KEYS)),
            _ => Value::from(*self.rng.pick(&[
                "out/plan.txt",
                "notes.md",
                "src/a/../b.rs",
                "../other",
            ])),
        }
    }

    /// Sometimes makes arguments invalid.
    fn spoil(&mut self, args: &mut Map<String, Value>) {
        match self.rng.below(30) {
            0 => {
                let name = args.keys().next().cloned();
                name.map(|name| args.remove(&name));
            }
            1 => {
                args.insert("more".into(), Value::from(1));
            }
            2 if args.contains_key("n") => {
                args.insert("n".into(), Value::from("3"));
            }
            3 if args.contains_key("n") => {
                args.insert("n".into(), Value::from(10));
            }
            _ => {}
        }
    }
}
