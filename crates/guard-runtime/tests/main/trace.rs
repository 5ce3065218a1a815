//! Tests of the trace of a session: chained, complete, without secrets.

use super::build::*;
use super::live::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::{Payload, Record, RunEnd, verify_chain};
use guard_runtime::*;

#[test]
fn a_session_is_recorded() {
    let mut plan = deployment(0);
    let mut login = tool("login", &[("token", STRING)]);
    login.returns = Some(SECRETIVE);
    plan.tools.insert(3, login);
    for requires in plan.tools.iter_mut().flat_map(|tool| &mut tool.requires) {
        requires.any_of[0].tool += u32::from(requires.any_of[0].tool == 3);
    }
    let kernel = kernel(plan);
    let mut session = kernel.open("s1", 1_000, "/ws").unwrap();
    let mut recorder = Recorder::new(std::sync::Arc::new(Salt::new(b"salt")));
    let mut lines = vec![recorder.open(&kernel, &session, None).to_vec()];
    let mut step = |session: &mut SessionState, event: Event<'_>| {
        let outcome = kernel.step(session, &event, &mut NoWorld).unwrap();
        lines.push(recorder.event(&kernel, session, &event, &outcome).to_vec());
    };
    let none = Json::Object(vec![]);
    for tool in ["lint", "build", "test"] {
        step(
            &mut session,
            Event::Propose(Proposal { call: "c", tool, args: (&none).into(), now: 2_000 }),
        );
        let ending = Ending::Success(None);
        step(&mut session, Event::Settle(Settlement { call: "c", ending, now: 3_000 }));
    }
    let args = Json::parse(r#"{"token": "hush-hush"}"#).unwrap();
    let login = Proposal { call: "l", tool: "login", args: (&args).into(), now: 4_000 };
    step(&mut session, Event::Propose(login));
    let ending = Ending::Success(Some(&args));
    step(&mut session, Event::Settle(Settlement { call: "l", ending, now: 5_000 }));
    let args = Json::parse(r#"{"env": "dev", "count": 3}"#).unwrap();
    let deploy = Proposal { call: "d", tool: "deploy", args: (&args).into(), now: 6_000 };
    step(&mut session, Event::Propose(deploy));
    let ending = Ending::Success(None);
    step(&mut session, Event::Settle(Settlement { call: "d", ending, now: 7_000 }));

    let lines: Vec<String> =
        lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect();
    let verified = verify_chain(lines.iter().map(String::as_str)).unwrap();
    assert_eq!((verified.records, &verified.hash), (11, recorder.hash()));
    assert!(lines.iter().all(|line| !line.contains("hush")));
    let payload = |at: usize| Record::parse(&lines[at]).unwrap().payload;
    let Payload::Open(open) = payload(0) else { panic!() };
    assert_eq!(open.plan, kernel.loaded().hash_text());
    let Payload::Settle(settle) = payload(10) else { panic!() };
    let change = &settle.changes[0];
    assert_eq!(
        (&*change.name, &change.before, &change.after),
        ("replicas", &Json::Int(0), &Json::Int(3))
    );
    assert!(
        lines[10]
            .starts_with(r#"{"seq":10,"time":"1970-01-01T00:00:07Z","kind":"settle","call":"d""#)
    );
}

#[test]
fn what_may_be_a_secret_is_none_of_the_trace() {
    let mut plan = plan();
    let list = plan.types.len() as TypeId;
    plan.types.push(TypeDef::List { of: SECRETIVE, max: None });
    let mut login = tool("login", &[("token", STRING), ("user", STRING)]);
    login.returns = Some(list);
    plan.tools.push(login);
    let kernel = kernel(plan);
    let mut session = kernel.open("s1", 1_000, "/ws").unwrap();
    let mut recorder = Recorder::new(std::sync::Arc::new(Salt::new(b"salt")));
    let mut record = |session: &mut SessionState, event: Event<'_>| {
        let outcome = kernel.step(session, &event, &mut NoWorld).unwrap();
        let line = recorder.event(&kernel, session, &event, &outcome).to_vec();
        String::from_utf8(line).unwrap()
    };
    // The tool or the parameter is misspelt.
    for (tool, args) in [
        ("logn", r#"{"token": "hush", "user": "kim"}"#),
        ("login", r#"{"tokn": "hush", "user": "kim"}"#),
        ("login", r#"{"token": ["hush"], "user": "kim"}"#),
    ] {
        let args = Json::parse(args).unwrap();
        let proposal = Proposal { call: "c", tool, args: (&args).into(), now: 2_000 };
        let line = record(&mut session, Event::Propose(proposal));
        assert!(line.contains("deny") && line.contains("kim") && !line.contains("hush"), "{line}");
    }
    // The result has another type than the declared one, which marks the secret.
    for result in [r#"{"token": "hush"}"#, r#"["hush"]"#, r#""hush""#, r#"[{"tokn": "hush"}]"#] {
        let args = Json::parse(r#"{"token": "x", "user": "kim"}"#).unwrap();
        let proposal = Proposal { call: "c", tool: "login", args: (&args).into(), now: 2_000 };
        record(&mut session, Event::Propose(proposal));
        let result = Json::parse(result).unwrap();
        let ending = Ending::Success(Some(&result));
        let settlement = Settlement { call: "c", ending, now: 3_000 };
        let line = record(&mut session, Event::Settle(settlement));
        assert!(!line.contains("hush"), "{line}");
    }
}

/// Returns a guard with most kinds of entities that concern a session.
pub fn whole() -> Plan {
    let mut plan = with_todos(plan_of(&["a.md"]));
    plan.commands.push(command("cargo test"));
    plan.probes.push(probe("up", BOOL));
    plan.tools[4].ready.push(Ready { rule: rule("work"), probe: 0 });
    plan.feedback = vec![
        provider("file", vec![Trigger::Created(0)], "It is there."),
        provider("twos", vec![Trigger::Calls(2)], "Two more."),
    ];
    let check = |kind| Check { kind, text: "it".into(), span: 0 };
    let checks = vec![
        check(CheckKind::File(0)),
        check(CheckKind::Command(0, 0)),
        check(CheckKind::All(vec![0, 1])),
    ];
    plan.completion = Some(Completion { span: 0, at_most: 3, checks: Checks(checks) });
    plan
}

/// Plays a session with events of most kinds and returns its records.
pub fn played(kernel: &Kernel, world: &mut dyn World) -> Vec<String> {
    let mut session = kernel.open_with("s", 0, "/ws", Some(&Json::Int(1))).unwrap();
    let mut recorder = Recorder::new(std::sync::Arc::new(Salt::new(b"salt")));
    let mut lines = vec![recorder.open(kernel, &session, None).to_vec()];
    let criteria = r#"[{"file": "a.md"}, {"command": ["cargo", "test"]}]"#;
    let create = format!(r#"{{"content": "x", "criteria": {criteria}}}"#);
    let [create, none, start, claim] = [
        create.as_str(),
        "{}",
        r#"{"id": "todo-1"}"#,
        r#"{"id": "todo-1", "evidence": [{"call": "w"}, {"file": "a.md"}]}"#,
    ]
    .map(|text| Json::parse(text).unwrap());
    fn call<'a>(call: &'a str, tool: &'a str, args: &'a Json, now: i64) -> Event<'a> {
        Event::Propose(Proposal { call, tool, args: args.into(), now })
    }
    let end = Ending::Success(None);
    let by = Move { item: "todo-1", transition: "return", by: "ann", reason: Some("no"), now: 9 };
    let events = [
        Event::Prompt(UserPrompt { text: "do it", now: 1 }),
        call("c1", "todo_create", &create, 2),
        call("w", "wire.work", &none, 3),
        Event::Settle(Settlement { call: "w", ending: end, now: 3 }),
        call("c2", "todo_start", &start, 4),
        call("c3", "todo_claim", &claim, 5),
        Event::Stop(StopAttempt { reason: Some("done"), now: 6 }),
        Event::Verify(Verify { item: "todo-1", now: 7 }),
        Event::Move(by),
        call("c4", "todo_start", &claim, 10),
    ];
    for event in events {
        let outcome = kernel.step(&mut session, &event, world).unwrap();
        lines.push(recorder.event(kernel, &session, &event, &outcome).to_vec());
    }
    lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
}

#[test]
fn a_whole_session_is_recorded() {
    let kernel = kernel(whole());
    let mut world = Small::default();
    world.probes.insert("up".into(), Json::Bool(true));
    world.files.insert("/ws/a.md".into(), "text".into());
    world.runs.insert("cargo test".into(), ran(RunEnd::Exited(1), "1 failed"));
    let lines = played(&kernel, &mut world);
    assert_eq!(verify_chain(lines.iter().map(String::as_str)).unwrap().records, 11);
    let records: Vec<Record> = lines.iter().map(|line| Record::parse(line).unwrap()).collect();
    let Payload::Propose(create) = &records[2].payload else { panic!() };
    assert_eq!(create.items[0].transition.as_deref(), Some("create"));
    assert_eq!(create.feedback[0].provider, "file");
    let Payload::Propose(claim) = &records[6].payload else { panic!() };
    assert_eq!(claim.served.as_ref().unwrap().to_string(), r#"{"id":"todo-1","state":"claimed"}"#);
    let Payload::Stop(stop) = &records[7].payload else { panic!() };
    assert_eq!(stop.missing[0].message, "`cargo test` exits 1, not 0\n  | 1 failed");
    assert!(lines[8].contains(
        r#""payload":{"item":"todo-1","transition":null,"change":{"item":"todo-1","lifecycle":"todo","actor":"harness","by":"verify","transition":"reject","before":"claimed","after":"in_progress","reasons":["#
    ));
    // A plain refusal has the same text as before.
    assert!(lines[10].contains(r#""asked":[]},"prev""#), "{}", lines[10]);
}

#[test]
fn a_record_answers_for_the_world() {
    let kernel = kernel(whole());
    let mut world = Small::default();
    world.probes.insert("up".into(), Json::Bool(true));
    world.files.insert("/ws/a.md".into(), "text".into());
    world.runs.insert("cargo test".into(), ran(RunEnd::TimedOut, "…"));
    let lines = played(&kernel, &mut world);
    // All questions of all events: the world of this session never changed.
    let mut asked = Vec::new();
    for line in &lines {
        match Record::parse(line).unwrap().payload {
            Payload::Propose(propose) => asked.extend(propose.asked.into_owned()),
            Payload::Settle(settle) => asked.extend(settle.asked.into_owned()),
            Payload::Stop(stop) => asked.extend(stop.asked.into_owned()),
            Payload::Item(item) => asked.extend(item.asked.into_owned()),
            _ => {}
        }
    }
    assert_eq!(played(&kernel, &mut Recalled(&asked)), lines);
}
