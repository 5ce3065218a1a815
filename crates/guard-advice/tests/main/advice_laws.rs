//! Property tests of the advice, for any plan and any session.

use super::build::kernel;
use super::wild::{self, Dice, Probes};
use guard_plan::advice::{Action, Advice, Decimal, Status};
use guard_plan::json::Json;
use guard_plan::verdict::Decision;
use guard_runtime::*;
use proptest::prelude::*;

/// A session at a given time, and its advice.
struct AdvisedSession {
    dice: Dice,
    kernel: Kernel,
    session: SessionState,
    now: i64,
    world: Probes,
    advice: Advice,
}

fn advised_session(seed: u64) -> AdvisedSession {
    let mut dice = Dice::new(seed);
    let kernel = kernel(wild::plan(&mut dice));
    let mut world = Probes::any(&mut dice);
    let (session, now) = wild::session(&mut dice, &kernel, &mut world);
    let advice = guard_advice::advise(&kernel, &session, now, &mut world);
    AdvisedSession { dice, kernel, session, now, world, advice }
}

impl AdvisedSession {
    fn decision(&mut self, action: &Action, args: &Json) -> Decision {
        let proposal =
            Proposal { call: "law", tool: &action.wire_name, args: args.into(), now: self.now };
        self.kernel.check(&self.session, &proposal, &mut self.world).verdict.decision
    }
}

/// The numbers of one action of the text: value, terms, belief.
fn numbers(block: &str) -> Vec<String> {
    let after = |label: &str| {
        let rest = block.split_once(label).expect(label).1;
        let end = rest.find([',', ' ', ')', '%']).unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let labels =
        ["Value: ", "(progress=", "info=", "cost_ratio=", "risk=", "opportunity=", "Beta("];
    labels.iter().map(|label| after(label)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Advice never disagrees with the verdict.
    #[test]
    fn status_is_the_verdict(seed: u64) {
        let mut advised = advised_session(seed);
        for action in advised.advice.actions.clone() {
            if let Some(args) = &action.args {
                let expected = match action.status {
                    Status::Ready => Decision::Allow,
                    Status::Ask => Decision::Ask,
                    Status::Wait => Decision::Wait,
                    Status::Blocked => Decision::Deny,
                };
                prop_assert_eq!(advised.decision(&action, args), expected, "{:?}", action);
            } else if action.status != Status::Ready {
                // The status holds for all arguments.
                let tool = advised.kernel.tool(&action.wire_name).unwrap();
                let tool = advised.kernel.plan().tools[tool as usize].clone();
                for _ in 0..20 {
                    let args = wild::args(&mut advised.dice, &tool);
                    let decision = advised.decision(&action, &args);
                    prop_assert_ne!(decision, Decision::Allow, "{:?} {}", action, args);
                }
            }
        }
    }

    /// The best call of a tool with few arguments is shown: if any call is allowed, the shown one
    /// is.
    #[test]
    fn ready_if_any_is(seed: u64) {
        let mut advised = advised_session(seed);
        for action in advised.advice.actions.clone() {
            let tool = advised.kernel.tool(&action.wire_name).unwrap();
            let tool = advised.kernel.plan().tools[tool as usize].clone();
            for _ in 0..20 {
                let args = wild::args(&mut advised.dice, &tool);
                let allowed = advised.decision(&action, &args) == Decision::Allow;
                prop_assert!(!allowed || action.status == Status::Ready, "{:?} {}", action, args);
            }
        }
    }

    #[test]
    fn terms_are_parts_and_actions_are_ranked(seed: u64) {
        let AdvisedSession { kernel, advice, .. } = advised_session(seed);
        prop_assert_eq!(advice.actions.len(), kernel.plan().tools.len());
        let part = |number: Decimal| (0..=1_000_000).contains(&number.0);
        for action in &advice.actions {
            let terms = &action.terms;
            let all = [terms.progress, terms.info, terms.cost_ratio, terms.risk, terms.opportunity];
            prop_assert!(all.into_iter().all(part), "{:?}", action);
            prop_assert!(part(action.belief.mean) && action.value == terms.value());
            prop_assert_eq!(action.needs.is_empty(), action.status == Status::Ready);
        }
        for pair in advice.actions.windows(2) {
            let rank = |action: &Action| (std::cmp::Reverse(action.value), action.tool.clone());
            prop_assert!(rank(&pair[0]) < rank(&pair[1]));
        }
        prop_assert!(advice.goals.iter().all(|goal| part(goal.progress)));
        prop_assert!(Json::parse(&advice.to_json()).is_ok());
    }

    /// Advice changes nothing, and the same question has the same answer.
    #[test]
    fn advice_is_pure(seed: u64) {
        let AdvisedSession { kernel, session, now, mut world, advice, .. } = advised_session(seed);
        let before = format!("{session:?}");
        prop_assert_eq!(guard_advice::advise(&kernel, &session, now, &mut world), advice);
        prop_assert_eq!(format!("{session:?}"), before);
    }

    /// The order of a tool's clauses and of a goal's conditions has no effect.
    #[test]
    fn order_does_not_matter(seed: u64) {
        let mut dice = Dice::new(seed);
        let plan = wild::plan(&mut dice);
        let mut other = plan.clone();
        for tool in &mut other.tools {
            tool.requires.reverse();
            tool.denies.reverse();
            tool.limits.reverse();
            tool.costs.reverse();
            tool.effects.reverse();
            tool.approvals.reverse();
        }
        other.goals.iter_mut().for_each(|goal| goal.conditions.reverse());
        let rolled = dice.below(usize::MAX) as u64;
        let actions = |plan| {
            let kernel = kernel(plan);
            let mut dice = Dice::new(rolled);
            let mut world = Probes::any(&mut dice);
            let (session, now) = wild::session(&mut dice, &kernel, &mut world);
            guard_advice::advise(&kernel, &session, now, &mut world).actions
        };
        prop_assert_eq!(actions(plan), actions(other));
    }

    /// The text contains the numbers of the ranking, in the order of the ranking.
    #[test]
    fn text_is_the_advice(seed: u64) {
        let AdvisedSession { advice, .. } = advised_session(seed);
        let text = advice.text();
        let blocks: Vec<&str> = text.split("\n### ").skip(1).collect();
        prop_assert_eq!(blocks.len(), advice.actions.len());
        for (block, action) in blocks.iter().zip(&advice.actions) {
            let terms = &action.terms;
            let all = [
                action.value, terms.progress, terms.info, terms.cost_ratio, terms.risk,
                terms.opportunity, action.belief.alpha,
            ];
            prop_assert_eq!(numbers(block), all.map(|number| number.to_string()).to_vec());
            let head = format!("[{}] {} (id={})", action.status.as_str(), action.tool, action.tool);
            prop_assert!(block.starts_with(&head), "{}", block);
        }
    }
}
