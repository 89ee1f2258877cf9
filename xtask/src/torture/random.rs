//! Numbers that look random and are the same for the same case: a case is repeated by its seed and its number alone.

/// SplitMix64: small, without state beyond a word, and good enough to choose with.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The numbers of one case.
    pub(super) fn of_case(seed: u64, case: u64) -> Self {
        let mut random = Self(seed ^ 0x6461_6361_706f);
        let start = random.next() ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(start)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, and without, `end`; 0 where that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of them, by value.
    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_case_has_its_own_numbers_each_time_the_same() {
        let row = |seed, case| {
            let mut random = Random::of_case(seed, case);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(row(1, 7), row(1, 7));
        assert_ne!(row(1, 7), row(1, 8));
        assert_ne!(row(1, 7), row(2, 7));
    }

    #[test]
    fn choices_stay_inside() {
        let mut random = Random::of_case(3, 4);
        for _ in 0..1000 {
            assert!(random.below(3) < 3);
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.bytes(5).len(), 5);
        assert!(!random.percent(0) && random.percent(100));
    }
}
