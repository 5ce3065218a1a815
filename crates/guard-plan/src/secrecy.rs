//! Secrets: which expressions read a secret, how values are shown to people, and the redaction of
//! arguments.
//!
//! This is the only place that decides it. A value that is marked `secret` is shown as `(secret)`,
//! and so is every value that is computed from it.

use crate::decode::{holds_secrets, is_secret};
use crate::json::Json;
use crate::plan::{Expr, Field, Node, Plan, Tool, TypeDef, TypeId};
use crate::render;
use crate::typing::{required, type_of};
use crate::value::Value;
use std::collections::BTreeSet;

/// A function that returns the replacement of a secret.
pub type Hide<'a> = &'a dyn Fn(&Json) -> Json;

/// Returns true if an expression reads a value that is marked `secret`. `params` are the parameters
/// of the tool that the expression belongs to.
pub fn reads_secret(plan: &Plan, params: &[Field], expr: &Expr) -> bool {
    expr.0.iter().any(|node| match node {
        Node::Param(at) => {
            params.get(*at as usize).is_some_and(|param| is_secret(&plan.types, param))
        }
        Node::LastArg(tool, at) => {
            let param = plan.tools.get(*tool as usize).and_then(|t| t.params.get(*at as usize));
            param.is_some_and(|param| is_secret(&plan.types, param))
        }
        Node::Field(record, at) => {
            let ty = type_of(plan, params, expr, *record).and_then(|ty| required(plan, ty));
            match ty {
                Some(TypeDef::Record { fields, .. }) => {
                    fields.get(*at as usize).is_some_and(|field| is_secret(&plan.types, field))
                }
                _ => false,
            }
        }
        _ => false,
    })
}

/// Returns the value of an expression as it is shown to people.
pub fn shown(plan: &Plan, params: &[Field], expr: &Expr, ty: TypeId, value: &Value) -> String {
    if reads_secret(plan, params, expr) {
        render::SECRET.into()
    } else {
        render::value(&plan.types, ty, value)
    }
}

/// Returns the arguments of a call with every secret replaced. For an undeclared tool, every member
/// with the name of some secret is replaced, at any depth, because a declared tool may have been
/// meant.
pub fn without_secrets(plan: &Plan, tool: Option<&Tool>, args: &Json, hide: Hide<'_>) -> Json {
    match tool {
        Some(tool) if tool.params.iter().any(|param| is_secret(&plan.types, param)) => {
            of_fields(&plan.types, &tool.params, args, hide)
        }
        Some(_) => args.clone(),
        None => match (secret_names(plan), args) {
            (names, _) if names.is_empty() => args.clone(),
            (names, Json::Object(_)) => by_name(&names, args, hide),
            // A secret in a value that is not an object cannot be distinguished from the rest.
            _ => hide(args),
        },
    }
}

/// Returns a value in which every member with the name of some secret is replaced, at any depth.
pub fn without_named(plan: &Plan, json: &Json, hide: Hide<'_>) -> Json {
    by_name(&secret_names(plan), json, hide)
}

/// Returns true if some parameter or field of this name is secret.
pub fn has_secret_name(plan: &Plan, name: &str) -> bool {
    secret_names(plan).contains(name)
}

/// Returns the names of all secret parameters and fields.
fn secret_names(plan: &Plan) -> BTreeSet<&str> {
    let params = plan.tools.iter().flat_map(|tool| &tool.params);
    let fields = plan.types.iter().flat_map(|def| match def {
        TypeDef::Record { fields, .. } => fields.as_slice(),
        _ => &[],
    });
    params.chain(fields).filter(|field| field.secret).map(|field| field.name.as_str()).collect()
}

fn by_name(names: &BTreeSet<&str>, json: &Json, hide: Hide<'_>) -> Json {
    match json {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(name, json)| {
                    if names.contains(&**name) {
                        (name.clone(), hide(json))
                    } else {
                        (name.clone(), by_name(names, json, hide))
                    }
                })
                .collect(),
        ),
        Json::Array(items) => {
            Json::Array(items.iter().map(|item| by_name(names, item, hide)).collect())
        }
        other => other.clone(),
    }
}

fn of_fields(types: &[TypeDef], fields: &[Field], json: &Json, hide: Hide<'_>) -> Json {
    let Json::Object(members) = json else {
        // A secret in a value that is not an object cannot be distinguished from the rest.
        return hide(json);
    };
    let member = |(name, json): &(Box<str>, Json)| {
        let json = match fields.iter().find(|field| *field.name == **name) {
            Some(field) if field.secret => hide(json),
            Some(field) => of_type(types, field.ty, json, hide),
            // It may be a secret under a misspelt name.
            None => hide(json),
        };
        (name.clone(), json)
    };
    Json::Object(members.iter().map(member).collect())
}

/// Returns a value of a type with every secret replaced.
pub fn of_type(types: &[TypeDef], ty: TypeId, json: &Json, hide: Hide<'_>) -> Json {
    match (types.get(ty as usize), json) {
        (_, Json::Null) => Json::Null,
        (Some(TypeDef::Option { of }), _) => of_type(types, *of, json, hide),
        (Some(TypeDef::Record { fields, .. }), _) => of_fields(types, fields, json, hide),
        (Some(TypeDef::List { of, .. } | TypeDef::Set { of, .. }), Json::Array(items)) => {
            Json::Array(items.iter().map(|item| of_type(types, *of, item, hide)).collect())
        }
        (Some(TypeDef::Map { of, .. }), Json::Object(members)) => {
            let member =
                |(key, json): &(Box<str>, Json)| (key.clone(), of_type(types, *of, json, hide));
            Json::Object(members.iter().map(member).collect())
        }
        // The value does not have its type, so a secret in it cannot be distinguished from the
        // rest.
        _ if holds_secrets(types, ty) => hide(json),
        _ => json.clone(),
    }
}
