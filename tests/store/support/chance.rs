//! Reproducible random numbers from a seed (splitmix64).

/// Draws numbers.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// The next number below `bound`.
    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((mixed ^ (mixed >> 31)) % bound.unsigned_abs()).expect("it is below a positive i64")
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let bound = i64::try_from(choices.len()).expect("few choices");
        choices[usize::try_from(self.below(bound)).expect("it is not negative")]
    }
}
