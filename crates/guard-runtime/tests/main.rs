//! The kernel on hand-built plans.

mod main {
    mod advice;
    mod advice_laws;
    mod allocations;
    mod build;
    mod decisions;
    mod drive;
    mod drive_laws;
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
    mod wild;
}
