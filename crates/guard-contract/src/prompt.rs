//! A contract as instructions for the producer.

use crate::schema::Lists;
use guard_plan::json::Json;
use guard_plan::plan::{
    Allowed, Contract, Field, ItemList, ItemShape, Plan, Root, TypeDef, TypeId, UnionCase,
};
use guard_plan::render::cut;
use guard_plan::words::{further, plain};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the instructions for a producer: shape, framing, limits, and that fewer well-formed
/// items are better than more. Empty if the plan has no contract with this index. The values that a
/// member may refer to are named, if the host provides their list.
pub fn prompt(plan: &Plan, contract: usize, known: &Lists) -> String {
    let Some(contract) = plan.contracts.get(contract) else { return String::new() };
    let mut writer =
        PromptWriter { plan, contract, known, out: String::new(), told: BTreeSet::new() };
    writer.document();
    writer.lists();
    writer.rules();
    writer.out
}

struct PromptWriter<'a> {
    plan: &'a Plan,
    contract: &'a Contract,
    known: &'a Lists,
    out: String,
    /// The types that were already described.
    told: BTreeSet<TypeId>,
}

impl PromptWriter<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn document(&mut self) {
        let what = match self.contract.root {
            Root::Envelope => "object",
            Root::Items => "list",
            Root::Value => "value",
        };
        self.line(format!("Answer with one JSON {what}, and nothing before or after it."));
        if !self.contract.doc.is_empty() {
            self.line(self.contract.doc.clone());
        }
        self.line("");
        let field = match self.def(self.contract.record) {
            Some(TypeDef::Record { fields, .. }) => fields.first().cloned(),
            _ => None,
        };
        match (self.contract.root, field) {
            (Root::Envelope, _) | (_, None) => {
                self.line("Its members:");
                self.members(self.contract.record, None);
            }
            (Root::Items, _) => {
                let max = self.contract.lists[0].max;
                let cap = max.map_or(String::new(), |max| format!(", at most {max}"));
                self.line(format!("It is a list of items, as below{cap}."));
            }
            (Root::Value, Some(field)) => {
                self.line(format!("It is: {}.", plain(self.plan, field.ty)));
                self.spell_out(field.ty);
            }
        }
    }

    /// Describes the members of a record: the document's, that of a list's items, or neither.
    fn members(&mut self, record: TypeId, list: Option<Option<u32>>) {
        let Some(TypeDef::Record { fields, .. }) = self.plan.types.get(record as usize) else {
            return;
        };
        let within = list.unwrap_or(None);
        let mut inside = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            let found = |l: &&ItemList| l.within == within && l.field as usize == at;
            let items = self.contract.lists.iter().find(found).filter(|_| record_of_lists(list));
            match items {
                Some(items) => {
                    let cap = items.max.map_or(String::new(), |max| format!(", at most {max}"));
                    self.member(field, &format!("list of items, as below{cap}"));
                }
                None => {
                    let optional = matches!(self.def(field.ty), Some(TypeDef::Option { .. }));
                    let ty = plain(self.plan, unwrapped(self.plan, field.ty));
                    let optional = if optional { "; may be left out" } else { "" };
                    self.member(field, &format!("{ty}{optional}"));
                    inside.push(field.ty);
                }
            }
        }
        for ty in inside {
            self.spell_out(ty);
        }
    }

    /// Writes a line about a member, with its documentation.
    fn member(&mut self, field: &Field, kind: &str) {
        self.line(format!("- `{}`: {kind}{}", field.name, further(&field.doc)));
    }

    fn def(&self, ty: TypeId) -> Option<&TypeDef> {
        self.plan.types.get(ty as usize)
    }

    /// Describes the types inside a type, if their names alone are not enough.
    fn spell_out(&mut self, ty: TypeId) {
        let mut open = vec![ty];
        while let Some(ty) = open.pop() {
            match self.def(ty).cloned() {
                Some(TypeDef::Record { name, .. }) if self.told.insert(ty) => {
                    self.line("");
                    self.line(format!("An object `{name}` has the members:"));
                    self.members(ty, Some(Some(u32::MAX)));
                }
                Some(TypeDef::Union { name, tag, cases }) if self.told.insert(ty) => {
                    self.line("");
                    self.line(format!("An object `{name}` is one of these:"));
                    self.cases(&tag, &cases, Some(Some(u32::MAX)));
                }
                Some(TypeDef::Enum { name, variants })
                    if variants.len() > 8 && self.told.insert(ty) =>
                {
                    let names: Vec<String> = variants.iter().map(|v| format!("`{v}`")).collect();
                    self.line("");
                    self.line(format!("The variants of `{name}` are: {}.", names.join(", ")));
                }
                Some(
                    TypeDef::List { of, .. }
                    | TypeDef::Set { of, .. }
                    | TypeDef::Map { of, .. }
                    | TypeDef::Option { of },
                ) => open.push(of),
                _ => {}
            }
        }
    }

    /// Describes the cases of a union.
    fn cases(&mut self, tag: &str, cases: &[UnionCase], list: Option<Option<u32>>) {
        for case in cases {
            self.line("");
            self.line(format!("With `{tag}` \"{}\", it has the other members:", case.tag));
            self.members(case.ty, list);
        }
    }

    fn lists(&mut self) {
        for (at, list) in self.contract.lists.iter().enumerate() {
            self.line("");
            match &list.shape {
                ItemShape::Type(ty) => {
                    let list = &list.name;
                    let union = match self.def(*ty) {
                        Some(TypeDef::Union { tag, cases, .. }) => {
                            Some((tag.clone(), cases.clone()))
                        }
                        _ => None,
                    };
                    match union {
                        Some((tag, cases)) => {
                            self.line(format!("Each item of `{list}` is an object, one of these:"));
                            self.cases(&tag, &cases, Some(Some(at as u32)));
                        }
                        None => {
                            self.line(format!(
                                "Each item of `{list}` is an object with the members:"
                            ));
                            self.members(*ty, Some(Some(at as u32)));
                        }
                    }
                }
                ItemShape::Schema { text, .. } => {
                    self.line(format!("Each item of `{}` satisfies this JSON Schema:", list.name));
                    self.line(text.trim());
                }
            }
            match (&list.max, &list.by) {
                (Some(max), Some(by)) => self.line(format!(
                    "Give at most {max} of them; of more only the {max} with the least `{by}` are kept."
                )),
                (Some(max), None) => {
                    self.line(format!("Give at most {max} of them; of more only the first {max} are kept."));
                }
                _ => {}
            }
        }
    }

    fn rules(&mut self) {
        let bounds = &self.contract.bounds;
        let depth = bounds.depth;
        let string = bounds.string;
        let bytes = bounds.bytes;
        self.line("");
        self.line("Rules:");
        self.line("- Write each item on a line of its own, as one complete JSON object; an item that cannot be read is lost.");
        self.line("- Escape quotes, backslashes and line breaks inside of strings. No comments, no trailing commas, no other quotes.");
        self.line("- Use the members named here and no others.");
        let mut limits = String::new();
        let _ = write!(
            limits,
            "- An item nests at most {depth} deep, has strings of at most {string} characters and at most {bytes} bytes."
        );
        self.line(limits);
        for reference in &self.contract.references {
            let text = &reference.text;
            if let Allowed::Given(name) = &reference.allowed
                && let Some(values) = self.known.get(name)
            {
                let known = spelt_out(values);
                self.line(format!("- `{}`: {known}.", reference.path.join(".")));
                continue;
            }
            let known = match &reference.allowed {
                Allowed::Given(_) | Allowed::Fact(_) => "refer only to known values",
                Allowed::Values(_) => "refer only to existing values",
            };
            self.line(format!("- `{text}`: {known}."));
        }
        if !self.contract.lists.is_empty() {
            self.line("- If uncertain, emit fewer well-formed items rather than more.");
        }
    }
}

/// The maximum number of values of a list that are named.
const NAMED: usize = 50;

/// Formats the values of a list, and the number of further ones.
fn spelt_out(values: &[Json]) -> String {
    let named: Vec<String> =
        values.iter().take(NAMED).map(|value| cut(&value.to_string(), 100)).collect();
    match values.len() - named.len() {
        _ if values.is_empty() => "there is no value to refer to: leave it out".into(),
        0 => format!("one of {}", named.join(", ")),
        more => format!("one of {}, and {more} more", named.join(", ")),
    }
}

/// Returns true if lists can occur in this record.
fn record_of_lists(list: Option<Option<u32>>) -> bool {
    list != Some(Some(u32::MAX))
}

/// Returns the type inside an option.
fn unwrapped(plan: &Plan, ty: TypeId) -> TypeId {
    match plan.types.get(ty as usize) {
        Some(TypeDef::Option { of }) => *of,
        _ => ty,
    }
}
