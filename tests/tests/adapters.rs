//! The judge over its line protocol: what it finds in this process, it finds in another.

use crate::cli::build_guardc;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Faults with a case that finds each for its own reason, from the committed matrix.
fn faults() -> Vec<(String, String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ack/matrix.txt");
    let matrix = std::fs::read_to_string(path).expect("the matrix is there");
    let mut faults: Vec<(String, String, String)> = Vec::new();
    for line in matrix.lines() {
        if let Some(row) = line.strip_prefix("    ") {
            let (case, clauses) = row.split_once("  ").expect("a case and its clauses");
            let (_, clause, found) = faults.last_mut().expect("a fault comes first");
            if found.is_empty() && clauses.split(' ').any(|one| one == clause) {
                *found = case.to_owned();
            }
        } else {
            let (clause, rest) = line.split_once(' ').expect("a clause and a fault");
            let (name, _) = rest.split_once(':').expect("a fault and what it is");
            faults.push((name.to_owned(), clause.to_owned(), String::new()));
        }
    }
    faults
}

#[test]
fn faults_die_over_the_line_for_the_same_reason() {
    let guardc = build_guardc();
    for (fault, clause, case) in faults() {
        let out = Command::new(&guardc)
            .args(["ack", "run", "--seed", "20260105", "--format", "json", "--case", &case, "--"])
            .arg(&guardc)
            .args(["ack", "adapter", "--shape", "hooks", "--fault", &fault])
            .stderr(Stdio::null())
            .output()
            .expect("guardc is there");
        assert_eq!(out.status.code(), Some(1), "{fault} passes {case}");
        let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
        let text = report.to_string();
        assert!(text.contains(&format!("\"clause\":\"{clause}\"")), "{fault}: {text}");
    }
}
