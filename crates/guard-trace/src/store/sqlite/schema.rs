//! The database: its tables, its version, and its connection settings.

use super::super::{Durability, StoreError};
use super::rows::error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// The application id that identifies our databases: `Gurd`.
pub const APPLICATION_ID: i64 = 0x4775_7264;

/// The version of the tables. Other versions are not read.
pub const SCHEMA_VERSION: i64 = 2;

/// The version of the tables that had amounts instead of a ledger. Such databases are upgraded.
pub const FORMER_VERSION: i64 = 1;

/// The time to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of attempts to open a database in the cases where SQLite does not wait: while the
/// first process creates it, or the last one cleans up.
const TRIES: u32 = 200;

/// The number of log pages after which the log is moved into the database, for separate commits: a
/// short-lived process reads at most this much when it opens the database, and leaves the log
/// behind.
const SHORT_LOG: i64 = 100;

/// Like [`SHORT_LOG`], for grouped commits in a long-lived process.
const LONG_LOG: i64 = 8000;

/// The row id of a record is `session << 32 | seq`: one tree, read in order.
const TABLES: &str = "
CREATE TABLE session (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,
  first   INTEGER NOT NULL,
  version INTEGER NOT NULL,
  head    BLOB NOT NULL
) STRICT;
CREATE TABLE record (
  place INTEGER PRIMARY KEY,
  line  TEXT NOT NULL
) STRICT;
CREATE TABLE snapshot (
  session INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  head    BLOB NOT NULL,
  tag     BLOB NOT NULL,
  bytes   BLOB NOT NULL
) STRICT;
CREATE VIEW trace (session, seq, line) AS
  SELECT session.name, record.place & 4294967295, record.line
  FROM record JOIN session ON session.id = record.place >> 32;
";

/// Opens a database, and creates its tables if it is new.
pub fn connect(
    path: &Path,
    durability: Durability,
    create: bool,
) -> Result<Connection, StoreError> {
    let mut tries = 0;
    loop {
        match try_connect(path, durability, create) {
            Err(StoreError::Locked(_)) if tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(1 + u64::from(tries % 7)));
            }
            other => return other,
        }
    }
}

fn try_connect(
    path: &Path,
    durability: Durability,
    create: bool,
) -> Result<Connection, StoreError> {
    let fail = |why| error(path, &why);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let mut connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(PATIENCE).map_err(fail)?;
    check_kind(path, &mut connection, create)?;
    // Triggers or functions planted in the file must not run: the file holds evidence.
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, durability == Durability::Full),
    ] {
        connection.set_db_config(config, on).map_err(fail)?;
    }
    let (synchronous, log) = match durability {
        Durability::Full => ("FULL", SHORT_LOG),
        Durability::Batch(_) => ("FULL", LONG_LOG),
        Durability::Off => ("OFF", LONG_LOG),
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(fail)?;
    connection.pragma_update(None, "wal_autocheckpoint", log).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Checks that the file is ours and of our version; initializes a new one.
fn check_kind(path: &Path, connection: &mut Connection, create: bool) -> Result<(), StoreError> {
    let fail = |why| error(path, &why);
    let read = |connection: &Connection, name| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(fail)
    };
    let mut id = read(connection, "application_id")?;
    if id == 0 && create && is_new(connection).map_err(fail)? {
        // The journal mode cannot be changed within a transaction.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
        let making = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let making = making.map_err(fail)?;
        // Another process may have been faster.
        if is_new(&making).map_err(fail)? {
            making.execute_batch(TABLES).map_err(fail)?;
            making.pragma_update(None, "application_id", APPLICATION_ID).map_err(fail)?;
            making.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(fail)?;
        }
        making.commit().map_err(fail)?;
    }
    if id == 0 {
        // The faster process may have created it between our two reads.
        id = read(connection, "application_id")?;
    }
    if id != APPLICATION_ID {
        return Err(StoreError::NoStore(path.to_owned()));
    }
    match read(connection, "user_version")? {
        SCHEMA_VERSION | FORMER_VERSION => Ok(()),
        found => Err(StoreError::Version { path: path.to_owned(), found, known: SCHEMA_VERSION }),
    }
}

/// Returns the version of a database's tables.
pub fn version(path: &Path, connection: &Connection) -> Result<i64, StoreError> {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    version.map_err(|why| error(path, &why))
}

fn is_new(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = "SELECT count(*) FROM sqlite_schema";
    connection.query_row(tables, [], |row| row.get::<_, i64>(0)).map(|tables| tables == 0)
}

/// Returns true if an error means that another process uses the database.
pub fn is_busy(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
}
