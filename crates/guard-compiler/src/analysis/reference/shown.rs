//! The result that the agent may read (semantics §4).

use super::eval::Env;
use super::{Answerer, ReferenceSession};
use crate::hir::{Clause, ClauseKind, Expr, Tool};
use guard_plan::json::Json;
use guard_plan::record::NoteKind;
use guard_plan::render;
use guard_plan::value::{Fault, Value};
use guard_plan::words::WITHHELD;

impl ReferenceSession<'_> {
    /// Returns a value of an expression as JSON.
    pub(super) fn json(&self, expr: &Expr, value: &Value) -> Json {
        render::to_json(&self.read.types, self.read.tables.shown_ty(&expr.ty), value)
    }

    /// Computes the result that the agent reads.
    pub(super) fn transform(
        &mut self,
        tool: &Tool,
        args: &[Value],
        result: &Value,
        world: Answerer,
    ) {
        let is_transform = |clause: &&Clause| matches!(clause.kind, ClauseKind::Transform { .. });
        let clauses: Vec<&Clause> = tool.clauses.iter().filter(is_transform).collect();
        if clauses.is_empty() || self.program.shadow {
            return;
        }
        let mut shown = match (&tool.returns, result) {
            (Some(ty), _) => render::to_json(&self.read.types, self.read.tables.ty(ty), result),
            (None, Value::Json(json)) => Json::clone(json),
            (None, _) => Json::Null,
        };
        let mut outcomes: Vec<bool> = Vec::new();
        for clause in clauses {
            let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
            let ClauseKind::Transform { path, value, when } = &clause.kind else { continue };
            let replaced: Result<Option<Json>, Fault> =
                match when.as_ref().map(|w| self.holds(w, env)) {
                    Some(Ok(false)) => continue,
                    Some(Err(fault)) => Err(fault),
                    _ => self.eval(value, env).map(|found| Some(self.json(value, &found))),
                };
            if clause.rule.shadow {
                self.outcome.note(NoteKind::Shadow, &clause.rule.owner);
                continue;
            }
            self.outcome.note(NoteKind::Transform, &clause.rule.owner);
            outcomes.push(replaced.is_ok());
            if let Ok(Some(json)) = replaced {
                let mut parts = Vec::new();
                reach(&mut shown, path, &mut parts);
                parts.into_iter().for_each(|part| *part = json.clone());
            }
        }
        if outcomes.contains(&false) {
            self.outcome.shown = Some(Json::string(WITHHELD));
        } else if !outcomes.is_empty() {
            self.outcome.shown = Some(shown);
        }
    }

    /// Withholds a result that does not decode, if a part of it would have to be changed.
    pub(super) fn withhold(&mut self, tool: &Tool) {
        let changes = |clause: &Clause| {
            matches!(clause.kind, ClauseKind::Transform { .. }) && !clause.rule.shadow
        };
        if tool.clauses.iter().any(changes) && !self.program.shadow {
            self.outcome.shown = Some(Json::string(WITHHELD));
        }
    }
}

/// Collects the parts at a path, through the elements of arrays.
fn reach<'j>(json: &'j mut Json, path: &[String], parts: &mut Vec<&'j mut Json>) {
    match (json, path) {
        (json, []) => parts.push(json),
        (Json::Array(items), _) => items.iter_mut().for_each(|item| reach(item, path, parts)),
        (Json::Object(members), [first, rest @ ..]) => {
            let found = members.iter_mut().filter(|(name, _)| **name == **first);
            found.for_each(|(_, part)| reach(part, rest, parts));
        }
        _ => {}
    }
}
