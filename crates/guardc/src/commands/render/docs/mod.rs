//! x
use guard_plan::LoadedPlan;
pub fn docs(_: &LoadedPlan) -> String {
    String::new()
}
