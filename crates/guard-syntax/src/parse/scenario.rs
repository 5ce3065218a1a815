//! Scenarios: `test` items and their steps.

use super::build::TreeBuilder;
use super::grammar::{ChildNodes, Rule, SyntaxNode};
use crate::ast::{Expr, Ident, Str, Test, TestCall, TestStep, TestStepKind};

impl TreeBuilder<'_> {
    pub fn test(&mut self, mut parts: ChildNodes) -> Option<Test> {
        let title = self.take_string(&mut parts)?;
        let after = self.optional(&mut parts, Rule::begins_after, Self::take_string)?;
        Some(Test { title, after, steps: parts.map(|s| self.step(s)).collect::<Option<_>>()? })
    }

    pub fn step(&mut self, node: SyntaxNode) -> Option<TestStep> {
        let span = self.span_eq(&node);
        let node = ChildNodes::new(node).next()?;
        let rule = node.as_rule();
        let parts = ChildNodes::new(node);
        let kind = self.call_step(rule, parts.clone()).or_else(|| self.world_step(rule, parts))?;
        Some(TestStep { kind, span })
    }

    /// Parses the steps about calls.
    fn call_step(&mut self, rule: Rule, mut parts: ChildNodes) -> Option<TestStepKind> {
        Some(match rule {
            Rule::st_run => {
                let success = succeeds(&mut parts)?;
                let call = self.take_call(&mut parts)?;
                let name = self.optional(&mut parts, Rule::called_as, Self::name)?;
                let returns = self.take_returning(&mut parts);
                let undecoded = parts.has(Rule::unread);
                TestStepKind::Run { success, call, name, returns, undecoded }
            }
            Rule::st_allowed => TestStepKind::Allowed(self.take_call(&mut parts)?),
            Rule::st_denied => self.denied(parts)?,
            Rule::st_asks => {
                TestStepKind::Asks { call: self.take_call(&mut parts)?, of: self.name(&mut parts) }
            }
            Rule::st_waits => TestStepKind::Waits {
                call: self.take_call(&mut parts)?,
                by: self.optional(&mut parts, Rule::waits_by, Self::name)?,
                for_tool: self.name(&mut parts),
            },
            Rule::st_start => {
                let name = self.name(&mut parts)?;
                TestStepKind::Start(name, self.take_call(&mut parts)?)
            }
            Rule::st_finish => {
                let name = self.name(&mut parts)?;
                let success = succeeds(&mut parts)?;
                let returns = self.take_returning(&mut parts);
                let undecoded = parts.has(Rule::unread);
                TestStepKind::Finish { name, success, returns, undecoded }
            }
            Rule::st_approve => {
                let call = self.take_call(&mut parts)?;
                let role = self.name(&mut parts)?;
                TestStepKind::Approve { call, role, within: self.take_within(&mut parts) }
            }
            Rule::st_revoke => {
                let call = self.take_call(&mut parts)?;
                TestStepKind::Revoke { call, role: self.name(&mut parts)? }
            }
            _ => return None,
        })
    }

    /// Parses the steps about the world, and the expectations.
    fn world_step(&mut self, rule: Rule, mut parts: ChildNodes) -> Option<TestStepKind> {
        Some(match rule {
            Rule::st_after => TestStepKind::After(self.take_literal(&mut parts)?),
            Rule::st_at => TestStepKind::At(self.take_string(&mut parts)?),
            Rule::st_exists => {
                let exists = parts.next()?.as_str() == "exists";
                TestStepKind::Exists(exists, self.take_string(&mut parts)?)
            }
            Rule::st_file => {
                let path = self.take_string(&mut parts)?;
                TestStepKind::File(path, self.take_quoted(&mut parts, Rule::having)?)
            }
            Rule::st_probe => {
                let name = self.name(&mut parts)?;
                TestStepKind::Probe(name, self.take_expr(&mut parts)?)
            }
            Rule::st_usage => {
                let amount = self.take_literal(&mut parts)?;
                TestStepKind::Usage(amount, self.name(&mut parts)?)
            }
            Rule::st_prompt => TestStepKind::Prompt(self.take_string(&mut parts)?),
            Rule::st_expect => TestStepKind::Expect(self.take_expr(&mut parts)?),
            Rule::st_shows => TestStepKind::Shows(self.take_expr(&mut parts)?),
            Rule::st_halted => TestStepKind::Halted,
            Rule::st_resume => TestStepKind::Resume(self.name(&mut parts)?),
            Rule::st_feedback => {
                let name = self.name(&mut parts)?;
                TestStepKind::Feedback(name, self.take_quoted(&mut parts, Rule::having))
            }
            Rule::st_no_feedback => TestStepKind::NoFeedback(self.name(&mut parts)),
            Rule::st_stop => {
                let what = self.name(&mut parts)?;
                TestStepKind::Stop(what, self.take_quoted(&mut parts, Rule::saying))
            }
            _ => return self.session_step(rule, parts),
        })
    }

    /// Parses the steps about commands, items and advice.
    fn session_step(&mut self, rule: Rule, mut parts: ChildNodes) -> Option<TestStepKind> {
        Some(match rule {
            Rule::st_data => TestStepKind::Data(self.take_expr(&mut parts)?),
            Rule::st_command => {
                let argv = self.strings(&mut parts);
                let ends = parts.has(Rule::exits_word);
                let exits = if ends { Some(self.take_literal(&mut parts)?) } else { None };
                let output = self.take_quoted(&mut parts, Rule::having);
                TestStepKind::Command { argv, exits, output }
            }
            Rule::st_git => TestStepKind::Git(parts.next()?.as_str() == "committed"),
            Rule::st_verify => {
                let item = self.take_string(&mut parts)?;
                TestStepKind::Verify(item, self.take_quoted(&mut parts, Rule::saying))
            }
            Rule::st_move => {
                let item = self.take_string(&mut parts)?;
                let transition = self.name(&mut parts)?;
                TestStepKind::Move(item, transition, self.take_quoted(&mut parts, Rule::saying))
            }
            Rule::st_item => {
                let item = self.take_string(&mut parts)?;
                TestStepKind::Item(item, self.name(&mut parts)?)
            }
            Rule::st_advice => {
                let tool = self.name(&mut parts)?;
                let status = self.name(&mut parts)?;
                TestStepKind::Advice(tool, status, self.take_quoted(&mut parts, Rule::having))
            }
            Rule::st_report => self.report_step(parts)?,
            _ => return None,
        })
    }

    fn report_step(&mut self, mut parts: ChildNodes) -> Option<TestStepKind> {
        let contract = self.name(&mut parts)?;
        let lines = self.strings(&mut parts);
        let state = self.name(&mut parts)?;
        let truncated = parts.has(Rule::cut_off);
        let items = self.take_literal(&mut parts);
        let quarantined = parts.enter(Rule::lost_units).map(|mut units| self.names(&mut units));
        let quarantined = quarantined.unwrap_or_default();
        let contains = self.take_quoted(&mut parts, Rule::having);
        Some(TestStepKind::Report {
            contract,
            lines,
            state,
            truncated,
            items,
            quarantined,
            contains,
        })
    }

    fn denied(&mut self, mut parts: ChildNodes) -> Option<TestStepKind> {
        let call = self.take_call(&mut parts)?;
        let mut by = None;
        let mut names = Vec::new();
        if let Some(mut inner) = parts.enter(Rule::denied_by) {
            by = self.name(&mut inner);
            names = self.names(&mut inner);
        }
        Some(TestStepKind::Denied {
            call,
            by,
            names,
            because: self.take_quoted(&mut parts, Rule::saying),
        })
    }

    fn take_call(&mut self, parts: &mut ChildNodes) -> Option<TestCall> {
        let mut inner = parts.enter(Rule::call)?;
        let tool: Ident = self.name(&mut inner)?;
        Some(TestCall { tool, args: self.take_args(&mut inner)? })
    }

    fn take_returning(&mut self, parts: &mut ChildNodes) -> Option<Expr> {
        self.take_expr(&mut parts.enter(Rule::returning)?)
    }

    /// Returns the string in `because "…"` or `contains "…"`.
    fn take_quoted(&mut self, parts: &mut ChildNodes, rule: Rule) -> Option<Str> {
        self.take_string(&mut parts.enter(rule)?)
    }
}

fn succeeds(parts: &mut ChildNodes) -> Option<bool> {
    parts.accept(Rule::succeeds).map(|node| node.as_str() == "ok")
}
