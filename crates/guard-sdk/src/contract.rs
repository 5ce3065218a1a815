//! Contracts: texts that an agent or another producer wrote, judged unit by unit.

use crate::error::GuardError;
use crate::guard::Guard;
use guard_contract::{Checker, Input, Lists, Strict};
use guard_plan::json::Json;
use guard_plan::report::Report;
use guard_runtime::Session as SessionState;
use std::collections::BTreeMap;

/// Facts about a text beside the text itself.
#[derive(Debug, Clone, Default)]
pub struct TextOptions<'a> {
    /// The reason the producer gave for ending, such as `length`: then the text was cut.
    pub finish_reason: Option<&'a str>,
    /// The lists of known values that the host hands over, by name.
    pub known: BTreeMap<String, Vec<Json>>,
}

/// One contract of a guard, made ready. Cloning it is cheap.
#[derive(Clone)]
pub struct Contract {
    guard: Guard,
    index: usize,
    checker: Checker,
}

impl Contract {
    pub(crate) fn new(guard: Guard, index: usize, checker: Checker) -> Contract {
        Contract { guard, index, checker }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.checker.name()
    }

    /// What to tell a producer, in words; the lists of the host are named in it.
    pub fn prompt(&self, known: &Lists) -> String {
        guard_contract::prompt(self.guard.plan(), self.index, known)
    }

    /// The words to a producer whose text did not hold, so that it writes it again; none if the report is `valid`.
    pub fn reask(&self, report: &Report, known: &Lists) -> Option<String> {
        guard_contract::reask(self.guard.plan(), self.index, report, known)
    }

    /// Its JSON Schema; members that refer to a list of the host have its values.
    pub fn schema(&self, known: &Lists) -> serde_json::Value {
        guard_contract::schema(self.guard.plan(), self.index, known)
    }

    /// Its JSON Schema as APIs with strict structured outputs accept it.
    ///
    /// # Errors
    ///
    /// What such a schema cannot express, each with its name.
    pub fn strict_schema(&self, known: &Lists) -> Result<Strict, Vec<String>> {
        guard_contract::strict(self.guard.plan(), self.index, known)
    }

    /// The checker below, which can also read a text as it comes (`Checker::feed`).
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Judges a text outside of any session: facts have the rows that a new session begins with.
    ///
    /// ```
    /// let source = "guard g\nrecord Act { what: string }\ncontract R {\n  items acts: Act\n}";
    /// let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// let report = guard.contract("R")?.check(r#"{"acts": [{"what": "run"}]}"#, &Default::default())?;
    /// assert_eq!(report.state.name(), "valid");
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Contract`] where the guard cannot begin a session.
    pub fn check(
        &self,
        text: impl AsRef<[u8]>,
        options: &TextOptions<'_>,
    ) -> Result<Report, GuardError> {
        let session = self.guard.kernel().open("contract", 0, crate::open::NO_WORKSPACE);
        let session = session.map_err(|error| GuardError::Contract(error.to_string()))?;
        self.check_in(&session, text.as_ref(), options)
    }

    /// Judges a text by what a session knows.
    pub(crate) fn check_in(
        &self,
        session: &SessionState,
        text: &[u8],
        options: &TextOptions<'_>,
    ) -> Result<Report, GuardError> {
        let known = self.guard.kernel().known(session, self.index, &options.known);
        let missing = || GuardError::Contract(format!("the plan does not have `{}`", self.name()));
        let known = known.ok_or_else(missing)?;
        let (finish_reason, workspace) = (options.finish_reason, session.workspace());
        Ok(self.checker.check(text, &Input { finish_reason, known: &known, workspace }))
    }
}
