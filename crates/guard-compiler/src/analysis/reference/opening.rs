//! Opening of a session: the shared tables of its guard, and its initial state.

use super::{
    EventEffects, ReadProgram, ReferenceSession, eval, feedback, learning, origins, private,
};
use crate::hir::{Program, VarId};
use crate::lower::Tables;
use crate::types::trust::Flow;
use guard_plan::json::Json;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl<'p> ReferenceSession<'p> {
    /// Opens a session at `start` (milliseconds since 1970) in a workspace, with the data of the
    /// host.
    ///
    /// # Errors
    ///
    /// The variable whose initial value cannot be computed or does not fit its type, and the cause.
    pub fn open(
        program: &'p Program,
        start: i64,
        workspace: &str,
        data: Option<&Json>,
    ) -> Result<Self, (VarId, String)> {
        let tables = Tables::collect(program);
        let regexes = tables
            .regexes
            .iter()
            .filter_map(|p| Some((p.clone(), regex::Regex::new(p).ok()?)))
            .collect();
        let workspace = guard_plan::path::normalise("/", workspace)
            .map_or_else(|_| "/".into(), |p| p.into_owned());
        let read = ReadProgram {
            types: tables.type_rows(),
            coercions: tables.coercions(),
            lessons: learning::Lessons::new(program),
            tables,
            regexes,
            workspace,
            steps: Cell::default(),
        };
        Self::start(program, Rc::new(read), start, data)
    }

    /// Opens another session of the same guard in the same workspace. Nothing is read of the guard again, which takes longer
    /// than all that happens in a short session.
    ///
    /// # Errors
    ///
    /// Those of [`ReferenceSession::open`].
    pub(crate) fn open_another(
        &self,
        start: i64,
        data: Option<&Json>,
    ) -> Result<Self, (VarId, String)> {
        Self::start(self.program, self.read.clone(), start, data)
    }

    fn start(
        program: &'p Program,
        read: Rc<ReadProgram<'p>>,
        start: i64,
        data: Option<&Json>,
    ) -> Result<Self, (VarId, String)> {
        let mut session = ReferenceSession {
            program,
            read,
            start,
            now: start,
            state: Rc::default(),
            trust: Flow::clean(program),
            states: Vec::new(),
            spent: vec![0; program.units.len()],
            allowed: Vec::new(),
            settled: Vec::new(),
            flights: Vec::new(),
            moments: 0,
            settlements: 0,
            grants: Vec::new(),
            facts: vec![Rc::default(); program.facts.len()],
            halted: false,
            calls: Vec::new(),
            attempts: vec![Vec::new(); program.probes.len()],
            asked: RefCell::default(),
            refused: Cell::default(),
            mute: Cell::default(),
            tried: Cell::default(),
            reused: Cell::default(),
            seen: Rc::default(),
            extracts: origins::Extracts::default(),
            said: String::new(),
            privates: private::PrivateTexts::default(),
            prompts: 0,
            judged: 0,
            providers: program
                .feedback
                .iter()
                .map(|f| feedback::ProviderMemory::new(f, start))
                .collect(),
            items: vec![Vec::new(); program.lifecycles.len()],
            blocked: 0,
            outcome: EventEffects::default(),
        };
        for (at, var) in program.state.iter().enumerate() {
            let env = eval::Env::new(&[], &|_| None);
            let value = session.eval(&var.init, env).map_err(|fault| (at, fault.to_string()))?;
            if !session.fits(&var.ty, &value) {
                return Err((at, "does not fit its type".to_string()));
            }
            Rc::make_mut(&mut session.state).push(Rc::new(value));
        }
        session.states.push(session.state.clone());
        session.begin(data);
        Ok(session)
    }

    /// Returns the names of the enforced invariants that the initial state violates, each with the
    /// cause.
    pub fn broken_initially(&self) -> Vec<(usize, String)> {
        let env = eval::Env::new(&self.state, &|_| None);
        let mut broken = Vec::new();
        for (at, invariant) in self.program.invariants.iter().enumerate() {
            match self.holds(&invariant.condition, env) {
                Ok(true) => {}
                Ok(false) => broken.push((at, "is false".to_string())),
                Err(fault) => broken.push((at, format!("cannot be evaluated ({fault})"))),
            }
        }
        broken
    }
}
