//! The part of a guard that a host's own static rules can express, as such rules.
//!
//! A static rule sees only one call, so most of a guard cannot be expressed. The exported rules
//! refuse, or ask a person, where the guard does the same, and never allow a call. They are weaker
//! than the guard and never a way around it. Rules that cannot be exported are listed with the
//! reason.

mod claude;
mod codex;
mod conditions;
mod examples;
mod gemini;

pub use conditions::CallPattern;
pub use examples::ExportExample;

use crate::vocabulary::Vocabulary;
use conditions::{ReadCondition, read};
use guard_plan::plan::{Expr, Message, Plan, RuleMeta, Tool};
use guard_plan::words::rules::{PhraseSubject, after, before};
use guard_plan::words::{Shows, expr, template};
use std::collections::{BTreeMap, BTreeSet};

/// The decision of a static rule on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StaticDecision {
    /// The host refuses it.
    Deny,
    /// The host asks the person at the terminal.
    Ask,
}

/// One rule for a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StaticRule {
    /// The decision on the calls.
    pub decision: StaticDecision,
    /// The tool, by the host's name.
    pub tool: String,
    /// The pattern of the calls.
    pub pattern: CallPattern,
    /// The text for the agent or the person.
    pub because: String,
}

/// A rule of the guard, with the result of its export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedRule {
    /// The tools that the rule concerns, by the host's names; none if it concerns the session.
    pub tools: Vec<String>,
    /// The tool or policy that declares it.
    pub owner: String,
    /// The rule as text.
    pub rule: String,
    /// True if a part of the rule was exported.
    pub said: bool,
    /// The reasons why the rest was not exported, or the respects in which the exported rules are
    /// weaker.
    pub reasons: Vec<String>,
}

/// The rules of a host that express a part of a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedRules {
    /// The file, in the host's format.
    pub text: String,
    /// The path where the host looks for the file.
    pub place: &'static str,
    /// The rules in the file.
    pub statics: Vec<StaticRule>,
    /// Every rule of the guard.
    pub rules: Vec<ExportedRule>,
}

/// Returns the rules of a host for a plan. `tools` are all known tools of the host, and `examples`
/// are the calls of the guard's tests: a rule that a test contradicts is omitted. The plan should
/// be as lowered, because the optimizer changes the form of conditions. Returns `None` if the host
/// has no such rules.
pub fn export(
    host: &Vocabulary,
    plan: &Plan,
    tools: &[String],
    examples: &[ExportExample],
) -> Option<ExportedRules> {
    let format = StaticFormat::for_host(host)?;
    let mut exporter =
        Exporter { format, plan, examples, rules: BTreeSet::new(), report: BTreeMap::new() };
    if plan.shadow {
        exporter.unsaid(None, &plan.guard, "shadow", "the guard refuses nothing");
    } else {
        plan.tools.iter().for_each(|tool| exporter.tool(tool));
        exporter.session();
        exporter.undeclared(tools);
    }
    let rules: Vec<StaticRule> = exporter.rules.into_iter().collect();
    let text = format.text(&rules, examples);
    let report = exporter.report.into_iter();
    let report = report.map(|((owner, rule), (tools, said, reasons))| ExportedRule {
        tools: tools.into_iter().collect(),
        owner,
        rule,
        said,
        reasons: reasons.into_iter().collect(),
    });
    Some(ExportedRules { text, place: format.place(), statics: rules, rules: report.collect() })
}

/// The hosts with static rules.
#[derive(Debug, Clone, Copy)]
enum StaticFormat {
    Claude,
    Codex,
    Gemini,
}

impl StaticFormat {
    fn for_host(host: &Vocabulary) -> Option<StaticFormat> {
        match host.name {
            "claude-code" => Some(StaticFormat::Claude),
            "codex" => Some(StaticFormat::Codex),
            "gemini" => Some(StaticFormat::Gemini),
            _ => None,
        }
    }

    fn place(self) -> &'static str {
        match self {
            StaticFormat::Claude => ".claude/settings.json",
            StaticFormat::Codex => "~/.codex/rules/guard.rules",
            StaticFormat::Gemini => "~/.gemini/policies/from-guard.toml",
        }
    }

    /// Returns the reason why the host cannot express a rule, or the respect in which its rule is
    /// weaker than the guard.
    fn says(self, rule: &StaticRule) -> Result<&'static str, &'static str> {
        match self {
            StaticFormat::Claude => claude::says(rule),
            StaticFormat::Codex => codex::says(rule),
            StaticFormat::Gemini => gemini::says(rule),
        }
    }

    /// Returns true if a rule about one tool may refuse calls of another.
    fn means(self, tool: &str, other: &str) -> bool {
        tool == other || matches!(self, StaticFormat::Claude) && claude::means(tool, other)
    }

    fn text(self, rules: &[StaticRule], examples: &[ExportExample]) -> String {
        match self {
            StaticFormat::Claude => claude::text(rules),
            StaticFormat::Codex => codex::text(rules, examples),
            StaticFormat::Gemini => gemini::text(rules),
        }
    }
}

/// A rule by its owner and text: its tools, true if a part of it was exported, and the reasons.
type RuleReport = BTreeMap<(String, String), (BTreeSet<String>, bool, BTreeSet<String>)>;

struct Exporter<'e> {
    format: StaticFormat,
    plan: &'e Plan,
    examples: &'e [ExportExample],
    rules: BTreeSet<StaticRule>,
    report: RuleReport,
}

impl Exporter<'_> {
    fn note(
        &mut self,
        tool: Option<&str>,
        owner: &str,
        rule: String,
        said: bool,
        reasons: &[String],
    ) {
        let entry = self.report.entry((owner.to_owned(), rule)).or_default();
        entry.0.extend(tool.map(str::to_owned));
        entry.1 |= said;
        entry.2.extend(reasons.iter().cloned());
    }

    /// Notes a rule that the host's rules cannot express.
    fn unsaid(&mut self, tool: Option<&str>, owner: &str, rule: &str, reason: &str) {
        self.note(tool, owner, rule.to_owned(), false, &[reason.to_owned()]);
    }

    /// Exports the rules of a tool.
    fn tool(&mut self, tool: &Tool) {
        let plan = self.plan;
        let shows = Shows { plan, tool: Some(tool), ranges: &[] };
        for deny in &tool.denies {
            let words = format!("deny {}", deny.text);
            self.rule(
                tool,
                &deny.rule,
                words,
                StaticDecision::Deny,
                Some(&deny.condition),
                &deny.because,
            );
        }
        for approval in &tool.approvals {
            let when = approval.when.as_ref().map(|when| match &approval.because {
                // The author's reason is easier to understand than our text.
                Some(because) => format!(", since \"{}\"", template(because)),
                None => format!(" when {}", expr(&shows, when)),
            });
            let words = format!("approval {}{}", approval.role, when.unwrap_or_default());
            let when = approval.when.as_ref();
            let because = &approval.because;
            self.rule(tool, &approval.rule, words, StaticDecision::Ask, when, because);
        }
        let gate = "irreversible and critical";
        if tool.is_gated() {
            let meta =
                RuleMeta { owner: tool.name.clone(), doc: String::new(), shadow: false, span: 0 };
            self.rule(tool, &meta, gate.into(), StaticDecision::Ask, None, &None);
        }
        for risk in tool.gates() {
            let words = format!("{gate} {}", risk.text);
            let when = Some(&risk.when);
            self.rule(tool, &risk.rule, words, StaticDecision::Ask, when, &None);
        }
        for said in before(plan, tool) {
            let (word, reason) = match said.about {
                PhraseSubject::Requires => ("requires ", "it depends on what the session has done"),
                PhraseSubject::Limit => ("limit ", "it counts calls"),
                PhraseSubject::Cost => ("costs ", "it counts what was spent"),
                PhraseSubject::Effect | PhraseSubject::Keeps => {
                    ("effect ", "it depends on the state of the session")
                }
                PhraseSubject::Ready => ("ready when ", "it reads files, probes or the clock"),
                _ => continue,
            };
            let owner = said.rule.map_or(&*tool.name, |rule| &*rule.owner).to_owned();
            let words = format!("{word}{}", said.text);
            self.unsaid(Some(&tool.wire_name), &owner, &words, reason);
        }
        if !after(plan, tool).is_empty() {
            let reason = "the host's rules do not see results";
            let rule = "what results teach and break";
            self.unsaid(Some(&tool.wire_name), &plan.guard, rule, reason);
        }
    }

    fn rule(
        &mut self,
        tool: &Tool,
        meta: &RuleMeta,
        words: String,
        decision: StaticDecision,
        condition: Option<&Expr>,
        because: &Option<Message>,
    ) {
        let wire = &tool.wire_name;
        let words = guard_plan::words::line(&words);
        if meta.shadow {
            let reason = "it is a shadow: it refuses nothing";
            return self.unsaid(Some(wire), &meta.owner, &words, reason);
        }
        let met = match condition {
            Some(condition) => read(self.plan, tool, condition),
            None => ReadCondition {
                patterns: BTreeSet::from([CallPattern::Every]),
                ..ReadCondition::default()
            },
        };
        let because = because.as_ref().map(template);
        let because = guard_plan::words::line(&because.unwrap_or_else(|| words.clone()));
        let mut reasons: BTreeSet<String> =
            met.missing.iter().map(|reason| (*reason).to_owned()).collect();
        let mut said = false;
        for pattern in met.patterns {
            let rule =
                StaticRule { decision, tool: wire.clone(), pattern, because: because.clone() };
            match self.weaker(&rule) {
                Ok(weaker) => {
                    said = true;
                    reasons.insert(weaker);
                    self.rules.insert(rule);
                }
                Err(reason) => _ = reasons.insert(reason),
            }
        }
        let reasons: Vec<String> = reasons.into_iter().collect();
        self.note(Some(wire), &meta.owner, words, said, &reasons);
    }

    /// Returns the respect in which the host's rule is weaker, or the reason why there is none.
    fn weaker(&self, rule: &StaticRule) -> Result<String, String> {
        let weaker = self.format.says(rule)?;
        let runs = |example: &&ExportExample| {
            let meant = self.format.means(&rule.tool, &example.tool);
            example.runs && meant && example.meets(&rule.pattern)
        };
        if self.examples.iter().any(|example| runs(&example)) {
            return Err("a test of the guard allows a call that the rule would refuse".into());
        }
        Ok(match rule.decision {
            StaticDecision::Deny => weaker.to_owned(),
            StaticDecision::Ask => format!("whoever sits at the terminal may approve; {weaker}"),
        })
    }

    /// Reports the declarations about the whole session, which the host's rules cannot express.
    fn session(&mut self) {
        let plan = self.plan;
        let budgets = plan.units.iter().any(|unit| unit.budget.is_some());
        let said = [
            (plan.deadline.is_some(), "deadline", "it reads files, probes or the clock"),
            (budgets, "budgets", "they count what was spent"),
            (
                plan.completion.is_some(),
                "completion",
                "the host has no rule for the end of the work",
            ),
            (!plan.feedback.is_empty(), "feedback", "the host's rules do not advise"),
        ];
        for (there, rule, reason) in said {
            if there {
                self.unsaid(None, &plan.guard, rule, reason);
            }
        }
        let reason = "the host checks arguments by its own schemas";
        self.unsaid(None, &plan.guard, "types of arguments", reason);
    }

    /// Refuses the tools of the host that the guard does not declare.
    fn undeclared(&mut self, tools: &[String]) {
        if self.plan.default_allow {
            return;
        }
        let declared = |wire: &str| self.plan.tools.iter().any(|tool| tool.wire_name == wire);
        let others: Vec<&String> = tools.iter().filter(|tool| !declared(tool)).collect();
        let mut said = false;
        for tool in others {
            let because = "the guard does not declare this tool".to_owned();
            let pattern = CallPattern::Every;
            let rule =
                StaticRule { decision: StaticDecision::Deny, tool: tool.clone(), pattern, because };
            if self.format.says(&rule).is_ok() {
                self.rules.insert(rule);
                said = true;
            }
        }
        let guard = self.plan.guard.clone();
        let reason =
            "tools that are not known here, as those of MCP servers, stay with the host".to_owned();
        self.note(None, &guard, "tools that are not declared".into(), said, &[reason]);
    }
}
