//! The classes of the operands and results of builtins.

use super::{ClassContext, Classes, Hint, ValuePlace, is_constant};
use crate::hir::{Expr, ExprKind as K, Type};
use guard_plan::builtin::Builtin as B;
use guard_plan::decimal;
use guard_plan::value::{DECIMAL_ONE, Value};

impl<'p> Classes<'p> {
    /// The texts an expression may be, if they are constants.
    pub(super) fn constants(
        &self,
        node: Option<usize>,
        e: &Expr,
        cx: &ClassContext<'_, 'p>,
    ) -> Vec<String> {
        if let Ok(Value::String(text)) = cx.session.closed(e, &|_| None)
            && is_constant(e)
        {
            return vec![text.into()];
        }
        let text = |hint: &Hint| match hint {
            Hint::Is(Value::String(text)) => Some(text.to_string()),
            _ => None,
        };
        node.map(|node| self.hints[node].iter().filter_map(text).collect()).unwrap_or_default()
    }

    /// Gives the number and the prompts one number of its type in common.
    fn named_number(&mut self, number: &Expr, node: Option<usize>, prompt: Option<usize>) {
        let (ty, is_int) = match &number.kind {
            K::Call(B::Decimal, args) if args.len() == 1 => (&args[0].ty, true),
            _ => (&number.ty, false),
        };
        let (low, high) = match ty.required() {
            Type::Int(low, high) => {
                let units = |n: &i64| n.saturating_mul(DECIMAL_ONE);
                (low.as_ref().map(units), high.as_ref().map(units))
            }
            Type::Decimal(low, high) => (*low, *high),
            _ => return,
        };
        let units = low.unwrap_or(DECIMAL_ONE).max(DECIMAL_ONE).min(high.unwrap_or(i64::MAX));
        let value = if is_int { Value::Int(units / DECIMAL_ONE) } else { Value::Decimal(units) };
        self.hint(node, Hint::Is(value));
        self.hint(prompt, Hint::Is(Value::String(decimal::format(units).into())));
    }

    pub(super) fn call(
        &mut self,
        builtin: B,
        args: &'p [Expr],
        cx: &mut ClassContext<'_, 'p>,
    ) -> Option<usize> {
        let nodes: Vec<Option<usize>> = args.iter().map(|arg| self.visit_opaque(arg, cx)).collect();
        let first = nodes.first().copied().flatten();
        let texts = match args.get(1) {
            Some(arg) => self.constants(nodes[1], arg, cx),
            None => Vec::new(),
        };
        match builtin {
            B::StartsWith => texts.into_iter().for_each(|t| self.hint(first, Hint::Begins(t))),
            B::EndsWith => texts.into_iter().for_each(|t| self.hint(first, Hint::Ends(t))),
            B::Glob => texts.into_iter().for_each(|t| self.hint(first, Hint::Globs(t))),
            B::VersionAtLeast => {
                texts.into_iter().for_each(|t| self.hint(first, Hint::Is(Value::String(t.into()))))
            }
            // A prompt that is the text names it.
            B::Mentions | B::MentionsCode => self.link(first, nodes[1]),
            B::MentionsDate => {
                self.hint(first, Hint::Is(Value::String("2026-11-15".into())));
                self.link(first, nodes[1]);
            }
            B::MentionsNumber => self.named_number(&args[0], first, nodes[1]),
            B::Min | B::Max | B::Joined => {
                self.link(first, nodes[1]);
                return first.or(nodes[1]);
            }
            B::Concat => return first.or(nodes[1]),
            B::Len => return self.read_node(ValuePlace::Length(first?)),
            B::EmailDomain => return self.read_node(ValuePlace::Domain(first?)),
            B::EmailLocal => return self.read_node(ValuePlace::Local(first?)),
            // What is held against the text of a number is no number.
            B::Text => return first.filter(|_| matches!(args[0].ty, Type::Path | Type::Url)),
            B::Emails
            | B::Urls
            | B::Hosts
            | B::Links
            | B::Paths
            | B::Ibans
            | B::Phones
            | B::Numbers
            | B::Dates
            | B::Quoted
            | B::Names
            | B::Words
            | B::Split
            | B::Commands => {
                return self.read_node(ValuePlace::Found(first?, format!("{builtin:?}")));
            }
            _ => return first,
        }
        None
    }
}
