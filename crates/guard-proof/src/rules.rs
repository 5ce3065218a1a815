//! The rules by which the encoder states what is true of its variables, each with its soundness argument. A fact is
//! pushed under one of these names only, so that what a certificate rests on can be counted.

/// The reason why a fact about variables holds in every state and for every argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProofRule {
    /// `(c and v = a) or (not c and v = b)`, where `v` is the value of `if c then a else b`.
    ///
    /// The condition is true or false, and the variable stands for the value of the branch taken. The term names the condition
    /// and both branches, so no other choice shares the variable.
    Choice,
    /// The signs of two factors say that of their product.
    ///
    /// The product of two numbers that are not negative is not negative, and rounding to a multiple of the unit keeps zero and is
    /// monotone. The other three cases follow by changing a sign, which rounding half to even respects.
    ProductSign,
    /// `(x - a)(y - c) ≥ 0` for ends `a`, `c` of the ranges of `x`, `y`, multiplied out.
    ///
    /// A factor that lies above its least value and one that lies above its least value differ from these by numbers that are not
    /// negative, so the product of the differences is not negative; likewise for the other ends, with the sign. A rounded product
    /// is off by half a unit at most, which is subtracted.
    ProductBound,
    /// `|2·unit·r - 2·x| ≤ unit`, where `r` is `x / unit` rounded.
    ///
    /// The nearest multiple is never further away than half a unit. Which way a half goes is left open.
    Rounded,
    /// `0 ≤ x - d·q < d` where `x ≥ 0`, `-d < x - d·q ≤ 0` where `x < 0`, for `q = x / d` toward zero and `d > 0`.
    ///
    /// Truncation keeps the sign of the dividend for the remainder, which is smaller than the divisor. The two cases are those of
    /// the dividend's sign.
    Truncated,
    /// `0 ≤ x - d·q < d` for `q = floor(x / d)` and `d > 0`.
    ///
    /// The remainder of division downwards is never negative and smaller than the divisor. The term names dividend and divisor.
    Floored,
    /// Who has an element is not empty.
    ///
    /// A collection of size 0 has no element. Both variables are of the same collection.
    MemberCounts,
    /// Equal elements are there alike.
    ///
    /// Membership asks for an equal element. What equals one of two equal values equals the other.
    EqualMembers,
    /// At equal keys are equal values.
    ///
    /// A map has one value for a key, a list one for an index. Where neither is there, the variables may be taken to be the same.
    EqualEntries,
    /// What is true of every element is true of one that is there.
    ///
    /// The variable says that the body is without fault and true of every element. The body is evaluated over this one, with its key
    /// where the body names the key.
    Instance,
    /// Where a quantifier fails, there is an element at which it fails.
    ///
    /// The variable says exactly that no element fails, so its opposite is that some does. The witness is a name for such an element,
    /// by the quantifier and what it ranges over; where none fails it may be anything.
    Witness,
    /// A list without one element has none that was not there, and loses none that is another.
    ///
    /// The first equal element goes and nothing comes. Whether an equal one is left is not said.
    RemovedFromList,
    /// What is true of every element, and of a new one, is true of every element afterwards.
    ///
    /// Elements afterwards are the new one and some of those before. Bodies that name an index see the same indices, since nothing moves.
    AllAfterWrite,
    /// What is true of every entry of a map afterwards is true of the one that was put.
    ///
    /// The entry that was put is there afterwards, under its key. The value of the body over it is that of the entry.
    PutIsThere,
    /// What is true of every element stays true when one goes.
    ///
    /// Elements afterwards are some of those before. Bodies that name an index of a list are left out, since later elements move.
    AllAfterRemoval,
    /// A walk over elements none of which faults is without fault.
    ///
    /// A walk faults only where a body that is evaluated does. Whether a walk that is cut short meets a fault is not said.
    SoundWalk,
    /// `least · len ≤ sum ≤ greatest · len`.
    ///
    /// A sum has as many summands as there are elements. Each is in the range of the body over any element of the type.
    SumRange,
    /// `len ≤ variants` of a set all of whose elements are of an enum.
    ///
    /// The elements of a set differ, and an enum has no more values than variants. Where an element is not of the enum, nothing is said.
    FewVariants,
    /// What is observed is written only where it fits.
    ///
    /// An observation that faults or leaves its type is dropped. Whether it is written stays open.
    Observed,
    /// A question to the history is without fault.
    ///
    /// What has succeeded, failed and been counted is always known. A key that faults is a fault of its own.
    HistoryAnswers,
    /// What one answer of history says of another: a stricter success is a success, a success was counted, what was counted in a
    /// window was counted in a wider one, and no failure follows a last call that succeeded.
    ///
    /// Both are asked of the same history at the same time. A success is admitted before it settles, so its age by settlement is less.
    HistoryAgrees,
    /// What a temporal operator says of the state that is now.
    ///
    /// `once p` holds where p does, and p holds where `historically p` does, since now is one of the states; `p since q` has p or q
    /// now. Where an operand faults, nothing is said.
    StateIsNow,
}

impl ProofRule {
    /// The rules of properties, on which no plan relies.
    pub const OF_CLAIMS: [ProofRule; 3] =
        [ProofRule::HistoryAnswers, ProofRule::HistoryAgrees, ProofRule::StateIsNow];

    /// The rules of what a plan may leave out.
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
