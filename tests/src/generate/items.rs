//! Lifecycles, and calls of the tools that they give.

use super::{Event, Shape};
use guard_plan::json::Json;
use guard_plan::random::Rng;

/// A generated lifecycle.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    pub name: &'static str,
    pub text: String,
    pub states: &'static [&'static str],
    /// Its agent transitions, and whether they require evidence.
    agent: Vec<(&'static str, bool)>,
    /// Its harness transitions.
    harness: &'static [&'static str],
    criteria: bool,
    /// An item has a field `due`.
    due: bool,
}

impl Drawn {
    /// Its tools, as conditions may name them.
    pub fn tools(&self) -> Vec<Shape> {
        let moves = self.agent.iter().map(|(name, _)| *name);
        let names = ["create", "list"].into_iter().chain(moves);
        let shape = |what| Shape { name: format!("{}_{what}", self.name), params: Vec::new() };
        names.map(shape).collect()
    }

    /// A call, often one that makes sense.
    pub fn call(&self, rng: &mut Rng, calls: &[String]) -> (String, Json) {
        let (what, args) = match rng.below(10) {
            0..=2 => ("create", self.create(rng)),
            3 => ("list", self.list(rng)),
            _ => {
                let (step, evidence) = *rng.pick(&self.agent);
                let id = format!("\"id\": \"{}\"", item(rng, self.name));
                let evidence = if evidence {
                    format!(", \"evidence\": [{}]", self::evidence(rng, calls))
                } else {
                    String::new()
                };
                (step, format!("{{{id}{evidence}}}"))
            }
        };
        let args = if rng.chance(2) { "{\"id\": 1}".to_string() } else { args };
        let args = Json::parse(&args).unwrap_or(Json::Null);
        (format!("{}_{what}", self.name), args)
    }

    /// The way of a new item, which is this many-th: made, moved on, verified, sent back and claimed again.
    pub fn way(&self, rng: &mut Rng, number: usize, calls: &[String]) -> Vec<Event> {
        let propose = |what: &str, args: String| {
            let args = Json::parse(&args).unwrap_or(Json::Null);
            Event::Propose(String::new(), format!("{}_{what}", self.name), args)
        };
        let number = if rng.chance(70) { 1 } else { number };
        let item = format!("{}-{number}", self.name);
        let mut way = vec![propose("create", self.create(rng))];
        for (step, evidence) in &self.agent {
            let evidence = if *evidence {
                format!(", \"evidence\": [{}]", self::evidence(rng, calls))
            } else {
                String::new()
            };
            way.push(propose(step, format!("{{\"id\": \"{item}\"{evidence}}}")));
        }
        let claim = way[way.len() - 1].clone();
        for _ in 0..rng.below(6) {
            way.push(match rng.below(6) {
                0 | 1 => self.by_hand(rng, item.clone()),
                2 | 3 => claim.clone(),
                _ => Event::Verify(item.clone()),
            });
        }
        way
    }

    /// The harness moves an item.
    pub fn by_hand(&self, rng: &mut Rng, item: String) -> Event {
        let reason = *rng.pick(&["the tests fail", "<&>"]);
        let reason = rng.chance(60).then(|| reason.to_string());
        Event::Move(item, (*rng.pick(self.harness)).to_string(), reason)
    }

    fn create(&self, rng: &mut Rng) -> String {
        let mut members = vec![format!("\"content\": \"{}\"", rng.pick(&["u", "ship it", "<x>"]))];
        if !self.criteria && rng.chance(50) {
            members.push("\"pin\": \"1234\"".to_string());
        }
        if self.due && rng.chance(50) {
            members.push(format!("\"due\": {}", rng.pick(&["null", "3"])));
        }
        if self.criteria {
            let count = if rng.chance(4) { 0 } else { 1 + rng.below(2) };
            let criteria: Vec<&str> = (0..count).map(|_| criterion(rng)).collect();
            members.push(format!("\"criteria\": [{}]", criteria.join(", ")));
        }
        format!("{{{}}}", members.join(", "))
    }

    fn list(&self, rng: &mut Rng) -> String {
        let mut members = Vec::new();
        if rng.chance(50) {
            members.push(format!("\"state\": \"{}\"", rng.pick(self.states)));
        }
        if rng.chance(40) {
            members.push(format!("\"after\": \"{}\"", item(rng, self.name)));
        }
        format!("{{{}}}", members.join(", "))
    }
}

/// An item's id, mostly one of the first two.
pub(super) fn item(rng: &mut Rng, lifecycle: &str) -> String {
    match rng.below(20) {
        0 => "todo-0".to_string(),
        1 => format!("{lifecycle}-01"),
        2 => "kept-1".to_string(),
        3..=5 => format!("{lifecycle}-3"),
        6..=9 => format!("{lifecycle}-2"),
        _ => format!("{lifecycle}-1"),
    }
}

fn criterion(rng: &mut Rng) -> &'static str {
    if rng.chance(10) {
        return rng.pick::<&str>(&[
            "{}",
            "{\"contains\": \"x\"}",
            "{\"git_commit\": false}",
            "{\"file\": \"/etc/x\"}",
            "{\"file\": \"a\", \"git_commit\": true}",
            "{\"command\": [\"rm\", \"-rf\"]}",
            "{\"command\": []}",
            "{\"probe\": \"unheard_of\"}",
        ]);
    }
    rng.pick::<&str>(&[
        "{\"file\": \"a\"}",
        "{\"file\": \"docs/../docs/x.md\"}",
        "{\"file\": \"a\", \"contains\": \"x\"}",
        "{\"file\": \"a\", \"contains\": \"\"}",
        "{\"command\": [\"make\", \"check\"]}",
        "{\"command\": [\"cat\", \"word\"]}",
        "{\"git_commit\": true}",
        "{\"probe\": \"ready\"}",
        "{\"probe\": \"level\"}",
        "{\"probe\": \"marker\"}",
    ])
}

fn evidence(rng: &mut Rng, calls: &[String]) -> String {
    let piece = |rng: &mut Rng| match rng.below(20) {
        0 => "{}".to_string(),
        1 => "{\"call\": \"c1\", \"file\": \"a\"}".to_string(),
        2 => "{\"call\": \"never\"}".to_string(),
        3..=6 => format!("{{\"file\": \"{}\"}}", rng.pick(&["a", "a", "../up", "docs/x.md"])),
        7..=9 => format!("{{\"file\": \"a\", \"sha256\": \"{:064x}\"}}", rng.below(3)),
        _ if !calls.is_empty() => format!("{{\"call\": \"{}\"}}", rng.pick(calls)),
        _ => "{\"file\": \"a\"}".to_string(),
    };
    let count = if rng.chance(5) { 0 } else { 1 + rng.below(5) / 4 };
    (0..count).map(|_| piece(rng)).collect::<Vec<_>>().join(", ")
}

/// None, one or two lifecycles.
pub(super) fn lifecycles(rng: &mut Rng) -> Vec<Drawn> {
    let mut drawn = Vec::new();
    if rng.chance(50) {
        drawn.push(todo(rng));
    }
    if rng.chance(25) {
        drawn.push(kept(rng));
    }
    drawn
}

fn todo(rng: &mut Rng) -> Drawn {
    let due = rng.chance(50);
    let fields = if due { "content: string max 20  due: int?" } else { "content: string max 20" };
    let evidence = rng.chance(60);
    let mut clauses = vec![
        format!("fields {{ {fields} }}"),
        "initial pending".to_string(),
        "agent start: pending -> doing".to_string(),
        format!(
            "agent claim: doing -> claimed{}",
            if evidence { " requires evidence" } else { "" }
        ),
        "harness verify: claimed -> verified when criteria pass".to_string(),
        "harness send_back: doing, claimed, verified -> doing".to_string(),
        "harness close: doing -> verified".to_string(),
        "final verified".to_string(),
    ];
    if rng.chance(70) {
        clauses.push("harness reject: claimed, doing -> doing when criteria fail".to_string());
    }
    let kinds = ["file", "file_contains", "command", "git_commit", "probe"];
    let mut kinds: Vec<&str> = kinds.into_iter().filter(|_| rng.chance(80)).collect();
    if kinds.is_empty() {
        kinds.push("file");
    }
    clauses.push(format!("criteria {}", kinds.join(", ")));
    if rng.chance(50) {
        clauses.push(format!(
            "escalate to {} after {} rejections",
            rng.pick(&["human", "boss"]),
            1 + rng.below(2)
        ));
    }
    Drawn {
        name: "todo",
        text: format!("lifecycle todo {{\n  {}\n}}", clauses.join("\n  ")),
        states: &["pending", "doing", "claimed", "verified"],
        agent: vec![("start", false), ("claim", evidence)],
        harness: &["send_back", "send_back", "send_back", "close", "verify", "start", "unheard_of"],
        criteria: true,
        due,
    }
}

fn kept(rng: &mut Rng) -> Drawn {
    let evidence = rng.chance(40);
    let requires = if evidence { " requires evidence" } else { "" };
    let mut text = format!(
        "lifecycle kept {{\n  fields {{ content: string  pin: secret string? }}\n  initial kept\n  \
         agent retract: kept -> retracted{requires}\n  harness restore: retracted -> kept\n  \
         agent shelve: kept, retracted -> shelved\n  final retracted, shelved\n"
    );
    if rng.chance(40) {
        text += "  escalate to human after 1 rejections\n";
    }
    Drawn {
        name: "kept",
        text: text + "}",
        states: &["kept", "retracted", "shelved"],
        agent: vec![("retract", evidence), ("shelve", false)],
        harness: &["restore", "retract"],
        criteria: false,
        due: false,
    }
}
