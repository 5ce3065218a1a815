//! Contracts: texts that an agent or another producer wrote, checked unit by unit.

use crate::error::GuardError;
use crate::guard::{Guard, NO_WORKSPACE};
use guard_contract::{Checker, Feed, Input, Known, Lists, NothingKnown, Strict};
use guard_plan::json::Json;
use guard_plan::report::{KeptItem, Report};
use guard_runtime::SessionState;
use std::collections::BTreeMap;

/// Facts about a text in addition to the text itself.
#[derive(Debug, Clone, Default)]
pub struct TextOptions<'a> {
    /// The reason that the producer gave for ending, such as `length`, which means that the text is
    /// cut off.
    pub finish_reason: Option<&'a str>,
    /// The lists of known values from the host, by name.
    pub known: BTreeMap<String, Vec<Json>>,
}

/// One contract of a guard, ready for use. Cloning it is cheap.
#[derive(Clone)]
pub struct Contract {
    guard: Guard,
    index: usize,
    checker: Checker,
}

impl Guard {
    /// Returns the contract with this name.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act max 3 }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// assert_eq!(guard.contract("R")?.name(), "R");
    /// let error = guard.contract("RR").err().expect("no such contract");
    /// assert!(error.to_string().contains("`R`"));
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::UnknownContract`]; [`GuardError::Contract`] if the contract cannot be
    /// prepared.
    pub fn contract(&self, name: &str) -> Result<Contract, GuardError> {
        let names = || self.plan().contracts.iter().map(|contract| contract.name.as_str());
        let Some(index) = names().position(|known| known == name) else {
            let near = guard_plan::near::nearest(name, names()).map(str::to_owned);
            return Err(GuardError::UnknownContract(name.to_owned(), near));
        };
        Ok(Contract::new(self.clone(), index, self.checker(index)?))
    }
}

impl Contract {
    pub(crate) fn new(guard: Guard, index: usize, checker: Checker) -> Contract {
        Contract { guard, index, checker }
    }

    /// Returns the name of the contract.
    pub fn name(&self) -> &str {
        self.checker.name()
    }

    /// Returns the instructions for a producer, as text. They contain the elements of the host's
    /// lists in `known`.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act max 3 }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// let prompt = guard.contract("R")?.prompt(&Default::default());
    /// assert!(prompt.contains("acts") && prompt.contains("what"));
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    pub fn prompt(&self, known: &Lists) -> String {
        guard_contract::prompt(self.guard.plan(), self.index, known)
    }

    /// Returns the instructions for a retry, for a producer whose text was not valid. Returns
    /// `None` if the report is `valid`.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act max 3 }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// let (contract, known) = (guard.contract("R")?, Default::default());
    /// let report = contract.check(r#"{"acts": [{"what": "much too long"}]}"#, &Default::default())?;
    /// let words = contract.reask(&report, &known).expect("an item did not hold");
    /// assert!(words.contains("what"));
    /// let report = contract.check(r#"{"acts": []}"#, &Default::default())?;
    /// assert!(contract.reask(&report, &known).is_none());
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    pub fn reask(&self, report: &Report, known: &Lists) -> Option<String> {
        guard_contract::reask(self.guard.plan(), self.index, report, known)
    }

    /// Returns the JSON Schema of the contract. Members that refer to a list of the host have the
    /// values of that list.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act max 3 }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// let schema = guard.contract("R")?.schema(&Default::default());
    /// assert_eq!(schema["properties"]["acts"]["maxItems"], 3);
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    pub fn schema(&self, known: &Lists) -> serde_json::Value {
        guard_contract::schema(self.guard.plan(), self.index, known)
    }

    /// Returns the JSON Schema in the form that APIs with strict structured outputs accept.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act max 3 }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// let strict = guard.contract("R")?.strict_schema(&Default::default()).expect("it has one");
    /// assert_eq!(strict.schema["additionalProperties"], false);
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The parts of the contract that such a schema cannot express, by name.
    pub fn strict_schema(&self, known: &Lists) -> Result<Strict, Vec<String>> {
        guard_contract::strict(self.guard.plan(), self.index, known)
    }

    /// Returns the underlying checker, which can also read a text while it arrives
    /// (`Checker::feed`).
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Begins to check a text that arrives in pieces.
    ///
    /// ```
    /// # let source = "guard g\nrecord Act { what: string max 9 }\ncontract R { items acts: Act max 3 }";
    /// # let guard = guard_sdk::Guard::compile("g.guard", source)?;
    /// let mut feed = guard.contract("R")?.feed(Default::default())?;
    /// let items = feed.push(br#"{"acts": [{"what": "run"}, "#);
    /// assert_eq!(items.len(), 1);
    /// feed.push(br#"{"what": "stop"}]}"#);
    /// assert_eq!(feed.finish(None).state.name(), "valid");
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Contract`] if the guard cannot begin a session.
    pub fn feed(&self, known: Lists) -> Result<TextFeed, GuardError> {
        let session = self.guard.kernel().open("contract", 0, NO_WORKSPACE);
        let session = session.map_err(|error| GuardError::Contract(error.to_string()))?;
        Ok(TextFeed { contract: self.clone(), session, known, feed: self.checker.feed() })
    }

    /// Checks a text outside of any session. Facts have the rows that a new session begins with.
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
    /// [`GuardError::Contract`] if the guard cannot begin a session.
    pub fn check(
        &self,
        text: impl AsRef<[u8]>,
        options: &TextOptions<'_>,
    ) -> Result<Report, GuardError> {
        let session = self.guard.kernel().open("contract", 0, NO_WORKSPACE);
        let session = session.map_err(|error| GuardError::Contract(error.to_string()))?;
        self.check_in(&session, text.as_ref(), options)
    }

    /// Checks a text against the state of a session.
    pub(crate) fn check_in(
        &self,
        session: &SessionState,
        text: &[u8],
        options: &TextOptions<'_>,
    ) -> Result<Report, GuardError> {
        let known = self.guard.kernel().known(session, self.index, &options.known);
        let missing = || GuardError::Contract(format!("the plan does not have `{}`", self.name()));
        let known = known.ok_or_else(missing)?;
        let finish_reason = options.finish_reason;
        let workspace = session.workspace();
        Ok(self.checker.check(text, &Input { finish_reason, known: &known, workspace }))
    }
}

/// A text that arrives in pieces. The report is the same as for the whole text, however the text
/// was split.
pub struct TextFeed {
    contract: Contract,
    /// The state that applies outside of any session.
    session: SessionState,
    known: Lists,
    feed: Feed,
}

impl TextFeed {
    /// Returns the name of the contract.
    pub fn contract(&self) -> &str {
        self.contract.name()
    }

    /// Takes a piece, and returns the valid items that it completes. Only the report is final.
    pub fn push(&mut self, piece: &[u8]) -> Vec<KeptItem> {
        let TextFeed { contract, session, known, feed } = self;
        push(contract, session, known, feed, piece)
    }

    /// Takes a piece, as [`TextFeed::push`] does, and checks it against the state of a session.
    pub(crate) fn push_in(&mut self, session: &SessionState, piece: &[u8]) -> Vec<KeptItem> {
        push(&self.contract, session, &self.known, &mut self.feed, piece)
    }

    /// Ends the text and returns its report.
    pub fn finish(self, finish_reason: Option<&str>) -> Report {
        let TextFeed { contract, session, known, feed } = self;
        with_input(&contract, &session, &known, finish_reason, |input| feed.finish(input))
    }

    /// Ends the text, as [`TextFeed::finish`] does, and checks it against the state of a session.
    pub(crate) fn finish_in(self, session: &SessionState, finish_reason: Option<&str>) -> Report {
        let TextFeed { contract, known, feed, .. } = self;
        with_input(&contract, session, &known, finish_reason, |input| feed.finish(input))
    }
}

fn push(
    contract: &Contract,
    session: &SessionState,
    known: &Lists,
    feed: &mut Feed,
    piece: &[u8],
) -> Vec<KeptItem> {
    with_input(contract, session, known, None, |input| feed.push(piece, input))
}

/// Runs a function on the state of the session and the host's lists.
fn with_input<T>(
    contract: &Contract,
    session: &SessionState,
    known: &Lists,
    finish_reason: Option<&str>,
    act: impl FnOnce(&Input<'_>) -> T,
) -> T {
    let asked = contract.guard.kernel().known(session, contract.index, known);
    let known: &dyn Known = match &asked {
        Some(known) => known,
        None => &NothingKnown,
    };
    act(&Input { finish_reason, known, workspace: session.workspace() })
}
