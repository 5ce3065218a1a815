//! Laws of what crosses a process, on generated input.

mod main {
    mod json;
    mod load;
    mod values;
}
