//! Policies and groups: the tools that a set names, and the names that a policy may use.

use super::TypeChecker;
use super::name::OtherMeaning;
use crate::errors;
use crate::hir::ToolId;
use guard_plan::builtin::Builtin;
use guard_plan::value::Value;
use guard_syntax::ast::{ClauseKind, Ident, Member, ToolSet};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::BTreeSet;

/// The maximum number of clauses that the policies may apply to all tools together.
const MAX_GOVERNING: usize = 50_000;

/// The policy that is being checked, and the tool.
#[derive(Clone)]
pub(crate) struct Speaking {
    pub policy: String,
    pub tool: String,
    pub tool_span: Span,
    pub governed: std::rc::Rc<Governed>,
}

/// The common properties of the tools that a policy governs.
#[derive(Default)]
pub(crate) struct Governed {
    /// The parameters that all of them have, and the names that they declare.
    pub names: BTreeSet<String>,
    /// True if the policy is from the bundled library, which names nothing unknown.
    pub bundled: bool,
}

impl Speaking {
    /// Returns the problem with a name that other governed tools have as a parameter or a `let`,
    /// but this tool does not.
    pub fn missing_parameter(&self, name: &str, span: Span) -> Option<Diagnostic> {
        if self.governed.bundled {
            // The tool is wrong: authors cannot change the library.
            return Some(errors::library_parameter(
                self.tool_span,
                &self.policy,
                name,
                &self.tool,
                span,
            ));
        }
        self.governed
            .names
            .contains(name)
            .then(|| errors::policy_parameter(span, &self.policy, name, &self.tool, self.tool_span))
    }

    /// Returns the problem with a name that is a parameter or a `let` of this tool and has another
    /// meaning without it.
    pub fn two_meanings(
        &self,
        name: &str,
        span: Span,
        (what, declared): (&str, Span),
        other: &OtherMeaning,
    ) -> Diagnostic {
        let kind = other.kind();
        let problem = |at| errors::two_meanings(at, name, &self.policy, kind, (what, &self.tool));
        let d = if self.governed.bundled {
            // Authors cannot change the library.
            problem(declared).also(span, "the library reads it here")
        } else {
            problem(span).also(declared, format!("the {what} of `{}`", self.tool))
        };
        other.declared().into_iter().fold(d, |d, at| d.also(at, format!("the {kind}")))
    }
}

impl TypeChecker<'_, '_> {
    /// Checks that every name in a group is the name of a tool or of a group.
    pub(super) fn groups(&mut self) {
        let names = self.names;
        for entry in &names.groups.items {
            for member in &entry.decl.members.members {
                if let Member::Name(name) = member
                    && names.tools.peek(&name.node).is_none()
                    && names.groups.peek(&name.node).is_none()
                {
                    self.unknown_member(name);
                }
            }
        }
    }

    /// Finds the tools of every policy.
    pub(super) fn governed(&mut self) {
        let names = self.names;
        self.governed = vec![BTreeSet::new(); names.policies.items.len()];
        let mut put = 0;
        for (nth, entry) in names.policies.items.iter().enumerate() {
            let before = self.diagnostics.len();
            let mut tools = self.tool_set(&entry.decl.tools);
            if let Some(except) = &entry.decl.except {
                let except = self.tool_set(except);
                tools.retain(|tool| !except.contains(tool));
            }
            let all_known = self.diagnostics.len() == before;
            // An unknown name is the more likely reason for an empty set, and was reported.
            if tools.is_empty() && !entry.bundled && all_known {
                self.report(errors::governs_nothing(entry.name));
            }
            put += tools.len() * entry.decl.clauses.len();
            if put > MAX_GOVERNING {
                self.report(errors::too_many_clauses(entry.name.span, MAX_GOVERNING));
                break;
            }
            self.governed[nth] = tools;
        }
    }

    fn unknown_member(&mut self, name: &Ident) {
        let known = self.names.tools.names().chain(self.names.groups.names());
        self.report(errors::unknown_tool(name, known));
    }

    /// Returns the tools that a set names, ascending. Each group is followed once.
    pub(super) fn tool_set(&mut self, root: &ToolSet) -> BTreeSet<ToolId> {
        let names = self.names;
        let mut tools = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut sets = vec![root];
        while let Some(set) = sets.pop() {
            for member in &set.members {
                match member {
                    Member::All(_) => tools.extend(0..names.tools.items.len()),
                    Member::Tag(tag) => {
                        tools.extend(self.tagged.get(&tag.node).into_iter().flatten())
                    }
                    Member::Glob(pattern) => {
                        let matching = |at: &usize| {
                            let tool = names.tools.items[*at].decl;
                            let wire = tool.real_name.as_ref().unwrap_or(&tool.name);
                            matches_glob(&wire.node, &pattern.node)
                        };
                        tools.extend((0..names.tools.items.len()).filter(matching));
                    }
                    Member::Name(name) => {
                        if let Some(tool) = names.tools.get(&name.node) {
                            tools.insert(tool);
                        } else if let Some(group) = names.groups.get(&name.node) {
                            if seen.insert(group) {
                                sets.push(&names.groups.items[group].decl.members);
                            }
                        } else if std::ptr::eq(set, root) {
                            // Unknown members of groups were reported at the groups.
                            self.unknown_member(name);
                        }
                    }
                }
            }
        }
        tools
    }

    /// Collects the tools of each tag.
    pub(super) fn tags(&mut self) {
        for (at, entry) in self.names.tools.items.iter().enumerate() {
            for clause in &entry.decl.clauses {
                if let ClauseKind::Tags(tags) = &clause.kind {
                    for tag in tags {
                        self.tagged.entry(tag.node.clone()).or_default().push(at);
                    }
                }
            }
        }
    }
}

fn matches_glob(text: &str, pattern: &str) -> bool {
    let text = Value::String(text.into());
    let pattern = Value::String(pattern.into());
    Builtin::Glob.eval(&[&text, &pattern]) == Ok(Value::Bool(true))
}
