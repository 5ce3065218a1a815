//! The tools of an agent behind a guard, in one process. If the process is killed and started
//! again, the session continues.
//!
//! `cargo run -p guard-sdk --example refunds -- FOLDER` stores the session in FOLDER.

use guard_sdk::{Guard, Json, Session, Storage};
use std::{env, error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: refunds FOLDER")?;
    let guard = Guard::from_file("docs/guide/refunds.guard")?;
    let storage = Storage::open(Path::new(&folder))?;
    let mut session = guard.session("demo").storage(&storage).open()?;
    if session.is_resumed() {
        println!("resumed after {} records", session.head().0);
    }
    call(&mut session, "refund", r#"{"order": "A1", "amount": 20}"#)?;
    call(&mut session, "verify_customer", r#"{"code": "123456"}"#)?;
    call(&mut session, "refund", r#"{"order": "A1", "amount": 20}"#)?;
    Ok(())
}

/// Runs a tool if the guard allows the call, and reports the result to the guard.
fn call(session: &mut Session, tool: &str, args: &str) -> Result<(), Box<dyn Error>> {
    let id = format!("call-{}", session.head().0);
    let proposed = session.propose(&id, tool, args)?;
    println!("{tool} {args}: {}", proposed.verdict.decision.as_str());
    if !proposed.verdict.is_allowed() {
        println!("  {}", proposed.verdict.message());
        return Ok(());
    }
    // The real tool would run here, and nowhere else.
    session.settle(&id, Ok(Some(&Json::string("done"))))?;
    Ok(())
}
