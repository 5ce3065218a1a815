//! The trace of a session: chained, complete, without secrets.

use super::build::*;
use guard_plan::json::Json;
use guard_plan::record::{Payload, Record, verify_chain};
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
    let mut recorder = Recorder::new(b"salt");
    let mut lines = vec![recorder.open(&kernel, &session).to_vec()];
    let mut step = |session: &mut Session, event: Event<'_>| {
        let outcome = kernel.step(session, &event, &mut NoWorld).unwrap();
        lines.push(recorder.event(&kernel, session, &event, &outcome).to_vec());
    };
    let none = Json::Object(vec![]);
    for tool in ["lint", "build", "test"] {
        step(&mut session, Event::Propose(Proposal { call: "c", tool, args: &none, now: 2_000 }));
        let ending = Ending::Success(None);
        step(&mut session, Event::Settle(Settlement { call: "c", ending, now: 3_000 }));
    }
    let args = Json::parse(r#"{"token": "hush-hush"}"#).unwrap();
    let login = Proposal { call: "l", tool: "login", args: &args, now: 4_000 };
    step(&mut session, Event::Propose(login));
    let ending = Ending::Success(Some(&args));
    step(&mut session, Event::Settle(Settlement { call: "l", ending, now: 5_000 }));
    let args = Json::parse(r#"{"env": "dev", "count": 3}"#).unwrap();
    let deploy = Proposal { call: "d", tool: "deploy", args: &args, now: 6_000 };
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
