//! The contract of a choice: one object, parsed like the text of any producer.

use guard_contract::{Checker, Input};
use guard_plan::json::Json;
use guard_plan::plan::{Bounds, Contract, Field, Plan, Root, TypeDef};
use guard_plan::report::QuarantineReason;
use std::sync::OnceLock;

/// The members of a choice.
const MEMBERS: [&str; 4] = ["action", "args", "reasoning", "stop"];

/// Returns the object in a text; `None` if there is none.
///
/// # Errors
///
/// Returns the problem of an object that is cut off, or that has a member which cannot be parsed.
pub(super) fn read(text: &str) -> Result<Option<Json>, String> {
    static CHECKER: OnceLock<Option<Checker>> = OnceLock::new();
    // The plan is constant and valid; should it not be, the reply counts as having no object.
    let Some(checker) = CHECKER.get_or_init(|| Checker::new(&plan(), 0).ok()) else {
        return Ok(None);
    };
    let report = checker.check(text.as_bytes(), &Input::none());
    if report.truncated {
        return Err("the reply is cut".into());
    }
    let known = |member: &str| MEMBERS.contains(&member);
    let lost = report.problems.iter().find(|problem| {
        // Only damage to a member of a choice matters, since unknown members are ignored.
        known(&problem.member)
            || matches!(problem.reason, QuarantineReason::Malformed | QuarantineReason::Bounds)
                && !problem.member.is_empty()
    });
    if let Some(problem) = lost {
        return Err(format!("`{}`: {}", problem.member, problem.error));
    }
    let Json::Object(members) = &report.envelope else { return Ok(None) };
    Ok((!members.is_empty()).then(|| report.envelope.clone()))
}

/// Returns a plan that contains only the contract.
fn plan() -> Plan {
    let field = |name: &str| Field { name: name.into(), ty: 1, secret: false, doc: String::new() };
    let fields = MEMBERS.map(field).into();
    let types = vec![
        TypeDef::Json,
        TypeDef::Option { of: 0 },
        TypeDef::Record { name: "Choice".into(), fields },
    ];
    let bounds = Bounds { depth: 128, string: 1 << 20, bytes: 1 << 20, quarantine: 1 };
    let contract = Contract {
        name: "choice".into(),
        doc: String::new(),
        span: 0,
        root: Root::Envelope,
        record: 2,
        lists: Vec::new(),
        bounds,
        references: Vec::new(),
    };
    Plan {
        edition: 1,
        guard: "choice".into(),
        shadow: false,
        default_allow: false,
        deadline: None,
        types,
        state: Vec::new(),
        units: Vec::new(),
        limits: Vec::new(),
        regexes: Vec::new(),
        paths: Vec::new(),
        invariants: Vec::new(),
        monitors: Vec::new(),
        indexes: Vec::new(),
        windows: Vec::new(),
        facts: Vec::new(),
        commands: Vec::new(),
        probes: Vec::new(),
        sources: Vec::new(),
        coercions: Vec::new(),
        origins: false,
        mentions: false,
        confidential: false,
        lifecycles: Vec::new(),
        feedback: Vec::new(),
        attests: Vec::new(),
        completion: None,
        goals: Vec::new(),
        contracts: vec![contract],
        tools: Vec::new(),
        proofs: Vec::new(),
    }
}
