//! The near miss: the name that was probably meant.

/// Names longer than this are compared by nobody.
const MAX_CHARS: usize = 64;

/// The candidate with the fewest edits to the name, if they are few; the first of equals in order.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().take(MAX_CHARS + 1).collect();
    if name.len() > MAX_CHARS || name.is_empty() {
        return None;
    }
    let bound = ((name.len() + 1) / 3).max(1);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= bound * 4)
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|(edits, _)| *edits <= bound)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, without regard to case.
fn distance(name: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (i, c) in candidate.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, expected) in name.iter().enumerate() {
            let substituted = diagonal + usize::from(*expected != c);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_and_far() {
        let names = ["deploy", "delete", "lint"];
        let near = |name| nearest(name, names.into_iter());
        assert_eq!(near("deplyo"), Some("deploy"));
        assert_eq!(near("Lint"), Some("lint"));
        assert_eq!(near("test"), None);
        assert_eq!(near(""), None);
    }
}
