//! Arguments: an object with exactly the parameters, each of its type.

use crate::compiled::CompiledPlan;
use crate::val::Val;
use guard_plan::builtin::is_unreadable;
use guard_plan::decode::{DecodeProblem, Decoder};
use guard_plan::json::Json;
use guard_plan::plan::{Field, TypeDef};
use guard_plan::value::Value;
use std::borrow::Cow;

/// The maximum number of parameters without allocation.
const FEW: usize = 8;

/// The typed arguments of a call, borrowed from the JSON if possible.
#[allow(clippy::large_enum_variant, reason = "the large one is there so that nothing is boxed")]
pub(crate) enum Decoded<'a> {
    Few([Val<'a>; FEW], usize),
    Many(Vec<Val<'a>>),
}

impl<'a> Decoded<'a> {
    pub fn none() -> Self {
        Decoded::Few([const { Val::None }; FEW], 0)
    }

    pub fn values(&self) -> &[Val<'a>] {
        match self {
            Decoded::Few(values, count) => &values[..*count],
            Decoded::Many(values) => values,
        }
    }

    #[inline]
    fn push(&mut self, value: Val<'a>) {
        match self {
            Decoded::Few(values, count) if *count < FEW => {
                values[*count] = value;
                *count += 1;
            }
            Decoded::Few(values, _) => {
                let mut many = Vec::with_capacity(FEW * 2);
                many.extend(values.iter_mut().map(|value| std::mem::replace(value, Val::None)));
                many.push(value);
                *self = Decoded::Many(many);
            }
            Decoded::Many(values) => values.push(value),
        }
    }
}

/// Decodes the arguments of a call into `arguments`, or reports every problem.
pub(crate) fn decode<'a>(
    compiled: &CompiledPlan,
    workspace: &str,
    params: &[Field],
    json: &'a Json,
    arguments: &mut Decoded<'a>,
) -> Result<(), Vec<DecodeProblem>> {
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(workspace, false, &matches);
    if quick(&decoder, params, json, arguments).is_none() {
        // The full decoder either finds every problem, or finds that there is none.
        *arguments = Decoded::none();
        let values = decoder.arguments(params, json)?;
        values.into_iter().for_each(|value| arguments.push(Val::own(value)));
    }
    Ok(())
}

/// Decodes the arguments if they have no problem.
fn quick<'a>(
    decoder: &Decoder<'_>,
    params: &[Field],
    json: &'a Json,
    arguments: &mut Decoded<'a>,
) -> Option<()> {
    let Json::Object(members) = json else { return None };
    let mut found = 0;
    for (at, param) in params.iter().enumerate() {
        // Most callers follow the order of the declaration.
        let member = members.get(at).filter(|(name, _)| **name == *param.name);
        let member = member.or_else(|| members.iter().find(|(name, _)| **name == *param.name));
        found += usize::from(member.is_some());
        arguments.push(argument(decoder, param, member.map(|(_, json)| json))?);
    }
    (found == members.len()).then_some(())
}

fn argument<'a>(decoder: &Decoder<'_>, param: &Field, json: Option<&'a Json>) -> Option<Val<'a>> {
    let inside = |min: &Option<i64>, max: &Option<i64>, number: i64| {
        min.is_none_or(|min| min <= number) && max.is_none_or(|max| number <= max)
    };
    match (decoder.types.get(param.ty as usize)?, json) {
        (def @ TypeDef::String { .. }, Some(Json::String(text))) => {
            let sound = !is_unreadable(text) && decoder.string_problem(def, text).is_none();
            sound.then_some(Val::Str(text))
        }
        (TypeDef::Command, Some(Json::String(text))) => Some(Val::Str(text)),
        (TypeDef::Path, Some(Json::String(text))) => {
            match guard_plan::path::normalise(decoder.workspace, text).ok()? {
                Cow::Borrowed(path) => Some(Val::Path(path)),
                Cow::Owned(path) => Some(Val::Own(Value::Path(path.into()))),
            }
        }
        (TypeDef::Int { min, max }, Some(Json::Int(number))) => {
            inside(min, max, *number).then_some(Val::Int(*number))
        }
        (TypeDef::Enum { variants, .. }, Some(Json::String(text))) => {
            let index = variants.iter().position(|variant| **variant == **text)?;
            Some(Val::Enum(index as u32))
        }
        (TypeDef::Bool, Some(Json::Bool(value))) => Some(Val::Bool(*value)),
        (TypeDef::Json, Some(json)) => Some(Val::Json(json)),
        _ => decoder.argument(param, json).ok().map(Val::own),
    }
}
