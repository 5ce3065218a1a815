//! The types of the values that expressions read: parameters, variables, history, facts, and parts
//! of them.
//!
//! Computed values have no type here. The module serves questions such as the maximum length of a
//! collection, or whether a field is secret. The checker has determined all types before.

use crate::builtin::{Builtin, SIMPLE_COMMAND};
use crate::plan::{Expr, Field, Node, NodeId, Plan, QuantifierOp, TypeDef, TypeId};

/// The maximum depth to which the types of nodes are followed: bound variables lead to collections,
/// and these lead to other variables.
const DEPTH: u32 = 64;

/// Returns the type of a node that reads a value; `None` if the node computes something. `params`
/// are the parameters of the tool that the expression belongs to.
pub fn type_of(plan: &Plan, params: &[Field], expr: &Expr, node: NodeId) -> Option<TypeId> {
    followed(plan, params, expr, node, DEPTH)
}

fn followed(
    plan: &Plan,
    params: &[Field],
    expr: &Expr,
    node: NodeId,
    depth: u32,
) -> Option<TypeId> {
    let inner = |node: NodeId| followed(plan, params, expr, node, depth.checked_sub(1)?);
    match expr.0.get(node as usize)? {
        Node::Param(at) => params.get(*at as usize).map(|param| param.ty),
        Node::State(var) => plan.state.get(*var as usize).map(|var| var.ty),
        Node::LastArg(last, at) => {
            plan.tools.get(*last as usize)?.params.get(*at as usize).map(|param| param.ty)
        }
        Node::LastResult(last) => plan.tools.get(*last as usize)?.returns,
        Node::Row(fact, _) => plan.facts.get(*fact as usize).map(|fact| fact.row),
        Node::FromKey(_, ty) => Some(*ty),
        Node::Probe(probe) => plan.probes.get(*probe as usize).map(|probe| probe.returns),
        Node::Unwrap(operand) | Node::Else(operand, _) | Node::If(_, operand, _) => inner(*operand),
        Node::Field(record, at) => match required(plan, inner(*record)?)? {
            TypeDef::Record { fields, .. } => fields.get(*at as usize).map(|field| field.ty),
            _ => None,
        },
        Node::Index(collection, _) => element(plan, inner(*collection)?),
        Node::Quantified { op: QuantifierOp::First, over, binders, .. } => {
            let last = binders.len().checked_sub(1)?;
            bound(plan, expr, (*over.first()?, last, binders.len()), &inner)
        }
        Node::Local(slot) => bound(plan, expr, binding(expr, node, *slot)?, &inner),
        _ => None,
    }
}

/// Returns the type of a bound variable, from the collection that it ranges over, its index among
/// the names, and the number of names.
fn bound(
    plan: &Plan,
    expr: &Expr,
    (over, at, names): (NodeId, usize, usize),
    inner: &dyn Fn(NodeId) -> Option<TypeId>,
) -> Option<TypeId> {
    if let Some(Node::Call(Builtin::Commands, _)) = expr.0.get(over as usize) {
        return simple_command(plan);
    }
    if let Some(Node::Rows(fact)) = expr.0.get(over as usize) {
        return plan.facts.get(*fact as usize).map(|fact| fact.row);
    }
    let ty = inner(over)?;
    match required(plan, ty)? {
        // The first of two names is an index or a key. The only name for the entries of a map is
        // also the key.
        TypeDef::Map { .. } if names == 1 || at == 0 => None,
        TypeDef::List { .. } if names == 2 && at == 0 => None,
        _ => element(plan, ty),
    }
}

/// Returns the record of a simple command.
fn simple_command(plan: &Plan) -> Option<TypeId> {
    let place = plan.types.iter().position(|def| match def {
        TypeDef::Record { name, fields } => {
            let names = SIMPLE_COMMAND.iter().map(|(name, _)| *name);
            name == "SimpleCommand" && fields.iter().map(|field| &*field.name).eq(names)
        }
        _ => false,
    });
    place.and_then(|place| TypeId::try_from(place).ok())
}

/// Returns the collection that the bound variable at a node ranges over, the index of the variable
/// among the names, and the number of names.
fn binding(expr: &Expr, node: NodeId, slot: u32) -> Option<(NodeId, usize, usize)> {
    // Parents come after their children. Siblings may use the same slot again.
    let mut inner = node;
    for (parent, candidate) in expr.0.iter().enumerate().skip(node as usize + 1) {
        let mut leads = false;
        candidate.for_each_child(&mut |child| leads |= child == inner);
        if !leads {
            continue;
        }
        if let Node::Quantified { over, binders, body, .. } = candidate
            && *body == inner
            && let Some(at) = binders.iter().position(|bound| *bound == slot)
        {
            // Lists that are iterated together bind one name each.
            return match over.as_slice() {
                [only] => Some((*only, at, binders.len())),
                several => Some((*several.get(at)?, 0, 1)),
            };
        }
        inner = NodeId::try_from(parent).ok()?;
    }
    None
}

/// Returns the definition of a type. For an option, returns the definition of its inner type.
pub fn required(plan: &Plan, ty: TypeId) -> Option<&TypeDef> {
    match plan.types.get(ty as usize)? {
        TypeDef::Option { of } => plan.types.get(*of as usize),
        def => Some(def),
    }
}

/// Returns the type of the elements of a collection.
pub fn element(plan: &Plan, ty: TypeId) -> Option<TypeId> {
    match required(plan, ty)? {
        TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. } => Some(*of),
        _ => None,
    }
}
