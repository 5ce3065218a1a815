//! Least lengths, which no type can state.

/// The least length of a parameter, as a clause because no type can state it.
pub(super) struct LeastLength {
    pub least: i64,
    /// The reason for the denial, after the parameter's name.
    pub what: &'static str,
}

impl LeastLength {
    /// Returns the clause. An option has no length where it is missing.
    pub fn clause(&self, param: &str, optional: bool) -> String {
        let LeastLength { least, what } = self;
        let present = if optional { format!("{param} is some and ") } else { String::new() };
        format!("deny when {present}len({param}) < {least} because \"{param} {what}\"")
    }
}
