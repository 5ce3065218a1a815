//! A guard that is ready for use: loaded once, shared by all its sessions.

use crate::error::GuardError;
use crate::sources::{self, CompiledSource};
use guard_compiler::CompilerOutput;
use guard_compiler::hir::Program;
use guard_compiler::scenario::Scenario;
use guard_contract::Checker;
use guard_plan::encode::Hash;
use guard_plan::plan::Plan;
use guard_plan::{LoadedPlan, load};
use guard_runtime::Kernel;
use guard_schema::JsonSchemas;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The workspace of a session without a workspace. Paths can be compared, but files cannot be read.
pub(crate) const NO_WORKSPACE: &str = "/workspace";

/// The results of the compiler for a guard, in addition to its plan.
pub(crate) struct CheckedGuard {
    pub program: Program,
    pub scenarios: Vec<Scenario>,
}

/// A guard that is ready to decide. Cloning it is cheap; threads and sessions share it.
#[derive(Clone)]
pub struct Guard {
    ready: Arc<ReadyGuard>,
}

struct ReadyGuard {
    kernel: Kernel,
    /// The plan before optimization, if the guard was compiled from source.
    lowered: Option<LoadedPlan>,
    /// The checkers, by contract. Each is prepared at its first use.
    checkers: Box<[OnceLock<Result<Checker, String>>]>,
    /// The compiler's results for comparisons, if the guard was compiled from source.
    checked: Option<Arc<CheckedGuard>>,
    /// By the hash of another plan: the calls that the other guard may allow and this one refuses.
    compared: Mutex<HashMap<Hash, Vec<String>>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Guard {
    /// Compiles a guard. Files that it uses are found relative to `path`. The file at `path` need
    /// not exist.
    ///
    /// ```
    /// let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// assert_eq!(guard.name(), "demo");
    /// let error = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool a() { requires b }").unwrap_err();
    /// assert!(error.to_string().contains("unknown tool `b`"));
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Source`] with every error of the text; [`GuardError::Kernel`] if the plan
    /// cannot be run.
    pub fn compile(path: impl AsRef<Path>, text: impl Into<String>) -> Result<Guard, GuardError> {
        Guard::from_compiled(sources::compile(path.as_ref(), text.into(), None))
    }

    /// Loads a file that contains the source of a guard or a compiled plan.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("agent.guard");
    /// std::fs::write(&path, "guard agent\ntool ping()").unwrap();
    /// let guard = guard_sdk::Guard::from_file(&path)?;
    /// assert_eq!(guard.name(), "agent");
    /// std::fs::write(&path, guard.kernel().loaded().to_bytes()).unwrap();
    /// assert_eq!(guard_sdk::Guard::from_file(&path)?.plan_hash(), guard.plan_hash());
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Unreadable`], or the errors of [`Guard::compile`] and
    /// [`Guard::from_plan_bytes`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Guard, GuardError> {
        let path = path.as_ref();
        let unreadable = |why| GuardError::Unreadable(sources::display(path), why);
        let bytes = sources::read_bytes(path).map_err(unreadable)?;
        if sources::is_plan(&bytes) {
            return Guard::from_plan_bytes(&bytes);
        }
        Guard::compile(path, sources::utf8(bytes).map_err(unreadable)?)
    }

    /// Loads the output of `guardc compile`, in binary or JSON form.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let bytes = guard.kernel().loaded().to_bytes();
    /// // `bytes` is a file that `guardc compile` wrote.
    /// let loaded = guard_sdk::Guard::from_plan_bytes(&bytes)?;
    /// assert_eq!(loaded.plan_hash(), guard.plan_hash());
    /// let error = guard_sdk::Guard::from_plan_bytes(&bytes[..40]).unwrap_err();
    /// assert_eq!(error.code(), "bad_plan");
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Plan`] if the bytes are not a valid plan; [`GuardError::Kernel`] if the plan
    /// cannot be run, for example because a proof in it is not valid.
    pub fn from_plan_bytes(bytes: &[u8]) -> Result<Guard, GuardError> {
        Guard::from_plan(load(bytes).map_err(GuardError::Plan)?)
    }

    /// Prepares a loaded plan.
    ///
    /// ```
    /// use guard_plan::LoadedPlan;
    /// use guard_sdk::{Guard, GuardError};
    /// # let compiled = Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let bytes = compiled.kernel().loaded().to_bytes();
    /// let plan: LoadedPlan = guard_plan::load(&bytes).map_err(GuardError::Plan)?;
    /// let guard = Guard::from_plan(plan)?;
    /// assert_eq!(guard.plan().tools.len(), 1);
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Kernel`].
    pub fn from_plan(plan: LoadedPlan) -> Result<Guard, GuardError> {
        Guard::new(plan, None, None)
    }

    /// Prepares the output of a compilation.
    ///
    /// ```
    /// use guard_sdk::{Guard, sources};
    /// let source = sources::compile("demo.guard".as_ref(), "guard demo\ntool ping()".into(), None);
    /// // Warnings of the compiler do not prevent a guard.
    /// assert!(source.compilation.diagnostics.is_empty());
    /// let guard = Guard::from_compiled(source)?;
    /// assert_eq!(guard.name(), "demo");
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Guard::compile`].
    pub fn from_compiled(source: CompiledSource) -> Result<Guard, GuardError> {
        let CompiledSource { compilation, shown, .. } = source;
        let Some(CompilerOutput { plan, lowered, sources, program, scenarios, .. }) =
            compilation.output
        else {
            return Err(GuardError::Source { files: shown, diagnostics: compilation.diagnostics });
        };
        let lowered = LoadedPlan::from_plan(lowered, sources.clone()).map_err(GuardError::Plan)?;
        let plan = LoadedPlan::from_plan(plan, sources).map_err(GuardError::Plan)?;
        Guard::new(plan, Some(lowered), Some(Arc::new(CheckedGuard { program, scenarios })))
    }

    fn new(
        plan: LoadedPlan,
        lowered: Option<LoadedPlan>,
        checked: Option<Arc<CheckedGuard>>,
    ) -> Result<Guard, GuardError> {
        let kernel = Kernel::with_schemas(plan, &JsonSchemas).map_err(GuardError::Kernel)?;
        Ok(Guard::of_kernel(kernel, lowered, checked))
    }

    fn of_kernel(
        kernel: Kernel,
        lowered: Option<LoadedPlan>,
        checked: Option<Arc<CheckedGuard>>,
    ) -> Guard {
        let checkers = kernel.plan().contracts.iter().map(|_| OnceLock::new()).collect();
        let compared = Mutex::default();
        Guard { ready: Arc::new(ReadyGuard { kernel, lowered, checkers, checked, compared }) }
    }

    pub(crate) fn checked(&self) -> Option<&CheckedGuard> {
        self.ready.checked.as_deref()
    }

    /// Returns what the guard `new` may allow beyond this one, one sentence each. `compare` runs
    /// once for each new plan, and its result is kept.
    pub(crate) fn compared(
        &self,
        new: &Guard,
        compare: impl FnOnce() -> Vec<String>,
    ) -> Vec<String> {
        let lock = || self.ready.compared.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = *new.kernel().loaded().hash();
        if let Some(known) = lock().get(&hash) {
            return known.clone();
        }
        // The lock is not held, because a comparison can take long.
        let found = compare();
        lock().insert(hash, found.clone());
        found
    }

    /// Returns the same guard with its optimized plan watched: at one of `every` decisions, the
    /// plan as lowered decides too. After a difference, the session no longer uses the optimized
    /// plan (semantics §16). A guard that was loaded from a plan needs the plan as lowered in
    /// `lowered`.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// let watched = guard.watched(NonZeroU32::MIN, None)?;
    /// let mut session = watched.session("s1").open()?;
    /// assert!(session.propose("1", "ping", "{}")?.verdict.is_allowed());
    /// assert!(!session.propose("2", "ping", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::NoLoweredPlan`]; [`GuardError::Kernel`] if the two plans belong to different
    /// guards.
    pub fn watched(
        &self,
        every: NonZeroU32,
        lowered: Option<LoadedPlan>,
    ) -> Result<Guard, GuardError> {
        let lowered = lowered.or_else(|| self.ready.lowered.clone());
        let lowered = lowered.ok_or(GuardError::NoLoweredPlan)?;
        let kernel = |plan| Kernel::with_schemas(plan, &JsonSchemas).map_err(GuardError::Kernel);
        let full = kernel(lowered.clone())?;
        let optimized = kernel(self.ready.kernel.loaded().clone())?;
        let kernel = Kernel::with_shadow(full, optimized, every).map_err(GuardError::Kernel)?;
        Ok(Guard::of_kernel(kernel, Some(lowered), self.ready.checked.clone()))
    }

    /// Returns the name of the guard, from its source.
    pub fn name(&self) -> &str {
        &self.plan().guard
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        self.ready.kernel.plan()
    }

    /// Returns the content hash of the plan, as `sha256:…`.
    pub fn plan_hash(&self) -> String {
        self.ready.kernel.loaded().hash_text()
    }

    /// Returns the underlying kernel, for callers that need no durable session.
    pub fn kernel(&self) -> &Kernel {
        &self.ready.kernel
    }

    /// Returns the instructions for an agent under this guard, as text: its tools and their rules.
    ///
    /// ```
    /// let source = "guard demo\ntool lint()\ntool deploy() { requires lint }";
    /// let guide = guard_sdk::Guard::compile("demo.guard", source)?.guide();
    /// assert!(guide.contains("deploy") && guide.contains("lint"));
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    pub fn guide(&self) -> String {
        guard_advice::guide(self.plan())
    }

    /// Returns the checker of the contract with this index in the plan.
    ///
    /// # Errors
    ///
    /// [`GuardError::Contract`] if the contract cannot be prepared.
    pub(crate) fn checker(&self, index: usize) -> Result<Checker, GuardError> {
        let prepare = || Checker::with_schemas(self.plan(), index, &JsonSchemas);
        let checker =
            self.ready.checkers[index].get_or_init(|| prepare().map_err(|error| error.to_string()));
        checker.clone().map_err(GuardError::Contract)
    }
}
