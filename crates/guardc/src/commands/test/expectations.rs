//! How the conditions of `expect` steps reach the kernel: each becomes the only rule of a tool that nobody
//! can call, beside the guard's own, and is judged without effect. Whatever a rule can ask, a test can.

use guard_compiler::scenario::{Scenario, StepKind};
use guard_plan::plan::{Deny, Expr, Node, Plan, Risk, RuleMeta, Show, Tool};
use guard_plan::verdict::{Code, Verdict};

/// The name of the tool for one step; `~` comes after every name a guard can have.
pub fn name(scenario: usize, step: usize) -> String {
    format!("~expect {scenario:06} {step:06}")
}

/// The guard's plan with one more tool for every `expect`.
pub fn with_expectations(mut plan: Plan, scenarios: &[Scenario]) -> Plan {
    for (at, scenario) in scenarios.iter().enumerate() {
        for (number, step) in scenario.steps.iter().enumerate() {
            if let StepKind::Expect { condition, shows } = &step.kind {
                plan.tools.push(tool(name(at, number), condition, shows));
            }
        }
    }
    plan
}

/// What the kernel says of an expectation: that it holds, or not, or cannot be told; and the values.
pub fn judged(name: &str, verdict: &Verdict) -> (Result<bool, String>, Vec<(String, String)>) {
    let reasons =
        || verdict.reasons.iter().chain(&verdict.shadowed).filter(|reason| reason.rule == name);
    let fault = reasons().find(|reason| reason.code == Code::EvaluationError);
    let values = reasons().flat_map(|reason| reason.values.clone()).collect();
    let holds = match fault {
        Some(reason) => Err(reason.message.clone()),
        None => Ok(reasons().any(|reason| reason.code == Code::Denied && reason.values.is_empty())),
    };
    (holds, values)
}

fn tool(name: String, condition: &Expr, shows: &[(String, Expr, u32)]) -> Tool {
    let rule = RuleMeta { owner: name.clone(), doc: String::new(), shadow: false, span: 0 };
    let deny = |condition: Expr, text: &str, shows| Deny {
        rule: rule.clone(),
        condition,
        text: text.into(),
        because: None,
        shows,
    };
    let show = |(label, expr, ty): &(String, Expr, u32)| Show {
        label: label.clone(),
        expr: expr.clone(),
        ty: *ty,
        secret: false,
    };
    let mut denies = vec![deny(condition.clone(), "when it holds", Vec::new())];
    if !shows.is_empty() {
        denies.push(deny(Expr(vec![Node::Bool(true)]), "always", shows.iter().map(show).collect()));
    }
    Tool {
        wire_name: name.clone(),
        name,
        title: None,
        doc: String::new(),
        tags: Vec::new(),
        params: Vec::new(),
        returns: None,
        trusted: false,
        risk: Risk::Low,
        irreversible: false,
        span: 0,
        steps: 0,
        requires: Vec::new(),
        denies,
        limits: Vec::new(),
        costs: Vec::new(),
        effects: Vec::new(),
        frame: Vec::new(),
        approvals: Vec::new(),
        ready: Vec::new(),
        observes: Vec::new(),
        observe_frame: Vec::new(),
        learns: Vec::new(),
        reconciles: Vec::new(),
        touches: Vec::new(),
        writes: Vec::new(),
        indexes: Vec::new(),
        windows: Vec::new(),
        keeps_args: false,
        keeps_result: false,
    }
}
