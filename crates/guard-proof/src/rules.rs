//! The rules by which the encoder states facts about its variables, each with its soundness
//! argument. Every fact is stated under one of these names, so that the assumptions of a
//! certificate can be counted.

/// The reason why a fact about variables holds in every state and for every argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProofRule {
    /// `(c and v = a) or (not c and v = b)`, where `v` is the value of `if c then a else b`.
    ///
    /// The condition is true or false, and the variable is the value of the branch that is taken.
    /// The term contains the condition and both branches, so no other choice shares the variable.
    Choice,
    /// The signs of two factors determine the sign of their product.
    ///
    /// The product of two non-negative numbers is non-negative, and rounding to a multiple of the
    /// unit preserves zero and is monotone. The other three cases follow by changing a sign, which
    /// rounding half to even respects.
    ProductSign,
    /// `(x - a)(y - c) ≥ 0` for ends `a`, `c` of the ranges of `x`, `y`, multiplied out.
    ///
    /// A factor minus its minimum is non-negative, so the product of two such differences is
    /// non-negative. The same holds for the maxima, with the sign. A rounded product differs by at
    /// most half a unit, which is subtracted.
    ProductBound,
    /// `|2·unit·r - 2·x| ≤ unit`, where `r` is `x / unit` rounded.
    ///
    /// The nearest multiple is at most half a unit away. The direction of a half is left open.
    Rounded,
    /// `0 ≤ x - d·q < d` where `x ≥ 0`, `-d < x - d·q ≤ 0` where `x < 0`, for `q = x / d` toward zero and `d > 0`.
    ///
    /// With truncation, the remainder has the sign of the dividend and is smaller than the divisor.
    /// The two cases are those of the dividend's sign.
    Truncated,
    /// `0 ≤ x - d·q < d` for `q = floor(x / d)` and `d > 0`.
    ///
    /// The remainder of division rounded down is non-negative and smaller than the divisor. The
    /// term contains the dividend and the divisor.
    Floored,
    /// A collection with an element is not empty.
    ///
    /// A collection of size 0 has no element. Both variables belong to the same collection.
    MemberCounts,
    /// Equal elements are both present or both missing.
    ///
    /// Membership tests for an equal element. A value that equals one of two equal values also
    /// equals the other.
    EqualMembers,
    /// Equal keys have equal values.
    ///
    /// A map has one value for a key, and a list has one for an index. If neither is present, the
    /// variables may be assumed to be equal.
    EqualEntries,
    /// A property of every element holds for an element that is present.
    ///
    /// The variable means that the body is without fault and true for every element. The body is
    /// evaluated for this element, with its key if the body reads the key.
    Instance,
    /// If a quantifier fails, there is an element at which it fails.
    ///
    /// The variable means exactly that no element fails, so its negation means that some element
    /// does. The witness is a name for such an element, identified by the quantifier and its
    /// collection. If no element fails, the witness may be anything.
    Witness,
    /// A list after a removal has no element that it did not have before, and loses no element that
    /// differs from the removed one.
    ///
    /// The first equal element is removed and nothing is added. Whether an equal one is left is not
    /// stated.
    RemovedFromList,
    /// A property of every element, and of a new one, holds for every element afterwards.
    ///
    /// The elements afterwards are the new one and some of those before. Bodies that read an index
    /// see the same indexes, because nothing moves.
    AllAfterWrite,
    /// A property of every entry of a map afterwards holds for the entry that was written.
    ///
    /// The written entry is present afterwards, under its key. The value of the body for it is that
    /// of the entry.
    PutIsThere,
    /// A property of every element still holds after a removal.
    ///
    /// The elements afterwards are some of those before. Bodies that read an index of a list are
    /// excluded, because later elements move.
    AllAfterRemoval,
    /// An iteration over elements none of which faults is without fault.
    ///
    /// An iteration faults only if a body that is evaluated faults. Whether an iteration that ends
    /// early meets a fault is not stated.
    SoundWalk,
    /// `least · len ≤ sum ≤ greatest · len`.
    ///
    /// A sum has as many summands as there are elements. Each is within the range of the body for
    /// any element of the type.
    SumRange,
    /// `len ≤ variants` for a set whose elements all belong to an enum.
    ///
    /// The elements of a set are different, and an enum has no more values than variants. If an
    /// element does not belong to the enum, nothing is stated.
    FewVariants,
    /// An observed value is written only if it fits.
    ///
    /// An observation that faults or leaves its type is dropped. Whether it is written stays open.
    Observed,
    /// A question about the history is without fault.
    ///
    /// Successes, failures and counts are always known. A key that faults is a separate fault.
    HistoryAnswers,
    /// The implication of one answer of history for another: a stricter success is a success, a
    /// success was counted, a call that was counted in a window was counted in a wider one, and no
    /// failure follows a last call that succeeded.
    ///
    /// Both are questions about the same history at the same time. A success is admitted before it
    /// settles, so its age by settlement is less.
    HistoryAgrees,
    /// The implication of a temporal operator for the current state.
    ///
    /// `once p` holds if p holds, and p holds if `historically p` holds, because the current state
    /// is one of the states. `p since q` implies p or q now. If an operand faults, nothing is
    /// stated.
    StateIsNow,
}

impl ProofRule {
    /// The rules of properties. No plan relies on them.
    pub const OF_CLAIMS: [ProofRule; 3] =
        [ProofRule::HistoryAnswers, ProofRule::HistoryAgrees, ProofRule::StateIsNow];

    /// The rules behind the checks that a plan may omit.
    pub const ALL: [ProofRule; 19] = [
        ProofRule::Choice,
        ProofRule::ProductSign,
        ProofRule::ProductBound,
        ProofRule::Rounded,
        ProofRule::Truncated,
        ProofRule::Floored,
        ProofRule::MemberCounts,
        ProofRule::EqualMembers,
        ProofRule::EqualEntries,
        ProofRule::Instance,
        ProofRule::Witness,
        ProofRule::RemovedFromList,
        ProofRule::AllAfterWrite,
        ProofRule::PutIsThere,
        ProofRule::AllAfterRemoval,
        ProofRule::SoundWalk,
        ProofRule::SumRange,
        ProofRule::FewVariants,
        ProofRule::Observed,
    ];
}
