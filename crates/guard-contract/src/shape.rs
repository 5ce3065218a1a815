//! A compiled contract: regular expressions compiled, names indexed, lists with their members. This
//! module reads no text.

use guard_plan::json::Json;
use guard_plan::plan::{self, CoercedForm, Field, ItemShape, Plan, RegexId, Root, TypeDef, TypeId};
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// The maximum size of a compiled regular expression, in bytes; the same as in the kernel.
const REGEX_BYTES: usize = 1 << 20;

/// The reason why a contract cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContractError {
    /// The plan has no contract with this index.
    NoContract(usize),
    /// The contract's types are invalid for a contract. Contains the reason.
    Shape(String),
    /// A regular expression does not compile.
    Regex(String),
    /// A list has a JSON Schema, and no validator was given, or the schema is invalid. Contains the
    /// file and the reason.
    Schema(String, String),
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContractError::NoContract(at) => write!(f, "the plan has no contract {at}"),
            ContractError::Shape(why) => f.write_str(why),
            ContractError::Regex(why) => write!(f, "a pattern does not compile: {why}"),
            ContractError::Schema(file, why) => write!(f, "the schema `{file}`: {why}"),
        }
    }
}

impl std::error::Error for ContractError {}

/// A compiler of JSON Schemas. Another crate implements it, so that this crate has few
/// dependencies.
pub trait Schemas {
    /// Compiles the schema with this text; the plan lists it under this file name.
    ///
    /// # Errors
    ///
    /// Returns the reason why the text is not a valid schema.
    fn prepare(&self, file: &str, text: &str) -> Result<Box<dyn Schema>, String>;
}

/// A compiled JSON Schema.
pub trait Schema: Send + Sync {
    /// Validates a value.
    ///
    /// # Errors
    ///
    /// Returns the violations as text.
    fn check(&self, value: &Json) -> Result<(), String>;
}

/// A compiler that accepts no JSON Schemas, for contracts without them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSchemas;

impl Schemas for NoSchemas {
    fn prepare(&self, _: &str, _: &str) -> Result<Box<dyn Schema>, String> {
        Err("JSON Schemas are not supported here".into())
    }
}

/// A few names with fast look-up.
#[derive(Debug, Default)]
pub(crate) struct NameSet(BTreeSet<Box<str>>);

impl NameSet {
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// A compiled list.
pub(crate) struct List {
    /// The name of the list, with those of the enclosing lists: `sections.findings`.
    pub name: String,
    /// The member that holds it.
    pub member: String,
    pub within: Option<usize>,
    /// The type of its items; `None` if a schema defines it.
    pub ty: Option<TypeId>,
    pub schema: Option<Box<dyn Schema>>,
    pub max: Option<u64>,
    pub by: Option<String>,
    /// The names of an item's members.
    pub own: NameSet,
    /// The names among these that no value inside an item can have.
    pub sure: NameSet,
    /// True if items may have any member.
    pub any: bool,
    /// The lists within its items.
    pub nested: Vec<usize>,
    /// The references of its items.
    pub references: Vec<usize>,
    /// True if an item that the end of the text cuts counts when all its members are complete.
    pub partial: bool,
}

/// A compiled contract.
pub(crate) struct PreparedContract {
    pub contract: plan::Contract,
    pub types: Vec<TypeDef>,
    regexes: HashMap<RegexId, Regex>,
    /// The fields of records that are also accepted in another form.
    pub coercions: HashMap<(TypeId, u32), CoercedForm>,
    pub lists: Vec<List>,
    /// The lists of the document.
    pub top: Vec<usize>,
    /// The members of the envelope, lists included.
    pub fields: Vec<Field>,
    /// The names of the envelope's members; none if the document is not an object.
    pub envelope: NameSet,
    /// The references of the envelope's members.
    pub references: Vec<usize>,
    /// Every member name in the contract.
    pub declared: NameSet,
    /// The names of secret members, of the document and of records in it.
    pub secrets: NameSet,
    /// True if a member of the envelope that is not a list may contain objects.
    pub roomy: bool,
}

impl PreparedContract {
    pub fn new(
        plan: &Plan,
        at: usize,
        schemas: &dyn Schemas,
    ) -> Result<PreparedContract, ContractError> {
        let contract = plan.contracts.get(at).ok_or(ContractError::NoContract(at))?.clone();
        let Some(TypeDef::Record { fields, .. }) = plan.types.get(contract.record as usize) else {
            return Err(ContractError::Shape("the document is not a record".into()));
        };
        let mut lists = Vec::with_capacity(contract.lists.len());
        for (at, list) in contract.lists.iter().enumerate() {
            lists.push(prepare(plan, &contract, at, list, &lists, schemas)?);
        }
        let mut used = BTreeSet::new();
        reach(&plan.types, contract.record, &mut used);
        lists.iter().filter_map(|list| list.ty).for_each(|ty| reach(&plan.types, ty, &mut used));
        Ok(PreparedContract {
            declared: declared(&plan.types, &used, &lists),
            secrets: secrets(&plan.types, &used),
            roomy: roomy(plan, &contract, fields),
            regexes: regexes(plan, &used)?,
            types: plan.types.clone(),
            top: (0..lists.len()).filter(|at| lists[*at].within.is_none()).collect(),
            envelope: match contract.root {
                Root::Envelope => {
                    NameSet(fields.iter().map(|field| (*field.name).into()).collect())
                }
                _ => NameSet::default(),
            },
            coercions: coercions(plan),
            fields: fields.clone(),
            references: references(&contract, None),
            lists,
            contract,
        })
    }

    /// Returns true if a regular expression of the plan matches; a missing one never matches.
    pub fn matches(&self, id: RegexId, text: &str) -> bool {
        self.regexes.get(&id).is_some_and(|regex| regex.is_match(text))
    }

    /// Returns the list in a member of the envelope or of an item.
    pub fn list_of(&self, item: Option<usize>, member: &str) -> Option<usize> {
        let within = match item {
            Some(list) => &self.lists[list].nested,
            None => &self.top,
        };
        within.iter().copied().find(|list| self.lists[*list].member == member)
    }

    /// Returns true if a type has a secret member.
    pub fn holds_secret(&self, ty: TypeId) -> bool {
        let mut inside = BTreeSet::new();
        reach(&self.types, ty, &mut inside);
        inside.iter().any(|ty| match self.types.get(*ty as usize) {
            Some(TypeDef::Record { fields, .. }) => fields.iter().any(|field| field.secret),
            _ => false,
        })
    }

    /// Returns the list of the document whose items may have this member.
    pub fn frame_of(&self, name: &str) -> Option<usize> {
        self.top.iter().copied().find(|list| self.lists[*list].own.has(name))
    }
}

fn coercions(plan: &Plan) -> HashMap<(TypeId, u32), CoercedForm> {
    let coerced =
        |coercion: &plan::Coercion| Some(((coercion.record, coercion.field), coercion.forms.from?));
    plan.coercions.iter().filter_map(coerced).collect()
}

fn references(contract: &plan::Contract, list: Option<u32>) -> Vec<usize> {
    let is_of_list = |at: &usize| contract.references[*at].list == list;
    (0..contract.references.len()).filter(is_of_list).collect()
}

fn prepare(
    plan: &Plan,
    contract: &plan::Contract,
    at: usize,
    list: &plan::ItemList,
    before: &[List],
    schemas: &dyn Schemas,
) -> Result<List, ContractError> {
    let within = list.within.map(|list| list as usize);
    let name = match within {
        None => list.name.clone(),
        Some(outer) => {
            let outer = before.get(outer);
            let outer = outer.ok_or_else(|| {
                ContractError::Shape(format!("`{}` precedes the list around it", list.name))
            })?;
            format!("{}.{}", outer.name, list.name)
        }
    };
    let inside = |(inner, other): (usize, &plan::ItemList)| {
        (other.within == Some(at as u32)).then_some(inner)
    };
    let mut out = List {
        name,
        member: list.name.clone(),
        within,
        ty: None,
        schema: None,
        max: list.max,
        by: list.by.clone(),
        own: NameSet::default(),
        sure: NameSet::default(),
        any: false,
        nested: contract.lists.iter().enumerate().filter_map(inside).collect(),
        references: references(contract, Some(at as u32)),
        partial: list.partial,
    };
    match &list.shape {
        ItemShape::Type(ty) => {
            out.ty = Some(*ty);
            names(&plan.types, *ty, &mut out);
        }
        ItemShape::Schema { file, text } => {
            let schema = schemas.prepare(file, text);
            out.schema = Some(schema.map_err(|why| ContractError::Schema(file.clone(), why))?);
            out.own = properties(text);
            out.any = out.own.0.is_empty();
        }
    }
    Ok(out)
}

/// Returns the names of an item's members, and those that no value inside it can have.
fn names(types: &[TypeDef], ty: TypeId, list: &mut List) {
    let cases: Vec<&TypeDef> = match types.get(ty as usize) {
        Some(TypeDef::Union { tag, cases, .. }) => {
            list.own.0.insert(tag.as_str().into());
            cases.iter().filter_map(|case| types.get(case.ty as usize)).collect()
        }
        def => def.into_iter().collect(),
    };
    let fields = |def: &&TypeDef| match def {
        TypeDef::Record { fields, .. } => Some(fields.clone()),
        _ => None,
    };
    let fields: Vec<Field> = cases.iter().filter_map(fields).flatten().collect();
    if fields.is_empty() && list.own.0.is_empty() {
        list.any = true;
        return;
    }
    list.own.0.extend(fields.iter().map(|field| Box::from(&*field.name)));
    let mut inside = BTreeSet::new();
    fields.iter().for_each(|field| reach(types, field.ty, &mut inside));
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for ty in inside {
        match types.get(ty as usize) {
            Some(TypeDef::Record { fields, .. }) => {
                taken.extend(fields.iter().map(|field| field.name.as_str()));
            }
            Some(TypeDef::Union { tag, .. }) => _ = taken.insert(tag),
            // These types may contain any value.
            Some(TypeDef::Json | TypeDef::Map { .. }) => return,
            _ => {}
        }
    }
    list.sure =
        NameSet(list.own.0.iter().filter(|name| !taken.contains(&***name)).cloned().collect());
}

/// Returns the members that a schema declares at its top level.
fn properties(text: &str) -> NameSet {
    let schema = Json::parse(text).unwrap_or(Json::Null);
    match schema.get("properties") {
        Some(Json::Object(members)) => {
            NameSet(members.iter().map(|(name, _)| name.clone()).collect())
        }
        _ => NameSet::default(),
    }
}

/// Collects a type and all types inside it.
fn reach(types: &[TypeDef], ty: TypeId, seen: &mut BTreeSet<TypeId>) {
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match types.get(ty as usize) {
            Some(TypeDef::Record { fields, .. }) => open.extend(fields.iter().map(|f| f.ty)),
            Some(TypeDef::Union { cases, .. }) => open.extend(cases.iter().map(|case| case.ty)),
            Some(
                TypeDef::List { of, .. }
                | TypeDef::Set { of, .. }
                | TypeDef::Map { of, .. }
                | TypeDef::Option { of },
            ) => open.push(*of),
            _ => {}
        }
    }
}

/// Returns true if a member of the envelope that is not a list may contain objects.
fn roomy(plan: &Plan, contract: &plan::Contract, fields: &[Field]) -> bool {
    let lists = |at: usize| {
        contract.lists.iter().any(|list| list.within.is_none() && list.field as usize == at)
    };
    let mut inside = BTreeSet::new();
    let others = fields.iter().enumerate().filter(|(at, _)| !lists(*at));
    others.for_each(|(_, field)| reach(&plan.types, field.ty, &mut inside));
    inside.iter().any(|ty| {
        let def = plan.types.get(*ty as usize);
        matches!(
            def,
            Some(
                TypeDef::Json
                    | TypeDef::Map { .. }
                    | TypeDef::Record { .. }
                    | TypeDef::Union { .. }
            )
        )
    })
}

fn secrets(types: &[TypeDef], used: &BTreeSet<TypeId>) -> NameSet {
    let records = used.iter().filter_map(|ty| match types.get(*ty as usize) {
        Some(TypeDef::Record { fields, .. }) => Some(fields),
        _ => None,
    });
    let secret = records.flatten().filter(|field| field.secret);
    NameSet(secret.map(|field| (*field.name).into()).collect())
}

fn declared(types: &[TypeDef], used: &BTreeSet<TypeId>, lists: &[List]) -> NameSet {
    let records = used.iter().filter_map(|ty| match types.get(*ty as usize) {
        Some(TypeDef::Record { fields, .. }) => Some(fields),
        _ => None,
    });
    let names = records.flatten().map(|field| (*field.name).into());
    let tags = used.iter().filter_map(|ty| match types.get(*ty as usize) {
        Some(TypeDef::Union { tag, .. }) => Some(Box::from(tag.as_str())),
        _ => None,
    });
    let own = lists.iter().flat_map(|list| list.own.0.iter().cloned());
    NameSet(names.chain(tags).chain(own).collect())
}

fn regexes(plan: &Plan, used: &BTreeSet<TypeId>) -> Result<HashMap<RegexId, Regex>, ContractError> {
    let mut regexes = HashMap::new();
    for ty in used {
        let Some(TypeDef::String { patterns, .. }) = plan.types.get(*ty as usize) else { continue };
        for id in patterns {
            let text = plan.regexes.get(*id as usize).map_or("", String::as_str);
            let regex = RegexBuilder::new(text).size_limit(REGEX_BYTES).build();
            let regex = regex.map_err(|e| ContractError::Regex(e.to_string()))?;
            regexes.insert(*id, regex);
        }
    }
    Ok(regexes)
}
