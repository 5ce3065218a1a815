//! Property tests of the exchanged types, on generated input.

mod main {
    mod json;
    mod load;
    mod values;
}
