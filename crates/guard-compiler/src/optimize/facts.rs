//! Static facts about expressions: whether they can fault, and whether they can be a missing
//! option.

use super::tree::ExprTree;
use guard_plan::builtin::Builtin;
use guard_plan::plan::{Node, Plan, QuantifierOp, ToolId, TypeDef, TypeId};

/// The types that the passes use.
pub(super) struct TypeFacts {
    /// By type: true for an option.
    options: Vec<bool>,
    /// By type: true for a list, set or map.
    collections: Vec<bool>,
    state: Vec<TypeId>,
    params: Vec<Vec<TypeId>>,
    deadline: bool,
}

impl TypeFacts {
    pub fn new(plan: &Plan) -> TypeFacts {
        let option = |def: &TypeDef| matches!(def, TypeDef::Option { .. });
        let collection = |def: &TypeDef| {
            matches!(def, TypeDef::List { .. } | TypeDef::Set { .. } | TypeDef::Map { .. })
        };
        TypeFacts {
            options: plan.types.iter().map(option).collect(),
            collections: plan.types.iter().map(collection).collect(),
            state: plan.state.iter().map(|var| var.ty).collect(),
            params: plan
                .tools
                .iter()
                .map(|tool| tool.params.iter().map(|param| param.ty).collect())
                .collect(),
            deadline: plan.deadline.is_some(),
        }
    }

    /// Returns true if it always has a value and does not ask the world. Then the time of its
    /// evaluation does not matter.
    pub fn total(&self, tool: Option<ToolId>, tree: &ExprTree) -> bool {
        let itself = match &tree.node {
            // Arithmetic may overflow, options may be empty, and monitors keep the faults of their
            // operands.
            Node::Neg(_) | Node::Arith(..) | Node::Unwrap(_) | Node::Temporal(_) => false,
            // Readers of type `json` may not be texts.
            Node::Exists(_) | Node::Probe(_) | Node::MayRead(..) => false,
            Node::RemainingTime => self.deadline,
            Node::Quantified { op, over, .. } => {
                let sum = matches!(
                    op,
                    QuantifierOp::SumInt | QuantifierOp::SumDecimal | QuantifierOp::SumDuration
                );
                over.len() == 1 && !sum && self.is_collection(tool, &tree.kids[0])
            }
            Node::Call(builtin, _) => never_faults(*builtin),
            _ => true,
        };
        itself && tree.kids.iter().all(|kid| self.total(tool, kid))
    }

    /// Returns true if it is never the missing option.
    pub fn present(&self, tool: Option<ToolId>, tree: &ExprTree) -> bool {
        let kid = |at: usize| tree.kids.get(at).is_some_and(|kid| self.present(tool, kid));
        match &tree.node {
            Node::Bool(_) | Node::Int(_) | Node::Decimal(_) | Node::String(_) | Node::Path(_) => {
                true
            }
            Node::Duration(_) | Node::Time(_) | Node::Enum(_) | Node::Url(_) => true,
            Node::List(_) | Node::Set(_) | Node::Map(_) | Node::Record(_) => true,
            Node::Workspace | Node::Said | Node::Now | Node::Elapsed | Node::Clock(_) => true,
            Node::RemainingTime | Node::Remaining(_) | Node::Spent(_) | Node::Calls { .. } => true,
            Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Implies(..) => true,
            Node::Compare(..) | Node::Arith(..) | Node::Neg(_) | Node::Unwrap(_) => true,
            Node::In(..) | Node::Within(..) | Node::Matches(..) | Node::IsSome(_) => true,
            Node::Known(..) | Node::Called { .. } | Node::Failed { .. } | Node::Origin(_) => true,
            Node::Rows(_) | Node::Seen(_) | Node::MayRead(..) => true,
            Node::Quantified { op, .. } => *op != QuantifierOp::First,
            Node::Call(builtin, _) => !builtin.row().gives.is_optional(),
            Node::Param(at) => self.param(tool, *at).is_some_and(|ty| self.required(ty)),
            Node::State(var) => self.state.get(*var as usize).is_some_and(|ty| self.required(*ty)),
            Node::Else(..) => kid(1),
            Node::If(..) => kid(1) && kid(2),
            _ => false,
        }
    }

    /// Returns true if it is always a collection. A `json` value may be anything.
    fn is_collection(&self, tool: Option<ToolId>, tree: &ExprTree) -> bool {
        let typed = |ty: TypeId| self.collections.get(ty as usize).is_some_and(|is| *is);
        match &tree.node {
            Node::List(_) | Node::Set(_) | Node::Map(_) | Node::Rows(_) => true,
            Node::Param(at) => self.param(tool, *at).is_some_and(typed),
            Node::State(var) => self.state.get(*var as usize).is_some_and(|ty| typed(*ty)),
            _ => false,
        }
    }

    fn param(&self, tool: Option<ToolId>, at: u32) -> Option<TypeId> {
        self.params.get(tool? as usize)?.get(at as usize).copied()
    }

    fn required(&self, ty: TypeId) -> bool {
        self.options.get(ty as usize).is_some_and(|option| !option)
    }
}

/// Returns true if a builtin has a value for all arguments of its kinds.
pub(crate) fn never_faults(builtin: Builtin) -> bool {
    use Builtin as B;
    matches!(
        builtin,
        B::Len
            | B::Min
            | B::Max
            | B::Lower
            | B::Upper
            | B::Trim
            | B::StartsWith
            | B::Mentions
            | B::MentionsCode
            | B::MentionsDate
            | B::MentionsNumber
            | B::EndsWith
            | B::Glob
            | B::FileName
            | B::Extension
            | B::Parent
            | B::EmailDomain
            | B::EmailLocal
            | B::Text
            | B::Path
            | B::Number
            | B::VersionAtLeast
    )
}
