//! Tests that every message in the page is valid.

use guard_ack::protocol::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../../../docs/reference/ack.md");

/// Reads a value as a message, and writes it again. No member may be lost.
fn is<T: DeserializeOwned + Serialize>(value: &Value) {
    let read: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
    assert_eq!(serde_json::to_value(read).unwrap(), *value);
}

fn nothing(value: &Value) {
    assert_eq!(*value, serde_json::json!({}));
}

type Check = fn(&Value);

fn messages() -> BTreeMap<&'static str, (Check, Check)> {
    BTreeMap::from([
        ("hello", (is::<Hello> as Check, is::<Declared> as Check)),
        ("run", (is::<Run>, is::<LoopEnd>)),
        ("snapshot", (is::<OfSession>, is::<SnapshotAnswer>)),
        ("restore", (is::<Restore>, nothing)),
        ("reset", (is::<Reset>, nothing)),
        ("replay", (is::<ReplayRequest>, is::<ReplayAnswer>)),
        ("model.next", (is::<ModelRequest>, is::<ModelTurn>)),
        ("tool.execute", (is::<ModelCall>, is::<Done>)),
        ("clock.now", (nothing, is::<Now>)),
        ("approval.request", (is::<ApprovalRequest>, is::<ApprovalAnswer>)),
        ("probe.read", (is::<ProbeRead>, is::<ProbeAnswer>)),
    ])
}

#[test]
fn every_message_of_the_page_is_one_and_none_is_left_out() {
    let known = messages();
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    let mut shown = BTreeSet::new();
    for line in PAGE.lines().filter(|line| line.starts_with("> {") || line.starts_with("< {")) {
        let value: Value =
            serde_json::from_str(&line[2..]).unwrap_or_else(|error| panic!("{line}: {error}"));
        let id = value["id"].to_string();
        match value["method"].as_str() {
            Some(method) => {
                known[method].0(&value["params"]);
                asked.insert(id, method.to_owned());
            }
            None if value.get("error").is_some() => {}
            None => {
                let method = asked.remove(&id).unwrap_or_else(|| panic!("nobody asked: {line}"));
                known[method.as_str()].1(&value["result"]);
                shown.insert(method);
            }
        }
    }
    assert_eq!(shown, known.keys().map(|name| (*name).to_owned()).collect());
}
