//! The filter of a trace's records.

use super::walk::At;
use crate::failure::Failure;
use crate::options::named;
use guard_plan::record::{Kind, Payload, Record};
use guard_plan::time;
use guard_plan::verdict::Decision;

/// A filter of records. A record must match every option that is given.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Filter {
    /// Only this session; may be given several times
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Only records of this call
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Only records of this kind: `propose`, `settle`, `stop`, …; may be given several times
    #[arg(long, value_name = "KIND", value_parser = named::<Kind>)]
    pub kind: Vec<Kind>,
    /// Only proposals with this verdict: `allow`, `wait`, `ask` or `deny`; may be given several
    /// times
    #[arg(long, value_name = "VERDICT", value_parser = named::<Decision>)]
    pub verdict: Vec<Decision>,
    /// Only calls of this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only from this time on: `2026-01-05` or `2026-01-05T09:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub since: Option<i64>,
    /// Only before this time
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub until: Option<i64>,
}

fn instant(text: &str) -> Result<i64, String> {
    let day = || time::parse_rfc3339(&format!("{text}T00:00:00Z"));
    time::parse_rfc3339(text)
        .or_else(day)
        .ok_or_else(|| "it is not a time such as `2026-01-05` or `2026-01-05T09:00:00Z`".into())
}

impl Filter {
    /// Returns true if it selects only by session.
    pub fn is_of_sessions(&self) -> bool {
        // The pattern names every option, so that a new one cannot be forgotten here.
        let Filter { session: _, call, kind, verdict, tool, since, until } = self;
        kind.is_empty()
            && verdict.is_empty()
            && call.is_none()
            && tool.is_none()
            && since.is_none()
            && until.is_none()
    }

    /// Returns true if a record is selected.
    pub fn takes(&self, at: &At<'_>, record: &Record) -> bool {
        let verdict = match &record.payload {
            Payload::Propose(propose) => Some(propose.verdict.decision),
            _ => None,
        };
        let now = || time::parse_rfc3339(&record.time).unwrap_or(i64::MIN);
        (self.session.is_empty() || self.session.contains(&at.session))
            && self.call.as_ref().is_none_or(|call| record.call.as_ref() == Some(call))
            && (self.kind.is_empty() || self.kind.contains(&record.kind()))
            && (self.verdict.is_empty()
                || verdict.is_some_and(|decision| self.verdict.contains(&decision)))
            && self.tool.as_ref().is_none_or(|tool| at.tool.as_ref() == Some(tool))
            && self.since.is_none_or(|since| now() >= since)
            && self.until.is_none_or(|until| now() < until)
    }

    /// Rejects a filter that no record can match.
    pub fn check(&self) -> Result<(), Failure> {
        if !self.verdict.is_empty() && !self.kind.is_empty() && !self.kind.contains(&Kind::Propose)
        {
            return Err(Failure::new("only records of the kind `propose` have a verdict"));
        }
        Ok(())
    }
}
