//! Tests of adapters that hang, crash, flood, send invalid output, or leave a process running: they
//! are reported, and never waited for.
#![cfg(unix)]

use guard_ack::process::AdapterCommand;
use guard_ack::{CaseSuite, Played, TroubleKind, play};
use std::time::Duration;

/// Plays one case against a shell script.
fn played(script: &str) -> (Played, String) {
    let (cases, _) = CaseSuite::bundled().cases(1);
    let case = cases
        .iter()
        .find(|case| case.name == "gate/denied_call_does_not_run")
        .expect("it is there");
    let mut command =
        AdapterCommand::new(["sh", "-c", script].map(str::to_owned).into(), Vec::new());
    command.patience = Duration::from_millis(1500);
    command.startup = command.patience;
    command.quiet = Duration::from_millis(100);
    let (played, seen) = play(case, &command, "suite", 1, &|_| None);
    (played, seen.log.last().cloned().unwrap_or_default())
}

fn errors(script: &str, kind: TroubleKind, says: &str) {
    let (played, _) = played(script);
    let Played::Errored(trouble) = played else { panic!("{script}: {played:?}") };
    assert_eq!(trouble.kind, kind, "{script}: {trouble}");
    assert!(trouble.message.contains(says), "{script}: {trouble}");
}

const HELLO: &str = r#"read line; echo '{"id":1,"result":{"name":"sh","capabilities":{"tool_policies":true}}}'; read line;"#;

#[test]
fn what_goes_wrong_is_an_error_and_no_failure() {
    errors("exec sleep 1000", TroubleKind::Hang, "silent");
    errors("exit 3", TroubleKind::Crash, "exit status 3");
    errors("kill -9 $$", TroubleKind::Crash, "signal 9");
    errors("echo hello; exec sleep 1000", TroubleKind::Message, "not JSON");
    errors(r#"echo '{"id":99,"result":{}}'; exec sleep 1000"#, TroubleKind::Message, "not made");
    errors(
        r#"echo '{"id":1,"result":{"name":"x"}}'; exec sleep 1000"#,
        TroubleKind::Message,
        "capabilities",
    );
    errors(
        r#"echo '{"id":1,"error":{"message":"no guard"}}'; exec sleep 1000"#,
        TroubleKind::Error,
        "no guard",
    );
    errors(
        r#"echo '{"id":1,"result":{"name":"x","capabilities":{"tool_polices":true}}}'; exec sleep 1000"#,
        TroubleKind::Message,
        "did you mean `tool_policies`?",
    );
    errors(
        r#"echo '{"id":"a1","method":"clock.now"}'; exec sleep 1000"#,
        TroubleKind::Message,
        "while nothing runs",
    );
}

#[test]
fn whatever_happens_while_it_runs_too() {
    errors(&format!("{HELLO} exec sleep 1000"), TroubleKind::Hang, "`run`");
    errors(&format!("{HELLO} exit 0"), TroubleKind::Crash, "exit status 0");
    errors(
        &format!(
            "{HELLO} echo '{{\"id\":\"a1\",\"method\":\"tool.execute\",\"params\":{{}}}}'; exec sleep 1000"
        ),
        TroubleKind::Message,
        "cannot be read",
    );
    let ask = r#"{"id":"a1","method":"clock.now"}"#;
    errors(
        &format!("{HELLO} while echo '{ask}'; do read line; done"),
        TroubleKind::Flood,
        "asked more than",
    );
}

#[test]
fn a_line_without_end_is_read_no_further_than_the_cap() {
    errors(
        "head -c 1000000000 /dev/zero | tr '\\0' x; exec sleep 1000",
        TroubleKind::Flood,
        "16 MiB",
    );
}

#[test]
fn standard_error_without_end_hurts_nobody_and_its_end_is_shown() {
    let (played, last) = played("echo the end is near >&2; yes noise >&2 & exec sleep 1000");
    assert!(
        matches!(played, Played::Errored(ref trouble) if trouble.kind == TroubleKind::Hang),
        "{played:?}"
    );
    assert!(last.starts_with("! ") && last.contains("noise") && last.len() < 10_000, "{last}");
}

#[test]
fn nothing_is_left_running() {
    // The process forks, leaves its process group, and ends.
    let mark = format!("{}.25", 70_000 + std::process::id() % 10_000);
    errors(&format!("setsid sleep {mark} & sleep {mark} & exit 0"), TroubleKind::Crash, "");
    let running = std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(|entry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let state = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The process was killed, but its new parent has not reaped it.
        let dead = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
        !dead && String::from_utf8_lossy(&words).contains(&mark)
    });
    assert_eq!(running.count(), 0);
}

#[test]
fn what_is_not_there_is_not_started() {
    let (cases, _) = CaseSuite::bundled().cases(1);
    let command = AdapterCommand::new(vec!["no-such-adapter".into()], Vec::new());
    let (played, _) = play(&cases[0], &command, "suite", 1, &|_| None);
    assert!(matches!(played, Played::Errored(trouble) if trouble.kind == TroubleKind::Start));
}
