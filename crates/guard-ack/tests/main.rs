//! The judge, judged: bad cases, bad processes, the messages that the pages show.

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
