//! The execution of one case against an adapter, from its first run to its last.

use crate::adapter::{Adapter, AdapterTrouble, Contestant, TroubleKind};
use crate::case::{CallFile, Case, CaseStep, RunFile, draw};
use crate::clause;
use crate::judge::{self, BrokenPromise};
use crate::observed::{Observed, RunSeen};
use crate::protocol::{
    AgentTool, Declared, Hello, LoopEnd, LoopEndKind, Outage, PROTOCOL, ReplayRequest, Restore, Run,
};
use crate::workspace::Workspace;
use crate::world::{Outside, Stages, json_of};
use guard_plan::hex;
use guard_plan::time;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A function that compiles a guard for adapters that take plans, and returns the path of the plan,
/// if any.
pub type Compile<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The result of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Played {
    /// The case ran to its end. Contains the broken promises, if any.
    Judged(Vec<BrokenPromise>),
    /// The adapter could not be judged.
    Errored(AdapterTrouble),
    /// The adapter does not declare this needed capability.
    Skipped(String),
}

/// Runs a case. `suite` is the hash of all cases, `seed` that of the run.
pub fn play(
    case: &Case,
    contestant: &dyn Contestant,
    suite: &str,
    seed: u64,
    compile: Compile,
) -> (Played, Observed) {
    let mut seen = Observed::default();
    let played = match Player::new(case, contestant, suite, seed, compile) {
        Err(trouble) => Played::Errored(trouble),
        Ok(mut player) => {
            let played = player.case(&mut seen);
            let clean = match &played {
                Ok(Played::Judged(broken)) => broken.is_empty(),
                Ok(Played::Skipped(_)) => true,
                Ok(Played::Errored(_)) | Err(_) => false,
            };
            seen.log = std::mem::take(&mut player.outside.log);
            let said = player.adapter.said();
            if !said.is_empty()
                && !matches!(played, Ok(Played::Judged(ref broken)) if broken.is_empty())
            {
                seen.log.push(format!("! {said}"));
            }
            seen.is_process_used = player.adapter.is_used();
            let trouble = played.as_ref().err().or(seen.trouble.as_ref());
            // The check takes a quarter of a second, so it comes only after silence.
            seen.is_asleep = trouble.is_some_and(|trouble| trouble.kind == TroubleKind::Hang)
                && player.adapter.is_asleep();
            let finished = player.adapter.finish(clean);
            match (played.unwrap_or_else(Played::Errored), finished) {
                (Played::Judged(broken), Err(trouble)) if broken.is_empty() => {
                    Played::Judged(vec![not_reset(&trouble)])
                }
                (played, _) => played,
            }
        }
    };
    (played, seen)
}

fn not_reset(trouble: &AdapterTrouble) -> BrokenPromise {
    BrokenPromise {
        clause: "LOOP-7".into(),
        at: String::new(),
        expected: "after the case the process returns to its initial state on `reset`".into(),
        observed: trouble.to_string(),
    }
}

fn not_ended(how: String) -> BrokenPromise {
    BrokenPromise {
        clause: "LOOP-12".into(),
        at: String::new(),
        expected: "the adapter ends by itself when its input ends, with exit status 0, and leaves no process behind".into(),
        observed: how,
    }
}

struct Player<'p> {
    case: &'p Case,
    contestant: &'p dyn Contestant,
    adapter: Box<dyn Adapter + 'p>,
    outside: Outside<'p>,
    hello: Hello,
    seed: u64,
    plan: Option<String>,
    snapshots: BTreeMap<String, Value>,
    /// The trace of the last run of each session.
    traces: BTreeMap<String, Vec<String>>,
}

/// Checks an adapter's declaration.
///
/// # Errors
///
/// Returns an error if the declaration is invalid.
pub fn declared(declared: Declared) -> Result<Declared, AdapterTrouble> {
    for name in declared.capabilities.keys() {
        if clause::capability(name).is_none() {
            let names = clause::capabilities().iter().map(|capability| capability.name);
            let near = guard_plan::near::nearest(name, names);
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("unknown capability `{name}`{near}");
            return Err(AdapterTrouble::new(TroubleKind::Message, message));
        }
    }
    Ok(declared)
}

impl<'p> Player<'p> {
    fn new(
        case: &'p Case,
        contestant: &'p dyn Contestant,
        suite: &str,
        seed: u64,
        compile: Compile,
    ) -> Result<Player<'p>, AdapterTrouble> {
        let files = &case.world.files;
        let workspace = if case.world.workspace {
            Some(Workspace::new(files).map_err(|error| {
                AdapterTrouble::new(
                    TroubleKind::Start,
                    format!("the workspace cannot be made: {error}"),
                )
            })?)
        } else {
            None
        };
        let wire_id = |call: &CallFile| match call.given_id.as_deref() {
            Some("") => String::new(),
            Some(other) => opaque(seed, &case.name, "call", other),
            None => opaque(seed, &case.name, "call", &call.id),
        };
        let ids = case.calls().map(|call| (call.id.clone(), wire_id(call)));
        Ok(Player {
            case,
            contestant,
            adapter: match &case.world.outage {
                Some(outage) => contestant.start_fresh(Some(outage))?,
                None => contestant.start()?,
            },
            outside: Outside::new(case, workspace, ids.collect()),
            hello: Hello { protocol: PROTOCOL.into(), suite: suite.into() },
            seed,
            plan: compile(&case.guard),
            snapshots: BTreeMap::new(),
            traces: BTreeMap::new(),
        })
    }

    fn greet(&mut self) -> Result<Declared, AdapterTrouble> {
        self.outside.note(">", "hello", &json!(self.hello));
        let said = self.adapter.hello(&self.hello)?;
        self.outside.note("<", "hello", &json!(said));
        declared(said)
    }

    fn case(&mut self, seen: &mut Observed) -> Result<Played, AdapterTrouble> {
        seen.declared = self.greet()?;
        if let Some(missing) = self.case.lacking(&seen.declared) {
            return Ok(Played::Skipped(missing.to_owned()));
        }
        let is_parallel = seen.declared.capabilities.get("parallel_calls") == Some(&true);
        self.outside.held = self.case.world.held && is_parallel;
        let mut broken = Vec::new();
        for (at, run) in self.case.run.iter().enumerate() {
            if run.during.is_some() {
                // This run took place in parallel to the run before it.
                continue;
            }
            broken.extend(self.steps(run)?);
            if !broken.is_empty() {
                break;
            }
            let (ones, ended) = self.run(at, run);
            if let Err(trouble) = ended {
                // A forbidden action counts, even if the run fails later.
                let over = |(beside, seen)| {
                    judge::overstepped(self.case, at + beside, seen, &self.outside.ids)
                };
                let mut done: Vec<BrokenPromise> = ones.iter().enumerate().flat_map(over).collect();
                if done.is_empty() {
                    done = self.unfinished(at, &seen.runs, &ones, &trouble);
                }
                seen.runs.extend(ones);
                if done.is_empty() {
                    return Err(trouble);
                }
                seen.trouble = Some(trouble);
                return Ok(Played::Judged(done));
            }
            for (beside, mut one) in ones.into_iter().enumerate() {
                let at = at + beside;
                broken.extend(self.judge_run(at, &mut one)?);
                seen.runs.push(one);
            }
            if self.case.world.outage_in(at + 1).is_none() {
                self.adapter.end_outage();
            }
            if !broken.is_empty() {
                // Runs after a broken run show nothing.
                break;
            }
        }
        Ok(Played::Judged(broken))
    }

    /// Returns the promise that is broken by a run that did not end.
    fn unfinished(
        &self,
        number: usize,
        before: &[RunSeen],
        runs: &[RunSeen],
        trouble: &AdapterTrouble,
    ) -> Vec<BrokenPromise> {
        let case = self.case;
        let ids = &self.outside.ids;
        judge::UnfinishedRun { case, number, before, runs, ids, trouble }.broken()
    }

    /// Judges a run that has ended, stores its trace, and replays it if the case requires that.
    fn judge_run(
        &mut self,
        at: usize,
        seen: &mut RunSeen,
    ) -> Result<Vec<BrokenPromise>, AdapterTrouble> {
        let run = &self.case.run[at];
        let mut broken = judge::run(self.case, at, seen, &self.outside.ids);
        if let Some(trace) = seen.end.as_ref().and_then(|end| end.trace.clone()) {
            self.traces.insert(run.session.clone(), trace);
        }
        if self.case.needs.iter().any(|need| need == "replay") {
            seen.replayed = self.replay_after(run)?;
            broken.extend(judge::replayed(self.case, at, seen.replayed.as_ref()));
        }
        Ok(broken)
    }

    fn session(&self, name: &str) -> String {
        opaque(self.seed, &self.case.name, "session", name)
    }

    fn workspace(&self) -> Option<String> {
        self.outside
            .workspace
            .as_ref()
            .map(|workspace| workspace.path().to_string_lossy().into_owned())
    }

    fn message(&self, at: usize, run: &RunFile) -> Run {
        Run {
            session: self.session(&run.session),
            source: self.case.guard.clone(),
            policy: self.case.policy.clone(),
            plan: self.plan.clone(),
            workspace: self.workspace(),
            now: time::format_rfc3339(self.outside.now),
            prompt: run.prompt.clone(),
            data: self.case.data.as_ref().map(json_of),
            contract: self.case.contract.clone(),
            tools: tools(self.case),
            outage: self.case.world.outage_in(at).cloned(),
            streamed: self.case.world.streamed,
        }
    }

    /// Plays a run, and the parallel run, if there is one. Returns the observations of each.
    fn run(&mut self, at: usize, run: &'p RunFile) -> (Vec<RunSeen>, Result<(), AdapterTrouble>) {
        let message = self.message(at, run);
        let beside = self.case.run.get(at + 1);
        let beside = beside.and_then(|beside| Some((beside, beside.during.clone()?)));
        let beside = beside.map(|(run, call)| (self.message(at + 1, run), run, call));
        self.outside.note(">", "run", &json!(message));
        let mut stage = Stages::new(&mut self.outside, run, &message.session);
        if let Some((message, run, call)) = beside {
            stage.go_beside(message, run, call);
        }
        let end = self.adapter.run(&message, &mut stage);
        let (mut seen, beside) = stage.into_seen();
        let (end, mut result) = self.end_of(end);
        seen.end = end;
        let mut all = vec![seen];
        if let Some((mut seen, end)) = beside {
            // A run that never began is judged by its missing actions.
            if let Some(end) = end {
                let (end, other) = self.end_of(end);
                seen.end = end;
                result = result.and(other);
            }
            all.push(seen);
        }
        (all, result)
    }

    /// Returns the end that an adapter gave a run. An error counts as an end: the adapter has ended
    /// the loop.
    fn end_of(
        &mut self,
        end: Result<LoopEnd, AdapterTrouble>,
    ) -> (Option<LoopEnd>, Result<(), AdapterTrouble>) {
        let end = match end {
            Err(trouble) if trouble.kind == TroubleKind::Error => {
                Ok(LoopEnd::without_output(LoopEndKind::Error, Some(trouble.message)))
            }
            end => end,
        };
        match end {
            Ok(end) => {
                self.outside.note("<", "run", &json!(end));
                (Some(end), Ok(()))
            }
            Err(trouble) => {
                self.outside.log.push(format!("! {trouble}"));
                (None, Err(trouble))
            }
        }
    }

    /// Performs the steps before a run. Returns the promises that are broken by them.
    fn steps(&mut self, run: &RunFile) -> Result<Vec<BrokenPromise>, AdapterTrouble> {
        let mut broken = Vec::new();
        for step in &run.before {
            self.outside.log.push(format!("> {step:?}"));
            match step {
                CaseStep::Snapshot { session, name } => {
                    let session = self.session(session);
                    let snapshot = self.adapter.snapshot(&session)?;
                    self.snapshots.insert(name.clone(), snapshot);
                }
                CaseStep::Restore { session, name } => {
                    let snapshot = self.snapshots.get(name).cloned().unwrap_or(Value::Null);
                    let restore = Restore {
                        session: self.session(session),
                        snapshot,
                        source: self.case.guard.clone(),
                        plan: self.plan.clone(),
                        workspace: self.workspace(),
                    };
                    self.adapter.restore(&restore)?;
                }
                CaseStep::Reset { session } => {
                    let session = self.session(session);
                    self.adapter.reset(Some(&session))?;
                }
                CaseStep::Restart {} => {
                    broken.extend(self.adapter.end().err().map(not_ended));
                    self.adapter = self.contestant.start_fresh(None)?;
                    self.greet()?;
                }
                CaseStep::Wait { takes } => self.outside.passes(Some(takes)),
            }
        }
        Ok(broken)
    }

    /// Replays the trace of a run as the case requires: unchanged, or with a reversed verdict.
    fn replay_after(
        &mut self,
        run: &RunFile,
    ) -> Result<Option<crate::protocol::ReplayAnswer>, AdapterTrouble> {
        let Some(trace) = self.traces.get(&run.session) else { return Ok(None) };
        let trace = match run.expect.diverges {
            Some(at) => judge::tampered(trace, at),
            None => Some(trace.clone()),
        };
        let Some(trace) = trace else { return Ok(None) };
        let replay = ReplayRequest { trace, source: self.case.guard.clone() };
        self.outside.note(">", "replay", &json!({ "records": replay.trace.len() }));
        let replayed = self.adapter.replay(&replay)?;
        self.outside.note("<", "replay", &json!(replayed));
        Ok(Some(replayed))
    }
}

/// A source of adapters for cases that are played again, or in which silence is expected.
pub struct Repeated<'c> {
    /// Starts the processes.
    pub contestant: &'c dyn Contestant,
    /// True if each case has its own process.
    pub is_alone: bool,
    /// True if the adapter was silent for the whole time limit before, so that a part of it is
    /// sufficient.
    pub is_known_silent: bool,
}

impl Repeated<'_> {
    fn shortened<'a>(&self, mut adapter: Box<dyn Adapter + 'a>) -> Box<dyn Adapter + 'a> {
        if self.is_known_silent {
            adapter.shorten_patience();
        }
        adapter
    }
}

impl Contestant for Repeated<'_> {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        if self.is_alone {
            return self.start_fresh(None);
        }
        self.contestant.start().map(|adapter| self.shortened(adapter))
    }

    fn start_fresh(
        &self,
        outage: Option<&Outage>,
    ) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        self.contestant.start_fresh(outage).map(|adapter| self.shortened(adapter))
    }
}

/// Returns an id that reveals nothing about its purpose.
fn opaque(seed: u64, case: &str, kind: &str, name: &str) -> String {
    let bytes = draw::draw(seed, case, &format!("{kind}:{name}"), 1);
    format!("{kind}_{}", hex::encode(&bytes[..6]))
}

/// Returns the agent's tools: those that a turn calls, and those that the case names.
fn tools(case: &Case) -> Vec<AgentTool> {
    let native = |name: &str| case.tools.iter().any(|tool| tool.native && tool.name == name);
    let mut names: Vec<&str> = case.tools.iter().map(|tool| tool.name.as_str()).collect();
    names.extend(case.calls().map(|call| call.tool.as_str()));
    names.sort_unstable();
    names.dedup();
    let tool = |name: &str| AgentTool {
        name: name.to_owned(),
        description: String::new(),
        schema: schema(case, name),
        native: native(name),
        elsewhere: case.tools.iter().find(|tool| tool.name == name).and_then(|tool| tool.elsewhere),
    };
    let missing = |name: &str| case.tools.iter().any(|tool| tool.missing && tool.name == name);
    names.into_iter().filter(|name| !missing(name)).map(tool).collect()
}

/// Returns the JSON Schema of a tool's arguments.
fn schema(case: &Case, name: &str) -> Value {
    let file = case.tools.iter().find(|tool| tool.name == name);
    match file.and_then(|file| file.schema.as_ref()) {
        Some(schema) => crate::world::table(schema),
        None => json!({ "type": "object" }),
    }
}
