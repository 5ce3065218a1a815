//! Effects as terms of a solver (semantics §3.8): operands and keys read the state before the call.

use super::Script;
use super::exprs::{CheckedValue, SmtEnv};
use super::values::{SmtVal, and, not, or};
use guard_compiler::hir::{ClauseKind, Step, Tool};
use guard_plan::plan::{ArithOp, EffectOp};

/// A step into a value.
enum Way {
    Field(usize),
    Key(SmtVal),
}

impl Script {
    /// The state after the effects of a call, and whether they are without fault.
    pub fn effects(&mut self, tool: &Tool, env: &SmtEnv<'_>) -> Option<(Vec<SmtVal>, String)> {
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
                        (SmtVal::Option(..) | SmtVal::None, _) => return None,
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
        value: SmtVal,
        way: &[Way],
        op: EffectOp,
        operand: Option<SmtVal>,
    ) -> Option<CheckedValue> {
        let Some((step, rest)) = way.split_first() else { return self.change(value, op, operand) };
        match (step, value) {
            (Way::Field(at), SmtVal::Record(mut fields)) => {
                let (written, ok) = self.write(fields.get(*at)?.clone(), rest, op, operand)?;
                fields[*at] = written;
                Some((SmtVal::Record(fields), ok))
            }
            (Way::Key(SmtVal::Text(key)), SmtVal::Map(entries)) => {
                self.write_entry(entries, key, rest, op, operand)
            }
            (Way::Key(SmtVal::Number(_, at)), SmtVal::List(len, items)) => {
                let mut written = Vec::new();
                let mut oks = vec![format!("(and (<= 0 {at}) (< {at} {len}))")];
                for (place, item) in items.iter().enumerate() {
                    let (new, ok) = self.write(item.clone(), rest, op, operand.clone())?;
                    let here = format!("(= {at} {place})");
                    oks.push(or(&[not(&here), ok]));
                    written.push(self.choose(&here, &new, item)?);
                }
                Some((SmtVal::List(len, written), and(&oks)))
            }
            _ => None,
        }
    }

    fn write_entry(
        &mut self,
        entries: Vec<(String, String, SmtVal)>,
        key: &str,
        rest: &[Way],
        op: EffectOp,
        operand: Option<SmtVal>,
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
        Some((SmtVal::Map(written), and(&oks)))
    }

    fn change(
        &mut self,
        value: SmtVal,
        op: EffectOp,
        operand: Option<SmtVal>,
    ) -> Option<CheckedValue> {
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
            (EffectOp::Set, old, Some(SmtVal::Set(items))) if items.is_empty() => sure(match old {
                SmtVal::Map(_) => SmtVal::Map(Vec::new()),
                _ => SmtVal::Set(items),
            }),
            (EffectOp::Set, _, Some(operand)) => sure(operand),
            (EffectOp::Delete, _, None) => sure(SmtVal::None),
            (_, _, Some(SmtVal::Option(..) | SmtVal::None)) => None,
            (EffectOp::Append, SmtVal::List(len, mut items), Some(item)) => {
                for (at, old) in items.iter_mut().enumerate() {
                    *old = self.choose(&format!("(= {len} {at})"), &item, old)?;
                }
                items.push(item);
                sure(SmtVal::List(self.define("Int", format!("(+ {len} 1)")), items))
            }
            (EffectOp::Insert, set @ SmtVal::Set(_), Some(item)) => sure(self.insert(set, item)?),
            (EffectOp::Remove, SmtVal::Set(items), Some(item)) => {
                let mut left = Vec::new();
                for (there, known) in items {
                    let same = self.same(&known, &item)?;
                    left.push((self.define("Bool", and(&[there, not(&same)])), known));
                }
                sure(SmtVal::Set(left))
            }
            (EffectOp::Remove, SmtVal::Map(entries), Some(SmtVal::Text(key))) => {
                self.write_entry(entries, &key, &[], EffectOp::Delete, None)
            }
            (EffectOp::Remove, SmtVal::List(len, items), Some(item)) => {
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
                sure(SmtVal::List(len, left))
            }
            _ => None,
        }
    }

    /// A set with one more.
    pub fn insert(&mut self, set: SmtVal, item: SmtVal) -> Option<SmtVal> {
        let there = self.is_in(&item, &set)?;
        let SmtVal::Set(mut items) = set else { return None };
        items.push((self.define("Bool", not(&there)), item));
        Some(SmtVal::Set(items))
    }
}
