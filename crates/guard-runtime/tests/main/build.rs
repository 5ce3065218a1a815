//! A small builder of plans, because the compiler is not available here.

use guard_plan::plan::*;
use guard_plan::{LoadedPlan, value::DECIMAL_ONE};
use guard_runtime::Kernel;

pub const BOOL: TypeId = 0;
pub const INT: TypeId = 1;
pub const STRING: TypeId = 2;
pub const PATH: TypeId = 3;
pub const ENV: TypeId = 4;
pub const COUNT: TypeId = 5;
pub const REPLICAS: TypeId = 6;
pub const ROW: TypeId = 9;
pub const MAP: TypeId = 10;
pub const SECRETIVE: TypeId = 12;

/// Returns a plan with the types above and the unit `calls`, and nothing else.
pub fn plan() -> Plan {
    let field = |name: &str, ty| Field {
        name: name.into(),
        ty,
        secret: name == "token",
        doc: String::new(),
    };
    let range = |min, max| TypeDef::Int { min: Some(min), max: Some(max) };
    let variants = ["dev", "staging", "prod"].map(String::from).to_vec();
    Plan {
        edition: 1,
        guard: "test".into(),
        shadow: false,
        default_allow: false,
        deadline: None,
        types: vec![
            TypeDef::Bool,
            TypeDef::Int { min: None, max: None },
            TypeDef::String { max_chars: None, max_bytes: None, patterns: vec![] },
            TypeDef::Path,
            TypeDef::Enum { name: "Env".into(), variants },
            range(1, 5),
            range(0, 100),
            TypeDef::Json,
            TypeDef::Option { of: INT },
            TypeDef::Record {
                name: "Row".into(),
                fields: vec![field("id", STRING), field("n", INT)],
            },
            TypeDef::Map { key: None, of: INT, max: Some(3) },
            TypeDef::List { of: INT, max: None },
            TypeDef::Record { name: "Auth".into(), fields: vec![field("token", STRING)] },
        ],
        state: vec![],
        units: vec![unit("calls", None)],
        limits: vec![],
        regexes: vec![],
        coercions: vec![],
        paths: vec![],
        invariants: vec![],
        monitors: vec![],
        indexes: vec![],
        windows: vec![],
        facts: vec![],
        commands: vec![],
        probes: vec![],
        sources: vec![],
        origins: false,
        mentions: false,
        confidential: false,
        lifecycles: vec![],
        feedback: vec![],
        attests: vec![],
        completion: None,
        goals: vec![],
        proofs: Vec::new(),
        contracts: vec![],
        tools: vec![],
    }
}

pub fn unit(name: &str, budget: Option<i64>) -> Unit {
    let budget = budget.map(|whole| whole * DECIMAL_ONE);
    Unit { name: name.into(), budget, host_charged: name == "tokens", span: 0 }
}

pub fn rule(owner: &str) -> RuleMeta {
    RuleMeta { owner: owner.into(), doc: String::new(), shadow: false, span: 0 }
}

pub fn tool(name: &str, params: &[(&str, TypeId)]) -> Tool {
    let param = |(name, ty): &(&str, TypeId)| Field {
        name: (*name).into(),
        ty: *ty,
        secret: *name == "token",
        doc: String::new(),
    };
    Tool {
        name: name.into(),
        wire_name: format!("wire.{name}"),
        title: None,
        doc: String::new(),
        tags: vec![],
        params: params.iter().map(param).collect(),
        returns: None,
        forms: None,
        trust: Trust { whole: false, parts: vec![] },
        served: None,
        states: false,
        prior: None,
        risks: Vec::new(),
        risk: Risk::Low,
        irreversible: false,
        span: 0,
        steps: 10,
        requires: vec![],
        denies: vec![],
        limits: vec![],
        costs: vec![],
        effects: vec![],
        frame: vec![],
        approvals: vec![],
        ready: vec![],
        observes: vec![],
        observe_frame: vec![],
        learns: vec![],
        reconciles: vec![],
        transforms: vec![],
        privates: vec![],
        endorsements: vec![],
        touches: vec![],
        writes: vec![],
        indexes: vec![],
        windows: vec![],
        keeps_args: false,
        keeps_result: false,
        undecoded: Default::default(),
    }
}

pub fn expr(nodes: impl Into<Vec<Node>>) -> Expr {
    Expr(nodes.into())
}

pub fn requires(owner: &str, tools: &[ToolId]) -> Requires {
    let one = |tool: &ToolId| Requirement {
        latest: false,
        tool: *tool,
        key: None,
        since: None,
        within: None,
    };
    Requires { rule: rule(owner), any_of: tools.iter().map(one).collect(), when: None }
}

pub fn deny(owner: &str, condition: Expr, because: &str) -> Deny {
    let because = Message { parts: vec![Part::Text(because.into())] };
    Deny {
        rule: rule(owner),
        condition,
        text: "when it is so".into(),
        because: Some(because),
        shows: vec![],
        replacement: None,
    }
}

/// A comparison of two operands that have no parts.
pub fn compare(a: Node, op: CompareOp, b: Node) -> Expr {
    expr([a, b, Node::Compare(op, 0, 1)])
}

pub fn approval(owner: &str, role: &str) -> Approval {
    let rule = rule(owner);
    let role = role.into();
    Approval { rule, role, within: None, when: None, because: None, shows: vec![] }
}

pub fn reconcile(owner: &str, condition: Expr, text: &str) -> Reconcile {
    Reconcile { rule: rule(owner), condition, text: text.into(), because: None, shows: vec![] }
}

pub fn probe(name: &str, returns: TypeId) -> Probe {
    let asks = ProbeAsks::Host;
    let every = None;
    let backoff = None;
    let within = None;
    let name = name.into();
    let forms = None;
    Probe { name, returns, forms, asks, every, backoff, timeout: 10_000, within }
}

pub fn cost(owner: &str, unit: UnitId, whole: i64) -> Cost {
    let amount = expr([Node::Decimal(whole * DECIMAL_ONE)]);
    Cost { rule: rule(owner), unit, amount, returned: false }
}

pub fn effect(owner: &str, var: VarId, op: EffectOp, value: Expr) -> Effect {
    let target = Target { var, path: vec![] };
    Effect { rule: rule(owner), ranges: Vec::new(), when: None, target, op, value: Some(value) }
}

pub fn variable(name: &str, ty: TypeId, init: Node) -> StateVar {
    StateVar { name: name.into(), ty, init: expr([init]) }
}

pub fn invariant(name: &str, condition: Expr, text: &str, reads: &[VarId]) -> Invariant {
    Invariant {
        rule: rule(name),
        monitor: false,
        condition,
        text: text.into(),
        because: None,
        shows: vec![],
        reads: reads.to_vec(),
    }
}

/// `state VAR <= MAX`.
pub fn at_most(var: VarId, max: i64) -> Expr {
    compare(Node::State(var), CompareOp::Le, Node::Int(max))
}

pub fn limit(owner: &str, count: u32, scope: LimitScope) -> Limit {
    Limit { rule: rule(owner), count, success: false, scope, keyed: false, ask: None }
}

pub fn held(limit: LimitId) -> LimitUse {
    LimitUse { limit, by: None, by_type: None }
}

/// Returns a plan with `deploy(env, count)`, which has rules of most kinds, among many other tools
/// with one rule each.
pub fn deployment(others: usize) -> Plan {
    let mut plan = plan();
    plan.units.push(unit("usd", Some(9_000_000_000_000)));
    plan.state.push(variable("replicas", REPLICAS, Node::Int(0)));
    let mut names: Vec<String> = (0..others).map(|i| format!("tool_{i:04}")).collect();
    names.extend(["build", "deploy", "lint", "test"].map(String::from));
    names.sort();
    let id = |name: &str| names.iter().position(|other| other == name).unwrap_or_default() as u32;
    plan.invariants.push(invariant("cap", at_most(0, 10), "replicas <= 10", &[0]));
    plan.limits.push(limit("office_hours", 1_000_000, LimitScope::Window(3_600_000)));
    for name in &names {
        let mut one = tool(name, &[("env", ENV), ("count", COUNT)]);
        one.denies.push(deny(name, too_many_at_staging(), "staging holds at most three replicas"));
        match name.as_str() {
            "build" | "lint" | "test" => {
                one.params.clear();
                one.denies.clear();
            }
            "deploy" => {
                one.requires.push(requires(name, &[id("build")]));
                one.requires.push(requires(name, &[id("test")]));
                one.costs.push(cost(name, 1, 5));
                one.limits.push(held(0));
                one.effects.push(effect(name, 0, EffectOp::Set, expr([Node::Param(1)])));
                one.frame.push(0);
            }
            _ => {}
        }
        match name.as_str() {
            "build" => one.requires.push(requires(name, &[id("lint")])),
            "test" => one.requires.push(requires(name, &[id("build")])),
            _ => {}
        }
        plan.tools.push(one);
    }
    plan
}

/// `env == staging and count > 3`.
fn too_many_at_staging() -> Expr {
    expr([
        Node::Param(0),
        Node::Enum(1),
        Node::Compare(CompareOp::Eq, 0, 1),
        Node::Param(1),
        Node::Int(3),
        Node::Compare(CompareOp::Gt, 3, 4),
        Node::And(2, 5),
    ])
}

pub fn kernel(plan: Plan) -> Kernel {
    Kernel::new(LoadedPlan::from_plan(plan, Sources::default()).expect("a sound plan"))
        .expect("a kernel")
}
