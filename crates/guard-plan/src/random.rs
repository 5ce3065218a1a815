//! Seeded pseudo-random numbers, for searches and generated tests. No decision depends on them.

/// A SplitMix64 generator. Each seed gives its own sequence, which is the same on every machine.
///
/// ```
/// use guard_plan::random::Rng;
///
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.below(100), b.below(100));
/// ```
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, or 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The bias of the remainder does not matter for searches and tests.
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// Returns true with a probability of `percent` per cent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items. There must be at least one.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}
