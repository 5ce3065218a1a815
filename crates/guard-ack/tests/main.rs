//! Tests of the judge: invalid cases, misbehaving processes, the messages in the pages.

#[path = "main/bad_cases.rs"]
mod bad_cases;
#[path = "main/bad_processes.rs"]
mod bad_processes;
#[path = "main/faults.rs"]
mod faults;
#[path = "main/messages.rs"]
mod messages;
#[path = "main/reports.rs"]
mod reports;
