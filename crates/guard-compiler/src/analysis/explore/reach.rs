//! Tools that a breadth-first search has not called are climbed to.

use super::climb::{KnownCalls, PlayedGuard, Players, SessionDraft};
use super::search::Search;
use super::session::{Act, ExploredEnding, ExploredSession};
use crate::hir::ToolId;
use std::rc::Rc;

/// Most calls that are judged for one tool, in rounds: each begins with what those before have found.
const ROUNDS: [usize; 6] = [250, 500, 1_000, 2_000, 8_000, 8_000];
/// Most calls that are judged for all tools together: their number must not decide how long it takes.
const MOST_IN_ALL: usize = 240_000;
/// Most steps that these calls take.
const MOST_STEPS: u64 = 100_000_000;

/// Looks for a session in which each tool is allowed that was not called yet. `seeds` are sessions to begin with.
pub(crate) fn the_rest(search: &mut Search<'_, '_>, seeds: &[Vec<Act>]) {
    let program = search.program;
    let wire = |tool: ToolId| program.tools[tool].wire_name.as_str();
    let player = PlayedGuard { program, inputs: search.inputs };
    let Some(players) = Players::new(vec![player]) else { return };
    let fresh = players.fresh[0].clone();
    let stop = || search.stopped_early() || fresh.steps() > MOST_STEPS;
    let mut known = KnownCalls::new(players.clone(), MOST_IN_ALL, &stop);
    let mut missing = Vec::new();
    for (tool, found) in search.found.tools.iter().enumerate() {
        match found {
            Some(session) => {
                known.extend(draft(session).map(|draft| (wire(tool).to_string(), draft)))
            }
            None => missing.push(tool),
        }
    }
    let wanted: Vec<String> = missing.iter().map(|tool| wire(*tool).to_string()).collect();
    known.find(&wanted, None, &ROUNDS, seeds);
    let judged = MOST_IN_ALL - known.left;
    let sessions = missing.into_iter().filter_map(|tool| {
        let session = ended(&players, known.get(wire(tool))?, wire(tool))?;
        session.replays_like(search.fresh).then_some((tool, session))
    });
    let sessions: Vec<(ToolId, ExploredSession)> = sessions.collect();
    search.judged += judged;
    for (tool, session) in sessions {
        search.found.tools[tool] = Some(session);
    }
}

/// The draft of a session that ends with a call.
fn draft(session: &ExploredSession) -> Option<SessionDraft> {
    let (end, before) = session.steps.split_last()?;
    let Act::Call { args: last, .. } = &end.act else { return None };
    let acts = before.iter().filter(|step| !matches!(step.act, Act::Approve { .. }));
    let acts = acts.map(|step| Rc::new(step.act.clone())).collect();
    Some(SessionDraft { acts, last: last.clone(), kind: true })
}

/// The session of a draft, up to the call at its end with the approvals that it needs.
fn ended(players: &Players<'_, '_>, draft: &SessionDraft, wire: &str) -> Option<ExploredSession> {
    let mut played = players.play(&draft.acts, draft.kind)?;
    let tool = wire.to_string();
    let args = draft.last.clone();
    let then = ExploredEnding::Succeeds(None);
    let call = Rc::new(Act::Call { id: String::new(), tool, args, then });
    let before = played.steps.len();
    players.advance(&mut played, &call, draft.kind)?;
    (played.steps.len() > before).then(|| played.session())
}
