//! Effects as terms of a solver (semantics §3.8): operands and keys read the state before the call.

use super::Script;
use super::exprs::{CheckedValue, Env};
use super::values::{Val, and, not, or};
use guard_compiler::hir::{ClauseKind, Step, Tool};
use guard_plan::plan::{ArithOp, EffectOp};

/// A step into a value.
enum Way {
    Field(usize),
    Key(Val),
}

impl Script {
    /// The state after the effects of a call, and whether they are without fault.
    pub fn effects(&mut self, tool: &Tool, env: &Env<'_>) -> Option<(Vec<Val>, String)> {
        let mut after = env.state.to_vec();
        let mut oks = Vec::new();
        for clause in &tool.clauses {
            let ClauseKind::Effect { ranges, target, op, value, .. } = &clause.kind else {
                continue;
            };
            if clause.rule.shadow || !ranges.is_empty() {
                return None;
            }
            let operand = match value {
                Some(value) => {
                    let (value, ok) = self.eval(value, env)?;
                    oks.push(ok);
                    Some(value)
                }
                None => None,
            };
            let mut way = Vec::new();
            for step in &target.path {
                way.push(match step {
                    Step::Field(at) => Way::Field(*at as usize),
                    Step::Index(key) => match self.eval(key, env)? {
                        (Val::Option(..) | Val::None, _) => return None,
                        (key, ok) => {
                            oks.push(ok);
                            Way::Key(key)
                        }
                    },
                });
            }
            let whole = after.get(target.var)?.clone();
            let (written, ok) = self.write(whole, &way, *op, operand)?;
            oks.push(ok);
            after[target.var] = written;
        }
        Some((after, and(&oks)))
    }

    fn write(
        &mut self,
        value: Val,
        way: &[Way],
        op: EffectOp,
        operand: Option<Val>,
    ) -> Option<CheckedValue> {
        let Some((step, rest)) = way.split_first() else { return self.change(value, op, operand) };
        match (step, value) {
            (Way::Field(at), Val::Record(mut fields)) => {
                let (written, ok) = self.write(fields.get(*at)?.clone(), rest, op, operand)?;
                fields[*at] = written;
                Some((Val::Record(fields), ok))
            }
            (Way::Key(Val::Text(key)), Val::Map(entries)) => {
                self.write_entry(entries, key, rest, op, operand)
            }
            (Way::Key(Val::Number(_, at)), Val::List(len, items)) => {
                let mut written = Vec::new();
                let mut oks = vec![format!("(and (<= 0 {at}) (< {at} {len}))")];
                for (place, item) in items.iter().enumerate() {
                    let (new, ok) = self.write(item.clone(), rest, op, operand.clone())?;
                    let here = format!("(= {at} {place})");
                    oks.push(or(&[not(&here), ok]));
                    written.push(self.choose(&here, &new, item)?);
                }
                Some((Val::List(len, written), and(&oks)))
            }
            _ => None,
        }
    }

    fn write_entry(
        &mut self,
        entries: Vec<(String, String, Val)>,
        key: &str,
        rest: &[Way],
        op: EffectOp,
        operand: Option<Val>,
    ) -> Option<CheckedValue> {
        let mut written = Vec::new();
        let mut oks = Vec::new();
        let mut places = Vec::new();
        let plain = rest.is_empty() && op == EffectOp::Set;
        for (there, known, value) in entries {
            let here = and(&[there.clone(), format!("(= {known} {key})")]);
            let here = self.define("Bool", here);
            places.push(here.clone());
            if rest.is_empty() && op == EffectOp::Delete {
                let kept = self.define("Bool", and(&[there, not(&here)]));
                written.push((kept, known, value));
                continue;
            }
            let (new, ok) = self.write(value.clone(), rest, op, operand.clone())?;
            oks.push(or(&[not(&here), ok]));
            written.push((there, known, self.choose(&here, &new, &value)?));
        }
        let found = self.define("Bool", or(&places));
        if plain {
            written.push((not(&found), key.to_string(), operand?));
        } else if !(rest.is_empty() && op == EffectOp::Delete) {
            oks.push(found);
        }
        Some((Val::Map(written), and(&oks)))
    }

    fn change(&mut self, value: Val, op: EffectOp, operand: Option<Val>) -> Option<CheckedValue> {
        let sure = |value| Some((value, "true".to_string()));
        let arith = |op| match op {
            EffectOp::Add => Some(ArithOp::Add),
            EffectOp::Subtract => Some(ArithOp::Sub),
            EffectOp::Multiply => Some(ArithOp::Mul),
            _ => None,
        };
        if let Some(op) = arith(op) {
            return self.arith(op, &value, &operand?);
        }
        match (op, value, operand) {
            (EffectOp::Set, old, Some(Val::Set(items))) if items.is_empty() => sure(match old {
                Val::Map(_) => Val::Map(Vec::new()),
                _ => Val::Set(items),
            }),
            (EffectOp::Set, _, Some(operand)) => sure(operand),
            (EffectOp::Delete, _, None) => sure(Val::None),
            (_, _, Some(Val::Option(..) | Val::None)) => None,
            (EffectOp::Append, Val::List(len, mut items), Some(item)) => {
                for (at, old) in items.iter_mut().enumerate() {
                    *old = self.choose(&format!("(= {len} {at})"), &item, old)?;
                }
                items.push(item);
                sure(Val::List(self.define("Int", format!("(+ {len} 1)")), items))
            }
            (EffectOp::Insert, set @ Val::Set(_), Some(item)) => sure(self.insert(set, item)?),
            (EffectOp::Remove, Val::Set(items), Some(item)) => {
                let mut left = Vec::new();
                for (there, known) in items {
                    let same = self.same(&known, &item)?;
                    left.push((self.define("Bool", and(&[there, not(&same)])), known));
                }
                sure(Val::Set(left))
            }
            (EffectOp::Remove, Val::Map(entries), Some(Val::Text(key))) => {
                self.write_entry(entries, &key, &[], EffectOp::Delete, None)
            }
            (EffectOp::Remove, Val::List(len, items), Some(item)) => {
                // From the first equal element on, each place has what stood behind it.
                let mut gone = "false".to_string();
                let mut left = Vec::new();
                for (at, known) in items.iter().enumerate() {
                    let here = and(&[format!("(< {at} {len})"), self.same(known, &item)?]);
                    gone = self.define("Bool", or(&[gone.clone(), here]));
                    left.push(match items.get(at + 1) {
                        Some(next) => self.choose(&gone, next, known)?,
                        None => known.clone(),
                    });
                }
                let len = self.define("Int", format!("(ite {gone} (- {len} 1) {len})"));
                sure(Val::List(len, left))
            }
            _ => None,
        }
    }

    /// A set with one more.
    pub fn insert(&mut self, set: Val, item: Val) -> Option<Val> {
        let there = self.is_in(&item, &set)?;
        let Val::Set(mut items) = set else { return None };
        items.push((self.define("Bool", not(&there)), item));
        Some(Val::Set(items))
    }
}
