//! Near misses: the name somebody probably meant.

pub use guard_plan::near::nearest;

/// `did you mean …?`, where something is near.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates.into_iter()).map(|near| format!("did you mean `{near}`?"))
}
