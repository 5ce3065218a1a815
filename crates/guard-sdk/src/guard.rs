//! A guard made ready: loaded once, shared by all its sessions.

use crate::error::GuardError;
use crate::sources::{self, CompiledSource};
use guard_compiler::Output;
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

/// The workspace of a session that names none: paths are compared, and nobody can look at a file.
pub(crate) const NO_WORKSPACE: &str = "/workspace";

/// The compiler's results for a guard beyond its plan.
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
    /// The plan before it was optimized, where the guard comes from source.
    lowered: Option<LoadedPlan>,
    /// By contract; each is made ready when it is first used.
    checkers: Box<[OnceLock<Result<Checker, String>>]>,
    /// What it is compared by, where it comes from source.
    checked: Option<Arc<CheckedGuard>>,
    /// What guards with other plans may allow and this one refuses, by their hash.
    compared: Mutex<HashMap<Hash, Vec<String>>>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Guard {
    /// Compiles a guard. Files that it uses are found relative to `path`, which need not exist itself.
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
    /// [`GuardError::Source`] with every error of the text; [`GuardError::Kernel`] where the plan cannot be run.
    pub fn compile(path: impl AsRef<Path>, text: impl Into<String>) -> Result<Guard, GuardError> {
        Guard::from_compiled(sources::compile(path.as_ref(), text.into(), None))
    }

    /// Loads a guard or a compiled plan from a file, whichever it is.
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
    /// [`GuardError::Unreadable`], or as [`Guard::compile`] and [`Guard::from_plan_bytes`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Guard, GuardError> {
        let path = path.as_ref();
        let unreadable = |why| GuardError::Unreadable(sources::display(path), why);
        let bytes = sources::read_bytes(path).map_err(unreadable)?;
        if sources::is_plan(&bytes) {
            return Guard::from_plan_bytes(&bytes);
        }
        Guard::compile(path, sources::utf8(bytes).map_err(unreadable)?)
    }

    /// Loads what `guardc compile` wrote, in binary or JSON form.
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
    /// [`GuardError::Plan`] where the bytes are not a valid plan; [`GuardError::Kernel`] where it cannot be run, which
    /// includes a proof that does not hold.
    pub fn from_plan_bytes(bytes: &[u8]) -> Result<Guard, GuardError> {
        Guard::from_plan(load(bytes).map_err(GuardError::Plan)?)
    }

    /// Makes a loaded plan ready.
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

    /// Makes the output of a compilation ready.
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
    /// As [`Guard::compile`].
    pub fn from_compiled(source: CompiledSource) -> Result<Guard, GuardError> {
        let CompiledSource { compilation, shown, .. } = source;
        let Some(Output { plan, lowered, sources, program, scenarios, .. }) = compilation.output
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

    /// Returns what the guard `new` may allow beyond this one, as sentences. `compare` runs once for each new plan; its
    /// result is kept.
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
        // The lock is not held: a comparison takes a while.
        let found = compare();
        lock().insert(hash, found.clone());
        found
    }

    /// The same guard, whose optimized plan is watched: every `every`th decision is made by the plan as lowered too,
    /// and a difference ends the session's trust in the optimized one (semantics §16). A guard that was loaded from a
    /// plan needs the plan as lowered in `lowered`.
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
    /// [`GuardError::NoLoweredPlan`]; [`GuardError::Kernel`] where the two plans are of different guards.
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

    /// The name that the guard gives itself.
    pub fn name(&self) -> &str {
        &self.plan().guard
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.ready.kernel.plan()
    }

    /// The content hash of the plan, as `sha256:…`.
    pub fn plan_hash(&self) -> String {
        self.ready.kernel.loaded().hash_text()
    }

    /// The kernel below, for those who need no session that lasts.
    pub fn kernel(&self) -> &Kernel {
        &self.ready.kernel
    }

    /// Instructions for an agent under this guard, in words: its tools and their rules.
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

    /// Returns the checker of a contract, by its place in the plan.
    ///
    /// # Errors
    ///
    /// [`GuardError::Contract`] where it cannot be made ready.
    pub(crate) fn checker(&self, index: usize) -> Result<Checker, GuardError> {
        let prepare = || Checker::with_schemas(self.plan(), index, &JsonSchemas);
        let checker =
            self.ready.checkers[index].get_or_init(|| prepare().map_err(|error| error.to_string()));
        checker.clone().map_err(GuardError::Contract)
    }
}
