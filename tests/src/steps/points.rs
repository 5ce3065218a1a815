//! Values to try claims with: drawn from the types, from the constants that the guard says, their neighbours and the extremes, and
//! from what the certificates sum up.

use guard_plan::plan::{Expr, Node, Plan, TypeDef, TypeId};
use guard_plan::random::Rng;
use guard_plan::value::Value;
use guard_proof::formula::Formula;

/// The pools from which values are drawn.
#[derive(Debug, Clone, Default)]
pub struct Pools {
    /// Numbers of any type, as they are kept: ints, units of decimals, milliseconds.
    numbers: Vec<i64>,
    texts: Vec<Box<str>>,
}

impl Pools {
    /// The constants of a plan.
    pub fn new(plan: &Plan) -> Pools {
        let mut pools = Pools::default();
        for invariant in &plan.invariants {
            pools.expr(&invariant.condition);
        }
        for tool in &plan.tools {
            tool.denies.iter().for_each(|deny| pools.expr(&deny.condition));
            tool.effects
                .iter()
                .filter_map(|effect| effect.value.as_ref())
                .for_each(|value| pools.expr(value));
        }
        for def in &plan.types {
            if let TypeDef::Int { min, max } | TypeDef::Decimal { min, max } = def {
                min.iter().chain(max).for_each(|end| pools.number(*end));
            }
        }
        pools.texts.extend(["a", "b", "c", "A"].map(Box::from));
        pools.number(0);
        pools.finish();
        pools
    }

    /// Adds the constants of a condition that a certificate uses.
    pub fn formula(&mut self, formula: &Formula) {
        match formula {
            Formula::True | Formula::False => {}
            Formula::AtMost(linear) => {
                for number in [linear.constant, -linear.constant] {
                    if let Ok(number) = i64::try_from(number) {
                        self.numbers.push(number);
                    }
                }
            }
            Formula::And(parts) | Formula::Or(parts) => {
                parts.parts.iter().take(20).for_each(|part| self.formula(part));
            }
        }
    }

    /// Sorts, so that nothing is there twice.
    pub fn finish(&mut self) {
        self.numbers.sort_unstable();
        self.numbers.dedup();
    }

    fn expr(&mut self, expr: &Expr) {
        for node in &expr.0 {
            match node {
                Node::Int(number) | Node::Decimal(number) | Node::Duration(number) => {
                    self.number(*number)
                }
                Node::String(text) => self.texts.push(text.as_str().into()),
                _ => {}
            }
        }
    }

    fn number(&mut self, number: i64) {
        for near in [-1, 0, 1] {
            self.numbers.extend(number.checked_add(near));
        }
    }

    /// A number within these ends, and often near a constant.
    pub fn number_in(
        &self,
        (min, max): (Option<i64>, Option<i64>),
        unit: i64,
        rng: &mut Rng,
    ) -> i64 {
        let least = min.unwrap_or(i64::MIN);
        let greatest = max.unwrap_or(i64::MAX);
        let drawn = match rng.below(20) {
            0 => least,
            1 => greatest,
            2..=8 => (rng.below(12) as i64 - 4).saturating_mul(unit),
            9 => rng.bits() as i64 >> rng.below(64),
            _ => *rng.pick(&self.numbers),
        };
        drawn.clamp(least, greatest)
    }

    /// A value of a type, within it.
    pub fn draw(&self, plan: &Plan, ty: TypeId, rng: &mut Rng) -> Value {
        let count = |max: &Option<u64>, rng: &mut Rng| {
            let most = max.map_or(4, |max| max.min(4)) as usize;
            rng.below(most + 1)
        };
        match &plan.types[ty as usize] {
            TypeDef::Bool => Value::Bool(rng.chance(50)),
            TypeDef::Int { min, max } => Value::Int(self.number_in((*min, *max), 1, rng)),
            TypeDef::Decimal { min, max } => {
                Value::Decimal(self.number_in((*min, *max), 500_000, rng))
            }
            TypeDef::Duration { min, max } => {
                Value::Duration(self.number_in((*min, *max), 1_000, rng))
            }
            TypeDef::Enum { variants, .. } => Value::Enum(rng.below(variants.len()) as u32),
            TypeDef::Option { of } if rng.chance(60) => self.draw(plan, *of, rng),
            TypeDef::Option { .. } => Value::None,
            TypeDef::Record { fields, .. } => {
                Value::Record(fields.iter().map(|field| self.draw(plan, field.ty, rng)).collect())
            }
            TypeDef::List { of, max } => {
                Value::List((0..count(max, rng)).map(|_| self.draw(plan, *of, rng)).collect())
            }
            TypeDef::Set { of, max } => {
                Value::Set((0..count(max, rng)).map(|_| self.draw(plan, *of, rng)).collect())
            }
            TypeDef::Map { of, max, .. } => {
                let entry =
                    |rng: &mut Rng| (rng.pick(&self.texts).clone(), self.draw(plan, *of, rng));
                Value::Map((0..count(max, rng)).map(|_| entry(rng)).collect())
            }
            _ => Value::String(rng.pick(&self.texts).clone()),
        }
    }

    /// A value near another one: one of its parts is drawn anew, or moved by its least step.
    pub fn near(&self, plan: &Plan, ty: TypeId, value: &Value, rng: &mut Rng) -> Value {
        let inner = |ty: TypeId| match &plan.types[ty as usize] {
            TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. } => *of,
            _ => ty,
        };
        match (&plan.types[ty as usize], value) {
            _ if rng.chance(40) => self.draw(plan, ty, rng),
            (TypeDef::Int { min, max }, Value::Int(number)) => {
                Value::Int(step(*number, (*min, *max), rng))
            }
            (TypeDef::Decimal { min, max }, Value::Decimal(units)) => {
                Value::Decimal(step(*units, (*min, *max), rng))
            }
            (TypeDef::Option { of }, value) if *value != Value::None => {
                self.near(plan, *of, value, rng)
            }
            (TypeDef::Record { fields, .. }, Value::Record(values)) => {
                let mut values = values.clone();
                let at = rng.below(values.len());
                values[at] = self.near(plan, fields[at].ty, &values[at], rng);
                Value::Record(values)
            }
            (_, Value::List(items)) if !items.is_empty() => {
                let mut items = items.clone();
                let at = rng.below(items.len());
                items[at] = self.near(plan, inner(ty), &items[at], rng);
                Value::List(items)
            }
            (_, Value::Map(entries)) if !entries.is_empty() => {
                let mut entries = entries.clone();
                let at = rng.below(entries.len());
                if let Some(entry) = entries.values_mut().nth(at) {
                    *entry = self.near(plan, inner(ty), entry, rng);
                }
                Value::Map(entries)
            }
            _ => self.draw(plan, ty, rng),
        }
    }
}

fn step(number: i64, (min, max): (Option<i64>, Option<i64>), rng: &mut Rng) -> i64 {
    let by = [1, -1, 1_000_000, -1_000_000][rng.below(4)];
    number.saturating_add(by).clamp(min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX))
}
