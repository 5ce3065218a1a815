//! Suggestions of the name that was probably meant.

/// The maximum length of names that are compared, in characters.
const MAX_CHARS: usize = 64;

/// The maximum number of edits between a name and a candidate.
const MAX_EDITS: usize = 3;

/// Returns the candidate with the fewest edits to the name, if they are few. Among equal
/// candidates, returns the first.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().take(MAX_CHARS + 1).count();
    if length > MAX_CHARS || length == 0 {
        return None;
    }
    let bound = (length / 3).clamp(1, MAX_EDITS);
    candidates
        .filter(|candidate| candidate.len().abs_diff(length) <= bound * 4)
        .map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= bound)
        .min()
        .map(|(_, candidate)| candidate)
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
