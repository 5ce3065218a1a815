//! Records for tests.

use guard_plan::encode::Hash;
use guard_plan::record::{Chain, Kind, Resume, Snapshot};

/// Records that follow a chain; who resumes tells one from another.
pub fn after(version: u64, hash: Hash, names: &[&str]) -> Vec<String> {
    let mut chain = Chain::from(version, hash);
    names.iter().map(|by| resume(&mut chain, by)).collect()
}

/// The first records of a session.
pub fn first(names: &[&str]) -> Vec<String> {
    after(0, [0; 32], names)
}

/// A record.
pub fn resume(chain: &mut Chain, by: &str) -> String {
    let payload = Resume { role: "boss".into(), by: by.to_owned().into() };
    text(chain.append(1_767_000_000_000, Kind::Resume, None, &payload))
}

/// A record that stands for those before it.
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
