//! Middle and spread of a few measurements.

/// Middle value, smallest and largest of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) count: usize,
}

/// `None` of nothing.
pub(super) fn range(values: &[f64]) -> Option<Spread> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (*sorted.first()?, *sorted.last()?);
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    Some(Spread { median: f64::midpoint(below, above), low, high, count: sorted.len() })
}

/// The middle value; `None` of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    range(values).map(|spread| spread.median)
}

/// Counts here are far below 2⁵³.
pub(super) fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_and_ends() {
        let five = range(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(five, Some(Spread { median: 3.0, low: 1.0, high: 5.0, count: 5 }));
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }
}
