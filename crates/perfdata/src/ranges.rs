//! Sets of numbers, as the ranges that they consist of.

use rprof_abi::{Fields, Value};

/// The numbers of the bits that are set, lowest first, of `bits_per_word` (64 at most) in
/// each word.
pub(crate) fn set_bits(
    words: impl IntoIterator<Item = u64>,
    bits_per_word: u64,
) -> impl Iterator<Item = u64> {
    let words = words.into_iter().enumerate();
    words.flat_map(move |(word_idx, word)| {
        let base = word_idx as u64 * bits_per_word;
        let set = move |bit: &u64| word >> bit & 1 != 0;
        (0..bits_per_word).filter(set).map(move |bit| base + bit)
    })
}

/// The ranges that ascending numbers make: the first and the last number of each.
pub(crate) fn spans(numbers: impl IntoIterator<Item = u64>) -> impl Iterator<Item = (u64, u64)> {
    let mut numbers = numbers.into_iter().peekable();
    std::iter::from_fn(move || {
        let first = numbers.next()?;
        let mut last = first;
        while let Some(next) = numbers.next_if(|&next| Some(next) == last.checked_add(1)) {
            last = next;
        }
        Some((first, last))
    })
}

/// Says ascending numbers as a list of texts such as `3` and `8-11`.
pub(crate) fn visit_ranges(
    name: &str,
    numbers: impl IntoIterator<Item = u64>,
    fields: &mut dyn Fields,
) {
    visit_spans(name, spans(numbers), fields);
}

/// Says ranges, each by its first and last number, in the same way.
pub(crate) fn visit_spans(
    name: &str,
    spans: impl IntoIterator<Item = (u64, u64)>,
    fields: &mut dyn Fields,
) {
    fields.list(name, spans, |fields, (first, last)| {
        let text = if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        };
        fields.field("", Value::Text(text.as_bytes()));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

    #[test]
    fn bits_become_ranges() {
        let ranges = |words: &[u64], bits| {
            Flat::of(|fields| visit_ranges("r", set_bits(words.iter().copied(), bits), fields))
        };
        assert_eq!(
            ranges(&[0b1011, 1 << 63, 3], 64),
            ["r.0=0-1", "r.1=3", "r.2=127-129"]
        );
        assert_eq!(ranges(&[1 << 31, 1], 32), ["r.0=31-32"]);
        assert!(ranges(&[], 64).is_empty());
    }
}
