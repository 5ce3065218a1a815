//! Changes of a draft: other arguments and results, calls more and less, values that a rule asks for.

use super::super::session::{Act, ExploredEnding};
use super::focus::Focus;
use super::reshape::{
    agree, all_values, grow, objects_of, replace, same_kind, values_in, values_of,
};
use super::{Climber, MOST_ACTS, SessionDraft};
use crate::hir::{ClauseKind, ExprKind as K, Requirement, Type};
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_syntax::span::Span;
use std::rc::Rc;

impl Climber<'_, '_> {
    /// A draft with something else in it. `open` are the clauses that refuse the call at its end.
    pub(super) fn changed(&mut self, draft: &SessionDraft, open: &[Span], free: bool) -> Changed {
        let mut last = draft.last.clone();
        if self.rng.chance(45) || self.tools.is_empty() {
            if self.rng.chance(30) {
                self.set_leaf(&mut [&mut last], &[], open)
            } else {
                for _ in 0..=self.rng.below(2) {
                    if let Some(drawn) = self.args(self.wire) {
                        last = spliced(&last, drawn, &self.focus, &mut self.rng);
                    }
                }
            }
            return Changed { acts: None, last };
        }
        let mut acts = draft.acts.clone();
        let at = self.rng.below(acts.len().max(1));
        // Changes of several places at once lead to other sessions, seldom nearer to one.
        match self.rng.below(if free { 26 } else { 18 }) {
            0 if !acts.is_empty() => drop(acts.remove(at)),
            0 => acts.push(Rc::new(Act::Prompt(self.constants.said()))),
            1 | 2 if acts.len() < MOST_ACTS => {
                let wire = self.rng.pick(&self.tools).clone();
                if let Some(mut call) = self.call(&wire) {
                    if free && self.rng.chance(50) {
                        let all = objects_of(&acts, &last);
                        let with = &all[self.focus.choose_one(&all, &mut self.rng)];
                        values_of(&mut call).into_iter().for_each(|value| agree(value, with));
                    }
                    let at = self.rng.below(acts.len() + 1);
                    acts.insert(at, Rc::new(call));
                }
            }
            3 => {
                // The same call as at the end before it, and perhaps all that led to it once more.
                let then = ExploredEnding::Succeeds(self.result(self.wire));
                let tool = self.wire.to_string();
                let args = last.clone();
                let before = acts.clone();
                acts.push(Rc::new(Act::Call { id: String::new(), tool, args, then }));
                if before.len() * 2 < MOST_ACTS && self.rng.chance(50) {
                    acts.extend(before);
                }
            }
            4 if self.rng.chance(25) => {
                acts.push(Rc::new(Act::Wait(1 + self.constants.span(&mut self.rng))))
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
                acts.insert(at, Rc::new(call));
            }
            8..=11 => {
                let mut values: Vec<&mut Json> =
                    acts.iter_mut().map(Rc::make_mut).flat_map(values_of).collect();
                self.set_leaf(&mut values, &[&last], open);
            }
            18 | 19 => self.rename(&mut acts, &mut last),
            20..=22 => self.reconcile(&mut acts, &mut last),
            23..=25 => {
                let spare = self.args(self.wire);
                let mut values = all_values(&mut acts, &mut last);
                grow(&mut values, spare.as_ref(), &self.focus, &mut self.rng);
            }
            _ => self.change_act(&mut acts, at),
        }
        Changed { acts: Some(acts), last }
    }

    /// Sets a value within these to another one, which stands within them or beside them, or is one that an open clause asks for.
    fn set_leaf(&mut self, within: &mut [&mut Json], beside: &[&Json], open: &[Span]) {
        let mut found: Vec<(Json, bool)> = Vec::new();
        for value in within.iter() {
            self.focus.leaves(value, false, &mut found);
        }
        if found.is_empty() {
            return;
        }
        let seen: Vec<usize> = (0..found.len()).filter(|at| found[*at].1).collect();
        let at = self.focus.choose(found.len(), &seen, &mut self.rng);
        for value in beside {
            self.focus.leaves(value, false, &mut found);
        }
        let mut all: Vec<Json> = found.into_iter().map(|(leaf, _)| leaf).collect();
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

    /// Gives the objects of one call what they have in common with an object of any.
    fn reconcile(&mut self, acts: &mut [Rc<Act>], last: &mut Json) {
        let all = objects_of(acts, last);
        let with = &all[self.focus.choose_one(&all, &mut self.rng)];
        let whole = |act: &Rc<Act>| Json::Array(values_in(act).into_iter().cloned().collect());
        let calls: Vec<Json> = acts.iter().map(whole).chain([last.clone()]).collect();
        let at = self.focus.choose_one(&calls, &mut self.rng);
        let values = match acts.get_mut(at) {
            Some(act) => values_of(Rc::make_mut(act)),
            None => vec![last],
        };
        values.into_iter().for_each(|value| agree(value, with));
    }

    /// Gives another value to what stands in several places, in all of them.
    fn rename(&mut self, acts: &mut [Rc<Act>], last: &mut Json) {
        let at = self.rng.below(acts.len() + 1);
        let (old, new) = match acts.get(at).map(|act| &**act) {
            None => (last.clone(), self.args(self.wire)),
            Some(Act::Call { tool, then: ExploredEnding::Succeeds(Some(result)), .. })
                if self.rng.chance(60) =>
            {
                (result.clone(), self.result(tool))
            }
            Some(Act::Call { tool, args, .. }) => (args.clone(), self.args(tool)),
            Some(_) => return,
        };
        let mut pairs = Vec::new();
        if let Some(new) = &new {
            differing(&old, new, &mut pairs);
        }
        if pairs.is_empty() {
            return;
        }
        let (from, to) = *self.rng.pick(&pairs);
        all_values(acts, last).into_iter().for_each(|value| replace(value, from, to));
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
    fn change_act(&mut self, acts: &mut [Rc<Act>], at: usize) {
        let Some(act) = acts.get(at).cloned() else { return };
        let Act::Call { tool, args, then, .. } = &*act else { return };
        let mut new_args = args.clone();
        let mut new_then = then.clone();
        match (self.rng.below(3), then) {
            (0, _) => {
                if let Some(drawn) = self.args(tool) {
                    new_args = spliced(args, drawn, &self.focus, &mut self.rng);
                }
            }
            (_, ExploredEnding::Succeeds(Some(result))) => {
                if let Some(drawn) = self.result(tool) {
                    new_then = ExploredEnding::Succeeds(Some(spliced(
                        result,
                        drawn,
                        &self.focus,
                        &mut self.rng,
                    )));
                }
            }
            _ => new_then = ExploredEnding::Succeeds(self.result(tool)),
        }
        let id = String::new();
        let tool = tool.clone();
        acts[at] = Rc::new(Act::Call { id, tool, args: new_args, then: new_then });
    }
}

/// The first with a part of the second in it.
fn spliced(old: &Json, new: Json, focus: &Focus, rng: &mut Rng) -> Json {
    if rng.chance(15) {
        return new;
    }
    match (old, new) {
        (Json::Object(before), Json::Object(after)) if !before.is_empty() && !after.is_empty() => {
            let mut members = before.clone();
            let seen: Vec<usize> =
                (0..after.len()).filter(|at| focus.contains(&after[*at].0)).collect();
            let (name, value) = after[focus.choose(after.len(), &seen, rng)].clone();
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = spliced(known, value, focus, rng),
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
                _ => items[at] = spliced(&items[at], value, focus, rng),
            }
            Json::Array(items)
        }
        (_, new) => new,
    }
}

/// Collects the leaves of two values that stand in the same place and differ, where both are of one kind.
fn differing<'j>(old: &'j Json, new: &'j Json, all: &mut Vec<(&'j Json, &'j Json)>) {
    match (old, new) {
        (Json::Object(before), Json::Object(after)) => {
            for (name, value) in before {
                if let Some((_, other)) = after.iter().find(|(known, _)| known == name) {
                    differing(value, other, all);
                }
            }
        }
        (Json::Array(before), Json::Array(after)) => {
            for item in before {
                after.iter().for_each(|other| differing(item, other, all));
            }
        }
        (Json::Object(_) | Json::Array(_), _) => {}
        (leaf, other) if leaf != other && same_kind(leaf, other) => all.push((leaf, other)),
        _ => {}
    }
}

/// A draft with something else in it: another call at its end, and other events if they are others.
pub(super) struct Changed {
    pub acts: Option<Vec<Rc<Act>>>,
    pub last: Json,
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
