//! Queries on a session that change nothing: items, facts, advice, state, trace.

use super::contracts;
use super::live::{Answer, Live, step, unexpected};
use super::rpc::Error;
use crate::near;
use guard_plan::encode::hash_text;
use guard_plan::hex;
use guard_plan::record::Judged;
use guard_runtime::{FactRow, StepError};
use serde_json::json;
use sha2::{Digest, Sha256};

impl Live {
    /// Returns all data of an item.
    pub fn item(&self, id: &str) -> Answer {
        let item = self.session.item(&self.kernel, id);
        let item = item.ok_or_else(|| step(StepError::UnknownItem(id.to_owned())))?;
        Ok(json!({ "item": item }).to_string())
    }

    /// Returns a page of the items of a lifecycle, given an optional state and the id to continue
    /// after.
    pub fn items(&self, lifecycle: &str, state: Option<&str>, after: Option<&str>) -> Answer {
        let page = self.session.items(&self.kernel, lifecycle, state, after);
        let names = self.kernel.plan().lifecycles.iter().map(|one| one.name.as_str());
        page.map(|page| page.to_string()).ok_or_else(|| {
            let near = near::did_you_mean(lifecycle, names);
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            let message = format!("there is no lifecycle `{lifecycle}`, or no such state{near}");
            Error::failed("no_such_lifecycle", message)
        })
    }

    /// Returns the rows of a fact, each with its source.
    pub fn facts(&self, fact: &str, from: u64, limit: usize) -> Answer {
        let rows = self.session.facts(&self.kernel, fact, from, limit);
        let rows = rows.ok_or_else(|| {
            let names = self.kernel.plan().facts.iter().map(|one| one.name.as_str());
            let near = near::did_you_mean(fact, names);
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            Error::failed("no_such_fact", format!("there is no fact `{fact}`{near}"))
        })?;
        let row = |row: &FactRow| json!({ "number": row.number, "row": row.row, "by": &*row.by });
        Ok(json!({ "rows": rows.iter().map(row).collect::<Vec<_>>() }).to_string())
    }

    /// Returns the ranked next actions, as data and as text for a reasoner.
    pub fn advise(&mut self, now: i64) -> Answer {
        let advice = guard_advice::advise(&self.kernel, &self.session, now, &mut self.world);
        let mut answer = serde_json::to_value(&advice).map_err(|_| unexpected())?;
        answer["prompt"] = advice.text().into();
        Ok(answer.to_string())
    }

    /// Returns the guide for an agent.
    pub fn guide(&self) -> String {
        json!({ "prompt": guard_advice::guide(self.kernel.plan()) }).to_string()
    }

    /// Returns the session's state.
    pub fn state(&self) -> String {
        let mut out = String::new();
        self.session.state_json(&self.kernel).write(&mut out);
        out
    }

    /// Returns the records, and the hash of the last one.
    pub fn trace(&self) -> Answer {
        let (hash, records) = (hash_text(self.recorder.hash()), self.records()?);
        Ok(format!("{{\"records\":[{}],\"hash\":\"{hash}\"}}", records.join(",")))
    }

    /// Returns the report on a text, which is also recorded.
    pub fn check(&mut self, judged: &contracts::Judged) -> Answer {
        let report = contracts::check(&self.kernel, &self.session, judged)?;
        let record = Judged {
            contract: judged.contract.into(),
            bytes: judged.text.len() as u64,
            sha256: hex::encode(&Sha256::digest(judged.text)).into(),
            finish_reason: judged.finish_reason.map(Into::into),
            state: report.state.name().into(),
            kept: report.kept() as u64,
            quarantined: report.quarantined_count,
            truncated: report.truncated,
        };
        self.note(|live| live.recorder.judged(&live.session, &record).to_vec())?;
        contracts::text(&report)
    }
}
