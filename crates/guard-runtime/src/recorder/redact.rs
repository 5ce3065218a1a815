//! Redaction of records: marks in place of secrets.

use super::Recorder;
use crate::kernel::Kernel;
use crate::session::SessionState;
use guard_plan::decode::holds_secrets;
use guard_plan::json::Json;
use guard_plan::plan::{FactId, Plan, ProbeAsks, SourceKind, TypeDef, TypeId, VarId};
use guard_plan::record::{Asked, Change, Clear, Ran};
use guard_plan::value::Value;
use guard_plan::{hex, key, render, secrecy};
use std::borrow::Cow;

impl Recorder {
    pub(super) fn seal(&self, clear: Clear<'_>) -> Option<String> {
        if clear.is_empty() {
            return None;
        }
        self.secrets.seal(self.chain.seq(), &clear.to_bytes())
    }

    pub(super) fn answered<'a>(
        &self,
        kernel: &Kernel,
        asked: &'a [Asked],
    ) -> (Cow<'a, [Asked]>, Option<String>) {
        let shown = self.asked(kernel, asked);
        let sealed = self.seal(Clear { asked: hidden(&shown, asked), ..Clear::default() });
        (shown, sealed)
    }

    /// Returns the questions to the world, with hashes for the secrets in probe answers.
    pub(super) fn asked<'a>(&self, kernel: &Kernel, asked: &'a [Asked]) -> Cow<'a, [Asked]> {
        if asked.is_empty() || !probes_hold_secrets(kernel.plan()) {
            return Cow::Borrowed(asked);
        }
        let redacted = |asked: &Asked| match asked {
            Asked::Probe { name, answered, answer } => {
                let shown = self.answer(kernel, name, answer);
                let answer = shown.unwrap_or_else(|| answer.clone());
                Asked::Probe { name: name.clone(), answered: *answered, answer }
            }
            Asked::Run { command, answer: Some(ran) } if prints_secrets(kernel.plan(), command) => {
                let mark = |text: &str| match text {
                    "" => String::new(),
                    text => self.marked(text.as_bytes()),
                };
                let output = mark(&ran.output);
                let stdout = mark(&ran.stdout);
                let ran = Ran { ended: ran.ended.clone(), output, stdout };
                Asked::Run { command: command.clone(), answer: Some(ran) }
            }
            other => other.clone(),
        };
        Cow::Owned(asked.iter().map(redacted).collect())
    }

    /// Returns the answer of a probe without its secrets; `None` if the answer cannot contain any.
    pub(super) fn answer(&self, kernel: &Kernel, name: &str, answer: &Json) -> Option<Json> {
        let plan = kernel.plan();
        let probe = plan.probes.iter().find(|probe| probe.name == name)?;
        let holds = holds_secrets(&plan.types, probe.returns);
        holds.then(|| self.redacted(&plan.types, probe.returns, answer))
    }

    /// Returns the opening data of the session; a hash if some of it is taught as a secret.
    pub(super) fn data<'a>(&self, kernel: &Kernel, data: &'a Json) -> Cow<'a, Json> {
        let plan = kernel.plan();
        let start = plan.sources.iter().filter(|source| source.kind == SourceKind::Start);
        let mut facts = start.flat_map(|source| &source.learns).map(|learn| learn.fact);
        let secret = |fact: FactId| holds_secrets(&plan.types, plan.facts[fact as usize].row);
        // Lessons read the data through expressions, so its secret parts cannot be told from the
        // others.
        if facts.any(secret) {
            Cow::Owned(self.secret(data.to_string().as_bytes()))
        } else {
            Cow::Borrowed(data)
        }
    }

    pub(super) fn changes(&self, kernel: &Kernel, session: &SessionState) -> Vec<Change> {
        let changes = session.changes().iter();
        let change =
            |(id, before): &(VarId, Value)| self.change(kernel, *id, before, session.value(*id)?);
        changes.filter_map(change).collect()
    }

    /// Returns a variable with its values before and after, secrets replaced by hashes.
    pub(super) fn change(
        &self,
        kernel: &Kernel,
        id: VarId,
        before: &Value,
        after: &Value,
    ) -> Option<Change> {
        let plan = kernel.plan();
        let var = plan.state.get(id as usize)?;
        let json = |value: &Value| {
            let secret =
                &mut |value: &Value| self.secret(&key::encode(std::slice::from_ref(value)));
            render::to_json_redacted(&plan.types, var.ty, value, secret)
        };
        Some(Change { name: var.name.as_str().into(), before: json(before), after: json(after) })
    }

    /// Returns the arguments, with hashes for secrets. For an undeclared tool, every argument with
    /// the name of another tool's secret is hashed, since that tool may have been meant.
    pub(super) fn args<'a>(&self, kernel: &Kernel, tool: &str, args: &'a Json) -> Cow<'a, Json> {
        let plan = kernel.plan();
        let id = kernel.tool(tool);
        let holds = match id {
            Some(id) => kernel.compiled.tools[id as usize].secrets,
            None => kernel.has_secrets(),
        };
        if !holds {
            return Cow::Borrowed(args);
        }
        let tool = id.map(|id| &plan.tools[id as usize]);
        Cow::Owned(secrecy::without_secrets(plan, tool, args, &|json| self.marked_json(json)))
    }

    /// Returns the arguments of a call whose tool is not known, with hashes for every member with
    /// the name of some secret.
    pub(super) fn args_by_name<'a>(&self, kernel: &Kernel, args: &'a Json) -> Cow<'a, Json> {
        if !kernel.has_secrets() {
            return Cow::Borrowed(args);
        }
        let hide = |json: &Json| self.marked_json(json);
        Cow::Owned(secrecy::without_secrets(kernel.plan(), None, args, &hide))
    }

    /// Returns the result of an undeclared tool, with hashes for the members with the name of some
    /// secret.
    pub(super) fn members_by_name<'a>(&self, kernel: &Kernel, result: &'a Json) -> Cow<'a, Json> {
        if !kernel.has_secrets() {
            return Cow::Borrowed(result);
        }
        let hide = |json: &Json| self.marked_json(json);
        Cow::Owned(secrecy::without_named(kernel.plan(), result, &hide))
    }

    /// Returns a value of a type, with hashes for secrets.
    pub(super) fn redacted(&self, types: &[TypeDef], ty: TypeId, json: &Json) -> Json {
        secrecy::of_type(types, ty, json, &|json| self.marked_json(json))
    }

    pub(super) fn marked_json(&self, json: &Json) -> Json {
        self.secret(json.to_string().as_bytes())
    }

    /// Returns the mark of a secret: equal secrets of one session have equal marks.
    pub(super) fn secret(&self, bytes: &[u8]) -> Json {
        Json::String(self.marked(bytes).into())
    }

    pub(super) fn marked(&self, bytes: &[u8]) -> String {
        format!("secret:{}", hex::encode(&self.secrets.mark(bytes)))
    }
}

pub(super) fn probes_hold_secrets(plan: &Plan) -> bool {
    plan.probes.iter().any(|probe| holds_secrets(&plan.types, probe.returns))
}

/// Returns true if some probe reads secrets from the output of a command.
fn prints_secrets(plan: &Plan, command: &[String]) -> bool {
    plan.probes.iter().any(|probe| match probe.asks {
        ProbeAsks::Command(id) => {
            plan.commands[id as usize].argv == command && holds_secrets(&plan.types, probe.returns)
        }
        _ => false,
    })
}

/// Returns the clear text to seal for a part of a record, if the record shows something else.
#[allow(clippy::ptr_arg, reason = "whether it is owned is what is asked")]
pub(super) fn hidden<'a, T: ToOwned + ?Sized>(
    shown: &Cow<'_, T>,
    clear: &'a T,
) -> Option<Cow<'a, T>> {
    matches!(shown, Cow::Owned(_)).then_some(Cow::Borrowed(clear))
}
