//! Expressions of each kind, and the names that they bind.

use super::*;

impl GuardDraft<'_> {
    pub(super) fn element(&mut self, element: Element) -> String {
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

    pub(super) fn of(&self, shape: CollectionShape, element: Element) -> Vec<NamedCollection> {
        let all = self.collections.iter().copied();
        all.filter(|part| part.shape == shape && part.element == element).collect()
    }

    /// Something of this kind that was said before.
    pub(super) fn said_before(&mut self, kind: ExprType) -> Option<String> {
        let known: Vec<String> = self
            .said
            .iter()
            .filter(|(of, text)| *of == kind && self.may_say(text))
            .map(|(_, text)| text.clone())
            .collect();
        (!known.is_empty()).then(|| self.rng.pick(&known).clone())
    }

    /// Returns true if all names of a text are known at the place of its use.
    pub(super) fn may_say(&self, text: &str) -> bool {
        const PARAMS: [&str; 7] = ["x", "y", "w", "v", "q", "g", "j"];
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '"' && c != '_');
        words
            .filter(|word| PARAMS.contains(word))
            .all(|word| self.names.iter().any(|name| name.text == word))
    }

    /// Keeps what may be said again: nothing under a quantifier.
    pub(super) fn keep(&mut self, kind: ExprType, text: String) -> String {
        if self.bound == 0 {
            self.said.push((kind, text.clone()));
        }
        text
    }

    /// A constant or a name.
    pub(super) fn plain(&mut self, kind: ExprType) -> String {
        let names = self.names_of(kind);
        if !names.is_empty() && self.rng.chance(75) {
            return self.rng.pick(&names).clone();
        }
        match kind {
            ExprType::Int => {
                [-1, 0, 1, 2, 3, 5, 10, 100, 500, 1_000_000][self.rng.below(10)].to_string()
            }
            ExprType::Decimal => {
                ["0", "0.5", "1", "2.25", "0.000001", "10"][self.rng.below(6)].into()
            }
            ExprType::Bool => ["true", "false"][self.rng.below(2)].into(),
            ExprType::Text => ["\"a\"", "\"b\"", "\"c\""][self.rng.below(3)].into(),
        }
    }

    pub(super) fn text(&mut self) -> String {
        match self.rng.below(11) {
            9 => format!("text({})", self.int(1)),
            10 => format!("text({})", self.decimal(1)),
            0 => format!("lower({})", self.plain(ExprType::Text)),
            1 => format!("({} + {})", self.plain(ExprType::Text), self.plain(ExprType::Text)),
            _ => self.plain(ExprType::Text),
        }
    }

    pub(super) fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(25) {
            return self.plain(ExprType::Int);
        }
        if self.rng.chance(30)
            && let Some(said) = self.said_before(ExprType::Int)
        {
            return said;
        }
        let of = depth - 1;
        let text = match self.rng.below(16) {
            14 => self.first(of),
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
                let lists = self.of(CollectionShape::List, Element::Int);
                if lists.is_empty() {
                    self.plain(ExprType::Int)
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
                let maps = self.of(CollectionShape::Map, Element::Int);
                if maps.is_empty() {
                    self.plain(ExprType::Int)
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
        self.keep(ExprType::Int, text)
    }

    pub(super) fn decimal(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(25) {
            return self.plain(ExprType::Decimal);
        }
        if self.rng.chance(30)
            && let Some(said) = self.said_before(ExprType::Decimal)
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
        self.keep(ExprType::Decimal, text)
    }

    /// Binds names over a collection: the words before the body, and how many names are to be forgotten after it.
    pub(super) fn bind(&mut self, collection: NamedCollection) -> (String, usize) {
        let known = self.names.len();
        self.bound += 1;
        let element = format!("u{}", self.bound);
        let pair = match collection.shape {
            CollectionShape::List => self.rng.chance(30),
            CollectionShape::Map => self.rng.chance(75),
            CollectionShape::Set => false,
        };
        let key = format!("r{}", self.bound);
        let key_kind =
            if collection.shape == CollectionShape::Map { ExprType::Text } else { ExprType::Int };
        if pair || collection.shape == CollectionShape::Map {
            self.names.push(Name { text: key.clone(), kind: key_kind });
        }
        if pair || collection.shape != CollectionShape::Map {
            let name = |text: String, kind| Name { text, kind };
            match collection.element {
                Element::Int => self.names.push(name(element.clone(), ExprType::Int)),
                Element::Decimal => self.names.push(name(element.clone(), ExprType::Decimal)),
                Element::Text => self.names.push(name(element.clone(), ExprType::Text)),
                Element::Item => {
                    self.names.push(name(format!("{element}.k"), ExprType::Int));
                    self.names.push(name(format!("{element}.v"), ExprType::Decimal));
                    self.names.push(name(format!("({element}.o else 0)"), ExprType::Int));
                }
                Element::Ints => self.names.push(name(format!("len({element})"), ExprType::Int)),
            }
        }
        let words = match (pair, collection.shape) {
            (true, _) => format!("{key}, {element} in {}", collection.name),
            (false, CollectionShape::Map) => format!("{key} in {}", collection.name),
            (false, _) => format!("{element} in {}", collection.name),
        };
        (words, known)
    }

    pub(super) fn unbind(&mut self, known: usize) {
        self.names.truncate(known);
        self.bound -= 1;
    }

    pub(super) fn sum(&mut self) -> String {
        let collection = *self.rng.pick(&self.collections.clone());
        let (words, known) = self.bind(collection);
        let text = match self.rng.below(3) {
            0 => format!("count({words}: {})", self.bound_condition(known)),
            1 => format!("sum({words}: {})", self.int(1)),
            _ => {
                let names: Vec<String> = self.names[known..]
                    .iter()
                    .filter(|name| name.kind == ExprType::Int)
                    .map(|name| name.text.clone())
                    .collect();
                let body =
                    if names.is_empty() { "1".into() } else { self.rng.pick(&names).clone() };
                format!("sum({words}: {body})")
            }
        };
        self.unbind(known);
        self.keep(ExprType::Int, text)
    }

    /// The first element, or an int of it, of which something is true.
    pub(super) fn first(&mut self, depth: usize) -> String {
        let collection = *self.rng.pick(&self.collections.clone());
        let (words, known) = self.bind(collection);
        let body = self.bound_condition(known);
        self.unbind(known);
        let found = format!("(first {words}: {body})");
        match (collection.shape, collection.element, words.contains(',')) {
            (CollectionShape::List | CollectionShape::Set, Element::Int, _)
            | (CollectionShape::Map, Element::Int, true) => {
                format!("({found} else {})", self.int(depth))
            }
            (CollectionShape::List | CollectionShape::Set, Element::Item, _)
            | (CollectionShape::Map, Element::Item, true) => {
                format!("({found}.k else {})", self.int(depth))
            }
            _ => format!("(if {found} is some then {} else 0)", self.int(depth)),
        }
    }

    pub(super) fn decimal_sum(&mut self) -> String {
        let lists: Vec<NamedCollection> = self
            .collections
            .iter()
            .copied()
            .filter(|part| matches!(part.element, Element::Decimal | Element::Item))
            .collect();
        if lists.is_empty() {
            return self.plain(ExprType::Decimal);
        }
        let collection = *self.rng.pick(&lists);
        let (words, known) = self.bind(collection);
        let text = format!("sum({words}: {})", self.decimal(1));
        self.unbind(known);
        text
    }

    /// A condition about what was just bound.
    pub(super) fn bound_condition(&mut self, known: usize) -> String {
        let bound: Vec<Name> = self.names[known..].to_vec();
        let Some(name) = (!bound.is_empty()).then(|| self.rng.pick(&bound).clone()) else {
            return self.condition(1);
        };
        let op = ["<=", ">=", "==", "!=", "<", ">"][self.rng.below(6)];
        match name.kind {
            ExprType::Int => format!("{} {op} {}", name.text, self.int(0)),
            ExprType::Decimal => format!("{} {op} {}", name.text, self.decimal(0)),
            ExprType::Text => {
                format!("{} {} {}", name.text, ["==", "!="][self.rng.below(2)], self.text())
            }
            ExprType::Bool => name.text,
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth > 0
            && self.rng.chance(20)
            && let Some(said) = self.said_before(ExprType::Bool)
        {
            return said;
        }
        let of = depth.saturating_sub(1);
        let text = match self.rng.below(if depth == 0 { 4 } else { 16 }) {
            0 => self.plain(ExprType::Bool),
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
        self.keep(ExprType::Bool, text)
    }

    pub(super) fn membership(&mut self) -> String {
        let collection = *self.rng.pick(&self.collections.clone());
        let element = match collection.shape {
            CollectionShape::Map => self.text(),
            _ => self.element(collection.element),
        };
        // A record as written needs to be told its type; what is compared with elements says it by itself.
        match collection.element {
            Element::Item if collection.shape != CollectionShape::Map => {
                format!("len({}) > 0", collection.name)
            }
            _ => format!("{element} in {}", collection.name),
        }
    }

    pub(super) fn quantified(&mut self) -> String {
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
    pub(super) fn nested(&mut self) -> Option<String> {
        let lists = self.of(CollectionShape::List, Element::Ints);
        let list = lists.first()?.name;
        let outer = ["all", "any"][self.rng.below(2)];
        let inner = ["all", "any"][self.rng.below(2)];
        let bound = self.int(0);
        Some(match self.rng.below(2) {
            0 => format!("({outer} us in {list}: {inner} ui in us: ui <= {bound})"),
            _ => format!("({outer} us in {list}: sum(ui in us: ui) <= {bound})"),
        })
    }
}
