//! Invariants and effects.

use super::*;

impl GuardDraft<'_> {
    /// More than any encoder should take.
    pub(super) fn heavy(&mut self, out: &mut String) {
        let lists: Vec<NamedCollection> = self.of(CollectionShape::List, Element::Int);
        let Some(list) = lists.first().map(|list| list.name) else { return };
        let depth = 5 + self.rng.below(2);
        let nest: String = (0..depth).map(|at| format!("all h{at} in {list}: ")).collect();
        let sum: Vec<String> = (0..depth).map(|at| format!("h{at}")).collect();
        let among: Vec<String> = (0..11).map(|at| format!("{at} in {list}")).collect();
        let _ = writeln!(out, "  deny when {}", among.join(" or "));
        let _ = writeln!(out, "  deny unless {nest}{} < 100", sum.join(" + "));
    }

    pub(super) fn invariant(&mut self) -> String {
        let bound = self.bounding();
        match self.rng.below(10) {
            0 => format!("z <= {bound}"),
            1 => format!("z <= {}", bound * 1_000_000),
            8 | 9 if let Some(list) = self.some_list() => {
                let op = ["<=", ">=", ">=", "!="][self.rng.below(4)];
                let word = ["all", "all", "any"][self.rng.below(3)];
                format!("({word} r, u in {list}: u {op} {})", self.plain(ExprType::Int))
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
            5 => self.said_before(ExprType::Bool).unwrap_or_else(|| self.condition(2)),
            _ => self.condition(2),
        }
    }

    pub(super) fn effect(&mut self) -> (String, String) {
        let scalars: Vec<Name> =
            self.names.iter().filter(|name| name.text.len() == 1).cloned().collect();
        let own: Vec<&Name> = scalars
            .iter()
            .filter(|name| SCALARS.iter().any(|(own, ..)| *own == name.text))
            .collect();
        if self.rng.chance(8) {
            return self.effect_on_elements();
        }
        if self.rng.chance(50) {
            let name = (*self.rng.pick(&own)).clone();
            let value = match name.kind {
                ExprType::Int => self.int(2),
                ExprType::Decimal => self.decimal(2),
                ExprType::Bool => self.condition(2),
                ExprType::Text => self.text(),
            };
            let op = match name.kind {
                ExprType::Int | ExprType::Decimal => {
                    ["=", "=", "+=", "-=", "*="][self.rng.below(5)]
                }
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

    /// An effect that is done for each element of a collection.
    fn effect_on_elements(&mut self) -> (String, String) {
        let collection = *self.rng.pick(&self.collections.clone());
        let over = collection.name;
        let int = self.int(1);
        let var = ["n", "z", "k"][self.rng.below(3)];
        let effect = match (collection.shape, collection.element, self.rng.below(3)) {
            (CollectionShape::Map, _, 0) => format!("delete {over}[u] for u in {over}"),
            (CollectionShape::Map, Element::Int, 1) => {
                format!("{over}[u] += {int} for u in {over} when u in {over}")
            }
            (CollectionShape::List | CollectionShape::Set, Element::Int, 0) => {
                format!("{var} += u for u in {over}")
            }
            (CollectionShape::List | CollectionShape::Set, Element::Int, 1) => {
                format!("{var} = u for u in {over} when u > {int}")
            }
            _ => format!("{var} += {int} for u in {over}"),
        };
        let written = if effect.starts_with(&format!("{var} ")) { var } else { over };
        (written.into(), effect)
    }

    pub(super) fn collection_effect(&mut self) -> (String, String) {
        let collection = *self.rng.pick(&self.collections.clone());
        let name = collection.name;
        let element = self.element(collection.element);
        let key = self.text();
        let effect = match (collection.shape, self.rng.below(5)) {
            (CollectionShape::List, 0) => format!("remove {element} from {name}"),
            (CollectionShape::List, 1) => format!("{name}[0] = {element}"),
            (CollectionShape::List, 2) => format!("{name} = [{element}]"),
            (CollectionShape::List, _) => format!("append {element} to {name}"),
            (CollectionShape::Set, 0 | 1) => format!("remove {element} from {name}"),
            (CollectionShape::Set, 2) => format!("{name} = {{{element}}}"),
            (CollectionShape::Set, _) => format!("add {element} to {name}"),
            (CollectionShape::Map, 0) => format!("delete {name}[{key}]"),
            (CollectionShape::Map, 1) => format!("remove {key} from {name}"),
            (CollectionShape::Map, 2) if collection.element == Element::Int => {
                format!("{name}[{key}] += {element}")
            }
            (CollectionShape::Map, 2) if collection.element == Element::Item => {
                format!("{name}[{key}].k = {}", self.int(1))
            }
            (CollectionShape::Map, _) => format!("{name}[{key}] = {element}"),
        };
        (name.into(), effect)
    }
}
