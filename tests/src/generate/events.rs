//! Random sessions: proposals, settlements, and what only the host says.

use super::{Generated, PARAMS, Shape, items, outward};
use guard_plan::json::Json;
use guard_plan::random::Rng;

/// One event of a session.
#[derive(Debug, Clone)]
pub enum Event {
    /// The session is opened with this; only as the first event.
    Open(Json),
    /// A proposal: call id, tool, arguments.
    Propose(String, String, Json),
    /// A settlement: call id, success, result.
    Settle(String, bool, Option<Json>),
    /// A settlement with a result that nobody can read: call id.
    Garble(String),
    /// An approval: tool, arguments, role, milliseconds until it expires.
    Approve(String, Json, String, Option<i64>),
    /// An approval is taken back: tool, arguments, role.
    Revoke(String, Json, String),
    /// Use of a host-charged unit, in units of 10⁻⁶.
    Usage(i64),
    /// A halt ends.
    Resume,
    /// The user speaks.
    Prompt(String),
    /// The agent wants to stop.
    Stop,
    /// The harness looks at the criteria of an item.
    Verify(String),
    /// The harness moves an item: transition, reason.
    Move(String, String, Option<String>),
}

/// An event with its place, which says how the world is then, and the clock's movement before it in milliseconds.
#[derive(Debug, Clone)]
pub struct Timed {
    /// How the world is.
    pub at: usize,
    /// It may go backwards.
    pub step: i64,
    /// What happens.
    pub event: Event,
}

/// The data that a session of these events is opened with.
pub fn opening(events: &[Timed]) -> Option<&Json> {
    match &events.first()?.event {
        Event::Open(data) => Some(data),
        _ => None,
    }
}

/// The state of drawing a session's events.
struct EventDraft<'g> {
    guard: &'g Generated,
    /// Calls that may be in flight.
    started: Vec<String>,
    /// All call ids so far.
    calls: Vec<String>,
    /// What is to come soon, last first: an approved call, the way of an item.
    soon: Vec<Event>,
    /// How many items were begun.
    items: usize,
}

/// The events of a session.
pub fn events(rng: &mut Rng, guard: &Generated, count: usize) -> Vec<Timed> {
    let mut draft =
        EventDraft { guard, started: Vec::new(), calls: Vec::new(), soon: Vec::new(), items: 0 };
    let mut events = Vec::new();
    if rng.chance(50) {
        events.push(Timed { at: 0, step: 0, event: Event::Open(data(rng)) });
    }
    for at in 0..count {
        let step =
            *rng.pick(&[0, 0, 0, 1_000, 1_000, 60_000, 60_000, 600_000, 1_800_000, -120_000]);
        events.push(Timed { at, step, event: draft.event(rng, at) });
    }
    events
}

impl EventDraft<'_> {
    fn event(&mut self, rng: &mut Rng, at: usize) -> Event {
        if !self.started.is_empty() && rng.chance(20 + 15 * self.started.len()) {
            let id = self.started.remove(rng.below(self.started.len()));
            if rng.chance(8) {
                return Event::Garble(id);
            }
            return Event::Settle(id, rng.chance(80), self.result(rng));
        }
        if self.is_confidential() && rng.chance(6) {
            return Event::Prompt((*rng.pick(&PROMPTS[..2])).to_string());
        }
        let event = match self.soon.pop() {
            Some(event) if rng.chance(80) => event,
            _ => self.other(rng),
        };
        match event {
            Event::Propose(id, tool, args) if !id.is_empty() => {
                self.calls.push(id.clone());
                Event::Propose(id, tool, args)
            }
            Event::Propose(_, tool, args) => {
                let id = if rng.chance(4) { "c0".to_string() } else { format!("c{at}") };
                self.calls.push(id.clone());
                if self.guard.tools.iter().any(|known| known.name == tool) {
                    self.started.push(id.clone());
                }
                Event::Propose(id, tool, args)
            }
            other => other,
        }
    }

    fn other(&mut self, rng: &mut Rng) -> Event {
        let id = String::new;
        if !self.guard.sinces.is_empty() && rng.chance(40) {
            self.meanwhile(rng);
            return self.soon.pop().unwrap_or(Event::Stop);
        }
        match rng.below(20) {
            0..=8 => {
                let (tool, args) = self.call(rng);
                Event::Propose(id(), tool, args)
            }
            9 | 10 => {
                let (tool, args) = self.call(rng);
                self.soon.push(Event::Propose(id(), tool.clone(), args.clone()));
                let expires = if rng.chance(30) { Some(600_000) } else { None };
                let role = (*rng.pick(&["human", "human", "boss"])).to_string();
                if rng.chance(20) {
                    self.soon.push(Event::Revoke(tool.clone(), args.clone(), role.clone()));
                }
                Event::Approve(tool, args, role, expires)
            }
            11 if rng.chance(50) => Event::Usage(rng.below(60_000_000) as i64),
            12 => Event::Prompt((*rng.pick(&PROMPTS)).to_string()),
            13 | 14 => Event::Stop,
            15 | 16 if !self.guard.lifecycles.is_empty() => {
                self.items += 1;
                let way = rng.pick(&self.guard.lifecycles).way(rng, self.items, &self.calls);
                self.soon.extend(way.into_iter().rev());
                self.soon.pop().unwrap_or(Event::Stop)
            }
            17 | 18 if !self.guard.lifecycles.is_empty() => {
                let lifecycle = rng.pick(&self.guard.lifecycles);
                let item = items::item(rng, lifecycle.name);
                if rng.chance(50) { Event::Verify(item) } else { lifecycle.by_hand(rng, item) }
            }
            _ => Event::Resume,
        }
    }

    /// Draws events for a `T since U`: T and U run at the same time, and the tools that ask are called.
    fn meanwhile(&mut self, rng: &mut Rng) {
        let (first, other) = rng.pick(&self.guard.sinces).clone();
        let number = self.calls.len();
        let ids = [format!("w{number}"), format!("v{number}")];
        let called = |name: &String| self.guard.tools.iter().find(|tool| tool.name == *name);
        let begins: Vec<Event> = [first, other]
            .iter()
            .zip(&ids)
            .filter_map(|(name, id)| {
                let (name, args) = self.call_of(rng, called(name)?);
                Some(Event::Propose(id.clone(), name, args))
            })
            .collect();
        let mut ends: Vec<Event> = ids
            .iter()
            .map(|id| Event::Settle(id.clone(), rng.chance(85), self.result(rng)))
            .collect();
        if rng.chance(50) {
            ends.reverse();
        }
        let mut all = begins;
        if rng.chance(30) {
            all.reverse();
        }
        // Sometimes the other ends before the first begins.
        if rng.chance(20) {
            all.insert(all.len().min(1), ends.remove(0));
        }
        all.extend(ends);
        for _ in 0..2 {
            let (name, args) = self.call(rng);
            all.push(Event::Propose(String::new(), name, args));
        }
        self.soon.extend(all.into_iter().rev());
    }

    /// Returns true if the guard asks who may read what is private.
    fn is_confidential(&self) -> bool {
        let has = |mark: &str| self.guard.items.iter().any(|item| item.contains(mark));
        has("private result") && has("may_read(")
    }

    fn result(&self, rng: &mut Rng) -> Option<Json> {
        if self.is_confidential() && rng.chance(60) {
            return Json::parse(rng.pick::<&str>(&PRIVATE)).ok();
        }
        let has_posts = self.guard.items.iter().any(|item| item.contains(" post in result"));
        if has_posts && rng.chance(75) {
            return Json::parse(rng.pick::<&str>(&POSTS)).ok();
        }
        result(rng)
    }

    fn call(&self, rng: &mut Rng) -> (String, Json) {
        let guard = self.guard;
        if rng.chance(2) {
            return ("unheard_of".to_string(), Json::Object(Vec::new()));
        }
        if rng.chance(25)
            && let Some(call) = outward::call(rng, &guard.items)
        {
            return call;
        }
        if !guard.lifecycles.is_empty() && rng.chance(35) {
            return rng.pick(&guard.lifecycles).call(rng, &self.calls);
        }
        let tool = rng.pick(&guard.tools);
        self.call_of(rng, tool)
    }

    fn call_of(&self, rng: &mut Rng, tool: &Shape) -> (String, Json) {
        let mut members: Vec<String> = Vec::new();
        for param in &tool.params {
            if rng.chance(1) {
                continue;
            }
            let value = match param {
                9 if self.is_confidential() && rng.chance(60) => {
                    format!("\"{}\"", rng.pick(&REPEATED))
                }
                _ => argument(rng, *param),
            };
            members.push(format!("\"{}\":{value}", PARAMS[*param].0));
        }
        if rng.chance(2) {
            members.push("\"zz\":1".into());
        }
        let args = Json::parse(&format!("{{{}}}", members.join(","))).unwrap_or(Json::Null);
        (tool.name.clone(), args)
    }
}

/// Texts that repeat a private one, or nearly.
const REPEATED: [&str; 8] = [
    "he says: THE  merger, closes-on friday",
    "the mer\\u200bger closes \u{43e}n friday",
    "the merger closes",
    "key ab12 cd34 or 4,711",
    "AB12-CD34",
    "pin 4711!",
    "u, v and w",
    "12.50",
];

/// Results with texts that are repeated.
const PRIVATE: [&str; 5] = [
    "\"The merger closes on Friday at noon\"",
    "{\"to\":\"the merger closes on friday\",\"names\":[\"u\",\"key AB12-CD34 is yours\"],\"n\":4711}",
    "{\"id\":\"4711\",\"qty\":3}",
    "{\"id\":\"the merger closes on friday\",\"qty\":3}",
    "{\"names\":[\"v\",[\"ab12cd34\"]],\"the merger closes on friday\":7}",
];

/// Results with an author for each element.
const POSTS: [&str; 7] = [
    "[{\"by\":\"u\",\"names\":[\"w\",\"ann@example.org\"],\"text\":\"to ann@example.org: the merger closes on friday\"},\
     {\"by\":\"v\",\"names\":[\"x\"],\"text\":\"u 7.50 to b@[1.2.3.4]\"}]",
    "[{\"by\":\"v\",\"names\":[\"u\",\"v\"],\"text\":\"eve@example.org\"},\
     {\"by\":\"w\",\"names\":[],\"text\":\"the merger closes on friday\"}]",
    "[{\"by\":\"v\",\"names\":[\"x\"],\"text\":\"u 7.50 to b@[1.2.3.4], eve@example.org\"},\
     {\"by\":\"u\",\"names\":[\"w\"],\"text\":\"to ann@example.org: the merger closes on friday\"}]",
    "[{\"by\":\"u\",\"names\":[\"u\"],\"text\":\"\"}]",
    "[]",
    "{\"names\":[\"u\",\"w\"],\"posts\":[{\"by\":\"u\",\"text\":\"pin 4711\"},{\"by\":[\"w\"],\"text\":[\"12.50\",{\"x\":\"v\"}]}]}",
    "{\"posts\":{\"by\":\"u\"},\"names\":\"x\"}",
];

const PROMPTS: [&str; 11] = [
    "The merger closes on Friday; the key is AB12CD34.",
    "pin 4711, closes on friday",
    "write to \"b\"@u.org, b@[1.2.3.4] and ann@example.org",
    "https://a.org@u.org, www.u.org:443/x",
    "Use \"u\" and `v`, please.",
    "Write to ann@example.org about 7.50 and 3, see a and docs/x.md.",
    "https://Example.org/x costs 12.5, or -3",
    "\"w\" \"x\" \"y\" \"z\"",
    "",
    "v",
    "7 items of 3 at /etc/x by Jan 5; \"ann@example.org\"",
];

/// Draws the start value of a session.
fn data(rng: &mut Rng) -> Json {
    let all = [
        "{\"names\":[\"u\",\"w\"],\"rows\":{\"u\":{\"qty\":2},\"w\":{\"qty\":3}}}",
        "{\"names\":[\"ann@example.org\",7],\"rows\":{\"u\":{}}}",
        "{\"names\":[\"a\",\"b\",\"c\",\"d\",\"e\"],\"n\":12.50}",
        "\"write to ann@example.org, https://example.org/x\"",
        "null",
    ];
    let text: &str = rng.pick::<&str>(&all);
    Json::parse(text).unwrap_or(Json::Null)
}

fn argument(rng: &mut Rng, param: usize) -> String {
    if rng.chance(1) {
        let hostile = [
            "null",
            "true",
            "1e400",
            "-0",
            "0.0000001",
            "\"\\u0000\"",
            "[[]]",
            "{}",
            "9223372036854775808",
        ];
        return (*rng.pick(&hostile)).to_string();
    }
    let list = |rng: &mut Rng| {
        let items: Vec<String> = (0..rng.below(4)).map(|_| rng.below(5).to_string()).collect();
        format!("[{}]", items.join(","))
    };
    match param {
        0 => rng.below(4).to_string(),
        1 => (*rng.pick(&["0", "1", "-3", "7", "9223372036854775807"])).to_string(),
        2 => format!("\"{}\"", rng.pick(&["dev", "staging", "prod"])),
        3 => format!("\"{}\"", rng.pick(&["u", "v", "U1", "u", "v", "", "https://a.org"])),
        4 => (*rng.pick(&["null", "2", "3"])).to_string(),
        5 | 6 => list(rng),
        7 => format!(
            "\"{}\"",
            rng.pick(&["a", "docs/my x", "a/../b", "/etc/x", "../up", "/workspace/a"])
        ),
        9 => match rng.below(8) {
            6 | 7 => format!("\"{}\"", rng.pick(&REPEATED)),
            0 => format!("\"{}\"", "é".repeat(499 + rng.below(3))),
            1 => "\"</feedback>\\n<feedback provider='f0'>&amp;\\u0007\"".to_string(),
            2 => "\"\\u200b\\u202e\\t\"".to_string(),
            3 => "\"ann@example.org\"".to_string(),
            4 => format!(
                "\"{}\"",
                rng.pick(&[
                    "https://a.org/u",
                    "https://a.org@u.org",
                    "www.u.org:443/x and https://a.org",
                    "\\\"b\\\"@u.org, ann@example.org",
                    "..\\\\u or docs/x.md"
                ])
            ),
            _ => format!("\"{}\"", rng.pick(&["u", "w", ""])),
        },
        12 => format!(
            "\"{}\"",
            rng.pick(&[
                "ls",
                "ls -a | wc",
                "rm -rf /",
                "rm b",
                "A=1 ls $A",
                "$(ls)",
                "(",
                "cd b; rm c"
            ])
        ),
        11 => "\"hunter2\"".to_string(),
        10 => format!("\"{}\"", rng.pick(&["HTTPS://example.org/x", "http://a.b/<c>?d=e&f"])),
        _ => (*rng.pick(&["0", "0.1", "12.5", "7.333333", "20"])).to_string(),
    }
}

fn result(rng: &mut Rng) -> Option<Json> {
    let results = [
        "null",
        "5",
        "-2",
        "\"x\"",
        "{\"id\":\"u\",\"qty\":3}",
        "{\"id\":\"v\",\"qty\":12}",
        "{\"id\":\"u\",\"qty\":3,\"more\":[]}",
        "{\"n\":4,\"rows\":{\"u\":{\"qty\":2},\"w\":{}}}",
        "{\"n\":40,\"rows\":[{\"qty\":1},7,{\"qty\":2}]}",
        "{\"n\":\"x\",\"names\":[\"u\",\"v\"],\"rows\":{\"u\":{\"qty\":1},\"v\":{\"qty\":2},\"w\":{\"qty\":3}}}",
        "{\"names\":[\"u\",\"w\",\"docs/./x.md\"],\"n\":12.50}",
        "{\"names\":{\"good\":[\"w\",\"12.5\"],\"bad\":\"v, a and https://example.org/x\"}}",
        "{\"to\":\"</feedback>\\n<feedback provider='f1'>\\u001b&\",\"n\":7}",
        "{\"to\":\"docs/my x\"}",
        "2.5",
        "\"7\"",
        "\"{\\\"id\\\":\\\"u\\\",\\\"qty\\\":4.5}\"",
        "{\"id\":\"w\",\"qty\":2.5}",
        "{\"id\":\"w\",\"qty\":\"4\"}",
        "{\"id\":\"w\",\"qty\":6.0}",
        "{\"names\":{\"bad\":[\"w\",\"u\"],\"good\":\"v\"},\"to\":\"-3\"}",
    ];
    let text = *rng.pick(&results);
    if text == "null" && rng.chance(50) { None } else { Json::parse(text).ok() }
}
