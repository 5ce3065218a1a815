//! Acceptance criteria and evidence: which ones are allowed, and whether they hold (semantics §11).

use super::eval::Env;
use super::probes::ran;
use super::{Ask, ReferenceSession};
use crate::hir::{Lifecycle, ProbeId, Type};
use guard_plan::json::Json;
use guard_plan::plan::CriterionKind;
use guard_plan::value::Value;

/// A criterion that must hold for an item to pass.
#[derive(Clone)]
pub(super) enum Criterion {
    File(String),
    Contains(String, String),
    Command(Vec<String>),
    Committed,
    Probe(ProbeId),
}

/// The evidence that an agent gives for a claim.
#[derive(Clone)]
pub(super) enum Evidence {
    Call(String),
    File(String, String),
}

impl ReferenceSession<'_> {
    /// Returns the criteria of a new item; `None` if one of them is not valid.
    pub(super) fn criteria(&self, lifecycle: &Lifecycle, list: &Value) -> Option<Vec<Criterion>> {
        let Value::List(list) = list else { return None };
        if list.is_empty() {
            return None;
        }
        list.iter().map(|record| self.criterion(lifecycle, record)).collect()
    }

    fn criterion(&self, lifecycle: &Lifecycle, record: &Value) -> Option<Criterion> {
        use Value as V;
        let V::Record(fields) = record else { return None };
        let [file, contains, command, git_commit, probe] = fields.as_slice() else { return None };
        let (kind, criterion) = match (file, contains, command, git_commit, probe) {
            (V::Path(file), V::None, V::None, V::None, V::None) => {
                (CriterionKind::File, Criterion::File(self.inside(file).ok()?))
            }
            (V::Path(_), V::String(part), V::None, V::None, V::None) if part.is_empty() => {
                return None;
            }
            (V::Path(file), V::String(part), V::None, V::None, V::None) => (
                CriterionKind::FileContains,
                Criterion::Contains(self.inside(file).ok()?, part.to_string()),
            ),
            (V::None, V::None, V::List(words), V::None, V::None) => {
                (CriterionKind::Command, Criterion::Command(self.own_command(words)?))
            }
            (V::None, V::None, V::None, V::Bool(true), V::None) => {
                (CriterionKind::GitCommit, Criterion::Committed)
            }
            (V::None, V::None, V::None, V::None, V::String(name)) => {
                let probes = &self.program.probes;
                let probe = probes.iter().position(|probe| *probe.name == **name)?;
                if probes[probe].returns != Type::Bool {
                    return None;
                }
                (CriterionKind::Probe, Criterion::Probe(probe))
            }
            _ => return None,
        };
        lifecycle.criteria.contains(&kind).then_some(criterion)
    }

    /// Returns the words of a command that the guard itself names.
    fn own_command(&self, words: &[Value]) -> Option<Vec<String>> {
        let said: Vec<String> = words
            .iter()
            .map(|word| match word {
                Value::String(word) => word.to_string(),
                _ => String::new(),
            })
            .collect();
        // Otherwise an agent that writes the criteria could have any program run.
        let mut own = false;
        self.program.each_command(&mut |command| own |= command.argv == said);
        own.then_some(said)
    }

    /// Returns true if a criterion holds; `None` if the world does not answer.
    pub(super) fn is_fulfilled(&self, criterion: &Criterion, env: Env) -> Option<bool> {
        let says = |ask: Ask| match (env.world)(&ask) {
            Some(Json::Bool(says)) => Some(says),
            _ => None,
        };
        match criterion {
            Criterion::File(path) => says(Ask::File(path.clone())),
            Criterion::Contains(path, part) => says(Ask::Contains(path.clone(), part.clone())),
            Criterion::Committed => says(Ask::Committed),
            Criterion::Command(words) => {
                let answer = (env.world)(&Ask::Run(words.clone()))?;
                Some(ran(Some(answer)).is_some_and(|(status, _)| status == 0))
            }
            Criterion::Probe(probe) => {
                self.probe(*probe, env).ok().map(|answer| answer == Value::Bool(true))
            }
        }
    }

    /// Returns the evidence of a claim; `None` if a piece of evidence is not valid.
    pub(super) fn evidence(&self, list: &Value, env: Env) -> Option<Vec<Evidence>> {
        let Value::List(list) = list else { return None };
        if list.is_empty() {
            return None;
        }
        list.iter().map(|value| self.piece(value, env)).collect()
    }

    fn piece(&self, record: &Value, env: Env) -> Option<Evidence> {
        use Value as V;
        let V::Record(fields) = record else { return None };
        let [call, file, sha256] = fields.as_slice() else { return None };
        match (call, file, sha256) {
            (V::String(call), V::None, V::None) => {
                let known = self.calls.iter().rev().find(|known| *known.id == **call)?;
                // A call that the kernel served has done nothing outside the session.
                let good = known.success == Some(true) && !known.served;
                good.then(|| Evidence::Call(call.to_string()))
            }
            (V::None, V::Path(file), wanted) => {
                let path = self.inside(file).ok()?;
                let Some(Json::String(found)) = (env.world)(&Ask::Sha256(path.clone())) else {
                    return None;
                };
                let fits = match wanted {
                    V::String(wanted) => wanted.eq_ignore_ascii_case(&found),
                    _ => true,
                };
                fits.then(|| Evidence::File(path, found.to_string()))
            }
            _ => None,
        }
    }

    pub(super) fn criterion_json(&self, criterion: &Criterion) -> Json {
        match criterion {
            Criterion::File(path) => object([("file", text(self.shown(path)))]),
            Criterion::Contains(path, part) => {
                object([("file", text(self.shown(path))), ("contains", text(part))])
            }
            Criterion::Command(words) => {
                let words = words.iter().map(|word| text(word)).collect();
                object([("command", Json::Array(words))])
            }
            Criterion::Committed => object([("git_commit", Json::Bool(true))]),
            Criterion::Probe(probe) => object([("probe", text(&self.program.probes[*probe].name))]),
        }
    }

    pub(super) fn evidence_json(&self, evidence: &Evidence) -> Json {
        match evidence {
            Evidence::Call(call) => object([("call", text(call))]),
            Evidence::File(path, hash) => {
                object([("file", text(self.shown(path))), ("sha256", text(hash))])
            }
        }
    }

    /// Returns a path of the workspace as people write it.
    fn shown<'t>(&self, path: &'t str) -> &'t str {
        let below = self.read.workspace.trim_end_matches('/').to_string() + "/";
        path.strip_prefix(&below).unwrap_or(path)
    }
}

pub(super) fn text(text: &str) -> Json {
    Json::string(text)
}

pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, json)| (name.into(), json)).collect())
}
