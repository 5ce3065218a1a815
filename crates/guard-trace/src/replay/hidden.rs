//! The parts of a record that are known only as marks, and the rules that read them.

use guard_plan::json::Json;
use guard_plan::plan::{Plan, TypeDef, TypeId};
use guard_plan::record::{Asked, Clear, Payload, Record};
use guard_runtime::{Kernel, Secrets};

/// The prefix of a mark; 64 hexadecimal digits follow.
const MARK: &str = "secret:";

/// Replaces marks with the sealed values, if the key is known.
pub(super) fn reveal(record: &mut Record, secrets: Option<&dyn Secrets>) {
    let clear = record.sealed().and_then(|sealed| {
        let bytes = secrets?.unseal(record.seq, sealed)?;
        Clear::from_bytes(&bytes).ok()
    });
    if let Some(clear) = clear {
        record.reveal(clear);
    }
}

/// The parts of a record that are known only as marks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hidden {
    /// True if the arguments, the result, or the opening data contain marks.
    pub body: bool,
    /// True if the world's answers contain marks.
    pub asked: bool,
}

impl Hidden {
    /// Searches a record, whose secrets have been revealed as far as possible.
    pub fn new(record: &Record) -> Hidden {
        let (body, asked): (Option<&Json>, &[Asked]) = match &record.payload {
            Payload::Open(open) => (open.data.as_deref(), &[]),
            Payload::Propose(propose) => (Some(&propose.args), &propose.asked),
            Payload::Settle(settle) => (Some(&settle.result), &settle.asked),
            Payload::Approve(approve) => (Some(&approve.args), &[]),
            Payload::Revoke(revoke) => (Some(&revoke.args), &[]),
            Payload::Prompt(prompt) => (None, &prompt.asked),
            Payload::Stop(stop) => (None, &stop.asked),
            Payload::Item(item) => (None, &item.asked),
            _ => (None, &[]),
        };
        Hidden { body: body.is_some_and(holds_marks), asked: asked.iter().any(is_marked) }
    }

    pub fn any(self) -> bool {
        self.body || self.asked
    }
}

fn is_marked(asked: &Asked) -> bool {
    match asked {
        Asked::Probe { answer, .. } => holds_marks(answer),
        Asked::Run { answer: Some(ran), .. } => is_mark(&ran.output) || is_mark(&ran.stdout),
        _ => false,
    }
}

/// Returns the arguments, result or data of a record that contains marks, as recorded.
pub(super) fn marked(record: &Record) -> Option<Json> {
    let body: Option<&Json> = match &record.payload {
        Payload::Open(open) => open.data.as_deref(),
        Payload::Propose(propose) => Some(&propose.args),
        Payload::Settle(settle) => Some(&settle.result),
        Payload::Approve(approve) => Some(&approve.args),
        Payload::Revoke(revoke) => Some(&revoke.args),
        _ => None,
    };
    body.filter(|body| holds_marks(body)).cloned()
}

/// Replaces every value whose recorded value contains a mark by the stand-in. Returns true if some
/// value was not the stand-in before.
pub(super) fn hide_marked(shown: &mut Json, recorded: &Json, stand_in: &str) -> bool {
    match (shown, recorded) {
        (Json::Object(shown), Json::Object(recorded)) => {
            let mut hid = false;
            for (name, json) in shown {
                if let Some((_, recorded)) = recorded.iter().find(|(known, _)| known == name) {
                    hid |= hide_marked(json, recorded, stand_in);
                }
            }
            hid
        }
        (Json::Array(shown), Json::Array(recorded)) => {
            let pairs = shown.iter_mut().zip(recorded);
            pairs.fold(false, |hid, (json, recorded)| hide_marked(json, recorded, stand_in) || hid)
        }
        (shown, Json::String(text)) if is_mark(text) => {
            let is_hidden = shown.as_str().is_some_and(|text| text == stand_in || is_mark(text));
            if !is_hidden {
                *shown = Json::string(stand_in);
            }
            !is_hidden
        }
        _ => false,
    }
}

/// Returns true if each mark of a recorded value is in a member whose name `is_secret` accepts.
pub(super) fn are_named(recorded: &Json, is_secret: &dyn Fn(&str) -> bool) -> bool {
    match recorded {
        Json::String(text) => !is_mark(text),
        Json::Array(items) => items.iter().all(|item| are_named(item, is_secret)),
        Json::Object(members) => {
            members.iter().all(|(name, json)| is_secret(name) || are_named(json, is_secret))
        }
        _ => true,
    }
}

/// Returns true if some text is a mark. An agent may write such a text itself; then the original is
/// unknown as well.
fn holds_marks(json: &Json) -> bool {
    match json {
        Json::String(text) => is_mark(text),
        Json::Array(items) => items.iter().any(holds_marks),
        Json::Object(members) => members.iter().any(|(_, json)| holds_marks(json)),
        _ => false,
    }
}

fn is_mark(text: &str) -> bool {
    let digits = text.strip_prefix(MARK);
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// For each tool and parameter, true if a rule or a type reads the value. If no rule reads a value,
/// its mark can replace the secret, because equal secrets have equal marks.
#[derive(Debug, Clone)]
pub(super) struct Looks(Vec<Vec<bool>>);

impl Looks {
    pub fn new(plan: &Plan) -> Looks {
        let tools = plan.tools.iter().map(|tool| {
            let mut read = vec![false; tool.params.len()];
            // The JSON form of a tool contains the nodes of all its expressions.
            let json = serde_json::to_value(tool).unwrap_or_default();
            params(&json, &mut read);
            for (read, param) in read.iter_mut().zip(&tool.params) {
                *read |= tool.keeps_args || tool.served.is_some() || !is_plain(plan, param.ty);
            }
            read
        });
        Looks(tools.collect())
    }

    /// Returns true if the guard would read a part of a call that is known only as a mark.
    pub fn at_call(&self, kernel: &Kernel, tool: &str, args: &Json) -> bool {
        let Some(id) = kernel.tool(tool) else { return false };
        let tool = &kernel.plan().tools[id as usize];
        let read = &self.0[id as usize];
        let Json::Object(members) = args else { return true };
        members.iter().filter(|(_, json)| holds_marks(json)).any(|(name, _)| {
            let place = tool.params.iter().position(|param| *param.name == **name);
            place.is_none_or(|place| read[place])
        })
    }
}

/// Returns true if the guard would read the result of a call.
pub(super) fn looks_into_result(kernel: &Kernel) -> bool {
    let plan = kernel.plan();
    plan.origins
        || plan.tools.iter().any(|tool| {
            tool.keeps_result
                || !tool.observes.is_empty()
                || !tool.learns.is_empty()
                || !tool.reconciles.is_empty()
                || (plan.confidential && !tool.privates.is_empty())
        })
}

/// Returns true if every text is a value of the type.
fn is_plain(plan: &Plan, ty: TypeId) -> bool {
    match plan.types.get(ty as usize) {
        Some(TypeDef::Option { of }) => is_plain(plan, *of),
        Some(TypeDef::String { max_chars, max_bytes, patterns }) => {
            // A mark is 71 characters long: seven for its prefix, and 64 digits.
            max_chars.is_none_or(|max| max >= 71)
                && max_bytes.is_none_or(|max| max >= 71)
                && patterns.is_empty()
        }
        Some(TypeDef::Json | TypeDef::Command) => true,
        _ => false,
    }
}

fn params(json: &serde_json::Value, read: &mut [bool]) {
    match json {
        serde_json::Value::Object(members) => {
            for (name, value) in members {
                if name == "param"
                    && let Some(at) = value.as_u64()
                {
                    read.get_mut(at as usize).into_iter().for_each(|read| *read = true);
                }
                params(value, read);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| params(item, read)),
        _ => {}
    }
}
