//! Opening a session: its inputs, its store, and the record at which it resumes.

use crate::error::SessionError;
use crate::guard::{Guard, NO_WORKSPACE};
use crate::persistence::{Persistence, SharedBudget, Storage};
use crate::session::Session;
use crate::sources::reason;
use crate::world::AnsweringWorld;
use guard_hosts::Host;
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_runtime::World;
use guard_trace::Keys;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

impl Guard {
    /// Begins or resumes the session with this id; [`SessionOptions::open`] opens it.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let mut session = guard.session("order-17").actor("ann").open()?;
    /// assert_eq!(session.id(), "order-17");
    /// assert!(session.propose("1", "ping", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn session(&self, id: impl Into<String>) -> SessionOptions<'_, Host> {
        SessionOptions::new(self, id.into())
    }

    /// Begins or resumes a session with a world of the caller, which answers its questions.
    ///
    /// ```
    /// use guard_sdk::{Guard, Json, World};
    /// /// Answers one probe, and looks at no files.
    /// struct Queue(bool);
    /// impl World for Queue {
    ///     fn exists(&mut self, _: &str) -> Option<bool> { None }
    ///     fn probe(&mut self, name: &str) -> Option<Json> { (name == "idle").then(|| Json::Bool(self.0)) }
    /// }
    /// let guard = Guard::compile("demo.guard", "guard demo\nprobe idle { host }\ntool ping() { ready when probe idle }")?;
    /// let mut session = guard.session_in("s1", Queue(false)).open_in_world()?;
    /// assert!(!session.propose("1", "ping", "{}")?.verdict.is_allowed());
    /// *session.world_mut() = Queue(true);
    /// assert!(session.propose("2", "ping", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn session_in<W: World>(&self, id: impl Into<String>, world: W) -> SessionOptions<'_, W> {
        SessionOptions::in_world(self, id.into(), world)
    }
}

/// The options of a session. [`SessionOptions::open`] begins the session, or resumes it where its
/// records end.
#[must_use = "`open` opens the session"]
pub struct SessionOptions<'o, W> {
    guard: &'o Guard,
    id: String,
    world: Option<W>,
    workspace: Option<PathBuf>,
    /// True if a resumed session keeps the workspace that its records name.
    keeps_workspace: bool,
    root: Option<String>,
    storage: Option<&'o Storage>,
    keys: Option<&'o Keys>,
    shared: Vec<SharedBudget>,
    actor: Option<&'o str>,
    data: Option<&'o Json>,
    now: Option<Millis>,
    recheck: Option<Option<NonZeroU32>>,
    max_memory: Option<u64>,
    replays: bool,
    source: UnstoredLines<'o>,
}

/// The records of a session without a store.
enum UnstoredLines<'o> {
    New,
    Trace(&'o [String]),
    Snapshot(&'o [u8]),
}

impl<'o> SessionOptions<'o, Host> {
    pub(crate) fn new(guard: &'o Guard, id: String) -> SessionOptions<'o, Host> {
        SessionOptions::with(guard, id, None)
    }

    /// The folder in which the agent works. Rules that read files, commands and git use this
    /// folder. Without a folder, nothing answers these rules, and they deny.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool publish() { deny unless exists(\"report.md\") }")?;
    /// let mut session = guard.session("s1").workspace(folder.path()).open()?;
    /// assert!(!session.propose("1", "publish", "{}")?.verdict.is_allowed());
    /// std::fs::write(folder.path().join("report.md"), "done").unwrap();
    /// assert!(session.propose("2", "publish", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// The folder in which the agent works, if the session is new. A resumed session keeps the
    /// workspace that its records name, because hosts report the current folder of an agent, which
    /// may change during a session.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let other = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// let session = guard.session("s1").storage(&storage).first_workspace(folder.path()).open()?;
    /// let first = session.state().workspace().to_owned();
    /// session.close();
    /// // The agent has changed its folder meanwhile.
    /// let session = guard.session("s1").storage(&storage).first_workspace(other.path()).open()?;
    /// assert_eq!(session.state().workspace(), first);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn first_workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.keeps_workspace = true;
        self.workspace(folder)
    }

    /// Begins the session, or resumes it where its records end.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// let storage = guard_sdk::Storage::open(&folder.path().join("sessions.db"))?;
    /// let mut session = guard.session("s1").storage(&storage).workspace(folder.path()).open()?;
    /// assert!(!session.is_resumed());
    /// session.propose("1", "ping", "{}")?;
    /// session.close();
    /// let session = guard.session("s1").storage(&storage).workspace(folder.path()).open()?;
    /// assert!(session.is_resumed());
    /// assert_eq!(session.in_flight(), ["1"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Workspace`], and the errors of [`SessionOptions::open_in_world`].
    pub fn open(mut self) -> Result<Session<Host>, SessionError> {
        if let Some(folder) = self.workspace.take() {
            self.root = Some(absolute(&folder)?);
            let host = Host::new(Some(&folder)).map_err(|error| unusable(&folder, &error))?;
            self.world = Some(host);
        }
        let keeps_workspace = self.keeps_workspace;
        let host = self.world.take().unwrap_or_default();
        let mut session = self.begin(host)?;
        if keeps_workspace && session.is_resumed() {
            let recorded = PathBuf::from(session.state().workspace());
            let host = Host::new(Some(&recorded)).map_err(|error| unusable(&recorded, &error))?;
            *session.world_mut() = host;
        }
        Ok(session)
    }
}

impl<'o, W: World> SessionOptions<'o, W> {
    pub(crate) fn in_world(guard: &'o Guard, id: String, world: W) -> SessionOptions<'o, W> {
        SessionOptions::with(guard, id, Some(world))
    }

    fn with(guard: &'o Guard, id: String, world: Option<W>) -> SessionOptions<'o, W> {
        SessionOptions {
            guard,
            id,
            world,
            workspace: None,
            keeps_workspace: false,
            root: None,
            storage: None,
            keys: None,
            shared: Vec::new(),
            actor: None,
            data: None,
            now: None,
            recheck: None,
            max_memory: None,
            replays: false,
            source: UnstoredLines::New,
        }
    }

    /// The absolute path that relative paths start from. The disk is not read.
    ///
    /// ```
    /// let source = "guard demo\ntool read(file: path) { deny unless file within \"docs\" }";
    /// let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// let mut session = guard.session("s1").root("/home/ann/site").open()?;
    /// assert!(session.propose("1", "read", r#"{"file": "/home/ann/site/docs/a.md"}"#)?.verdict.is_allowed());
    /// assert!(!session.propose("2", "read", r#"{"file": "../docs/a.md"}"#)?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn root(mut self, path: impl Into<String>) -> Self {
        self.root = Some(path.into());
        self
    }

    /// Keeps the session's records in a store. If the store has a session with this id, that
    /// session is resumed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// let session = guard.session("s1").storage(&storage).open()?;
    /// assert_eq!(session.stored_records(), 1);
    /// session.close();
    /// assert!(guard.session("s1").storage(&storage).open()?.is_resumed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn storage(mut self, storage: &'o Storage) -> Self {
        self.storage = Some(storage);
        self
    }

    /// The key for the secrets of a session without a store. A store has its own key.
    ///
    /// ```
    /// use guard_sdk::{Guard, Keys};
    /// let guard = Guard::compile("demo.guard", "guard demo\ntool login(password: secret string)")?;
    /// let keys = Keys::new([7; 32]);
    /// let mut session = guard.session("s1").keys(&keys).open()?;
    /// let proposed = session.propose("1", "login", r#"{"password": "hunter2"}"#)?;
    /// assert!(!proposed.record().contains("hunter2"));
    /// let records = session.records()?;
    /// assert!(guard.session("s1").keys(&keys).trace(&records).open().is_ok());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn keys(mut self, keys: &'o Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Charges a unit of the guard to a budget that the sessions of the store share.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// use guard_sdk::{Guard, SessionError, SharedBudget, Storage};
    /// let guard = Guard::compile("demo.guard", "guard demo\nbudget usd = 10.00\ntool search() { costs 3.00 usd }")?;
    /// let storage = Storage::open(&folder.path().join("sessions"))?;
    /// let team = SharedBudget { unit: "usd".into(), key: "team".into(), limit: 5_000_000 };
    /// let mut ann = guard.session("ann").storage(&storage).share(team.clone()).open()?;
    /// let mut bob = guard.session("bob").storage(&storage).share(team).open()?;
    /// assert!(ann.propose("1", "search", "{}")?.verdict.is_allowed());
    /// assert!(matches!(bob.propose("1", "search", "{}"), Err(SessionError::OverBudget(..))));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn share(mut self, budget: SharedBudget) -> Self {
        self.shared.push(budget);
        self
    }

    /// The person or system for whom the agent acts, for the record.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let session = guard.session("s1").actor("ann").open()?;
    /// assert!(session.records()?[0].contains(r#""actor":"ann""#));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn actor(mut self, actor: &'o str) -> Self {
        self.actor = Some(actor);
        self
    }

    /// The data from which the guard learns at the start (`learn … from start`), as an object.
    ///
    /// ```
    /// use guard_sdk::{Guard, Json};
    /// let source = "guard demo\nfact friend(address: string)\nsource start { learn friend(data.friends[*]) }
    /// tool send(to: string) { deny unless known friend(to) }";
    /// let guard = Guard::compile("demo.guard", source)?;
    /// let data = Json::parse(r#"{"friends": ["ann@example.com"]}"#).unwrap();
    /// let mut session = guard.session("s1").data(&data).open()?;
    /// assert!(session.propose("1", "send", r#"{"to": "ann@example.com"}"#)?.verdict.is_allowed());
    /// assert!(!session.propose("2", "send", r#"{"to": "eve@example.com"}"#)?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn data(mut self, data: &'o Json) -> Self {
        self.data = Some(data);
        self
    }

    /// The time at which the session begins, in milliseconds since 1970. The default is the
    /// system's time.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let session = guard.session("s1").at(1_767_603_600_000).open()?;
    /// assert!(session.records()?[0].contains("2026-01-05T09:00:00"));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn at(mut self, now: Millis) -> Self {
        self.now = Some(now);
        self
    }

    /// Sets the rate at which proved invariants are checked again: at one of `every` calls, or
    /// never with `None`. The default is one of 256 calls. A resumed session keeps its first rate.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// let source = "guard demo\nstate { n: int = 0 }\ninvariant small { n <= 5 }
    /// tool add() { deny unless n < 5, effect n += 1 }";
    /// let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// // What was proved is checked again at every call.
    /// let mut session = guard.session("s1").recheck(Some(NonZeroU32::MIN)).open()?;
    /// session.propose("1", "add", "{}")?;
    /// assert!(session.settle("1", Ok(None))?.broken_proof.is_none());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn recheck(mut self, every: Option<NonZeroU32>) -> Self {
        self.recheck = Some(every);
        self
    }

    /// The maximum size of the session's state in bytes, measured in its stored form. Beyond it no
    /// call is decided ([`SessionError::TooLarge`]), but calls in flight can be settled.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let mut session = guard.session("s1").max_memory(1).open()?;
    /// let error = session.propose("1", "ping", "{}").unwrap_err();
    /// assert_eq!(error.code(), "session_too_large");
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// Resumes the session from the records of its store, even if the store has a snapshot. Each
    /// record since the last upgrade must be reproduced, and the whole hash chain is checked. This
    /// is slower, and intended for callers that are about to drop records. It has no effect without
    /// a store.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # guard.session("s1").storage(&storage).open()?.close();
    /// let mut session = guard.session("s1").storage(&storage).replayed().open()?;
    /// assert!(session.is_resumed());
    /// assert!(session.compact()?.is_some());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn replayed(mut self) -> Self {
        self.replays = true;
        self
    }

    /// Resumes the session from the lines of its trace. Each record must be reproduced. This cannot
    /// be combined with a store, which contains the trace itself.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// let mut lines = session.records()?;
    /// let mut again = guard.session("s1").trace(&lines).open()?;
    /// assert!(!again.propose("2", "ping", "{}")?.verdict.is_allowed());
    /// // A line that was changed is not taken up.
    /// lines[1] = lines[1].replace("allow", "deny");
    /// assert!(guard.session("s1").trace(&lines).open().is_err());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn trace(mut self, lines: &'o [String]) -> Self {
        self.source = UnstoredLines::Trace(lines);
        self
    }

    /// Resumes the session from the output of [`Session::snapshot`].
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// let bytes = session.snapshot()?;
    /// let session = guard.session("s1").snapshot(&bytes).open()?;
    /// assert_eq!(session.in_flight(), ["1"]);
    /// assert!(guard.session("s2").snapshot(&bytes).open().is_err());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn snapshot(mut self, snapshot: &'o [u8]) -> Self {
        self.source = UnstoredLines::Snapshot(snapshot);
        self
    }

    /// Begins the session in the given world, or resumes it where its records end.
    ///
    /// ```
    /// use guard_runtime::NoWorld;
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool publish() { deny unless exists(\"report.md\") }")?;
    /// // Nobody answers questions in this world, and rules that ask them deny.
    /// let mut session = guard.session_in("s1", NoWorld).open_in_world()?;
    /// assert!(!session.propose("1", "publish", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Store`] if the store refuses the id or fails; [`SessionError::Resume`],
    /// [`SessionError::Mismatch`] and [`SessionError::Snapshot`] if the records do not belong to
    /// this guard, id and workspace; [`SessionError::SharedBudget`]; [`SessionError::Step`] if the
    /// guard cannot begin.
    pub fn open_in_world(mut self) -> Result<Session<W>, SessionError> {
        match self.world.take() {
            Some(world) => self.begin(world),
            // `in_world` gives every such session a world, and `open` is for the sessions without
            // one.
            None => Err(SessionError::Workspace(self.id, "has no world".into())),
        }
    }

    fn begin(self, world: W) -> Result<Session<W>, SessionError> {
        let guard = self.guard.clone();
        let root = self.root.as_deref().unwrap_or(NO_WORKSPACE);
        // The kernel would read a relative path from `/`, a folder that the caller did not mean.
        if !root.starts_with('/') && !Path::new(root).is_absolute() {
            return Err(SessionError::Workspace(root.into(), "is not an absolute path".into()));
        }
        let now = self.now.unwrap_or_else(crate::clock::system_time);
        crate::clock::expect_time(now)?;
        if self.storage.is_some() && matches!(self.source, UnstoredLines::Trace(_)) {
            return Err(SessionError::TraceAndStore);
        }
        let mut state = guard.kernel().open_with(&self.id, now, root, self.data)?;
        if let Some(every) = self.recheck {
            guard.kernel().set_recheck(&mut state, every);
        }
        let mut persistence =
            Persistence::new(self.storage, self.keys, &self.id, self.shared, &guard)?;
        persistence.memory.bytes = self.max_memory;
        persistence.replays = self.replays;
        let recorder = persistence.recorder();
        let world = AnsweringWorld::new(world);
        let actor = self.actor.map(str::to_owned);
        let mut session = Session {
            guard,
            state,
            recorder,
            world,
            persistence,
            next_time: None,
            resumed: false,
            actor,
        };
        match self.source {
            UnstoredLines::New => session.begin(&self.id, self.actor)?,
            UnstoredLines::Trace(lines) => session.resume_trace(lines)?,
            UnstoredLines::Snapshot(bytes) => session.resume_snapshot(bytes)?,
        }
        if session.resumed {
            let root = self.root.as_deref().filter(|_| !self.keeps_workspace);
            session.expect_identity(&self.id, root)?;
        }
        Ok(session)
    }
}

fn unusable(folder: &Path, error: &std::io::Error) -> SessionError {
    let why = format!("cannot be used: {}", reason(error));
    SessionError::Workspace(folder.display().to_string(), why)
}

/// Returns a workspace as an absolute path. Symbolic links are not resolved, because paths are
/// compared as they are written.
fn absolute(path: &Path) -> Result<String, SessionError> {
    let bad = |why: &str| SessionError::Workspace(path.display().to_string(), why.into());
    let absolute: PathBuf = std::path::absolute(path).map_err(|_| bad("is not a path"))?;
    if !absolute.is_dir() {
        return Err(bad("is not a directory"));
    }
    absolute.to_str().map(str::to_owned).ok_or_else(|| bad("is not UTF-8"))
}
