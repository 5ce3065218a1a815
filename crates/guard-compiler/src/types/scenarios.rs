//! Scenarios: `test` blocks, with literal arguments converted to JSON and expectations typed.

mod values;

use super::TypeChecker;
use super::literal;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use crate::errors;
use crate::hir::{ExprKind, ToolId};
use crate::scenario::{Call, ReportStep, Scenario, ScenarioStep, StepKind};
use guard_plan::json::Json;
use guard_plan::plan;
use guard_plan::report::{QuarantineReason, State};
use guard_plan::verdict::Code;
use guard_syntax::ast::{self, Ident, TestStepKind as T};
use guard_syntax::span::Span;
use std::collections::HashMap;

/// The maximum number of steps that beginnings add to all tests together. Each test of a beginning
/// counts as one more step.
const MAX_BEGINNINGS: usize = 100_000;

impl TypeChecker<'_, '_> {
    pub(super) fn scenarios(&mut self) -> Vec<Scenario> {
        let names = self.names;
        let mut titles: HashMap<&str, (usize, Span)> = HashMap::new();
        for (at, (test, _)) in names.tests.iter().enumerate() {
            let Ident { node: title, span } = &test.title;
            if let Some((_, first)) = titles.insert(title, (at, *span)) {
                self.report(errors::duplicate("scenario", &test.title, first));
            }
        }
        let after = self.beginnings(&titles);
        let mut scenarios = Vec::new();
        for (at, (test, span)) in names.tests.iter().enumerate() {
            // A test with a beginning continues a session that is open already.
            let first = usize::from(after[at].is_none());
            for step in test.steps.iter().skip(first).filter(|s| matches!(s.kind, T::Data(_))) {
                let why = "a session is opened before anything else happens".to_owned();
                self.report(errors::scenario(step.span.0, why, "make `data` the first step"));
            }
            let mut started = HashMap::new();
            let before = std::iter::successors(after[at], |at| after[*at]);
            for step in before.flat_map(|at| &names.tests[at].0.steps) {
                if let T::Start(name, _) = &step.kind {
                    started.entry(name.node.as_str()).or_insert(name.span);
                }
            }
            let steps =
                test.steps.iter().filter_map(|step| self.step(step, &mut started)).collect();
            let title = test.title.node.clone();
            let after = after[at];
            scenarios.push(Scenario { title, span: *span, after, beginning: 0, steps });
        }
        scenarios
    }

    /// Returns for each test the test that it begins after; none at all if the tests would run too
    /// many steps.
    fn beginnings(&mut self, titles: &HashMap<&str, (usize, Span)>) -> Vec<Option<usize>> {
        let tests = &self.names.tests;
        let mut beginnings = vec![None; tests.len()];
        for (at, (test, _)) in tests.iter().enumerate() {
            let Some(after) = &test.after else { continue };
            match titles.get(after.node.as_str()) {
                Some((before, _)) => beginnings[at] = Some(*before),
                None => self.report(errors::unknown_test(after, titles.keys().copied())),
            }
        }
        let mut played = 0;
        // The test from which a test was last reached. A cycle that does not lead back is broken at
        // one of its own tests.
        let mut reached = vec![None; tests.len()];
        for (at, (test, span)) in tests.iter().enumerate() {
            let mut before = beginnings[at];
            while let Some(other) = before.filter(|other| reached[*other] != Some(at)) {
                if other == at {
                    let Some(after) = &test.after else { break };
                    self.report(errors::test_after_itself(after, &test.title.node));
                    beginnings[at] = None;
                    break;
                }
                reached[other] = Some(at);
                played += 1 + tests[other].0.steps.len();
                if played > MAX_BEGINNINGS {
                    self.report(errors::too_many_steps(*span, MAX_BEGINNINGS));
                    return vec![None; tests.len()];
                }
                before = beginnings[other];
            }
        }
        beginnings
    }

    fn step<'t>(
        &mut self,
        step: &'t ast::TestStep,
        started: &mut HashMap<&'t str, Span>,
    ) -> Option<ScenarioStep> {
        let kind = match &step.kind {
            T::Run { success, call, name, returns, undecoded } => {
                let call = self.scenario_call(call, false)?;
                let name = name.as_ref().map(|n| n.node.clone());
                let result = self.returned(returns);
                let undecoded = *undecoded;
                StepKind::Run { result, undecoded, call, name, success: *success }
            }
            T::Allowed(call) => StepKind::Allowed(self.scenario_call(call, false)?),
            T::Denied { call, by, names, because } => {
                // A halted session checks no arguments.
                let lenient = by.as_ref().is_some_and(|b| {
                    matches!(b.node.as_str(), "invalid_arguments" | "unknown_tool" | "halted")
                });
                StepKind::Denied {
                    call: self.scenario_call(call, lenient)?,
                    by: by.as_ref().and_then(|by| self.code(by)),
                    names: names.iter().map(|n| n.node.clone()).collect(),
                    because: because.as_ref().map(|b| b.node.clone()),
                }
            }
            T::Asks { call, of } => StepKind::Asks {
                call: self.scenario_call(call, false)?,
                of: of.as_ref().map(|o| o.node.clone()),
            },
            T::Waits { call, by, for_tool } => {
                let for_tool = match for_tool {
                    Some(name) => Some(self.wire(name)?),
                    None => None,
                };
                let by = by.as_ref().and_then(|by| self.code(by));
                StepKind::Waits { call: self.scenario_call(call, false)?, by, for_tool }
            }
            T::Start(name, call) => {
                if let Some(first) = started.insert(&name.node, name.span) {
                    let why = format!("a call named `{}` is in flight already", name.node);
                    let help = "finish it first, or choose another name";
                    self.report(errors::scenario(name.span, why, help).also(first, "started here"));
                }
                StepKind::Start(name.node.clone(), self.scenario_call(call, false)?)
            }
            T::Finish { name, success, returns, undecoded } => {
                if started.remove(name.node.as_str()).is_none() {
                    self.report(errors::not_in_flight(name, started.keys().copied()));
                }
                StepKind::Finish {
                    name: name.node.clone(),
                    success: *success,
                    result: self.returned(returns),
                    undecoded: *undecoded,
                }
            }
            T::Approve { call, role, within } => StepKind::Approve {
                call: self.scenario_call(call, false)?,
                role: role.node.clone(),
                within: within.as_ref().and_then(|w| self.duration(w)),
            },
            T::Revoke { call, role } => {
                StepKind::Revoke { call: self.scenario_call(call, false)?, role: role.node.clone() }
            }
            _ => self.world_step(step)?,
        };
        Some(ScenarioStep { kind, span: step.span.0, text: String::new() })
    }

    /// Types the steps about the world, and the expectations about the session.
    fn world_step(&mut self, step: &ast::TestStep) -> Option<StepKind> {
        Some(match &step.kind {
            T::After(d) => StepKind::After(self.duration(d)?),
            T::At(text) => match guard_plan::time::parse_rfc3339(&text.node) {
                Some(at) => StepKind::At(at),
                None => {
                    let why = "write RFC 3339, as `2026-01-05T09:00:00Z`";
                    self.report(errors::bad_text(text.span, &text.node, "time", why));
                    return None;
                }
            },
            T::Exists(exists, path) => StepKind::Exists(path.node.clone(), *exists),
            T::File(path, content) => StepKind::File(path.node.clone(), content.node.clone()),
            T::Probe(name, value) => {
                if let Some(id) = self.declared("probe", name, &self.names.probes) {
                    self.hosts_answer(id, name);
                }
                StepKind::Probe(name.node.clone(), self.json(value, None)?)
            }
            T::Usage(amount, unit) => {
                self.unit(unit);
                StepKind::Usage(unit.node.clone(), self.literal(amount, literal::decimal)?)
            }
            T::Prompt(text) => StepKind::Prompt(text.node.clone()),
            T::Expect(e) => self.expectation(e)?,
            T::Shows(value) => StepKind::Shows(self.json(value, None)?),
            T::Halted => StepKind::Halted,
            T::Resume(role) => StepKind::Resume(role.node.clone()),
            T::Feedback(name, text) => {
                self.provider(name);
                StepKind::Feedback(name.node.clone(), text.as_ref().map(|t| t.node.clone()))
            }
            T::NoFeedback(name) => {
                if let Some(name) = name {
                    self.provider(name);
                }
                StepKind::NoFeedback(name.as_ref().map(|n| n.node.clone()))
            }
            T::Stop(outcome, text) => {
                let known = ["allowed", "blocked", "bypassed", "incomplete"];
                self.choice("outcome", outcome, &known.map(|word| (word, ())));
                StepKind::Stop(outcome.node.clone(), text.as_ref().map(|t| t.node.clone()))
            }
            _ => return self.session_step(step),
        })
    }

    /// Types the steps about the session's data, items, advice and reports.
    fn session_step(&mut self, step: &ast::TestStep) -> Option<StepKind> {
        Some(match &step.kind {
            T::Data(value) => StepKind::Data(self.json(value, None)?),
            T::Command { argv, exits, output } => {
                let argv: Vec<String> = argv.iter().map(|word| word.node.clone()).collect();
                self.known_command(&argv, step.span.0);
                let exits = match exits {
                    Some(exits) => Some(self.exit_status(exits)?),
                    None => None,
                };
                let output = output.as_ref().map_or(String::new(), |o| o.node.clone());
                StepKind::Command { argv, exits, output }
            }
            T::Git(committed) => StepKind::Committed(*committed),
            T::Verify(item, text) => {
                StepKind::Verify(item.node.clone(), text.as_ref().map(|t| t.node.clone()))
            }
            T::Move(item, transition, reason) => {
                self.harness_transition(transition);
                let reason = reason.as_ref().map(|r| r.node.clone());
                StepKind::Move(item.node.clone(), transition.node.clone(), reason)
            }
            T::Item(item, state) => {
                let states = self.program.lifecycles.iter().flat_map(|l| l.states.clone());
                let known: Vec<(String, ())> = states.map(|state| (state, ())).collect();
                self.choice("state", state, &known);
                StepKind::Item(item.node.clone(), state.node.clone())
            }
            T::Advice(tool, status, text) => {
                let known = ["ready", "blocked", "ask", "wait", "first"];
                self.choice("status", status, &known.map(|word| (word, ())));
                let text = text.as_ref().map(|t| t.node.clone());
                StepKind::Advice(self.wire(tool)?, status.node.clone(), text)
            }
            T::Report { .. } => self.report_step(&step.kind)?,
            // The remaining steps are calls.
            _ => return None,
        })
    }

    fn report_step(&mut self, step: &T) -> Option<StepKind> {
        let T::Report { contract, lines, state, truncated, items, quarantined, contains } = step
        else {
            return None;
        };
        self.declared("contract", contract, &self.names.contracts);
        let states = State::ALL.map(|state| (state.name(), state));
        let found = self.choice("state of a report", state, &states);
        let known = QuarantineReason::ALL.map(|reason| (reason.name(), reason));
        let reasons = quarantined.iter().filter_map(|word| self.choice("reason", word, &known));
        let reasons = reasons.collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.node.as_str()).collect();
        Some(StepKind::Report(ReportStep {
            contract: contract.node.clone(),
            text: lines.join("\n"),
            state: found?,
            truncated: *truncated,
            items: items.as_ref().and_then(|count| self.count(count)),
            quarantined: reasons,
            contains: contains.as_ref().map(|text| text.node.clone()),
        }))
    }

    /// Reports a step that sets the answer of a probe that the host does not answer, because it
    /// would have no effect.
    fn hosts_answer(&mut self, id: crate::hir::ProbeId, name: &Ident) {
        let instead = match self.program.probes.get(id).map(|probe| &probe.asks) {
            Some(crate::hir::ProbeAsks::Command(command)) => {
                let words: Vec<String> =
                    command.argv.iter().map(|word| format!("{word:?}")).collect();
                format!("write `command {} exits 0`", words.join(" "))
            }
            Some(crate::hir::ProbeAsks::File(path)) => {
                format!("write `exists {path:?}` or `missing {path:?}`")
            }
            _ => return,
        };
        let why = format!("the host is not asked for the probe `{}`", name.node);
        self.report(errors::scenario(name.span, why, &instead));
    }

    /// Reports a step that sets the result of a command that the guard never runs, because it would
    /// have no effect.
    fn known_command(&mut self, argv: &[String], span: Span) {
        let program = &self.program;
        let mut known = false;
        program.each_command(&mut |command| known |= command.argv == *argv);
        if !known {
            let why = "no check and no probe runs this command".to_owned();
            self.report(errors::scenario(span, why, "write it word for word as the guard does"));
        }
    }

    fn harness_transition(&mut self, name: &Ident) {
        let transitions = self.program.lifecycles.iter().flat_map(|l| &l.transitions);
        let harness = transitions.filter(|t| t.actor == plan::Actor::Harness);
        let known: Vec<(String, ())> = harness.map(|t| (t.name.clone(), ())).collect();
        self.choice("harness transition", name, &known);
    }

    fn provider(&mut self, name: &Ident) {
        self.declared("feedback", name, &self.names.feedbacks);
    }

    fn code(&mut self, by: &Ident) -> Option<Code> {
        self.choice("reason code", by, &Code::ALL.map(|code| (code.as_str(), code)))
    }

    /// Returns the wire name of a declared tool.
    fn wire(&mut self, name: &Ident) -> Option<String> {
        let tool = self.tool(name)?;
        Some(self.program.tools[tool].wire_name.clone())
    }

    fn scenario_call(&mut self, call: &ast::TestCall, lenient: bool) -> Option<Call> {
        let known = self.names.tools.get(&call.tool.node);
        let tool: Option<ToolId> = match known {
            Some(tool) => Some(tool),
            None if lenient || self.names.default_allow.is_some() => None,
            None => {
                self.report(errors::unknown_tool(&call.tool, self.names.tools.names()));
                return None;
            }
        };
        let wire = tool
            .map_or_else(|| call.tool.node.clone(), |t| self.program.tools[t].wire_name.clone());
        let mut args: Vec<(Box<str>, Json)> = Vec::new();
        for arg in &call.args {
            let Some(name) = &arg.name else {
                let why = "arguments are given by name".to_string();
                self.report(errors::scenario(arg.value.span, why, "write `name: value`"));
                return None;
            };
            let param = tool.and_then(|t| {
                self.signatures[t].params.iter().position(|p| p.name == name.node).map(|p| (t, p))
            });
            if let (None, Some(tool), false) = (param, tool, lenient) {
                self.unknown_parameter(tool, name);
                continue;
            }
            let ty = param.map(|(t, p)| self.signatures[t].params[p].ty.clone());
            if args.iter().any(|(known, _)| **known == *name.node) {
                let named = call.args.iter().filter_map(|a| a.name.as_ref());
                let first = named.into_iter().find(|n| n.node == name.node);
                let what = format!("the argument `{}`", name.node);
                self.report(errors::said_twice(&what, name.span, first.unwrap_or(name).span));
                continue;
            }
            let value = self.json(&arg.value, ty.as_ref())?;
            args.push((name.node.as_str().into(), value));
        }
        Some(Call { tool: wire, args: Json::Object(args) })
    }

    fn expectation(&mut self, e: &ast::Expr) -> Option<StepKind> {
        let mut scope = Scope::new(self.names, ExprPlace::Session, &[], MissingMeaning::Any);
        let condition = self.condition(e, &mut scope);
        let mut asks = None;
        let mut broken = false;
        condition.walk(&mut |part| match &part.kind {
            ExprKind::Temporal(..) | ExprKind::LastArg(..) | ExprKind::LastResult(_) => {
                asks = Some(part.span)
            }
            ExprKind::Calls { recent: Some(_), .. } => asks = Some(part.span),
            ExprKind::Called { key, .. } if !key.is_empty() => asks = Some(part.span),
            ExprKind::Error => broken = true,
            _ => {}
        });
        if let Some(span) = asks {
            let why = "a scenario can only ask for what every session remembers".to_string();
            let help = "ask about state, budgets, `called(T)`, `calls(T)`; or expect a verdict";
            self.report(errors::scenario(span, why, help));
            return None;
        }
        if broken {
            return None;
        }
        self.expectations.push(condition);
        // The plan's form of the condition is filled in when the guard is lowered.
        Some(StepKind::Expect { condition: plan::Expr(Vec::new()), shows: Vec::new() })
    }
}
