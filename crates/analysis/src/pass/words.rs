//! perf's words for what the processor says of branches and of accesses to memory.

use rprof_abi::sample::{BranchFlags, DataSource};
use rprof_abi::{Sample, Weight};
use rprof_profile::{Dimension, DimensionValue, Strings};

/// What the processor guessed: nothing known, right, wrong.
pub(super) fn prediction(flags: BranchFlags) -> u64 {
    match (flags.is_predicted(), flags.is_mispredicted()) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 0,
    }
}

/// The part of a data source that a dimension is of, alone.
pub(super) fn memory_part(dimension: Dimension, source: DataSource) -> u64 {
    source.0
        & match dimension {
            Dimension::Mem => DataSource::LEVEL,
            Dimension::Snoop => DataSource::SNOOP,
            Dimension::Tlb => DataSource::TLB,
            Dimension::Locked => DataSource::LOCK,
            _ => DataSource::BLOCKED,
        }
}

/// The same in perf's words.
pub(super) fn memory_words(
    dimension: Dimension,
    part: DataSource,
    strings: &mut Strings,
) -> DimensionValue {
    DimensionValue::Text(match dimension {
        Dimension::Mem => strings.intern(&part.level_words()),
        Dimension::Snoop => strings.intern(&part.snoop_words()),
        Dimension::Tlb => strings.intern(&part.tlb_words()),
        Dimension::Locked => strings.intern(part.lock_words()),
        _ => strings.intern(part.blocked_words()),
    })
}

/// A number of bytes; 0 is not known.
pub(super) fn size(bytes: u64, strings: &mut Strings) -> DimensionValue {
    match bytes {
        0 => DimensionValue::Text(strings.intern("unknown")),
        _ => DimensionValue::Number(bytes.cast_signed()),
    }
}

/// One of perf's words.
pub(super) fn word(value: u64, words: &[&str], strings: &mut Strings) -> DimensionValue {
    let word = usize::try_from(value).ok().and_then(|at| words.get(at));
    DimensionValue::Text(strings.intern(word.unwrap_or(&"N/A")))
}

/// The parts of a weight, as perf has them; 0 without one.
pub(super) fn parts(sample: &Sample<'_>) -> (u64, u16, u16) {
    match sample.weight {
        Some(Weight::Whole(weight)) => (weight, 0, 0),
        Some(Weight::Parts { var1, var2, var3 }) => (var1.into(), var2, var3),
        None => (0, 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Endian;

    #[test]
    fn what_the_processor_guessed_may_be_unknown() {
        let said = |word| prediction(BranchFlags::new(word, Endian::Little));
        assert_eq!([said(0), said(0b10), said(0b01)], [0, 1, 2]);
    }
}
