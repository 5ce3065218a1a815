//! Suggests the known word that a misspelled word probably means.

/// Returns the candidate closest to `word`, if it is close enough.
pub(crate) fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let limit = match word.len() {
        0..=2 => return None,
        3..=4 => 1,
        5..=24 => 2,
        _ => return None,
    };
    candidates
        .iter()
        .map(|&candidate| (distance(word.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|&(d, candidate)| d > 0 && d <= limit && d < candidate.len())
        .min_by_key(|&(d, _)| d)
        .map(|(_, candidate)| candidate)
}

/// Returns the number of edits between two words: insertions, deletions, substitutions and swaps of
/// neighbours.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
    }
}
