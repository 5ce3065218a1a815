//! Random guards that use every construct the prover speaks of, and share what they say between rules: a proof needs that the
//! same is said twice, a wrong proof that something else is taken for the same.

mod exprs;
mod rules;

use super::scenarios;
use guard_plan::random::Rng;
use std::fmt::Write as _;

/// The kind of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExprType {
    Int,
    Decimal,
    Bool,
    Text,
}

/// A name that an expression may use.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    kind: ExprType,
}

/// A collection: its name, and what its elements are.
#[derive(Debug, Clone, Copy)]
struct NamedCollection {
    name: &'static str,
    shape: CollectionShape,
    element: Element,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CollectionShape {
    List,
    Set,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Int,
    Decimal,
    Text,
    Item,
    Ints,
}

/// State variables: their declaration, and what they are to an expression.
const SCALARS: &[(&str, &str, ExprType)] = &[
    ("n", "int in -9..=9 = 0", ExprType::Int),
    ("z", "int = 0", ExprType::Int),
    ("k", "int in 0..=6 = 0", ExprType::Int),
    ("d", "decimal = 0", ExprType::Decimal),
    ("c", "decimal in 0..=5 = 0", ExprType::Decimal),
    ("b", "bool = false", ExprType::Bool),
    ("t", "string max 5 = \"a\"", ExprType::Text),
];

const COLLECTIONS: &[(&str, NamedCollection)] = &[
    ("list<int in 0..=5> max 4 = []", list("la", Element::Int)),
    ("list<int in -5..=5> max 4 = []", list("lb", Element::Int)),
    ("list<int> max 3 = []", list("lc", Element::Int)),
    ("list<decimal in 0..=5> max 3 = []", list("ld", Element::Decimal)),
    ("list<Item> max 3 = []", list("li", Element::Item)),
    ("list<list<int in 0..=3> max 2> max 2 = []", list("ll", Element::Ints)),
    (
        "set<string> max 3 = {}",
        NamedCollection { name: "ss", shape: CollectionShape::Set, element: Element::Text },
    ),
    (
        "set<int in -3..=9> max 3 = {}",
        NamedCollection { name: "si", shape: CollectionShape::Set, element: Element::Int },
    ),
    (
        "map<string, int in 0..=9> max 3 = {}",
        NamedCollection { name: "mi", shape: CollectionShape::Map, element: Element::Int },
    ),
    (
        "map<string, int in -9..=9> max 3 = {}",
        NamedCollection { name: "mj", shape: CollectionShape::Map, element: Element::Int },
    ),
    (
        "map<string, decimal in 0..=9> max 3 = {}",
        NamedCollection { name: "md", shape: CollectionShape::Map, element: Element::Decimal },
    ),
    (
        "map<string, Item> max 2 = {}",
        NamedCollection { name: "mm", shape: CollectionShape::Map, element: Element::Item },
    ),
];

const fn list(name: &'static str, element: Element) -> NamedCollection {
    NamedCollection { name, shape: CollectionShape::List, element }
}

const ITEM: &str = "record Item {\n  k: int in 0..=9\n  v: decimal in 0..=5\n  o: int?\n}\n";

/// The state of drawing a guard.
struct GuardDraft<'r> {
    rng: &'r mut Rng,
    names: Vec<Name>,
    collections: Vec<NamedCollection>,
    has_stage: bool,
    has_option: bool,
    has_record: bool,
    /// What most bounds of the guard are, so that its rules have to do with one another.
    bound_of_all: i64,
    /// Expressions that were said and have no bound variables: said again they are the same.
    said: Vec<(ExprType, String)>,
    bound: usize,
}

/// A guard of one coupled scenario.
fn coupled(rng: &mut Rng) -> String {
    let (state, invariant, tool) = scenarios::draw(rng, 0);
    // A budget that nothing charges is an error.
    let budget = if tool.contains("money") { "budget money = 20\n" } else { "" };
    let stage = if state.contains("Stage") { "enum Stage { low, mid, high }\n\n" } else { "" };
    let watched = if state.contains("sw:") { "sw" } else { "sz" };
    let look = if watched == "sw" || rng.chance(10) {
        format!(
            "\ntool look() {{\n  trusted\n  returns int in -9..=12\n  observe {watched} = result\n}}\n"
        )
    } else {
        String::new()
    };
    let known = if rng.chance(20) {
        format!("invariant told {{ sz <= {} }}\n", [6, 9, 12][rng.below(3)])
    } else {
        String::new()
    };
    format!(
        "guard stepped\n\n{budget}\n{stage}{ITEM}\nstate {{\n{state}}}\n\n{invariant}{known}\n{tool}{look}"
    )
}

/// A random guard.
pub fn source(rng: &mut Rng) -> String {
    if rng.chance(15) {
        return crate::bounded::grammar::source(rng);
    }
    if rng.chance(60) {
        return coupled(rng);
    }
    let mut out = format!("guard stepped\n\nenum Stage {{ low, mid, high }}\n\n{ITEM}\nstate {{\n");
    let mut draft = GuardDraft {
        rng,
        names: Vec::new(),
        collections: Vec::new(),
        has_stage: false,
        has_option: false,
        has_record: false,
        bound_of_all: 0,
        said: Vec::new(),
        bound: 0,
    };
    draft.bound_of_all = [0, 1, 1, 3, 5, 10][draft.rng.below(6)];
    draft.state(&mut out);
    out.push_str("}\n\n");
    let own = draft.names.len();
    for at in 0..1 + draft.rng.below(3) {
        let mode = ["", "", "", "", " monitor", " shadow"][draft.rng.below(6)];
        let condition = draft.invariant();
        let _ = writeln!(out, "invariant i{at}{mode} {{ {condition} }}");
    }
    for at in 0..2 {
        draft.names.truncate(own);
        draft.tool(at, &mut out);
    }
    if draft.rng.chance(15) {
        out.push_str("\ntool look(x: int in 0..=5) {\n  trusted\n  returns int in -9..=12\n");
        let name = ["n", "z", "k"][draft.rng.below(3)];
        if draft.names.iter().any(|known| known.text == name) {
            let _ = writeln!(out, "  observe {name} = result");
        }
        out.push_str("}\n");
    }
    out
}

impl GuardDraft<'_> {
    fn state(&mut self, out: &mut String) {
        for (name, ty, kind) in SCALARS {
            if *name == "z" || self.rng.chance(45) {
                let _ = writeln!(out, "  {name}: {ty}");
                self.names.push(Name { text: (*name).into(), kind: *kind });
            }
        }
        // Two that differ in the range of their elements only, or any.
        let pair = [(0, 1), (8, 9), (1, 2)][self.rng.below(3)];
        let mut chosen: Vec<usize> =
            (0..1 + self.rng.below(3)).map(|_| self.rng.below(COLLECTIONS.len())).collect();
        if self.rng.chance(35) {
            chosen = vec![pair.0, pair.1];
        }
        for at in chosen {
            let (ty, collection) = COLLECTIONS[at];
            if self.collections.iter().all(|known| known.name != collection.name) {
                let _ = writeln!(out, "  {}: {ty}", collection.name);
                self.collections.push(collection);
            }
        }
        self.has_stage = self.rng.chance(25);
        self.has_option = self.rng.chance(30);
        self.has_record = self.rng.chance(25);
        if self.has_stage {
            out.push_str("  e: Stage = low\n");
        }
        if self.has_option {
            out.push_str("  o: int? = none\n");
        }
        if self.has_record {
            out.push_str("  p: Item = { k: 0, v: 0, o: none }\n");
            self.names.push(Name { text: "p.k".into(), kind: ExprType::Int });
            self.names.push(Name { text: "p.v".into(), kind: ExprType::Decimal });
        }
    }

    fn tool(&mut self, at: usize, out: &mut String) {
        let params: [(&str, &str, ExprType); 7] = [
            ("x", "int in 0..=5", ExprType::Int),
            ("y", "int", ExprType::Int),
            ("w", "int in 0..=1000", ExprType::Int),
            ("v", "int in -9..=1000", ExprType::Int),
            ("q", "decimal in 0..=10", ExprType::Decimal),
            ("g", "string max 5", ExprType::Text),
            ("j", "bool", ExprType::Bool),
        ];
        let mut declared = Vec::new();
        for (name, ty, kind) in params {
            if self.rng.chance(60) {
                declared.push(format!("{name}: {ty}"));
                self.names.push(Name { text: name.into(), kind });
            }
        }
        let _ = writeln!(out, "\ntool t{at}({}) {{", declared.join(", "));
        if self.rng.chance(2) {
            self.heavy(out);
        }
        let twins = self.rng.chance(35).then(|| self.twins());
        if let Some((guarded, _)) = &twins {
            let _ = writeln!(out, "  deny unless {guarded}");
        }
        for _ in 0..self.rng.below(3) {
            let word = ["when", "unless"][self.rng.below(2)];
            let shadow = if self.rng.chance(6) { "shadow " } else { "" };
            let depth = 1 + self.rng.below(2);
            let condition = self.condition(depth);
            let _ = writeln!(out, "  {shadow}deny {word} {condition}");
        }
        let mut written = Vec::new();
        if let Some((_, value)) = twins {
            let _ = writeln!(out, "  effect z = {value}");
            written.push("z".to_string());
        }
        for _ in 0..1 + self.rng.below(2) {
            let (var, effect) = self.effect();
            if !written.contains(&var) {
                written.push(var);
                let _ = writeln!(out, "  effect {effect}");
            }
        }
        out.push_str("}\n");
    }

    /// A condition that bounds something, and an int that is that or nearly that: a proof of one is none of the other.
    fn twins(&mut self) -> (String, String) {
        let bound = self.bounding();
        let exact = self.rng.chance(60);
        match self.rng.below(6) {
            0 => {
                let a = self.named(ExprType::Int);
                let b = self.named(ExprType::Int);
                let ints = format!("({a} * 1000000) * ({b} * 1000000)");
                let guarded = if exact {
                    format!("{ints} <= {}", bound * 1_000_000)
                } else {
                    format!("decimal({a}) * decimal({b}) <= {bound}")
                };
                (guarded, ints)
            }
            1 => {
                let a = self.sum();
                let b = self.sum();
                let guarded = format!("{a} <= {bound}");
                (guarded, if exact { a } else { b })
            }
            2 => {
                let a = self.int(1);
                let b = if exact { a.clone() } else { self.int(1) };
                (format!("{a} <= {bound}"), b)
            }
            3 | 4 if let Some(list) = self.some_list() => {
                let sought = self.named(ExprType::Int);
                let op = ["<=", ">", ">=", "<"][self.rng.below(4)];
                let guarded =
                    format!("not (any r, u in {list}: u {op} {})", self.plain(ExprType::Int));
                (guarded, format!("if {sought} in {list} then 500 else {bound}"))
            }
            _ => {
                let a = self.condition(1);
                let b = if exact { a.clone() } else { self.condition(1) };
                (a, format!("if {b} then {bound} else 500"))
            }
        }
    }

    /// The bound of the guard, or another.
    fn bounding(&mut self) -> i64 {
        match self.rng.below(4) {
            0 => [0, 1, 3, 5, 10][self.rng.below(5)],
            _ => self.bound_of_all,
        }
    }

    /// A list of ints.
    fn some_list(&mut self) -> Option<&'static str> {
        let lists = self.of(CollectionShape::List, Element::Int);
        (!lists.is_empty()).then(|| self.rng.pick(&lists).name)
    }

    fn names_of(&self, kind: ExprType) -> Vec<String> {
        let names = self.names.iter().filter(|name| name.kind == kind);
        names.map(|name| name.text.clone()).collect()
    }

    /// A name where there is one.
    fn named(&mut self, kind: ExprType) -> String {
        let names = self.names_of(kind);
        if names.is_empty() { self.plain(kind) } else { self.rng.pick(&names).clone() }
    }
}
