//! Builtins that read their operands without copying them.

use super::context::{Bindings, Commands, Context};
use crate::compiled::expr::CompiledExpr;
use crate::val::Val;
use guard_plan::builtin::{
    Builtin, MAX_JOINED, commands_of, is_code_mentioned, is_date_mentioned, is_mentioned,
    is_number_mentioned,
};
use guard_plan::plan::NodeId;
use guard_plan::value::{Fault, Value};

impl<'a> Context<'a> {
    /// Evaluates a builtin without copying its operands. Returns `None` for another builtin or an
    /// unusual operand: the general evaluation then evaluates the operands again, to the same
    /// values.
    pub(super) fn viewed(
        &self,
        expr: &'a CompiledExpr,
        builtin: Builtin,
        ids: &[NodeId],
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Result<Option<Val<'a>>, Fault> {
        match (builtin, ids) {
            (Builtin::Len, [a]) => Ok(length(&self.node(expr, *a, scope)?)),
            (Builtin::StartsWith | Builtin::EndsWith, [a, b]) => {
                let a = self.node(expr, *a, scope)?;
                let b = self.node(expr, *b, scope)?;
                let (Some(whole), Some(part)) = (a.text().or(a.path()), b.text().or(b.path()))
                else {
                    return Ok(None);
                };
                Ok(Some(Val::Bool(match builtin {
                    // Every text begins and ends with the empty text, so an empty name would pass
                    // every such rule.
                    Builtin::StartsWith => !part.is_empty() && whole.starts_with(part),
                    _ => !part.is_empty() && whole.ends_with(part),
                })))
            }
            (Builtin::Mentions | Builtin::MentionsDate | Builtin::MentionsCode, [named, said]) => {
                let named = self.node(expr, *named, scope)?;
                let said = self.node(expr, *said, scope)?;
                let (Some(named), Some(said)) = (named.text(), said.text()) else {
                    return Ok(None);
                };
                Ok(Some(Val::Bool(match builtin {
                    Builtin::Mentions => is_mentioned(named, said),
                    Builtin::MentionsDate => is_date_mentioned(named, said),
                    _ => is_code_mentioned(named, said),
                })))
            }
            (Builtin::MentionsNumber, [number, said]) => {
                let number = self.node(expr, *number, scope)?;
                let said = self.node(expr, *said, scope)?;
                let (Val::Decimal(units), Some(said)) = (number, said.text()) else {
                    return Ok(None);
                };
                Ok(Some(Val::Bool(is_number_mentioned(units, said))))
            }
            (Builtin::Min | Builtin::Max, [a, b]) => {
                let a = self.node(expr, *a, scope)?;
                let b = self.node(expr, *b, scope)?;
                let greater = match (&a, &b) {
                    (Val::Int(x), Val::Int(y))
                    | (Val::Decimal(x), Val::Decimal(y))
                    | (Val::Duration(x), Val::Duration(y))
                    | (Val::Time(x), Val::Time(y)) => x > y,
                    _ => return Ok(None),
                };
                Ok(Some(if greater == (builtin == Builtin::Max) { a } else { b }))
            }
            (Builtin::Concat, [a, b]) => {
                let a = self.node(expr, *a, scope)?;
                let b = self.node(expr, *b, scope)?;
                let (Some(first), Some(second)) = (a.text(), b.text()) else { return Ok(None) };
                let bytes = first.len() + second.len();
                if bytes > MAX_JOINED {
                    return Err(Fault::TooLong);
                }
                let mut text = String::with_capacity(bytes);
                text.push_str(first);
                text.push_str(second);
                Ok(Some(Val::Own(Value::String(text.into()))))
            }
            (Builtin::Commands, [text, folder]) => {
                let text = self.node(expr, *text, scope)?;
                let folder = self.node(expr, *folder, scope)?;
                Ok(text
                    .text()
                    .zip(folder.path())
                    .and_then(|(text, folder)| self.read(text, folder)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the commands of a text, which is parsed once in a decision; `None` if another text
    /// was parsed before.
    fn read(&self, text: &str, folder: &str) -> Option<Val<'a>> {
        let read = self.decision.commands.get_or_init(|| Commands {
            text: text.into(),
            folder: folder.into(),
            list: commands_of(text, folder),
        });
        (*read.text == *text && *read.folder == *folder).then(|| Val::from_value(&read.list))
    }
}

fn length<'a>(value: &Val<'_>) -> Option<Val<'a>> {
    let count = match (value.text(), value.compound()) {
        (Some(text), _) => text.chars().count(),
        (_, Some(Value::List(items))) => items.len(),
        (_, Some(Value::Set(items))) => items.len(),
        (_, Some(Value::Map(entries))) => entries.len(),
        _ => return None,
    };
    Some(Val::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}
