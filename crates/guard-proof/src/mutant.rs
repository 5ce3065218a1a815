//! Deliberate bugs, for the laws to find. Without the feature `mutants` there are none.

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

    /// Switches a bug on in this thread, and all others off.
    pub fn set(name: &'static str) {
        ON.set(name);
    }

    /// Returns true if the planted bug of this name is the one that is switched on.
    pub fn is(name: &str) -> bool {
        ON.get() == name
    }
}

#[cfg(feature = "mutants")]
pub use switch::{is, set};
