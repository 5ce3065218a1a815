//! Records of a session's events, chained and encoded.
//!
//! For hosts that keep a trace; the kernel decides without it. What is marked secret is replaced by a hash
//! salted with what the host gave.

use crate::host::{Approve, Event, Outcome, Resume, Usage};
use crate::item::{Move, Moved, Verify};
use crate::kernel::Kernel;
use crate::prompt::{Learned, Prompt};
use crate::propose::{Proposal, Proposed};
use crate::session::Session;
use crate::settle::{Ending, Settled, Settlement};
use crate::stop::{Stop, Stopped};
use guard_plan::decode::holds_secrets;
use guard_plan::encode::Hash;
use guard_plan::json::Json;
use guard_plan::plan::{Field, Tool, TypeDef, TypeId};
use guard_plan::record::{self, Chain, Change, Kind};
use guard_plan::value::Value;
use guard_plan::{decimal, hex, key, render, time};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Writes one session's records, into a buffer that is used again and again. Each method gives the line of
/// one record, without its end.
#[derive(Debug, Clone)]
pub struct Recorder {
    chain: Chain,
    salt: Box<[u8]>,
}

impl Recorder {
    /// A recorder of a new session. The salt is for its secrets: random, and not in the trace.
    pub fn new(salt: &[u8]) -> Recorder {
        Recorder { chain: Chain::default(), salt: salt.into() }
    }

    /// A recorder that goes on after a record: the next number, and the hash of the last one.
    pub fn after(seq: u64, hash: Hash, salt: &[u8]) -> Recorder {
        Recorder { chain: Chain::from(seq, hash), salt: salt.into() }
    }

    /// The hash of the last record.
    pub fn hash(&self) -> &Hash {
        self.chain.hash()
    }

    /// How many records there are.
    pub fn seq(&self) -> u64 {
        self.chain.seq()
    }

    /// The beginning of the session: the first record.
    pub fn open(&mut self, kernel: &Kernel, session: &Session) -> &[u8] {
        let opening = session.opening.as_deref();
        let learned = opening.map(|opening| &opening.learned);
        let payload = record::Open {
            plan: kernel.loaded().hash_text().into(),
            guard: (&*kernel.plan().guard).into(),
            session: session.id().into(),
            workspace: session.workspace().into(),
            data: opening.map(|opening| Cow::Borrowed(&opening.data)),
            learned: learned.map_or(0, |learned| learned.learned),
            forgotten: learned.map_or(0, |learned| learned.forgotten),
            notes: Cow::Borrowed(learned.map_or(&[], |learned| &learned.notes)),
        };
        self.chain.append(session.start(), Kind::Open, None, &payload)
    }

    /// Any event and what it came to.
    pub fn event(
        &mut self,
        kernel: &Kernel,
        session: &Session,
        event: &Event<'_>,
        outcome: &Outcome,
    ) -> &[u8] {
        match (event, outcome) {
            (Event::Propose(proposal), Outcome::Proposed(proposed)) => {
                self.proposed(kernel, session, proposal, proposed)
            }
            (Event::Settle(settlement), Outcome::Settled(settled)) => {
                self.settled(kernel, session, settlement, settled)
            }
            (Event::Approve(approve), _) => self.approved(kernel, session, approve),
            (Event::Usage(usage), _) => self.used(session, usage),
            (Event::Resume(resume), _) => self.resumed(session, resume),
            (Event::Prompt(prompt), Outcome::Prompted(learned)) => {
                self.prompted(session, prompt, learned)
            }
            (Event::Stop(stop), Outcome::Stopped(stopped)) => self.stopped(session, stop, stopped),
            (Event::Verify(verify), Outcome::Item(moved)) => self.verified(session, verify, moved),
            (Event::Move(by), Outcome::Item(moved)) => self.moved(session, by, moved),
            // An outcome of another event; the record says at least that something is wrong.
            _ => self.chain.append(session.now(), Kind::Settle, None, &"outcome of another event"),
        }
    }

    /// A proposal.
    pub fn proposed(
        &mut self,
        kernel: &Kernel,
        session: &Session,
        proposal: &Proposal<'_>,
        proposed: &Proposed,
    ) -> &[u8] {
        let payload = record::Propose {
            tool: proposal.tool.into(),
            args: self.args(kernel, proposal.tool, proposal.args),
            verdict: Cow::Borrowed(&proposed.verdict),
            asked: Cow::Borrowed(&proposed.asked),
            served: proposed.served.as_ref().map(Cow::Borrowed),
            changes: match proposed.served {
                Some(_) => self.changes(kernel, session).into(),
                None => Cow::Borrowed(&[]),
            },
            learned: proposed.learned,
            forgotten: proposed.forgotten,
            halted: proposed.halted,
            items: Cow::Borrowed(&proposed.items),
            notes: Cow::Borrowed(&proposed.notes),
            feedback: Cow::Borrowed(&proposed.feedback),
        };
        self.chain.append(session.now(), Kind::Propose, Some(proposal.call), &payload)
    }

    /// A settlement.
    pub fn settled(
        &mut self,
        kernel: &Kernel,
        session: &Session,
        settlement: &Settlement<'_>,
        settled: &Settled,
    ) -> &[u8] {
        let (success, result) = match settlement.ending {
            Ending::Success(result) => (true, result.unwrap_or(&Json::Null)),
            Ending::Failure => (false, &Json::Null),
        };
        let returns = settled.tool.and_then(|id| {
            let secrets = kernel.tools[id as usize].secrets;
            kernel.plan().tools[id as usize].returns.filter(|_| secrets)
        });
        let result = match returns {
            Some(ty) => Cow::Owned(self.redacted(&kernel.plan().types, ty, result)),
            None => Cow::Borrowed(result),
        };
        let payload = record::Settle {
            success,
            result,
            changes: self.changes(kernel, session).into(),
            learned: settled.learned,
            notes: Cow::Borrowed(&settled.notes),
            halted: settled.halted,
            asked: Cow::Borrowed(&settled.asked),
            forgotten: settled.forgotten,
            feedback: Cow::Borrowed(&settled.feedback),
        };
        self.chain.append(session.now(), Kind::Settle, Some(settlement.call), &payload)
    }

    /// An approval.
    pub fn approved(&mut self, kernel: &Kernel, session: &Session, approve: &Approve<'_>) -> &[u8] {
        let payload = record::Approve {
            tool: approve.tool.into(),
            args: self.args(kernel, approve.tool, approve.args),
            role: approve.role.into(),
            by: approve.by.into(),
            expires: approve.expires.map(time::format_rfc3339),
        };
        self.chain.append(session.now(), Kind::Approve, None, &payload)
    }

    /// A report of usage.
    pub fn used(&mut self, session: &Session, usage: &Usage<'_>) -> &[u8] {
        let amount = decimal::format(usage.amount).into();
        let payload = record::Usage { unit: usage.unit.into(), amount };
        self.chain.append(session.now(), Kind::Usage, None, &payload)
    }

    /// The end of a halt.
    pub fn resumed(&mut self, session: &Session, resume: &Resume<'_>) -> &[u8] {
        let payload = record::Resume { role: resume.role.into(), by: resume.by.into() };
        self.chain.append(session.now(), Kind::Resume, None, &payload)
    }

    /// A prompt, in full; of what it taught only how much.
    pub fn prompted(&mut self, session: &Session, prompt: &Prompt<'_>, learned: &Learned) -> &[u8] {
        let payload = record::Prompt {
            text: prompt.text.into(),
            learned: learned.learned,
            forgotten: learned.forgotten,
            notes: Cow::Borrowed(&learned.notes),
            asked: Cow::Borrowed(&learned.asked),
        };
        self.chain.append(session.now(), Kind::Prompt, None, &payload)
    }

    /// A stop.
    pub fn stopped(&mut self, session: &Session, stop: &Stop<'_>, stopped: &Stopped) -> &[u8] {
        let payload = record::Stop {
            reason: stop.reason.map(Cow::Borrowed),
            decision: stopped.decision,
            bypassed: stopped.bypassed.as_deref().map(Cow::Borrowed),
            incomplete: stopped.incomplete,
            missing: Cow::Borrowed(&stopped.missing),
            message: Cow::Borrowed(&stopped.message),
            notes: Cow::Borrowed(&stopped.notes),
            asked: Cow::Borrowed(&stopped.asked),
        };
        self.chain.append(session.now(), Kind::Stop, None, &payload)
    }

    /// The verification of an item.
    pub fn verified(&mut self, session: &Session, verify: &Verify<'_>, moved: &Moved) -> &[u8] {
        let payload = record::Item {
            item: verify.item.into(),
            transition: None,
            by: None,
            reason: None,
            change: Cow::Borrowed(&moved.change),
            asked: Cow::Borrowed(&moved.asked),
        };
        self.chain.append(session.now(), Kind::Item, None, &payload)
    }

    /// A move of an item by hand.
    pub fn moved(&mut self, session: &Session, by: &Move<'_>, moved: &Moved) -> &[u8] {
        let payload = record::Item {
            item: by.item.into(),
            transition: Some(by.transition.into()),
            by: Some(by.by.into()),
            reason: by.reason.map(Cow::Borrowed),
            change: Cow::Borrowed(&moved.change),
            asked: Cow::Borrowed(&moved.asked),
        };
        self.chain.append(session.now(), Kind::Item, None, &payload)
    }

    fn changes(&self, kernel: &Kernel, session: &Session) -> Vec<Change> {
        let plan = kernel.plan();
        let json = |ty: TypeId, value: &Value| {
            let secret = &mut |value: &Value| self.secret(&key::of(std::slice::from_ref(value)));
            render::to_json_redacted(&plan.types, ty, value, secret)
        };
        let changes = session.changes().iter();
        let changes = changes.filter_map(|(id, before)| {
            let var = plan.state.get(*id as usize)?;
            let after = json(var.ty, session.value(*id)?);
            Some(Change { name: var.name.as_str().into(), before: json(var.ty, before), after })
        });
        changes.collect()
    }

    /// The arguments, with hashes for what is secret; of a tool that is not declared, for what has the name of a
    /// secret of another, which may have been meant.
    fn args<'a>(&self, kernel: &Kernel, tool: &str, args: &'a Json) -> Cow<'a, Json> {
        let plan = kernel.plan();
        let Some(id) = kernel.tool(tool) else { return self.undeclared(&plan.tools, args) };
        if !kernel.tools[id as usize].secrets {
            return Cow::Borrowed(args);
        }
        Cow::Owned(self.redacted_fields(&plan.types, &plan.tools[id as usize].params, args))
    }

    fn undeclared<'a>(&self, tools: &[Tool], args: &'a Json) -> Cow<'a, Json> {
        let mut secrets = tools.iter().flat_map(|tool| &tool.params).filter(|param| param.secret);
        let Some(first) = secrets.next() else { return Cow::Borrowed(args) };
        let names: BTreeSet<&str> =
            std::iter::once(first).chain(secrets).map(|param| param.name.as_str()).collect();
        let Json::Object(members) = args else {
            return Cow::Owned(self.secret(args.to_string().as_bytes()));
        };
        let member = |(name, json): &(Box<str>, Json)| match names.contains(&**name) {
            true => (name.clone(), self.secret(json.to_string().as_bytes())),
            false => (name.clone(), json.clone()),
        };
        Cow::Owned(Json::Object(members.iter().map(member).collect()))
    }

    fn redacted_fields(&self, types: &[TypeDef], fields: &[Field], json: &Json) -> Json {
        let Json::Object(members) = json else {
            // What is no object holds no secret that could be told from the rest.
            return self.secret(json.to_string().as_bytes());
        };
        let member = |(name, json): &(Box<str>, Json)| {
            let field = fields.iter().find(|field| *field.name == **name);
            let json = match field {
                Some(field) if field.secret => self.secret(json.to_string().as_bytes()),
                Some(field) => self.redacted(types, field.ty, json),
                // It may be a secret under a misspelt name.
                None => self.secret(json.to_string().as_bytes()),
            };
            (name.clone(), json)
        };
        Json::Object(members.iter().map(member).collect())
    }

    fn redacted(&self, types: &[TypeDef], ty: TypeId, json: &Json) -> Json {
        match (types.get(ty as usize), json) {
            (_, Json::Null) => Json::Null,
            (Some(TypeDef::Option { of }), _) => self.redacted(types, *of, json),
            (Some(TypeDef::Record { fields, .. }), _) => self.redacted_fields(types, fields, json),
            (Some(TypeDef::List { of, .. } | TypeDef::Set { of, .. }), Json::Array(items)) => {
                Json::Array(items.iter().map(|item| self.redacted(types, *of, item)).collect())
            }
            (Some(TypeDef::Map { of, .. }), Json::Object(members)) => {
                let member =
                    |(key, json): &(Box<str>, Json)| (key.clone(), self.redacted(types, *of, json));
                Json::Object(members.iter().map(member).collect())
            }
            // Not of its type: what is secret in it cannot be told from the rest.
            _ if holds_secrets(types, ty) => self.secret(json.to_string().as_bytes()),
            _ => json.clone(),
        }
    }

    /// What stands for a secret: the same for the same secret in one session.
    fn secret(&self, bytes: &[u8]) -> Json {
        let mut hasher = Sha256::new();
        hasher.update((self.salt.len() as u64).to_be_bytes());
        hasher.update(&self.salt);
        hasher.update(bytes);
        let hash: Hash = hasher.finalize().into();
        Json::String(format!("secret:{}", hex::encode(&hash)).into())
    }
}
