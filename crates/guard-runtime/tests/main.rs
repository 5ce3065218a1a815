//! The kernel on hand-built plans.

mod main {
    mod allocations;
    mod build;
    mod decisions;
    mod evaluate;
    mod trace;
}
