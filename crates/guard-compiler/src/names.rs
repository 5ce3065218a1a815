//! Names: the declaration of each name.
//!
//! It collects the declarations of all files into one table per kind and reports duplicates. It
//! does not resolve expressions or check types. It counts uses, so that unused names can be
//! reported.

use crate::defines::{self, WrittenOut};
use crate::errors;
use crate::sources::LoadedSources;
use guard_syntax::ast::{self, Ident, ItemKind};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// Declarations of one kind by name, in source order.
pub(crate) struct NameTable<'a, T> {
    index: HashMap<&'a str, usize>,
    /// The declarations.
    pub items: Vec<Declaration<'a, T>>,
}

/// One declaration.
pub(crate) struct Declaration<'a, T> {
    pub name: &'a Ident,
    pub decl: &'a T,
    pub docs: &'a [String],
    /// True if it comes from the bundled library.
    pub bundled: bool,
    used: Cell<bool>,
}

impl<T> Default for NameTable<'_, T> {
    fn default() -> Self {
        NameTable { index: HashMap::new(), items: Vec::new() }
    }
}

impl<'a, T> NameTable<'a, T> {
    /// Returns the declaration of this name and marks it as used.
    pub fn get(&self, name: &str) -> Option<usize> {
        let at = *self.index.get(name)?;
        self.items[at].used.set(true);
        Some(at)
    }

    /// Returns the declaration of this name without marking it as used.
    pub fn peek(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Returns the position of the name of a declaration.
    fn span(&self, name: &str) -> Option<Span> {
        self.peek(name).map(|at| self.items[at].name.span)
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + Clone + '_ {
        self.items.iter().map(|e| e.name.node.as_str())
    }

    /// Returns the names that are declared in the guard's own files and are never used.
    pub fn unused(&self) -> impl Iterator<Item = &Declaration<'a, T>> {
        self.items.iter().filter(|e| !e.used.get() && !e.bundled)
    }
}

/// Every declaration of a guard.
#[derive(Default)]
pub(crate) struct Names<'a> {
    pub header: Option<&'a ast::Header>,
    pub default_allow: Option<Span>,
    pub deadline: Option<&'a ast::Literal>,
    pub enums: NameTable<'a, ast::Enum>,
    pub records: NameTable<'a, ast::RecordDecl>,
    pub unions: NameTable<'a, ast::Union>,
    pub aliases: NameTable<'a, ast::Alias>,
    pub defines: NameTable<'a, ast::Define>,
    /// The size of each define with its uses replaced; `None` if the define has an error.
    pub written_out: Vec<Option<WrittenOut>>,
    pub state: NameTable<'a, ast::StateVar>,
    pub budgets: NameTable<'a, ast::Budget>,
    pub tools: NameTable<'a, ast::Tool>,
    pub groups: NameTable<'a, ast::Group>,
    pub policies: NameTable<'a, ast::Policy>,
    /// The modes of the policies that are properties, by name.
    pub properties: HashMap<&'a str, ast::PropertyMode>,
    pub invariants: NameTable<'a, ast::Invariant>,
    pub facts: NameTable<'a, ast::Fact>,
    pub lifecycles: NameTable<'a, ast::Lifecycle>,
    pub probes: NameTable<'a, ast::Probe>,
    pub feedbacks: NameTable<'a, ast::Feedback>,
    pub attests: NameTable<'a, ast::Attest>,
    pub goals: NameTable<'a, ast::Goal>,
    pub contracts: NameTable<'a, ast::Contract>,
    pub sources: Vec<&'a ast::Source>,
    pub statements: Vec<&'a ast::Statement>,
    pub completion: Option<(&'a ast::Completion, Span)>,
    pub tests: Vec<(&'a ast::Test, Span)>,
    /// The JSON Schemas of contracts, by the position of their clause.
    pub schemas: Option<&'a HashMap<Span, String>>,
    /// The variants that were named, so that the use of a variant counts as a use of its enum.
    pub variants: RefCell<HashSet<String>>,
}

/// Collects the declarations of all files; the first file is the root.
pub(crate) fn resolve<'a>(
    sources: &'a LoadedSources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Names<'a> {
    let mut collector = Collector {
        names: Names::default(),
        types: HashMap::new(),
        wires: HashMap::new(),
        diagnostics,
    };
    collector.names.schemas = Some(&sources.schemas);
    collector.names.header = sources.trees[0].header.as_ref();
    for (at, tree) in sources.trees.iter().enumerate() {
        for item in &tree.items {
            collector.item(item, at == 0, sources.bundled[at]);
        }
    }
    let mut names = collector.names;
    names.written_out = defines::written_out(&names.defines, diagnostics);
    names
}

struct Collector<'a, 'd> {
    names: Names<'a>,
    /// Enums, records and aliases share one namespace.
    types: HashMap<&'a str, Span>,
    /// Wire names of tools.
    wires: HashMap<&'a str, Span>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// The docs of an item, and true if the item comes from the bundled library.
type ItemDocs<'a> = (&'a [String], bool);

fn add<'a, T>(
    table: &mut NameTable<'a, T>,
    what: &str,
    name: &'a Ident,
    decl: &'a T,
    (docs, bundled): ItemDocs<'a>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let at = table.items.len();
    if let Some(first) = table.index.get(name.node.as_str()) {
        diagnostics.push(errors::duplicate(what, name, table.items[*first].name.span));
        return;
    }
    table.index.insert(&name.node, at);
    table.items.push(Declaration { name, decl, docs, bundled, used: Cell::new(false) });
}

pub(crate) const BUILTIN_TYPES: [&str; 12] = [
    "bool", "int", "decimal", "string", "path", "url", "command", "duration", "time", "json",
    "Weekday", "Origin",
];

impl<'a> Collector<'a, '_> {
    fn item(&mut self, item: &'a ast::FileItem, root: bool, bundled: bool) {
        let names = &mut self.names;
        let docs = (item.docs.as_slice(), bundled);
        let d = &mut *self.diagnostics;
        match &item.kind {
            ItemKind::Use(_) => {}
            ItemKind::DefaultAllow => names.default_allow = Some(item.span.0),
            ItemKind::Deadline(deadline) => match names.deadline {
                Some(first) => d.push(errors::said_twice("the deadline", item.span.0, first.span)),
                None => names.deadline = Some(deadline),
            },
            ItemKind::Enum(_) | ItemKind::Record(_) | ItemKind::Union(_) | ItemKind::Alias(_) => {
                self.declared_type(&item.kind, docs);
            }
            ItemKind::State(vars) => {
                for x in vars {
                    // An unqualified name, or `name[key]`, can refer to each of them.
                    match names.other_value(&x.name.node, &names.state) {
                        Some(first) => d.push(errors::duplicate(VALUES, &x.name, first)),
                        None => {
                            add(&mut names.state, "variable", &x.name, x, (&x.docs, bundled), d)
                        }
                    }
                }
            }
            ItemKind::Define(x) => match names.other_value(&x.name.node, &names.defines) {
                _ if defines::is_built_in(&x.name.node) => {
                    d.push(errors::built_in_name("define", &x.name));
                }
                Some(first) => d.push(errors::duplicate(VALUES, &x.name, first)),
                None => add(&mut names.defines, "define", &x.name, x, docs, d),
            },
            ItemKind::Budget(x) => add(&mut names.budgets, "budget", &x.unit, x, docs, d),
            ItemKind::Tool(x) => self.tool(x, docs),
            ItemKind::Group(x) => match names.tools.span(&x.name.node) {
                Some(first) => d.push(errors::duplicate("tool or group", &x.name, first)),
                None => add(&mut names.groups, "group", &x.name, x, docs, d),
            },
            ItemKind::Policy(x) => add(&mut names.policies, "policy", &x.name, x, docs, d),
            ItemKind::Property(x) => self.property(x, docs),
            ItemKind::Invariant(x) => add(&mut names.invariants, "invariant", &x.name, x, docs, d),
            ItemKind::Fact(x) => match names.other_value(&x.name.node, &names.facts) {
                Some(first) => d.push(errors::duplicate(VALUES, &x.name, first)),
                None => add(&mut names.facts, "fact", &x.name, x, docs, d),
            },
            ItemKind::Source(x) => names.sources.push(x),
            // The tool and the variable of a statement are declared like any other.
            ItemKind::Statement(x) => names.statements.push(x),
            ItemKind::Lifecycle(x) => add(&mut names.lifecycles, "lifecycle", &x.name, x, docs, d),
            ItemKind::Probe(x) => add(&mut names.probes, "probe", &x.name, x, docs, d),
            ItemKind::Feedback(x) => add(&mut names.feedbacks, "feedback", &x.name, x, docs, d),
            ItemKind::Completion(x) => match names.completion {
                Some((_, first)) => {
                    d.push(errors::said_twice("the completion", item.span.0, first))
                }
                None => names.completion = Some((x, item.span.0)),
            },
            ItemKind::Attest(x) => add(&mut names.attests, "attest", &x.name, x, docs, d),
            ItemKind::Goal(x) => add(&mut names.goals, "goal", &x.name, x, docs, d),
            ItemKind::Contract(x) => add(&mut names.contracts, "contract", &x.name, x, docs, d),
            ItemKind::Test(x) => names.tests.extend(root.then_some((x, item.span.0))),
        }
    }

    fn declared_type(&mut self, kind: &'a ItemKind, docs: ItemDocs<'a>) {
        let name = match kind {
            ItemKind::Enum(x) => &x.name,
            ItemKind::Record(x) => &x.name,
            ItemKind::Union(x) => &x.name,
            ItemKind::Alias(x) => &x.name,
            _ => return,
        };
        if !self.type_name(name) {
            return;
        }
        let names = &mut self.names;
        let d = &mut *self.diagnostics;
        match kind {
            ItemKind::Enum(x) => add(&mut names.enums, "enum", name, x, docs, d),
            ItemKind::Record(x) => add(&mut names.records, "record", name, x, docs, d),
            ItemKind::Union(x) => add(&mut names.unions, "union", name, x, docs, d),
            ItemKind::Alias(x) => add(&mut names.aliases, "type", name, x, docs, d),
            _ => {}
        }
    }

    fn property(&mut self, property: &'a ast::Property, docs: ItemDocs<'a>) {
        let names = &mut self.names;
        let name = &property.policy.name;
        if names.policies.peek(&name.node).is_none() {
            names.properties.insert(&name.node, property.mode);
        }
        let policies = &mut names.policies;
        add(policies, "policy or property", name, &property.policy, docs, self.diagnostics);
    }

    fn tool(&mut self, tool: &'a ast::Tool, docs: ItemDocs<'a>) {
        if let Some(first) = self.names.groups.span(&tool.name.node) {
            self.diagnostics.push(errors::duplicate("tool or group", &tool.name, first));
            return;
        }
        let known = self.names.tools.items.len();
        add(&mut self.names.tools, "tool", &tool.name, tool, docs, self.diagnostics);
        if known == self.names.tools.items.len() {
            return;
        }
        let wire = tool.real_name.as_ref().unwrap_or(&tool.name);
        if let Some(first) = self.wires.insert(&wire.node, wire.span) {
            self.diagnostics.push(errors::duplicate("tool", wire, first));
        }
    }

    fn type_name(&mut self, name: &'a Ident) -> bool {
        if BUILTIN_TYPES.contains(&name.node.as_str()) {
            let d = errors::duplicate("type", name, name.span).label("this type is built in");
            self.diagnostics.push(Diagnostic { secondary: Vec::new(), ..d });
            return false;
        }
        if let Some(first) = self.types.get(name.node.as_str()) {
            self.diagnostics.push(errors::duplicate("type", name, *first));
            return false;
        }
        self.types.insert(&name.node, name.span);
        true
    }
}

/// The kinds of declarations in one namespace.
const VALUES: &str = "variable, fact or define";

impl Names<'_> {
    /// Returns the variable, fact or define of this name and the position of its declaration. All
    /// three kinds share one namespace.
    pub fn value(&self, name: &str) -> Option<(&'static str, Span)> {
        let state = self.state.span(name).map(|span| ("variable", span));
        let fact = || self.facts.span(name).map(|span| ("fact", span));
        state.or_else(fact).or_else(|| self.defines.span(name).map(|span| ("define", span)))
    }

    /// Like [`Names::value`], but without the declaration's own table, which reports duplicates
    /// itself.
    fn other_value<T>(&self, name: &str, own: &NameTable<T>) -> Option<Span> {
        self.value(name).filter(|_| own.peek(name).is_none()).map(|(_, span)| span)
    }

    /// Reports unused declarations. If there are errors, the intended uses are unknown, so nothing
    /// is reported.
    pub fn report_unused(&self, diagnostics: &mut Vec<Diagnostic>) {
        if diagnostics.iter().any(Diagnostic::is_error) {
            return;
        }
        let named = self.variants.borrow();
        for e in self.enums.unused() {
            if !e.decl.variants.iter().any(|v| named.contains(&v.name.node)) {
                diagnostics.push(errors::unused("enum", e.name));
            }
        }
        diagnostics.extend(self.records.unused().map(|e| errors::unused("record", e.name)));
        diagnostics.extend(self.unions.unused().map(|e| errors::unused("union", e.name)));
        diagnostics.extend(self.aliases.unused().map(|e| errors::unused("type", e.name)));
        diagnostics.extend(self.defines.unused().map(|e| errors::unused("define", e.name)));
        diagnostics.extend(self.state.unused().map(|e| errors::unused("variable", e.name)));
        diagnostics.extend(self.groups.unused().map(|e| errors::unused("group", e.name)));
        diagnostics.extend(self.facts.unused().map(|e| errors::unused("fact", e.name)));
        diagnostics.extend(self.probes.unused().map(|e| errors::unused("probe", e.name)));
        diagnostics.extend(self.attests.unused().map(|e| errors::unused("attest", e.name)));
    }
}
