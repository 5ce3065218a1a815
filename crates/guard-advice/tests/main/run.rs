//! A session of a small plan under test, and the parts of such plans.

use super::build::*;
use guard_plan::advice::{Action, Advice};
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_runtime::*;

/// A session under test: calls are written `tool {args}`.
pub struct Run {
    pub kernel: Kernel,
    pub session: SessionState,
    pub now: i64,
    pub world: Answers,
}

/// A world in which every probe has the same answer.
pub struct Answers(pub Option<Json>);

impl World for Answers {
    fn exists(&mut self, _: &str) -> Option<bool> {
        None
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        self.0.clone()
    }
}

impl Run {
    pub fn new(plan: Plan) -> Run {
        let kernel = kernel(plan);
        let session = kernel.open("s", 0, "/ws").unwrap();
        Run { kernel, session, now: 0, world: Answers(None) }
    }

    #[track_caller]
    pub fn propose(&mut self, text: &str) {
        let (tool, args) = text.split_once(' ').unwrap_or((text, "{}"));
        let args = Json::parse(args).unwrap();
        let proposal = Proposal { call: text, tool, args: (&args).into(), now: self.now };
        let proposed = self.kernel.propose(&mut self.session, &proposal, &mut self.world).unwrap();
        assert_eq!(proposed.verdict.reasons, [], "{text}");
    }

    pub fn settle(&mut self, call: &str, ending: Ending<'_>) {
        let settlement = Settlement { call, ending, now: self.now };
        self.kernel.settle(&mut self.session, &settlement, &mut self.world).unwrap();
    }

    #[track_caller]
    pub fn ok(&mut self, text: &str) {
        self.propose(text);
        self.settle(text, Ending::Success(None));
    }

    pub fn advise(&mut self) -> Advice {
        guard_advice::advise(&self.kernel, &self.session, self.now, &mut self.world)
    }

    /// Checks `[STATUS] tool {args} — needs` of every action, the most valuable first.
    #[track_caller]
    pub fn check(&mut self, expected: &[&str]) {
        let shown: Vec<String> = self.advise().actions.iter().map(shown).collect();
        assert_eq!(shown, expected);
    }

    #[track_caller]
    pub fn action(&mut self, tool: &str) -> Action {
        self.advise().actions.into_iter().find(|action| action.tool == tool).expect("an action")
    }
}

pub fn shown(action: &Action) -> String {
    let args = action.args.as_ref().map_or("?".into(), Json::to_string);
    let needs: Vec<&str> = action.needs.iter().map(|need| &*need.text).collect();
    let needs = if needs.is_empty() { String::new() } else { format!(" — {}", needs.join("; ")) };
    let empty = if action.params.is_empty() { String::new() } else { format!(" {args}") };
    format!("[{}] {}{empty}{needs}", action.status.as_str(), action.tool)
}

pub fn is_true(var: VarId) -> (String, Expr) {
    (format!("v{var}"), expr([Node::State(var)]))
}

pub fn goal(name: &str, conditions: Vec<(String, Expr)>) -> Goal {
    Goal { name: name.into(), doc: String::new(), span: 0, conditions }
}

pub fn set_true(owner: &str, var: VarId) -> Effect {
    effect(owner, var, EffectOp::Set, expr([Node::Bool(true)]))
}

/// A belief of these successes and failures, in units of 10⁻⁶.
pub fn beta(alpha: i64, beta: i64) -> Prior {
    let [alpha, beta] = [alpha, beta].map(|units| expr([Node::Decimal(units)]));
    Prior { alpha, beta }
}
