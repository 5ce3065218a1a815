//! What becomes of a call that ran (semantics §4).

use super::eval::{Env, rows};
use super::propose::reads;
use super::{Ask, Misuse, Reference, Settled};
use crate::hir::{Clause, ClauseKind, Expr, Learn, Tool, Type, VarId};
use guard_plan::json::Json;
use guard_plan::plan::EffectOp;
use guard_plan::value::{Fault, Value};

impl Reference<'_> {
    /// The call has run, with this outcome and result.
    pub fn settle(
        &mut self,
        id: &str,
        success: bool,
        result: Option<&Json>,
        now: i64,
        world: &dyn Fn(&Ask) -> Option<Json>,
    ) -> Result<(), Misuse> {
        let at = self
            .flights
            .iter()
            .position(|f| f.id == id)
            .ok_or_else(|| Misuse(format!("no call `{id}`")))?;
        self.advance(now);
        let flight = self.flights.remove(at);
        let mut kept = Value::Json(Box::new(Json::Null));
        if let (true, Some(tool)) = (success, flight.tool) {
            let tool = &self.program.tools[tool];
            for (var, value) in flight.writes {
                self.state[var] = value;
            }
            let returned = result.cloned().unwrap_or(Json::Null);
            let decoded = match &tool.returns {
                Some(ty) => self.decode(ty, &returned, true),
                None => Ok(Value::Json(Box::new(returned))),
            };
            if let Ok(result) = decoded {
                self.observe(tool, &flight.args, &result, world);
                self.learn(tool, &flight.args, &result, world);
                self.reconcile(tool, &flight.args, &result, world);
                kept = result;
            } else {
                kept = Value::None;
            }
        }
        if let Some(tool) = flight.tool {
            let number = self.settled.len() as u64 + 1;
            let settled =
                Settled { tool, args: flight.args, result: kept, success, time: self.now, number };
            self.settled.push(settled);
        }
        self.states.push(self.state.clone());
        Ok(())
    }

    fn observe(
        &mut self,
        tool: &Tool,
        args: &[Value],
        result: &Value,
        world: &dyn Fn(&Ask) -> Option<Json>,
    ) {
        let mut observed = self.state.clone();
        let mut written: Vec<(VarId, bool)> = Vec::new();
        let mut halts = false;
        let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
        for clause in &tool.clauses {
            let ClauseKind::Observe { target, value, ty, warn } = &clause.kind else {
                continue;
            };
            let before = observed[target.var].clone();
            let kept = self
                .typed(value, ty, env)
                .and_then(|value| self.store(target, value, env, &mut observed))
                .is_ok_and(|()| {
                    self.fits(&self.program.state[target.var].ty, &observed[target.var])
                });
            if kept {
                written.push((target.var, *warn));
            } else {
                observed[target.var] = before;
                halts |= !warn;
            }
        }
        let env = Env { state: &observed, args: &[], result: None, ..env };
        for invariant in &self.program.invariants {
            let touching: Vec<bool> = written
                .iter()
                .filter(|(var, _)| reads(&invariant.condition, *var))
                .map(|(_, warn)| *warn)
                .collect();
            let enforced = !invariant.monitor && !invariant.rule.shadow;
            if enforced
                && touching.contains(&false)
                && !self.holds(&invariant.condition, env).unwrap_or(false)
            {
                halts = true;
            }
        }
        self.halted |= halts;
        self.state = observed;
    }

    fn store(
        &self,
        target: &crate::hir::Target,
        value: Value,
        env: Env,
        state: &mut [Value],
    ) -> Result<(), Fault> {
        // The value is computed already: it is written as a bound variable.
        let locals = [value];
        let bound = Expr {
            kind: crate::hir::ExprKind::Local(0),
            ty: Type::Error,
            span: Default::default(),
        };
        self.apply(target, EffectOp::Set, Some(&bound), Env { locals: &locals, ..env }, state)
    }

    /// A value for a place of a type: `json` is decoded to it.
    fn typed(&self, e: &Expr, ty: &Type, env: Env) -> Result<Value, Fault> {
        self.as_typed(self.eval(e, env)?, ty)
    }

    fn as_typed(&self, value: Value, ty: &Type) -> Result<Value, Fault> {
        match value {
            Value::Json(json) if *ty.required() != Type::Json => {
                self.decode(ty, &json, true).map_err(Fault::Decode)
            }
            Value::None if !ty.is_option() => Err(Fault::Decode("a value is missing".into())),
            value => Ok(value),
        }
    }

    fn learn(
        &mut self,
        tool: &Tool,
        args: &[Value],
        result: &Value,
        world: &dyn Fn(&Ask) -> Option<Json>,
    ) {
        for clause in &tool.clauses {
            let ClauseKind::Learn(learn) = &clause.kind else {
                continue;
            };
            let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
            let mut taught = Vec::new();
            let sources = learn.over.as_ref().map(|over| self.eval(over, env));
            let bound = match sources {
                None => vec![Vec::new()],
                Some(Ok(source)) => rows(&[source], learn.binders.len()).unwrap_or_default(),
                Some(Err(_)) => continue,
            };
            for row in bound {
                let mut locals = Vec::new();
                for (slot, value) in learn.binders.iter().zip(row) {
                    locals.resize((*slot as usize + 1).max(locals.len()), Value::None);
                    locals[*slot as usize] = value;
                }
                self.learned_rows(learn, Env { locals: &locals, ..env }, &mut taught);
            }
            for row in taught {
                self.teach(learn.fact, row);
            }
        }
    }

    fn learned_rows(&self, learn: &Learn, env: Env, taught: &mut Vec<Vec<Value>>) {
        if let Some(when) = &learn.when
            && self.holds(when, env) != Ok(true)
        {
            return;
        }
        let columns = &self.program.records[self.program.facts[learn.fact].row].fields;
        let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
        for (e, column) in learn.row.iter().zip(columns) {
            let Ok(value) = self.eval(e, env) else { return };
            let single =
                !matches!(column.ty.required(), Type::List(..) | Type::Set(..) | Type::Json);
            let many = match value {
                Value::List(items) if single => items,
                Value::Set(items) if single => items.into_iter().collect(),
                Value::Json(json) if single => match *json {
                    Json::Array(items) => {
                        items.into_iter().map(|item| Value::Json(Box::new(item))).collect()
                    }
                    other => vec![Value::Json(Box::new(other))],
                },
                value => vec![value],
            };
            // One value that does not fit spoils the whole lesson.
            let typed: Option<Vec<Value>> = many
                .into_iter()
                .map(|value| self.as_typed(value, &column.ty).ok())
                .map(|value| value.filter(|value| self.fits(&column.ty, value)))
                .collect();
            let Some(typed) = typed else { return };
            rows = rows
                .iter()
                .flat_map(|row| {
                    typed.iter().map(|v| [row.as_slice(), std::slice::from_ref(v)].concat())
                })
                .collect();
        }
        taught.extend(rows);
    }

    fn teach(&mut self, fact: usize, row: Vec<Value>) {
        let def = &self.program.facts[fact];
        let table = &mut self.facts[fact];
        if let Some(known) = table.iter_mut().find(|known| known[..def.keys] == row[..def.keys]) {
            *known = row;
            return;
        }
        if table.len() as u64 >= def.max && !table.is_empty() {
            table.remove(0);
        }
        if def.max > 0 {
            table.push(row);
        }
    }

    fn reconcile(
        &mut self,
        tool: &Tool,
        args: &[Value],
        result: &Value,
        world: &dyn Fn(&Ask) -> Option<Json>,
    ) {
        let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
        let broken = |clause: &Clause| match &clause.kind {
            ClauseKind::Reconcile { condition, .. } => self.holds(condition, env) != Ok(true),
            _ => false,
        };
        if tool.clauses.iter().any(broken) {
            self.halted = true;
        }
    }
}
