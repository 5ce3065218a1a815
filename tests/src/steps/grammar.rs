//! Random guards that use every construct the prover speaks of, and share what they say between rules: a proof needs that the
//! same is said twice, a wrong proof that something else is taken for the same.

use super::scenarios;
use guard_plan::random::Rng;
use std::fmt::Write as _;

/// The kind of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Decimal,
    Bool,
    Text,
}

/// A name that an expression may use.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    kind: Kind,
}

/// A collection: its name, and what its elements are.
#[derive(Debug, Clone, Copy)]
struct Collection {
    name: &'static str,
    shape: Shape,
    element: Element,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
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
const SCALARS: &[(&str, &str, Kind)] = &[
    ("n", "int in -9..=9 = 0", Kind::Int),
    ("z", "int = 0", Kind::Int),
    ("k", "int in 0..=6 = 0", Kind::Int),
    ("d", "decimal = 0", Kind::Decimal),
    ("c", "decimal in 0..=5 = 0", Kind::Decimal),
    ("b", "bool = false", Kind::Bool),
    ("t", "string max 5 = \"a\"", Kind::Text),
];

const COLLECTIONS: &[(&str, Collection)] = &[
    ("list<int in 0..=5> max 4 = []", list("la", Element::Int)),
    ("list<int in -5..=5> max 4 = []", list("lb", Element::Int)),
    ("list<int> max 3 = []", list("lc", Element::Int)),
    ("list<decimal in 0..=5> max 3 = []", list("ld", Element::Decimal)),
    ("list<Item> max 3 = []", list("li", Element::Item)),
    ("list<list<int in 0..=3> max 2> max 2 = []", list("ll", Element::Ints)),
    (
        "set<string> max 3 = {}",
        Collection { name: "ss", shape: Shape::Set, element: Element::Text },
    ),
    (
        "set<int in -3..=9> max 3 = {}",
        Collection { name: "si", shape: Shape::Set, element: Element::Int },
    ),
    (
        "map<string, int in 0..=9> max 3 = {}",
        Collection { name: "mi", shape: Shape::Map, element: Element::Int },
    ),
    (
        "map<string, int in -9..=9> max 3 = {}",
        Collection { name: "mj", shape: Shape::Map, element: Element::Int },
    ),
    (
        "map<string, decimal in 0..=9> max 3 = {}",
        Collection { name: "md", shape: Shape::Map, element: Element::Decimal },
    ),
    (
        "map<string, Item> max 2 = {}",
        Collection { name: "mm", shape: Shape::Map, element: Element::Item },
    ),
];

const fn list(name: &'static str, element: Element) -> Collection {
    Collection { name, shape: Shape::List, element }
}

const ITEM: &str = "record Item {\n  k: int in 0..=9\n  v: decimal in 0..=5\n  o: int?\n}\n";

/// The state of drawing a guard.
struct Draft<'r> {
    rng: &'r mut Rng,
    names: Vec<Name>,
    collections: Vec<Collection>,
    has_stage: bool,
    has_option: bool,
    has_record: bool,
    /// What most bounds of the guard are, so that its rules have to do with one another.
    bound_of_all: i64,
    /// Expressions that were said and have no bound variables: said again they are the same.
    said: Vec<(Kind, String)>,
    bound: usize,
}

/// A guard of one coupled scenario.
fn coupled(rng: &mut Rng) -> String {
    let (state, invariant, tool) = scenarios::draw(rng, 0);
    // A budget that nothing charges is an error.
    let budget = if tool.contains("money") { "budget money = 20\n" } else { "" };
    let stage = if state.contains("Stage") { "enum Stage { low, mid, high }\n\n" } else { "" };
    let watched = if state.contains("sw:") { "sw" } else { "sz" };
    let look = match watched == "sw" || rng.chance(10) {
        true => format!(
            "\ntool look() {{\n  trusted\n  returns int in -9..=12\n  observe {watched} = result\n}}\n"
        ),
        false => String::new(),
    };
    let known = match rng.chance(20) {
        true => format!("invariant told {{ sz <= {} }}\n", [6, 9, 12][rng.below(3)]),
        false => String::new(),
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
    let mut draft = Draft {
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

impl Draft<'_> {
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
            self.names.push(Name { text: "p.k".into(), kind: Kind::Int });
            self.names.push(Name { text: "p.v".into(), kind: Kind::Decimal });
        }
    }

    fn tool(&mut self, at: usize, out: &mut String) {
        let params: [(&str, &str, Kind); 7] = [
            ("x", "int in 0..=5", Kind::Int),
            ("y", "int", Kind::Int),
            ("w", "int in 0..=1000", Kind::Int),
            ("v", "int in -9..=1000", Kind::Int),
            ("q", "decimal in 0..=10", Kind::Decimal),
            ("g", "string max 5", Kind::Text),
            ("j", "bool", Kind::Bool),
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
                let (a, b) = (self.named(Kind::Int), self.named(Kind::Int));
                let ints = format!("({a} * 1000000) * ({b} * 1000000)");
                let guarded = match exact {
                    true => format!("{ints} <= {}", bound * 1_000_000),
                    false => format!("decimal({a}) * decimal({b}) <= {bound}"),
                };
                (guarded, ints)
            }
            1 => {
                let (a, b) = (self.sum(), self.sum());
                let guarded = format!("{a} <= {bound}");
                (guarded, if exact { a } else { b })
            }
            2 => {
                let a = self.int(1);
                let b = if exact { a.clone() } else { self.int(1) };
                (format!("{a} <= {bound}"), b)
            }
            3 | 4 if let Some(list) = self.some_list() => {
                let sought = self.named(Kind::Int);
                let op = ["<=", ">", ">=", "<"][self.rng.below(4)];
                let guarded = format!("not (any r, u in {list}: u {op} {})", self.plain(Kind::Int));
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
        let lists = self.of(Shape::List, Element::Int);
        (!lists.is_empty()).then(|| self.rng.pick(&lists).name)
    }

    /// A name where there is one.
    fn named(&mut self, kind: Kind) -> String {
        let names: Vec<String> = self
            .names
            .iter()
            .filter(|name| name.kind == kind)
            .map(|name| name.text.clone())
            .collect();
        if names.is_empty() { self.plain(kind) } else { self.rng.pick(&names).clone() }
    }

    /// More than any encoder should take.
    fn heavy(&mut self, out: &mut String) {
        let lists: Vec<Collection> = self.of(Shape::List, Element::Int);
        let Some(list) = lists.first().map(|list| list.name) else { return };
        let depth = 5 + self.rng.below(2);
        let nest: String = (0..depth).map(|at| format!("all h{at} in {list}: ")).collect();
        let sum: Vec<String> = (0..depth).map(|at| format!("h{at}")).collect();
        let among: Vec<String> = (0..11).map(|at| format!("{at} in {list}")).collect();
        let _ = writeln!(out, "  deny when {}", among.join(" or "));
        let _ = writeln!(out, "  deny unless {nest}{} < 100", sum.join(" + "));
    }

    fn invariant(&mut self) -> String {
        let bound = self.bounding();
        match self.rng.below(10) {
            0 => format!("z <= {bound}"),
            1 => format!("z <= {}", bound * 1_000_000),
            8 | 9 if let Some(list) = self.some_list() => {
                let op = ["<=", ">=", ">=", "!="][self.rng.below(4)];
                let word = ["all", "all", "any"][self.rng.below(3)];
                format!("({word} r, u in {list}: u {op} {})", self.plain(Kind::Int))
            }
            2 => format!("z >= 0 and z <= {bound}"),
            3 => {
                let sum = self.sum();
                format!("{sum} <= {} and z >= 0", bound.min(100))
            }
            4 => {
                let a = self.int(1);
                format!("{a} <= {bound} and {}", self.condition(1))
            }
            5 => self.said_before(Kind::Bool).unwrap_or_else(|| self.condition(2)),
            _ => self.condition(2),
        }
    }

    fn effect(&mut self) -> (String, String) {
        let scalars: Vec<Name> =
            self.names.iter().filter(|name| name.text.len() == 1).cloned().collect();
        let own: Vec<&Name> = scalars
            .iter()
            .filter(|name| SCALARS.iter().any(|(own, ..)| *own == name.text))
            .collect();
        if self.rng.chance(50) {
            let name = (*self.rng.pick(&own)).clone();
            let value = match name.kind {
                Kind::Int => self.int(2),
                Kind::Decimal => self.decimal(2),
                Kind::Bool => self.condition(2),
                Kind::Text => self.text(),
            };
            let op = match name.kind {
                Kind::Int | Kind::Decimal => ["=", "=", "+=", "-=", "*="][self.rng.below(5)],
                _ => "=",
            };
            return (name.text.clone(), format!("{} {op} {value}", name.text));
        }
        match self.rng.below(8) {
            0 if self.has_option => {
                let effect = match self.rng.below(2) {
                    0 => "delete o".into(),
                    _ => format!("o = {}", self.int(1)),
                };
                ("o".into(), effect)
            }
            1 if self.has_stage => {
                ("e".into(), format!("e = {}", ["low", "mid", "high"][self.rng.below(3)]))
            }
            2 if self.has_record => (
                "p".into(),
                match self.rng.below(3) {
                    0 => format!("p.k = {}", self.int(1)),
                    1 => format!("p.v += {}", self.decimal(1)),
                    _ => format!("p.o = {}", self.int(1)),
                },
            ),
            _ => self.collection_effect(),
        }
    }

    fn collection_effect(&mut self) -> (String, String) {
        let collection = *self.rng.pick(&self.collections.clone());
        let name = collection.name;
        let element = self.element(collection.element);
        let key = self.text();
        let effect = match (collection.shape, self.rng.below(5)) {
            (Shape::List, 0) => format!("remove {element} from {name}"),
            (Shape::List, 1) => format!("{name}[0] = {element}"),
            (Shape::List, 2) => format!("{name} = [{element}]"),
            (Shape::List, _) => format!("append {element} to {name}"),
            (Shape::Set, 0 | 1) => format!("remove {element} from {name}"),
            (Shape::Set, 2) => format!("{name} = {{{element}}}"),
            (Shape::Set, _) => format!("add {element} to {name}"),
            (Shape::Map, 0) => format!("delete {name}[{key}]"),
            (Shape::Map, 1) => format!("remove {key} from {name}"),
            (Shape::Map, 2) if collection.element == Element::Int => {
                format!("{name}[{key}] += {element}")
            }
            (Shape::Map, 2) if collection.element == Element::Item => {
                format!("{name}[{key}].k = {}", self.int(1))
            }
            (Shape::Map, _) => format!("{name}[{key}] = {element}"),
        };
        (name.into(), effect)
    }

    fn element(&mut self, element: Element) -> String {
        match element {
            Element::Int => self.int(1),
            Element::Decimal => self.decimal(1),
            Element::Text => self.text(),
            Element::Item => {
                let option = ["none".to_string(), self.int(0)][self.rng.below(2)].clone();
                format!("{{ k: {}, v: {}, o: {option} }}", self.int(0), self.decimal(0))
            }
            Element::Ints => format!("[{}]", self.int(0)),
        }
    }

    fn of(&self, shape: Shape, element: Element) -> Vec<Collection> {
        let all = self.collections.iter().copied();
        all.filter(|one| one.shape == shape && one.element == element).collect()
    }

    /// Something of this kind that was said before.
    fn said_before(&mut self, kind: Kind) -> Option<String> {
        let known: Vec<String> = self
            .said
            .iter()
            .filter(|(of, text)| *of == kind && self.may_say(text))
            .map(|(_, text)| text.clone())
            .collect();
        (!known.is_empty()).then(|| self.rng.pick(&known).clone())
    }

    /// Returns true if all names of a text are known at the place of its use.
    fn may_say(&self, text: &str) -> bool {
        const PARAMS: [&str; 7] = ["x", "y", "w", "v", "q", "g", "j"];
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '"' && c != '_');
        words
            .filter(|word| PARAMS.contains(word))
            .all(|word| self.names.iter().any(|name| name.text == word))
    }

    /// Keeps what may be said again: nothing under a quantifier.
    fn keep(&mut self, kind: Kind, text: String) -> String {
        if self.bound == 0 {
            self.said.push((kind, text.clone()));
        }
        text
    }

    /// A constant or a name.
    fn plain(&mut self, kind: Kind) -> String {
        let names: Vec<String> = self
            .names
            .iter()
            .filter(|name| name.kind == kind)
            .map(|name| name.text.clone())
            .collect();
        if !names.is_empty() && self.rng.chance(75) {
            return self.rng.pick(&names).clone();
        }
        match kind {
            Kind::Int => {
                [-1, 0, 1, 2, 3, 5, 10, 100, 500, 1_000_000][self.rng.below(10)].to_string()
            }
            Kind::Decimal => ["0", "0.5", "1", "2.25", "0.000001", "10"][self.rng.below(6)].into(),
            Kind::Bool => ["true", "false"][self.rng.below(2)].into(),
            Kind::Text => ["\"a\"", "\"b\"", "\"c\""][self.rng.below(3)].into(),
        }
    }

    fn text(&mut self) -> String {
        match self.rng.below(8) {
            0 => format!("lower({})", self.plain(Kind::Text)),
            _ => self.plain(Kind::Text),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(25) {
            return self.plain(Kind::Int);
        }
        if self.rng.chance(30)
            && let Some(said) = self.said_before(Kind::Int)
        {
            return said;
        }
        let of = depth - 1;
        let text = match self.rng.below(15) {
            0 => format!("({} + {})", self.int(of), self.int(of)),
            1 => format!("({} - {})", self.int(of), self.int(of)),
            2 => format!("({} * {})", self.int(of), self.int(of)),
            3 => format!(
                "({} {} {})",
                self.int(of),
                ["/", "%"][self.rng.below(2)],
                [2, 3, -2][self.rng.below(3)]
            ),
            4 => {
                format!("{}({}, {})", ["min", "max"][self.rng.below(2)], self.int(of), self.int(of))
            }
            5 => format!("(if {} then {} else {})", self.condition(of), self.int(of), self.int(of)),
            6 => format!("{}({})", ["round", "floor"][self.rng.below(2)], self.decimal(of)),
            7 if self.has_option => format!("(o else {})", self.int(of)),
            8 => format!("len({})", self.rng.pick(&self.collections.clone()).name),
            9 | 10 => self.sum(),
            11 => {
                let lists = self.of(Shape::List, Element::Int);
                if lists.is_empty() {
                    self.plain(Kind::Int)
                } else {
                    format!(
                        "({}[{}] else {})",
                        self.rng.pick(&lists).name,
                        self.int(of),
                        self.int(of)
                    )
                }
            }
            12 => {
                let maps = self.of(Shape::Map, Element::Int);
                if maps.is_empty() {
                    self.plain(Kind::Int)
                } else {
                    format!(
                        "({}[{}] else {})",
                        self.rng.pick(&maps).name,
                        self.text(),
                        self.int(of)
                    )
                }
            }
            13 => format!("abs({})", self.int(of)),
            _ => format!("-({})", self.int(of)),
        };
        self.keep(Kind::Int, text)
    }

    fn decimal(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(25) {
            return self.plain(Kind::Decimal);
        }
        if self.rng.chance(30)
            && let Some(said) = self.said_before(Kind::Decimal)
        {
            return said;
        }
        let of = depth - 1;
        let text = match self.rng.below(8) {
            0 => format!("({} + {})", self.decimal(of), self.decimal(of)),
            1 => format!("({} - {})", self.decimal(of), self.decimal(of)),
            2 => format!("({} * {})", self.decimal(of), self.decimal(of)),
            3 => format!("({} / {})", self.decimal(of), ["3", "2", "0.5"][self.rng.below(3)]),
            4 => format!("decimal({})", self.int(of)),
            5 => format!(
                "(if {} then {} else {})",
                self.condition(of),
                self.decimal(of),
                self.decimal(of)
            ),
            6 => self.decimal_sum(),
            _ => format!("min({}, {})", self.decimal(of), self.decimal(of)),
        };
        self.keep(Kind::Decimal, text)
    }

    /// Binds names over a collection: the words before the body, and how many names are to be forgotten after it.
    fn bind(&mut self, collection: Collection) -> (String, usize) {
        let known = self.names.len();
        self.bound += 1;
        let element = format!("u{}", self.bound);
        let pair = match collection.shape {
            Shape::List => self.rng.chance(30),
            Shape::Map => self.rng.chance(75),
            Shape::Set => false,
        };
        let key = format!("r{}", self.bound);
        let key_kind = if collection.shape == Shape::Map { Kind::Text } else { Kind::Int };
        if pair || collection.shape == Shape::Map {
            self.names.push(Name { text: key.clone(), kind: key_kind });
        }
        if pair || collection.shape != Shape::Map {
            let name = |text: String, kind| Name { text, kind };
            match collection.element {
                Element::Int => self.names.push(name(element.clone(), Kind::Int)),
                Element::Decimal => self.names.push(name(element.clone(), Kind::Decimal)),
                Element::Text => self.names.push(name(element.clone(), Kind::Text)),
                Element::Item => {
                    self.names.push(name(format!("{element}.k"), Kind::Int));
                    self.names.push(name(format!("{element}.v"), Kind::Decimal));
                    self.names.push(name(format!("({element}.o else 0)"), Kind::Int));
                }
                Element::Ints => self.names.push(name(format!("len({element})"), Kind::Int)),
            }
        }
        let words = match (pair, collection.shape) {
            (true, _) => format!("{key}, {element} in {}", collection.name),
            (false, Shape::Map) => format!("{key} in {}", collection.name),
            (false, _) => format!("{element} in {}", collection.name),
        };
        (words, known)
    }

    fn unbind(&mut self, known: usize) {
        self.names.truncate(known);
        self.bound -= 1;
    }

    fn sum(&mut self) -> String {
        let collection = *self.rng.pick(&self.collections.clone());
        let (words, known) = self.bind(collection);
        let text = match self.rng.below(3) {
            0 => format!("count({words}: {})", self.bound_condition(known)),
            1 => format!("sum({words}: {})", self.int(1)),
            _ => {
                let names: Vec<String> = self.names[known..]
                    .iter()
                    .filter(|name| name.kind == Kind::Int)
                    .map(|name| name.text.clone())
                    .collect();
                let body =
                    if names.is_empty() { "1".into() } else { self.rng.pick(&names).clone() };
                format!("sum({words}: {body})")
            }
        };
        self.unbind(known);
        self.keep(Kind::Int, text)
    }

    fn decimal_sum(&mut self) -> String {
        let lists: Vec<Collection> = self
            .collections
            .iter()
            .copied()
            .filter(|one| matches!(one.element, Element::Decimal | Element::Item))
            .collect();
        if lists.is_empty() {
            return self.plain(Kind::Decimal);
        }
        let collection = *self.rng.pick(&lists);
        let (words, known) = self.bind(collection);
        let text = format!("sum({words}: {})", self.decimal(1));
        self.unbind(known);
        text
    }

    /// A condition about what was just bound.
    fn bound_condition(&mut self, known: usize) -> String {
        let bound: Vec<Name> = self.names[known..].to_vec();
        let Some(name) = (!bound.is_empty()).then(|| self.rng.pick(&bound).clone()) else {
            return self.condition(1);
        };
        let op = ["<=", ">=", "==", "!=", "<", ">"][self.rng.below(6)];
        match name.kind {
            Kind::Int => format!("{} {op} {}", name.text, self.int(0)),
            Kind::Decimal => format!("{} {op} {}", name.text, self.decimal(0)),
            Kind::Text => {
                format!("{} {} {}", name.text, ["==", "!="][self.rng.below(2)], self.text())
            }
            Kind::Bool => name.text,
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0
            && self.rng.chance(20)
            && let Some(said) = self.said_before(Kind::Bool)
        {
            return said;
        }
        let of = depth.saturating_sub(1);
        let text = match self.rng.below(if depth == 0 { 4 } else { 16 }) {
            0 => self.plain(Kind::Bool),
            1 | 2 => {
                let op = ["<=", "<=", ">=", "==", "!=", "<", ">"][self.rng.below(7)];
                format!("{} {op} {}", self.int(depth), self.int(of))
            }
            3 => {
                let op = ["<=", ">=", "==", "<"][self.rng.below(4)];
                format!("{} {op} {}", self.decimal(depth), self.decimal(of))
            }
            4 => format!("not ({})", self.condition(of)),
            5 => format!("({} and {})", self.condition(of), self.condition(of)),
            6 => format!("({} or {})", self.condition(of), self.condition(of)),
            7 => format!("({} implies {})", self.condition(of), self.condition(of)),
            8 | 9 => self.membership(),
            10..=12 => self.quantified(),
            13 if self.has_option => {
                ["o is some", "o is none", "o == 3", "o != 3"][self.rng.below(4)].into()
            }
            14 if self.has_stage => ["e == high", "e != low", "e == mid"][self.rng.below(3)].into(),
            _ => format!("{} {} {}", self.text(), ["==", "!="][self.rng.below(2)], self.text()),
        };
        self.keep(Kind::Bool, text)
    }

    fn membership(&mut self) -> String {
        let collection = *self.rng.pick(&self.collections.clone());
        let element = match collection.shape {
            Shape::Map => self.text(),
            _ => self.element(collection.element),
        };
        // A record as written needs to be told its type; what is compared with elements says it by itself.
        match collection.element {
            Element::Item if collection.shape != Shape::Map => {
                format!("len({}) > 0", collection.name)
            }
            _ => format!("{element} in {}", collection.name),
        }
    }

    fn quantified(&mut self) -> String {
        if self.bound == 0
            && self.rng.chance(15)
            && let Some(nested) = self.nested()
        {
            return nested;
        }
        let collection = *self.rng.pick(&self.collections.clone());
        let word = ["all", "any"][self.rng.below(2)];
        let (words, known) = self.bind(collection);
        let body = match self.rng.below(4) {
            0 if self.bound < 3 => self.condition(1),
            _ => self.bound_condition(known),
        };
        self.unbind(known);
        format!("({word} {words}: {body})")
    }

    /// Over the lists of a list.
    fn nested(&mut self) -> Option<String> {
        let lists = self.of(Shape::List, Element::Ints);
        let list = lists.first()?.name;
        let (outer, inner) = (["all", "any"][self.rng.below(2)], ["all", "any"][self.rng.below(2)]);
        let bound = self.int(0);
        Some(match self.rng.below(2) {
            0 => format!("({outer} us in {list}: {inner} ui in us: ui <= {bound})"),
            _ => format!("({outer} us in {list}: sum(ui in us: ui) <= {bound})"),
        })
    }
}
