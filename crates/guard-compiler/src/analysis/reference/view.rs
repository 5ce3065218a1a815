//! Read access to a session from inside the compiler, for exploration.
//!
//! It only reads. The caller decides which parts may influence later verdicts.

use super::eval::Env;
use super::{AllowedCall, Answerer, Begun, PastSettlement, ReferenceSession};
use crate::hir::{Expr, FactId, LimitId, ToolId, Type, UnitId};
use guard_plan::json::Json;
use guard_plan::value::{Fault, Value};
use std::rc::Rc;

/// A settled call, as recorded in the history.
pub(crate) struct Past<'s> {
    pub tool: ToolId,
    pub args: &'s [Value],
    pub result: &'s Value,
    /// True if it succeeded and its result decoded.
    pub success: bool,
    pub failed: bool,
    pub time: i64,
    pub number: u64,
    /// The number of calls that settled after it.
    pub later: u64,
    /// The moment of its admission, counted with the settlements, and the time.
    pub begun: (u64, i64),
}

/// The maximum size in bytes of the variables of a session that a search repeats. The search
/// remembers the variables after each round.
const MOST_REPEATED: usize = 256 << 10;

impl<'p> ReferenceSession<'p> {
    /// Returns the clock of the session, and the time at which it began.
    pub(crate) fn clock_at(&self) -> (i64, i64) {
        (self.now, self.start)
    }

    /// Sets the clock, which never runs backwards.
    pub(crate) fn wait_until(&mut self, now: i64) {
        self.advance(now);
    }

    /// Sets a variable of a session that has just begun.
    pub fn place(&mut self, name: &str, value: Value) {
        if let Some(at) = self.program.state.iter().position(|var| var.name == name) {
            Rc::make_mut(&mut self.state)[at] = Rc::new(value);
            self.states = vec![self.state.clone()];
        }
    }

    /// Sets the amount spent of a unit in a session that has just begun, in units of 10⁻⁶.
    pub fn place_spent(&mut self, unit: &str, amount: i64) {
        if let Some(at) = self.program.units.iter().position(|known| known.name == unit) {
            self.spent[at] = amount;
        }
    }

    /// Sets the number of settled calls that this limit of the plan counts, in a session that has
    /// just begun.
    pub fn place_counted(&mut self, limit: u32, calls: usize) {
        let limits = 0..self.program.limits.len();
        for at in limits.filter(|at| self.read.tables.limits.id(*at) == limit) {
            for _ in 0..calls {
                let call = self.allowed.len() as u64;
                let args = Rc::default();
                let limits = vec![(at, None)];
                let counted = AllowedCall { call, time: self.now, tool: usize::MAX, args, limits };
                self.allowed.push(Rc::new(counted));
            }
        }
    }

    /// Records a success of the tool in a session that has just begun.
    pub fn place_success(&mut self, name: &str) {
        let Some(tool) = self.program.tools.iter().position(|known| known.name == name) else {
            return;
        };
        let args = vec![Value::None; self.program.tools[tool].params.len()];
        let settled = PastSettlement {
            tool,
            args: Rc::new(args),
            result: Value::None,
            success: true,
            failed: false,
            time: self.now,
            number: self.moments + 2,
            nth: self.settlements + 1,
            begun: Begun { moment: self.moments + 1, time: self.now },
        };
        self.moments += 2;
        self.settlements += 1;
        self.settled.push(Rc::new(settled));
    }

    /// Returns every settled call, in order.
    pub(crate) fn past(&self) -> impl Iterator<Item = Past<'_>> {
        self.settled.iter().map(|s| Past {
            tool: s.tool,
            args: &s.args,
            result: &s.result,
            success: s.success,
            failed: s.failed,
            time: s.time,
            number: s.number,
            later: self.settlements - s.nth,
            begun: (s.begun.moment, s.begun.time),
        })
    }

    /// Returns the moment of the last admission or settlement of a call of the tool; `None` while
    /// one is in flight.
    pub(crate) fn touched(&self, tool: ToolId) -> Option<u64> {
        let flies = self.flights.iter().any(|f| f.tool == Some(tool));
        let settled = self.settled.iter().filter(|s| s.tool == tool);
        (!flies).then(|| settled.map(|s| s.number).max().unwrap_or(0))
    }

    /// Returns every counted use of a limit: the limit, its key, the time, the tool and the
    /// arguments.
    pub(crate) fn counted(
        &self,
    ) -> impl Iterator<Item = (LimitId, &Option<Value>, i64, ToolId, &[Value])> {
        self.allowed
            .iter()
            .flat_map(|a| a.limits.iter().map(|(l, k)| (*l, k, a.time, a.tool, a.args.as_slice())))
    }

    /// Returns the value of a variable.
    pub(crate) fn var(&self, at: usize) -> &Value {
        &self.state[at]
    }

    /// Returns the amount spent of a unit, in units of 10⁻⁶.
    pub(crate) fn spent_of(&self, unit: UnitId) -> i64 {
        self.spent[unit]
    }

    /// Returns the rows of a fact, oldest first.
    pub(crate) fn rows_of(&self, fact: FactId) -> impl Iterator<Item = &[Value]> {
        self.facts[fact].values()
    }

    /// Returns the state of every item of a lifecycle, and the number of times that the item was rejected.
    pub(crate) fn item_states(&self, lifecycle: usize) -> impl Iterator<Item = (usize, u64)> {
        self.items[lifecycle].iter().map(|item| (item.state, item.rejections()))
    }

    /// Returns the seen values, in the order in which they were first seen.
    pub(crate) fn seen_origins(&self) -> &[Rc<super::SeenText>] {
        &self.seen
    }

    /// Returns a probe's last attempt: its time, its answer, the number of attempts, and the time at which the current
    /// window began. Returns `None` before the first attempt.
    pub(crate) fn last_attempt(&self, probe: usize) -> Option<(i64, String, usize, Option<i64>)> {
        let attempts = &self.attempts[probe];
        let last = attempts.last()?;
        let row =
            attempts.iter().rposition(|attempt| !attempt.failed()).map_or(0, |before| before + 1);
        let begun =
            attempts[row..].iter().find(|attempt| attempt.opens()).map(|attempt| attempt.when());
        Some((last.when(), last.said(), attempts.len(), begun))
    }

    /// Returns the last successful call that was not served by a lifecycle, for evidence.
    pub(crate) fn good_call(&self) -> Option<&str> {
        let good = |call: &&Rc<super::EvidenceCall>| call.success == Some(true) && !call.served;
        self.calls.iter().rev().find(good).map(|call| call.id.as_str())
    }

    /// Returns the number of calls in flight.
    pub(crate) fn flying(&self) -> usize {
        self.flights.len()
    }

    /// Returns the value of an expression that belongs to no call.
    pub(crate) fn closed(&self, e: &Expr, world: Answerer) -> Result<Value, Fault> {
        let value = self.eval(e, Env::new(&self.state, world));
        self.forget_answers();
        value
    }

    /// Returns true if the variables are so large that a search should not repeat the calls that
    /// write them.
    pub(crate) fn is_heavy(&self) -> bool {
        self.state.iter().map(|value| value.weight()).sum::<usize>() > MOST_REPEATED
    }

    /// Returns the committed values of the variables.
    pub(crate) fn committed(&self) -> Rc<Vec<Rc<Value>>> {
        self.state.clone()
    }

    /// Returns the variables that differ from these values: name, before and after as text.
    pub(crate) fn changes_since(&self, before: &[Rc<Value>]) -> Vec<(String, String, String)> {
        let changed = self.program.state.iter().zip(before).zip(self.state.iter());
        let changed = changed.filter(|((_, before), after)| before != after);
        let words = |((var, before), after): ((&crate::hir::StateVar, &Rc<Value>), &Rc<Value>)| {
            let before = self.words_of(&var.ty, before);
            let after = self.words_of(&var.ty, after);
            (var.name.clone(), before, after)
        };
        changed.map(words).collect()
    }

    /// Returns a value as JSON.
    pub(crate) fn to_json(&self, ty: &Type, value: &Value) -> Json {
        guard_plan::render::to_json(&self.read.types, self.read.tables.ty(ty), value)
    }

    /// Returns a value as a text for people.
    pub(crate) fn words_of(&self, ty: &Type, value: &Value) -> String {
        guard_plan::render::value(&self.read.types, self.read.tables.shown_ty(ty), value)
    }

    /// Parses JSON as an argument of a type.
    pub(crate) fn read_json(&self, ty: &Type, json: &Json) -> Option<Value> {
        self.decode(ty, json, false).ok()
    }

    /// Returns true if a value satisfies the refinements of a type.
    pub(crate) fn is_of(&self, ty: &Type, value: &Value) -> bool {
        self.fits(ty, value)
    }

    /// Returns the words of the prompts, if a rule asks for them.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    /// Returns the private texts that were read.
    pub(crate) fn private_texts(&self) -> &super::private::PrivateTexts {
        &self.privates
    }

    /// Returns true if a rule asks for the origin of values.
    pub(crate) fn asks_origins(&self) -> bool {
        self.read.tables.origins
    }
}
