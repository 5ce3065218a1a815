//! The guard's own tests are played: what they call is called, and the rules that they make speak can fire.

use super::climb::{PlayedGuard, PlayedSession, Players};
use super::inputs::read;
use super::rules::Places;
use super::search::{Search, step};
use super::session::{Act, ExploredSession};
use std::rc::Rc;

/// Most calls that are judged: so many steps has a large test suite.
const MOST_CALLS: usize = 20_000;

/// Plays the events of each test, and keeps the sessions in which a tool is called or a rule speaks that no session was found for yet.
pub(crate) fn play(search: &mut Search<'_, '_>, seeds: &[Vec<Act>]) {
    let missing = |found: &[Option<ExploredSession>]| found.iter().any(Option::is_none);
    if !missing(&search.found.tools) && !missing(&search.found.rules) {
        return;
    }
    let player = PlayedGuard { program: search.program, inputs: search.inputs };
    let Some(players) = Players::new(vec![player]) else { return };
    let places = Places::new(search.rules);
    let mut left = MOST_CALLS;
    for kind in [true, false] {
        for acts in seeds {
            let Some(mut played) = players.play(&[], kind) else { return };
            for act in acts {
                let act = Rc::new(act.clone());
                if matches!(*act, Act::Call { .. }) {
                    left = left.saturating_sub(1);
                    if left == 0 || search.stopped_early() {
                        return;
                    }
                    note(search, &players, &places, &played, &act, kind);
                }
                if players.advance(&mut played, &act, kind).is_none() {
                    break;
                }
            }
        }
    }
}

/// Judges a call and keeps the session that ends with it, where it is the first of its kind.
fn note<'s, 'p>(
    search: &mut Search<'s, 'p>,
    players: &Players<'s, 'p>,
    places: &Places,
    played: &PlayedSession<'p>,
    act: &Rc<Act>,
    kind: bool,
) {
    let program = search.program;
    let (Act::Call { tool, args, .. }, [session]) = (&**act, &played.states[..]) else { return };
    let Some(at) = program.tool_on_wire(tool) else { return };
    let Some(values) = read(program, session, at, args) else { return };
    let oracle = players.oracle(kind);
    let judged = session.consider(at, &values, &|ask| oracle.answer(ask));
    search.judged += 1;
    let mut new = places.fired(search.rules, &judged.all_reasons(), &judged.fired);
    new.retain(|rule| search.found.rules[*rule].is_none());
    let is_called = judged.reasons.is_empty() && search.found.tools[at].is_none();
    if new.is_empty() && !is_called {
        return;
    }
    let mut session = session.clone();
    let mut ended: ExploredSession = played.session();
    ended.steps.extend(step(&mut session, Act::clone(act), &players.oracle(kind)));
    for rule in new {
        search.found.rules[rule] = Some(ended.clone());
    }
    if is_called {
        search.found.tools[at] = Some(ended);
    }
}
