//! Established values: values that the clauses of a tool guarantee for one another whenever a call
//! is allowed.
//!
//! A `requires T(key)` establishes what the success of T writes under that key. A `deny`
//! establishes everything that follows if it does not fire. Clauses in shadow mode and conditional
//! clauses establish nothing.

use super::Signature;
use super::governs::{Governing, Governs};
use super::narrow;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use crate::hir::{Field, Program, Type};
use crate::names::Names;
use guard_syntax::ast::{self, ClauseKind, EffectKind, ExprKind, Step};
use std::collections::{HashMap, HashSet};

/// A place that the success of a tool fills: the variable, then fields and keys.
pub(crate) struct Filled<'a> {
    var: &'a str,
    steps: Vec<FilledStep<'a>>,
}

enum FilledStep<'a> {
    Field(&'a str),
    /// The key is the tool's parameter of this name.
    Parameter(&'a str),
}

/// The declared types, by which a place may be empty.
#[derive(Clone, Copy)]
pub(crate) struct DeclaredTypes<'p> {
    pub program: &'p Program,
    pub signatures: &'p [Signature],
}

impl<'p> DeclaredTypes<'p> {
    /// Returns the type of a part of a value: a field, or an element.
    fn part(self, whole: &'p Type, field: Option<&str>) -> Option<&'p Type> {
        match (field, whole.required()) {
            (Some(name), Type::Record(id)) => {
                let fields = &self.program.records[*id].fields;
                fields.iter().find(|field| field.name == name).map(|field| &field.ty)
            }
            (None, Type::Map(_, of, _) | Type::List(of, _)) => Some(of),
            _ => None,
        }
    }

    /// Returns the types on the way to a place, from the variable on.
    fn along<'s>(
        self,
        names: &Names,
        var: &str,
        fields: impl Iterator<Item = Option<&'s str>>,
    ) -> Vec<Option<&'p Type>> {
        let mut ty = names.state.peek(var).map(|var| &self.program.state[var].ty);
        let mut types = vec![ty];
        for field in fields {
            ty = ty.and_then(|whole| self.part(whole, field));
            types.push(ty);
        }
        types
    }

    /// Returns the type of a parameter, of the result, or of a part of either. `tool` is `None` for
    /// a clause of a policy, which several tools may share.
    fn argument(self, value: &ast::Expr, tool: Option<(&ast::Tool, usize)>) -> Option<&'p Type> {
        let (declared, at) = tool?;
        let signature = self.signatures.get(at)?;
        match &value.kind {
            ExprKind::Name(name) if name == "result" => signature.returns.as_ref(),
            ExprKind::Name(name) => {
                // A `let` may hide the parameter.
                let hides = |clause: &ast::Clause| matches!(clause.kind, ClauseKind::Let { .. });
                let params = signature.params.iter();
                let found = params.filter(|_| !declared.clauses.iter().any(hides));
                found.into_iter().find(|param| param.name == *name).map(|param| &param.ty)
            }
            ExprKind::Field(whole, field) => {
                self.part(self.argument(whole, tool)?, Some(&field.node))
            }
            _ => None,
        }
    }
}

/// Returns, for every tool, the places that its success fills and that nothing ever empties.
pub(crate) fn by_success<'a>(
    names: &Names<'a>,
    types: DeclaredTypes<'_>,
) -> HashMap<&'a str, Vec<Filled<'a>>> {
    let emptied = Emptied::new(names, types);
    let mut filled = HashMap::new();
    for entry in &names.tools.items {
        let places: Vec<Filled> = entry
            .decl
            .clauses
            .iter()
            .filter(|clause| !clause.shadow)
            .flat_map(written)
            .filter_map(|target| place(target, entry.decl))
            .filter(|place| !emptied.has(place, names, types))
            .collect();
        if !places.is_empty() {
            filled.insert(entry.name.node.as_str(), places);
        }
    }
    filled
}

fn written(clause: &ast::Clause) -> Vec<&ast::Target> {
    match &clause.kind {
        ClauseKind::Observe { target, .. } => vec![target],
        ClauseKind::Effect(effects) => effects
            .iter()
            // A collection may have no elements.
            .filter(|e| matches!(e.kind, EffectKind::Set(_)) && e.each.is_empty())
            .map(|e| &e.target)
            .collect(),
        _ => Vec::new(),
    }
}

/// Variables that do not keep the values that a success filled.
#[derive(Default)]
struct Emptied<'a> {
    /// The variables that a clause deletes from, or in which it sets a place to a value that may be
    /// missing.
    places: HashSet<&'a str>,
    /// The places that a clause sets: the variable, and the number of steps to the place.
    set: HashSet<(&'a str, usize)>,
}

impl<'a> Emptied<'a> {
    fn new(names: &Names<'a>, types: DeclaredTypes<'_>) -> Self {
        let mut emptied = Emptied::default();
        for (at, entry) in names.tools.items.iter().enumerate() {
            for clause in &entry.decl.clauses {
                emptied.add(clause, Some((entry.decl, at)), names, types);
            }
        }
        for clause in names.policies.items.iter().flat_map(|policy| &policy.decl.clauses) {
            emptied.add(clause, None, names, types);
        }
        emptied
    }

    fn add(
        &mut self,
        clause: &'a ast::Clause,
        tool: Option<(&ast::Tool, usize)>,
        names: &Names,
        types: DeclaredTypes<'_>,
    ) {
        let mut set = |target: &'a ast::Target, value: Option<&ast::Expr>| {
            let var = target.var.node.as_str();
            let along = types.along(names, var, target.path.iter().map(field));
            // Only an option can be set to a missing value.
            let is_option = || along.last().is_none_or(|ty| ty.is_none_or(Type::is_option));
            if value.is_none_or(|value| {
                (target.path.is_empty() || is_option()) && may_be_missing(value, tool, types)
            }) {
                self.places.insert(var);
            }
            self.set.insert((var, target.path.len()));
        };
        match &clause.kind {
            ClauseKind::Effect(effects) => {
                for effect in effects {
                    match &effect.kind {
                        EffectKind::Delete | EffectKind::Remove(_) => set(&effect.target, None),
                        EffectKind::Set(value) => set(&effect.target, Some(value)),
                        _ => {}
                    }
                }
            }
            ClauseKind::Observe { target, value, .. } => set(target, Some(value)),
            _ => {}
        }
    }

    /// Returns true if something may empty a place.
    fn has(&self, place: &Filled, names: &Names, types: DeclaredTypes<'_>) -> bool {
        if self.places.contains(place.var) {
            return true;
        }
        let fields = place.steps.iter().map(|step| match step {
            FilledStep::Field(name) => Some(*name),
            FilledStep::Parameter(_) => None,
        });
        let along = types.along(names, place.var, fields);
        // A whole that is set keeps no entry, and no option within it.
        (0..place.steps.len()).any(|step| {
            let within = place.steps.iter().zip(&along[1..]).skip(step);
            self.set.contains(&(place.var, step))
                && within.into_iter().any(|(step, ty)| {
                    matches!(step, FilledStep::Parameter(_)) || ty.is_none_or(Type::is_option)
                })
        })
    }
}

/// Returns the field of a step; `None` for an element.
fn field(step: &Step) -> Option<&str> {
    match step {
        Step::Field(name) => Some(&name.node),
        Step::Index(_) => None,
    }
}

/// Returns true if a value may be missing.
fn may_be_missing(
    value: &ast::Expr,
    tool: Option<(&ast::Tool, usize)>,
    types: DeclaredTypes<'_>,
) -> bool {
    let is_result = matches!(&value.kind, ExprKind::Name(name) if name == "result");
    match types.argument(value, tool) {
        Some(ty) => ty.is_option(),
        // The result of a tool without `returns` may be null.
        None => is_result || !is_present(value),
    }
}

/// Returns true if a value cannot be missing, judged by its written expression.
fn is_present(value: &ast::Expr) -> bool {
    match &value.kind {
        ExprKind::Name(name) => name == "result",
        ExprKind::String(_) | ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Duration(_) => {
            true
        }
        ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Is(..) => true,
        ExprKind::Else(_, otherwise) => is_present(otherwise),
        ExprKind::If(_, a, b) => is_present(a) && is_present(b),
        _ => false,
    }
}

fn place<'a>(target: &'a ast::Target, tool: &'a ast::Tool) -> Option<Filled<'a>> {
    let mut steps = Vec::new();
    for step in &target.path {
        steps.push(match step {
            Step::Field(name) => FilledStep::Field(&name.node),
            Step::Index(at) => match &at.kind {
                ExprKind::Name(name) if tool.params.iter().any(|p| p.name.node == *name) => {
                    FilledStep::Parameter(name)
                }
                // The tool that requires this one could not name a computed key.
                _ => return None,
            },
        });
    }
    Some(Filled { var: &target.var.node, steps })
}

/// Returns the keys that the clauses of a tool establish, each with its clause.
pub(crate) fn by_clauses(
    clauses: &[Governs],
    names: &Names,
    filled: &HashMap<&str, Vec<Filled>>,
    params: &[Field],
) -> Vec<(usize, String)> {
    let mut scope = Scope::new(names, ExprPlace::Rule, params, MissingMeaning::Strict);
    let mut keys = Vec::new();
    for (at, Governs { governing, lets, .. }) in clauses.iter().enumerate() {
        scope.lets = lets.clone();
        if governing.shadow() {
            continue;
        }
        let mut found = Vec::new();
        match &governing.clause.kind {
            ClauseKind::Deny { guard, .. } => {
                narrow::implied(&guard.condition, guard.unless, &scope, &mut found)
            }
            ClauseKind::Requires { all, guard: None } => {
                for alternatives in all {
                    // Of several alternatives, it is unknown which one has succeeded.
                    if let [only] = alternatives.as_slice() {
                        required(only, names, filled, &scope, &mut found);
                    }
                }
            }
            _ => {}
        }
        keys.extend(found.into_iter().map(|key| (at, key)));
    }
    keys
}

/// A write of a clause into a variable.
struct PlaceWrite<'a> {
    var: &'a str,
    /// The number of steps from the variable to the place.
    steps: usize,
    /// True if the place itself may be missing afterwards.
    empties: bool,
}

impl<'a> PlaceWrite<'a> {
    fn new(target: &'a ast::Target, empties: bool) -> Self {
        PlaceWrite { var: &target.var.node, steps: target.path.len(), empties }
    }
}

/// Returns the keys that are still established when the effects of the tool are written, and those
/// that are still established when its observations are written too. `returns` is the type of its
/// result, if it is declared; otherwise the result may be null.
pub(crate) fn after_writes(
    base: &[(usize, String)],
    clauses: &[Governing],
    returns: Option<&Type>,
) -> [Vec<(usize, String)>; 2] {
    let may_be_null = returns.is_none_or(Type::is_option);
    let mut effects = Vec::new();
    let mut observations = Vec::new();
    for governing in clauses {
        match &governing.clause.kind {
            ClauseKind::Effect(all) => effects.extend(all.iter().map(|effect| {
                let empties = match &effect.kind {
                    EffectKind::Delete => true,
                    EffectKind::Set(value) => !is_present(value),
                    _ => false,
                };
                PlaceWrite::new(&effect.target, empties)
            })),
            ClauseKind::Observe { target, value, .. } => {
                let result = matches!(&value.kind, ExprKind::Name(name) if name == "result");
                let empties = if result { may_be_null } else { !is_present(value) };
                observations.push(PlaceWrite::new(target, empties));
            }
            _ => {}
        }
    }
    let kept = |keys: &[(usize, String)], writes: &[PlaceWrite]| -> Vec<(usize, String)> {
        keys.iter().filter(|(_, key)| stays(key, writes)).cloned().collect()
    };
    let after_effects = kept(base, &effects);
    let after_all = kept(&after_effects, &observations);
    [after_effects, after_all]
}

/// Returns true if a key is still established after these writes. A place within a written place is
/// not established any more. Neither is a place that is found by means of a written value, because
/// `first` may then find another element, or none.
fn stays(key: &str, writes: &[PlaceWrite]) -> bool {
    // Steps within an index count too. So rather too few keys stay established than too many.
    let steps = key.matches(['.', '[']).count();
    let words = key.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.enumerate().all(|(at, word)| {
        // The first word is the variable that contains the place.
        let breaks = |write: &PlaceWrite| {
            let within = steps > write.steps || (steps == write.steps && write.empties);
            write.var == word && (at > 0 || within)
        };
        !writes.iter().any(breaks) && word != "First"
    })
}

fn required(
    requirement: &ast::Requirement,
    names: &Names,
    filled: &HashMap<&str, Vec<Filled>>,
    scope: &Scope,
    out: &mut Vec<String>,
) {
    // The value of a parameter of the required tool, as the requiring tool writes it.
    let argument = |parameter: &str| {
        requirement.keys.iter().find_map(|arg| {
            let named = match &arg.name {
                Some(name) => name.node == parameter,
                // An argument without a name stands for the parameter of the same name.
                None => matches!(&arg.value.kind, ExprKind::Name(n) if n == parameter),
            };
            if named { narrow::key(&arg.value, scope) } else { None }
        })
    };
    for place in filled.get(requirement.tool.node.as_str()).into_iter().flatten() {
        let mut key = place.var.to_string();
        // A parameter of the same name hides the variable.
        let mut whole = names.state.peek(place.var).is_some() && scope.param(place.var).is_none();
        for step in &place.steps {
            match step {
                FilledStep::Field(name) => key = format!("{key}.{name}"),
                FilledStep::Parameter(name) => match argument(name) {
                    Some(value) => key = format!("{key}[{value}]"),
                    None => whole = false,
                },
            }
        }
        if whole {
            out.push(key);
        }
    }
}
