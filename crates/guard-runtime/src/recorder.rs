//! Records of a session's events, hash-chained and encoded.
//!
//! The recorder is for hosts that keep a trace; the kernel decides without it. Secrets are replaced
//! by hashes, salted with the salt that the host provides.

mod redact;

use crate::event::{
    Arguments, CallApproval, Ending, Event, HaltEnd, Move, Proposal, Revocation, Settlement,
    StopAttempt, UsageReport, UserPrompt, Verify,
};
use crate::kernel::Kernel;
use crate::outcome::{Learned, Moved, Outcome, ProofViolation, Proposed, Settled, Stopped};
use crate::secrets::Secrets;
use crate::session::SessionState;
use guard_plan::decode::holds_secrets;
use guard_plan::encode::Hash;
use guard_plan::json::Json;
use guard_plan::plan::{UnitId, VarId};
use guard_plan::record::{self, Chain, Charge, Clear, Kind};
use guard_plan::verdict::Decision;
use guard_plan::{decimal, render, time};
use redact::{hidden, probes_hold_secrets};
use std::borrow::Cow;
use std::sync::Arc;

/// The maximum length of unparsable arguments in a record, in characters.
const UNREADABLE_CHARS: usize = guard_plan::disclosure::MAX_UNREADABLE;

/// Writes the records of one session into a reused buffer. Each method returns the line of one
/// record, without its line break.
#[derive(Debug, Clone)]
pub struct Recorder {
    chain: Chain,
    secrets: Arc<dyn Secrets>,
}

impl Recorder {
    /// Returns a recorder for a new session.
    pub fn new(secrets: Arc<dyn Secrets>) -> Recorder {
        Recorder { chain: Chain::default(), secrets }
    }

    /// Returns a recorder that continues after a record, given the next sequence number and the
    /// hash of the last record.
    pub fn after(seq: u64, hash: Hash, secrets: Arc<dyn Secrets>) -> Recorder {
        Recorder { chain: Chain::from(seq, hash), secrets }
    }

    /// Returns the hash of the last record.
    pub fn hash(&self) -> &Hash {
        self.chain.hash()
    }

    /// Returns the number of records.
    pub fn seq(&self) -> u64 {
        self.chain.seq()
    }

    /// Records the beginning of the session: the first record. The actor is the person or system
    /// for whom the agent acts.
    pub fn open(&mut self, kernel: &Kernel, session: &SessionState, actor: Option<&str>) -> &[u8] {
        let opening = session.opening.as_deref();
        let learned = opening.map(|opening| &opening.learned);
        let data = opening.map(|opening| self.data(kernel, &opening.data));
        let sealed = self.seal(Clear {
            data: data.as_ref().and_then(|data| hidden(data, &opening?.data)),
            ..Clear::default()
        });
        let payload = record::Open {
            plan: kernel.loaded().hash_text().into(),
            guard: (&*kernel.plan().guard).into(),
            session: session.id().into(),
            workspace: session.workspace().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            actor: actor.map(Cow::Borrowed),
            data,
            learned: learned.map_or(0, |learned| learned.learned),
            forgotten: learned.map_or(0, |learned| learned.forgotten),
            notes: Cow::Borrowed(learned.map_or(&[], |learned| &learned.notes)),
            recheck: session.rechecked_every(),
            sealed,
        };
        self.chain.append(session.start(), Kind::Open, None, &payload)
    }

    /// Records any event and its outcome.
    pub fn event(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
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
            (Event::Revoke(revoke), _) => self.revoked(kernel, session, revoke),
            (Event::Usage(usage), _) => self.used(session, usage),
            (Event::Resume(resume), _) => self.resumed(session, resume),
            (Event::Prompt(prompt), Outcome::Prompted(learned)) => {
                self.prompted(kernel, session, prompt, learned)
            }
            (Event::Stop(stop), Outcome::Stopped(stopped)) => {
                self.stopped(kernel, session, stop, stopped)
            }
            (Event::Verify(verify), Outcome::Item(moved)) => {
                self.verified(kernel, session, verify, moved)
            }
            (Event::Move(by), Outcome::Item(moved)) => self.moved(kernel, session, by, moved),
            // The outcome belongs to another event; the record at least shows the inconsistency.
            _ => self.chain.append(session.now(), Kind::Settle, None, &"outcome of another event"),
        }
    }

    /// Records a proposal.
    pub fn proposed(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        proposal: &Proposal<'_>,
        proposed: &Proposed,
    ) -> &[u8] {
        let (text, unreadable);
        let clear = match proposal.args {
            Arguments::Read(json) => {
                unreadable = None;
                json
            }
            Arguments::Unreadable { text: written, error } => {
                unreadable = Some(error.into());
                text = Json::string(&render::cut(written, UNREADABLE_CHARS));
                &text
            }
        };
        let args = match unreadable {
            None => self.args(kernel, proposal.tool, clear),
            // A secret cannot be distinguished from the rest, whatever the tool.
            Some(_) => self.args_by_name(kernel, clear),
        };
        let asked = self.asked(kernel, &proposed.asked);
        let sealed = self.seal(Clear {
            args: hidden(&args, clear),
            asked: hidden(&asked, &proposed.asked),
            ..Clear::default()
        });
        let payload = record::Propose {
            tool: proposal.tool.into(),
            args,
            unreadable,
            verdict: Cow::Borrowed(&proposed.verdict),
            asked,
            served: proposed.served.as_ref().map(Cow::Borrowed),
            // If the call is not served, the session still holds the changes of the last
            // settlement.
            changes: match proposed.served {
                Some(_) => self.changes(kernel, session).into(),
                None => Cow::Borrowed(&[]),
            },
            learned: proposed.learned,
            forgotten: proposed.forgotten,
            halted: proposed.halted,
            // If the call is refused, the session still holds the charges of the last allowed call.
            charged: match proposed.verdict.decision {
                Decision::Allow => charges(kernel, &session.charged).into(),
                _ => Cow::Borrowed(&[]),
            },
            items: Cow::Borrowed(&proposed.items),
            notes: Cow::Borrowed(&proposed.notes),
            feedback: Cow::Borrowed(&proposed.feedback),
            rechecked: proposed.rechecked,
            broken_proof: proposed
                .broken_proof
                .as_ref()
                .map(|broken| Box::new(self.report(kernel, session, broken))),
            sealed,
        };
        self.chain.append(session.now(), Kind::Propose, Some(proposal.call), &payload)
    }

    /// Records a settlement.
    pub fn settled(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        settlement: &Settlement<'_>,
        settled: &Settled,
    ) -> &[u8] {
        // Nobody knows what an undeclared tool returns: it may repeat any secret of the guard.
        let secrets = match settled.tool {
            Some(id) => kernel.compiled.tools[id as usize].secrets,
            None => kernel.has_secrets(),
        };
        let text = settlement_text(settlement, secrets);
        let mut unreadable = None;
        let (success, result) = match settlement.ending {
            Ending::Success(result) => (true, result.unwrap_or(&Json::Null)),
            Ending::Unreadable { error, .. } => {
                // A secret cannot be distinguished from the rest.
                unreadable = Some(if secrets { "it is secret".into() } else { error.into() });
                (true, &text)
            }
            Ending::Failure => (false, &Json::Null),
        };
        let returns = settled.tool.and_then(|id| {
            let secrets = kernel.compiled.tools[id as usize].secrets;
            let tool = &kernel.plan().tools[id as usize];
            tool.returns
                .filter(|_| secrets)
                .map(|ty| (ty, tool.forms.and_then(|forms| forms.opened(result))))
        });
        let shown = match returns {
            Some((ty, opened)) if unreadable.is_none() => {
                let result = opened.as_ref().unwrap_or(result);
                Cow::Owned(self.redacted(&kernel.plan().types, ty, result))
            }
            _ if settled.tool.is_none() && success => self.members_by_name(kernel, result),
            _ => Cow::Borrowed(result),
        };
        let asked = self.asked(kernel, &settled.asked);
        let sealed = self.seal(Clear {
            result: hidden(&shown, result),
            asked: hidden(&asked, &settled.asked),
            ..Clear::default()
        });
        let payload = record::Settle {
            success,
            result: shown,
            unreadable,
            changes: self.changes(kernel, session).into(),
            learned: settled.learned,
            notes: Cow::Borrowed(&settled.notes),
            halted: settled.halted,
            asked,
            forgotten: settled.forgotten,
            returned: charges(kernel, &settled.returned).into(),
            feedback: Cow::Borrowed(&settled.feedback),
            rechecked: settled.rechecked,
            broken_proof: settled
                .broken_proof
                .as_ref()
                .map(|broken| Box::new(self.report(kernel, session, broken))),
            sealed,
        };
        self.chain.append(session.now(), Kind::Settle, Some(settlement.call), &payload)
    }

    /// Records an approval.
    pub fn approved(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        approve: &CallApproval<'_>,
    ) -> &[u8] {
        let args = self.args(kernel, approve.tool, approve.args);
        let sealed = self.seal(Clear { args: hidden(&args, approve.args), ..Clear::default() });
        let payload = record::Approve {
            tool: approve.tool.into(),
            args,
            role: approve.role.into(),
            by: approve.by.into(),
            expires: approve.expires.map(time::format_rfc3339),
            sealed,
        };
        self.chain.append(session.now(), Kind::Approve, None, &payload)
    }

    /// Records the revocation of an approval.
    pub fn revoked(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        revoke: &Revocation<'_>,
    ) -> &[u8] {
        let args = self.args(kernel, revoke.tool, revoke.args);
        let sealed = self.seal(Clear { args: hidden(&args, revoke.args), ..Clear::default() });
        let payload = record::Revoke {
            tool: revoke.tool.into(),
            args,
            role: revoke.role.into(),
            by: revoke.by.into(),
            sealed,
        };
        self.chain.append(session.now(), Kind::Revoke, None, &payload)
    }

    /// Records a usage report.
    pub fn used(&mut self, session: &SessionState, usage: &UsageReport<'_>) -> &[u8] {
        let amount = decimal::format(usage.amount).into();
        let payload = record::Usage { unit: usage.unit.into(), amount };
        self.chain.append(session.now(), Kind::Usage, None, &payload)
    }

    /// Records the end of a halt.
    pub fn resumed(&mut self, session: &SessionState, resume: &HaltEnd<'_>) -> &[u8] {
        let payload = record::Resume { role: resume.role.into(), by: resume.by.into() };
        self.chain.append(session.now(), Kind::Resume, None, &payload)
    }

    /// Records a prompt in full, and the number of rows that it taught.
    pub fn prompted(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        prompt: &UserPrompt<'_>,
        learned: &Learned,
    ) -> &[u8] {
        let (asked, sealed) = self.answered(kernel, &learned.asked);
        let payload = record::Prompt {
            text: prompt.text.into(),
            learned: learned.learned,
            forgotten: learned.forgotten,
            notes: Cow::Borrowed(&learned.notes),
            asked,
            sealed,
        };
        self.chain.append(session.now(), Kind::Prompt, None, &payload)
    }

    /// Records a stop.
    pub fn stopped(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        stop: &StopAttempt<'_>,
        stopped: &Stopped,
    ) -> &[u8] {
        let (asked, sealed) = self.answered(kernel, &stopped.asked);
        let payload = record::Stop {
            reason: stop.reason.map(Cow::Borrowed),
            decision: stopped.decision,
            bypassed: stopped.bypassed.as_deref().map(Cow::Borrowed),
            incomplete: stopped.incomplete,
            missing: Cow::Borrowed(&stopped.missing),
            message: Cow::Borrowed(&stopped.message),
            notes: Cow::Borrowed(&stopped.notes),
            asked,
            sealed,
        };
        self.chain.append(session.now(), Kind::Stop, None, &payload)
    }

    /// Records the verification of an item.
    pub fn verified(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        verify: &Verify<'_>,
        moved: &Moved,
    ) -> &[u8] {
        let (asked, sealed) = self.answered(kernel, &moved.asked);
        let payload = record::Item {
            item: verify.item.into(),
            transition: None,
            by: None,
            reason: None,
            change: Cow::Borrowed(&moved.change),
            asked,
            sealed,
        };
        self.chain.append(session.now(), Kind::Item, None, &payload)
    }

    /// Records a manual move of an item.
    pub fn moved(
        &mut self,
        kernel: &Kernel,
        session: &SessionState,
        by: &Move<'_>,
        moved: &Moved,
    ) -> &[u8] {
        let (asked, sealed) = self.answered(kernel, &moved.asked);
        let payload = record::Item {
            item: by.item.into(),
            transition: Some(by.transition.into()),
            by: Some(by.by.into()),
            reason: by.reason.map(Cow::Borrowed),
            change: Cow::Borrowed(&moved.change),
            asked,
            sealed,
        };
        self.chain.append(session.now(), Kind::Item, None, &payload)
    }

    /// Records the new answers of the host's probes, an object.
    pub fn answers(&mut self, kernel: &Kernel, session: &SessionState, answers: &Json) -> &[u8] {
        let shown = match answers {
            Json::Object(members) if probes_hold_secrets(kernel.plan()) => {
                let member = |(name, json): &(Box<str>, Json)| {
                    (name.clone(), self.answer(kernel, name, json).unwrap_or_else(|| json.clone()))
                };
                Cow::Owned(Json::Object(members.iter().map(member).collect()))
            }
            _ => Cow::Borrowed(answers),
        };
        let sealed = self.seal(Clear { answers: hidden(&shown, answers), ..Clear::default() });
        let payload = record::Answers { answers: shown, sealed };
        self.chain.append(session.now(), Kind::Answers, None, &payload)
    }

    /// Records the report of a contract.
    pub fn judged(
        &mut self,
        session: &SessionState,
        judged: &record::ContractJudgement<'_>,
    ) -> &[u8] {
        self.chain.append(session.now(), Kind::Contract, None, judged)
    }

    /// Records the session's memory, which replaces the records before it.
    pub fn snapshot(&mut self, session: &SessionState, snapshot: &record::Snapshot<'_>) -> &[u8] {
        self.chain.append(session.now(), Kind::Snapshot, None, snapshot)
    }

    /// Records that the session continues under another plan.
    pub fn upgraded(&mut self, session: &SessionState, upgrade: &record::Upgrade<'_>) -> &[u8] {
        self.chain.append(session.now(), Kind::Upgrade, None, upgrade)
    }

    /// Returns the report of a wrong proof in the form of its record: secrets are replaced by
    /// hashes.
    pub fn report(
        &self,
        kernel: &Kernel,
        session: &SessionState,
        broken: &ProofViolation,
    ) -> record::BrokenProof {
        let plan = kernel.plan();
        let var = |id: &VarId| plan.state.get(*id as usize);
        let invariant = broken.invariant.and_then(|id| plan.invariants.get(id as usize));
        let first = || broken.state.first().and_then(|(id, ..)| var(id));
        let name = match invariant {
            Some(invariant) => invariant.rule.owner.clone(),
            None => first().map_or_else(String::new, |var| var.name.clone()),
        };
        let tool = broken.tool.and_then(|id| plan.tools.get(id as usize));
        let state = broken.state.iter();
        let state = state.filter_map(|(id, before, after)| self.change(kernel, *id, before, after));
        // The error of a type may quote a value of that type.
        let mut vars = broken.state.iter().filter_map(|(id, ..)| var(id));
        let hides = vars.any(|var| holds_secrets(&plan.types, var.ty));
        record::BrokenProof {
            name,
            condition: invariant.map(|invariant| invariant.text.clone()),
            tool: tool.map(|tool| tool.name.clone()),
            already: broken.already,
            fault: broken.fault.clone().filter(|_| !hides),
            plan: kernel.loaded().hash_text(),
            guard: plan.guard.clone(),
            session: session.id().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            calls: session.calls,
            state: state.collect(),
        }
    }
}

/// Returns the text of a result that could not be parsed, truncated; null if it may contain
/// secrets.
fn settlement_text(settlement: &Settlement<'_>, secrets: bool) -> Json {
    match settlement.ending {
        Ending::Unreadable { text, .. } if !secrets => {
            Json::string(&render::cut(text, UNREADABLE_CHARS))
        }
        _ => Json::Null,
    }
}

/// Returns the amounts that are not zero.
fn charges(kernel: &Kernel, amounts: &[(UnitId, i64)]) -> Vec<Charge> {
    let units = &kernel.plan().units;
    let charge = |(unit, amount): &(UnitId, i64)| Charge {
        unit: units[*unit as usize].name.as_str().into(),
        amount: decimal::format(*amount).into(),
    };
    amounts.iter().filter(|(_, amount)| *amount != 0).map(charge).collect()
}
