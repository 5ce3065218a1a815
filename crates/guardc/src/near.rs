//! Near misses: the name that was probably meant.

pub use guard_plan::near::nearest;

/// Returns `did you mean …?`, if another name is near.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let others = candidates.into_iter().filter(|candidate| *candidate != word);
    nearest(word, others).map(|near| format!("did you mean `{near}`?"))
}
