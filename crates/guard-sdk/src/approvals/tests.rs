use super::*;
use crate::{Guard, Storage};

const GUARD: &str = "guard demo
tool pay(amount: int) {
  approval boss within 30m when amount < 100
  approval boss when amount >= 100
}
tool wipe(key: secret string) { risk critical irreversible }
tool note(text: string)
tool \"Bank.Send\" as send(amount: int) { approval boss }
tool \"send\" as write(amount: int)
tool \"Bank.Move\" as move_money(amount: int) { approval boss }
";

const CALL: &str = r#"{"amount": 200}"#;

/// The time of the first call. The grants and later calls follow it.
const START: Millis = 1_000_000;

struct TestStore {
    folder: tempfile::TempDir,
    guard: Guard,
}

impl TestStore {
    fn new() -> TestStore {
        let guard = Guard::compile("demo.guard", GUARD).expect("a guard");
        TestStore { folder: tempfile::tempdir().expect("a folder"), guard }
    }

    fn storage(&self) -> Storage {
        Storage::open(&self.folder.path().join("store")).expect("a store")
    }

    fn call(&self, call: &str, tool: &str, args: &str, at: Millis) -> ProposedCall {
        let storage = self.storage();
        let session = self.guard.session("s1").storage(&storage).actor("agent").at(START);
        let mut session = session.open().expect("a session");
        let approvals = storage.approvals().expect("a folder");
        let proposed = session.at(at).propose_with(call, tool, args, &approvals);
        let proposed = proposed.expect("a decision");
        if proposed.proposed.verdict.is_allowed() {
            session.at(at).settle(call, Ok(None)).expect("settled");
        }
        proposed
    }

    fn allowed(&self, call: &str, args: &str, at: Millis) -> bool {
        self.call(call, "pay", args, at).proposed.verdict.is_allowed()
    }

    fn asked(&self, args: &str) -> (ApprovalLog, String) {
        let asked = self.call("ask", "pay", args, START).request.expect("a request");
        (self.storage().approvals().expect("a folder"), asked.id)
    }
}

#[test]
fn a_grant_expires() {
    let place = TestStore::new();
    let (approvals, id) = place.asked(CALL);
    approvals.grant(&id, "kim", None, GrantExtent::Once, START).expect("granted");
    assert!(!place.allowed("late", CALL, START + DEFAULT_APPROVAL));
    approvals.grant(&id, "kim", None, GrantExtent::For(1000), START).expect("granted");
    assert!(!place.allowed("later", CALL, START + 1000));
    // The person's clock was ahead: the grant is not valid yet.
    approvals
        .grant(&id, "kim", None, GrantExtent::Once, START + 2 * DEFAULT_APPROVAL)
        .expect("granted");
    assert!(!place.allowed("early", CALL, START + DEFAULT_APPROVAL));
}

#[test]
fn the_age_of_a_grant_counts() {
    let place = TestStore::new();
    let small = r#"{"amount": 5}"#;
    let (approvals, id) = place.asked(small);
    approvals
        .grant(&id, "kim", None, GrantExtent::For(10 * DEFAULT_APPROVAL), START)
        .expect("granted");
    assert!(place.allowed("fresh", small, START + 30 * 60_000));
    assert!(!place.allowed("stale", small, START + 30 * 60_000 + 1));
}

#[test]
fn a_grant_is_used_once_whatever_stops_the_process() {
    let place = TestStore::new();
    let (approvals, id) = place.asked(CALL);
    approvals.grant(&id, "kim", None, GrantExtent::Once, START).expect("granted");
    // The process ended between the two steps: the grant is lost, but not used twice.
    let mut file = approvals.file("s1").and_then(|file| file.open()).expect("a file");
    let kind = RequestEvent::Used { call: "crashed".into(), grants: vec![0] };
    file.append(RequestEntry { id, at: START, kind }).expect("written");
    drop(file);
    assert!(!place.allowed("after", CALL, START + 1));
}

#[test]
fn a_file_that_somebody_changed_blocks() {
    let place = TestStore::new();
    let (approvals, id) = place.asked(CALL);
    approvals.reject(&id, "kim", "no", START).expect("rejected");
    let path = place.folder.path().join("store/.approvals/s1.jsonl");
    let text = std::fs::read_to_string(&path).expect("a file");
    let forged = text.replace(
        r#""kind":"reject","by":"kim","reason":"no""#,
        r#""kind":"grant","by":"kim","role":"boss","once":true,"until":9000000000000"#,
    );
    assert_ne!(forged, text);
    for changed in [
        forged,
        text.lines().skip(1).map(|line| format!("{line}\n")).collect(),
        format!("{text}x\n"),
    ] {
        std::fs::write(&path, changed).expect("written");
        assert!(matches!(approvals.requests(None), Err(ApprovalError::Damaged(..))));
        let storage = place.storage();
        let mut session = place.guard.session("s1").storage(&storage).open().expect("a session");
        assert!(session.propose_with("c", "pay", CALL, &approvals).is_err());
    }
    // A line that a crash has cut off was never acknowledged.
    std::fs::write(&path, format!("{text}{{\"entry\"")).expect("written");
    assert_eq!(approvals.requests(None).expect("readable").len(), 1);
    assert!(!place.allowed("next", CALL, START + 1));
}

#[test]
fn secrets_stay_out_of_requests() {
    let place = TestStore::new();
    let asked =
        place.call("c1", "wipe", r#"{"key": "hunter2"}"#, START).request.expect("a request");
    assert_eq!(asked.roles, [ANY_ROLE]);
    let path = place.folder.path().join("store/.approvals/s1.jsonl");
    let text = std::fs::read_to_string(path).expect("a file");
    assert!(!text.contains("hunter2"), "{text}");
    let approvals = place.storage().approvals().expect("a folder");
    approvals.grant(&asked.id, "kim", None, GrantExtent::Once, START).expect("granted");
    assert!(
        !place.call("c2", "wipe", r#"{"key": "hunter3"}"#, START + 1).proposed.verdict.is_allowed()
    );
    assert!(
        place.call("c3", "wipe", r#"{"key": "hunter2"}"#, START + 1).proposed.verdict.is_allowed()
    );
}

#[test]
fn calls_that_need_nobody_leave_no_request() {
    let place = TestStore::new();
    assert!(place.call("c1", "note", r#"{"text": "x"}"#, START).request.is_none());
    assert!(place.call("c2", "pay", r#"{"amount": "x"}"#, START).request.is_none());
    assert!(place.call("c3", "pay", "{", START).request.is_none());
    assert!(place.call("c4", "unknown", "{}", START).request.is_none());
    assert!(
        !place.folder.path().join("store/.approvals").join("s1.jsonl").exists()
            || place
                .storage()
                .approvals()
                .expect("a folder")
                .requests(None)
                .expect("readable")
                .is_empty()
    );
}

/// A tool is found as the kernel finds it: by the harness's name first.
#[test]
fn a_call_by_the_name_in_the_guard_asks_too() {
    let place = TestStore::new();
    let args = r#"{"amount": 1}"#;
    assert!(place.call("w", "send", args, START).proposed.verdict.is_allowed());
    for tool in ["Bank.Send", "Bank.Move", "move_money"] {
        let asked = place.call("a", tool, args, START).request.expect("a request");
        let approvals = place.storage().approvals().expect("a folder");
        approvals.grant(&asked.id, "kim", None, GrantExtent::Once, START).expect("granted");
        assert!(place.call("b", tool, args, START).proposed.verdict.is_allowed(), "{tool}");
    }
}

#[test]
fn a_request_is_written_only_beside_its_store() {
    let place = TestStore::new();
    let approvals = place.storage().approvals().expect("a folder");
    // A session in no store may have any name.
    let mut session = place.guard.session("../../s1").at(START).open().expect("a session");
    let asked = session.at(START).propose_with("1", "pay", CALL, &approvals);
    assert!(matches!(asked, Err(crate::SessionError::Approvals(_))), "{asked:?}");
    assert!(approvals.requests(Some("../../s1")).is_err());
    assert!(!place.folder.path().join("s1.jsonl").exists());
}

#[cfg(unix)]
#[test]
fn a_request_is_not_written_through_a_link() {
    let place = TestStore::new();
    let folder = place.folder.path();
    drop(place.storage());
    let target = folder.join("target");
    std::fs::write(&target, "").expect("written");
    std::fs::create_dir_all(folder.join("store/.approvals")).expect("a folder");
    std::os::unix::fs::symlink(&target, folder.join("store/.approvals/s1.jsonl")).expect("a link");
    let storage = place.storage();
    let mut session = place.guard.session("s1").storage(&storage).at(START).open().expect("opened");
    let approvals = storage.approvals().expect("a folder");
    let asked = session.at(START).propose_with("1", "pay", CALL, &approvals);
    assert!(asked.is_err(), "{asked:?}");
    assert_eq!(std::fs::read_to_string(&target).expect("read"), "");
}

#[test]
fn a_used_grant_stays_used_when_the_line_of_its_use_is_cut_off() {
    let place = TestStore::new();
    let (approvals, id) = place.asked(CALL);
    approvals.grant(&id, "kim", None, GrantExtent::Once, START).expect("granted");
    let requests = place.folder.path().join("store/.approvals/s1.jsonl");
    let granted = std::fs::read(&requests).expect("a file");
    assert!(place.allowed("first", CALL, START + 1));
    std::fs::write(&requests, &granted).expect("written");
    assert!(!place.allowed("again", CALL, START + 2), "the grant lives again");
    // One more grant is one more call.
    approvals.grant(&id, "kim", None, GrantExtent::Once, START + 3).expect("granted");
    assert!(place.allowed("second", CALL, START + 4));
    assert!(!place.allowed("third", CALL, START + 5));
}
