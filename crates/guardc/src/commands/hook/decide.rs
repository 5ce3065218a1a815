//! The handling of one event: the session is opened, the event is decided and recorded, and the
//! answer is formatted.

use super::{Args, HookFailure, default_store};
use crate::sessions::{open_waiting, resume_hint, store_option};
use guard_hooks::{EventAction, EventMeaning, HookAnswer, HookEvent, ToolCall, ToolEnding};
use guard_plan::json::Json;
use guard_plan::record::{Delivered, Payload, Record, StopDecision, rendered};
use guard_runtime::StepError;
use guard_sdk::approvals::{ApprovalLog, PendingApproval, ProposedCall};
use guard_sdk::{Decision, Guard, Proposed, Session, SessionError, Storage};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The part of the deadline that is reserved for the decision itself.
const RESERVE: Duration = Duration::from_millis(500);

/// Decides an event.
pub fn decide(args: &Args, event: &HookEvent, until: Instant) -> Result<HookAnswer, HookFailure> {
    let guard = Guard::from_file(&args.plan)?;
    let store = args.store.clone().map_or_else(default_store, Ok).map_err(HookFailure)?;
    let storage = Storage::open(&store)?;
    let mut session = open(args, event, &guard, &storage, until)?;
    match &event.action {
        EventAction::Propose(call) => {
            let asked_in = args.store.is_some().then_some(&*store);
            let answer = propose(&mut session, call, &storage.approvals()?, asked_in)?;
            Ok(resumable(answer, args, &session))
        }
        EventAction::Settle { calls, strict } => {
            let answer = settle(&mut session, event, calls, *strict)?;
            Ok(resumable(answer, args, &session))
        }
        EventAction::Prompt(text) => {
            session.prompt(text)?;
            Ok(HookAnswer::Pass)
        }
        EventAction::Stop => stop(&mut session),
        EventAction::Start => Ok(HookAnswer::Context(guard.guide())),
        EventAction::Pass => Ok(HookAnswer::Pass),
    }
}

/// Returns the answer. In a halted session, a refusal explains how a person ends the halt.
fn resumable(answer: HookAnswer, args: &Args, session: &Session) -> HookAnswer {
    match answer {
        HookAnswer::Deny(mut text) if session.state().halted().is_some() => {
            text.push_str(&resume_hint(session.id(), &args.plan, args.store.as_deref()));
            HookAnswer::Deny(text)
        }
        answer => answer,
    }
}

/// Opens the session, and waits while another process uses it.
fn open(
    args: &Args,
    event: &HookEvent,
    guard: &Guard,
    storage: &Storage,
    until: Instant,
) -> Result<Session, HookFailure> {
    let workspace = workspace(args, event)?;
    let actor = args.actor.as_deref().unwrap_or(args.host.name);
    let open = || {
        let session = guard.session(&event.session).storage(storage).actor(actor);
        session.first_workspace(&workspace).open()
    };
    // Waiting must leave time for the decision itself, or the deadline would end it.
    open_waiting(open, until - RESERVE.min(args.deadline / 4)).map_err(HookFailure)
}

/// Returns the workspace of a new session.
fn workspace(args: &Args, event: &HookEvent) -> Result<PathBuf, HookFailure> {
    if let Some(workspace) = &args.workspace {
        return Ok(workspace.clone());
    }
    let project = args.host.project.iter().find_map(std::env::var_os).map(PathBuf::from);
    if let Some(project) = project.filter(|path| path.is_dir()) {
        return Ok(project);
    }
    match &event.cwd {
        Some(cwd) => Ok(PathBuf::from(cwd)),
        None => Ok(std::env::current_dir()?),
    }
}

fn propose(
    session: &mut Session,
    call: &ToolCall,
    approvals: &ApprovalLog,
    store: Option<&Path>,
) -> Result<HookAnswer, HookFailure> {
    // This comes first, because a proposal would be recorded and counted although the call cannot
    // run.
    if let Some(denied) = session.unshowable(&call.tool) {
        return Ok(HookAnswer::Deny(denied.verdict.message()));
    }
    let id = match &call.id {
        Some(id) => id.clone(),
        // The head differs after every record, so identical calls in a row have different ids.
        None => format!("{}-{}", mark(call), session.head().0),
    };
    let decided = match session.propose_with(&id, &call.tool, &call.args, approvals) {
        Ok(decided) => decided,
        // A hook that is installed twice asks twice. The second answer repeats the first.
        Err(SessionError::Step(StepError::CallInFlight(_))) if is_same(session, &id, call)? => {
            return Ok(HookAnswer::Pass);
        }
        Err(error) => return Err(error.into()),
    };
    let ProposedCall { proposed, request } = decided;
    // A host can only allow or refuse, and an allowed call would run a second time.
    if let Some(served) = &proposed.served {
        return Ok(HookAnswer::Deny(format!("the guard has served this call itself: {served}")));
    }
    match (proposed.verdict.decision, request) {
        (Decision::Allow, _) => Ok(context(&proposed.feedback)),
        (_, Some(request)) => Ok(HookAnswer::Deny(asks(&proposed, &request, store))),
        (decision, None) => Ok(HookAnswer::Deny(denies(&proposed, decision))),
    }
}

/// Returns the prefix of the id of a call to which the host gives none.
fn mark(call: &ToolCall) -> String {
    call.fingerprint().chars().take(16).collect()
}

/// Returns true if the call in flight with this id is the given call.
fn is_same(session: &Session, id: &str, call: &ToolCall) -> Result<bool, HookFailure> {
    let Ok(args) = Json::parse(&call.args) else { return Ok(false) };
    let records = session.records()?;
    let proposed =
        records.iter().rev().filter_map(|line| Record::parse(line).ok()).find_map(|record| {
            match record.payload {
                Payload::Propose(propose) if record.call.as_deref() == Some(id) => Some(propose),
                _ => None,
            }
        });
    let same = |tool: &str, known: &Json| tool == call.tool && *known == args;
    Ok(proposed.is_some_and(|propose| same(&propose.tool, &propose.args)))
}

/// Formats the refusal.
fn denies(proposed: &Proposed, decision: Decision) -> String {
    let mut text = proposed.verdict.message();
    if decision == Decision::Wait {
        text.push_str("\nThis call may be made again later.");
    }
    append(&mut text, &proposed.feedback);
    text
}

/// Formats the refusal of a call that lacks an approval: how a person can approve it, or who has
/// refused to.
fn asks(proposed: &Proposed, request: &PendingApproval, store: Option<&Path>) -> String {
    let mut text = proposed.verdict.message();
    match &request.rejected {
        Some(answer) => {
            let by = &answer.by;
            let reason = &answer.reason;
            text.push_str(&format!("\n{by} refused exactly this call: {reason}"));
        }
        None => {
            let store = store_option(store);
            let id = &request.id;
            text.push_str(&format!(
                "\nThis call waits for approval as {id}. A person grants it with `guardc approvals grant {id} \
                 --by NAME{store}`; then make exactly this call again."
            ));
        }
    }
    append(&mut text, &proposed.feedback);
    text
}

fn append(text: &mut String, feedback: &[Delivered]) {
    let rendered = rendered(feedback);
    if !rendered.is_empty() {
        text.push_str("\n\n");
        text.push_str(&rendered);
    }
}

fn context(feedback: &[Delivered]) -> HookAnswer {
    match rendered(feedback) {
        text if text.is_empty() => HookAnswer::Pass,
        text => HookAnswer::Context(text),
    }
}

fn settle(
    session: &mut Session,
    event: &HookEvent,
    calls: &[(ToolCall, ToolEnding)],
    strict: bool,
) -> Result<HookAnswer, HookFailure> {
    let mut feedback = Vec::new();
    for (call, ending) in calls {
        let Some(id) = in_flight(session, call) else {
            // A result that the guard knows nothing of means that the call ran without being asked
            // about.
            if strict {
                let tool = &call.tool;
                return Err(HookFailure(format!(
                    "the guard has not allowed this call of `{tool}`, or it has ended"
                )));
            }
            continue;
        };
        let settled = match ending {
            ToolEnding::Success(Some(result)) => session.settle_text(&id, result)?,
            ToolEnding::Success(None) => session.settle(&id, Ok(None))?,
            ToolEnding::Failure => session.settle(&id, Err(()))?,
        };
        feedback.extend(settled.into_outcome().feedback);
    }
    // The call did not run, so a halt is no answer to it; the next call is refused anyway.
    if event.meaning == EventMeaning::Refused {
        return Ok(HookAnswer::Pass);
    }
    match session.state().halted() {
        Some(halt) => {
            let mut text = format!("the session is halted by {}: {}", halt.rule, halt.message);
            append(&mut text, &feedback);
            Ok(HookAnswer::Deny(text))
        }
        None => Ok(context(&feedback)),
    }
}

/// Returns the id under which a call is in flight.
fn in_flight(session: &Session, call: &ToolCall) -> Option<String> {
    let known = session.in_flight();
    let found = match &call.id {
        Some(id) => known.into_iter().find(|known| known == id),
        None => {
            let mark = format!("{}-", mark(call));
            known.into_iter().find(|known| known.starts_with(&mark))
        }
    };
    found.map(str::to_owned)
}

fn stop(session: &mut Session) -> Result<HookAnswer, HookFailure> {
    let stopped = session.stop(None)?;
    Ok(match stopped.decision {
        StopDecision::Block => HookAnswer::Deny(stopped.message.clone()),
        _ if stopped.message.is_empty() => HookAnswer::Pass,
        _ => HookAnswer::Notice(stopped.message.clone()),
    })
}
