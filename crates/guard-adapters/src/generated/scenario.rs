//! A scenario: a guard in separately removable parts, a script, and its text as a case.

use super::expected::Expected;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A guard, a script and a world.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeneratedScenario {
    /// All parts of the guard except tools.
    pub items: Vec<String>,
    pub tools: Vec<GeneratedTool>,
    pub turns: Vec<GeneratedTurn>,
    /// The answers of roles, in order.
    pub approvals: Vec<(String, Vec<GeneratedGrant>)>,
    /// The opening data of the session.
    pub data: Option<String>,
}

/// A tool of the guard.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedTool {
    pub name: String,
    /// The parameters, as declared.
    pub params: &'static [(&'static str, &'static str)],
    pub clauses: Vec<String>,
}

/// An answer to a request for approval.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedGrant {
    pub granted: bool,
    pub lasts: Option<&'static str>,
}

/// A turn of the model; a turn without calls is a stop.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeneratedTurn {
    pub after: Option<&'static str>,
    /// The number of tokens used.
    pub usage: Option<usize>,
    /// The message of the user.
    pub prompt: Option<String>,
    pub calls: Vec<GeneratedCall>,
    /// True if the calls are held until no other call can begin.
    pub overlap: bool,
    /// The output of a stop.
    pub output: Option<String>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeneratedCall {
    pub tool: String,
    pub args: Map<String, Value>,
    pub fails: bool,
    pub result: Value,
    pub takes: Option<&'static str>,
    pub writes: Option<String>,
    pub removes: Option<String>,
}

impl GeneratedScenario {
    /// Returns the text of the guard.
    pub fn guard(&self) -> String {
        let mut out = String::from("guard generated\n");
        for item in &self.items {
            let _ = writeln!(out, "{item}");
        }
        for tool in &self.tools {
            let params: Vec<String> =
                tool.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            let _ = write!(out, "tool {}({})", tool.name, params.join(", "));
            let clauses: Vec<String> =
                tool.clauses.iter().map(|clause| format!("\n  {clause}")).collect();
            if clauses.is_empty() {
                out.push('\n')
            } else {
                let _ = writeln!(out, " {{{}\n}}", clauses.concat());
            }
        }
        out
    }

    /// Returns the id of a call.
    pub fn id(turn: usize, call: usize) -> String {
        format!("c{}{}", turn + 1, ["a", "b", "c", "d"].get(call).unwrap_or(&"z"))
    }

    /// Returns true if calls are held to run in parallel.
    pub fn is_parallel(&self) -> bool {
        self.turns.iter().any(|turn| turn.overlap)
    }

    /// Returns the area and the clause that best describe the scenario.
    pub fn clause(&self) -> (&'static str, &'static str) {
        let guard = self.guard();
        let has = |word: &str| guard.contains(word);
        if has("completion {") {
            ("completion", "DONE-1")
        } else if has("feedback ") || has("deadline ") {
            ("steering", if has("feedback ") { "STEER-1" } else { "STEER-11" })
        } else if has("effect ") || has("limit ") || has("budget ") || has("observe ") {
            ("effects", "EFFECT-1")
        } else {
            ("gate", "GATE-1")
        }
    }

    /// Returns the required capabilities.
    fn needs(&self) -> Vec<&'static str> {
        const WORDS: [(&str, &str); 10] = [
            ("effect ", "effects"),
            ("observe ", "effects"),
            ("invariant ", "invariants"),
            ("budget ", "budgets"),
            ("limit ", "limits"),
            ("feedback ", "feedback"),
            ("feedback ", "feedback_triggers"),
            ("deadline ", "deadline"),
            ("completion ", "task_completion"),
            ("approval ", "approvals"),
        ];
        let guard = self.guard();
        let mut needs =
            vec!["tool_policies", "argument_checks", "unknown_tools", "denial_feedback"];
        needs.extend(WORDS.iter().filter(|(word, _)| guard.contains(word)).map(|(_, need)| *need));
        if self.is_parallel() {
            needs.push("parallel_calls");
        }
        needs.dedup();
        needs
    }

    /// Returns the case with its expectations.
    pub fn toml(&self, expected: &Expected) -> String {
        let mut out = format!("clause = \"{}\"\n", self.clause().1);
        out.push_str("claim = \"The adapter does what the reference evaluator decides\"\n");
        let _ = writeln!(out, "needs = {}", Value::from(self.needs()));
        if let Some(data) = &self.data {
            let _ = writeln!(out, "data = {{ names = [{}] }}", Value::from(data.as_str()));
        }
        let _ = writeln!(out, "guard = '''\n{}'''", self.guard());
        // An answer must not depend on how soon a call ends relative to others.
        out.push_str("\n[world]\nheld = true\n");
        if !self.approvals.is_empty() {
            out.push_str("\n[world.approvals]\n");
        }
        for (role, grants) in &self.approvals {
            let grants: Vec<String> = grants.iter().map(GeneratedGrant::toml).collect();
            let _ = writeln!(out, "{role} = [{}]", grants.join(", "));
        }
        for (at, turn) in self.turns.iter().enumerate() {
            turn.toml(at, expected.sees.get(at).map_or(&[], Vec::as_slice), &mut out);
        }
        expected.toml(&mut out);
        out
    }
}

impl GeneratedGrant {
    fn toml(&self) -> String {
        let lasts = self.lasts.map(|lasts| format!(", lasts = \"{lasts}\"")).unwrap_or_default();
        format!("{{ granted = {}{lasts} }}", self.granted)
    }
}

impl GeneratedTurn {
    fn toml(&self, at: usize, sees: &[String], out: &mut String) {
        out.push_str("\n[[turn]]\n");
        if !sees.is_empty() {
            let _ = writeln!(out, "sees = [\n  {},\n]", sees.join(",\n  "));
        }
        if let Some(after) = self.after {
            let _ = writeln!(out, "after = \"{after}\"");
        }
        if let Some(usage) = self.usage {
            let _ = writeln!(out, "usage = {{ tokens = \"{usage}\" }}");
        }
        if let Some(prompt) = &self.prompt {
            let text = Value::from(prompt.as_str());
            let _ = writeln!(out, "host = [{{ event = \"prompt\", text = {text} }}]");
        }
        if self.overlap {
            out.push_str("overlap = true\n");
        }
        if self.calls.is_empty() {
            out.push_str("stop = true\n");
            if let Some(output) = &self.output {
                let _ = writeln!(out, "output = {}", Value::from(output.as_str()));
            }
            return;
        }
        out.push_str("calls = [\n");
        for (place, call) in self.calls.iter().enumerate() {
            let _ = writeln!(out, "  {},", call.toml(&GeneratedScenario::id(at, place)));
        }
        out.push_str("]\n");
    }
}

impl GeneratedCall {
    fn toml(&self, id: &str) -> String {
        let mut out = format!("{{ id = \"{id}\", tool = \"{}\"", self.tool);
        if !self.args.is_empty() {
            let args: Vec<String> =
                self.args.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let _ = write!(out, ", args = {{ {} }}", args.join(", "));
        }
        if self.fails {
            out.push_str(", fails = true");
        }
        let _ = write!(out, ", result = {}", self.result);
        if let Some(takes) = self.takes {
            let _ = write!(out, ", takes = \"{takes}\"");
        }
        if let Some(file) = &self.writes {
            let _ = write!(out, ", writes = {{ \"{file}\" = \"written\" }}");
        }
        if let Some(file) = &self.removes {
            let _ = write!(out, ", removes = [\"{file}\"]");
        }
        out.push_str(" }");
        out
    }
}
