//! The kernel on hand-built plans.

mod main {
    mod build;
    mod decisions;
    mod trace;
}
