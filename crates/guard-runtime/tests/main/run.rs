//! A session of one small plan under test.

use super::build::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::verdict::{Decision, Verdict};
use guard_runtime::*;

/// A session under test: calls are written `tool {args}`.
pub struct Run {
    pub kernel: Kernel,
    pub session: SessionState,
    pub now: i64,
    pub world: Answers,
}

/// A world of fixed answers.
#[derive(Default)]
pub struct Answers {
    pub exists: Option<bool>,
    pub probe: Option<Json>,
    pub asked: usize,
}

impl World for Answers {
    fn exists(&mut self, _: &str) -> Option<bool> {
        self.asked += 1;
        self.exists
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        self.asked += 1;
        self.probe.clone()
    }
}

impl Run {
    pub fn new(plan: Plan) -> Run {
        let kernel = kernel(plan);
        let session = kernel.open("s", 0, "/ws").unwrap();
        Run { kernel, session, now: 0, world: Answers::default() }
    }

    pub fn propose(&mut self, call: &str, text: &str) -> Verdict {
        let (tool, args) = text.split_once(' ').unwrap_or((text, "{}"));
        let args = Json::parse(args).unwrap();
        let proposal = Proposal { call, tool, args: (&args).into(), now: self.now };
        self.kernel.propose(&mut self.session, &proposal, &mut self.world).unwrap().verdict
    }

    /// Checks the decision, and `code rule: message (help)` of every reason.
    #[track_caller]
    pub fn check(&mut self, text: &str, expected: &str) {
        let verdict = self.propose("check", text);
        if verdict.decision == Decision::Allow {
            let ending = Ending::Success(None);
            let settlement = Settlement { call: "check", ending, now: self.now };
            self.kernel.settle(&mut self.session, &settlement, &mut self.world).unwrap();
        }
        assert_eq!(shown(&verdict), expected, "{text}");
    }

    pub fn settle(&mut self, call: &str, result: Option<&str>) -> Settled {
        let json = result.map(|text| Json::parse(text).unwrap());
        let settlement = Settlement { call, ending: Ending::Success(json.as_ref()), now: self.now };
        self.kernel.settle(&mut self.session, &settlement, &mut self.world).unwrap()
    }

    pub fn fail(&mut self, call: &str) {
        let settlement = Settlement { call, ending: Ending::Failure, now: self.now };
        self.kernel.settle(&mut self.session, &settlement, &mut self.world).unwrap();
    }

    #[track_caller]
    pub fn ok(&mut self, text: &str) -> Settled {
        self.ok_with(text, None)
    }

    #[track_caller]
    pub fn ok_with(&mut self, text: &str, result: Option<&str>) -> Settled {
        let verdict = self.propose("ok", text);
        assert_eq!(shown(&verdict), "allow", "{text}");
        self.settle("ok", result)
    }

    pub fn approve(&mut self, text: &str, role: &str) {
        let (tool, args) = text.split_once(' ').unwrap_or((text, "{}"));
        let args = Json::parse(args).unwrap();
        let approve =
            CallApproval { tool, args: &args, role, by: "ann", expires: None, now: self.now };
        self.kernel.approve(&mut self.session, &approve).unwrap();
    }
}

pub fn shown(verdict: &Verdict) -> String {
    let decision = |decision: Decision| format!("{decision:?}").to_lowercase();
    let mut out = decision(verdict.decision);
    for reason in &verdict.reasons {
        let code = reason.code.as_str();
        out.push_str(&format!("; {code} {}: {}", reason.rule, reason.message));
        if !reason.help.is_empty() {
            out.push_str(&format!(" ({})", reason.help));
        }
    }
    for reason in &verdict.shadowed {
        out.push_str(&format!("; shadow {} {}", reason.code.as_str(), reason.rule));
    }
    out
}
