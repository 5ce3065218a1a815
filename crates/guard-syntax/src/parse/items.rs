//! Items: from the node of an item to its tree.

use super::build::TreeBuilder;
use super::grammar::{self, ChildNodes, Rule, SyntaxNode};
use super::{Chunk, Parser};
use crate::ast::{
    Alias, Budget, Clause, Define, Enum, Fact, FileItem, Group, Header, Ident, Invariant,
    InvariantMode, ItemKind, Member, Policy, Property, PropertyMode, RecordDecl, Source, SpanEq,
    Spanned, StateVar, Statement, Tool, ToolSet, Union, UnionCase, UseTarget, Variant,
};

/// The name of a guard whose name is invalid.
const UNNAMED: &str = "unnamed";

/// Returns the rule of the item that a keyword begins.
pub(super) fn rule_of(keyword: &str) -> Option<Rule> {
    Some(match keyword {
        "use" => Rule::use_item,
        "default" => Rule::default_allow,
        "enum" => Rule::enum_item,
        "record" => Rule::record,
        "union" => Rule::union_item,
        "type" => Rule::alias,
        "define" => Rule::define,
        "state" => Rule::state,
        "budget" => Rule::budget,
        "deadline" => Rule::deadline,
        "tool" => Rule::tool,
        "group" => Rule::group,
        "policy" => Rule::policy,
        "property" => Rule::property,
        "invariant" => Rule::invariant,
        "fact" => Rule::fact,
        "statement" => Rule::stated,
        "source" => Rule::source,
        "lifecycle" => Rule::lifecycle,
        "probe" => Rule::probe,
        "feedback" => Rule::feedback,
        "completion" => Rule::completion,
        "attest" => Rule::attest,
        "goal" => Rule::goal,
        "contract" => Rule::contract,
        "test" => Rule::test,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn read_header(&mut self, chunk: Chunk) -> Header {
        let (start, end) = self.bounds(chunk);
        let node = grammar::prefix(Rule::header, &self.text[start..end]);
        if node.as_ref().is_none_or(|node| node.as_str().len() < end - start) {
            self.explain_header(chunk);
        }
        self.builder.base = start as i64;
        // A guard with an invalid name is still a guard: its items are checked, and nobody is told
        // that the line is missing.
        let span = self.chunk_span(chunk);
        let unnamed = Header {
            name: Ident { node: UNNAMED.into(), span },
            edition: None,
            shadow: false,
            span: SpanEq(span),
        };
        node.and_then(|node| self.builder.header(node)).unwrap_or(unnamed)
    }
}

impl TreeBuilder<'_> {
    fn header(&mut self, node: SyntaxNode) -> Option<Header> {
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        let name = self.name(&mut parts)?;
        let edition = self.optional(&mut parts, Rule::edition, Self::take_literal)?;
        Some(Header { name, edition, shadow: parts.has(Rule::shadow), span })
    }

    /// Builds the item whose text begins at `base` in the file.
    pub fn item(&mut self, base: i64, node: SyntaxNode) -> Option<FileItem> {
        self.base = base;
        self.too_deep = false;
        let errors = self.diagnostics.len();
        let docs = self.docs(&node);
        let span = self.span_eq(&node);
        let kind = self.item_kind(node);
        debug_assert!(
            kind.is_some() || self.diagnostics.len() > errors,
            "an item vanished without a word"
        );
        Some(FileItem { docs, kind: kind?, span })
    }

    fn item_kind(&mut self, node: SyntaxNode) -> Option<ItemKind> {
        let rule = node.as_rule();
        let mut parts = ChildNodes::new(node);
        Some(match rule {
            Rule::use_item => ItemKind::Use(self.use_target(parts)?),
            Rule::default_allow => ItemKind::DefaultAllow,
            Rule::enum_item => ItemKind::Enum(self.enumeration(parts)?),
            Rule::record => {
                let name = self.name(&mut parts)?;
                ItemKind::Record(RecordDecl { name, fields: self.fields(parts.next()?)? })
            }
            Rule::union_item => ItemKind::Union(self.union(parts)?),
            Rule::alias => {
                let name = self.name(&mut parts)?;
                ItemKind::Alias(Alias { name, ty: self.take_type(&mut parts)? })
            }
            Rule::define => ItemKind::Define(self.define(parts)?),
            Rule::state => ItemKind::State(parts.map(|v| self.variable(v)).collect::<Option<_>>()?),
            Rule::budget => {
                let unit = self.name(&mut parts)?;
                let amount = self.take_literal(&mut parts)?;
                ItemKind::Budget(Budget { unit, amount, host: parts.has(Rule::host_word) })
            }
            Rule::deadline => ItemKind::Deadline(self.take_literal(&mut parts)?),
            Rule::tool => ItemKind::Tool(self.tool(parts)?),
            Rule::group => {
                let name = self.name(&mut parts)?;
                ItemKind::Group(Group { name, members: self.take_tool_set(&mut parts)? })
            }
            Rule::policy => ItemKind::Policy(self.policy(parts)?),
            Rule::property => ItemKind::Property(self.property(parts)?),
            Rule::invariant => ItemKind::Invariant(self.invariant(parts)?),
            Rule::fact => {
                let name = self.name(&mut parts)?;
                let columns = self.fields(parts.next()?)?;
                let max = self.take_max(&mut parts);
                ItemKind::Fact(Fact { name, columns, max, halts: parts.has(Rule::else_halt) })
            }
            Rule::stated => {
                let name = self.name(&mut parts)?;
                let params = self.fields(parts.next()?)?;
                let max = self.take_max(&mut parts);
                let node = parts.next()?;
                let docs = self.docs(&node);
                let span = self.span_eq(&node);
                let kind = self.clause_kind(node)?;
                let approval = Clause { docs, shadow: false, kind, span };
                ItemKind::Statement(Statement { name, params, max, approval })
            }
            Rule::source => ItemKind::Source(self.source(parts)?),
            Rule::lifecycle => ItemKind::Lifecycle(self.lifecycle(parts)?),
            Rule::probe => ItemKind::Probe(self.probe(parts)?),
            Rule::feedback => ItemKind::Feedback(self.feedback(parts)?),
            Rule::completion => ItemKind::Completion(self.completion(parts)?),
            Rule::attest => ItemKind::Attest(self.attest(parts)?),
            Rule::goal => {
                let name = self.name(&mut parts)?;
                let conditions = parts.map(|e| self.expr(e)).collect::<Option<_>>()?;
                ItemKind::Goal(crate::ast::Goal { name, conditions })
            }
            Rule::contract => ItemKind::Contract(self.contract(parts)?),
            _ => ItemKind::Test(self.test(parts)?),
        })
    }

    fn union(&mut self, mut parts: ChildNodes) -> Option<Union> {
        let name = self.name(&mut parts)?;
        let tag = self.name(&mut parts)?;
        let wire = self.take_wire(&mut parts);
        let cases = parts.map(|case| self.case(case)).collect::<Option<_>>()?;
        Some(Union { name, tag, wire, cases })
    }

    pub fn case(&mut self, node: SyntaxNode) -> Option<UnionCase> {
        let mut parts = ChildNodes::new(node);
        Some(UnionCase { record: self.name(&mut parts)?, wire: self.take_wire(&mut parts) })
    }

    fn use_target(&mut self, mut parts: ChildNodes) -> Option<UseTarget> {
        if let Some(path) = self.take_string(&mut parts) {
            return Some(UseTarget::File(path));
        }
        let mut parts = parts.enter(Rule::std_name)?;
        let mut library = self.name(&mut parts)?;
        while let Some(part) = self.name(&mut parts) {
            library.node.push('.');
            library.node.push_str(&part.node);
            library.span = library.span.to(part.span);
        }
        Some(UseTarget::Std(library))
    }

    fn enumeration(&mut self, mut parts: ChildNodes) -> Option<Enum> {
        let name = self.name(&mut parts)?;
        let variants = parts.map(|v| self.variant(v)).collect::<Option<_>>()?;
        Some(Enum { name, variants })
    }

    pub fn variant(&mut self, node: SyntaxNode) -> Option<Variant> {
        let mut parts = ChildNodes::new(node);
        Some(match self.take_string(&mut parts) {
            Some(name) => Variant { name, quoted: true },
            None => Variant { name: self.name(&mut parts)?, quoted: false },
        })
    }

    fn define(&mut self, mut parts: ChildNodes) -> Option<Define> {
        let name = self.name(&mut parts)?;
        let params = match parts.accept(Rule::params) {
            Some(node) => self.fields(node)?,
            None => Vec::new(),
        };
        let ty = self.take_type(&mut parts)?;
        Some(Define { name, params, ty, value: self.take_expr(&mut parts)? })
    }

    pub fn variable(&mut self, node: SyntaxNode) -> Option<StateVar> {
        let docs = self.docs(&node);
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        let name = self.name(&mut parts)?;
        let ty = self.take_type(&mut parts)?;
        Some(StateVar { docs, name, ty, init: self.take_expr(&mut parts)?, span })
    }

    fn tool(&mut self, mut parts: ChildNodes) -> Option<Tool> {
        let real_name = self.optional(&mut parts, Rule::real_name, Self::take_string)?;
        let name = self.name(&mut parts)?;
        let params = self.fields(parts.accept(Rule::params)?)?;
        Some(Tool { real_name, name, params, clauses: self.take_clauses(&mut parts)? })
    }

    fn policy(&mut self, mut parts: ChildNodes) -> Option<Policy> {
        let name = self.name(&mut parts)?;
        parts.has(Rule::for_word);
        let tools = self.take_tool_set(&mut parts)?;
        let except =
            if parts.has(Rule::except) { Some(self.take_tool_set(&mut parts)?) } else { None };
        let shadow = parts.has(Rule::shadow);
        Some(Policy { name, tools, except, shadow, clauses: self.take_clauses(&mut parts)? })
    }

    fn property(&mut self, mut parts: ChildNodes) -> Option<Property> {
        let name = self.name(&mut parts)?;
        let mode = match parts.accept(Rule::claim).map(|node| node.as_str()) {
            Some("monitor") => PropertyMode::Monitor,
            Some(_) => PropertyMode::Proved,
            None => PropertyMode::Claimed,
        };
        let of_all = !parts.has(Rule::for_word);
        let span = SpanEq(name.span);
        let tools = if of_all {
            ToolSet { members: vec![Member::All(span)], bare: true, span }
        } else {
            self.take_tool_set(&mut parts)?
        };
        let except =
            if parts.has(Rule::except) { Some(self.take_tool_set(&mut parts)?) } else { None };
        let clauses = self.take_clauses(&mut parts)?;
        let policy = Policy { name, tools, except, shadow: false, clauses };
        Some(Property { mode, of_all, policy })
    }

    pub fn take_tool_set(&mut self, parts: &mut ChildNodes) -> Option<ToolSet> {
        let node = parts.accept(Rule::tool_set)?;
        let span = self.span_eq(&node);
        let bare = !node.as_str().starts_with('{');
        let members = ChildNodes::new(node).map(|m| self.member(m)).collect::<Option<_>>()?;
        Some(ToolSet { members, bare, span })
    }

    pub fn member(&mut self, node: SyntaxNode) -> Option<Member> {
        let inner = ChildNodes::new(node).next()?;
        Some(match inner.as_rule() {
            Rule::tag => Member::Tag(self.name(&mut ChildNodes::new(inner))?),
            Rule::all_tools => Member::All(self.span_eq(&inner)),
            Rule::string => Member::Glob(self.string(&inner)),
            _ => Member::Name(self.checked(&inner)),
        })
    }

    fn invariant(&mut self, mut parts: ChildNodes) -> Option<Invariant> {
        let name = self.name(&mut parts)?;
        let mode = match parts.accept(Rule::mode).map(|node| node.as_str()) {
            Some("monitor") => InvariantMode::Monitor,
            Some("proved") => InvariantMode::Proved,
            Some(_) => InvariantMode::Shadow,
            None => InvariantMode::Enforced,
        };
        let condition = self.take_expr(&mut parts)?;
        Some(Invariant { name, mode, condition, because: self.take_because(&mut parts) })
    }

    fn source(&mut self, mut parts: ChildNodes) -> Option<Source> {
        let name = self.name(&mut parts)?;
        let mut learns = Vec::new();
        for node in parts {
            let span = self.span(&node);
            learns.push(Spanned { node: self.learn(ChildNodes::new(node))?, span });
        }
        Some(Source { name, learns })
    }
}
