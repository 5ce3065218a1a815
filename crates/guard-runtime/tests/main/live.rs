//! A session for tests with a small world, and the parts of plans that concern sessions.

use super::build::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::{Content, Delivered, Ran, RunEnd};
use guard_plan::verdict::{Decision, Verdict};
use guard_runtime::*;
use std::collections::BTreeMap;

const WORDS: TypeId = 13;
const OPTION_STRING: TypeId = 14;
const CRITERIA: TypeId = 19;
const EVIDENCE: TypeId = 21;
const OPTION_STATE: TypeId = 23;
pub const DURATION: TypeId = 24;

/// A plan with types for items, and files named by hand.
pub fn plan_of(paths: &[&str]) -> Plan {
    let mut plan = plan();
    let field = |name: &str, ty| Field { name: name.into(), ty, secret: false, doc: String::new() };
    let record = |name: &str, fields: Vec<Field>| TypeDef::Record { name: name.into(), fields };
    plan.types.extend([
        TypeDef::List { of: STRING, max: None },
        TypeDef::Option { of: STRING },
        TypeDef::Option { of: PATH },
        TypeDef::Option { of: BOOL },
        TypeDef::Option { of: WORDS },
        record(
            "Criterion",
            vec![
                field("file", 15),
                field("contains", OPTION_STRING),
                field("command", 17),
                field("git_commit", 16),
                field("probe", OPTION_STRING),
            ],
        ),
        TypeDef::List { of: 18, max: Some(20) },
        record(
            "Evidence",
            vec![field("call", OPTION_STRING), field("file", 15), field("sha256", OPTION_STRING)],
        ),
        TypeDef::List { of: 20, max: Some(100) },
        TypeDef::Enum { name: "State".into(), variants: STATES.map(String::from).to_vec() },
        TypeDef::Option { of: 22 },
        TypeDef::Duration { min: None, max: None },
    ]);
    plan.paths = paths.iter().map(|path| (*path).into()).collect();
    plan
}

const STATES: [&str; 4] = ["pending", "in_progress", "claimed", "verified"];

/// The lifecycle of the language reference with its tools `todo_claim`, `todo_create`, `todo_list` and
/// `todo_start`, and a tool `work`.
pub fn with_todos(mut plan: Plan) -> Plan {
    let step = |name: &str, actor, from: &[u32], to, criteria| Transition {
        name: name.into(),
        span: 0,
        actor,
        from: from.to_vec(),
        to,
        evidence: name == "claim",
        criteria,
    };
    use Actor::{Agent, Harness};
    use CriterionKind::{Command, File, FileContains, GitCommit, Probe};
    plan.lifecycles.push(Lifecycle {
        name: "todo".into(),
        doc: String::new(),
        span: 0,
        fields: vec![Field {
            name: "content".into(),
            ty: STRING,
            secret: false,
            doc: String::new(),
        }],
        states: STATES.map(String::from).to_vec(),
        initial: 0,
        finals: vec![3],
        transitions: vec![
            step("claim", Agent, &[1], 2, None),
            step("reject", Harness, &[2], 1, Some(false)),
            step("return", Harness, &[1, 2], 0, None),
            step("start", Agent, &[0], 1, None),
            step("verify", Harness, &[2], 3, Some(true)),
        ],
        criteria: vec![File, FileContains, Command, GitCommit, Probe],
        escalate: Some(Escalate { role: "lead".into(), after: 2 }),
    });
    let mut serves = |name: &str, params: &[(&str, TypeId)], op| {
        let mut one = tool(name, params);
        one.wire_name = name.into();
        one.served = Some(Served { lifecycle: 0, op });
        plan.tools.push(one);
    };
    serves("todo_claim", &[("id", STRING), ("evidence", EVIDENCE)], ServedOp::Move(0));
    serves("todo_create", &[("content", STRING), ("criteria", CRITERIA)], ServedOp::Create);
    serves("todo_list", &[("state", OPTION_STATE), ("after", OPTION_STRING)], ServedOp::List);
    serves("todo_start", &[("id", STRING)], ServedOp::Move(3));
    plan.tools.push(tool("work", &[]));
    plan
}

pub fn command(words: &str) -> Command {
    let argv = words.split(' ').map(String::from).collect();
    Command { argv, env: vec![], within: 300_000 }
}

pub fn said(text: &str) -> Message {
    Message { parts: vec![Part::Text(text.into())] }
}

pub fn value(ty: TypeId, nodes: impl Into<Vec<Node>>) -> Part {
    Part::Value(Show { label: "e".into(), expr: expr(nodes), ty, secret: false })
}

pub fn block(severity: Severity, text: &str) -> Block {
    Block { severity, when: None, message: said(text), notes: vec![] }
}

pub fn provider(name: &str, triggers: Vec<Trigger>, text: &str) -> Feedback {
    let blocks = vec![block(Severity::Info, text)];
    Feedback { name: name.into(), span: 0, triggers, blocks }
}

/// A small world: files, probes and commands.
#[derive(Default)]
pub struct Small {
    /// The content of files, by absolute path.
    pub files: BTreeMap<String, String>,
    pub probes: BTreeMap<String, Json>,
    /// The results of commands, by their words.
    pub runs: BTreeMap<String, Ran>,
    pub committed: Option<bool>,
    /// True if questions about files have no answer.
    pub blind: bool,
    pub asked: usize,
}

impl World for Small {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.file(path)
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.asked += 1;
        self.probes.get(name).cloned()
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.asked += 1;
        (!self.blind).then(|| self.files.contains_key(path))
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        let found = self.files.get(path).is_some_and(|content| content.contains(text));
        (!self.blind).then_some(found)
    }

    fn text(&mut self, path: &str) -> Option<Content> {
        let text = self.files.get(path).map(|text| Content::Text(text.as_str().into()));
        (!self.blind).then(|| text.unwrap_or(Content::Missing))
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        let hash = self.files.get(path).map(|content| format!("{:064x}", content.len()));
        (!self.blind).then_some(hash)
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        self.asked += 1;
        self.runs.get(&command.argv.join(" ")).cloned()
    }

    fn committed(&mut self) -> Option<bool> {
        self.committed
    }
}

pub fn ran(ended: RunEnd, output: &str) -> Ran {
    Ran { ended, output: output.into(), stdout: output.into() }
}

/// A session whose calls are written `tool {args}`.
pub struct Live {
    pub kernel: Kernel,
    pub session: SessionState,
    pub now: i64,
    pub world: Small,
    calls: u32,
}

impl Live {
    pub fn new(plan: Plan) -> Live {
        let kernel = kernel(plan);
        let session = kernel.open("s", 0, "/ws").unwrap();
        Live { kernel, session, now: 0, world: Small::default(), calls: 0 }
    }

    pub fn file(&mut self, path: &str, content: &str) {
        self.world.files.insert(format!("/ws/{path}"), content.into());
    }

    pub fn propose(&mut self, call: &str, text: &str) -> Proposed {
        let (tool, args) = text.split_once(' ').unwrap_or((text, "{}"));
        let args = Json::parse(args).unwrap();
        let proposal = Proposal { call, tool, args: (&args).into(), now: self.now };
        self.kernel.propose(&mut self.session, &proposal, &mut self.world).unwrap()
    }

    pub fn settle(&mut self, call: &str, ending: Ending<'_>) -> Settled {
        let settlement = Settlement { call, ending, now: self.now };
        self.kernel.settle(&mut self.session, &settlement, &mut self.world).unwrap()
    }

    /// Makes an allowed call, and settles it as a success.
    #[track_caller]
    pub fn ok(&mut self, text: &str) -> Settled {
        self.ok_with(text, None)
    }

    #[track_caller]
    pub fn ok_with(&mut self, text: &str, result: Option<&str>) -> Settled {
        self.calls += 1;
        let call = format!("c{}", self.calls);
        let verdict = self.propose(&call, text).verdict;
        assert_eq!(decided(&verdict), "allow", "{text}");
        let result = result.map(|text| Json::parse(text).unwrap());
        self.settle(&call, Ending::Success(result.as_ref()))
    }

    /// The decision with its reasons, or the result of a served call.
    #[track_caller]
    pub fn check(&mut self, text: &str, expected: &str) {
        self.calls += 1;
        let call = format!("c{}", self.calls);
        let proposed = self.propose(&call, text);
        let mut shown = decided(&proposed.verdict);
        if let Some(served) = &proposed.served {
            shown = served.to_string();
        } else if proposed.verdict.decision == Decision::Allow {
            self.settle(&call, Ending::Success(None));
        }
        assert_eq!(shown, expected, "{text}");
    }

    pub fn stop(&mut self) -> Stopped {
        let stop = StopAttempt { reason: None, now: self.now };
        self.kernel.stop(&mut self.session, &stop, &mut self.world).unwrap()
    }

    pub fn verify(&mut self, item: &str) -> Result<Moved, StepError> {
        let verify = Verify { item, now: self.now };
        self.kernel.verify(&mut self.session, &verify, &mut self.world)
    }

    pub fn prompt(&mut self, text: &str) -> Learned {
        let prompt = UserPrompt { text, now: self.now };
        self.kernel.prompt(&mut self.session, &prompt, &mut self.world).unwrap()
    }
}

/// Formats the decision, and `code: message (help)` of every reason.
pub fn decided(verdict: &Verdict) -> String {
    let mut out = format!("{:?}", verdict.decision).to_lowercase();
    for reason in &verdict.reasons {
        out.push_str(&format!("; {}: {}", reason.code.as_str(), reason.message));
        if !reason.help.is_empty() {
            out.push_str(&format!(" ({})", reason.help));
        }
    }
    out
}

/// Returns the names of the providers that spoke, separated by spaces.
pub fn speakers(feedback: &[Delivered]) -> String {
    feedback.iter().map(|one| one.provider.as_str()).collect::<Vec<_>>().join(" ")
}
