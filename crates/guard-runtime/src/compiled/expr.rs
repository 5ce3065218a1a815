//! Prepared expressions: constant collections are built once, and paths into variables and
//! comparisons of scalars are marked. `eval` runs them.

use guard_plan::plan::{CompareOp, Expr, Node, VarId};
use guard_plan::url::Url;
use guard_plan::value::Value;

/// One step of a prepared expression.
#[derive(Debug, Clone)]
pub(crate) enum CompiledOp {
    /// A constant value.
    Const(Value),
    /// A node to evaluate.
    Node(Node),
    /// A part of a variable, reached by fields and entries only. The part usually exists.
    Place(Node),
    /// A comparison of two leaves, which are usually scalars of one kind.
    Scalars(Node, CompareOp, ScalarLeaf, ScalarLeaf),
}

/// A side of a comparison that is read without building a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ScalarLeaf {
    Scalar(Scalar),
    State(VarId),
    Param(u32),
}

/// A number or the index of a variant, with its kind. Scalars of different kinds are not compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalar(pub ScalarKind, pub i64);

/// The kind of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Int,
    Decimal,
    Enum,
}

impl ScalarLeaf {
    fn from_op(op: &CompiledOp) -> Option<ScalarLeaf> {
        match op {
            CompiledOp::Node(Node::Int(number)) => {
                Some(ScalarLeaf::Scalar(Scalar(ScalarKind::Int, *number)))
            }
            CompiledOp::Node(Node::Decimal(units)) => {
                Some(ScalarLeaf::Scalar(Scalar(ScalarKind::Decimal, *units)))
            }
            CompiledOp::Node(Node::Enum(index)) => {
                Some(ScalarLeaf::Scalar(Scalar(ScalarKind::Enum, (*index).into())))
            }
            CompiledOp::Node(Node::State(var)) => Some(ScalarLeaf::State(*var)),
            CompiledOp::Node(Node::Param(index)) => Some(ScalarLeaf::Param(*index)),
            _ => None,
        }
    }
}

impl CompiledOp {
    /// Returns the node; `None` for a constant.
    pub fn node(&self) -> Option<&Node> {
        match self {
            CompiledOp::Const(_) => None,
            CompiledOp::Node(node) | CompiledOp::Place(node) | CompiledOp::Scalars(node, ..) => {
                Some(node)
            }
        }
    }
}

/// An expression ready to run; the last step is the root.
#[derive(Debug, Clone)]
pub(crate) struct CompiledExpr(Box<[CompiledOp]>);

impl CompiledExpr {
    pub fn new(expr: &Expr) -> CompiledExpr {
        let mut ops: Vec<CompiledOp> = Vec::with_capacity(expr.0.len());
        for node in &expr.0 {
            let op = constant(&ops, node).map(CompiledOp::Const).or_else(|| scalars(&ops, node));
            ops.push(op.unwrap_or_else(|| CompiledOp::Node(node.clone())));
        }
        mark_places(&mut ops);
        CompiledExpr(ops.into_boxed_slice())
    }

    pub fn optional(expr: &Option<Expr>) -> Option<CompiledExpr> {
        expr.as_ref().map(CompiledExpr::new)
    }

    /// Returns the step with an index. The loader has checked that the index is valid.
    pub fn op(&self, id: u32) -> &CompiledOp {
        &self.0[id as usize]
    }

    /// All steps, children first.
    pub fn ops(&self) -> &[CompiledOp] {
        &self.0
    }

    /// The index of the root.
    pub fn root(&self) -> u32 {
        (self.0.len() - 1) as u32
    }
}

/// Marks the outermost node of each path into a variable.
fn mark_places(ops: &mut [CompiledOp]) {
    let mut ways = vec![false; ops.len()];
    let mut outermost = vec![false; ops.len()];
    for at in 0..ops.len() {
        let base = match ops[at].node() {
            Some(Node::State(_)) => {
                ways[at] = true;
                continue;
            }
            Some(Node::Field(a, _) | Node::Unwrap(a)) => *a as usize,
            Some(Node::Index(a, key)) => match ops[*key as usize].node() {
                Some(Node::Param(_) | Node::String(_)) => *a as usize,
                _ => continue,
            },
            _ => continue,
        };
        if ways[base] {
            (ways[at], outermost[at], outermost[base]) = (true, true, false);
        }
    }
    for (op, outermost) in ops.iter_mut().zip(outermost) {
        if let (true, CompiledOp::Node(node)) = (outermost, &op) {
            *op = CompiledOp::Place(node.clone());
        }
    }
}

/// Returns a comparison of two leaves.
fn scalars(ops: &[CompiledOp], node: &Node) -> Option<CompiledOp> {
    let Node::Compare(op, a, b) = node else { return None };
    let leaf = |id: &u32| ScalarLeaf::from_op(&ops[*id as usize]);
    Some(CompiledOp::Scalars(node.clone(), *op, leaf(a)?, leaf(b)?))
}

/// Returns the value of a node that depends on no input.
fn constant(ops: &[CompiledOp], node: &Node) -> Option<Value> {
    let child = |id: &u32| literal(&ops[*id as usize]);
    let all = |ids: &[u32]| ids.iter().map(child).collect::<Option<Vec<_>>>();
    match node {
        Node::Url(text) => Url::parse(text).ok().map(|url| Value::Url(Box::new(url))),
        Node::List(ids) => all(ids).map(Value::List),
        Node::Set(ids) => all(ids).map(|items| Value::Set(items.into_iter().collect())),
        Node::Record(ids) => all(ids).map(Value::Record),
        Node::Map(entries) => entries
            .iter()
            .map(|(key, id)| Some((key.as_str().into(), child(id)?)))
            .collect::<Option<_>>()
            .map(Value::Map),
        _ => None,
    }
}

fn literal(op: &CompiledOp) -> Option<Value> {
    Some(match op {
        CompiledOp::Const(value) => value.clone(),
        CompiledOp::Node(Node::None) => Value::None,
        CompiledOp::Node(Node::Bool(value)) => Value::Bool(*value),
        CompiledOp::Node(Node::Int(number)) => Value::Int(*number),
        CompiledOp::Node(Node::Decimal(units)) => Value::Decimal(*units),
        CompiledOp::Node(Node::String(text)) => Value::String(text.as_str().into()),
        CompiledOp::Node(Node::Duration(millis)) => Value::Duration(*millis),
        CompiledOp::Node(Node::Time(at)) => Value::Time(*at),
        CompiledOp::Node(Node::Enum(index)) => Value::Enum(*index),
        CompiledOp::Node(_) | CompiledOp::Place(_) | CompiledOp::Scalars(..) => return None,
    })
}
