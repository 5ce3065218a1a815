//! Calls that certainly satisfy a condition, as patterns for rules of a host.
//!
//! A pattern matches fewer calls than the condition, never more. Parts that a pattern cannot
//! express are omitted, with a reason.

use guard_plan::builtin::{Builtin, SIMPLE_COMMAND};
use guard_plan::plan::{CompareOp, Expr, Node, NodeId, Plan, QuantifierOp, Tool, TypeDef, UrlPart};
use std::collections::BTreeSet;

/// The maximum number of patterns of one condition.
const MAX_PATTERNS: usize = 200;

/// The reason for a condition with more patterns.
const TOO_MANY: &str = "too many cases";

/// Calls of a tool for which a host may have a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallPattern {
    /// Every call.
    Every,
    /// A command line with a simple command that begins with these words.
    Words {
        /// The parameter that holds the command line.
        param: String,
        /// The program, and perhaps its subcommand.
        words: Vec<String>,
    },
    /// A path with this last component.
    FileName {
        /// The parameter that holds the path.
        param: String,
        /// The last component.
        name: String,
    },
    /// A path whose last component has this ending.
    FileEnding {
        /// The parameter that holds the path.
        param: String,
        /// The ending.
        ending: String,
    },
    /// This folder, or a path below it. The folder is relative to the workspace unless it starts
    /// with a slash.
    Below {
        /// The parameter that holds the path.
        param: String,
        /// The folder.
        folder: String,
    },
    /// A URL of this host.
    Host {
        /// The parameter that holds the URL.
        param: String,
        /// The host, in lower case.
        host: String,
    },
    /// An argument with exactly this text.
    Text {
        /// The parameter that holds the text.
        param: String,
        /// The text.
        text: String,
    },
}

/// The patterns that were read from a condition.
#[derive(Debug, Default)]
pub(super) struct ReadCondition {
    /// The patterns of calls that satisfy the condition.
    pub patterns: BTreeSet<CallPattern>,
    /// The reasons why some calls satisfy the condition without a pattern.
    pub missing: BTreeSet<&'static str>,
}

impl ReadCondition {
    fn from_pattern(pattern: CallPattern) -> ReadCondition {
        ReadCondition { patterns: BTreeSet::from([pattern]), ..ReadCondition::default() }
    }

    fn without(reason: &'static str) -> ReadCondition {
        ReadCondition { missing: BTreeSet::from([reason]), ..ReadCondition::default() }
    }

    fn or(mut self, other: ReadCondition) -> ReadCondition {
        self.patterns.extend(other.patterns);
        self.missing.extend(other.missing);
        if self.patterns.len() > MAX_PATTERNS {
            return ReadCondition::without(TOO_MANY);
        }
        self
    }
}

/// Reads the condition of a tool's rule.
pub(super) fn read(plan: &Plan, tool: &Tool, condition: &Expr) -> ReadCondition {
    let reader = ConditionReader { plan, tool, nodes: &condition.0 };
    match condition.0.len().checked_sub(1) {
        Some(root) => reader.node(root as NodeId, true),
        None => ReadCondition::default(),
    }
}

struct ConditionReader<'r> {
    plan: &'r Plan,
    tool: &'r Tool,
    nodes: &'r [Node],
}

/// The beginning of a simple command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Beginning {
    program: Option<String>,
    subcommand: Option<String>,
}

impl ConditionReader<'_> {
    fn get(&self, id: NodeId) -> &Node {
        match self.nodes.get(id as usize) {
            // A pattern matches only calls with the argument, so the unwrapping cannot fail.
            Some(Node::Unwrap(inner)) => self.get(*inner),
            Some(node) => node,
            None => &Node::None,
        }
    }

    /// Reads a node that must be true, or false.
    fn node(&self, id: NodeId, truth: bool) -> ReadCondition {
        match (self.get(id), truth) {
            (Node::Not(inner), _) => self.node(*inner, !truth),
            (Node::Bool(value), _) if *value == truth => {
                ReadCondition::from_pattern(CallPattern::Every)
            }
            (Node::Bool(_), _) => ReadCondition::default(),
            (Node::Or(a, b), true) | (Node::And(a, b), false) => {
                self.node(*a, truth).or(self.node(*b, truth))
            }
            (Node::Implies(a, b), true) => self.node(*a, false).or(self.node(*b, true)),
            (Node::And(a, b), true) => self.both(*a, *b),
            (Node::Compare(CompareOp::Eq, a, b), true)
            | (Node::Compare(CompareOp::Ne, a, b), false) => self.among(*a, &[*b]),
            (Node::In(a, set), true) => match self.get(*set) {
                Node::Set(items) | Node::List(items) => self.among(*a, items),
                _ => self.unread(id),
            },
            (Node::In(..), false) => ReadCondition::without("it means everything but a list"),
            (Node::Within(path, folder), _) => self.within(id, *path, *folder, truth),
            (Node::Call(Builtin::EndsWith, args), true) => self.ends_with(id, args),
            (Node::Quantified { op, over, binders, body }, _) => match (op, truth) {
                (QuantifierOp::Any, true) | (QuantifierOp::All, false) => {
                    self.commands(id, over, binders, *body, truth)
                }
                _ => self.unread(id),
            },
            _ => self.unread(id),
        }
    }

    /// Returns the result for a node that no pattern can express, with the reason.
    fn unread(&self, id: NodeId) -> ReadCondition {
        ReadCondition::without(self.reason(id))
    }

    fn reason(&self, id: NodeId) -> &'static str {
        // Children precede parents, so everything that a node reads is at or before its index.
        let below = &self.nodes[..=(id as usize).min(self.nodes.len().saturating_sub(1))];
        let session = |node: &Node| {
            matches!(
                node,
                Node::State(_)
                    | Node::Called { .. }
                    | Node::Failed { .. }
                    | Node::Calls { .. }
                    | Node::LastArg(..)
                    | Node::LastResult(_)
                    | Node::Temporal(_)
                    | Node::Remaining(_)
                    | Node::Spent(_)
                    | Node::Known(..)
                    | Node::Rows(_)
                    | Node::Row(..)
                    | Node::Said
                    | Node::Origin(_)
                    | Node::Seen(_)
                    | Node::MayRead(..)
            )
        };
        let world = |node: &Node| {
            matches!(
                node,
                Node::Exists(_) | Node::Probe(_) | Node::Now | Node::Elapsed | Node::Clock(_)
            )
        };
        match () {
            () if below.iter().any(session) => "it depends on what the session has done",
            () if below.iter().any(world) => "it reads files, probes or the clock",
            () => "the host has no rule of this form",
        }
    }

    /// Reads the conjunction of two conditions. A pattern is possible only if one of them implies
    /// that the argument of the other is present.
    fn both(&self, a: NodeId, b: NodeId) -> ReadCondition {
        let is_there = |id: NodeId| matches!(self.get(id), Node::IsSome(inner) if matches!(self.get(*inner), Node::Param(_)));
        match (is_there(a), is_there(b)) {
            (true, _) => self.node(b, true),
            (false, true) => self.node(a, true),
            (false, false) => match self.reason(b) {
                "the host has no rule of this form" => {
                    ReadCondition::without("it means several conditions at once")
                }
                reason => ReadCondition::without(reason),
            },
        }
    }

    fn within(&self, id: NodeId, path: NodeId, folder: NodeId, truth: bool) -> ReadCondition {
        if !truth {
            return ReadCondition::without("it means everything outside of a folder");
        }
        match (self.get(path), self.get(folder)) {
            (Node::Param(param), Node::Path(literal)) => {
                let folder = self.plan.paths.get(*literal as usize).cloned().unwrap_or_default();
                let folder = folder.trim_end_matches('/').to_owned();
                let plain = folder
                    .trim_start_matches('/')
                    .split('/')
                    .all(|part| !matches!(part, "" | "." | ".."));
                if plain {
                    ReadCondition::from_pattern(CallPattern::Below {
                        param: self.param(*param),
                        folder,
                    })
                } else {
                    self.unread(id)
                }
            }
            _ => self.unread(id),
        }
    }

    fn ends_with(&self, id: NodeId, args: &[NodeId]) -> ReadCondition {
        let [text, ending] = args else { return self.unread(id) };
        match (self.get(*text), self.get(*ending)) {
            (Node::Call(Builtin::FileName, path), Node::String(ending)) => {
                match path.first().map(|p| self.get(*p)) {
                    Some(Node::Param(param)) => {
                        let param = self.param(*param);
                        let ending = ending.clone();
                        ReadCondition::from_pattern(CallPattern::FileEnding { param, ending })
                    }
                    _ => self.unread(id),
                }
            }
            _ => self.unread(id),
        }
    }

    /// Reads the condition that an argument, or a part of it, is one of these values.
    fn among(&self, subject: NodeId, values: &[NodeId]) -> ReadCondition {
        let mut read = ReadCondition::default();
        for value in values {
            let pattern = self.equals(self.get(subject), self.get(*value));
            read =
                read.or(pattern.map_or_else(|| self.unread(subject), ReadCondition::from_pattern));
        }
        read
    }

    fn equals(&self, subject: &Node, value: &Node) -> Option<CallPattern> {
        match (subject, value) {
            (Node::Param(param), Node::String(text)) => {
                Some(CallPattern::Text { param: self.param(*param), text: text.clone() })
            }
            (Node::Param(param), Node::Enum(variant)) => {
                let text = self.variant(*param, *variant)?;
                Some(CallPattern::Text { param: self.param(*param), text })
            }
            (Node::UrlPart(url, UrlPart::Host), Node::String(host)) => match self.get(*url) {
                Node::Param(param) => {
                    Some(CallPattern::Host { param: self.param(*param), host: host.clone() })
                }
                _ => None,
            },
            (Node::Call(Builtin::FileName, args), Node::String(name)) => {
                match args.first().map(|path| self.get(*path)) {
                    Some(Node::Param(param)) => Some(CallPattern::FileName {
                        param: self.param(*param),
                        name: name.clone(),
                    }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn param(&self, param: u32) -> String {
        self.tool.params.get(param as usize).map_or_else(String::new, |field| field.name.clone())
    }

    fn variant(&self, param: u32, variant: u32) -> Option<String> {
        let mut ty = self.tool.params.get(param as usize)?.ty;
        if let TypeDef::Option { of } = self.plan.types.get(ty as usize)? {
            ty = *of;
        }
        match self.plan.types.get(ty as usize)? {
            TypeDef::Enum { variants, .. } => variants.get(variant as usize).cloned(),
            _ => None,
        }
    }

    /// Reads the condition that the body is true, or false, for some simple command of a line.
    fn commands(
        &self,
        id: NodeId,
        over: &[NodeId],
        binders: &[u32],
        body: NodeId,
        truth: bool,
    ) -> ReadCondition {
        let line = match over.first().map(|over| self.get(*over)) {
            Some(Node::Call(Builtin::Commands, args)) => args.first().map(|line| self.get(*line)),
            _ => None,
        };
        let (Some(Node::Param(param)), [each]) = (line, binders) else { return self.unread(id) };
        let mut missing = BTreeSet::new();
        let beginnings = self.beginnings(body, *each, truth, &mut missing);
        let param = self.param(*param);
        let mut read = ReadCondition { missing, ..ReadCondition::default() };
        for beginning in beginnings {
            let words: Option<Vec<String>> = beginning
                .program
                .map(|program| [program].into_iter().chain(beginning.subcommand).collect());
            match words.filter(|words| words.iter().all(|word| is_plain(word))) {
                Some(words) => {
                    read = read.or(ReadCondition::from_pattern(CallPattern::Words {
                        param: param.clone(),
                        words,
                    }));
                }
                None => _ = read.missing.insert("it means more than a program and its subcommand"),
            }
        }
        read
    }

    /// Returns the beginnings of commands for which a node is certainly true, or false.
    fn beginnings(
        &self,
        id: NodeId,
        each: u32,
        truth: bool,
        missing: &mut BTreeSet<&'static str>,
    ) -> BTreeSet<Beginning> {
        let any = Beginning { program: None, subcommand: None };
        let field = |id: NodeId| match self.get(id) {
            Node::Field(inner, field) if *self.get(*inner) == Node::Local(each) => {
                SIMPLE_COMMAND.get(*field as usize).map(|(name, _)| *name)
            }
            _ => None,
        };
        match (self.get(id), truth) {
            (Node::Not(inner), _) => self.beginnings(*inner, each, !truth, missing),
            (Node::Or(a, b), true) | (Node::And(a, b), false) => {
                let mut both = self.beginnings(*a, each, truth, missing);
                both.extend(self.beginnings(*b, each, truth, missing));
                both
            }
            (Node::And(a, b), true) | (Node::Or(a, b), false) => {
                let left = self.beginnings(*a, each, truth, missing);
                let right = self.beginnings(*b, each, truth, missing);
                joined(&left, &right).unwrap_or_else(|| {
                    missing.insert(TOO_MANY);
                    BTreeSet::new()
                })
            }
            (Node::Compare(CompareOp::Eq, a, b), true)
            | (Node::Compare(CompareOp::Ne, a, b), false) => self.begins(field(*a), &[*b], missing),
            (Node::In(a, set), true) => match self.get(*set) {
                Node::Set(items) | Node::List(items) => self.begins(field(*a), items, missing),
                _ => self.begins(None, &[], missing),
            },
            (Node::In(a, _), false) if matches!(field(*a), Some("program" | "subcommand")) => {
                missing.insert("it means every program or subcommand but a list");
                BTreeSet::new()
            }
            // A literal program is certain.
            (Node::Field(..), true) if field(id) == Some("certain") => BTreeSet::from([any]),
            _ => self.begins(None, &[], missing),
        }
    }

    fn begins(
        &self,
        field: Option<&str>,
        values: &[NodeId],
        missing: &mut BTreeSet<&'static str>,
    ) -> BTreeSet<Beginning> {
        let texts = values.iter().filter_map(|value| match self.get(*value) {
            Node::String(text) => Some(text.clone()),
            _ => None,
        });
        match field {
            Some("program") => {
                texts.map(|text| Beginning { program: Some(text), subcommand: None }).collect()
            }
            Some("subcommand") => {
                texts.map(|text| Beginning { program: None, subcommand: Some(text) }).collect()
            }
            _ => {
                missing.insert("it means words, options or files anywhere in a command");
                BTreeSet::new()
            }
        }
    }
}

/// Returns the beginnings that are in both sets; `None` if there are too many.
fn joined(left: &BTreeSet<Beginning>, right: &BTreeSet<Beginning>) -> Option<BTreeSet<Beginning>> {
    let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) if a != b => Err(()),
        (a, b) => Ok(a.clone().or_else(|| b.clone())),
    };
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
    let mut joined = BTreeSet::new();
    for (a, b) in pairs {
        if let (Ok(program), Ok(subcommand)) =
            (same(&a.program, &b.program), same(&a.subcommand, &b.subcommand))
        {
            joined.insert(Beginning { program, subcommand });
        }
        if joined.len() > MAX_PATTERNS {
            return None;
        }
    }
    Some(joined)
}

/// Returns true if a shell and every host read a word as it is written.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+/-".contains(c);
    !word.is_empty() && word.chars().all(plain)
}
