//! Declarations about a whole session: probes, sources, feedback, completion, attests and goals.

use super::forms::FormPlace;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use super::text::text;
use super::typed::typed;
use super::{TypeChecker, literal};
use crate::errors;
use crate::generated_tools;
use crate::hir::{self, Block, Check, CheckKind, Command, ExprKind, ProbeAsks, RuleMeta, Type};
use crate::names::Names;
use guard_plan::plan::{Backoff, Millis, Severity, SourceKind, TakenForms};
use guard_plan::value::DECIMAL_ONE;
use guard_syntax::ast::{self, BlockCondition, Ident, Str};
use guard_syntax::span::Span;
use std::collections::HashMap;

/// The default timeout of one question to a probe, in milliseconds.
const PROBE_TIMEOUT: Millis = 10_000;
/// The default timeout of a command, in milliseconds.
const COMMAND_TIMEOUT: Millis = 60_000;
/// The default number of times that a stop may be blocked.
const BLOCKS: u32 = 20;

/// The kinds of feedback, by keyword.
const SEVERITIES: [(&str, Severity); 3] =
    [("info", Severity::Info), ("caution", Severity::Caution), ("warning", Severity::Warning)];

/// The sources, by keyword.
const SOURCES: [(&str, SourceKind); 2] =
    [("prompt", SourceKind::Prompt), ("start", SourceKind::Start)];

pub(super) fn session_scope<'a>(names: &'a Names<'a>, missing: MissingMeaning) -> Scope<'a> {
    Scope::new(names, ExprPlace::Session, &[], missing)
}

impl TypeChecker<'_, '_> {
    pub(super) fn session(&mut self) {
        let names = self.names;
        for source in &names.sources {
            self.source(source);
        }
        for entry in &names.attests.items {
            let attest = self.attest(entry.decl);
            self.program.attests.push(attest);
        }
        for entry in &names.feedbacks.items {
            let feedback = self.feedback(entry.decl);
            self.program.feedback.push(feedback);
        }
        if let Some((completion, span)) = names.completion {
            let at_most = completion.at_most.as_ref();
            let at_most = at_most.and_then(|n| self.positive(n, "the number of blocks"));
            let checks = self.checks(&completion.checks);
            if completion.checks.is_empty() {
                let help = "name at least one check, or remove it";
                let why = "the completion checks nothing";
                self.report(errors::impossible_type(span, why, help));
            }
            self.program.completion =
                Some(hir::Completion { span, at_most: at_most.unwrap_or(BLOCKS), checks });
        }
        for entry in &names.goals.items {
            let mut conditions = Vec::new();
            for condition in &entry.decl.conditions {
                let mut scope = session_scope(self.names, MissingMeaning::Any);
                let typed = self.condition(condition, &mut scope);
                conditions.push((self.shown(condition, &scope), typed));
            }
            let doc = entry.docs.join("\n");
            let name = entry.name.node.clone();
            let span = entry.name.span;
            self.program.goals.push(hir::Goal { name, doc, span, conditions });
        }
    }

    /// Returns a whole number that is at least 1.
    pub(super) fn positive(&mut self, n: &ast::Literal, what: &str) -> Option<u32> {
        let found = self.literal(n, |text| text.parse().map_err(|_| "is not a whole number"));
        if found == Some(0) {
            self.report(errors::count_of_nothing(n.span, what));
        }
        found.filter(|n| *n > 0)
    }

    /// Returns a duration that is not zero.
    pub(super) fn lasting(&mut self, d: &ast::Literal, what: &str) -> Option<Millis> {
        let found = self.duration(d);
        if found == Some(0) {
            self.report(errors::count_of_nothing(d.span, what));
        }
        found.filter(|ms| *ms != 0)
    }

    // Feedback.

    fn feedback(&mut self, feedback: &ast::Feedback) -> hir::Feedback {
        let triggers = feedback.triggers.iter().filter_map(|t| self.trigger(&t.node)).collect();
        let mut unconditional: Option<Span> = None;
        let mut blocks = Vec::new();
        for block in &feedback.blocks {
            if let Some(before) = unconditional {
                self.report(errors::unreachable_block(block.span.0, before));
            }
            if !matches!(block.condition, BlockCondition::Guard(_)) {
                unconditional = unconditional.or(Some(block.span.0));
            }
            blocks.push(self.block(block));
        }
        let name = feedback.name.node.clone();
        let span = feedback.name.span;
        if feedback.blocks.is_empty() {
            let why = format!("the feedback `{name}` has no blocks");
            self.report(errors::impossible_type(span, &why, "write a block: `info: \"…\"`"));
        }
        hir::Feedback { name, span, triggers, blocks }
    }

    fn trigger(&mut self, trigger: &ast::Trigger) -> Option<hir::Trigger> {
        Some(match trigger {
            ast::Trigger::Calls(n) => hir::Trigger::Calls(self.positive(n, "the number of calls")?),
            ast::Trigger::Every(d) => {
                hir::Trigger::Every(self.lasting(d, "the number of milliseconds between two")?)
            }
            ast::Trigger::Created(path) => hir::Trigger::Created(self.file(path)?),
            ast::Trigger::Denied(None) => hir::Trigger::Denied(None),
            ast::Trigger::Denied(Some(tools)) => {
                hir::Trigger::Denied(Some(self.tool_set(tools).into_iter().collect()))
            }
            ast::Trigger::When(e) => hir::Trigger::Becomes(
                self.condition(e, &mut session_scope(self.names, MissingMeaning::Any)),
            ),
        })
    }

    fn block(&mut self, block: &ast::FeedbackBlock) -> Block {
        let severity = self.choice("severity", &block.severity, &SEVERITIES);
        let severity = severity.unwrap_or(Severity::Info);
        let when = match &block.condition {
            BlockCondition::Guard(guard) => {
                let condition = self.condition(
                    &guard.condition,
                    &mut session_scope(self.names, MissingMeaning::Any),
                );
                Some(super::clauses::negated_if(guard.unless, condition))
            }
            BlockCondition::Always | BlockCondition::Otherwise => None,
        };
        let mut scope = session_scope(self.names, MissingMeaning::Any);
        let message = self.message(&block.message, &mut scope);
        let notes = block.notes.iter().map(|n| (n.suggest, self.message(&n.text, &mut scope)));
        Block { severity, when, message, notes: notes.collect() }
    }

    /// Returns a file of the workspace, as written.
    fn file(&mut self, path: &Str) -> Option<String> {
        // The real workspace is unknown here, and only the relation to it counts.
        let why = match guard_plan::path::normalise("/workspace", &path.node) {
            Err(why) => why.to_string(),
            Ok(at) if at == "/workspace" => "it is the workspace itself".into(),
            Ok(at) if path.node.starts_with('/') || at.starts_with("/workspace/") => {
                return Some(path.node.clone());
            }
            Ok(_) => "it is outside the workspace".into(),
        };
        self.report(errors::bad_text(path.span, &path.node, "file of the workspace", &why));
        None
    }

    // Completion and attests.

    fn checks(&mut self, checks: &[ast::Check]) -> Vec<Check> {
        checks.iter().filter_map(|check| self.check(check, false)).collect()
    }

    /// Types a check. A dimension of an attest may also be a score.
    fn check(&mut self, check: &ast::Check, scored: bool) -> Option<Check> {
        let kind = match &check.kind {
            ast::CheckKind::File(path) => CheckKind::File(self.file(path)?),
            ast::CheckKind::FileContains(path, text) => {
                if text.node.trim().is_empty() {
                    self.report(errors::empty_needle(text.span));
                }
                CheckKind::Contains(self.file(path)?, text.node.clone())
            }
            ast::CheckKind::FileConforms(path, contract) => {
                let at = self.declared("contract", contract, &self.names.contracts)?;
                self.checkable(at, contract);
                CheckKind::Conforms(self.file(path)?, at)
            }
            ast::CheckKind::Command { argv, env, exits, within } => {
                let status = self.exit_status(exits);
                let within = within.as_ref().and_then(|w| self.lasting(w, "the time limit"));
                let command = self.command(argv, env, within.unwrap_or(COMMAND_TIMEOUT))?;
                CheckKind::Command(command, status?)
            }
            ast::CheckKind::GitCommitted => CheckKind::Committed,
            ast::CheckKind::Every { lifecycle, state } => self.every(lifecycle, state)?,
            ast::CheckKind::Attest(name) => {
                CheckKind::Attest(self.declared("attest", name, &self.names.attests)?)
            }
            ast::CheckKind::All(checks) => {
                if checks.is_empty() {
                    let help = "name at least one check, or remove it";
                    let why = "an empty `all` checks nothing";
                    self.report(errors::impossible_type(check.span.0, why, help));
                }
                CheckKind::All(self.checks(checks))
            }
            ast::CheckKind::Any(checks) => {
                if checks.is_empty() {
                    self.report(errors::empty_any(check.span.0));
                }
                CheckKind::Any(self.checks(checks))
            }
            ast::CheckKind::Expr(e) => self.judged(e, scored),
        };
        Some(Check { kind, text: in_words(check), span: check.span.0 })
    }

    /// Returns the exit status of a command.
    pub(super) fn exit_status(&mut self, exits: &ast::Literal) -> Option<u8> {
        self.literal(exits, |text| text.parse().map_err(|_| "is not an exit status: 0 to 255"))
    }

    fn judged(&mut self, e: &ast::Expr, scored: bool) -> CheckKind {
        // A missing value fails the check.
        let mut scope = session_scope(self.names, MissingMeaning::Refuses(false));
        if !scored {
            return CheckKind::Condition(self.condition(e, &mut scope));
        }
        let found = self.expr(e, None, &mut scope);
        match found.ty.required() {
            Type::Bool => CheckKind::Condition(self.present(e, found, &scope)),
            Type::Decimal(..) | Type::Error => CheckKind::Score(self.present(e, found, &scope)),
            other => {
                self.mismatch(e.span, "a bool or a score between 0.0 and 1.0", other);
                CheckKind::Score(found)
            }
        }
    }

    fn every(&mut self, lifecycle: &Ident, state: &Ident) -> Option<CheckKind> {
        let at = self.declared("lifecycle", lifecycle, &self.names.lifecycles)?;
        let states = generated_tools::states(self.names.lifecycles.items[at].decl);
        let states: Vec<_> = states.into_iter().enumerate().map(|(at, s)| (s, at)).collect();
        Some(CheckKind::Every(at, self.choice("state", state, &states)?))
    }

    fn attest(&mut self, attest: &ast::Attest) -> hir::Attest {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut dimensions = Vec::new();
        for (dimension, check) in &attest.dimensions {
            if let Some(first) = seen.insert(&dimension.node, dimension.span) {
                self.report(errors::duplicate("dimension", dimension, first));
            }
            if let ast::CheckKind::Attest(name) = &check.kind {
                let why = "a dimension cannot be an attest".to_owned();
                let help = "write what it checks here, or name both in the completion";
                self.report(errors::scenario(name.span, why, help));
            }
            if let Some(check) = self.check(check, true) {
                dimensions.push((dimension.node.clone(), check));
            }
        }
        let name = attest.name.node.clone();
        let span = attest.name.span;
        if attest.dimensions.is_empty() {
            let why = format!("the attest `{name}` has no dimensions");
            self.report(errors::impossible_type(span, &why, "name at least one"));
        }
        hir::Attest { name, span, dimensions }
    }

    /// Types a command: words that can be passed to a system.
    fn command(&mut self, argv: &[Str], env: &[Str], within: Millis) -> Option<Command> {
        for word in argv {
            // A system reads a word only up to its first NUL.
            if word.node.contains('\0') {
                let why = "it holds a NUL character";
                self.report(errors::bad_text(word.span, "\\0", "word of a command", why));
            }
        }
        let binary = argv.first()?;
        if binary.node.is_empty() {
            self.report(errors::bad_text(binary.span, "", "binary", "name one"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in env {
            if name.node.is_empty() || !name.node.chars().all(plain) {
                let why = "its name has letters, digits and `_` only";
                let what = "name of a variable";
                self.report(errors::bad_text(name.span, &name.node, what, why));
            }
        }
        let mut env: Vec<String> = env.iter().map(|name| name.node.clone()).collect();
        env.sort();
        env.dedup();
        Some(Command { argv: argv.iter().map(|word| word.node.clone()).collect(), env, within })
    }

    // Probes and sources.

    pub(super) fn probes(&mut self) {
        let names = self.names;
        for entry in &names.probes.items {
            let probe = self.probe_item(entry.decl);
            self.program.probes.push(probe);
        }
    }

    fn probe_item(&mut self, probe: &ast::Probe) -> hir::Probe {
        let mut out = hir::Probe {
            name: probe.name.node.clone(),
            returns: Type::Bool,
            forms: TakenForms::OWN,
            asks: ProbeAsks::Host,
            every: None,
            backoff: None,
            timeout: PROBE_TIMEOUT,
            within: None,
        };
        let mut said: HashMap<&str, Span> = HashMap::new();
        let mut asked: Option<&SpannedClause> = None;
        for clause in &probe.clauses {
            let word = match &clause.node {
                ast::ProbeClause::Returns(ty, forms) => {
                    out.returns = self.ty(ty);
                    out.forms = self.forms(forms, &out.returns, FormPlace::Result);
                    "what the probe returns"
                }
                ast::ProbeClause::Every(d) => {
                    out.every = self.lasting(d, "the time between two questions");
                    "`every`"
                }
                ast::ProbeClause::Backoff { factor, up_to } => {
                    out.backoff = self.backoff(factor, up_to);
                    "`backoff`"
                }
                ast::ProbeClause::Timeout(d) => {
                    let timeout = self.lasting(d, "the time limit");
                    out.timeout = timeout.unwrap_or(PROBE_TIMEOUT);
                    "`timeout`"
                }
                ast::ProbeClause::Within(d) => {
                    out.within = self.lasting(d, "the time for all attempts");
                    "`within`"
                }
                ast::ProbeClause::Host
                | ast::ProbeClause::Command { .. }
                | ast::ProbeClause::File(_) => {
                    // The time limit may come later in the probe, so the command is made at the
                    // end.
                    asked = Some(clause);
                    "who answers the probe"
                }
            };
            if let Some(first) = said.insert(word, clause.span) {
                self.report(errors::said_twice(word, clause.span, first));
            }
        }
        if let Some(clause) = asked {
            self.answers(clause, &mut out);
        }
        out
    }

    /// Checks the clause that names the source of the answer of a probe, after the other clauses of
    /// the probe.
    fn answers(&mut self, clause: &SpannedClause, out: &mut hir::Probe) {
        match &clause.node {
            ast::ProbeClause::Command { argv, env } => {
                if let Some(command) = self.command(argv, env, out.timeout) {
                    out.asks = ProbeAsks::Command(command);
                }
            }
            ast::ProbeClause::File(path) => {
                if let Some(path) = self.file(path) {
                    out.asks = ProbeAsks::File(path);
                }
                if !matches!(out.returns, Type::Bool | Type::Error) {
                    self.mismatch(clause.span, "a bool: whether the file exists", &out.returns);
                }
            }
            _ => {}
        }
    }

    fn backoff(&mut self, factor: &ast::Literal, up_to: &ast::Literal) -> Option<Backoff> {
        let up_to = self.lasting(up_to, "the longest wait");
        let factor = self.literal(factor, |text| match literal::decimal(text)? {
            factor if factor >= DECIMAL_ONE => Ok(factor),
            _ => Err("is below 1 and would make waits shorter: begin at 1".to_string()),
        })?;
        Some(Backoff { factor, up_to: up_to? })
    }

    fn source(&mut self, source: &ast::Source) {
        let kind = self.choice("source", &source.name, &SOURCES).unwrap_or(SourceKind::Prompt);
        let mut learns = Vec::new();
        for learn in &source.learns {
            let mut scope =
                Scope::new(self.names, ExprPlace::Source(kind), &[], MissingMeaning::Any);
            let rule = RuleMeta {
                owner: source.name.node.clone(),
                doc: String::new(),
                shadow: false,
                property: None,
                span: learn.span,
            };
            if let Some(learn) = self.learn(&learn.node, learn.span, &mut scope) {
                learns.push((rule, learn));
            }
        }
        match self.program.sources.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.learns.extend(learns),
            None => self.program.sources.push(hir::Source { kind, learns }),
        }
    }

    /// Types `origin(x)` and `seen(x)`.
    pub(super) fn origin(
        &mut self,
        name: &str,
        args: &[ast::Arg],
        span: Span,
        scope: &mut Scope,
    ) -> hir::Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "where a value comes from", scope);
        }
        let [ast::Arg { name: None, value }] = args else {
            let message = format!("`{name}` asks for one value");
            return self.broken(span, errors::arguments(span, message, &format!("{name}(value)")));
        };
        let found = self.expr(value, None, scope);
        let found = self.present(value, found, scope);
        let simple = matches!(
            found.ty,
            Type::String(_)
                | Type::Path
                | Type::Url
                | Type::Command
                | Type::Int(..)
                | Type::Decimal(..)
                | Type::Error
        );
        if !simple {
            self.mismatch(value.span, "a string, path, url, int or decimal", &found.ty);
        }
        let found = Box::new(found);
        let origin = Type::Enum(hir::ORIGIN);
        match name {
            "seen" => typed(ExprKind::Seen(found), Type::Set(origin.into(), Some(3)), span),
            _ => typed(ExprKind::Origin(found), origin, span),
        }
    }
}

type SpannedClause = ast::Spanned<ast::ProbeClause>;

/// Returns a check as its author would write it on one line.
fn in_words(check: &ast::Check) -> String {
    let quoted = |s: &Str| format!("{:?}", s.node);
    let several = |word: &str, checks: &[ast::Check]| {
        let inner: Vec<String> = checks.iter().map(in_words).collect();
        format!("{word} {{ {} }}", inner.join("; "))
    };
    match &check.kind {
        ast::CheckKind::File(path) => format!("file {}", quoted(path)),
        ast::CheckKind::FileContains(path, text) => {
            format!("file {} contains {}", quoted(path), quoted(text))
        }
        ast::CheckKind::FileConforms(path, contract) => {
            format!("file {} conforms {}", quoted(path), contract.node)
        }
        ast::CheckKind::Command { argv, exits, .. } => {
            let argv: Vec<String> = argv.iter().map(quoted).collect();
            format!("command {} exits {}", argv.join(" "), exits.node)
        }
        ast::CheckKind::GitCommitted => "git committed".into(),
        ast::CheckKind::Every { lifecycle, state } => {
            format!("every {} is {}", lifecycle.node, state.node)
        }
        ast::CheckKind::Attest(name) => format!("attest {}", name.node),
        ast::CheckKind::All(checks) => several("all", checks),
        ast::CheckKind::Any(checks) => several("any", checks),
        ast::CheckKind::Expr(e) => text(e),
    }
}
