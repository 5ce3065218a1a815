//! Deliberate bugs, which the property tests must find. Without the feature `mutants` there are
//! none.

/// Evaluates to true if the planted bug of this name is switched on. Without the feature `mutants`
/// it is always false.
#[macro_export]
macro_rules! mutant {
    ($name:literal) => {{
        #[cfg(feature = "mutants")]
        let on = $crate::mutant::is($name);
        #[cfg(not(feature = "mutants"))]
        let on = false;
        on
    }};
}

#[cfg(feature = "mutants")]
mod switch {
    use std::cell::Cell;

    thread_local! {
        static ON: Cell<&'static str> = const { Cell::new("") };
    }

    /// Switches on one bug in this thread, and switches off all others.
    pub fn set(name: &'static str) {
        ON.set(name);
    }

    /// Returns true if the deliberate bug with this name is switched on.
    pub fn is(name: &str) -> bool {
        ON.get() == name
    }
}

#[cfg(feature = "mutants")]
pub use switch::{is, set};
