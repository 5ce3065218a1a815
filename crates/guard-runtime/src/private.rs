//! Private parts of results: they are remembered with their readers when a call settles, and named
//! in the reason of a rule that asks who may read a text (semantics §8).

use crate::compiled::CompiledPlan;
use crate::compiled::expr::CompiledExpr;
use crate::compiled::prepare;
use crate::eval::context::{Bindings, Context};
use crate::outcome::Settled;
use crate::session::SessionState;
use crate::session::private::{Disclosure, Leak};
use crate::settle::after::AfterCall;
use crate::settle::part;
use guard_plan::builtin::is_unreadable;
use guard_plan::disclosure::{self, MAX_PRIVATE};
use guard_plan::json::Json;
use guard_plan::plan::{Node, PrivatePart, Tool, ToolId};
use guard_plan::record::{Note, NoteKind};
use guard_plan::render::{SECRET, is_invisible};
use guard_plan::trust::ELEMENT;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::Reason;

/// The reason why the session no longer knows who may read a text.
const TOO_MUCH: &str = "this session has read more private text than it could keep";

/// The maximum number of readers that a reason names.
const NAMED_READERS: usize = 5;

/// The maximum number of characters of a reader that a reason shows.
const SHOWN_READER: usize = 60;

/// Returns true if a tool's results may be private and some rule asks for private content.
fn matters(compiled: &CompiledPlan, tool: &Tool) -> bool {
    compiled.plan().confidential && !tool.privates.is_empty() && !tool.is_served()
}

/// Remembers the private parts of a result that was decoded.
pub(crate) fn disclose(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    after: &AfterCall<'_>,
    raw: &Json,
    settled: &mut Settled,
) {
    let tool = after.call.tool;
    if !matters(compiled, tool) {
        return;
    }
    // All clauses read the private content from before the call.
    let mut found = Vec::new();
    for (private, ready) in tool.privates.iter().zip(&after.call.ready.privates) {
        let (parts, fault) = after.read(compiled, session, |cx| parts(cx, private, ready, raw));
        let owner = &private.rule.owner;
        if parts.is_empty() {
            continue;
        }
        if private.rule.shadow {
            settled.note(NoteKind::Shadow, owner, format!("`{}` would be private", private.part));
            continue;
        }
        if let Some(fault) = fault {
            let message = format!("nobody else may read `{}`: {fault}", private.part);
            settled.note(NoteKind::Warning, owner, message);
        }
        found.push((private, parts));
    }
    for (private, parts) in found {
        for (readers, json, path) in parts {
            let mut texts = Vec::new();
            disclosure::private_texts(json, path, &mut |text| texts.push(text));
            // An unreadable text is the mark of something that an extractor refused, so it names
            // nobody.
            let readers =
                readers.into_iter().filter(|reader| !reader.is_empty() && !is_unreadable(reader));
            let disclosure = Disclosure {
                part: private.part.to_string().into(),
                tool: tool.name.as_str().into(),
                readers: readers.collect(),
                secret: private.secret,
            };
            keep(session, &disclosure, &texts, settled);
        }
    }
}

/// Readers, and the parts that they may read: those at a path of an element.
type Readable<'j> = (Vec<Box<str>>, &'j Json, &'j [String]);

/// Returns the private parts of a result with their readers, and the first fault. A part with a
/// fault has no readers.
fn parts<'j>(
    cx: &Context<'_>,
    private: &'j PrivatePart,
    ready: &prepare::Private,
    raw: &'j Json,
) -> (Vec<Readable<'j>>, Option<Fault>) {
    let mut parts = Vec::new();
    let mut fault = None;
    let walked = part::each(cx, &private.part, &ready.ranges, raw, &mut |element| {
        let readers = readers_of(cx, ready, element.scope).unwrap_or_else(|found| {
            fault.get_or_insert(found);
            (!guard_proof::mutant!("what faults is not private")).then(Vec::new)
        });
        parts.extend(readers.map(|readers| (readers, element.json, element.rest)));
    });
    if let Err(found) = walked {
        // The value at the path, whether or not it contains the elements.
        let all = private.part.path.iter().take_while(|step| *step != ELEMENT).count();
        parts = vec![(Vec::new(), raw, &private.part.path[..all])];
        fault = Some(found);
    }
    (parts, fault)
}

/// Remembers the whole of a result that does not decode as private, without readers.
pub(crate) fn disclose_undecoded(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    tool: ToolId,
    raw: Result<&Json, &str>,
    settled: &mut Settled,
) {
    let ready = &compiled.tools[tool as usize];
    let tool = &compiled.plan().tools[tool as usize];
    if !matters(compiled, tool) || tool.privates.iter().all(|part| part.rule.shadow) {
        return;
    }
    let mut texts = Vec::new();
    match raw {
        Ok(json) => disclosure::private_texts(json, &[], &mut |text| texts.push(text)),
        Err(text) => {
            let whole = disclosure::unreadable_texts(text, &mut |text| texts.push(text));
            // A text that no record keeps could not be restored later.
            if !whole || ready.secrets {
                let full = session.private.close();
                return note_full(full, settled);
            }
        }
    }
    let disclosure = Disclosure {
        part: "result".into(),
        tool: tool.name.as_str().into(),
        readers: Default::default(),
        secret: false,
    };
    keep(session, &disclosure, &texts, settled);
}

fn keep(
    session: &mut SessionState,
    disclosure: &Disclosure,
    texts: &[String],
    settled: &mut Settled,
) {
    let full = session.private.disclose(disclosure, texts);
    note_full(full, settled);
}

/// Notes that the session has read more private content than it could keep.
fn note_full(full: bool, settled: &mut Settled) {
    if full {
        let message = format!("{TOO_MUCH}: from now on no reader is known");
        settled.note(NoteKind::Warning, "may_read", message);
    }
}

/// Remembers the text of a prompt: what the user says is not secret.
pub(crate) fn hear(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    prompt: &str,
) -> Option<Note> {
    let heard = !compiled.plan().confidential || session.private.hear(prompt);
    (!heard).then(|| Note {
        kind: NoteKind::Warning,
        rule: "may_read".into(),
        message: format!(
            "the words of this prompt stay private: all prompts together have at most {MAX_PRIVATE} bytes"
        ),
    })
}

/// Returns the readers of a part; `None` if its condition is false.
fn readers_of<'s>(
    cx: &Context<'s>,
    ready: &'s prepare::Private,
    scope: &Bindings<'_, 's>,
) -> Result<Option<Vec<Box<str>>>, Fault> {
    if let Some(when) = &ready.when
        && !cx.eval_in(when, scope)?.truth()?
    {
        return Ok(None);
    }
    let Some(to) = &ready.to else { return Ok(Some(Vec::new())) };
    let readers = cx.eval_in(to, scope)?.into_value();
    Ok(Some(named(&readers)?.into_iter().map(Box::from).collect()))
}

/// Returns the names of the readers, from a string or from a list or set of strings.
pub(crate) fn named(readers: &Value) -> Result<Vec<&str>, Fault> {
    fn text(value: &Value) -> Result<&str, Fault> {
        match value {
            Value::String(text) => Ok(text),
            Value::Json(json) => json_text(json),
            _ => Err(Fault::Decode("a reader that is not a text".into())),
        }
    }

    fn json_text(json: &Json) -> Result<&str, Fault> {
        json.as_str().ok_or_else(|| Fault::Decode("a reader that is not a text".into()))
    }
    match readers {
        Value::List(all) => all.iter().map(text).collect(),
        Value::Set(all) => all.iter().map(text).collect(),
        Value::Json(json) => match &**json {
            Json::Array(all) => all.iter().map(json_text).collect(),
            one => Ok(vec![json_text(one)?]),
        },
        one => Ok(vec![text(one)?]),
    }
}

impl<'a> Context<'a> {
    /// Returns true if the readers may read a text, and remembers the objection for the reason.
    pub fn may_read(&self, readers: &Value, text: &Value) -> Result<bool, Fault> {
        if *readers == Value::None {
            return Ok(false);
        }
        let session = self.session;
        let leak = session.private.leak(&named(readers)?, &disclosure::fold_value(text));
        if let Some(leak) = &leak {
            *self.decision.leak.borrow_mut() = Some(described(leak));
        }
        Ok(leak.is_none())
    }

    /// Adds to the help of a reason the private content, found by its condition, that a reader may
    /// not read.
    pub fn explain_leak(&self, reason: &mut Reason, condition: &CompiledExpr) {
        let asks = |node: &Node| matches!(node, Node::MayRead(..));
        if !condition.ops().iter().any(|op| op.node().is_some_and(asks)) {
            return;
        }
        // Another rule may have left a description of another text.
        self.decision.leak.take();
        // A fault has its own reason.
        let found = self.eval_shown(condition).ok().and_then(|_| self.decision.leak.take());
        if let Some(found) = found {
            if !reason.help.is_empty() {
                reason.help.push_str("; ");
            }
            reason.help.push_str(&found);
        }
    }
}

fn described(leak: &Leak<'_>) -> String {
    let disclosure = match leak {
        Leak::Content(disclosure) => disclosure,
        Leak::Full => {
            return format!("{TOO_MUCH}, so no reader is known");
        }
    };
    let readers: Vec<String> = disclosure.readers.iter().map(|reader| shown(reader)).collect();
    let who = match readers.as_slice() {
        _ if disclosure.secret => format!("only {SECRET}"),
        [] => "nobody else".to_owned(),
        [first @ .., last] if readers.len() <= NAMED_READERS => match first {
            [] => format!("only `{last}`"),
            _ => format!("only `{}` and `{last}`", first.join("`, `")),
        },
        _ => {
            let rest = readers.len() - NAMED_READERS;
            format!("only `{}` and {rest} others", readers[..NAMED_READERS].join("`, `"))
        }
    };
    let Disclosure { part, tool, .. } = disclosure;
    format!("it contains text from `{part}` of `{tool}`, which {who} may read")
}

/// Formats a reader as one short line, because the name may come from the text of a result.
fn shown(reader: &str) -> String {
    let short = reader.chars().take(SHOWN_READER);
    short.map(|c| if c.is_control() || is_invisible(c) || c == '`' { ' ' } else { c }).collect()
}
