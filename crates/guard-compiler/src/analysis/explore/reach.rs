//! Tools that a breadth-first search has not called are climbed to.

use super::climb::{Climber, PlayedGuard, Score};
use super::search::{Search, roles, step};
use super::session::{Act, Session, Then};
use super::slice::Slice;

/// Most calls that are judged for one tool.
const MOST_JUDGED: usize = 12_000;
/// Most calls that are judged for all tools together: their number must not decide how long it takes.
const MOST_IN_ALL: usize = 240_000;

/// Looks for a session in which each tool is allowed that was not called yet. `seeds` are sessions to begin with.
pub(crate) fn the_rest(search: &mut Search<'_, '_>, seeds: &[Vec<Act>]) {
    let program = search.program;
    let missing = search.found.tools.iter().filter(|found| found.is_none()).count();
    let most = MOST_JUDGED.min(MOST_IN_ALL / missing.max(1));
    for tool in 0..program.tools.len() {
        if search.found.tools[tool].is_some() || search.stopped_early() {
            continue;
        }
        let wire = program.tools[tool].wire_name.as_str();
        let names = |tool: &usize| program.tools[*tool].wire_name.clone();
        let tools = Slice::of_tool(program, tool).tools.iter().map(names).collect();
        let player = PlayedGuard { program, inputs: search.inputs };
        let Some(mut climber) = Climber::new(vec![player], wire, tools) else { return };
        let mut found: Option<Session> = None;
        let stop = || search.stopped_early();
        climber.climb(seeds, most, &stop, &mut |played, args, verdicts, oracle| {
            let Some(verdict) = &verdicts[0] else { return Score::Distance(u32::MAX) };
            if verdict.unmet > 0 {
                return Score::Distance(verdict.unmet as u32);
            }
            let (mut session, mut state) = (played.session(), played.states[0].clone());
            let wanted = if verdict.reasons.is_empty() { Vec::new() } else { roles(verdict) };
            let mut acts: Vec<Act> = Vec::new();
            for role in wanted {
                acts.push(Act::Approve { tool: wire.into(), args: args.clone(), role });
            }
            let id = format!("call-{}", session.len() + acts.len() + 1);
            let then = Then::Succeeds(None);
            acts.push(Act::Call { id, tool: wire.into(), args: args.clone(), then });
            for what in acts {
                let Some(done) = step(&mut state, what, &oracle.again()) else {
                    return Score::Distance(1);
                };
                session.steps.push(done);
            }
            found = session.replays(program).then_some(session);
            if found.is_some() { Score::Found } else { Score::Distance(1) }
        });
        search.judged += climber.judged;
        search.found.tools[tool] = found;
    }
}
