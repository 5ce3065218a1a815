//! A contract made ready: regexes compiled, names indexed, lists with what they hold. Reads no text.

use guard_plan::json::Json;
use guard_plan::plan::{self, Field, ItemShape, Plan, RegexId, TypeDef, TypeId};
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Most bytes a compiled regular expression may take; as the kernel has it.
const REGEX_BYTES: usize = 1 << 20;

/// Why a contract cannot be made ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContractError {
    /// The plan has no contract at this place.
    NoContract(usize),
    /// The contract's types are not those of a contract; says what is wrong.
    Shape(String),
    /// A regular expression does not compile.
    Regex(String),
    /// A list has a JSON Schema, and nobody to carry it out was given, or it is none; names the file and says why.
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

/// Makes JSON Schemas ready; another crate does it, so that this one stays light.
pub trait Schemas {
    /// The schema with this text, which stands in the plan under this file's name.
    fn prepare(&self, file: &str, text: &str) -> Result<Box<dyn Schema>, String>;
}

/// A JSON Schema made ready.
pub trait Schema: Send + Sync {
    /// What is wrong with a value.
    fn check(&self, value: &Json) -> Result<(), String>;
}

/// Nobody carries out JSON Schemas: for contracts without them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSchemas;

impl Schemas for NoSchemas {
    fn prepare(&self, _: &str, _: &str) -> Result<Box<dyn Schema>, String> {
        Err("nobody can carry out JSON Schemas here".into())
    }
}

/// A few names, found fast.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeSet<Box<str>>);

impl Names {
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// A list made ready.
pub(crate) struct List {
    /// With those around it: `sections.findings`.
    pub name: String,
    /// The member that holds it.
    pub member: String,
    pub within: Option<usize>,
    /// The type of its items; none where a schema says it.
    pub ty: Option<TypeId>,
    pub schema: Option<Box<dyn Schema>>,
    pub max: Option<u64>,
    pub by: Option<String>,
    /// Names of an item's members.
    pub own: Names,
    /// Those of them that nothing inside of an item can have.
    pub sure: Names,
    /// Items may have any member.
    pub any: bool,
    /// The lists within its items.
    pub nested: Vec<usize>,
    /// What its items refer by.
    pub references: Vec<usize>,
}

/// A contract made ready.
pub(crate) struct Prepared {
    pub contract: plan::Contract,
    pub types: Vec<TypeDef>,
    regexes: HashMap<RegexId, Regex>,
    pub lists: Vec<List>,
    /// The lists of the document.
    pub top: Vec<usize>,
    /// The members of the envelope, lists included.
    pub fields: Vec<Field>,
    /// Their names.
    pub envelope: Names,
    /// What members of the envelope refer by.
    pub references: Vec<usize>,
    /// Every name that the contract gives a member.
    pub declared: Names,
}

impl Prepared {
    pub fn new(plan: &Plan, at: usize, schemas: &dyn Schemas) -> Result<Prepared, ContractError> {
        let contract = plan.contracts.get(at).ok_or(ContractError::NoContract(at))?.clone();
        let Some(TypeDef::Record { fields, .. }) = plan.types.get(contract.record as usize) else {
            return Err(ContractError::Shape("the document is no record".into()));
        };
        let mut lists = Vec::with_capacity(contract.lists.len());
        for (at, list) in contract.lists.iter().enumerate() {
            lists.push(prepare(plan, &contract, at, list, &lists, schemas)?);
        }
        let mut used = BTreeSet::new();
        reach(&plan.types, contract.record, &mut used);
        lists.iter().filter_map(|list| list.ty).for_each(|ty| reach(&plan.types, ty, &mut used));
        Ok(Prepared {
            declared: declared(&plan.types, &used, &lists),
            regexes: regexes(plan, &used)?,
            types: plan.types.clone(),
            top: (0..lists.len()).filter(|at| lists[*at].within.is_none()).collect(),
            envelope: Names(fields.iter().map(|field| (*field.name).into()).collect()),
            fields: fields.clone(),
            references: references(&contract, None),
            lists,
            contract,
        })
    }

    /// Whether a regular expression of the plan matches; one that is not there never does.
    pub fn matches(&self, id: RegexId, text: &str) -> bool {
        self.regexes.get(&id).is_some_and(|regex| regex.is_match(text))
    }

    /// The list that a member of the envelope, or of an item, holds.
    pub fn list_of(&self, item: Option<usize>, member: &str) -> Option<usize> {
        let within = match item {
            Some(list) => &self.lists[list].nested,
            None => &self.top,
        };
        within.iter().copied().find(|list| self.lists[*list].member == member)
    }

    /// Whether an item of the document's lists may have this member; which list's.
    pub fn frame_of(&self, name: &str) -> Option<usize> {
        self.top.iter().copied().find(|list| self.lists[*list].own.has(name))
    }
}

fn references(contract: &plan::Contract, list: Option<u32>) -> Vec<usize> {
    let of = |at: &usize| contract.references[*at].list == list;
    (0..contract.references.len()).filter(of).collect()
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
                ContractError::Shape(format!("`{}` stands before the list around it", list.name))
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
        own: Names::default(),
        sure: Names::default(),
        any: false,
        nested: contract.lists.iter().enumerate().filter_map(inside).collect(),
        references: references(contract, Some(at as u32)),
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

/// The names of an item's members, and those that nothing inside of it can have.
fn names(types: &[TypeDef], ty: TypeId, list: &mut List) {
    let Some(TypeDef::Record { fields, .. }) = types.get(ty as usize) else {
        list.any = true;
        return;
    };
    list.own = Names(fields.iter().map(|field| (*field.name).into()).collect());
    let mut inside = BTreeSet::new();
    fields.iter().for_each(|field| reach(types, field.ty, &mut inside));
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for ty in inside {
        match types.get(ty as usize) {
            Some(TypeDef::Record { fields, .. }) => {
                taken.extend(fields.iter().map(|field| field.name.as_str()));
            }
            // Anything may stand in these.
            Some(TypeDef::Json | TypeDef::Map { .. }) => return,
            _ => {}
        }
    }
    list.sure =
        Names(list.own.0.iter().filter(|name| !taken.contains(&***name)).cloned().collect());
}

/// The members that a schema declares at its top.
fn properties(text: &str) -> Names {
    let schema = Json::parse(text).unwrap_or(Json::Null);
    match schema.get("properties") {
        Some(Json::Object(members)) => {
            Names(members.iter().map(|(name, _)| name.clone()).collect())
        }
        _ => Names::default(),
    }
}

/// A type and all inside of it.
fn reach(types: &[TypeDef], ty: TypeId, seen: &mut BTreeSet<TypeId>) {
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match types.get(ty as usize) {
            Some(TypeDef::Record { fields, .. }) => open.extend(fields.iter().map(|f| f.ty)),
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

fn declared(types: &[TypeDef], used: &BTreeSet<TypeId>, lists: &[List]) -> Names {
    let records = used.iter().filter_map(|ty| match types.get(*ty as usize) {
        Some(TypeDef::Record { fields, .. }) => Some(fields),
        _ => None,
    });
    let names = records.flatten().map(|field| (*field.name).into());
    Names(names.chain(lists.iter().flat_map(|list| list.own.0.iter().cloned())).collect())
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
