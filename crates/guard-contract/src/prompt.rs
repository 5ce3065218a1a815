//! A contract in words, for the producer.

use guard_plan::plan::Plan;

/// What a producer should be told; empty where the plan has no such contract.
pub fn prompt(_plan: &Plan, _contract: usize) -> String {
    String::new()
}
