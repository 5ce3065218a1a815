//! Random plans, sessions and arguments, for property tests.

use super::build::*;
use super::run::beta;
use guard_plan::builtin::Builtin;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_runtime::*;

/// A small pseudo-random generator. The same seed gives the same numbers.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(2) | 1)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A world in which every probe gives the same answer, or none.
#[derive(Clone)]
pub struct Probes(pub Option<Json>);

impl World for Probes {
    fn exists(&mut self, _: &str) -> Option<bool> {
        None
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        self.0.clone()
    }
}

impl Probes {
    pub fn any(dice: &mut Dice) -> Probes {
        Probes(
            [None, Some(Json::Bool(false)), Some(Json::Bool(true)), Some(Json::Bool(true))]
                [dice.below(4)]
            .clone(),
        )
    }
}

const B0: VarId = 0;
const B1: VarId = 1;
const N0: VarId = 2;
const N1: VarId = 3;

/// Returns a plan with every kind of entity that advice reads.
pub fn plan(dice: &mut Dice) -> Plan {
    let mut plan = super::build::plan();
    plan.shadow = dice.one_in(20);
    plan.default_allow = dice.one_in(5);
    plan.deadline = dice.one_in(4).then_some(60_000);
    plan.units =
        vec![unit("calls", dice.one_in(3).then_some(8)), unit("usd", dice.one_in(2).then_some(20))];
    plan.state = vec![
        variable("b0", BOOL, Node::Bool(false)),
        variable("b1", BOOL, Node::Bool(false)),
        variable("n0", REPLICAS, Node::Int(0)),
        variable("n1", INT, Node::Int(3)),
    ];
    plan.invariants = vec![
        invariant("cap", at_most(N0, 10), "n0 <= 10", &[N0]),
        invariant(
            "tied",
            expr([Node::State(B0), Node::State(B1), Node::Implies(0, 1)]),
            "b0 implies b1",
            &[B0, B1],
        ),
    ];
    plan.probes.push(probe("db", BOOL));
    let scopes = [
        LimitScope::Window(10_000),
        LimitScope::Session,
        LimitScope::InFlight,
        LimitScope::Identical,
    ];
    plan.limits =
        scopes.iter().map(|scope| limit("limit", 1 + dice.below(3) as u32, *scope)).collect();
    let names = &["a", "b", "c", "d", "e", "f"][..3 + dice.below(4)];
    let shapes: [&[(&str, TypeId)]; 8] = [
        &[],
        &[],
        &[("env", ENV)],
        &[("count", COUNT)],
        &[("env", ENV), ("flag", BOOL)],
        &[("text", STRING)],
        &[("n", INT), ("env", ENV)],
        &[("token", STRING)],
    ];
    plan.tools = names.iter().map(|name| tool(name, dice.pick(&shapes))).collect();
    for (id, tool) in plan.tools.iter_mut().enumerate() {
        if tool.params.is_empty() {
            continue;
        }
        tool.indexes.push(plan.indexes.len() as u32);
        plan.indexes.push(SuccessIndex { tool: id as u32, params: vec![0] });
    }
    for id in 0..plan.tools.len() {
        let changed = clauses(dice, &plan, id as ToolId);
        plan.tools[id] = changed;
    }
    plan.goals = (0..dice.below(3)).map(|i| goal(dice, &plan, &format!("g{i}"))).collect();
    plan
}

fn goal(dice: &mut Dice, plan: &Plan, name: &str) -> Goal {
    let conditions = (0..1 + dice.below(3)).map(|i| {
        let tool = dice.below(plan.tools.len()) as ToolId;
        let expr = match dice.below(4) {
            0 => expr([Node::State(dice.below(2) as u32)]),
            1 => compare(Node::State(N0), CompareOp::Ge, Node::Int(2)),
            2 => expr([Node::Called { tool, key: None, since: None, within: None }]),
            _ => compare(
                Node::Calls { tool, failures: false, window: None },
                CompareOp::Ge,
                Node::Int(2),
            ),
        };
        (format!("condition {i}"), expr)
    });
    Goal { name: name.into(), doc: String::new(), span: 0, conditions: conditions.collect() }
}

/// Returns a condition over the arguments of a tool, or over the state.
fn condition(dice: &mut Dice, tool: &Tool) -> Expr {
    let param = tool.params.first().map(|param| param.ty).filter(|_| dice.one_in(2));
    match param {
        Some(ENV) => compare(Node::Param(0), CompareOp::Eq, Node::Enum(dice.below(3) as u32)),
        Some(COUNT | INT) => compare(Node::Param(0), CompareOp::Gt, Node::Int(3)),
        _ => match dice.below(3) {
            0 => expr([Node::State(dice.below(2) as u32)]),
            1 => expr([Node::State(dice.below(2) as u32), Node::Not(0)]),
            _ => compare(Node::State(N0), CompareOp::Gt, Node::Int(4)),
        },
    }
}

fn requirement(dice: &mut Dice, plan: &Plan, tool: &Tool) -> Requirement {
    let other = dice.below(plan.tools.len());
    let required = &plan.tools[other];
    let first = required.params.first().map(|param| param.ty);
    let value = match first {
        Some(ty) if tool.params.first().is_some_and(|param| param.ty == ty) => Some(Node::Param(0)),
        Some(ENV) => Some(Node::Enum(dice.below(3) as u32)),
        _ => None,
    };
    let key = value
        .filter(|_| dice.one_in(2))
        .map(|value| Key { index: required.indexes[0], values: vec![expr([value])] });
    let since = dice.one_in(4).then(|| dice.below(plan.tools.len()) as ToolId);
    let within = dice.one_in(4).then_some(5_000);
    Requirement { latest: false, tool: other as ToolId, key, since, within }
}

/// Returns a tool with its own rules.
fn clauses(dice: &mut Dice, plan: &Plan, id: ToolId) -> Tool {
    let mut tool = plan.tools[id as usize].clone();
    let name = tool.name.clone();
    let first = tool.params.first().map(|param| param.ty);
    for _ in 0..dice.below(3) {
        let any_of = (0..1 + dice.below(2)).map(|_| requirement(dice, plan, &tool)).collect();
        let when = dice.one_in(3).then(|| condition(dice, &tool));
        tool.requires.push(Requires { rule: rule(&name), any_of, when });
    }
    if dice.one_in(3) {
        tool.denies.push(deny(&name, condition(dice, &tool), "it says so"));
    }
    if dice.one_in(3) {
        tool.limits.push(held(dice.below(4) as u32));
    }
    if dice.one_in(2) {
        tool.costs.push(cost(&name, 1, dice.below(12) as i64));
    }
    if matches!(first, Some(INT | COUNT)) && dice.one_in(2) {
        let amount = expr([Node::Param(0), Node::Call(Builtin::Decimal, vec![0])]);
        tool.costs.push(Cost { rule: rule(&name), unit: 1, amount, returned: dice.one_in(2) });
    }
    effects(dice, &mut tool);
    if dice.one_in(4) {
        let when = dice.one_in(2).then(|| condition(dice, &tool));
        tool.approvals.push(Approval { when, ..approval(&name, "human") });
    }
    if dice.one_in(5) {
        tool.ready.push(Ready { rule: rule(&name), probe: 0 });
    }
    tool.risk = dice.pick(&[Risk::Low, Risk::Low, Risk::Medium, Risk::High, Risk::Critical]);
    tool.irreversible = dice.one_in(4);
    if dice.one_in(3) {
        tool.prior = Some(beta(1 + dice.below(5_000_000) as i64, 1_000_000));
    }
    if dice.one_in(3) {
        tool.touches.push(Touch::History(dice.below(plan.tools.len()) as ToolId));
    }
    tool
}

fn effects(dice: &mut Dice, tool: &mut Tool) {
    let name = tool.name.clone();
    if dice.one_in(2) {
        let var = dice.below(2) as u32;
        let value = expr([Node::Bool(!dice.one_in(3))]);
        tool.effects.push(effect(&name, var, EffectOp::Set, value));
        tool.frame = vec![1];
    }
    if dice.one_in(2) {
        let value = match tool.params.first().map(|param| param.ty) {
            Some(INT | COUNT) => Node::Param(0),
            _ => Node::Int(1 + dice.below(3) as i64),
        };
        tool.effects.push(effect(&name, N0, EffectOp::Add, expr([value])));
        tool.frame.insert(0, 0);
    }
    if dice.one_in(3) {
        let value = expr([Node::State(N1), Node::State(N1), Node::Arith(ArithOp::Mul, 0, 1)]);
        tool.effects.push(effect(&name, N1, EffectOp::Set, value));
    }
}

/// Returns arguments that a tool accepts.
pub fn args(dice: &mut Dice, tool: &Tool) -> Json {
    let member = |param: &Field| {
        let value = match param.ty {
            BOOL => Json::Bool(dice.one_in(2)),
            ENV => Json::string(dice.pick(&["dev", "staging", "prod"])),
            COUNT => Json::Int(1 + dice.below(5) as i64),
            INT => Json::Int(dice.below(12) as i64 - 1),
            _ => Json::string(dice.pick(&["", "x", "y"])),
        };
        (param.name.as_str().into(), value)
    };
    Json::Object(tool.params.iter().map(member).collect())
}

/// Returns a session with some events.
pub fn session(dice: &mut Dice, kernel: &Kernel, world: &mut Probes) -> (SessionState, i64) {
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let mut now = 0;
    let mut flying = Vec::<String>::new();
    for step in 0..dice.below(20) {
        now += dice.below(3_000) as i64;
        let tools = &kernel.plan().tools;
        let tool = &tools[dice.below(tools.len())];
        let args = args(dice, tool);
        if dice.one_in(4) {
            let tool = &tool.wire_name;
            let args = &args;
            let approve = CallApproval { tool, args, role: "human", by: "ann", expires: None, now };
            kernel.approve(&mut session, &approve).unwrap();
        }
        let call = format!("c{step}");
        let proposal = Proposal { call: &call, tool: &tool.wire_name, args: (&args).into(), now };
        let proposed = kernel.propose(&mut session, &proposal, world).unwrap();
        if proposed.verdict.decision == guard_plan::verdict::Decision::Allow {
            flying.push(call);
        }
        while flying.len() > dice.below(3) {
            let call = flying.swap_remove(dice.below(flying.len()));
            let ending = if dice.one_in(4) { Ending::Failure } else { Ending::Success(None) };
            kernel.settle(&mut session, &Settlement { call: &call, ending, now }, world).unwrap();
        }
    }
    (session, now)
}
