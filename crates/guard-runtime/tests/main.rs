//! Tests of the kernel on plans that are built by hand.

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
    mod run;
    mod shadow;
    mod sources;
    mod stopping;
    mod trace;
    mod unreadable;
}
