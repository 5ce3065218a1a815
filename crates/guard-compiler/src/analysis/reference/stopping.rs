//! Decisions on stops of the agent (semantics §12).

use super::eval::Env;
use super::probes::ran;
use super::{Answerer, Ask, ReferenceSession};
use crate::hir::{AttestId, Check, CheckKind};
use guard_plan::json::Json;
use guard_plan::value::{DECIMAL_ONE, Value};
use guard_syntax::span::Span;

/// The decision on a stop, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopping {
    /// True if the agent may stop.
    pub allowed: bool,
    /// The reason why no check was asked: `halted`, `deadline` or a unit.
    pub bypassed: Option<String>,
    /// True if the agent may stop although a check does not hold.
    pub incomplete: bool,
    /// The checks that do not hold.
    pub missing: Vec<UnmetCheck>,
}

/// A check that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetCheck {
    /// The check as text; for several files, the first one.
    pub text: String,
    /// The position of the check.
    pub span: Span,
    /// The missing files, in order, if the check is a plain file check with others beside it.
    pub files: Vec<String>,
}

impl ReferenceSession<'_> {
    /// Decides on a stop that the agent requests.
    pub fn stop(&mut self, now: i64, world: Answerer) -> Stopping {
        self.advance(now);
        let mut stopping =
            Stopping { allowed: true, bypassed: None, incomplete: false, missing: Vec::new() };
        stopping.bypassed = self.bypasses();
        let Some(completion) = &self.program.completion else { return stopping };
        if stopping.bypassed.is_some() {
            return stopping;
        }
        stopping.missing = self.lacking(&completion.checks, Env::new(&self.state, world));
        self.keep_answers();
        if !stopping.missing.is_empty() {
            stopping.incomplete =
                self.blocked >= u64::from(completion.at_most) || self.program.shadow;
            stopping.allowed = stopping.incomplete;
            self.blocked += u64::from(!stopping.allowed);
        }
        stopping
    }

    /// Returns the reason why no check is asked: `halted`, `deadline` or an exhausted unit.
    fn bypasses(&self) -> Option<String> {
        if self.halted {
            return Some("halted".into());
        }
        if self.program.deadline.is_some_and(|d| self.now >= self.start.saturating_add(d)) {
            return Some("deadline".into());
        }
        let units = self.program.units.iter().enumerate();
        let exhausted = units
            .filter(|(at, unit)| unit.budget.is_some_and(|budget| self.spent[*at] >= budget))
            .map(|(_, unit)| unit.name.clone());
        exhausted.min()
    }

    /// Returns the first check that does not hold, with the unmet file checks beside it. All checks
    /// must hold.
    fn lacking(&self, checks: &[Check], env: Env) -> Vec<UnmetCheck> {
        let mut at = 0;
        while let Some(check) = checks.get(at) {
            let plain = |check: &&Check| matches!(check.kind, CheckKind::File(_));
            let beside = checks[at..].iter().take_while(plain).count().max(1);
            let lacking: Vec<&Check> =
                checks[at..at + beside].iter().filter(|check| !self.is_met(check, env)).collect();
            match (lacking.as_slice(), &check.kind) {
                ([], _) => {}
                (_, CheckKind::All(inner)) => return self.lacking(inner, env),
                ([first, ..], _) => {
                    let file = |check: &&Check| match &check.kind {
                        CheckKind::File(path) => Some(path.clone()),
                        _ => None,
                    };
                    let files = lacking.iter().filter_map(file).collect();
                    return vec![UnmetCheck { text: first.text.clone(), span: first.span, files }];
                }
            }
            at += beside;
        }
        Vec::new()
    }

    /// Returns true if a check holds. A check that faults or gets no answer does not hold.
    fn is_met(&self, check: &Check, env: Env) -> bool {
        let says = |ask: Ask| (env.world)(&ask) == Some(Json::Bool(true));
        match &check.kind {
            CheckKind::File(path) => self.inside(path).is_ok_and(|path| says(Ask::File(path))),
            CheckKind::Contains(path, text) => {
                !text.is_empty()
                    && self.inside(path).is_ok_and(|path| says(Ask::Contains(path, text.clone())))
            }
            CheckKind::Conforms(path, contract) => self.inside(path).is_ok_and(|path| {
                let text = (env.world)(&Ask::Text(path));
                matches!(text, Some(Json::String(text)) if self.conforms(*contract, &text, env))
            }),
            CheckKind::Command(command, status) => {
                let ended = ran((env.world)(&Ask::Run(command.argv.clone())));
                ended.is_some_and(|(exit, _)| exit == i64::from(*status))
            }
            CheckKind::Committed => says(Ask::Committed),
            CheckKind::Every(lifecycle, state) => {
                self.items[*lifecycle].iter().all(|item| item.state == *state)
            }
            CheckKind::Attest(attest) => self.attests(*attest, env),
            CheckKind::All(checks) => checks.iter().all(|check| self.is_met(check, env)),
            CheckKind::Any(checks) => checks.iter().any(|check| self.is_met(check, env)),
            CheckKind::Condition(e) => self.holds(e, env) == Ok(true),
            CheckKind::Score(e) => match self.eval(e, env) {
                Ok(Value::Decimal(score)) => score > 0 && score <= DECIMAL_ONE,
                _ => false,
            },
        }
    }

    /// Returns true if no dimension is at zero. All of them are judged, even if one is at zero.
    fn attests(&self, attest: AttestId, env: Env) -> bool {
        let dimensions = &self.program.attests[attest].dimensions;
        let at_zero = dimensions.iter().filter(|(_, check)| !self.is_met(check, env));
        at_zero.count() == 0
    }
}
