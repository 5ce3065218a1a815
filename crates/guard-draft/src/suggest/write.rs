//! The text of a suggested guard.

use super::rules::ParamRules;
use super::types::TypeWriter;
use super::{SessionObserver, Suggestion, ToolSeen};
use crate::text::{ToolDraft, UNSAYABLE, guard_name, tool_name};
use guard_plan::words::count;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The maximum number of orders that are suggested for one tool.
const MAX_ORDERS: usize = 5;

/// Writes the guard.
pub(super) fn suggestion(seen: &SessionObserver, name: &str, min_support: u64) -> Suggestion {
    let writer = GuardWriter::new(seen, min_support);
    let mut type_names = BTreeSet::new();
    let drafts: Vec<(ToolDraft, usize)> =
        writer.order.iter().map(|tool| writer.tool(*tool, &mut type_names)).collect();
    let tools = drafts.len();
    let rules = drafts.iter().map(|(_, rules)| rules).sum();
    let basis = if min_support == u64::MAX {
        "It has types only, and no rules.".to_owned()
    } else {
        let least = count(min_support, "observation");
        format!("Each rule held in every session; it rests on at least {least}.")
    };
    let mut text = format!(
        "//! A first guard, suggested by {} with {}. Its types are those of the calls.\n\
         //! {basis}\n\
         //! It knows nothing of what the sessions did not show: read it before you use it.\n\
         guard {}\n",
        count(seen.sessions, "session"),
        count(seen.calls, "allowed call"),
        guard_name(name)
    );
    for (draft, _) in &drafts {
        let _ = write!(text, "\n{}", draft.text());
    }
    let sessions = seen.sessions;
    let calls = seen.calls;
    let unseen = seen.unseen;
    Suggestion { text, tools, rules, sessions, calls, unseen }
}

/// The writer of a guard: the observations, and the names and types of all tools.
struct GuardWriter<'w> {
    seen: &'w SessionObserver,
    min_support: u64,
    /// The tools, sorted by the host's names.
    order: Vec<usize>,
    /// The names of the tools in the guard.
    names: BTreeMap<usize, String>,
    /// The types of the parameters that are never missing.
    types: BTreeMap<(usize, &'w str), String>,
}

impl<'w> GuardWriter<'w> {
    fn new(seen: &'w SessionObserver, min_support: u64) -> GuardWriter<'w> {
        let mut order: Vec<usize> = (0..seen.tools.len()).collect();
        order.sort_by(|a, b| seen.tools[*a].wire.cmp(&seen.tools[*b].wire));
        let mut taken = BTreeSet::new();
        let names =
            order.iter().map(|id| (*id, tool_name(&seen.tools[*id].wire, &mut taken))).collect();
        let mut types = BTreeMap::new();
        for id in &order {
            let tool = &seen.tools[*id];
            let mut scratch = BTreeSet::new();
            let mut writer =
                TypeWriter { tool: "", names: &mut scratch, min_support, items: Vec::new() };
            for (param, values) in tool.params.iter().filter(|(_, v)| v.count == tool.calls) {
                types.insert((*id, &**param), writer.plain(param, param, values));
            }
        }
        GuardWriter { seen, min_support, order, names, types }
    }

    /// Returns the declaration of a tool, and the number of its rules.
    fn tool(&self, id: usize, type_names: &mut BTreeSet<String>) -> (ToolDraft, usize) {
        let tool = &self.seen.tools[id];
        let name = self.names[&id].clone();
        let mut types = TypeWriter {
            tool: &name,
            names: type_names,
            min_support: self.min_support,
            items: Vec::new(),
        };
        let mut params = Vec::new();
        let mut clauses = Vec::new();
        clauses.extend(self.orders(id));
        for (param, values) in &tool.params {
            let ty = types.field(param, param, values, tool.calls);
            params.push(format!("{param}: {ty}"));
            let rules = ParamRules {
                name: param,
                values,
                ty: ty.trim_end_matches('?'),
                optional: values.count < tool.calls,
                min_support: self.min_support,
                hides_workspace: tool.params.contains_key("workspace"),
            };
            let held = held(tool, values.count);
            clauses.extend(rules.clauses().iter().map(|rule| format!("{held}\n{rule}")));
        }
        if tool.sessions >= self.min_support {
            clauses.push(format!("{}\nlimit {} per session", held(tool, tool.calls), tool.most));
        }
        let rules = clauses.len();
        let items = types.items;
        let notes =
            vec![format!("{} in {}", count(tool.calls, "call"), count(tool.sessions, "session"))];
        let wire = tool.wire.clone();
        (ToolDraft { wire, name, items, notes, params, clauses, ..ToolDraft::default() }, rules)
    }

    /// Returns the requirements that held before every call, each in its most specific form.
    fn orders(&self, id: usize) -> Vec<String> {
        let tool = &self.seen.tools[id];
        let kept = self.required(id);
        // The requirements of a required tool need not be repeated.
        let implied = |other: usize| {
            kept.iter().any(|via| *via != other && self.required(*via).contains(&other))
        };
        let mut clauses = Vec::new();
        let mut telling: Vec<(usize, Option<&str>)> = Vec::new();
        for other in self.order.iter().copied().filter(|other| kept.contains(other)) {
            let key = tool.orders.same(other).find(|name| self.tells(id, other, name));
            if key.is_some() || !implied(other) {
                telling.push((other, key));
            }
        }
        telling.sort_by_key(|(_, key)| key.is_none());
        for (other, key) in telling.into_iter().take(MAX_ORDERS) {
            let key = key.map(|name| format!("({name})")).unwrap_or_default();
            let held = held(tool, tool.calls);
            clauses.push(format!("{held}\nrequires {}{key}", self.names[&other]));
        }
        clauses
    }

    /// Returns the tools that had succeeded before every call of this one, if enough sessions show it.
    fn required(&self, id: usize) -> BTreeSet<usize> {
        let tool = &self.seen.tools[id];
        let enough = tool.sessions >= self.min_support;
        tool.orders.before().filter(|other| enough && *other != id).collect()
    }

    /// Returns true if the value of a parameter can be the key, and was not always the same.
    fn tells(&self, id: usize, other: usize, param: &str) -> bool {
        let ty = |tool: usize| self.types.get(&(tool, param)).map(String::as_str);
        let fits = matches!(ty(id), Some("string" | "int" | "path" | "url")) && ty(id) == ty(other);
        let values = self.seen.tools[id].params.get(param);
        let varies = values.is_some_and(|values| match values.int_range {
            Some((low, high)) => low != high,
            None => values.texts.values.vary(),
        });
        let sayable = !UNSAYABLE.contains(&param);
        fits && sayable && varies && values.is_some_and(|values| !values.is_secret(param))
    }
}

/// Returns a comment with the number of observations for a rule.
fn held(tool: &ToolSeen, values: u64) -> String {
    format!(
        "// held in {} of {}, {}",
        tool.sessions,
        count(tool.sessions, "session"),
        count(values, "call")
    )
}
