//! Deliberate bugs, for the laws to find. Without the feature `mutants` there are none.

/// Whether a bug of this name is switched on: never, without the feature.
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

    /// Whether it is this one.
    pub fn is(name: &str) -> bool {
        ON.get() == name
    }
}

#[cfg(feature = "mutants")]
pub use switch::{is, set};
