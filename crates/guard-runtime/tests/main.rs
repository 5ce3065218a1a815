//! The kernel on hand-built plans.

mod main {
    mod allocations;
    mod build;
    mod decisions;
    mod evaluate;
    mod feedback;
    mod hostile;
    mod lifecycles;
    mod live;
    mod prepared;
    mod probes;
    mod shadow;
    mod sources;
    mod stopping;
    mod trace;
    mod unreadable;
}
