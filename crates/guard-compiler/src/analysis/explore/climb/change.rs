//! Changes of a draft: other arguments and results, calls more and less, values that a rule asks for.

use super::super::session::{Act, Then};
use super::{Climber, MOST_ACTS, SessionDraft};
use crate::hir::{ClauseKind, ExprKind as K, Requirement, Type};
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_syntax::span::Span;

impl Climber<'_, '_> {
    /// A draft with something else in it. `open` are the clauses that refuse the call at its end.
    pub(super) fn changed(&mut self, draft: &SessionDraft, open: &[Span]) -> Changed {
        let mut last = draft.last.clone();
        if self.rng.chance(45) || self.tools.is_empty() {
            match self.rng.chance(30) {
                true => self.set_leaf(&mut [&mut last], &[], open),
                false => {
                    for _ in 0..=self.rng.below(2) {
                        if let Some(drawn) = self.args(self.wire) {
                            last = spliced(&last, drawn, &mut self.rng);
                        }
                    }
                }
            }
            return Changed { acts: None, last };
        }
        let mut acts = draft.acts.clone();
        let at = self.rng.below(acts.len().max(1));
        match self.rng.below(18) {
            0 if !acts.is_empty() => drop(acts.remove(at)),
            0 => acts.push(Act::Prompt(self.constants.said())),
            1 | 2 if acts.len() < MOST_ACTS => {
                let wire = self.rng.pick(&self.tools).clone();
                if let Some(call) = self.call(&wire) {
                    let at = self.rng.below(acts.len() + 1);
                    acts.insert(at, call);
                }
            }
            3 => {
                // The same call as at the end before it, and perhaps all that led to it once more.
                let then = Then::Succeeds(self.result(self.wire));
                let (tool, args) = (self.wire.to_string(), last.clone());
                let before = acts.clone();
                acts.push(Act::Call { id: String::new(), tool, args, then });
                if before.len() * 2 < MOST_ACTS && self.rng.chance(50) {
                    acts.extend(before);
                }
            }
            4 if self.rng.chance(25) => {
                acts.push(Act::Wait(1 + self.constants.span(&mut self.rng)))
            }
            5 if !acts.is_empty() && acts.len() < MOST_ACTS => {
                let to = self.rng.below(acts.len() + 1);
                acts.insert(to, acts[at].clone());
            }
            6 | 7 if acts.len() < MOST_ACTS => {
                let Some(call) = self.required(&last, open) else {
                    self.change_act(&mut acts, at);
                    return Changed { acts: Some(acts), last };
                };
                let at = self.rng.below(acts.len() + 1);
                acts.insert(at, call);
            }
            8..=11 => {
                let mut values: Vec<&mut Json> = Vec::new();
                for what in &mut acts {
                    let Act::Call { args, then, .. } = what else { continue };
                    values.push(args);
                    if let Then::Succeeds(Some(result)) = then {
                        values.push(result);
                    }
                }
                self.set_leaf(&mut values, &[&last], open);
            }
            _ => self.change_act(&mut acts, at),
        }
        Changed { acts: Some(acts), last }
    }

    /// Sets a value within these to another one, which stands within them or beside them, or is one that an open clause asks for.
    fn set_leaf(&mut self, within: &mut [&mut Json], beside: &[&Json], open: &[Span]) {
        let mut all: Vec<Json> = Vec::new();
        for value in within.iter() {
            leaves(value, &mut all);
        }
        if all.is_empty() {
            return;
        }
        let at = self.rng.below(all.len());
        for value in beside {
            leaves(value, &mut all);
        }
        if !open.is_empty() && self.rng.chance(60) {
            let clause = *self.rng.pick(open);
            all = self.asked_for(clause);
        }
        let mut left = at;
        for value in within.iter_mut() {
            let Some(leaf) = leaf_at(value, &mut left) else { continue };
            if let Json::Bool(truth) = leaf {
                *truth = !*truth;
                return;
            }
            all.retain(|other| same_kind(other, leaf) && other != leaf);
            if !all.is_empty() {
                *leaf = self.rng.pick(&all).clone();
            }
            return;
        }
    }

    /// A call that an open clause requires, as it requires it of the call at the end.
    fn required(&mut self, last: &Json, open: &[Span]) -> Option<Act> {
        let (at, own) = self.player_of(self.wire)?;
        let program = self.players.guards[at].program;
        let own = &program.tools[own];
        let required = own.clauses.iter().filter(|clause| open.contains(&clause.rule.span));
        let required: Vec<&Requirement> = required
            .filter_map(|clause| match &clause.kind {
                ClauseKind::Requires { any_of, .. } => Some(any_of),
                _ => None,
            })
            .flatten()
            .collect();
        if required.is_empty() {
            return None;
        }
        let required = *self.rng.pick(&required);
        let tool = &program.tools[required.tool];
        let mut call = self.call(&tool.wire_name)?;
        let Act::Call { args: Json::Object(args), .. } = &mut call else { return Some(call) };
        for (param, value) in &required.key {
            let K::Param(from) = value.kind else { continue };
            let known = last.get(&own.params[from as usize].name);
            let known = known.filter(|json| !matches!(json, Json::Null));
            let name = &tool.params[*param as usize].name;
            if let (Some(known), Some((_, arg))) =
                (known, args.iter_mut().find(|(known, _)| **known == **name))
            {
                *arg = known.clone();
            }
        }
        Some(call)
    }

    /// The constants of a clause, as JSON.
    fn asked_for(&self, clause: Span) -> Vec<Json> {
        let mut found = Vec::new();
        for player in &self.players.guards {
            let program = player.program;
            for of in program.tools.iter().flat_map(|tool| &tool.clauses) {
                let ClauseKind::Deny { condition, .. } = &of.kind else { continue };
                if of.rule.span != clause {
                    continue;
                }
                condition.walk(&mut |e| match (&e.kind, &e.ty) {
                    (K::String(text), _) => found.push(Json::string(text)),
                    (K::Int(n), _) => found.push(Json::Int(*n)),
                    (K::Bool(truth), _) => found.push(Json::Bool(*truth)),
                    (K::Enum(at), ty) => {
                        if let Type::Enum(id) = ty.required() {
                            found.push(Json::string(&program.enums[*id].variants[*at as usize]));
                        }
                    }
                    _ => {}
                });
                return found;
            }
        }
        found
    }

    /// Other arguments, or another result, of one call.
    fn change_act(&mut self, acts: &mut [Act], at: usize) {
        let Some(Act::Call { tool, args, then, .. }) = acts.get(at).cloned() else { return };
        let (mut new_args, mut new_then) = (args.clone(), then.clone());
        match (self.rng.below(3), &then) {
            (0, _) => {
                if let Some(drawn) = self.args(&tool) {
                    new_args = spliced(&args, drawn, &mut self.rng);
                }
            }
            (_, Then::Succeeds(Some(result))) => {
                if let Some(drawn) = self.result(&tool) {
                    new_then = Then::Succeeds(Some(spliced(result, drawn, &mut self.rng)));
                }
            }
            _ => new_then = Then::Succeeds(self.result(&tool)),
        }
        acts[at] = Act::Call { id: String::new(), tool, args: new_args, then: new_then };
    }
}

/// The first with a part of the second in it.
fn spliced(old: &Json, new: Json, rng: &mut Rng) -> Json {
    if rng.chance(15) {
        return new;
    }
    match (old, new) {
        (Json::Object(before), Json::Object(after)) if !before.is_empty() && !after.is_empty() => {
            let mut members = before.clone();
            let (name, value) = after[rng.below(after.len())].clone();
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = spliced(known, value, rng),
                None => members.push((name, value)),
            }
            Json::Object(members)
        }
        (Json::Array(before), Json::Array(after)) if !before.is_empty() && !after.is_empty() => {
            let mut items = before.clone();
            let at = rng.below(items.len());
            let value = after[rng.below(after.len())].clone();
            match rng.below(6) {
                0 => items.push(value),
                1 => drop(items.remove(at)),
                _ => items[at] = spliced(&items[at], value, rng),
            }
            Json::Array(items)
        }
        (_, new) => new,
    }
}

/// A draft with something else in it: another call at its end, and other events if they are others.
pub(super) struct Changed {
    pub acts: Option<Vec<Act>>,
    pub last: Json,
}

/// Takes the values that are neither arrays nor objects, in order.
fn leaves(json: &Json, all: &mut Vec<Json>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| leaves(item, all)),
        Json::Object(members) => members.iter().for_each(|(_, value)| leaves(value, all)),
        leaf => all.push(leaf.clone()),
    }
}

/// The leaf at a place, which is counted down; none where there are fewer.
fn leaf_at<'j>(json: &'j mut Json, left: &mut usize) -> Option<&'j mut Json> {
    match json {
        Json::Array(items) => items.iter_mut().find_map(|item| leaf_at(item, left)),
        Json::Object(members) => members.iter_mut().find_map(|(_, value)| leaf_at(value, left)),
        leaf if *left == 0 => Some(leaf),
        _ => {
            *left -= 1;
            None
        }
    }
}

fn same_kind(a: &Json, b: &Json) -> bool {
    let number = |json: &Json| matches!(json, Json::Int(_) | Json::Number(_));
    std::mem::discriminant(a) == std::mem::discriminant(b) || number(a) && number(b)
}
