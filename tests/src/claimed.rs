//! Guards with properties, and sessions that try to break what is proved of them.
//!
//! The reference evaluator decides the calls. Whether a property would have refused one is worked out here, from a history of its own: no
//! code is shared with the prover, and nothing that the property reads makes a call wait.

use guard_compiler::CompilerOutput;
use guard_compiler::hir::Program;
use guard_compiler::reference::ReferenceSession;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::value::Value;
use guard_plan::verdict::Decision;
use std::fmt::Write as _;

/// The tools of every guard.
const TOOLS: [&str; 3] = ["a", "b", "c"];
/// A minute, in milliseconds.
const MINUTE: i64 = 60_000;

/// A rule that refuses calls.
#[derive(Debug, Clone)]
enum Denial {
    Requires {
        tool: usize,
        latest: bool,
        since: Option<usize>,
        within: Option<i64>,
    },
    Deny(Condition),
    /// A rule may ask above its count instead of refusing; a property never does.
    Limit {
        count: usize,
        scope: CountScope,
        success: bool,
        asks: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum CountScope {
    Session,
    InFlight,
    Window(i64),
}

#[derive(Debug, Clone)]
enum Condition {
    Called { tool: usize, since: Option<usize>, within: Option<i64> },
    Failed { tool: usize, since: Option<usize>, within: Option<i64> },
    Calls { tool: usize, failures: bool, more: usize },
    AtLeast(i64),
    Flag,
    Once(bool),
    Historically(bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

/// A guard with its properties, as what they say.
pub struct ClaimedGuard {
    /// The source.
    pub text: String,
    /// By property its tool and its rule, in the order of the source.
    properties: Vec<(usize, Denial)>,
}

/// The counts of what was tried.
#[derive(Debug, Default)]
pub struct PropertyCounts {
    /// Properties that were proved.
    pub proved: u32,
    /// Of these, by more than another rule or counter that says so at sight.
    pub reasoned: u32,
    /// Properties that were not.
    pub open: u32,
    /// Of these, broken in a session that was tried.
    pub broken: u32,
    /// Calls that were allowed and looked at.
    pub calls: u32,
}

/// A random guard with properties.
pub fn source(rng: &mut Rng) -> ClaimedGuard {
    let mut text =
        String::from("guard claimed\n\nstate {\n  x: int in 0..=4 = 0\n  f: bool = false\n}\n");
    let mut own: Vec<Vec<Denial>> = Vec::new();
    for (tool, name) in TOOLS.iter().enumerate() {
        let rules: Vec<Denial> = (0..rng.below(3)).map(|_| rule(rng, tool)).collect();
        let _ = writeln!(text, "\ntool {name}() {{");
        rules.iter().for_each(|rule| _ = writeln!(text, "  {}", words(rule)));
        let effect = ["", "effect f = true", "effect f = false", "effect x += 1", "effect x = 0"];
        let _ = writeln!(text, "  {}\n}}", rng.pick(&effect));
        own.push(rules);
    }
    let mut properties = Vec::new();
    for at in 0..2 + rng.below(3) {
        let tool = rng.below(TOOLS.len());
        let near = own[tool].clone();
        let claimed = if near.is_empty() || rng.chance(25) {
            claim(rng, tool)
        } else {
            weakened(rng, rng_pick(&near, at))
        };
        let _ =
            writeln!(text, "\nproperty p{at} for {} {{\n  {}\n}}", TOOLS[tool], words(&claimed));
        properties.push((tool, claimed));
    }
    ClaimedGuard { text, properties }
}

fn rng_pick(rules: &[Denial], at: usize) -> &Denial {
    &rules[at % rules.len()]
}

fn other(rng: &mut Rng, tool: usize) -> usize {
    (tool + 1 + rng.below(TOOLS.len() - 1)) % TOOLS.len()
}

fn age(rng: &mut Rng) -> Option<i64> {
    rng.chance(30).then(|| 1 + rng.below(4) as i64)
}

fn rule(rng: &mut Rng, tool: usize) -> Denial {
    if rng.chance(15) {
        let of = match rng.below(3) {
            0 => Condition::Flag,
            1 => Condition::Once(true),
            _ => Condition::Failed { tool: other(rng, tool), since: None, within: None },
        };
        return Denial::Deny(Condition::Not(Box::new(of)));
    }
    match rng.below(6) {
        0 | 1 => {
            let of = other(rng, tool);
            let since = rng.chance(40).then(|| other(rng, of)).filter(|since| *since != of);
            Denial::Requires { tool: of, latest: rng.chance(40), since, within: age(rng) }
        }
        2 => {
            let scope = *rng.pick(&[
                CountScope::Session,
                CountScope::InFlight,
                CountScope::Window(3),
                CountScope::Window(6),
            ]);
            let success = scope != CountScope::InFlight && rng.chance(40);
            let asks = scope != CountScope::InFlight && rng.chance(25);
            Denial::Limit { count: 1 + rng.below(3), scope, success, asks }
        }
        _ => Denial::Deny(condition(rng, 2)),
    }
}

/// A rule that refuses, as a property claims it.
fn claim(rng: &mut Rng, tool: usize) -> Denial {
    let mut claim = rule(rng, tool);
    if let Denial::Limit { asks, .. } = &mut claim {
        *asks = false;
    }
    claim
}

fn condition(rng: &mut Rng, depth: usize) -> Condition {
    let deeper = |rng: &mut Rng| Box::new(condition(rng, depth - 1));
    let tool = rng.below(TOOLS.len());
    match rng.below(if depth == 0 { 7 } else { 11 }) {
        0 => {
            let since = rng.chance(40).then(|| other(rng, tool));
            Condition::Called { tool, since, within: age(rng) }
        }
        1 => {
            let since = rng.chance(60).then(|| rng.below(TOOLS.len()));
            Condition::Failed { tool, since, within: age(rng) }
        }
        2 => Condition::Calls { tool, failures: rng.chance(40), more: rng.below(3) },
        3 => Condition::AtLeast(rng.below(6) as i64),
        4 => Condition::Flag,
        5 => Condition::Once(rng.chance(50)),
        6 => Condition::Historically(rng.chance(50)),
        7 | 8 => Condition::Not(deeper(rng)),
        9 => Condition::And(deeper(rng), deeper(rng)),
        _ => Condition::Or(deeper(rng), deeper(rng)),
    }
}

/// Something that often follows from a rule, and often nearly.
fn weakened(rng: &mut Rng, rule: &Denial) -> Denial {
    let plain = Condition::Called { tool: 0, since: None, within: None };
    match rule {
        Denial::Requires { tool, latest, since, within } => {
            let tool = *tool;
            let called = |since, within| Condition::Called { tool, since, within };
            let refused = |condition: Condition| Denial::Deny(Condition::Not(Box::new(condition)));
            match rng.below(6) {
                0 => Denial::Requires { tool, latest: false, since: None, within: *within },
                1 => Denial::Requires { tool, latest: *latest, since: *since, within: age(rng) },
                2 => refused(called(*since, within.map(|age| age + rng.below(3) as i64 - 1))),
                3 => refused(Condition::Calls { tool, failures: false, more: rng.below(2) }),
                4 => Denial::Deny(Condition::Failed { tool, since: Some(tool), within: age(rng) }),
                _ => refused(called(None, None)),
            }
        }
        Denial::Limit { count, scope, success, .. } => match rng.below(4) {
            0 => Denial::Limit {
                count: count + rng.below(2),
                scope: CountScope::InFlight,
                success: false,
                asks: false,
            },
            1 => {
                let success = rng.chance(50);
                Denial::Limit { count: *count, scope: CountScope::Window(4), success, asks: false }
            }
            2 => {
                let success = !success && *scope != CountScope::InFlight;
                Denial::Limit { count: *count, scope: *scope, success, asks: false }
            }
            _ => {
                let tool = rng.below(TOOLS.len());
                let failures = rng.chance(40);
                let more = count + rng.below(2) - 1;
                Denial::Deny(Condition::Calls { tool, failures, more })
            }
        },
        Denial::Deny(condition) => Denial::Deny(match (condition, rng.below(5)) {
            (_, 0) => {
                Condition::And(Box::new(condition.clone()), Box::new(self::condition(rng, 1)))
            }
            (Condition::Or(a, _), _) => (**a).clone(),
            (Condition::AtLeast(_), 1) => Condition::AtLeast(5),
            (Condition::Failed { tool, .. }, _) => {
                Condition::Calls { tool: *tool, failures: true, more: 0 }
            }
            (Condition::Calls { tool, failures: true, more: 0 }, _) => {
                Condition::Failed { tool: *tool, since: None, within: age(rng) }
            }
            (Condition::Once(wanted), _) => {
                if *wanted {
                    Condition::Flag
                } else {
                    Condition::Not(Box::new(Condition::Flag))
                }
            }
            (Condition::Flag, 2) => Condition::Not(Box::new(Condition::Historically(false))),
            (Condition::Not(of), 1 | 2) if matches!(**of, Condition::Once(_)) => {
                Condition::Not(Box::new(Condition::Flag))
            }
            (Condition::Not(of), 1..=3) if matches!(**of, Condition::Failed { .. }) => {
                let Condition::Failed { tool, .. } = **of else { return rule.clone() };
                let calls = Condition::Calls { tool, failures: rng.chance(30), more: 0 };
                Condition::Not(Box::new(calls))
            }
            (Condition::Not(of), 1..=3) if matches!(**of, Condition::Flag) => {
                let tool = rng.below(TOOLS.len());
                let calls = Condition::Calls { tool, failures: false, more: 0 };
                Condition::Not(Box::new(calls))
            }
            (_, 4) => plain,
            _ => condition.clone(),
        }),
    }
}

fn words(rule: &Denial) -> String {
    match rule {
        Denial::Requires { tool, latest, since, within } => {
            let latest = if *latest { "latest " } else { "" };
            format!("requires {latest}{}{}", TOOLS[*tool], ages(since, within))
        }
        Denial::Deny(condition) => format!("deny when {}", text(condition)),
        Denial::Limit { count, scope, success, asks } => {
            let success = if *success { " success" } else { "" };
            let ask = if *asks { " else ask boss" } else { "" };
            match scope {
                CountScope::Session => format!("limit {count}{success} per session{ask}"),
                CountScope::InFlight => format!("limit {count} in flight"),
                CountScope::Window(minutes) => {
                    format!("limit {count}{success} per {minutes}m{ask}")
                }
            }
        }
    }
}

fn ages(since: &Option<usize>, within: &Option<i64>) -> String {
    let since = since.map_or(String::new(), |tool| format!(" since {}", TOOLS[tool]));
    since + &within.map_or(String::new(), |minutes| format!(" within {minutes}m"))
}

fn text(condition: &Condition) -> String {
    let flag = |wanted: bool| if wanted { "f" } else { "(not f)" };
    match condition {
        Condition::Called { tool, since, within } => {
            format!("(called({}){})", TOOLS[*tool], ages(since, within))
        }
        Condition::Failed { tool, since, within } => {
            format!("(failed({}){})", TOOLS[*tool], ages(since, within))
        }
        Condition::Calls { tool, failures, more } => {
            let name = if *failures { "failures" } else { "calls" };
            format!("{name}({}) > {more}", TOOLS[*tool])
        }
        Condition::AtLeast(least) => format!("x >= {least}"),
        Condition::Flag => "f".into(),
        Condition::Once(wanted) => format!("(once {})", flag(*wanted)),
        Condition::Historically(wanted) => format!("(historically {})", flag(*wanted)),
        Condition::Not(of) => format!("not ({})", text(of)),
        Condition::And(a, b) => format!("(({}) and ({}))", text(a), text(b)),
        Condition::Or(a, b) => format!("(({}) or ({}))", text(a), text(b)),
    }
}

/// A call that was allowed.
struct AdmittedCall {
    tool: usize,
    /// When it was admitted: the event and the time.
    admitted: (usize, i64),
    /// When it settled, and whether it succeeded.
    settled: Option<(usize, i64, bool)>,
}

/// The history of a session, as the test keeps it itself.
#[derive(Default)]
struct OwnHistory {
    calls: Vec<AdmittedCall>,
    event: usize,
    now: i64,
    /// The committed states: `x` and `f`.
    states: Vec<(i64, bool)>,
}

impl OwnHistory {
    fn ended(
        &self,
        tool: usize,
        success: bool,
    ) -> impl Iterator<Item = (&AdmittedCall, (usize, i64))> {
        self.calls.iter().filter(move |call| call.tool == tool).filter_map(move |call| {
            let (event, time, ok) = call.settled?;
            (ok == success).then_some((call, (event, time)))
        })
    }

    fn young(&self, time: i64, within: Option<i64>) -> bool {
        within.is_none_or(|minutes| self.now - time <= minutes * MINUTE)
    }

    /// A success counts if no call of the other tool was in flight or began since it was admitted.
    fn counts(&self, call: &AdmittedCall, since: Option<usize>, within: Option<i64>) -> bool {
        let before =
            |b: &AdmittedCall| b.settled.is_some_and(|(event, ..)| event < call.admitted.0);
        let others = |tool: usize| self.calls.iter().filter(move |b| b.tool == tool);
        self.young(call.admitted.1, within) && since.is_none_or(|tool| others(tool).all(before))
    }

    fn holds(&self, condition: &Condition) -> bool {
        let (x, f) = self.states[self.states.len() - 1];
        match condition {
            Condition::Called { tool, since, within } => {
                self.ended(*tool, true).any(|(call, _)| self.counts(call, *since, *within))
            }
            Condition::Failed { tool, since, within } => {
                let last = since.and_then(|b| self.ended(b, true).map(|(_, (at, _))| at).max());
                self.ended(*tool, false).any(|(_, (event, time))| {
                    last.is_none_or(|last| event > last) && self.young(time, *within)
                })
            }
            Condition::Calls { tool, failures, more } => {
                self.ended(*tool, !failures).count() > *more
            }
            Condition::AtLeast(least) => x >= *least,
            Condition::Flag => f,
            Condition::Once(wanted) => self.states.iter().any(|(_, f)| f == wanted),
            Condition::Historically(wanted) => self.states.iter().all(|(_, f)| f == wanted),
            Condition::Not(of) => !self.holds(of),
            Condition::And(a, b) => self.holds(a) && self.holds(b),
            Condition::Or(a, b) => self.holds(a) || self.holds(b),
        }
    }

    /// Returns true if the rule would refuse a call of the tool now.
    fn refuses(&self, tool: usize, rule: &Denial) -> bool {
        match rule {
            Denial::Requires { tool, latest, since, within } => {
                let met = |call: &AdmittedCall| self.counts(call, *since, *within);
                let mut ended: Vec<(usize, &AdmittedCall, bool)> = Vec::new();
                for success in [true, false] {
                    let of = self.ended(*tool, success);
                    ended.extend(of.map(|(call, (event, _))| (event, call, success)));
                }
                let last = ended.iter().max_by_key(|(event, ..)| *event);
                if *latest {
                    !last.is_some_and(|(_, call, success)| *success && met(call))
                } else {
                    !ended.iter().any(|(_, call, success)| *success && met(call))
                }
            }
            Denial::Deny(condition) => self.holds(condition),
            Denial::Limit { count, scope, success, .. } => {
                let counted = |call: &&AdmittedCall| {
                    let failed = call.settled.is_some_and(|(.., ok)| !ok);
                    call.tool == tool
                        && !(*success && failed)
                        && match scope {
                            CountScope::Session => true,
                            CountScope::InFlight => call.settled.is_none(),
                            CountScope::Window(minutes) => {
                                self.now - call.admitted.1 < minutes * MINUTE
                            }
                        }
                };
                self.calls.iter().filter(counted).count() >= *count
            }
        }
    }
}

/// Tries to break what is proved of a guard's properties, in so many sessions; the error says which was, and how.
pub fn try_guard(
    guard: &ClaimedGuard,
    output: &CompilerOutput,
    rng: &mut Rng,
    sessions: usize,
    tried: &mut PropertyCounts,
) -> Result<(), String> {
    use guard_compiler::verify::Basis;
    let Some(properties) = &output.properties else { return Ok(()) };
    let mut proved = vec![false; guard.properties.len()];
    for claim in &properties.claims {
        proved[claim.property] = claim.proof.is_some();
        let sight = |by: &Vec<Basis>| matches!(&by[..], [Basis::Rule(_) | Basis::Limits]);
        match &claim.proof {
            Some(by) => {
                tried.proved += 1;
                tried.reasoned += u32::from(!sight(by));
            }
            None => tried.open += 1,
        }
    }
    let mut broken = vec![false; guard.properties.len()];
    for _ in 0..sessions {
        session(guard, &output.program, rng, tried, &mut |at, history| {
            broken[at] = true;
            if proved[at] {
                Err(format!("p{at} is proved, and broken after {history}"))
            } else {
                Ok(())
            }
        })?;
    }
    tried.broken += broken.iter().filter(|broken| **broken).count() as u32;
    Ok(())
}

fn session(
    guard: &ClaimedGuard,
    program: &Program,
    rng: &mut Rng,
    tried: &mut PropertyCounts,
    broken: &mut dyn FnMut(usize, &str) -> Result<(), String>,
) -> Result<(), String> {
    let mut reference = ReferenceSession::open(program, 0, "/", None).map_err(|(_, why)| why)?;
    let mut history = OwnHistory { states: vec![state(&reference)], ..OwnHistory::default() };
    let mut told = String::new();
    // Some sessions never have two calls in flight, some nearly always.
    let patience = rng.below(100);
    for step in 0..14 {
        history.event += 1;
        if rng.chance(25) {
            history.now += (1 + rng.below(3) as i64) * MINUTE;
        }
        let flying: Vec<usize> =
            (0..history.calls.len()).filter(|at| history.calls[*at].settled.is_none()).collect();
        if !flying.is_empty() && !rng.chance(patience) {
            let at = *rng.pick(&flying);
            let success = rng.chance(65);
            let settled =
                reference.settle(&format!("call-{at}"), success, None, history.now, &|_| None);
            settled.map_err(|why| format!("{why:?}"))?;
            history.calls[at].settled = Some((history.event, history.now, success));
            history.states.push(state(&reference));
            let _ = write!(told, "{} of call {at}, ", if success { "success" } else { "failure" });
            continue;
        }
        let tool = rng.below(TOOLS.len());
        let id = format!("call-{}", history.calls.len());
        let args = Json::Object(Vec::new());
        // Whoever is asked approves.
        let expires = Some(history.now + MINUTE);
        let _ = reference.approve(TOOLS[tool], &args, "boss", expires, history.now);
        let judged = reference.propose(&id, TOOLS[tool], &args, history.now, &|_| None);
        let judged = judged.map_err(|why| format!("{why:?}"))?;
        if judged.decision != Decision::Allow {
            continue;
        }
        tried.calls += 1;
        let _ = write!(
            told,
            "call {} of {} at {}m, ",
            history.calls.len(),
            TOOLS[tool],
            history.now / MINUTE
        );
        for (at, (of, rule)) in guard.properties.iter().enumerate() {
            if *of == tool && history.refuses(tool, rule) {
                broken(at, &format!("{told}at step {step}"))?;
            }
        }
        history.calls.push(AdmittedCall {
            tool,
            admitted: (history.event, history.now),
            settled: None,
        });
    }
    Ok(())
}

fn state(reference: &ReferenceSession) -> (i64, bool) {
    let mut state = (0, false);
    for (name, value) in reference.state() {
        match (name, value) {
            ("x", Value::Int(x)) => state.0 = *x,
            ("f", Value::Bool(f)) => state.1 = *f,
            _ => {}
        }
    }
    state
}
