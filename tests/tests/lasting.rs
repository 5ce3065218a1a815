//! Sessions that outlast the process that began them: killed in the middle, they go on elsewhere as they were.

use crate::cli::build_guardc;
use crate::sidecar::Sidecar;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const GUARD: &str = r#"guard shop
budget money = 100
state { visits: int = 0 }
record Login { code: secret string }
fact codes(code: secret string key) max 10
probe open { returns bool host }
tool log_in(code: secret string max 20) { returns Login trusted learn codes(code: result.code) effect visits += 1 }
tool sell(amount: decimal in 0..=50, code: secret string max 20) {
  requires log_in(code) within 1h
  costs amount money
  deny unless known codes(code)
  ready when probe open
}
"#;

/// A sidecar that keeps its sessions.
struct Shop(Sidecar);

impl Shop {
    fn start(guardc: &Path, store: &Path) -> Shop {
        Shop(Sidecar::start(Command::new(guardc).arg("serve").arg("--journal").arg(store)))
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.0.ask(method, params)
    }

    fn open(&mut self) -> Value {
        let now = "2026-01-05T09:00:00Z";
        self.ask("session.open", json!({ "source": GUARD, "session": "s1", "now": now }))
    }

    fn sell(&mut self, call: &str, amount: u32, code: &str) -> Value {
        let args = json!({ "amount": amount, "code": code });
        let now = "2026-01-05T09:05:00Z";
        let params =
            json!({ "session": "s1", "call": call, "tool": "sell", "args": args, "now": now });
        self.ask("call.propose", params)["verdict"].clone()
    }

    fn settle(&mut self, call: &str, result: Value) -> Value {
        let outcome = "success";
        let now = "2026-01-05T09:06:00Z";
        let params = json!({ "session": "s1", "call": call, "outcome": outcome, "result": result, "now": now });
        self.ask("call.settle", params)
    }

    fn state(&mut self) -> Value {
        self.ask("session.state", json!({ "session": "s1" }))
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lasting").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_killed_session_goes_on_as_it_was() {
    let guardc = build_guardc();
    for store in ["traces", "traces.db"] {
        let store = folder(&format!("killed-{store}")).join(store);
        let mut first = Shop::start(&guardc, &store);
        assert_eq!(first.open()["restored"], json!(false));
        let login = json!({ "session": "s1", "call": "l", "tool": "log_in", "args": { "code": "hunter2" },
            "now": "2026-01-05T09:01:00Z", "probes": { "open": true } });
        assert_eq!(first.ask("call.propose", login)["verdict"], "allow");
        first.settle("l", json!({ "code": "hunter2" }));
        assert_eq!(first.sell("a", 30, "hunter2"), "allow");
        assert_eq!(first.sell("b", 40, "hunter2"), "allow");
        first.settle("a", Value::Null);
        let state = first.state();
        drop(first);

        let mut second = Shop::start(&guardc, &store);
        let opened = second.open();
        assert_eq!((&opened["restored"], &opened["in_flight"]), (&json!(true), &json!(["b"])));
        assert_eq!(second.state(), state);
        assert_eq!(second.sell("c", 40, "hunter2"), "deny", "70 of 100 are spent");
        assert_eq!(second.sell("d", 1, "hunter3"), "deny", "with this code nobody has logged in");
        assert_eq!(second.sell("e", 30, "hunter2"), "allow");
        drop(second);

        let kept = std::fs::read_dir(store.parent().expect("a folder")).expect("it is there");
        let files = kept.flat_map(|entry| match entry.expect("an entry").path() {
            path if path.is_dir() => std::fs::read_dir(path)
                .expect("a folder")
                .map(|entry| entry.expect("an entry").path())
                .collect(),
            path => vec![path],
        });
        for file in files {
            let bytes = std::fs::read(&file).expect("it can be read");
            let holds = bytes.windows(7).any(|window| window == b"hunter2");
            assert!(!holds, "a secret stands in {}", file.display());
        }
    }
}

#[test]
fn two_processes_share_a_session_in_a_database() {
    let guardc = build_guardc();
    let store = folder("shared").join("traces.db");
    let mut one = Shop::start(&guardc, &store);
    let mut two = Shop::start(&guardc, &store);
    one.open();
    assert_eq!(two.open()["restored"], json!(true));
    let login = json!({ "session": "s1", "call": "l", "tool": "log_in", "args": { "code": "x" },
        "now": "2026-01-05T09:01:00Z", "probes": { "open": true } });
    assert_eq!(one.ask("call.propose", login)["verdict"], "allow");
    two.settle("l", json!({ "code": "x" }));
    // Neither knows of what the other did but through the store.
    assert_eq!(one.sell("a", 40, "x"), "allow");
    assert_eq!(two.sell("b", 40, "x"), "allow");
    assert_eq!(one.sell("c", 40, "x"), "deny");
    assert_eq!(two.sell("d", 20, "x"), "allow");
    assert_eq!(one.state(), {
        one.sell("e", 1, "x");
        two.sell("f", 1, "x");
        two.state()
    });
}

#[test]
fn sessions_share_a_budget_of_their_store() {
    let guardc = build_guardc();
    let store = folder("budget").join("traces.db");
    let mut sidecar = Shop::start(&guardc, &store);
    let open = |id: &str| {
        json!({ "source": "guard g\nbudget money = 100\ntool buy(amount: decimal in 0..=50) { costs amount money }",
            "session": id, "shared": { "money": { "budget": "team", "limit": "60" } } })
    };
    let buy = |id: &str, call: &str, amount: u32| json!({ "session": id, "call": call, "tool": "buy", "args": { "amount": amount } });
    sidecar.ask("session.open", open("s1"));
    sidecar.ask("session.open", open("s2"));
    assert_eq!(sidecar.ask("call.propose", buy("s1", "a", 40))["verdict"], "allow");
    let refused = sidecar.ask("call.propose", buy("s2", "b", 40));
    assert_eq!(refused["data"]["code"], "over_budget", "{refused}");
    // It was not made, and the session goes on as if it had not been asked for.
    assert_eq!(sidecar.ask("call.propose", buy("s2", "b", 20))["verdict"], "allow");
}
