//! Records for tests.

use guard_plan::encode::Hash;
use guard_plan::record::{Chain, Kind, Resume, Snapshot};

/// Returns records that follow a chain. The names of the people who resume distinguish them.
pub fn after(version: u64, hash: Hash, names: &[&str]) -> Vec<String> {
    let mut chain = Chain::from(version, hash);
    names.iter().map(|by| resume(&mut chain, by)).collect()
}

/// Returns the first records of a session.
pub fn first(names: &[&str]) -> Vec<String> {
    after(0, [0; 32], names)
}

/// Returns a record.
pub fn resume(chain: &mut Chain, by: &str) -> String {
    let payload = Resume { role: "boss".into(), by: by.to_owned().into() };
    text(chain.append(1_767_000_000_000, Kind::Resume, None, &payload))
}

/// Returns a snapshot record, which replaces those before it.
pub fn snapshot(chain: &mut Chain) -> String {
    let payload = Snapshot {
        plan: "sha256:00".into(),
        guard: "g".into(),
        session: "s".into(),
        start: "2026-01-05T09:00:00Z".into(),
        workspace: "/workspace".into(),
        form: 1,
        memory: "AAAA".into(),
        sealed: false,
    };
    text(chain.append(1_767_000_000_000, Kind::Snapshot, None, &payload))
}

fn text(line: &[u8]) -> String {
    String::from_utf8(line.to_vec()).expect("a record is text")
}
