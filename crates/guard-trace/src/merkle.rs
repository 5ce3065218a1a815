//! Merkle trees as in RFC 6962: leaves and nodes are hashed with different prefixes, so that
//! neither can be mistaken for the other.

use guard_plan::encode::Hash;
use sha2::{Digest, Sha256};

/// The hash of a leaf.
pub fn leaf(data: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(data).finalize().into()
}

fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// A tree that grows leaf by leaf, and stores at most one hash per level.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    size: u64,
    /// The roots of the full subtrees, the largest first.
    peaks: Vec<Hash>,
}

impl Tree {
    /// Adds a leaf.
    pub fn push(&mut self, data: &[u8]) {
        let mut hash = leaf(data);
        for _ in 0..self.size.trailing_ones() {
            // INVARIANT: there is a peak for each one bit of the size.
            let left = self.peaks.pop().expect("a peak for each bit");
            hash = node(&left, &hash);
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// The number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root of the tree; the root of an empty tree is the hash of the empty string.
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev();
        let Some(last) = peaks.next() else { return Sha256::digest([]).into() };
        peaks.fold(*last, |right, left| node(left, &right))
    }
}

/// The reason why a path cannot be built: too few leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MerklePathError;

/// Returns the path from a leaf to the root of a tree of `size` leaves, from below, and the root.
/// Leaves are read once, in order.
///
/// # Errors
///
/// Returns an error if there are fewer leaves than `size`, or `index` is not less than `size`.
pub fn path(
    index: u64,
    size: u64,
    leaves: impl IntoIterator<Item = Hash>,
) -> Result<(Vec<Hash>, Hash), MerklePathError> {
    if index >= size {
        return Err(MerklePathError);
    }
    let mut path = Vec::new();
    let root = walk(size, Some(index), &mut leaves.into_iter(), &mut path)?;
    Ok((path, root))
}

/// Returns the root of the next `size` leaves; the siblings on the path to the requested leaf are
/// added to `path`. The recursion is as deep as the tree.
fn walk(
    size: u64,
    index: Option<u64>,
    leaves: &mut impl Iterator<Item = Hash>,
    path: &mut Vec<Hash>,
) -> Result<Hash, MerklePathError> {
    if size == 1 {
        return leaves.next().map(|data| leaf(&data)).ok_or(MerklePathError);
    }
    // The left subtree has the largest power of two below the size (RFC 6962 §2.1).
    let half = size.next_power_of_two() / 2;
    let (in_left, in_right) = match index {
        Some(index) if index < half => (Some(index), None),
        Some(index) => (None, Some(index - half)),
        None => (None, None),
    };
    let left = walk(half, in_left, leaves, path)?;
    let right = walk(size - half, in_right, leaves, path)?;
    if in_left.is_some() {
        path.push(right);
    } else if in_right.is_some() {
        path.push(left);
    }
    Ok(node(&left, &right))
}

/// Returns the root that a path leads to from a leaf (RFC 9162 §2.1.3.2); `None` if the path has
/// the wrong length.
pub fn climb(index: u64, size: u64, data: &[u8], path: &[Hash]) -> Option<Hash> {
    let mut at = index;
    let mut last = size.checked_sub(1)?;
    if at > last {
        return None;
    }
    let mut hash = leaf(data);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if at % 2 == 1 || at == last {
            hash = node(sibling, &hash);
            while at.is_multiple_of(2) && at != 0 {
                (at, last) = (at / 2, last / 2);
            }
        } else {
            hash = node(&hash, sibling);
        }
        (at, last) = (at / 2, last / 2);
    }
    (last == 0).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::hex;

    fn leaves(size: u64) -> Vec<Hash> {
        (0..size).map(|n| Sha256::digest(n.to_be_bytes()).into()).collect()
    }

    fn grown(leaves: &[Hash]) -> Hash {
        let mut tree = Tree::default();
        leaves.iter().for_each(|data| tree.push(data));
        tree.root()
    }

    #[test]
    fn the_tree_is_that_of_the_rfc() {
        // The test vectors of Certificate Transparency.
        let data: [&[u8]; 8] = [
            b"",
            b"\0",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let mut tree = Tree::default();
        assert_eq!(
            hex::encode(&tree.root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        data.iter().for_each(|data| tree.push(data));
        assert_eq!(
            hex::encode(&tree.root()),
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
        );
    }

    #[test]
    fn every_leaf_has_a_path_and_no_other_leaf_has_it() {
        for size in 1..=40 {
            let leaves = leaves(size);
            let root = grown(&leaves);
            for index in 0..size {
                let (path, same) = path(index, size, leaves.iter().copied()).unwrap();
                assert_eq!(same, root);
                let data = &leaves[index as usize];
                assert_eq!(climb(index, size, data, &path), Some(root));
                for other in 0..size {
                    let led = climb(other, size, data, &path) == Some(root);
                    assert_eq!(led, other == index, "{index} of {size} as {other}");
                }
                assert_ne!(climb(index, size, &[1; 32], &path), Some(root));
                if let Some((_, short)) = path.split_last() {
                    assert_ne!(climb(index, size, data, short), Some(root));
                }
                let long = [&path[..], &[[0; 32]]].concat();
                assert_ne!(climb(index, size, data, &long), Some(root));
            }
        }
        assert_eq!(path(3, 3, leaves(3)), Err(MerklePathError));
        assert_eq!(path(0, 4, leaves(3)), Err(MerklePathError));
        assert_eq!(climb(0, 0, b"", &[]), None);
    }
}
