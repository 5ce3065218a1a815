//! Paths into results, and the trusted paths of a tool's result.

use crate::plan::Trust;

/// A path into a result: member names, and [`ELEMENT`] for an element where only `json` is known.
pub(super) type Path = Vec<String>;

/// The path step for an element of a value that may be a list or an object. No member has this
/// name.
pub const ELEMENT: &str = "[*]";

/// Returns the members on a path. Lists on the path are not counted.
pub(super) fn members(path: &[String]) -> impl Iterator<Item = &String> {
    path.iter().filter(|step| *step != ELEMENT)
}

impl Trust {
    /// Returns true if everything at and below a path is trusted, for all elements ([`ELEMENT`]) on
    /// the path.
    pub fn vouches_for(&self, path: &[String]) -> bool {
        let members: Path = path.iter().filter(|step| *step != ELEMENT).cloned().collect();
        let around = self.parts.iter().filter(|(part, _)| members.starts_with(part));
        let nearest = around.max_by_key(|(part, _)| part.len());
        let other = |part: &Path| !members.starts_with(part) && meets(part, path);
        nearest.map_or(self.whole, |(_, trusted)| *trusted)
            && self.parts.iter().all(|(part, trusted)| *trusted || !other(part))
    }

    /// Returns true if something at or below a path is untrusted by a rule of more than `depth`
    /// members. The longest path decides.
    pub fn denies_within(&self, depth: usize, path: &[String]) -> bool {
        let denies =
            |(part, trusted): &(Path, bool)| !trusted && part.len() > depth && meets(part, path);
        self.parts.iter().any(denies)
    }

    /// Returns true if the set of elements at a path is trusted. The content of the elements may be
    /// untrusted.
    pub fn vouches_for_range(&self, path: &[String]) -> bool {
        // An element may be any member.
        if path.iter().any(|step| step == ELEMENT) {
            return self.vouches_for(path);
        }
        let around = self.parts.iter().filter(|(part, _)| path.starts_with(part));
        around.max_by_key(|(part, _)| part.len()).map_or(self.whole, |(_, trusted)| *trusted)
    }
}

/// Returns true if one path may lie within the other. An element stands for a member of an object
/// or an element of a list.
fn meets(part: &[String], path: &[String]) -> bool {
    match (part, path) {
        ([], _) | (_, []) => true,
        ([_, inner @ ..], [step, rest @ ..]) if step == ELEMENT => {
            meets(inner, rest) || meets(part, rest)
        }
        ([first, inner @ ..], [step, rest @ ..]) => first == step && meets(inner, rest),
    }
}
