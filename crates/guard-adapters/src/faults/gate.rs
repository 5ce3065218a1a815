//! Faults before a tool runs: proposing, obeying, approvals, the framework's own tools.

use super::messages::EndsLoop;
use super::{Spec, faults, instead};
use crate::duties::{self, Duties, Faithful, roles};
use crate::engine::WorkspaceFiles;
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{ApprovalAnswer, ApprovalRequest, Done, ModelCall, Role};
use guard_plan::near;
use guard_plan::plan::Tool;
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_sdk::Proposed;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const TABLE: &[Spec] = faults! {
    "runs-first" "GATE-1" "runs the tool before the guard is asked" => instead::call(|harness, call| {
        Faithful.start(harness, call);
        Faithful.gate(harness, call).map(|_| Gate::Run)
    });
    "audit-only" "GATE-1" "notes denials, and runs the call" => runs_where(|proposed| {
        proposed.verdict.decision == Decision::Deny
    });
    "other-arguments" "GATE-2" "runs other arguments than it had judged" => instead::start(|harness, call| {
        let mut other = call.clone();
        if let Value::Object(args) = &mut other.args {
            args.insert("timeout".into(), json!(30));
        }
        Faithful.start(harness, &other);
    });
    "runs-twice" "GATE-3" "runs each call twice, to be sure" => Box::new(RunsTwice::default());
    "allowed-is-not-run" "GATE-3" "answers allowed calls without running them" => instead::obey(
        |harness, call, proposed| match proposed.verdict.decision {
            Decision::Allow => Ok(Gate::Served("done".into())),
            _ => Faithful.obey(harness, call, proposed),
        },
    );
    "hides-denials" "GATE-4" "answers a denied call with nothing" => instead::denial(|_| String::new());
    "generic-denial" "GATE-4" "says of each denial the same" => instead::denial(|_| "denied by policy".into());
    "first-reason" "GATE-5" "shows the first line of a denial only" => instead::denial(|verdict| {
        verdict.message().lines().next().unwrap_or_default().to_owned()
    });
    "no-help" "GATE-5" "leaves out what would help" => instead::denial(|verdict| {
        let reasons: Vec<&str> = verdict.reasons.iter().map(|reason| reason.message.as_str()).collect();
        reasons.join("\n")
    });
    "first-call-only" "GATE-6" "judges only the first call of a turn" => unasked(|harness, call| {
        let turn = harness.messages.iter().rfind(|message| message.role == Role::Assistant);
        turn.and_then(|turn| turn.calls.first()).is_some_and(|first| first.call != call.call)
    });
    "denial-stops-turn" "GATE-6" "runs nothing of a turn after a denial" => {
        let mut denied = None;
        instead::gate(move |harness, call| {
            let turn = harness.messages.iter().filter(|message| message.role == Role::Assistant).count();
            if denied == Some(turn) {
                return Ok(Gate::Refused("not run, since another call was denied".into()));
            }
            let gate = Faithful.gate(harness, call)?;
            if matches!(gate, Gate::Refused(_)) {
                denied = Some(turn);
            }
            Ok(gate)
        })
    };
    "denial-ends-loop" "GATE-7" "ends the loop at a denial" => Box::new(EndsLoop { ends: false, at_failure: false });
    "denial-is-kept" "GATE-7" "remembers denials, and does not ask again" => {
        let mut denied: Vec<ModelCall> = Vec::new();
        instead::gate(move |harness, call| {
            if denied.iter().any(|known| same(known, call)) {
                return Ok(Gate::Refused("denied, as before".into()));
            }
            let gate = Faithful.gate(harness, call)?;
            denied.extend(matches!(gate, Gate::Refused(_)).then(|| call.clone()));
            Ok(gate)
        })
    };
    "failure-is-success" "GATE-8" "settles every call as a success" => instead::settlement(|harness, call, done| {
        let outcome = guard_ack::protocol::ToolRun::Success;
        Faithful.settlement(harness, call, &Done { outcome, ..done.clone() })
    });
    "settles-first" "GATE-8" "settles a call as a success before it runs" => instead::obey(
        |harness, call, proposed| {
            let gate = Faithful.obey(harness, call, proposed)?;
            if gate == Gate::Run {
                let outcome = guard_ack::protocol::ToolRun::Success;
                Faithful.settlement(harness, call, &Done { outcome, result: Value::Null, failure: None })?;
            }
            Ok(gate)
        },
    );
    "settles-late" "GATE-9" "settles calls a turn late" => Box::new(super::effects::SettlesLate::default());
    "unknown-runs" "GATE-10" "runs tools that the guard does not know without asking" => unasked(
        |harness, call| tool(harness, &call.tool).is_none(),
    );
    "folds-names" "GATE-11" "folds the case of tools' names" => renames(|_, name| name.to_lowercase());
    "strips-prefix" "GATE-11" "strips the prefix of tools' names" => renames(|_, name| {
        name.rsplit("__").next().unwrap_or_default().to_owned()
    });
    "repairs-names" "GATE-11" "takes a tool's name for the nearest one that is declared" => renames(|harness, name| {
        let declared = harness.engine.session.guard().plan().tools.iter();
        let names = declared.map(|tool| tool.wire_name.as_str());
        let nearest = near::nearest(name, names).filter(|_| tool(harness, name).is_none());
        nearest.unwrap_or(name).to_owned()
    });
    "invalid-runs" "GATE-12" "leaves wrong arguments to the tool" => ignores(Code::InvalidArguments);
    "coerces-arguments" "GATE-13" "turns texts that look like numbers into numbers" => changes(|value| {
        let number = value.as_str().and_then(|text| text.parse::<i64>().ok());
        number.map(|number| json!(number))
    });
    "drops-arguments" "GATE-13" "drops arguments that are not declared" => rewrites(|tool, args| {
        args.retain(|name, _| tool.params.iter().any(|param| param.name == *name));
    });
    "fills-arguments" "GATE-13" "fills in what is missing" => rewrites(|tool, args| {
        for param in &tool.params {
            args.entry(&param.name).or_insert_with(|| json!(""));
        }
    });
    "floats-numbers" "GATE-13" "reads whole numbers as floats" => changes(|value| {
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
        value.as_i64().map(|number| json!(number as f64 as i64))
    });
    "trims-arguments" "GATE-13" "trims texts" => changes(|value| value.as_str().map(|text| json!(text.trim())));
    "no-workspace" "GATE-14" "does not say where the tools work" => instead::open(|sessions, run| {
        let unsaid = guard_ack::protocol::Run { workspace: None, ..run.clone() };
        let rooted = guard_ack::protocol::Run { workspace: Some("/".into()), ..unsaid.clone() };
        if sessions.open.contains_key(&run.session) {
            Faithful.open(sessions, &unsaid)
        } else {
            Faithful.open(sessions, &rooted)
        }
    });
    "keeps-files" "GATE-15" "asks once whether a file is there" => instead::files(|workspace| {
        let mut known: BTreeMap<String, Option<bool>> = BTreeMap::new();
        WorkspaceFiles::looking(workspace, Box::new(move |host, path, ask| {
            *known.entry(path.to_owned()).or_insert_with(|| ask(host, path))
        }))
    });
};

pub(super) const ASK: &[Spec] = faults! {
    "ask-is-allow" "ASK-1" "treats *ask* as *allow*" => instead::gate(|harness, call| {
        let proposed = Faithful.propose(harness, call)?;
        match proposed.verdict.decision {
            Decision::Ask => Ok(Gate::Run),
            _ => Faithful.obey(harness, call, &proposed),
        }
    });
    "ask-is-deny" "ASK-2" "never asks anybody" => instead::approvals(|_, _, _| Ok(false));
    "refused-runs" "ASK-3" "runs what was refused" => runs_where(|proposed| {
        proposed.verdict.decision == Decision::Ask
    });
    "refusal-is-kept" "ASK-3" "remembers refusals, and does not ask again" => {
        let mut refused: Vec<ModelCall> = Vec::new();
        instead::approvals(move |harness, call, verdict| {
            if refused.iter().any(|known| same(known, call)) {
                return Ok(false);
            }
            let approved = Faithful.approvals(harness, call, verdict)?;
            refused.extend((!approved).then(|| call.clone()));
            Ok(approved)
        })
    };
    "approved-again" "ASK-4" "remembers which calls were approved" => Box::new(KeepsApprovals::by(same));
    "approved-by-tool" "ASK-5" "remembers which tools were approved" => Box::new(KeepsApprovals::by(
        |known, call| known.tool == call.tool,
    ));
    "never-expires" "ASK-6" "lets approvals stand" => instead::approval(|harness, request| {
        let expires = Some("9999-12-31T23:59:59Z".into());
        ApprovalAnswer { expires, ..Faithful.approval(harness, request) }
    });
    "first-role" "ASK-7" "asks the first role only" => {
        let mut asked: BTreeSet<String> = BTreeSet::new();
        instead::approval(move |harness, request: &ApprovalRequest| {
            if asked.insert(request.call.clone()) {
                Faithful.approval(harness, request)
            } else {
                ApprovalAnswer { granted: true, later: false, by: "kim".into(), expires: None }
            }
        })
    };
    "native-around" "NATIVE-1" "lets the framework's own tools around the gate" => unasked(|harness, call| {
        harness.is_native(&call.tool)
    });
    "native-unsettled" "NATIVE-2" "does not settle the framework's own tools" => unsettled(
        |harness, call, _| harness.is_native(&call.tool),
    );
};

fn same(known: &ModelCall, call: &ModelCall) -> bool {
    known.tool == call.tool && known.args == call.args
}

fn tool<'h>(harness: &'h Harness, name: &str) -> Option<&'h Tool> {
    harness.engine.session.guard().plan().tools.iter().find(|tool| tool.wire_name == name)
}

/// Returns an adapter that does not settle some calls.
pub(super) fn unsettled(is_left: fn(&Harness, &ModelCall, &Done) -> bool) -> Box<dyn Duties> {
    instead::settlement(move |harness, call, done| {
        if is_left(harness, call, done) {
            Ok(String::new())
        } else {
            Faithful.settlement(harness, call, done)
        }
    })
}

/// Returns an adapter that runs some calls without asking the guard.
fn unasked(runs: fn(&Harness, &ModelCall) -> bool) -> Box<dyn Duties> {
    instead::gate(
        move |harness, call| {
            if runs(harness, call) { Ok(Gate::Run) } else { Faithful.gate(harness, call) }
        },
    )
}

/// Returns an adapter that runs a call in spite of its verdict.
pub(super) fn runs_where(runs: fn(&Proposed) -> bool) -> Box<dyn Duties> {
    instead::obey(move |harness, call, proposed| {
        if runs(proposed) { Ok(Gate::Run) } else { Faithful.obey(harness, call, proposed) }
    })
}

/// Returns an adapter that runs a call which is denied only for this reason.
pub(super) fn ignores(code: Code) -> Box<dyn Duties> {
    instead::obey(move |harness, call, proposed| {
        let verdict = &proposed.verdict;
        let only = verdict.reasons.iter().all(|reason| reason.code == code);
        if verdict.decision == Decision::Deny && only {
            Ok(Gate::Run)
        } else {
            Faithful.obey(harness, call, proposed)
        }
    })
}

/// Returns an adapter that reports another tool name to the guard.
fn renames(rename: fn(&Harness, &str) -> String) -> Box<dyn Duties> {
    instead::gate(move |harness, call| {
        let tool = rename(harness, &call.tool);
        Faithful.gate(harness, &ModelCall { tool, ..call.clone() })
    })
}

/// Returns an adapter that reports other arguments to the guard.
fn rewrites(rewrite: fn(&Tool, &mut Map<String, Value>)) -> Box<dyn Duties> {
    instead::gate(move |harness, call| {
        let mut told = call.clone();
        if let (Value::Object(args), Some(tool)) = (&mut told.args, tool(harness, &call.tool)) {
            rewrite(tool, args);
        }
        Faithful.gate(harness, &told)
    })
}

/// Returns an adapter that reports other argument values to the guard.
fn changes(change: fn(&Value) -> Option<Value>) -> Box<dyn Duties> {
    instead::gate(move |harness, call| {
        let mut told = call.clone();
        if let Value::Object(args) = &mut told.args {
            for value in args.values_mut() {
                *value = change(value).unwrap_or_else(|| value.clone());
            }
        }
        Faithful.gate(harness, &told)
    })
}

/// An adapter that runs each call twice, and passes on one of the results.
#[derive(Default)]
struct RunsTwice(Vec<String>);

impl Duties for RunsTwice {
    fn start(&mut self, harness: &mut Harness, call: &ModelCall) {
        Faithful.start(harness, call);
        self.0.push(call.call.clone());
        Faithful.start(harness, call);
    }

    fn finished(&mut self, harness: &mut Harness) -> Option<(String, Done)> {
        let (id, done) = Faithful.finished(harness)?;
        match self.0.iter().position(|twice| *twice == id) {
            Some(at) => {
                self.0.remove(at);
                self.finished(harness)
            }
            None => Some((id, done)),
        }
    }
}

/// An adapter that runs calls similar to an approved one without asking.
struct KeepsApprovals {
    like: fn(&ModelCall, &ModelCall) -> bool,
    approved: Vec<ModelCall>,
}

impl KeepsApprovals {
    fn by(like: fn(&ModelCall, &ModelCall) -> bool) -> KeepsApprovals {
        KeepsApprovals { like, approved: Vec::new() }
    }
}

impl Duties for KeepsApprovals {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if self.approved.iter().any(|known| (self.like)(known, call)) {
            return Ok(Gate::Run);
        }
        duties::gate(self, harness, call)
    }

    fn approvals(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        verdict: &Verdict,
    ) -> AdapterResult<bool> {
        let approved = Faithful.approvals(harness, call, verdict)?;
        self.approved.extend((approved && !roles(verdict).is_empty()).then(|| call.clone()));
        Ok(approved)
    }
}
