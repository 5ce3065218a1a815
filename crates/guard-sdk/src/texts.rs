//! Texts that an agent wrote, checked against the state of its session.

use crate::contract::{TextFeed, TextOptions};
use crate::error::SessionError;
use crate::recorded::Recorded;
use crate::session::Session;
use guard_plan::record::ContractJudgement;
use guard_plan::report::{KeptItem, Report};
use guard_runtime::World;

impl<W: World> Session<W> {
    /// Checks a text that an agent wrote by a contract of the guard, against the state of the
    /// session.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// use guard_sdk::TextOptions;
    /// let text = r#"{"acts": [{"what": "run"}, {"what": "much too long"}]}"#;
    /// let report = session.check_text("R", text, &TextOptions::default())?;
    /// assert_eq!(report.state.name(), "partial");
    /// assert_eq!((report.items["acts"].len(), report.quarantined_count), (1, 1));
    /// assert!(report.record().contains(r#""kind":"contract""#));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Guard`] if there is no such contract, or it cannot be used; the store's
    /// errors.
    pub fn check_text(
        &mut self,
        contract: &str,
        text: impl AsRef<[u8]>,
        options: &TextOptions<'_>,
    ) -> Result<Recorded<Report>, SessionError> {
        let report =
            self.guard.contract(contract)?.check_in(&self.state, text.as_ref(), options)?;
        self.judged(contract, options.finish_reason, report)
    }

    /// Takes a piece of a text, and checks it against the current state of the session.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// let mut feed = guard.contract("R")?.feed(Default::default())?;
    /// assert!(session.push_text(&mut feed, br#"{"acts": [{"what": "#).is_empty());
    /// assert_eq!(session.push_text(&mut feed, br#""run"}, "#).len(), 1);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn push_text(&self, feed: &mut TextFeed, piece: &[u8]) -> Vec<KeptItem> {
        feed.push_in(&self.state, piece)
    }

    /// Ends a text that arrived in pieces, and records its report.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// # let mut session = guard.session("s1").open()?;
    /// let mut feed = guard.contract("R")?.feed(Default::default())?;
    /// session.push_text(&mut feed, br#"{"acts": [{"what": "run"}, {"wh"#);
    /// let report = session.finish_text(feed, Some("length"))?;
    /// assert!(report.truncated);
    /// assert_eq!(report.items["acts"].len(), 1);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The record cannot be stored.
    pub fn finish_text(
        &mut self,
        feed: TextFeed,
        finish_reason: Option<&str>,
    ) -> Result<Recorded<Report>, SessionError> {
        let contract = feed.contract().to_owned();
        let report = feed.finish_in(&self.state, finish_reason);
        self.judged(&contract, finish_reason, report)
    }

    /// Records a report.
    fn judged(
        &mut self,
        contract: &str,
        finish_reason: Option<&str>,
        report: Report,
    ) -> Result<Recorded<Report>, SessionError> {
        let judged = ContractJudgement {
            contract: contract.into(),
            bytes: report.text.length,
            sha256: report.text.sha256.as_str().into(),
            finish_reason: finish_reason.map(Into::into),
            state: report.state.name().into(),
            kept: report.kept() as u64,
            quarantined: report.quarantined_count,
            truncated: report.truncated,
        };
        let record = self
            .commit_record(|session| session.recorder.judged(&session.state, &judged).to_vec())?;
        Ok(Recorded::new(report, record))
    }
}
