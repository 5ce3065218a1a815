//! Expressions as terms of a solver (docs/reference/expressions.md): a value, and the condition under which its
//! evaluation is without fault.

use super::values::{NumberKind, SmtVal, and, count, fits_64, not, number, or};
use super::{Script, either};
use guard_compiler::hir::{Expr, ExprKind};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{ArithOp, CompareOp, QuantifierOp};

/// One as a decimal.
const ONE: i64 = 1_000_000;

/// The environment of an expression.
#[derive(Clone)]
pub(crate) struct SmtEnv<'e> {
    pub state: &'e [SmtVal],
    pub args: &'e [SmtVal],
    pub spent: &'e [String],
    pub locals: Vec<(u32, SmtVal)>,
}

/// A value, and the condition under which it is without fault.
pub(crate) type CheckedValue = (SmtVal, String);

impl Script {
    /// A condition, and whether it is without fault.
    pub fn condition(&mut self, e: &Expr, env: &SmtEnv<'_>) -> Option<(String, String)> {
        match self.eval(e, env)? {
            (SmtVal::Bool(truth), ok) => Some((truth, ok)),
            (SmtVal::Option(some, inner), ok) => match *inner {
                SmtVal::Bool(truth) => Some((truth, and(&[ok, some]))),
                _ => None,
            },
            _ => None,
        }
    }

    /// A number, and whether it is without fault.
    pub fn number(&mut self, e: &Expr, env: &SmtEnv<'_>) -> Option<(String, String)> {
        match self.eval(e, env)? {
            (SmtVal::Number(_, term), ok) => Some((term, ok)),
            _ => None,
        }
    }

    /// Returns an expression's value and the condition of its soundness; `None` where this model does not cover the
    /// expression.
    pub fn eval(&mut self, e: &Expr, env: &SmtEnv<'_>) -> Option<CheckedValue> {
        let sure = |value| Some((value, "true".to_string()));
        match &e.kind {
            ExprKind::None => sure(SmtVal::None),
            ExprKind::Bool(truth) => sure(SmtVal::Bool(truth.to_string())),
            ExprKind::Int(n) => sure(SmtVal::Number(NumberKind::Int, number(*n))),
            ExprKind::Decimal(units) => sure(SmtVal::Number(NumberKind::Decimal, number(*units))),
            ExprKind::Duration(n) => sure(SmtVal::Number(NumberKind::Other, number(*n))),
            ExprKind::Enum(at) => sure(SmtVal::Number(NumberKind::Other, at.to_string())),
            ExprKind::String(text)
                if text.chars().all(|c| c.is_ascii_alphanumeric() || " -_./:@".contains(c)) =>
            {
                sure(SmtVal::Text(format!("\"{text}\"")))
            }
            ExprKind::Param(at) => sure(env.args.get(*at as usize)?.clone()),
            ExprKind::State(var) => sure(env.state.get(*var)?.clone()),
            ExprKind::Local(slot) => {
                sure(env.locals.iter().rev().find(|(known, _)| known == slot)?.1.clone())
            }
            ExprKind::Spent(unit) => {
                sure(SmtVal::Number(NumberKind::Decimal, env.spent.get(*unit)?.clone()))
            }
            ExprKind::Not(a) => {
                let (truth, ok) = self.condition(a, env)?;
                Some((SmtVal::Bool(not(&truth)), ok))
            }
            ExprKind::And(a, b) => self.joined(a, b, env, |a| a.into(), |a, b| and(&[a, b])),
            ExprKind::Or(a, b) => self.joined(a, b, env, not, |a, b| or(&[a, b])),
            ExprKind::Implies(a, b) => {
                self.joined(a, b, env, |a| a.into(), |a, b| or(&[not(&a), b]))
            }
            ExprKind::Neg(a) => {
                let (SmtVal::Number(kind, term), ok) = self.eval(a, env)? else { return None };
                let term = self.define("Int", format!("(- {term})"));
                Some((SmtVal::Number(kind, term.clone()), and(&[ok, fits_64(&term)])))
            }
            ExprKind::Compare(op, a, b) => {
                let ((a, ok_a), (b, ok_b)) = (self.eval(a, env)?, self.eval(b, env)?);
                let holds = self.compare(*op, &a, &b)?;
                Some((SmtVal::Bool(self.define("Bool", holds)), and(&[ok_a, ok_b])))
            }
            ExprKind::Arith(op, a, b) => {
                let ((a, ok_a), (b, ok_b)) = (self.eval(a, env)?, self.eval(b, env)?);
                let (value, ok) = self.arith(*op, &a, &b)?;
                Some((value, and(&[ok_a, ok_b, ok])))
            }
            ExprKind::If(condition, a, b) => {
                let (truth, ok) = self.condition(condition, env)?;
                let ((a, ok_a), (b, ok_b)) = (self.eval(a, env)?, self.eval(b, env)?);
                let branches = and(&[or(&[not(&truth), ok_a]), either(&truth, &ok_b)]);
                Some((self.choose(&truth, &a, &b)?, and(&[ok, branches])))
            }
            ExprKind::Else(a, b) => {
                let ((a, ok_a), (b, ok_b)) = (self.eval(a, env)?, self.eval(b, env)?);
                Some(match a {
                    SmtVal::None => (b, and(&[ok_a, ok_b])),
                    SmtVal::Option(some, inner) => {
                        let ok = and(&[ok_a, either(&some, &ok_b)]);
                        (self.choose(&some, &inner, &b)?, ok)
                    }
                    value => (value, ok_a),
                })
            }
            ExprKind::IsSome(a) => {
                let (value, ok) = self.eval(a, env)?;
                let some = match value {
                    SmtVal::None => "false".into(),
                    SmtVal::Option(some, _) => some,
                    _ => "true".into(),
                };
                Some((SmtVal::Bool(some), ok))
            }
            ExprKind::Unwrap(a, _) => Some(match self.eval(a, env)? {
                (SmtVal::Option(some, inner), ok) => (*inner, and(&[ok, some])),
                (SmtVal::None, _) => return None,
                said => said,
            }),
            ExprKind::Field(a, at) => {
                let (value, ok) = self.eval(a, env)?;
                let field = |record: SmtVal| match record {
                    SmtVal::Record(fields) => fields.into_iter().nth(*at as usize),
                    _ => None,
                };
                Some(match value {
                    SmtVal::Option(some, inner) => (self.optional(some, field(*inner)?), ok),
                    record => (field(record)?, ok),
                })
            }
            ExprKind::Index(a, key) => {
                let ((of, ok_a), (key, ok_b)) = (self.eval(a, env)?, self.eval(key, env)?);
                Some((self.index(&of, &key)?, and(&[ok_a, ok_b])))
            }
            ExprKind::In(a, b) => {
                let ((one, ok_a), (many, ok_b)) = (self.eval(a, env)?, self.eval(b, env)?);
                let is_in = self.is_in(&one, &many)?;
                Some((SmtVal::Bool(self.define("Bool", is_in)), and(&[ok_a, ok_b])))
            }
            ExprKind::List(items) => {
                let (items, ok) = self.all(items.iter(), env)?;
                Some((SmtVal::List(items.len().to_string(), items), ok))
            }
            ExprKind::Set(items) => {
                let (items, ok) = self.all(items.iter(), env)?;
                let mut set = SmtVal::Set(Vec::new());
                for item in items {
                    set = self.insert(set, item)?;
                }
                Some((set, ok))
            }
            ExprKind::Record(fields) => {
                let (fields, ok) = self.all(fields.iter(), env)?;
                Some((SmtVal::Record(fields), ok))
            }
            ExprKind::Map(entries) if entries.is_empty() => sure(SmtVal::Set(Vec::new())),
            ExprKind::Quantified { op, over, binders, body } => {
                let [over] = &over[..] else { return None };
                if *op == QuantifierOp::First {
                    return None;
                }
                self.quantified(*op, over, binders, body, env)
            }
            ExprKind::Call(builtin, args) => {
                let (args, ok) = self.all(args.iter(), env)?;
                let (value, call_ok) = self.call(*builtin, &args)?;
                Some((value, and(&[ok, call_ok])))
            }
            _ => None,
        }
    }

    fn all<'e>(
        &mut self,
        items: impl Iterator<Item = &'e Expr>,
        env: &SmtEnv<'_>,
    ) -> Option<(Vec<SmtVal>, String)> {
        let mut values = Vec::new();
        let mut oks = Vec::new();
        for item in items {
            let (value, ok) = self.eval(item, env)?;
            values.push(value);
            oks.push(ok);
        }
        Some((values, and(&oks)))
    }

    /// Two conditions, of which the second is evaluated only where it is `needed`.
    fn joined(
        &mut self,
        a: &Expr,
        b: &Expr,
        env: &SmtEnv<'_>,
        needed: impl Fn(&str) -> String,
        join: impl Fn(String, String) -> String,
    ) -> Option<CheckedValue> {
        let ((a, ok_a), (b, ok_b)) = (self.condition(a, env)?, self.condition(b, env)?);
        let ok = and(&[ok_a, either(&not(&needed(&a)), &ok_b)]);
        let truth = join(a, b);
        Some((SmtVal::Bool(self.define("Bool", truth)), self.define("Bool", ok)))
    }

    pub fn optional(&mut self, some: String, value: SmtVal) -> SmtVal {
        match value {
            SmtVal::None => SmtVal::None,
            SmtVal::Option(inner, value) => SmtVal::Option(and(&[some, inner]), value),
            value => SmtVal::Option(some, Box::new(value)),
        }
    }

    /// With a missing option a comparison is false, `!=` true.
    fn compare(&mut self, op: CompareOp, a: &SmtVal, b: &SmtVal) -> Option<String> {
        let split = |value: &SmtVal| match value {
            SmtVal::Option(some, inner) => (some.clone(), (**inner).clone()),
            value => ("true".into(), value.clone()),
        };
        let ((has_a, a), (has_b, b)) = (split(a), split(b));
        if matches!(a, SmtVal::None) || matches!(b, SmtVal::None) {
            return Some((op == CompareOp::Ne).to_string());
        }
        let relation = match (op, &a, &b) {
            (CompareOp::Eq | CompareOp::Ne, ..) => self.same(&a, &b)?,
            (op, SmtVal::Number(_, a), SmtVal::Number(_, b)) => {
                let word = ["<", "<=", ">", ">="][match op {
                    CompareOp::Lt => 0,
                    CompareOp::Le => 1,
                    CompareOp::Gt => 2,
                    _ => 3,
                }];
                format!("({word} {a} {b})")
            }
            (CompareOp::Lt, SmtVal::Text(a), SmtVal::Text(b)) => format!("(str.< {a} {b})"),
            (CompareOp::Le, SmtVal::Text(a), SmtVal::Text(b)) => format!("(str.<= {a} {b})"),
            (CompareOp::Gt, SmtVal::Text(a), SmtVal::Text(b)) => format!("(str.< {b} {a})"),
            (CompareOp::Ge, SmtVal::Text(a), SmtVal::Text(b)) => format!("(str.<= {b} {a})"),
            _ => return None,
        };
        let holds = and(&[has_a, has_b, relation]);
        Some(if op == CompareOp::Ne { not(&holds) } else { holds })
    }

    /// One operation on two numbers that are there.
    pub fn arith(&mut self, op: ArithOp, a: &SmtVal, b: &SmtVal) -> Option<CheckedValue> {
        let (SmtVal::Number(kind, a), SmtVal::Number(other, b)) = (a, b) else { return None };
        let decimal = *kind == NumberKind::Decimal && *other == NumberKind::Decimal;
        if !decimal && (*kind != NumberKind::Int || *other != NumberKind::Int) {
            return None;
        }
        let there = match op {
            ArithOp::Div | ArithOp::Rem => not(&format!("(= {b} 0)")),
            _ => "true".into(),
        };
        let exact = match op {
            ArithOp::Add => format!("(+ {a} {b})"),
            ArithOp::Sub => format!("(- {a} {b})"),
            ArithOp::Mul if decimal => self.half_even(&format!("(* {a} {b})"), &ONE.to_string()),
            ArithOp::Mul => format!("(* {a} {b})"),
            ArithOp::Div if decimal => {
                let over = format!("(ite (< {b} 0) (- (* {a} {ONE})) (* {a} {ONE}))");
                self.half_even(&over, &format!("(abs {b})"))
            }
            ArithOp::Div => self.toward_zero(a, b),
            ArithOp::Rem => {
                let quotient = self.toward_zero(a, b);
                format!("(- {a} (* {b} {quotient}))")
            }
        };
        let exact = self.define("Int", exact);
        Some((SmtVal::Number(*kind, exact.clone()), and(&[there, fits_64(&exact)])))
    }

    fn toward_zero(&mut self, a: &str, b: &str) -> String {
        let size = self.define("Int", format!("(div (abs {a}) (abs {b}))"));
        self.define("Int", format!("(ite (= (< {a} 0) (< {b} 0)) {size} (- {size}))"))
    }

    /// The nearest number, halves to the even one; the divisor is positive.
    fn half_even(&mut self, over: &str, divisor: &str) -> String {
        let over = self.define("Int", over.into());
        let divisor = self.define("Int", divisor.into());
        let floor = self.define("Int", format!("(div {over} {divisor})"));
        let rest = self.define("Int", format!("(* 2 (mod {over} {divisor}))"));
        let up =
            format!("(or (> {rest} {divisor}) (and (= {rest} {divisor}) (= (mod {floor} 2) 1)))");
        self.define("Int", format!("(ite {up} (+ {floor} 1) {floor})"))
    }

    fn index(&mut self, collection: &SmtVal, key: &SmtVal) -> Option<SmtVal> {
        match (collection, key) {
            (SmtVal::Option(some, inner), key) => {
                let found = self.index(inner, key)?;
                Some(self.optional(some.clone(), found))
            }
            (collection, SmtVal::Option(some, key)) => {
                let found = self.index(collection, key)?;
                Some(self.optional(some.clone(), found))
            }
            (SmtVal::List(len, items), SmtVal::Number(_, at)) => {
                let Some(first) = items.first() else { return Some(SmtVal::None) };
                let mut found = first.clone();
                for (place, item) in items.iter().enumerate().skip(1) {
                    found = self.choose(&format!("(= {at} {place})"), item, &found)?;
                }
                let there = format!("(and (<= 0 {at}) (< {at} {len}))");
                let there = self.define("Bool", there);
                Some(self.optional(there, found))
            }
            (SmtVal::Map(entries), SmtVal::Text(key)) => {
                let mut found = SmtVal::None;
                for (there, known, value) in entries {
                    let here = and(&[there.clone(), format!("(= {known} {key})")]);
                    let here = self.define("Bool", here);
                    found = self.choose(&here, value, &found)?;
                }
                Some(found)
            }
            _ => None,
        }
    }

    pub fn is_in(&mut self, needle: &SmtVal, many: &SmtVal) -> Option<String> {
        let (some, needle) = match needle {
            SmtVal::None => return Some("false".into()),
            SmtVal::Option(some, inner) => (some.clone(), &**inner),
            value => ("true".into(), value),
        };
        let mut among = Vec::new();
        match (many, needle) {
            (SmtVal::List(len, items), needle) => {
                for (at, item) in items.iter().enumerate() {
                    among.push(and(&[format!("(< {at} {len})"), self.same(needle, item)?]));
                }
            }
            (SmtVal::Set(items), needle) => {
                for (there, item) in items {
                    among.push(and(&[there.clone(), self.same(needle, item)?]));
                }
            }
            (SmtVal::Map(entries), SmtVal::Text(key)) => {
                let is = |(there, known, _): &(String, String, SmtVal)| {
                    and(&[there.clone(), format!("(= {known} {key})")])
                };
                among.extend(entries.iter().map(is));
            }
            (SmtVal::Text(whole), SmtVal::Text(part)) => {
                among.push(format!("(str.contains {whole} {part})"))
            }
            _ => return None,
        }
        Some(and(&[some, or(&among)]))
    }

    fn quantified(
        &mut self,
        op: QuantifierOp,
        over: &Expr,
        binders: &[u32],
        body: &Expr,
        env: &SmtEnv<'_>,
    ) -> Option<CheckedValue> {
        let (over, mut ok) = self.eval(over, env)?;
        let is_list = matches!(over, SmtVal::List(..));
        let int = |at: usize| SmtVal::Number(NumberKind::Int, at.to_string());
        let rows: Vec<(String, Vec<SmtVal>)> = match (over, binders.len()) {
            (SmtVal::List(len, items), names) => items
                .into_iter()
                .enumerate()
                .map(|(at, item)| {
                    let row = if names == 2 { vec![int(at), item] } else { vec![item] };
                    (format!("(< {at} {len})"), row)
                })
                .collect(),
            (SmtVal::Set(items), 1) => {
                items.into_iter().map(|(there, item)| (there, vec![item])).collect()
            }
            (SmtVal::Map(entries), names) => entries
                .into_iter()
                .map(|(there, key, value)| {
                    let row = if names == 2 {
                        vec![SmtVal::Text(key), value]
                    } else {
                        vec![SmtVal::Text(key)]
                    };
                    (there, row)
                })
                .collect(),
            _ => return None,
        };
        let mut truths = Vec::new();
        let mut summands = Vec::new();
        let mut kind = match op {
            QuantifierOp::SumDecimal => NumberKind::Decimal,
            QuantifierOp::SumDuration => return None,
            _ => NumberKind::Int,
        };
        for (there, row) in rows {
            let there = self.define("Bool", there);
            let mut inner = env.clone();
            inner.locals.extend(binders.iter().copied().zip(row));
            let (value, body_ok) = self.eval(body, &inner)?;
            // Where a walk may be cut short, or goes in an order that is not said here, bodies must be without fault.
            let cut = matches!(op, QuantifierOp::All | QuantifierOp::Any);
            if cut && !is_list && body_ok != "true" {
                return None;
            }
            let walked = match op {
                QuantifierOp::All => and(&[there.clone(), and(&truths)]),
                QuantifierOp::Any => and(&[there.clone(), not(&or(&truths))]),
                _ => there.clone(),
            };
            ok = and(&[ok, either(&not(&walked), &body_ok)]);
            ok = self.define("Bool", ok);
            match (op, value) {
                (QuantifierOp::All, SmtVal::Bool(truth)) => {
                    truths.push(either(&not(&there), &truth))
                }
                (QuantifierOp::Any, SmtVal::Bool(truth)) => truths.push(and(&[there, truth])),
                (QuantifierOp::Count, SmtVal::Bool(truth)) => {
                    summands.push(format!("(ite (and {there} {truth}) 1 0)"));
                }
                (_, SmtVal::Number(of, term)) => {
                    kind = of;
                    summands.push(format!("(ite {there} {term} 0)"));
                }
                _ => return None,
            }
        }
        Some(match op {
            QuantifierOp::All => (SmtVal::Bool(self.define("Bool", and(&truths))), ok),
            QuantifierOp::Any => (SmtVal::Bool(self.define("Bool", or(&truths))), ok),
            _ => {
                let sum = self.define("Int", format!("(+ 0 0 {})", summands.join(" ")));
                (SmtVal::Number(kind, sum.clone()), and(&[ok, fits_64(&sum)]))
            }
        })
    }

    fn call(&mut self, builtin: Builtin, args: &[SmtVal]) -> Option<CheckedValue> {
        let sure = |value| Some((value, "true".to_string()));
        match (builtin, args) {
            (Builtin::Len, [SmtVal::List(len, _)]) => {
                sure(SmtVal::Number(NumberKind::Int, len.clone()))
            }
            (Builtin::Len, [SmtVal::Set(items)]) => {
                let there: Vec<&String> = items.iter().map(|(there, _)| there).collect();
                sure(SmtVal::Number(NumberKind::Int, self.define("Int", count(&there))))
            }
            (Builtin::Len, [SmtVal::Map(entries)]) => {
                let there: Vec<&String> = entries.iter().map(|(there, ..)| there).collect();
                sure(SmtVal::Number(NumberKind::Int, self.define("Int", count(&there))))
            }
            (Builtin::Len, [SmtVal::Text(text)]) => sure(SmtVal::Number(
                NumberKind::Int,
                self.define("Int", format!("(str.len {text})")),
            )),
            (Builtin::Min | Builtin::Max, [SmtVal::Number(kind, a), SmtVal::Number(_, b)]) => {
                let word = if builtin == Builtin::Min { "<=" } else { ">=" };
                let chosen = self.define("Int", format!("(ite ({word} {a} {b}) {a} {b})"));
                sure(SmtVal::Number(*kind, chosen))
            }
            (Builtin::Abs, [SmtVal::Number(kind, a)]) => {
                let size = self.define("Int", format!("(abs {a})"));
                Some((SmtVal::Number(*kind, size.clone()), fits_64(&size)))
            }
            (Builtin::Decimal, [SmtVal::Number(NumberKind::Int, a)]) => {
                let units = self.define("Int", format!("(* {a} {ONE})"));
                Some((SmtVal::Number(NumberKind::Decimal, units.clone()), fits_64(&units)))
            }
            (Builtin::Floor, [SmtVal::Number(NumberKind::Decimal, a)]) => sure(SmtVal::Number(
                NumberKind::Int,
                self.define("Int", format!("(div {a} {ONE})")),
            )),
            (Builtin::Round, [SmtVal::Number(NumberKind::Decimal, a)]) => {
                sure(SmtVal::Number(NumberKind::Int, self.half_even(a, &ONE.to_string())))
            }
            (Builtin::StartsWith, [SmtVal::Text(text), SmtVal::Text(start)]) => {
                sure(SmtVal::Bool(format!("(str.prefixof {start} {text})")))
            }
            (Builtin::EndsWith, [SmtVal::Text(text), SmtVal::Text(end)]) => {
                sure(SmtVal::Bool(format!("(str.suffixof {end} {text})")))
            }
            _ => None,
        }
    }
}
