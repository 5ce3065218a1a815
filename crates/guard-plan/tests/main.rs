//! Property tests of the exchanged types, on generated input.

mod main {
    mod full_plan;
    mod json;
    mod load;
    mod unsound;
    mod values;
}
