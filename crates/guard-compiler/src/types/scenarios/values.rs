//! Arguments and results of scenarios: literals as JSON, and their restrictions.

use super::TypeChecker;
use crate::errors;
use crate::hir::Type;
use guard_plan::json::Json;
use guard_syntax::ast;

impl TypeChecker<'_, '_> {
    pub(super) fn returned(&mut self, returns: &Option<ast::Expr>) -> Option<Json> {
        returns.as_ref().and_then(|r| self.json(r, None))
    }

    /// Converts a literal to JSON. `ty` guides variants and durations.
    pub(super) fn json(&mut self, e: &ast::Expr, ty: Option<&Type>) -> Option<Json> {
        use ast::ExprKind as E;
        let element = match ty.map(Type::required) {
            Some(Type::List(element, _) | Type::Set(element, _) | Type::Map(_, element, _)) => {
                Some((**element).clone())
            }
            _ => None,
        };
        Some(match &e.kind {
            E::None => Json::Null,
            E::Bool(b) => Json::Bool(*b),
            E::Number(text) => Json::parse(text).ok()?,
            E::Unary(ast::UnaryOp::Neg, operand) => match &operand.kind {
                E::Number(text) => Json::parse(&format!("-{text}")).ok()?,
                _ => return self.no_literal(e),
            },
            E::String(text) | E::Duration(text) => Json::String(text.as_str().into()),
            E::Name(name) if let Some(value) = self.constant(name) => {
                return self.json(value, ty);
            }
            E::Name(name) => {
                let variants = match ty.map(Type::required) {
                    Some(Type::Enum(id)) => Some(self.program.enums[*id].clone()),
                    _ => None,
                };
                let any =
                    self.program.enums.iter().any(|def| def.variants.iter().any(|v| v == name));
                match variants {
                    Some(def) if !def.variants.iter().any(|v| v == name) => {
                        let known = def.variants.iter().map(String::as_str);
                        self.report(errors::unknown_variant(name, e.span, &def.name, known));
                        return None;
                    }
                    None if !any => return self.no_literal(e),
                    _ => {
                        self.names.variants.borrow_mut().insert(name.clone());
                        Json::String(name.as_str().into())
                    }
                }
            }
            // An empty `{}` may be a set or a map, so its type decides below.
            E::List(xs) | E::Set(xs) if !xs.is_empty() || matches!(e.kind, E::List(_)) => {
                Json::Array(
                    xs.iter().map(|x| self.json(x, element.as_ref())).collect::<Option<_>>()?,
                )
            }
            E::Set(_) if matches!(ty.map(Type::required), Some(Type::List(..) | Type::Set(..))) => {
                Json::Array(Vec::new())
            }
            E::Set(_) => Json::Object(Vec::new()),
            E::Map(entries) => {
                let mut members: Vec<(Box<str>, Json)> = Vec::new();
                for (key, value) in entries {
                    let ty = self.entry_type(ty, &key.node).or_else(|| element.clone());
                    members.push((key.node.as_str().into(), self.json(value, ty.as_ref())?));
                }
                Json::Object(members)
            }
            _ => return self.no_literal(e),
        })
    }

    fn entry_type(&self, ty: Option<&Type>, key: &str) -> Option<Type> {
        match ty.map(Type::required) {
            Some(Type::Record(id)) => self.program.records[*id]
                .fields
                .iter()
                .find(|f| f.name == key)
                .map(|f| f.ty.clone()),
            _ => None,
        }
    }

    fn no_literal(&mut self, e: &ast::Expr) -> Option<Json> {
        let why = "arguments and results of a scenario are literals".to_string();
        self.report(errors::scenario(
            e.span,
            why,
            "write the value itself; variants and nested lists are fine",
        ));
        None
    }
}
