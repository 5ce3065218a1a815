//! Suggests the name that was probably meant.

/// The maximum length of a compared name, in characters.
const MAX_CHARS: usize = 64;

/// The maximum number of edits between a name and its suggestion, for any length.
const MAX_EDITS: usize = 3;

/// Returns the candidate with the fewest edits to the name, if they are few; the first of equals.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().take(MAX_CHARS + 1).collect();
    if name.len() > MAX_CHARS || name.is_empty() {
        return None;
    }
    let bound = ((name.len() + 1) / 3).clamp(1, MAX_EDITS);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= bound * 4)
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|(edits, _)| *edits <= bound)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Counts insertions, deletions, replacements and swaps of neighbours, ignoring case.
fn distance(name: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=name.len()).collect();
    for i in 1..=candidate.len() {
        let mut row = vec![i];
        for j in 1..=name.len() {
            let replaced = last[j - 1] + usize::from(candidate[i - 1] != name[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1
                && j > 1
                && candidate[i - 1] == name[j - 2]
                && candidate[i - 2] == name[j - 1];
            if swapped {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[name.len()]
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
        assert_eq!(near("dpeloy"), Some("deploy"));
        assert_eq!(near("test"), None);
        assert_eq!(near(""), None);
    }
}
