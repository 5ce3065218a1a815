//! Coverage: the rules for which the tests have observed an allowed call, and a refused one.
//!
//! A rule has allowed a call if a call of its tool was decided and the rule gave no reason; it has
//! refused one if its reason was in a verdict (or in its shadow). Effects, costs, observations and
//! lessons have only one outcome: they happened. Proved rules need no coverage.

use guard_plan::LoadedPlan;
use guard_plan::plan::{Check, CheckKind, RuleMeta, Severity, SourceKind, SpanId, Tool};
use guard_plan::record::{Delivered, ItemChange};
use guard_plan::verdict::{Code, Reason, Verdict};
use guard_runtime::Stopped;
use std::collections::BTreeMap;

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageKind {
    /// `requires`.
    Requires,
    /// `deny`.
    Deny,
    /// `transform` of an argument.
    Transform,
    /// `transform` of the result.
    Shown,
    /// `private`.
    Private,
    /// `trusted` of some results.
    Endorsed,
    /// `limit`.
    Limit,
    /// A `budget` that some tool costs.
    Budget,
    /// `deadline`.
    Deadline,
    /// `invariant`.
    Invariant,
    /// `approval`.
    Approval,
    /// The gate of irreversible and critical tools.
    Gate,
    /// `ready`.
    Ready,
    /// `reconcile`.
    Reconcile,
    /// `costs`.
    Cost,
    /// `effect`.
    Effect,
    /// `observe`.
    Observe,
    /// `learn`.
    Learn,
    /// A transition of a lifecycle.
    Transition,
    /// A severity with which a feedback speaks.
    Feedback,
    /// A check of the completion.
    Check,
}

impl CoverageKind {
    /// Returns true if the rule can refuse a call.
    pub fn two_sided(self) -> bool {
        use CoverageKind::*;
        !matches!(
            self,
            Cost | Effect | Observe | Learn | Shown | Private | Endorsed | Transition | Feedback
        )
    }

    /// Returns the keyword of the rule.
    pub fn word(self) -> &'static str {
        self.word_and_code().0
    }

    /// Returns the code of the reasons that the rule gives. Only rules that judge calls give reasons.
    fn code(self) -> Option<Code> {
        self.word_and_code().1
    }

    fn word_and_code(self) -> (&'static str, Option<Code>) {
        match self {
            CoverageKind::Requires => ("requires", Some(Code::Requires)),
            CoverageKind::Deny => ("deny", Some(Code::Denied)),
            CoverageKind::Transform => ("transform", Some(Code::Transform)),
            CoverageKind::Shown => ("transform", None),
            CoverageKind::Private => ("private", None),
            CoverageKind::Endorsed => ("trusted", None),
            CoverageKind::Limit => ("limit", Some(Code::Limit)),
            CoverageKind::Budget => ("budget", Some(Code::Budget)),
            CoverageKind::Deadline => ("deadline", Some(Code::Deadline)),
            CoverageKind::Invariant => ("invariant", Some(Code::Invariant)),
            CoverageKind::Approval => ("approval", Some(Code::Approval)),
            CoverageKind::Gate => ("gate", Some(Code::Gated)),
            CoverageKind::Ready => ("ready", Some(Code::NotReady)),
            CoverageKind::Reconcile => ("reconcile", None),
            CoverageKind::Cost => ("costs", None),
            CoverageKind::Effect => ("effect", None),
            CoverageKind::Observe => ("observe", None),
            CoverageKind::Learn => ("learn", None),
            CoverageKind::Transition => ("transition", None),
            CoverageKind::Feedback => ("feedback", None),
            CoverageKind::Check => ("completion", None),
        }
    }
}

/// The identity of a rule: its kind, its position, and a text that distinguishes rules at the same
/// position. A policy's rule is in the plan once per tool, and in the source once.
type CoverageKey = (CoverageKind, Option<String>, String);

/// A rule and its observed outcomes.
#[derive(Debug, Clone)]
pub struct CoveredRule {
    /// The kind.
    pub kind: CoverageKind,
    /// The position: an index into the plan's spans.
    pub span: SpanId,
    /// `file:line:column`.
    pub at: Option<String>,
    /// The name that its reasons may give instead of a position.
    name: String,
    /// The tools in its reasons, for requirements; the positions of its parts, for checks.
    needs: Vec<String>,
    /// The tools it governs, by name.
    tools: Vec<String>,
    /// True if it has allowed a call, or happened.
    pub passed: bool,
    /// True if it has refused a call.
    pub refused: bool,
}

impl CoveredRule {
    /// Returns the number of its outcomes, and of the observed ones.
    pub fn sides(&self) -> (usize, usize) {
        let two = self.kind.two_sided();
        let seen = usize::from(self.passed) + usize::from(two && self.refused);
        (if two { 2 } else { 1 }, seen)
    }

    fn raised(&self, reason: &Reason) -> bool {
        // Over a limit a role may be asked, which appears as an approval at the position of the
        // limit.
        let asks = self.kind == CoverageKind::Limit && reason.code == Code::Approval;
        if Some(reason.code) != self.kind.code() && !asks {
            return false;
        }
        match self.kind {
            CoverageKind::Requires => reason.span == self.at && reason.needs == self.needs,
            CoverageKind::Deadline => true,
            CoverageKind::Budget | CoverageKind::Gate => reason.rule == self.name,
            _ => reason.span == self.at,
        }
    }
}

/// The rules of one guard.
pub struct Coverage {
    rules: BTreeMap<CoverageKey, CoveredRule>,
}

impl Coverage {
    /// Returns the rules of the plan, without observations.
    pub fn new(plan: &LoadedPlan) -> Coverage {
        let mut coverage = Coverage { rules: BTreeMap::new() };
        for tool in &plan.plan().tools {
            coverage.requires(plan, tool);
            coverage.plain(plan, tool);
            coverage.after(plan, tool);
            if plan.plan().deadline.is_some() {
                coverage.add(plan, tool, CoverageKind::Deadline, SpanId::MAX, "deadline");
            }
        }
        coverage.session(plan);
        coverage
    }

    /// Adds the session-wide rules.
    fn session(&mut self, loaded: &LoadedPlan) {
        let plan = loaded.plan();
        for source in &plan.sources {
            for learn in &source.learns {
                self.rule(loaded, CoverageKind::Learn, learn.rule.span, source_name(source.kind));
            }
        }
        for lifecycle in &plan.lifecycles {
            for transition in &lifecycle.transitions {
                let name = format!("{}.{}", lifecycle.name, transition.name);
                self.rule(loaded, CoverageKind::Transition, transition.span, &name);
            }
        }
        for feedback in &plan.feedback {
            for block in &feedback.blocks {
                let name = spoken(&feedback.name, block.severity);
                self.rule(loaded, CoverageKind::Feedback, feedback.span, &name);
            }
        }
        if let Some(completion) = &plan.completion {
            let checks = &completion.checks.0;
            if let Some(CheckKind::All(children)) = checks.last().map(|root| &root.kind) {
                for child in children {
                    let check = &checks[*child as usize];
                    let rule = self.rule(loaded, CoverageKind::Check, check.span, &check.text);
                    rule.needs = within(checks, *child, loaded);
                }
            }
        }
    }

    /// Records a user message, or the opening data of the session.
    pub fn taught(&mut self, kind: SourceKind) {
        self.named(CoverageKind::Learn, source_name(kind));
    }

    /// Records delivered feedback.
    pub fn delivered(&mut self, feedback: &[Delivered]) {
        for delivered in feedback {
            self.named(CoverageKind::Feedback, &spoken(&delivered.provider, delivered.severity));
        }
    }

    /// Records a moved item.
    pub fn moved(&mut self, change: &ItemChange) {
        if let Some(transition) = &change.transition {
            self.named(CoverageKind::Transition, &format!("{}.{transition}", change.lifecycle));
        }
    }

    /// Records a stop.
    pub fn stopped(&mut self, stopped: &Stopped) {
        if stopped.bypassed.is_some() {
            return;
        }
        let lacks =
            |at: &String| stopped.missing.iter().any(|missing| missing.span.as_ref() == Some(at));
        for rule in self.rules.values_mut().filter(|rule| rule.kind == CoverageKind::Check) {
            rule.refused |= rule.needs.iter().any(lacks);
            rule.passed |= stopped.missing.is_empty();
        }
    }

    fn named(&mut self, kind: CoverageKind, name: &str) {
        for rule in self.rules.values_mut().filter(|rule| rule.kind == kind && rule.name == name) {
            rule.passed = true;
        }
    }

    /// Returns the rules, by kind and position.
    pub fn rules(&self) -> impl Iterator<Item = &CoveredRule> {
        self.rules.values()
    }

    /// Records a decided call.
    pub fn decided(&mut self, tool: &str, verdict: &Verdict) {
        // These reasons come before any rule is asked, so that no rule has allowed or refused the
        // call.
        let unread = [Code::UnknownTool, Code::InvalidArguments, Code::Halted];
        if verdict.reasons.iter().any(|reason| unread.contains(&reason.code)) {
            return;
        }
        let reasons = || verdict.reasons.iter().chain(&verdict.shadowed);
        for rule in self.rules.values_mut().filter(|rule| rule.kind.code().is_some()) {
            if !rule.tools.iter().any(|name| name == tool) {
                continue;
            }
            // A rule that could not be evaluated has neither allowed the call nor refused it.
            let erred = reasons().any(|r| r.code == Code::EvaluationError && r.span == rule.at);
            if reasons().any(|reason| rule.raised(reason)) {
                rule.refused = true;
            } else if !erred {
                rule.passed = true;
            }
        }
    }

    /// Records an allowed call, which is charged.
    pub fn allowed(&mut self, tool: &str) {
        self.happened(tool, &[CoverageKind::Cost]);
    }

    /// Records a successful call: its effects, and the lessons from its result if it could be
    /// decoded.
    pub fn succeeded(&mut self, tool: &str, decoded: bool, reconciled: bool) {
        self.happened(tool, &[CoverageKind::Effect]);
        if decoded {
            self.happened(
                tool,
                &[
                    CoverageKind::Observe,
                    CoverageKind::Learn,
                    CoverageKind::Shown,
                    CoverageKind::Private,
                    CoverageKind::Endorsed,
                ],
            );
        }
        for rule in self.rules.values_mut().filter(|rule| rule.kind == CoverageKind::Reconcile) {
            if rule.tools.iter().any(|name| name == tool) {
                *if reconciled { &mut rule.passed } else { &mut rule.refused } = true;
            }
        }
    }

    fn happened(&mut self, tool: &str, kinds: &[CoverageKind]) {
        for rule in self.rules.values_mut().filter(|rule| kinds.contains(&rule.kind)) {
            rule.passed |= rule.tools.iter().any(|name| name == tool);
        }
    }

    fn add(
        &mut self,
        plan: &LoadedPlan,
        tool: &Tool,
        kind: CoverageKind,
        span: SpanId,
        name: &str,
    ) -> &mut CoveredRule {
        let rule = self.rule(plan, kind, span, name);
        rule.tools.push(tool.name.clone());
        rule
    }

    fn rule(
        &mut self,
        plan: &LoadedPlan,
        kind: CoverageKind,
        span: SpanId,
        name: &str,
    ) -> &mut CoveredRule {
        let at = plan.span_text(span);
        self.rules.entry((kind, at.clone(), name.to_owned())).or_insert_with(|| CoveredRule {
            kind,
            span,
            at,
            name: name.to_owned(),
            needs: Vec::new(),
            tools: Vec::new(),
            passed: false,
            refused: false,
        })
    }

    fn requires(&mut self, plan: &LoadedPlan, tool: &Tool) {
        for clause in &tool.requires {
            let name = |id: u32| plan.plan().tools.get(id as usize).map_or("", |t| t.name.as_str());
            let mut needs: Vec<String> =
                clause.any_of.iter().map(|requirement| name(requirement.tool).to_owned()).collect();
            needs.sort();
            needs.dedup();
            let rule =
                self.add(plan, tool, CoverageKind::Requires, clause.rule.span, &needs.join(" "));
            rule.needs = needs;
        }
    }

    fn plain(&mut self, plan: &LoadedPlan, tool: &Tool) {
        let (replaced, denied): (Vec<_>, Vec<_>) =
            tool.denies.iter().partition(|deny| deny.replacement.is_some());
        let limit = |id: u32| plan.plan().limits.get(id as usize);
        let limits = tool.limits.iter().filter_map(|used| limit(used.limit));
        self.add_all(plan, tool, CoverageKind::Deny, denied.iter().map(|deny| &deny.rule));
        self.add_all(plan, tool, CoverageKind::Transform, replaced.iter().map(|deny| &deny.rule));
        self.add_all(plan, tool, CoverageKind::Limit, limits.map(|limit| &limit.rule));
        self.add_all(plan, tool, CoverageKind::Approval, tool.approvals.iter().map(|a| &a.rule));
        self.add_all(plan, tool, CoverageKind::Ready, tool.ready.iter().map(|ready| &ready.rule));
        self.add_all(plan, tool, CoverageKind::Cost, tool.costs.iter().map(|cost| &cost.rule));
        for cost in &tool.costs {
            let unit =
                plan.plan().units.get(cost.unit as usize).filter(|unit| unit.budget.is_some());
            if let Some(unit) = unit {
                self.add(plan, tool, CoverageKind::Budget, unit.span, &unit.name);
            }
        }
        if tool.may_be_gated() {
            self.add(plan, tool, CoverageKind::Gate, tool.span, &tool.name);
        }
    }

    fn after(&mut self, plan: &LoadedPlan, tool: &Tool) {
        for id in &tool.frame {
            if let Some(invariant) = plan.plan().invariants.get(*id as usize) {
                let RuleMeta { span, owner, .. } = &invariant.rule;
                self.add(plan, tool, CoverageKind::Invariant, *span, owner);
            }
        }
        self.add_all(plan, tool, CoverageKind::Effect, tool.effects.iter().map(|e| &e.rule));
        self.add_all(plan, tool, CoverageKind::Observe, tool.observes.iter().map(|o| &o.rule));
        self.add_all(plan, tool, CoverageKind::Learn, tool.learns.iter().map(|l| &l.rule));
        self.add_all(plan, tool, CoverageKind::Reconcile, tool.reconciles.iter().map(|r| &r.rule));
        self.add_all(plan, tool, CoverageKind::Shown, tool.transforms.iter().map(|t| &t.rule));
        self.add_all(plan, tool, CoverageKind::Private, tool.privates.iter().map(|p| &p.rule));
        self.add_all(plan, tool, CoverageKind::Endorsed, tool.endorsements.iter().map(|e| &e.rule));
    }

    fn add_all<'r>(
        &mut self,
        plan: &LoadedPlan,
        tool: &Tool,
        kind: CoverageKind,
        rules: impl Iterator<Item = &'r RuleMeta>,
    ) {
        for rule in rules {
            self.add(plan, tool, kind, rule.span, "");
        }
    }
}

fn source_name(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Start => "start",
        SourceKind::Prompt => "prompt",
    }
}

fn spoken(provider: &str, severity: Severity) -> String {
    format!("{provider} {severity:?}")
}

/// Returns the positions of a check and its children.
fn within(checks: &[Check], at: u32, plan: &LoadedPlan) -> Vec<String> {
    let check = &checks[at as usize];
    let mut places: Vec<String> = plan.span_text(check.span).into_iter().collect();
    if let CheckKind::All(children) | CheckKind::Any(children) = &check.kind {
        places.extend(children.iter().flat_map(|child| within(checks, *child, plan)));
    }
    places
}

/// Counts the observed outcomes, and all outcomes.
pub fn total<'a>(rules: impl Iterator<Item = &'a CoveredRule>) -> (usize, usize) {
    rules
        .map(CoveredRule::sides)
        .fold((0, 0), |(seen, all), (sides, count)| (seen + count, all + sides))
}

/// Returns the percentage; 100 if there are no outcomes.
pub fn percent((seen, all): (usize, usize)) -> f64 {
    if all == 0 { 100.0 } else { seen as f64 * 100.0 / all as f64 }
}
