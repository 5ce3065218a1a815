//! Guards that are played side by side: the same events, as long as they say the same of them.

use super::super::inputs::{Inputs, read};
use super::super::search::roles;
use super::super::session::{
    Act, ExploredSession, SessionStep, StepReply, WORKSPACE, act, call, call_id, start_of,
};
use super::super::world::Oracle;
use crate::analysis::reference::{Ask, Judgement, ReferenceSession};
use crate::hir::{Program, ToolId};
use guard_plan::json::Json;
use guard_plan::verdict::Code;
use std::rc::Rc;

/// A guard that the same sessions are played on.
#[derive(Clone, Copy)]
pub(crate) struct PlayedGuard<'s, 'p> {
    pub program: &'p Program,
    pub inputs: &'s Inputs<'p>,
}

impl PlayedGuard<'_, '_> {
    /// The tool of this wire name.
    pub fn tool(&self, wire: &str) -> Option<ToolId> {
        self.program.tool_on_wire(wire)
    }
}

/// Sessions of all guards that had the same events and the same verdicts, and how they came about. What the steps change is
/// left out: it takes as long as to play them.
#[derive(Clone)]
pub(crate) struct PlayedSession<'p> {
    pub states: Vec<ReferenceSession<'p>>,
    pub steps: Vec<Rc<PlayedStep>>,
}

/// An event that was played, shared with the draft that it comes from. Calls are numbered by their places when the session is told.
pub(crate) struct PlayedStep {
    world: Vec<(Ask, Json)>,
    pub act: Rc<Act>,
    said: StepReply,
}

impl PlayedSession<'_> {
    /// The session that was played, with what it changes under the first guard.
    pub fn session(&self) -> ExploredSession {
        let told = |(at, step): (usize, &Rc<PlayedStep>)| {
            let mut act = Act::clone(&step.act);
            if let Act::Call { id, .. } = &mut act {
                *id = call_id(at);
            }
            let world = step.world.clone();
            let said = step.said.clone();
            SessionStep { world, act, said, changes: Vec::new() }
        };
        let steps = self.steps.iter().enumerate().map(told).collect();
        // All guards begin at the same moment.
        let first = self.states.first();
        let start = first.map_or(0, |session| session.clock_at().1);
        let session = ExploredSession { start, data: None, steps };
        match first {
            Some(first) => session.with_changes(first),
            None => session,
        }
    }

    /// The events, without the approvals, which are given where they are needed.
    pub fn acts(&self) -> Vec<Rc<Act>> {
        let acts = self.steps.iter().map(|step| &step.act);
        acts.filter(|what| !matches!(***what, Act::Approve { .. })).cloned().collect()
    }
}

/// A session that was played, as it was before and after each event.
pub(crate) struct PlayedTrail<'p> {
    acts: Vec<Rc<Act>>,
    /// One more than events.
    sessions: Vec<PlayedSession<'p>>,
}

impl PlayedTrail<'_> {
    /// The number of events that these have in common with the trail, from the first on.
    fn alike(&self, acts: &[Rc<Act>]) -> usize {
        acts.iter().zip(&self.acts).take_while(|(act, known)| act == known).count()
    }
}

/// The guards that sessions are played on, all alike: at least one.
#[derive(Clone)]
pub(crate) struct Players<'s, 'p> {
    pub guards: Vec<PlayedGuard<'s, 'p>>,
    /// A session of each that has just begun.
    pub fresh: Vec<ReferenceSession<'p>>,
}

impl<'s, 'p> Players<'s, 'p> {
    /// Ready to play; none where a session of one of them cannot begin.
    pub fn new(guards: Vec<PlayedGuard<'s, 'p>>) -> Option<Self> {
        let start = start_of(guards.iter().map(|guard| guard.program));
        let open = |guard: &PlayedGuard<'s, 'p>| {
            ReferenceSession::open(guard.program, start, WORKSPACE, None).ok()
        };
        let fresh = guards.iter().map(open).collect::<Option<Vec<_>>>()?;
        Some(Players { guards, fresh })
    }

    pub fn oracle(&self, kind: bool) -> Oracle<'p> {
        // There is at least one guard.
        let last = self.guards[self.guards.len() - 1];
        Oracle::new(last.program, &[], kind)
    }

    fn judge(
        &self,
        played: &PlayedSession<'p>,
        wire: &str,
        args: &Json,
        oracle: &Oracle<'p>,
    ) -> Vec<Option<Judgement>> {
        let judge = |(player, session): (&PlayedGuard<'s, 'p>, &ReferenceSession<'p>)| {
            let tool = player.tool(wire)?;
            let values = read(player.program, session, tool, args)?;
            Some(session.consider(tool, &values, &|ask| oracle.answer(ask)))
        };
        self.guards.iter().zip(&played.states).map(judge).collect()
    }

    /// Plays what all guards let happen; the rest is left out. None where they begin to disagree.
    pub fn play(&self, acts: &[Rc<Act>], kind: bool) -> Option<PlayedSession<'p>> {
        self.go_on(self.begun(), acts, kind)
    }

    /// The same of a session that begins like one that was played in such a world.
    pub fn play_after(
        &self,
        trail: &PlayedTrail<'p>,
        acts: &[Rc<Act>],
        kind: bool,
    ) -> Option<PlayedSession<'p>> {
        let alike = trail.alike(acts);
        self.go_on(trail.sessions[alike].clone(), &acts[alike..], kind)
    }

    fn go_on(
        &self,
        mut played: PlayedSession<'p>,
        acts: &[Rc<Act>],
        kind: bool,
    ) -> Option<PlayedSession<'p>> {
        for what in acts {
            self.advance(&mut played, what, kind)?;
        }
        Some(played)
    }

    fn begun(&self) -> PlayedSession<'p> {
        PlayedSession { states: self.fresh.clone(), steps: Vec::new() }
    }

    /// The trail of a session that has just begun.
    pub fn trail(&self) -> PlayedTrail<'p> {
        PlayedTrail { acts: Vec::new(), sessions: vec![self.begun()] }
    }

    /// Changes the trail into that of these events, all of which happen.
    pub fn follow(&self, trail: &mut PlayedTrail<'p>, acts: &[Rc<Act>], kind: bool) {
        let alike = trail.alike(acts);
        trail.acts.truncate(alike);
        trail.sessions.truncate(alike + 1);
        for what in &acts[alike..] {
            let mut played = trail.sessions[trail.acts.len()].clone();
            if self.advance(&mut played, what, kind).is_none() {
                return;
            }
            trail.acts.push(what.clone());
            trail.sessions.push(played);
        }
    }

    /// Lets one thing happen, with the approvals that it needs; none where the guards disagree.
    pub fn advance(
        &self,
        played: &mut PlayedSession<'p>,
        what: &Rc<Act>,
        kind: bool,
    ) -> Option<()> {
        let Act::Call { tool, args, .. } = &**what else {
            return self.both(played, what, kind);
        };
        let verdicts = self.judge(played, tool, args, &self.oracle(kind));
        let mut approvals: Option<Vec<String>> = None;
        for verdict in &verdicts {
            // A call that one guard cannot read does not happen in any.
            let Some(verdict) = verdict else { return Some(()) };
            let given = |code: &Code| matches!(code, Code::Approval | Code::Gated);
            if !verdict.reasons.iter().all(|(code, ..)| given(code)) {
                return Some(());
            }
            let wanted = if verdict.reasons.is_empty() { Vec::new() } else { roles(verdict) };
            if approvals.as_ref().is_some_and(|known| *known != wanted) {
                return Some(());
            }
            approvals = Some(wanted);
        }
        for role in approvals.unwrap_or_default() {
            let tool = tool.clone();
            let args = args.clone();
            self.both(played, &Rc::new(Act::Approve { tool, args, role }), kind)?;
        }
        self.both(played, what, kind)
    }

    /// Lets the same happen in all guards; none where they do not say the same of it.
    fn both(&self, played: &mut PlayedSession<'p>, what: &Rc<Act>, kind: bool) -> Option<()> {
        let oracle = self.oracle(kind);
        let id = call_id(played.steps.len());
        let perform = |session: &mut ReferenceSession<'p>| match &**what {
            Act::Call { tool, args, then, .. } => {
                call(session, &id, (tool, args, then), &|ask| oracle.answer(ask))
            }
            what => act(session, what, &|ask| oracle.answer(ask)),
        };
        let (first, others) = played.states.split_first_mut()?;
        let said = perform(first)?;
        for other in others {
            let also = perform(other)?;
            // The guards may give other reasons; only what is decided has to agree.
            if also.decision != said.decision {
                return None;
            }
        }
        let world = oracle.answers();
        let act = what.clone();
        played.steps.push(Rc::new(PlayedStep { world, act, said }));
        Some(())
    }
}
