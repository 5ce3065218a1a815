//! Checks, evaluated in order on the committed state, and the texts of their failures.

use crate::compiled::checks::CheckTree;
use crate::compiled::expr::CompiledExpr;
use crate::eval::context::Context;
use crate::session::items;
use crate::val::Val;
use crate::world_checks::{self, CheckResult};
use guard_plan::plan::{AttestId, Check, CheckKind, LifecycleId, PathId};
use guard_plan::record::Missing;
use guard_plan::value::DECIMAL_ONE;

/// The maximum number of files or items named in one message.
const NAMED: usize = 3;

/// A failed check and its problem.
struct FailedCheck {
    check: u32,
    message: String,
}

/// The evaluator of the checks.
#[derive(Clone, Copy)]
struct CheckJudge<'j, 'a> {
    cx: &'j Context<'a>,
    checks: &'a [Check],
    ready: &'a [Option<CompiledExpr>],
    attests: &'a [Box<[CheckTree]>],
}

/// Returns the failed checks of the completion.
pub(crate) fn missing(cx: &Context<'_>) -> Vec<Missing> {
    let Some(completion) = &cx.compiled.plan().completion else { return Vec::new() };
    let checks = &completion.checks.0;
    let ready = &cx.compiled.checks;
    let judge = CheckJudge { cx, checks, ready: &ready.completion, attests: &ready.attests };
    let missing = |lack: FailedCheck| {
        let check = &checks[lack.check as usize];
        let span = cx.compiled.loaded().span_text(check.span);
        Missing { text: check.text.clone(), message: lack.message, span }
    };
    judge.lacks(judge.root()).into_iter().map(missing).collect()
}

impl CheckJudge<'_, '_> {
    fn root(&self) -> u32 {
        (self.checks.len() - 1) as u32
    }

    /// Returns the failures of a check; empty if it holds.
    fn lacks(&self, id: u32) -> Vec<FailedCheck> {
        let message = match &self.checks[id as usize].kind {
            CheckKind::All(children) => return self.all(children),
            CheckKind::Any(children) => self.any(children),
            CheckKind::File(_) => return self.files(&[id]).into_iter().collect(),
            kind => self.one(id, kind),
        };
        message.map(|message| FailedCheck { check: id, message }).into_iter().collect()
    }

    /// Evaluates the children in order, up to the first that fails. Adjacent file checks are
    /// evaluated as one.
    fn all(&self, children: &[u32]) -> Vec<FailedCheck> {
        let is_file = |id: &u32| matches!(self.checks[*id as usize].kind, CheckKind::File(_));
        let mut rest = children;
        while let Some(first) = rest.first() {
            let files = rest.iter().take_while(|id| is_file(id)).count();
            let (group, after) = rest.split_at(files.max(1));
            rest = after;
            let lacks = match files {
                0 => self.lacks(*first),
                _ => self.files(group).into_iter().collect(),
            };
            if !lacks.is_empty() {
                return lacks;
            }
        }
        Vec::new()
    }

    /// Evaluates the children in order, up to the first that holds.
    fn any(&self, children: &[u32]) -> Option<String> {
        let mut alternatives = Vec::with_capacity(children.len());
        for child in children {
            let lacks = self.lacks(*child);
            if lacks.is_empty() {
                return None;
            }
            let messages: Vec<String> = lacks.into_iter().map(|lack| lack.message).collect();
            alternatives.push(messages.join("; "));
        }
        Some(alternatives.join("; or "))
    }

    /// Evaluates a check without children.
    fn one(&self, id: u32, kind: &CheckKind) -> Option<String> {
        let path = |path: &PathId| &*self.cx.session.paths[*path as usize];
        match kind {
            CheckKind::Contains(file, text) => {
                let outside = world_checks::inside(self.cx.session, path(file)).lack();
                outside.or_else(|| world_checks::contains(self.cx, path(file), text).lack())
            }
            CheckKind::Conforms(file, contract) => {
                let outside = world_checks::inside(self.cx.session, path(file)).lack();
                outside.or_else(|| world_checks::conforms(self.cx, path(file), *contract).lack())
            }
            CheckKind::Command(command, status) => {
                world_checks::command(self.cx, *command, i32::from(*status)).lack()
            }
            CheckKind::Committed => world_checks::committed(self.cx).lack(),
            CheckKind::Every(lifecycle, state) => self.every(*lifecycle, *state),
            CheckKind::Attest(attest) => self.attest(*attest),
            CheckKind::Condition(_) => self.condition(id),
            CheckKind::Score(_) => self.score(id),
            // Evaluated by `lacks`.
            CheckKind::File(_) | CheckKind::All(_) | CheckKind::Any(_) => None,
        }
    }

    /// Evaluates files that must all exist.
    fn files(&self, group: &[u32]) -> Option<FailedCheck> {
        let mut first = None;
        let mut missing = Vec::new();
        let mut others = Vec::new();
        for id in group {
            let CheckKind::File(file) = self.checks[*id as usize].kind else { continue };
            let session = self.cx.session;
            let place = &session.paths[file as usize];
            let found = match world_checks::inside(session, place) {
                CheckResult::Holds => world_checks::file(self.cx, place),
                outside => CheckResult::Unknown(outside.lack().unwrap_or_default()),
            };
            match found {
                CheckResult::Holds => continue,
                CheckResult::Lacks(_) => {
                    missing.push(format!("`{}`", world_checks::shown(session, place)))
                }
                CheckResult::Unknown(why) => others.push(why),
            }
            first.get_or_insert(*id);
        }
        let mut messages = Vec::new();
        if !missing.is_empty() {
            let verb = if missing.len() == 1 { "is" } else { "are" };
            messages.push(format!("{} {verb} missing", few(&missing, missing.len(), " and ")));
        }
        if !others.is_empty() {
            messages.push(few(&others, others.len(), "; "));
        }
        first.map(|check| FailedCheck { check, message: messages.join("; ") })
    }

    fn every(&self, id: LifecycleId, state: u32) -> Option<String> {
        let lifecycle = &self.cx.compiled.plan().lifecycles[id as usize];
        let table = &self.cx.session.items[id as usize];
        let (first, count) = table.outside(state, NAMED);
        let wanted = &lifecycle.states[state as usize];
        let names: Vec<String> = first
            .iter()
            .filter_map(|number| {
                let is = &lifecycle.states[table.get(*number)?.state() as usize];
                Some(format!("{} is {is}, not {wanted}", items::id(lifecycle, *number)))
            })
            .collect();
        (count > 0).then(|| few(&names, count, "; "))
    }

    fn condition(&self, id: u32) -> Option<String> {
        let ready = self.ready[id as usize].as_ref()?;
        let text = &self.checks[id as usize].text;
        match self.cx.holds(ready) {
            Ok(true) => None,
            Ok(false) => Some(format!("`{text}` does not hold")),
            Err(fault) => Some(format!("`{text}` cannot be judged: {fault}")),
        }
    }

    fn score(&self, id: u32) -> Option<String> {
        let ready = self.ready[id as usize].as_ref()?;
        let text = &self.checks[id as usize].text;
        let units = match self.cx.eval(ready) {
            Ok(Val::Decimal(units)) => units,
            // A saturated number is not between 0 and 1 either.
            Ok(Val::Int(number)) => number.saturating_mul(DECIMAL_ONE),
            Ok(_) => return Some(format!("`{text}` is not a number")),
            Err(fault) => return Some(format!("`{text}` cannot be judged: {fault}")),
        };
        match units {
            0 => Some(format!("`{text}` is 0")),
            1..=DECIMAL_ONE => None,
            _ => Some(format!("`{text}` is not between 0 and 1")),
        }
    }

    /// Evaluates all dimensions, and names those with a score of zero.
    fn attest(&self, id: AttestId) -> Option<String> {
        let attest = &self.cx.compiled.plan().attests[id as usize];
        let dimensions = attest.dimensions.iter().zip(&self.attests[id as usize]);
        let zeros: Vec<String> = dimensions
            .filter_map(|(dimension, ready)| {
                let judge = CheckJudge { checks: &dimension.checks.0, ready, ..*self };
                let lacks = judge.lacks(judge.root());
                let messages: Vec<String> = lacks.into_iter().map(|lack| lack.message).collect();
                let why = messages.join("; ");
                (!why.is_empty()).then(|| format!("`{}` scores 0 ({why})", dimension.name))
            })
            .collect();
        (!zeros.is_empty()).then(|| format!("`{}` fails: {}", attest.name, zeros.join("; ")))
    }
}

/// Lists the first few phrases, and the number of further ones.
fn few(phrases: &[String], count: usize, last: &str) -> String {
    let shown = &phrases[..phrases.len().min(NAMED)];
    let more = count - shown.len();
    if more > 0 {
        let between = if last == " and " { ", " } else { last };
        return format!("{} and {more} more", shown.join(between));
    }
    match shown {
        [rest @ .., final_one] if !rest.is_empty() && last == " and " => {
            format!("{} and {final_one}", rest.join(", "))
        }
        _ => shown.join(last),
    }
}
