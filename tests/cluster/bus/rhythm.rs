//! Intervals between visits: the longest and the shortest.

/// The visits of a time, with its two ends.
pub(crate) struct Rhythm {
    from_ms: i64,
    until_ms: i64,
    visits_ms: Vec<i64>,
}

impl Rhythm {
    /// The visits within `[from_ms, until_ms]`.
    pub(crate) fn between(visits_ms: &[i64], from_ms: i64, until_ms: i64) -> Self {
        let within = visits_ms.iter().copied().filter(|at| (from_ms..=until_ms).contains(at));
        let mut visits_ms: Vec<i64> = within.collect();
        visits_ms.sort_unstable();
        Self { from_ms, until_ms, visits_ms }
    }

    pub(crate) fn count(&self) -> usize {
        self.visits_ms.len()
    }

    /// The longest time without a visit, in milliseconds; the ends count as visits.
    pub(crate) fn longest_ms(&self) -> i64 {
        let ends = std::iter::once(self.from_ms).chain(self.visits_ms.iter().copied());
        let times: Vec<i64> = ends.chain([self.until_ms]).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }

    /// The visits that were sooner than this after the one before.
    pub(crate) fn sooner_than(&self, ms: i64) -> Vec<i64> {
        let pairs = self.visits_ms.windows(2);
        pairs.filter(|pair| pair[1] - pair[0] < ms).map(|pair| pair[1]).collect()
    }

    /// The visits as milliseconds since the beginning.
    pub(crate) fn as_told(&self) -> String {
        let since = self.visits_ms.iter().map(|at| (at - self.from_ms).to_string());
        format!("{} ms: {}", self.until_ms - self.from_ms, since.collect::<Vec<_>>().join(" "))
    }
}

#[test]
fn a_rhythm_has_its_longest_and_shortest_interval() {
    let rhythm = Rhythm::between(&[90, 100, 200, 1_200, 1_250, 1_900], 100, 1_800);
    assert_eq!((rhythm.count(), rhythm.longest_ms()), (4, 1_000));
    assert_eq!((rhythm.sooner_than(100), rhythm.sooner_than(101)), (vec![1_250], vec![200, 1_250]));
    assert_eq!(Rhythm::between(&[5], 10, 30).longest_ms(), 20, "nobody came at all");
}
