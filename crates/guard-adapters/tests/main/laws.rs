//! Laws over all cases.
