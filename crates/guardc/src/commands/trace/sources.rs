//! The sources of traces: files, folders of them, databases, standard input. Each trace has one
//! session.

use crate::failure::{Failure, reason};
use crate::files;
use crate::near;
use guard_plan::lines::{NextLine, read_line};
use guard_plan::render::cut;
use guard_trace::Keys;
use guard_trace::store::{self, Durability, LEDGER, Store, check_id};
use guard_trace::verify::{self, Against, VerifiedTrace, Watch};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first bytes of a database.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

/// The trace of one session.
pub struct SessionTrace {
    /// The displayed name.
    pub name: String,
    /// The session, if its location names it.
    pub session: Option<String>,
    /// The size in bytes, if known.
    pub bytes: u64,
    from: TraceOrigin,
    store: Option<Arc<dyn Store>>,
}

enum TraceOrigin {
    Stdin,
    File(PathBuf),
    Stored,
}

/// Returns the selected traces, sorted within each location; only the named sessions, if any are
/// named.
pub fn all(
    places: &[PathBuf],
    only: &[String],
    key: Option<&Path>,
) -> Result<Vec<SessionTrace>, Failure> {
    let mut found = Vec::new();
    for place in places {
        found.extend(at_place(place, key)?);
    }
    for wanted in only {
        if !found.iter().any(|source| source.session.as_ref() == Some(wanted)) {
            let known = || found.iter().filter_map(|source| source.session.as_deref());
            return Err(no_session(wanted, known()));
        }
    }
    if !only.is_empty() {
        found.retain(|source| source.session.as_ref().is_some_and(|id| only.contains(id)));
    }
    Ok(found)
}

/// Returns the only session of a place, or the named one.
pub fn one(place: &Path, session: Option<&String>) -> Result<SessionTrace, Failure> {
    let only: Vec<String> = session.cloned().into_iter().collect();
    let found = all(&[place.to_owned()], &only, None)?;
    <[SessionTrace; 1]>::try_from(found).map(|[source]| source).map_err(|found| {
        Failure::new(format!("there are {} sessions", found.len()))
            .help("say which one: `--session ID`")
    })
}

/// Returns the selected traces as [`all`] does, with the ledgers of the stores if all their
/// sessions are selected. Ledgers are chains like the others.
pub fn all_with_ledgers(
    places: &[PathBuf],
    only: &[String],
    key: Option<&Path>,
) -> Result<Vec<SessionTrace>, Failure> {
    let mut found = all(places, only, key)?;
    if !only.is_empty() {
        return Ok(found);
    }
    for place in places {
        if !is_store(place) {
            continue;
        }
        let store = open(place, key)?;
        if store.head(LEDGER)?.is_some() {
            let name = format!("{}:{LEDGER}", files::display(place));
            let session = Some(LEDGER.to_owned());
            let store = Some(store);
            found.push(SessionTrace { name, session, bytes: 0, from: TraceOrigin::Stored, store });
        }
    }
    Ok(found)
}

/// Returns the problems of stores as a whole, one sentence each. For a file with a mark beside it,
/// these are the problems that the mark shows for its session.
pub fn audit(places: &[PathBuf], key: Option<&Path>) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for place in places {
        let shown = files::display(place);
        let (store, session) = if is_store(place) {
            (place.as_path(), None)
        } else {
            match marked(place) {
                Some((folder, session)) => (folder, Some(format!("`{session}`"))),
                None => continue,
            }
        };
        let mut wrong = open(store, key)?.audit()?;
        wrong.retain(|wrong| session.as_ref().is_none_or(|session| wrong.contains(session)));
        found.extend(wrong.into_iter().map(|wrong| format!("{shown}: {wrong}")));
    }
    Ok(found)
}

/// Returns the folder and the session of a trace in a store, if there is a mark of its last
/// acknowledged record.
fn marked(place: &Path) -> Option<(&Path, &str)> {
    let session = place.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    place.with_extension("mark").is_file().then(|| (files::folder_of(place), session))
}

fn is_store(place: &Path) -> bool {
    place.is_dir() || (place.is_file() && is_database(place).unwrap_or_default())
}

/// The maximum number of shown characters of a session's id, which may not be one that a store
/// accepts.
pub const SHOWN: usize = 200;

/// Returns the failure for an unknown session, with a suggestion.
pub fn no_session<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    Failure::new(format!("there is no session `{}`", cut(wanted, SHOWN)))
        .maybe_help(near::did_you_mean(wanted, known).map(|near| cut(&near, SHOWN)))
}

/// Returns the failure for an input without a trace.
pub fn nothing(place: &Path) -> Failure {
    Failure::new(format!("`{}` holds no traces", files::display(place)))
        .help("a trace is a file `SESSION.jsonl`, or a session in a database")
}

fn at_place(place: &Path, key: Option<&Path>) -> Result<Vec<SessionTrace>, Failure> {
    if place.as_os_str() == "-" {
        let name = "standard input".into();
        let from = TraceOrigin::Stdin;
        return Ok(vec![SessionTrace { name, session: None, bytes: 0, from, store: None }]);
    }
    let fail = |error: &std::io::Error| files::unreadable(place, &reason(error));
    let meta = std::fs::metadata(place).map_err(|error| fail(&error))?;
    if meta.is_dir() {
        return folder(place, key);
    }
    if !is_database(place).map_err(|error| fail(&error))? {
        let name = files::display(place);
        let from = TraceOrigin::File(place.to_owned());
        // The line that is read of a pipe would be missing when the pipe is verified.
        let session =
            if meta.is_file() { named(place).map_err(|error| fail(&error))? } else { None };
        return Ok(vec![SessionTrace { name, session, bytes: meta.len(), from, store: None }]);
    }
    let store = open(place, key)?;
    let ids = store.sessions()?;
    let each = meta.len() / (ids.len() as u64).max(1);
    let source = |id: String| SessionTrace {
        name: format!("{}:{}", files::display(place), cut(&id, SHOWN)),
        session: Some(id),
        bytes: each,
        from: TraceOrigin::Stored,
        store: Some(store.clone()),
    };
    Ok(ids.into_iter().map(source).collect())
}

/// Returns the session that the first record of a file names, because a separate file may have any
/// name.
fn named(path: &Path) -> std::io::Result<Option<String>> {
    let mut file = std::io::BufReader::new(File::open(path)?);
    let line = match read_line(&mut file, verify::MAX_LINE)? {
        NextLine::Whole(line) | NextLine::Open(line) => String::from_utf8(line).ok(),
        NextLine::TooLong | NextLine::End => None,
    };
    Ok(line.and_then(|line| session(line.trim_end())))
}

/// Returns the session that the first record of a trace names.
pub fn session(line: &str) -> Option<String> {
    use guard_plan::record::{Payload, Record};
    match Record::parse(line).ok()?.payload {
        Payload::Open(open) => Some(open.session.into_owned()),
        Payload::Snapshot(snapshot) => Some(snapshot.session.into_owned()),
        _ => None,
    }
}

/// Returns the `*.jsonl` files of a folder.
fn folder(place: &Path, key: Option<&Path>) -> Result<Vec<SessionTrace>, Failure> {
    let store = open(place, key)?;
    let fail = |error: std::io::Error| files::unreadable(place, &reason(&error));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(place).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let is_trace = path.extension().is_some_and(|e| e == "jsonl") && !is_hidden(&path);
        let Some(meta) = path.metadata().ok().filter(|meta| is_trace && meta.is_file()) else {
            continue;
        };
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let session = stem.filter(|stem| check_id(stem).is_ok()).map(str::to_owned);
        let name = files::display(&path);
        let bytes = meta.len();
        let store = Some(store.clone());
        found.push(SessionTrace { name, session, bytes, from: TraceOrigin::File(path), store });
    }
    if found.is_empty() {
        return Err(nothing(place));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns true if a file is a database.
pub fn is_database(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(SQLITE.len() as u64).read_to_end(&mut start)?;
    Ok(start == SQLITE)
}

/// Opens an existing store, with its key if it has one, and creates nothing.
pub fn open(place: &Path, key: Option<&Path>) -> Result<Arc<dyn Store>, Failure> {
    let beside = store::key_path(place);
    let path = key.unwrap_or(&beside);
    let keys = (key.is_some() || path.exists()).then(|| Keys::read(path)).transpose();
    Ok(store::open_existing(place, Durability::Full, keys?)?.into())
}

impl SessionTrace {
    /// Verifies the trace, the session's name, and the additional data of its store.
    pub fn verify(
        &self,
        mut against: Against,
        threads: usize,
        watch: &Watch,
    ) -> Result<VerifiedTrace, Failure> {
        let fail = |error: std::io::Error| {
            Failure::new(format!("cannot read `{}`: {}", self.name, reason(&error)))
        };
        // Otherwise an intact trace of another session could stand in the place of this one.
        against.session.clone_from(&self.session);
        if let (Some(store), Some(id)) = (&self.store, &self.session) {
            let kept = store.snapshot(id)?;
            (against.snapshot, against.distrusted) = kept;
        }
        match (&self.from, &self.store, &self.session) {
            (TraceOrigin::Stdin, ..) => {
                verify::reader(&mut std::io::stdin(), &against, threads, watch).map_err(fail)
            }
            (TraceOrigin::File(path), ..) => {
                let mut file = File::open(path).map_err(fail)?;
                verify::reader(&mut file, &against, threads, watch).map_err(fail)
            }
            (TraceOrigin::Stored, Some(store), Some(id)) => {
                verify::stored(&**store, id, &against, threads, watch).map_err(Failure::from)
            }
            (TraceOrigin::Stored, ..) => Err(Failure::new("a store without a session")),
        }
    }

    /// Returns the file that contains the trace, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.from {
            TraceOrigin::File(path) => Some(path),
            TraceOrigin::Stdin | TraceOrigin::Stored => None,
        }
    }

    /// Returns the lines of the trace, read lazily.
    pub fn lines(&self) -> Result<TraceLines<'_>, Failure> {
        let fail = |error: &std::io::Error| {
            Failure::new(format!("cannot read `{}`: {}", self.name, reason(error)))
        };
        if let (TraceOrigin::Stored, Some(store), Some(id)) =
            (&self.from, &self.store, &self.session)
        {
            let records = store.records(id, 0)?;
            return Ok(Box::new(records.map(|line| Ok(line?))));
        }
        let read: Box<dyn Read> = match &self.from {
            TraceOrigin::File(path) => Box::new(File::open(path).map_err(|error| fail(&error))?),
            _ => Box::new(std::io::stdin()),
        };
        let mut read = std::io::BufReader::with_capacity(1 << 18, read);
        let lines = std::iter::from_fn(move || next_line(&mut read).transpose());
        Ok(Box::new(lines.map(move |line| line.map_err(|error| fail(&error)))))
    }
}

/// Returns the next line as text, without its line break.
fn next_line(read: &mut impl std::io::BufRead) -> std::io::Result<Option<String>> {
    let invalid = |why: String| std::io::Error::new(std::io::ErrorKind::InvalidData, why);
    let mut line = match read_line(read, verify::MAX_LINE)? {
        NextLine::Whole(line) | NextLine::Open(line) => line,
        NextLine::TooLong => {
            return Err(invalid(format!("a line is longer than {} MiB", verify::MAX_LINE >> 20)));
        }
        NextLine::End => return Ok(None),
    };
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    files::utf8(line).map(Some).map_err(invalid)
}

/// Lines of a trace, without line breaks.
pub type TraceLines<'s> = Box<dyn Iterator<Item = Result<String, Failure>> + 's>;
