//! Durable sessions, from the point of view of a host.

use guard_sdk::{
    Code, Decision, Guard, GuardCache, Json, Session, SessionError, SharedBudget, Storage,
};
use std::path::Path;
use std::process::Command;

const GUARD: &str = "guard demo\n\
    budget usd = 10\n\
    tool check()\n\
    tool pay(amount: decimal in 0..=9) {\n  requires check\n  costs amount usd\n}\n";

/// The environment variable that makes this test's own executable act as the agent that is killed.
const CHILD: &str = "GUARD_SDK_TEST_FOLDER";

fn guard() -> Guard {
    Guard::compile("demo.guard", GUARD).expect("the guard compiles")
}

fn open(guard: &Guard, folder: &Path) -> Session {
    let storage = Storage::open(&folder.join("sessions.db")).expect("a store");
    guard.session("s1").storage(&storage).open().expect("a session")
}

fn allowed(session: &mut Session, call: &str, tool: &str, args: &str) -> bool {
    session.propose(call, tool, args).expect("a verdict").verdict.is_allowed()
}

/// Acts as an agent up to an allowed call, and exits without settling it.
#[test]
fn agent_that_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let mut session = open(&guard(), Path::new(&folder));
    assert!(allowed(&mut session, "c1", "check", "{}"));
    session.settle("c1", Ok(None)).expect("settled");
    assert!(allowed(&mut session, "c2", "pay", r#"{"amount": 6}"#));
    std::process::abort();
}

#[test]
fn a_killed_session_goes_on_with_history_budget_and_calls_in_flight() {
    let folder = tempfile::tempdir().expect("a folder");
    let executable = std::env::current_exe().expect("this test");
    let mut child = Command::new(executable);
    child.args(["--exact", "agent_that_is_killed"]).env(CHILD, folder.path());
    assert!(!child.output().expect("the child runs").status.success());

    let mut session = open(&guard(), folder.path());
    assert!(session.is_resumed());
    assert_eq!(session.in_flight(), ["c2"]);
    let over = session.propose("c3", "pay", r#"{"amount": 6}"#).expect("a verdict");
    assert_eq!(over.verdict.reasons[0].code, Code::Budget);
    session.settle("c2", Ok(None)).expect("the call of the killed process is settled");
    assert!(allowed(&mut session, "c4", "pay", r#"{"amount": 4}"#));
}

#[test]
fn every_outcome_comes_with_the_record_that_the_store_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = open(&guard(), folder.path());
    let denied = session.propose("c1", "pay", r#"{"amount": 1}"#).expect("a verdict");
    let records = session.records().expect("records");
    assert_eq!(records.last().map(String::as_str), Some(denied.record()));
}

#[test]
fn arguments_that_cannot_be_read_are_denied_and_on_record_also_where_unknown_tools_pass() {
    let source = "guard open\ndefault allow\ntool check()\n";
    let guard = Guard::compile("open.guard", source).expect("the guard compiles");
    let mut session = guard.session("s1").open().expect("a session");
    for (call, tool) in [("c1", "check"), ("c2", "undeclared")] {
        let proposed = session.propose(call, tool, r#"{"a": 1, "a": 2}"#).expect("a verdict");
        assert_eq!(proposed.verdict.decision, Decision::Deny);
        assert!(proposed.verdict.message().starts_with("the arguments cannot be read"));
        assert!(
            proposed.record().contains("the arguments cannot be read"),
            "{}",
            proposed.record()
        );
    }
    let records = session.records().expect("records");
    let again = guard.session("s1").trace(&records).open().expect("the trace is this guard's");
    assert_eq!(again.head(), session.head());
}

#[test]
fn a_result_of_an_undeclared_tool_keeps_no_member_with_the_name_of_a_secret() {
    let source = "guard open\ndefault allow\ntool login(pw: secret string)\n";
    let guard = Guard::compile("open.guard", source).expect("the guard compiles");
    let mut session = guard.session("s1").open().expect("a session");
    assert!(allowed(&mut session, "c1", "other", "{}"));
    let result = Json::parse(r#"{"users": [{"pw": "hunter2", "name": "ann"}]}"#).expect("JSON");
    let settled = session.settle("c1", Ok(Some(&result))).expect("settled");
    assert!(!settled.record().contains("hunter2"), "{}", settled.record());
    assert!(settled.record().contains("ann"), "{}", settled.record());
}

#[test]
fn two_holders_of_one_session_see_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard();
    let mut first = open(&guard, folder.path());
    let mut second = open(&guard, folder.path());
    assert!(allowed(&mut first, "c1", "check", "{}"));
    first.settle("c1", Ok(None)).expect("settled");
    assert!(allowed(&mut second, "c2", "pay", r#"{"amount": 6}"#));
    assert!(!allowed(&mut first, "c3", "pay", r#"{"amount": 6}"#));
}

#[test]
fn a_shared_budget_refuses_with_an_error_and_the_session_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = Storage::open(&folder.path().join("sessions.db")).expect("a store");
    let budget = SharedBudget { unit: "usd".into(), key: "team".into(), limit: 5_000_000 };
    let guard = guard();
    let mut session =
        guard.session("s1").storage(&storage).share(budget.clone()).open().expect("a session");
    assert!(allowed(&mut session, "c1", "check", "{}"));
    session.settle("c1", Ok(None)).expect("settled");
    let refused = session.propose("c2", "pay", r#"{"amount": 6}"#);
    assert!(matches!(refused, Err(SessionError::OverBudget(key, 0)) if key == "team"));
    assert!(allowed(&mut session, "c3", "pay", r#"{"amount": 4}"#));
    for (bad, expected) in [
        (
            SharedBudget { unit: "usdd".into(), ..budget.clone() },
            "the guard has no unit `usdd`; did you mean `usd`?",
        ),
        (SharedBudget { limit: -1, ..budget }, "the limit of the shared budget `team` is negative"),
    ] {
        let error = guard.session("s2").storage(&storage).share(bad).open().err();
        assert_eq!(error.expect("an error").to_string(), expected);
    }
}

#[test]
fn a_root_is_an_absolute_path() {
    let guard = guard();
    let error = guard.session("s1").root("site").open().err().expect("an error");
    assert_eq!(error.to_string(), "the workspace `site` is not an absolute path");
    guard.session("s1").root("/home/ann/site").open().expect("an absolute path");
}

#[test]
fn records_of_another_session_or_guard_are_refused() {
    let guard = guard();
    let mut session = guard.session("s1").open().expect("a session");
    assert!(allowed(&mut session, "c1", "check", "{}"));
    let records = session.records().expect("records");
    let other = guard.session("s2").trace(&records).open().err().expect("another id");
    assert_eq!(other.code(), "journal_mismatch");
    let stricter = Guard::compile("demo.guard", "guard demo\ntool check()\n").expect("compiles");
    let other = stricter.session("s1").trace(&records).open().err().expect("another plan");
    assert_eq!(other.code(), "journal_mismatch");
    let snapshot = session.snapshot().expect("a snapshot");
    for cut in [0, 7, 39, snapshot.len() - 1] {
        assert!(guard.session("s1").snapshot(&snapshot[..cut]).open().is_err());
    }
}

#[test]
fn a_cached_guard_is_compiled_again_when_a_file_that_it_uses_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("a.guard");
    let used = folder.path().join("b.guard");
    std::fs::write(&root, "guard a\nuse \"b.guard\"\ntool t(x: Kind)\n").expect("written");
    std::fs::write(&used, "type Kind = int in 0..=1\n").expect("written");
    let cache = GuardCache::new(4);
    let first = cache.load(&root).expect("compiles").plan_hash();
    assert_eq!(cache.load(&root).expect("cached").plan_hash(), first);
    std::fs::write(&used, "type Kind = int in 0..=2\n").expect("written");
    assert_ne!(cache.load(&root).expect("compiles again").plan_hash(), first);
}

#[cfg(unix)]
#[test]
fn a_used_file_is_a_regular_file_below_the_project() {
    let outside = tempfile::tempdir().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret.guard");
    std::fs::write(&secret, "type Kind = int\n").expect("written");
    std::os::unix::fs::symlink(&secret, folder.path().join("b.guard")).expect("linked");
    let root = folder.path().join("a.guard");
    std::fs::write(&root, "guard a\nuse \"b.guard\"\ntool t(x: Kind)\n").expect("written");
    let error = Guard::from_file(&root).expect_err("refused").to_string();
    assert!(error.contains("it is a link to a place outside the project"), "{error}");
    let error = Guard::from_file("/dev/zero").expect_err("refused").to_string();
    assert!(error.contains("it is not a regular file"), "{error}");
}

#[test]
fn guards_and_sessions_cross_threads() {
    fn check<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<Guard>();
    shared::<GuardCache>();
    shared::<Storage>();
    check::<Session>();
}

#[test]
fn approvals_are_for_exactly_one_call() {
    let source = "guard demo\ntool pay(amount: int) { approval boss }";
    let guard = Guard::compile("demo.guard", source).expect("compiles");
    let mut session = guard.session("s1").open().expect("a session");
    let args = Json::parse(r#"{"amount": 5}"#).expect("JSON");
    assert_eq!(session.preview("pay", &args).verdict.decision, Decision::Ask);
    session.approve("pay", &args, "boss", "kim", None).expect("approved");
    assert!(allowed(&mut session, "c1", "pay", r#"{"amount": 5}"#));
    assert!(!allowed(&mut session, "c2", "pay", r#"{"amount": 5}"#));
}

#[test]
fn times_that_no_record_can_hold_are_refused_before_anything_happens() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = Guard::compile("demo.guard", "guard demo\ntool pay() { approval boss }").unwrap();
    let storage = Storage::open(folder.path()).expect("a store");
    let code = |error: SessionError| error.code();
    let late = guard.session("late").at(i64::MAX).storage(&storage).open().err();
    assert_eq!(late.map(code), Some("bad_time"));
    let mut session = guard.session("s1").storage(&storage).open().expect("a session");
    let nothing = Json::parse("{}").unwrap();
    let approved = session.approve("pay", &nothing, "boss", "kim", Some(i64::MAX));
    assert_eq!(approved.map(|_| ()).map_err(code), Err("bad_time"));
    for time in [i64::MIN, i64::MAX, 253_402_300_800_000] {
        let proposed = session.at(time).propose("1", "pay", "{}");
        assert_eq!(proposed.map(|_| ()).map_err(code), Err("bad_time"));
    }
    let last = session.at(253_402_214_399_999).approve("pay", &nothing, "boss", "kim", None);
    last.expect("the last day but one is recorded, and so is the end of the approval");
    drop(session);
    let session = guard.session("s1").storage(&storage).open().expect("the session resumes");
    assert_eq!(session.head().0, 2);
}

#[test]
fn arguments_and_results_beyond_every_line_of_a_trace_are_unreadable() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard();
    let mut session = open(&guard, folder.path());
    let long = format!(r#"{{"amount": "{}"}}"#, "x".repeat(16 << 20));
    let refused = session.propose("1", "pay", &long).expect("a verdict");
    assert_eq!(refused.verdict.reasons[0].code, Code::InvalidArguments);
    assert!(refused.verdict.message().contains("longer than 16 MiB"));
    assert!(refused.record().len() < 100_000);
    assert!(allowed(&mut session, "2", "check", "{}"));
    let settled = session.settle_text("2", &long).expect("a settlement");
    assert!(settled.record().len() < 100_000);
    assert!(!allowed(&mut session, "3", "pay", r#"{"amount": 1}"#), "`check` has not succeeded");
    // A value is not read from a text: the store refuses its record, and nothing of it happened.
    let value = Json::string(&"x".repeat(64 << 20));
    let error = session.propose("4", "check", &value).map(|_| ()).expect_err("too long");
    assert!(error.to_string().contains("longer than 64 MiB"), "{error}");
    drop(session);
    assert_eq!(open(&guard, folder.path()).head().0, 5);
}

#[test]
fn a_session_that_another_process_upgraded_refuses_every_event() {
    let folder = tempfile::tempdir().expect("a folder");
    let tighter = GUARD.replace("costs amount usd", "costs amount usd\n  limit 1 per session");
    let (old, new) = (guard(), Guard::compile("demo.guard", tighter).expect("the guard compiles"));
    let mut ours = open(&old, folder.path());
    let mut theirs = open(&old, folder.path());
    ours.upgrade(&new).expect("the new guard is tighter");
    let code = |error: SessionError| error.code();
    let first = theirs.propose("1", "check", "{}").map(|_| ()).map_err(code);
    assert_eq!(first, Err("journal_mismatch"));
    let second = theirs.propose("2", "check", "{}").map(|_| ()).map_err(code);
    assert_eq!(second, Err("journal_failed"));
    assert_eq!(theirs.refresh().map_err(code), Err("journal_failed"));
    assert!(allowed(&mut ours, "1", "check", "{}"));
}

#[test]
fn a_trace_is_not_given_to_a_session_in_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = Storage::open(&folder.path().join("new/folders/sessions.db")).expect("a store");
    let guard = guard();
    let lines = guard.session("s1").open().and_then(|session| session.records()).expect("a trace");
    let error = guard.session("s1").storage(&storage).trace(&lines).open().err();
    let error = error.expect("an error");
    assert_eq!(error.code(), "invalid_params");
    assert_eq!(format!("{error:?}"), error.to_string(), "`main` prints the `Debug` form");
    let error = Storage::open(Path::new("")).err().expect("no path is no store");
    assert_eq!(format!("{error:?}"), error.to_string());
}
