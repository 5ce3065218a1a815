//! Suggestions of the known word that a misspelled word probably means.

/// Returns the candidate closest to `word`, if it is close enough. A short word must begin with the
/// same letter: `for` is not suggested for `or`.
pub(crate) fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let limit = match word.len() {
        0..=2 => return None,
        3..=4 => 1,
        5..=24 => 2,
        _ => return None,
    };
    let alike = |candidate: &str| word.len() > 4 || candidate.chars().next() == word.chars().next();
    candidates
        .iter()
        .filter(|candidate| alike(candidate))
        .map(|&candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|&(d, candidate)| d > 0 && d <= limit && d < candidate.len())
        .min_by_key(|&(d, _)| d)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["tool", "requires", "invariant", "deny", "limit"];
        assert_eq!(nearest("tol", &words), Some("tool"));
        assert_eq!(nearest("requries", &words), Some("requires"));
        assert_eq!(nearest("invarient", &words), Some("invariant"));
        assert_eq!(nearest("dney", &words), Some("deny"));
        assert_eq!(nearest("deploy", &words), None);
        assert_eq!(nearest("deny", &words), None);
        assert_eq!(nearest("for", &["or", "for_all"]), None);
    }
}
