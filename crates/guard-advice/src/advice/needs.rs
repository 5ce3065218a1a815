//! The needs of an action, as text and in the order in which they must be met.

use super::AdviceScene;
use super::candidates::Candidate;
use super::graph::CandidateGraph;
use super::unmet::{Alternative, Unmet};
use guard_plan::advice::Need;
use guard_plan::decode::is_secret;
use guard_plan::plan::ToolId;
use guard_plan::render;
use guard_plan::verdict::{Code, Decision, Reason};

/// The maximum number of calls in a chain.
const MAX_CHAIN: usize = 16;

/// Returns all needs of a candidate, in the order of its reasons; all missing calls form one chain.
pub(super) fn collect(
    scene: &AdviceScene<'_>,
    graph: &CandidateGraph,
    candidate: &Candidate,
) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    let mut chained = false;
    for reason in &candidate.reasons {
        let missing = reason.code == Code::Requires && reason.decision == Decision::Deny;
        let need = match missing.then(|| chain(scene, graph, candidate)).flatten() {
            Some(_) if chained => continue,
            Some(chain) => {
                chained = true;
                chain
            }
            None => other(reason),
        };
        if !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}

/// Returns the calls that must still be made, in the order of their requirements; `None` if they
/// are unknown.
fn chain(scene: &AdviceScene<'_>, graph: &CandidateGraph, candidate: &Candidate) -> Option<Need> {
    let mut links = StepChain { scene, graph, done: vec![], names: vec![], words: vec![] };
    links.before(&candidate.unmet);
    let StepChain { names, words, .. } = links;
    (!words.is_empty()).then(|| Need { code: Code::Requires, names, text: words.join(", then ") })
}

/// A chain under construction.
struct StepChain<'s> {
    scene: &'s AdviceScene<'s>,
    graph: &'s CandidateGraph,
    done: Vec<Unmet>,
    names: Vec<String>,
    words: Vec<String>,
}

impl StepChain<'_> {
    /// Adds the needs of some requirements, each after its own needs.
    fn before(&mut self, unmet: &[Unmet]) {
        let mut unmet: Vec<&Unmet> = unmet.iter().collect();
        unmet.sort_by_cached_key(|unmet| self.words_of(unmet));
        for one in unmet {
            if self.done.contains(one) || self.done.len() >= MAX_CHAIN {
                continue;
            }
            self.done.push(one.clone());
            // The choice among several alternatives is left to the caller, so their needs are not
            // added.
            if let [only] = one.0.as_slice() {
                let graph = self.graph;
                self.before(graph.unmet(only));
            }
            let words = self.words_of(one);
            if !words.is_empty() && !self.words.contains(&words) {
                self.words.push(words);
                let mut names: Vec<&str> =
                    one.0.iter().map(|requirement| self.name(requirement.tool)).collect();
                names.sort_unstable();
                names.dedup();
                let names: Vec<String> = names.into_iter().map(String::from).collect();
                self.names.extend(names);
            }
        }
    }

    fn name(&self, tool: ToolId) -> &str {
        &self.scene.plan.tools[tool as usize].name
    }

    fn words_of(&self, unmet: &Unmet) -> String {
        let mut words: Vec<String> =
            unmet.0.iter().map(|alternative| self.alternative(alternative)).collect();
        words.sort();
        words.dedup();
        words.join(" or ")
    }

    /// Formats an alternative: `test`, `check(env: prod)`.
    fn alternative(&self, alternative: &Alternative) -> String {
        let plan = self.scene.plan;
        let tool = &plan.tools[alternative.tool as usize];
        if alternative.key.is_empty() {
            return tool.name.clone();
        }
        let shown = alternative.key.iter().filter_map(|(param, value)| {
            let param = tool.params.get(*param as usize)?;
            let value = if is_secret(&plan.types, param) {
                render::SECRET.into()
            } else {
                render::value(&plan.types, param.ty, value)
            };
            Some(format!("{}: {value}", param.name))
        });
        format!("{}({})", tool.name, shown.collect::<Vec<_>>().join(", "))
    }
}

/// Returns a need that is not a missing call.
fn other(reason: &Reason) -> Need {
    let text = match reason.code {
        Code::Approval => format!("approval of {}", reason.needs.join(", ")),
        Code::Conflict => reason.help.clone(),
        Code::Requires if reason.decision == Decision::Wait => reason.help.clone(),
        _ if reason.help.is_empty() => reason.message.clone(),
        _ => format!("{} ({})", reason.message, reason.help),
    };
    Need { code: reason.code, names: reason.needs.clone(), text }
}
