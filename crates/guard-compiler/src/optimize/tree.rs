//! Expressions as trees, which are easy to rewrite.

use guard_plan::plan::{Expr, Node, NodeId};
use guard_plan::value::Value;

/// A node with its children. The child indexes in `node` are unused and zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExprTree {
    pub node: Node,
    pub kids: Vec<ExprTree>,
}

impl ExprTree {
    /// Returns the tree of an expression, which is never empty.
    pub fn from_expr(expr: &Expr) -> ExprTree {
        let mut done: Vec<Option<ExprTree>> = Vec::with_capacity(expr.0.len());
        for node in &expr.0 {
            let mut node = node.clone();
            let mut kids = Vec::new();
            node.for_each_child_mut(&mut |child| {
                // INVARIANT: children precede parents, and each has one parent.
                kids.extend(done.get_mut(*child as usize).and_then(Option::take));
                *child = 0;
            });
            done.push(Some(ExprTree { node, kids }));
        }
        done.pop().flatten().unwrap_or_else(|| ExprTree::leaf(Node::None))
    }

    /// Returns a node without children.
    pub fn leaf(node: Node) -> ExprTree {
        ExprTree { node, kids: Vec::new() }
    }

    /// Returns a literal truth value.
    pub fn bool(value: bool) -> ExprTree {
        ExprTree::leaf(Node::Bool(value))
    }

    /// Returns a node with one child.
    pub fn one(node: fn(NodeId) -> Node, kid: ExprTree) -> ExprTree {
        ExprTree { node: node(0), kids: vec![kid] }
    }

    /// Returns a node with two children.
    pub fn two(node: fn(NodeId, NodeId) -> Node, a: ExprTree, b: ExprTree) -> ExprTree {
        ExprTree { node: node(0, 0), kids: vec![a, b] }
    }

    /// Returns the expression: children first, in order.
    pub fn flat(self) -> Expr {
        let mut nodes = Vec::new();
        self.push(&mut nodes);
        Expr(nodes)
    }

    fn push(self, nodes: &mut Vec<Node>) -> NodeId {
        let ExprTree { mut node, kids } = self;
        let ids: Vec<NodeId> = kids.into_iter().map(|kid| kid.push(nodes)).collect();
        let mut ids = ids.into_iter();
        node.for_each_child_mut(&mut |child| *child = ids.next().unwrap_or_default());
        nodes.push(node);
        (nodes.len() - 1) as NodeId
    }

    /// Rewrites all nodes, children first.
    pub fn map(self, rewrite: &impl Fn(ExprTree) -> ExprTree) -> ExprTree {
        let ExprTree { node, kids } = self;
        let kids = kids.into_iter().map(|kid| kid.map(rewrite)).collect();
        rewrite(ExprTree { node, kids })
    }

    /// Returns the number of its nodes.
    pub fn size(&self) -> u64 {
        1 + self.kids.iter().map(ExprTree::size).sum::<u64>()
    }

    /// Returns the truth value, if it is a literal.
    pub fn known(&self) -> Option<bool> {
        match self.node {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, if it is constant.
    pub fn constant(&self) -> Option<Value> {
        let all = || self.kids.iter().map(ExprTree::constant).collect::<Option<Vec<_>>>();
        Some(match &self.node {
            Node::None => Value::None,
            Node::Bool(value) => Value::Bool(*value),
            Node::Int(number) => Value::Int(*number),
            Node::Decimal(units) => Value::Decimal(*units),
            Node::String(text) => Value::String(text.as_str().into()),
            Node::Duration(millis) => Value::Duration(*millis),
            Node::Time(at) => Value::Time(*at),
            Node::Enum(at) => Value::Enum(*at),
            Node::List(_) => Value::List(all()?),
            Node::Set(_) => Value::Set(all()?.into_iter().collect()),
            Node::Record(_) => Value::Record(all()?),
            _ => return None,
        })
    }

    /// Returns the leaf of a value, if it has one.
    pub fn of_value(value: Value) -> Option<ExprTree> {
        Some(ExprTree::leaf(match value {
            Value::None => Node::None,
            Value::Bool(value) => Node::Bool(value),
            Value::Int(number) => Node::Int(number),
            Value::Decimal(units) => Node::Decimal(units),
            Value::String(text) => Node::String(text.into()),
            Value::Duration(millis) => Node::Duration(millis),
            Value::Time(at) => Node::Time(at),
            Value::Enum(at) => Node::Enum(at),
            _ => return None,
        }))
    }
}
