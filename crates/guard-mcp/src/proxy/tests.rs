//! Property tests of the proxy with generated and hostile lines.

use super::{DescriptionChange, McpLink, McpProxy, ProxyOptions, ProxyOutput};
use crate::gate::{CallGate, GateAnswer, GuardedCall, GuardedEnding, PersonsAnswer, SettledCall};
use crate::message::IdScanner;
use guard_plan::json::Json;
use guard_plan::plan::Plan;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A gate that gives the same answer to every call, and counts the calls.
struct CountingGate {
    plan: Plan,
    answer: GateAnswer,
    in_flight: BTreeSet<u64>,
    proposed: usize,
}

impl CallGate for CountingGate {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn propose(&mut self, call: &mut GuardedCall, _: bool) -> GateAnswer {
        self.proposed += 1;
        if self.answer == GateAnswer::Allow {
            assert!(self.in_flight.insert(call.number), "a call is proposed once");
        }
        self.answer.clone()
    }

    fn check_again(&mut self, call: &GuardedCall) -> Result<(), String> {
        assert!(self.in_flight.contains(&call.number), "only calls in flight are made again");
        Ok(())
    }

    fn answer(&mut self, _: &GuardedCall, _: &str, _: &PersonsAnswer) -> Result<(), String> {
        Err("nobody".into())
    }

    fn settle(&mut self, call: &GuardedCall, _: &GuardedEnding) -> Result<SettledCall, String> {
        assert!(self.in_flight.remove(&call.number), "a call settles once");
        Ok(SettledCall::default())
    }
}

/// Returns a plan without tools.
fn empty_plan() -> Plan {
    let text = r#"{"edition":1,"guard":"g","shadow":false,"default_allow":true,"deadline":null,"types":[],"state":[],
        "units":[],"limits":[],"regexes":[],"paths":[],"invariants":[],"monitors":[],"indexes":[],"windows":[],"facts":[],
        "commands":[],"probes":[],"sources":[],"origins":false,"mentions":false,"confidential":false,"lifecycles":[],"feedback":[],"attests":[],
        "completion":null,"goals":[],"coercions":[],"contracts":[],"tools":[],"proofs":[]}"#;
    serde_json::from_str(text).expect("a plan")
}

fn proxy(answer: GateAnswer) -> McpProxy<CountingGate> {
    let options = ProxyOptions {
        wait: Duration::from_secs(1),
        call_time: Duration::from_secs(10),
        answer_time: Duration::from_secs(10),
        elicits: true,
        lock: None,
        on_description: DescriptionChange::Warn,
        token: "0123456789abcdef".into(),
    };
    let plan = empty_plan();
    McpProxy::new(CountingGate { plan, answer, in_flight: BTreeSet::new(), proposed: 0 }, options)
}

fn texts(outputs: &[ProxyOutput]) -> (Vec<String>, Vec<String>) {
    let mut client = Vec::new();
    let mut server = Vec::new();
    for output in outputs {
        match output {
            ProxyOutput::ToClient(_, line) => {
                client.push(String::from_utf8_lossy(line).into_owned())
            }
            ProxyOutput::ToServer(_, line) => {
                server.push(String::from_utf8_lossy(line).into_owned())
            }
            ProxyOutput::Note(_) => {}
        }
    }
    (client, server)
}

/// Generates any JSON, in the notation of any program.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,8})?([eE][+-]?[0-9]{1,3})?",
        "[a-zA-Z0-9 /é😀.]{0,12}".prop_map(|text| format!("\"{text}\"")),
        Just("\"\\u00e9\\/\\n\"".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("\"{name}\" :{value}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    })
}

/// Generates a message that does not concern the proxy.
fn unknown(with_id: bool) -> impl Strategy<Value = String> {
    let method =
        "(ping|resources/[a-z]{1,8}|prompts/get|notifications/[x-z]{1,5}|future/[a-z/]{1,9})";
    (method, json(), any::<bool>()).prop_map(move |(method, params, spaced)| {
        let space = if spaced { "  " } else { "" };
        let id = if with_id { format!("\"id\":ID,{space}") } else { String::new() };
        format!(
            "{{{space}{id}\"method\": \"{method}\",\"params\":{params},\"jsonrpc\":\"2.0\"}}{space}"
        )
    })
}

proptest! {
    #[test]
    fn unknown_messages_pass_byte_for_byte_and_in_order(
        requests in prop::collection::vec(unknown(true), 0..6),
        notifications in prop::collection::vec(unknown(false), 0..6),
        results in prop::collection::vec(json(), 6),
        raw in prop::collection::vec(json(), 0..4),
    ) {
        let mut proxy = proxy(GateAnswer::Deny("no".into()));
        let numbered = |(n, line): (usize, &String)| line.replace("ID", &n.to_string());
        let mut lines: Vec<String> = requests.iter().enumerate().map(numbered).collect();
        lines.extend(notifications);
        // A value that is an object or an array could be a message or a batch.
        lines.extend(raw.into_iter().filter(|line| !line.starts_with(['{', '['])));
        for line in &lines {
            let (client, server) = texts(&proxy.client_line(McpLink::default(), line.as_bytes(), Duration::ZERO));
            prop_assert!(client.is_empty(), "{client:?}");
            prop_assert_eq!(server, [format!("{line}\n")]);
        }
        for (n, result) in results.iter().enumerate().take(requests.len()).rev() {
            let line = format!("{{\"result\": {result} ,\"jsonrpc\":\"2.0\", \"id\": {n}}} ");
            let (client, server) = texts(&proxy.server_line(McpLink::default(), line.as_bytes(), Duration::ZERO));
            prop_assert!(server.is_empty(), "{server:?}");
            prop_assert_eq!(client, [format!("{line}\n")]);
        }
    }
}

/// Pieces for hostile lines.
const PIECES: [&str; 36] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"method\"",
    "\"Method\"",
    "\"tools/call\"",
    "\"tools\\/call\"",
    "\"id\"",
    "\"ID\"",
    "1",
    "2",
    "\"1\"",
    "null",
    "\"params\"",
    "{\"name\":\"x\"}",
    "\"result\"",
    "{\"content\":[]}",
    "\"error\"",
    "{}",
    "\"tools/list\"",
    "{\"tools\":[]}",
    "\"jsonrpc\"",
    "\"2.0\"",
    "\\",
    "\"",
    "\u{17f}",
    "\"\\ud800\"",
    " ",
    "\t",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}",
    "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"input_required\",\"requestState\":\"s\"}}",
];

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(&PIECES[..]), 1..9)
            .prop_map(|pieces| pieces.concat().into_bytes()),
        3 => prop::sample::select(&PIECES[32..]).prop_map(|line| line.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..60),
        2 => (prop::sample::select(&["id", "Id", "method", "METHOD", "params", "paramſ"][..]), json()).prop_map(
            |(key, value)| {
                format!(r#"{{"id":1,"{key}":{value},"method":"tools/call","params":{{"name":"x"}}}}"#)
                    .into_bytes()
            }
        ),
    ]
}

/// Returns true if a lenient parser finds a tool call in a line. It ignores case, and uses the last
/// of equal keys.
fn is_call(line: &str) -> bool {
    fn calls(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().any(calls),
            serde_json::Value::Object(members) => members.iter().any(|(key, value)| {
                key.to_uppercase() == "METHOD"
                    && value
                        .as_str()
                        .is_some_and(|text| text.trim().eq_ignore_ascii_case("tools/call"))
            }),
            _ => false,
        }
    }
    serde_json::from_str(line.trim()).is_ok_and(|value| calls(&value))
}

/// Returns the ids for which a line of the client requests an answer.
fn asked(line: &[u8]) -> Vec<String> {
    let of_message = |json: &Json| {
        json.get("id").filter(|_| json.get("method").is_some()).map(ToString::to_string)
    };
    match Json::parse_bytes(line) {
        Ok(Json::Array(messages)) => messages.iter().filter_map(of_message).collect(),
        Ok(json) => of_message(&json).into_iter().collect(),
        Err(_) => {
            let mut scanner = IdScanner::default();
            scanner.feed(line);
            scanner.id().map(|id| id.to_string()).into_iter().collect()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_reader_finds_a_call_that_was_denied(
        lines in prop::collection::vec((any::<bool>(), hostile(), 0u64..4), 1..12),
    ) {
        let mut proxy = proxy(GateAnswer::Deny("no".into()));
        let mut now = Duration::ZERO;
        for (client, line, seconds) in lines {
            now += Duration::from_secs(seconds);
            let mut outputs = proxy.tick(now);
            outputs.extend(if client {
                proxy.client_line(McpLink::default(), &line, now)
            } else {
                proxy.server_line(McpLink::default(), &line, now)
            });
            let (_, server) = texts(&outputs);
            prop_assert!(!server.iter().any(|line| is_call(line)), "{server:?}");
        }
    }

    #[test]
    fn what_is_allowed_is_forwarded_once_and_settles_once(
        answer in prop::sample::select(vec![GateAnswer::Allow, GateAnswer::Wait("later".into())]),
        lines in prop::collection::vec((any::<bool>(), hostile(), 0u64..4), 1..16),
    ) {
        let mut proxy = proxy(answer);
        let mut now = Duration::ZERO;
        let mut forwarded = 0;
        let mut answers: BTreeMap<String, i64> = BTreeMap::new();
        for (client, line, seconds) in lines {
            now += Duration::from_secs(seconds);
            let mut outputs = proxy.tick(now);
            for id in asked(&line).into_iter().filter(|_| client) {
                *answers.entry(id).or_default() += 1;
            }
            outputs.extend(if client {
                proxy.client_line(McpLink::default(), &line, now)
            } else {
                proxy.server_line(McpLink::default(), &line, now)
            });
            let (to_client, to_server) = texts(&outputs);
            forwarded += to_server.iter().filter(|line| is_call(line)).count();
            for line in to_client.iter().filter(|line| !line.trim().is_empty()) {
                let json = Json::parse(line).expect("what the proxy writes is JSON");
                let id = json.get("id").filter(|_| json.get("method").is_none());
                *answers.entry(id.unwrap_or(&Json::Null).to_string()).or_default() -= 1;
            }
        }
        let made_again = forwarded <= proxy.gate.proposed + 16;
        prop_assert!(made_again);
        let (to_client, _) = texts(&proxy.server_ended(now, "over"));
        for line in to_client {
            let json = Json::parse(&line).expect("what the proxy writes is JSON");
            *answers.entry(json.get("id").unwrap_or(&Json::Null).to_string()).or_default() -= 1;
        }
        // No call stays in flight, and no request of the client is answered more often than it was sent.
        prop_assert!(proxy.gate.in_flight.is_empty());
        prop_assert!(proxy.calls.is_empty() && proxy.pending.is_empty());
        for (id, open) in answers.iter().filter(|(id, _)| *id != "null") {
            prop_assert!(*open >= 0, "{id} is answered {open} times too often");
        }
    }
}
