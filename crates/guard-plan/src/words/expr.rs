//! Expressions of a plan in the author's notation. What names need of types is in `types`.

mod types;

use super::duration;
use super::ty::open;
use crate::builtin::Builtin;
use crate::plan::{
    ArithOp, ClockPart, CompareOp, Expr, Message, Node, NodeId, Part, Plan, QuantifierOp, Range,
    TemporalOp, Tool, TypeDef, TypeId, UrlPart, WindowSize,
};
use crate::{decimal, render};
use types::TypeHint;

/// The context of the names in an expression: the plan, and the tool whose parameters it reads.
#[derive(Clone, Copy)]
pub struct Shows<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The tool, if the expression belongs to one.
    pub tool: Option<&'a Tool>,
    /// The ranges around the expression, whose elements the expression may name.
    pub ranges: &'a [Range],
}

/// Formats an expression.
pub fn expr(shows: &Shows, expr: &Expr) -> String {
    typed(shows, expr, None)
}

/// Formats an expression whose type is known from its place, so that a variant of an enum has its name.
pub fn typed(shows: &Shows, expr: &Expr, ty: Option<TypeId>) -> String {
    let printer = Printer { shows, nodes: &expr.0 };
    let root = expr.0.len().checked_sub(1);
    root.map_or_else(|| "?".into(), |root| printer.node(root as NodeId, 0, ty.map(TypeHint::Type)))
}

/// Formats a part of an expression.
pub fn node(shows: &Shows, expr: &Expr, node: NodeId) -> String {
    Printer { shows, nodes: &expr.0 }.node(node, 0, None)
}

/// Formats a message as it is written, with its values in braces.
pub fn template(message: &Message) -> String {
    message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(show) => format!("{{{}}}", show.label),
        })
        .collect()
}

struct Printer<'a> {
    shows: &'a Shows<'a>,
    nodes: &'a [Node],
}

impl Printer<'_> {
    /// Formats a node, in parentheses if it binds less tightly than `tight`. Children precede
    /// parents, so the recursion ends.
    fn node(&self, id: NodeId, tight: u8, hint: Option<TypeHint>) -> String {
        let Some(node) = self.nodes.get(id as usize) else {
            return "?".into();
        };
        let (level, text) = self.level(node, id, hint);
        if level < tight { format!("({text})") } else { text }
    }

    /// Returns the binding level of a node (see the syntax reference) and its text.
    fn level(&self, node: &Node, id: NodeId, hint: Option<TypeHint>) -> (u8, String) {
        let sub = |child: &NodeId, tight: u8| self.node(*child, tight, None);
        let two = |a: &NodeId, op: &str, b: &NodeId, left: u8, right: u8| {
            format!(
                "{} {op} {}",
                self.node(*a, self.clear(node, *a, left), self.hint(*b).or(hint)),
                self.node(*b, self.clear(node, *b, right), self.hint(*a).or(hint))
            )
        };
        match node {
            Node::Implies(a, b) => (1, two(a, "implies", b, 2, 1)),
            Node::Or(a, b) => (2, two(a, "or", b, 2, 3)),
            Node::And(a, b) => (3, two(a, "and", b, 3, 4)),
            Node::Not(a) => (4, format!("not {}", sub(a, self.clear(node, *a, 4)))),
            Node::Compare(op, a, b) => (5, two(a, compare(*op), b, 6, 6)),
            Node::In(a, b) => (5, two(a, "in", b, 6, 6)),
            Node::Matches(a, regex) => {
                let regex =
                    self.shows.plan.regexes.get(*regex as usize).map_or("?", String::as_str);
                (5, format!("{} matches /{regex}/", sub(a, self.clear(node, *a, 6))))
            }
            Node::IsSome(a) => (5, format!("{} is some", sub(a, self.clear(node, *a, 6)))),
            Node::Within(a, b) => (6, two(a, "within", b, 6, 7)),
            Node::Arith(op, a, b) => {
                let (level, sign) = arith(*op);
                (level, two(a, sign, b, level, level + 1))
            }
            Node::Call(Builtin::Concat, args) if args.len() == 2 => {
                (7, two(&args[0], "+", &args[1], 7, 8))
            }
            Node::Else(a, b) => (9, two(a, "else", b, 10, 9)),
            Node::Neg(a) => (10, format!("-{}", sub(a, 10))),
            Node::If(c, a, b) => {
                let then = self.node(*a, 10, hint);
                let other = self.node(*b, 0, hint);
                (0, format!("if {} then {then} else {other}", sub(c, 1)))
            }
            Node::Quantified { op, over, binders, body } => {
                self.quantified(*op, over, binders, *body)
            }
            Node::Temporal(monitor) => (4, self.temporal(*monitor)),
            Node::Unwrap(a) => (11, self.node(*a, 11, hint)),
            _ => (11, self.primary(node, id, hint)),
        }
    }

    /// Returns the binding level of an operand. It adds parentheses around `else` and around `and`
    /// within `or`, because readers do not know how tightly these bind.
    fn clear(&self, parent: &Node, child: NodeId, level: u8) -> u8 {
        match (parent, self.nodes.get(child as usize)) {
            (Node::Else(..), _) => level,
            (_, Some(Node::Else(..))) | (Node::Or(..), Some(Node::And(..))) => 11,
            _ => level,
        }
    }

    fn primary(&self, node: &Node, id: NodeId, hint: Option<TypeHint>) -> String {
        let sub = |child: &NodeId, tight: u8| self.node(*child, tight, None);
        let all = |children: &[NodeId]| -> String {
            children
                .iter()
                .map(|c| self.node(*c, 0, self.elements(hint)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let plan = self.shows.plan;
        match node {
            Node::Param(n) => self.param(*n),
            Node::State(var) => {
                plan.state.get(*var as usize).map_or("?".into(), |v| v.name.clone())
            }
            Node::Field(a, field) => format!("{}.{}", sub(a, 11), self.field(*a, *field)),
            Node::Member(a, name) => format!("{}.{name}", sub(a, 11)),
            Node::UrlPart(a, part) => format!("{}.{}", sub(a, 11), url_part(*part)),
            Node::Index(a, key) => format!("{}[{}]", sub(a, 11), self.key(*a, *key)),
            // The text of a key is written like the key.
            Node::ToKey(a, ty) => self.node(*a, 11, Some(TypeHint::Type(*ty))),
            Node::FromKey(a, _) => sub(a, 11),
            Node::Row(fact, keys) => format!("{}[{}]", self.fact(*fact), self.columns(*fact, keys)),
            Node::Rows(fact) => self.fact(*fact).into(),
            Node::Known(fact, args) => {
                format!("known {}({})", self.fact(*fact), self.columns(*fact, args))
            }
            Node::List(items) => format!("[{}]", all(items)),
            Node::Set(items) => format!("{{{}}}", all(items)),
            Node::Map(entries) => {
                let entry = |(key, value): &(String, NodeId)| {
                    let value = self.node(*value, 0, self.elements(hint));
                    if render::is_bare_key(key) {
                        format!("{key}: {value}")
                    } else {
                        format!("{key:?}: {value}")
                    }
                };
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
            Node::Record(fields) => self.record(fields, hint),
            Node::Call(builtin, args) => {
                let row = builtin.row();
                format!("{}({})", row.name, all(&args[..row.written().min(args.len())]))
            }
            Node::Exists(a) => format!("exists({})", sub(a, 0)),
            Node::Origin(a) => format!("origin({})", sub(a, 0)),
            Node::Seen(a) => format!("seen({})", sub(a, 0)),
            Node::MayRead(who, text) => format!("may_read({}, {})", sub(who, 0), sub(text, 0)),
            Node::Probe(probe) => {
                format!(
                    "probe {}",
                    plan.probes.get(*probe as usize).map_or("?", |p| p.name.as_str())
                )
            }
            Node::Enum(variant) => self.variant(*variant, hint),
            Node::Remaining(unit) => format!("remaining({})", self.unit(*unit)),
            Node::Spent(unit) => format!("spent({})", self.unit(*unit)),
            Node::Local(slot) => local(*slot),
            _ => self.constant(node).unwrap_or_else(|| self.history(node, id)),
        }
    }

    /// Formats a key, without quotes if the keys of the collection are not strings.
    fn key(&self, collection: NodeId, key: NodeId) -> String {
        let ty = self.ty(collection).map(|ty| open(self.shows.plan, ty));
        let ty = ty.and_then(|ty| self.shows.plan.types.get(ty as usize));
        match (ty, self.nodes.get(key as usize)) {
            (Some(TypeDef::Map { key: Some(_), .. }), Some(Node::String(text))) => text.clone(),
            _ => self.node(key, 0, None),
        }
    }

    /// Formats a record, with the names of its fields if its type is known.
    fn record(&self, fields: &[NodeId], hint: Option<TypeHint>) -> String {
        let field = |(at, value): (usize, &NodeId)| {
            let known = match hint {
                Some(TypeHint::Type(id)) => self.record_field(id, at as u32),
                _ => None,
            };
            match known {
                Some((name, ty)) => {
                    format!("{name}: {}", self.node(*value, 0, Some(TypeHint::Type(ty))))
                }
                None => self.node(*value, 0, None),
            }
        };
        let fields: Vec<String> = fields.iter().enumerate().map(field).collect();
        format!("{{{}}}", fields.join(", "))
    }

    fn constant(&self, node: &Node) -> Option<String> {
        Some(match node {
            Node::None => "none".into(),
            Node::Bool(b) => b.to_string(),
            Node::Int(n) => n.to_string(),
            Node::Decimal(n) => decimal::format(*n),
            Node::String(s) | Node::Url(s) => quoted(s),
            Node::Path(path) => {
                quoted(self.shows.plan.paths.get(*path as usize).map_or("?", String::as_str))
            }
            Node::Duration(d) => duration(*d),
            Node::Time(t) => crate::time::format_rfc3339(*t),
            Node::Result => "result".into(),
            Node::Workspace => "workspace".into(),
            Node::Text => "text".into(),
            Node::Now => "now".into(),
            Node::Elapsed => "elapsed".into(),
            Node::RemainingTime => "remaining(deadline)".into(),
            Node::Clock(part) => format!("clock.{}", clock(*part)),
            _ => return None,
        })
    }

    fn history(&self, node: &Node, _: NodeId) -> String {
        let plan = self.shows.plan;
        let tool = |id: u32| plan.tools.get(id as usize);
        let name = |id: u32| tool(id).map_or("?", |t| t.name.as_str());
        let tail = |since: &Option<u32>, within: &Option<i64>| {
            let since = since.map(|s| format!(" since {}", name(s))).unwrap_or_default();
            let within = within.map(|d| format!(" within {}", duration(d))).unwrap_or_default();
            format!("{since}{within}")
        };
        match node {
            Node::Called { tool: other, key, since, within } => {
                let keys = key.as_ref().map(|(index, values)| {
                    let params = plan.indexes.get(*index as usize).map_or(&[][..], |i| &i.params);
                    let arg = |(p, v): (&u32, &NodeId)| {
                        let field = tool(*other).and_then(|t| t.params.get(*p as usize));
                        format!(
                            ", {}: {}",
                            field.map_or("?", |f| f.name.as_str()),
                            self.node(*v, 0, field.map(|field| TypeHint::Type(field.ty)))
                        )
                    };
                    params.iter().zip(values).map(arg).collect::<String>()
                });
                format!(
                    "called({}{}){}",
                    name(*other),
                    keys.unwrap_or_default(),
                    tail(since, within)
                )
            }
            Node::Failed { tool, since, within } => {
                format!("failed({}){}", name(*tool), tail(since, within))
            }
            Node::Calls { tool, failures, window } => {
                let what = if *failures { "failures" } else { "calls" };
                let window = window.and_then(|at| plan.windows.get(at as usize));
                let recent = match window.map(|window| window.size) {
                    Some(WindowSize::Within(age)) => tail(&None, &Some(age)),
                    Some(WindowSize::Last(count)) => format!(" within last {count} calls"),
                    None => String::new(),
                };
                format!("{what}({}){recent}", name(*tool))
            }
            Node::LastArg(other, param) => {
                let field = tool(*other).and_then(|t| t.params.get(*param as usize));
                format!("last({}).{}", name(*other), field.map_or("?", |f| f.name.as_str()))
            }
            Node::LastResult(other) => format!("last({}).result", name(*other)),
            _ => "?".into(),
        }
    }

    fn quantified(
        &self,
        op: QuantifierOp,
        over: &[NodeId],
        binders: &[u32],
        body: NodeId,
    ) -> (u8, String) {
        let names: Vec<String> = binders.iter().map(|slot| local(*slot)).collect();
        let lists: Vec<String> = over.iter().map(|list| self.node(*list, 1, None)).collect();
        let over =
            if lists.len() == 1 { lists.concat() } else { format!("zip({})", lists.join(", ")) };
        let inner = format!("{} in {over}: {}", names.join(", "), self.node(body, 0, None));
        match op {
            QuantifierOp::All => (0, format!("all {inner}")),
            QuantifierOp::Any => (0, format!("any {inner}")),
            QuantifierOp::First => (0, format!("first {inner}")),
            QuantifierOp::Count => (11, format!("count({inner})")),
            QuantifierOp::SumInt | QuantifierOp::SumDecimal | QuantifierOp::SumDuration => {
                (11, format!("sum({inner})"))
            }
        }
    }

    fn temporal(&self, monitor: u32) -> String {
        let Some(monitor) = self.shows.plan.monitors.get(monitor as usize) else {
            return "?".into();
        };
        let operand = expr(self.shows, &monitor.of);
        match monitor.op {
            TemporalOp::Once => format!("once ({operand})"),
            TemporalOp::Historically => format!("historically ({operand})"),
            TemporalOp::Previous => format!("previous ({operand})"),
            TemporalOp::Since => {
                let trigger =
                    monitor.trigger.as_ref().map(|t| expr(self.shows, t)).unwrap_or_default();
                format!("({operand}) since ({trigger})")
            }
        }
    }

    fn param(&self, n: u32) -> String {
        let field = self.shows.tool.and_then(|t| t.params.get(n as usize));
        field.map_or_else(|| format!("argument {}", n + 1), |f| f.name.clone())
    }

    fn fact(&self, id: u32) -> &str {
        self.shows.plan.facts.get(id as usize).map_or("?", |f| f.name.as_str())
    }

    /// Formats the leading columns of a fact.
    fn columns(&self, fact: u32, values: &[NodeId]) -> String {
        let row = self.shows.plan.facts.get(fact as usize).map(|fact| fact.row);
        let column = |(at, value): (usize, &NodeId)| {
            let field = row.and_then(|row| self.record_field(row, at as u32));
            self.node(*value, 0, field.map(|(_, ty)| TypeHint::Type(ty)))
        };
        values.iter().enumerate().map(column).collect::<Vec<_>>().join(", ")
    }

    fn unit(&self, id: u32) -> &str {
        self.shows.plan.units.get(id as usize).map_or("?", |u| u.name.as_str())
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.escape_debug())
}

/// Returns a name for a bound variable, because the plan has no names for them: `x`, `y`, `z`,
/// `x4`.
pub(super) fn local(slot: u32) -> String {
    match slot {
        0 => "x".into(),
        1 => "y".into(),
        2 => "z".into(),
        n => format!("x{}", n + 1),
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

fn arith(op: ArithOp) -> (u8, &'static str) {
    match op {
        ArithOp::Add => (7, "+"),
        ArithOp::Sub => (7, "-"),
        ArithOp::Mul => (8, "*"),
        ArithOp::Div => (8, "/"),
        ArithOp::Rem => (8, "%"),
    }
}

fn clock(part: ClockPart) -> &'static str {
    match part {
        ClockPart::Hour => "hour",
        ClockPart::Minute => "minute",
        ClockPart::Weekday => "weekday",
        ClockPart::Day => "day",
        ClockPart::Month => "month",
        ClockPart::Year => "year",
    }
}

fn url_part(part: UrlPart) -> &'static str {
    match part {
        UrlPart::Scheme => "scheme",
        UrlPart::Host => "host",
        UrlPart::Port => "port",
        UrlPart::Path => "path",
        UrlPart::Query => "query",
    }
}
