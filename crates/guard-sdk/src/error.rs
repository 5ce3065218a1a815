//! Errors of loading guards and of running sessions. A refused call is a verdict, not an error.

use crate::sources::TOO_MANY_FILES;
use guard_compiler::SourceFile;
use guard_plan::LoadError;
use guard_runtime::{KernelError, StepError, UpgradeError};
use guard_syntax::diagnostic::Diagnostic;
use guard_trace::ResumeError;
use guard_trace::store::StoreError;
use std::fmt;
use std::path::PathBuf;

/// The reason why a guard cannot be compiled or loaded. The `Debug` form is the same as the
/// `Display` form, because `main` prints the `Debug` form of an error.
///
/// ```
/// let error = guard_sdk::Guard::from_file("no-such.guard").unwrap_err();
/// assert!(matches!(&error, guard_sdk::GuardError::Unreadable(path, _) if path == "no-such.guard"));
/// assert!(error.to_string().contains("no such file"));
/// ```
pub enum GuardError {
    /// The file cannot be read. Contains its path and the reason.
    Unreadable(String, String),
    /// The source has errors.
    Source {
        /// The files that were read; a diagnostic's span refers to one of them.
        files: Vec<SourceFile>,
        /// All errors and warnings.
        diagnostics: Vec<Diagnostic>,
    },
    /// The bytes are not a valid plan.
    Plan(LoadError),
    /// The plan cannot be run.
    Kernel(KernelError),
    /// The guard has no such contract. Contains the name, and a similar name if there is one.
    UnknownContract(String, Option<String>),
    /// The contract cannot be used. Contains the reason.
    Contract(String),
    /// Watching the optimized plan needs the plan as lowered, which is available only if the guard
    /// was compiled from source.
    NoLoweredPlan,
}

impl GuardError {
    /// A stable code for the kind of error, which the sidecar also uses.
    pub fn code(&self) -> &'static str {
        match self {
            GuardError::Source { .. } => "bad_source",
            GuardError::UnknownContract(..) => "no_such_contract",
            GuardError::Contract(_) => "bad_contract",
            GuardError::Unreadable(_, why) if why == TOO_MANY_FILES => "too_many_files",
            GuardError::Unreadable(..)
            | GuardError::Plan(_)
            | GuardError::Kernel(_)
            | GuardError::NoLoweredPlan => "bad_plan",
        }
    }
}

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuardError::Unreadable(path, why) => write!(f, "cannot load `{path}`: {why}"),
            GuardError::Source { files, diagnostics } => write_source_errors(f, files, diagnostics),
            GuardError::Plan(error) => write!(f, "the plan is not valid: {error}"),
            GuardError::Kernel(error) => write!(f, "the plan cannot be run: {error}"),
            GuardError::UnknownContract(name, near) => {
                write!(f, "there is no contract `{name}`")?;
                near.iter().try_for_each(|near| write!(f, "; did you mean `{near}`?"))
            }
            GuardError::Contract(why) => f.write_str(why),
            GuardError::NoLoweredPlan => f.write_str(
                "watching the optimized plan needs the guard's source, or the plan that \
                 `guardc compile --no-optimize` wrote",
            ),
        }
    }
}

impl fmt::Debug for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for GuardError {}

/// Writes the errors among the diagnostics, one per line: `file:line: error[CODE]: message`.
fn write_source_errors(
    f: &mut fmt::Formatter<'_>,
    files: &[SourceFile],
    diagnostics: &[Diagnostic],
) -> fmt::Result {
    f.write_str("the guard does not compile")?;
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
        let span = diagnostic.primary.span;
        let file = files.get(span.file.0 as usize);
        let (name, line) = file.map_or(("", 0), |file| {
            let before = file.text.get(..span.start as usize).unwrap_or_default();
            (file.path.as_str(), before.matches('\n').count() + 1)
        });
        let code = diagnostic.code;
        let message = &diagnostic.message;
        write!(f, "\n{name}:{line}: error[{code}]: {message}")?;
        diagnostic.help.iter().try_for_each(|help| write!(f, " ({help})"))?;
    }
    Ok(())
}

/// The reason why an event of a session was not accepted. The event has no effect, unless [`SessionError::Broken`] says
/// otherwise.
///
/// ```
/// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
/// # let mut session = guard.session("s1").open()?;
/// let error = session.settle("1", Ok(None)).unwrap_err();
/// assert_eq!(error.code(), "no_such_call");
/// // The session goes on.
/// assert!(session.propose("1", "ping", "{}")?.verdict.is_allowed());
/// # Ok::<(), guard_sdk::SessionError>(())
/// ```
pub enum SessionError {
    /// A time outside the years 0 to 9999, in milliseconds since 1970: no record can hold it.
    Time(i64),
    /// A trace was given for a session that is in a store.
    TraceAndStore,
    /// The event does not fit the session, for example an unknown call or a negative amount.
    Step(StepError),
    /// The guard or one of its contracts cannot be used.
    Guard(GuardError),
    /// The workspace cannot be used. Contains its path and the reason.
    Workspace(String, String),
    /// The store refused or failed.
    Store(StoreError),
    /// The session cannot be resumed from its records.
    Resume(ResumeError),
    /// The records under this id belong to another session or workspace. Contains the difference.
    Mismatch(String),
    /// Each attempt failed because another process had written to the session.
    Contended,
    /// A shared budget does not cover the call. Contains the budget's key and the amount spent, in
    /// 10⁻⁶ units.
    OverBudget(String, i64),
    /// An earlier record could not be written. The session must be closed and opened again.
    Broken,
    /// The guard declares no such probe. Contains the name, and a similar name if there is one.
    UnknownProbe(String, Option<String>),
    /// A shared budget or its unit cannot be used. Contains the reason.
    SharedBudget(String),
    /// A snapshot is impossible: the guard has secrets, and the session has no key to seal them.
    NoKey,
    /// The snapshot does not belong to this guard. Contains the reason.
    Snapshot(String),
    /// The guard declares no such item, lifecycle or fact. Contains the kind, the name, and a
    /// similar name.
    Unknown(&'static str, String, Option<String>),
    /// The new guard may allow calls that this guard refuses. Contains the differences, one
    /// sentence each.
    NotTighter(Vec<String>),
    /// The state of the session is larger than its limit. Both sizes are in bytes.
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
        /// The size of the state, in bytes.
        bytes: u64,
    },
    /// The store has reached its size limit. Both sizes are in bytes.
    StoreFull {
        /// The path of the store, if it is on disk.
        path: Option<PathBuf>,
        /// The limit, in bytes.
        limit: u64,
        /// The size of the store, in bytes.
        bytes: u64,
    },
    /// The guards cannot be compared: a comparison needs both sources, and one of the guards was
    /// loaded from a plan.
    NotCompared,
    /// The session cannot continue under the other guard.
    Upgrade(UpgradeError),
    /// The system provides no random bytes for the session's salt.
    Random(String),
    /// The requests for approval cannot be used.
    Approvals(ApprovalError),
}

impl SessionError {
    /// A stable code for the kind of error, which the sidecar also uses.
    pub fn code(&self) -> &'static str {
        match self {
            SessionError::Step(error) => step_code(error),
            SessionError::Time(_) => "bad_time",
            SessionError::Guard(error) => error.code(),
            SessionError::Workspace(_, why) if why.ends_with(TOO_MANY_FILES) => "too_many_files",
            SessionError::Workspace(..) => "bad_workspace",
            SessionError::Store(StoreError::BadSession(_)) => "bad_session_id",
            SessionError::Store(StoreError::Locked(_)) | SessionError::Contended => {
                "journal_locked"
            }
            SessionError::Store(StoreError::Damaged { .. } | StoreError::Misfit(_)) => {
                "journal_damaged"
            }
            SessionError::Store(StoreError::Lost { .. }) => "journal_lost",
            SessionError::Store(StoreError::Exhausted(_)) => "too_many_files",
            SessionError::Store(_) | SessionError::Broken | SessionError::Random(_) => {
                "journal_failed"
            }
            SessionError::Resume(ResumeError::Mismatch(_)) | SessionError::Mismatch(_) => {
                "journal_mismatch"
            }
            SessionError::Resume(ResumeError::Secrets(_) | ResumeError::Key(_))
            | SessionError::NoKey => "journal_secrets",
            SessionError::Resume(_) | SessionError::Snapshot(_) => "journal_damaged",
            SessionError::NotTighter(_) => "not_tighter",
            SessionError::NotCompared => "not_compared",
            SessionError::TooLarge { .. } => "session_too_large",
            SessionError::StoreFull { .. } => "store_full",
            SessionError::Upgrade(_) => "cannot_upgrade",
            SessionError::Approvals(_) => "approvals_failed",
            SessionError::OverBudget(..) => "over_budget",
            SessionError::UnknownProbe(..)
            | SessionError::SharedBudget(_)
            | SessionError::TraceAndStore => "invalid_params",
            SessionError::Unknown(what, ..) => match *what {
                "fact" => "no_such_fact",
                "lifecycle" => "no_such_lifecycle",
                _ => "no_such_item",
            },
        }
    }

    /// The `seq` of the first record that the session cannot be resumed from, if there is one.
    pub fn seq(&self) -> Option<u64> {
        match self {
            SessionError::Resume(ResumeError::Empty | ResumeError::Mismatch(_)) => None,
            SessionError::Resume(error) => Some(error.record()),
            SessionError::Store(StoreError::Damaged { record, .. }) => *record,
            _ => None,
        }
    }
}

fn step_code(error: &StepError) -> &'static str {
    match error {
        StepError::Workspace(_) => "bad_workspace",
        StepError::InitialState(..) => "bad_plan",
        StepError::CallInFlight(_) => "call_in_flight",
        StepError::NoSuchCall(_) => "no_such_call",
        StepError::UnknownTool(_) => "unknown_tool",
        StepError::InvalidArguments(_) => "invalid_arguments",
        StepError::NotHostCharged(_) => "not_host_charged",
        StepError::NegativeAmount(_) => "negative_amount",
        StepError::NotHalted => "not_halted",
        StepError::NotApproved(..) => "not_approved",
        StepError::Nobody(_) => "nobody",
        StepError::UnknownItem(_) => "no_such_item",
        StepError::NoTransition(_) => "no_transition",
    }
}

/// The same text as the `Display` form, because `main` prints the `Debug` form of an error.
impl fmt::Debug for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = |f: &mut fmt::Formatter<'_>, near: &Option<String>| {
            near.iter().try_for_each(|near| write!(f, "; did you mean `{near}`?"))
        };
        match self {
            SessionError::Step(error) => error.fmt(f),
            SessionError::Time(time) => {
                write!(f, "the time {time} is outside the years 0 to 9999 (times are milliseconds since 1970)")
            }
            SessionError::TraceAndStore => f.write_str(
                "a session in a store resumes from the store: give `storage` or `trace`, not both",
            ),
            SessionError::Guard(error) => error.fmt(f),
            SessionError::Workspace(path, why) => write!(f, "the workspace `{path}` {why}"),
            SessionError::Store(error) => error.fmt(f),
            SessionError::Resume(error) => error.fmt(f),
            SessionError::Mismatch(what) => write!(f, "the trace belongs to another {what}"),
            SessionError::Contended => {
                f.write_str("other processes keep writing to the session; try again")
            }
            SessionError::OverBudget(key, spent) => write!(
                f,
                "the shared budget `{key}` does not cover the cost: {} is spent",
                guard_plan::decimal::format(*spent)
            ),
            SessionError::Broken => f.write_str(
                "an earlier record could not be written: close the session and open it again",
            ),
            SessionError::UnknownProbe(name, similar) => {
                write!(f, "the guard declares no probe `{name}`")?;
                near(f, similar)
            }
            SessionError::SharedBudget(why) => f.write_str(why),
            SessionError::NoKey => f.write_str(
                "the guard has secrets: a snapshot needs a key to seal them (`SessionOptions::keys`)",
            ),
            SessionError::Snapshot(why) => write!(f, "the snapshot cannot be used: {why}"),
            SessionError::Unknown("lifecycle", name, similar) => {
                write!(f, "there is no lifecycle `{name}`, or no such state")?;
                near(f, similar)
            }
            SessionError::Unknown(what, name, similar) => {
                write!(f, "there is no {what} `{name}`")?;
                near(f, similar)
            }
            SessionError::NotTighter(looser) => write!(
                f,
                "the new guard may allow what the session's guard refuses, and only a person can permit that (`force`): {}",
                looser.join("; ")
            ),
            SessionError::TooLarge { limit, bytes } => write!(
                f,
                "the session remembers {bytes} bytes and may remember {limit}: settle its calls and close it, or raise \
                 the limit (`guardc serve --max-session-memory`)"
            ),
            SessionError::StoreFull { path, limit, bytes } => {
                let path = path.as_ref().map(|path| format!(" `{}`", path.display()));
                write!(
                    f,
                    "the store{} holds {bytes} bytes and may hold {limit}: prune or compact it, or raise the limit \
                     (`guardc serve --max-store-size`)",
                    path.unwrap_or_default()
                )
            }
            SessionError::NotCompared => f.write_str(
                "whether the new guard allows more cannot be said of a compiled plan: give both guards as source, or \
                 let a person say so (`force`)",
            ),
            SessionError::Upgrade(error) => {
                write!(f, "the session cannot continue under the new guard: {error}")
            }
            SessionError::Approvals(error) => error.fmt(f),
            SessionError::Random(why) => write!(f, "the system gives no randomness: {why}"),
        }
    }
}

impl std::error::Error for SessionError {}

impl From<StepError> for SessionError {
    fn from(error: StepError) -> SessionError {
        SessionError::Step(error)
    }
}

impl From<GuardError> for SessionError {
    fn from(error: GuardError) -> SessionError {
        SessionError::Guard(error)
    }
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> SessionError {
        SessionError::Store(error)
    }
}

impl From<ResumeError> for SessionError {
    fn from(error: ResumeError) -> SessionError {
        SessionError::Resume(error)
    }
}

impl From<ApprovalError> for SessionError {
    fn from(error: ApprovalError) -> SessionError {
        SessionError::Approvals(error)
    }
}

/// The reason why a request or an answer was not accepted.
#[derive(Debug)]
pub enum ApprovalError {
    /// The store is not on disk, so no other process could answer.
    NoFolder,
    /// A file cannot be used. Contains its path and the reason.
    Io(PathBuf, String),
    /// A file was changed by another program than Guard. Contains its path and the line.
    Damaged(PathBuf, usize),
    /// There is no request with this id.
    Unknown(String),
    /// Several requests have ids that begin with this text.
    Ambiguous(String, Vec<String>),
    /// The answer has no name.
    Nobody,
    /// The person who asked may not grant the request. Contains the name.
    Asker(String),
    /// The request needs another role. Contains the roles that it needs.
    Role(Vec<String>),
    /// There is no grant to revoke.
    NotGranted(String),
    /// A refusal must give a reason.
    NoReason,
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApprovalError::NoFolder => f.write_str("approvals need a store on disk"),
            ApprovalError::Io(path, why) => write!(f, "cannot use `{}`: {why}", path.display()),
            ApprovalError::Damaged(path, line) => {
                write!(f, "`{}` was changed: line {line} has another tag", path.display())
            }
            ApprovalError::Unknown(id) => write!(f, "there is no request `{id}`"),
            ApprovalError::Ambiguous(id, ids) => {
                write!(f, "several requests begin with `{id}`: {}", ids.join(", "))
            }
            ApprovalError::Nobody => f.write_str("an answer must name a person"),
            ApprovalError::Asker(name) => {
                write!(f, "`{name}` asked for this approval and may not answer the request")
            }
            ApprovalError::Role(roles) => {
                write!(f, "name the role in which you answer: {}", roles.join(", "))
            }
            ApprovalError::NotGranted(id) => {
                write!(f, "the request `{id}` has no grant that could be revoked")
            }
            ApprovalError::NoReason => f.write_str("a refusal needs a reason for the agent"),
        }
    }
}

impl std::error::Error for ApprovalError {}
