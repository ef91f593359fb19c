//! Files in a PMU's `format/`: which bits of which config a term sets.
//!
//! Source: `Documentation/ABI/testing/sysfs-bus-event_source-devices-format` (v6.12), for
//! example `config:0-7,32-35` or `config1:0`.

use rprof_abi::PerfEventAttr;

use crate::term::config_field;

/// The bits of one term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TermFormat {
    /// 0 for `config`, 1 for `config1`, ...
    config: usize,
    /// Its bits; the value's bits fill them from the lowest up.
    mask: u64,
}

impl TermFormat {
    /// Reads the content of a format file.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (field, bits) = text.split_once(':')?;
        let config = match field.strip_prefix("config")? {
            "" => 0,
            digit => digit
                .parse()
                .ok()
                .filter(|number| (1..=4).contains(number))?,
        };
        let ranges = bits.split(',').map(range_mask);
        let mask = ranges.reduce(|left, right| Some(left? | right?))??;
        Some(Self { config, mask })
    }

    /// The largest value that fits.
    pub(crate) fn max(self) -> u64 {
        u64::MAX
            .checked_shr(self.mask.count_zeros())
            .unwrap_or_default()
    }

    /// Sets the bits of `value` in the attr, beside those that are set already.
    pub(crate) fn set(self, attr: &mut PerfEventAttr, value: u64) {
        let bits = (0..64).filter(|bit| self.mask >> bit & 1 == 1);
        let spread = bits
            .enumerate()
            .fold(0, |word, (from, to)| word | (value >> from & 1) << to);
        if let Some(field) = config_field(attr, self.config) {
            *field |= spread;
        }
    }
}

/// `5` or `0-7`, as bits of a word.
fn range_mask(range: &str) -> Option<u64> {
    let range = range.trim();
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let up_to_last = u64::MAX.checked_shr(63_u32.checked_sub(last)?)?;
    (first <= last).then_some(up_to_last & u64::MAX << first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fill_the_bits_from_the_lowest_up() {
        for (format, value, expected, max) in [
            ("config:0-7", 0x3c, [0x3c, 0, 0, 0, 0], 0xff),
            (
                "config:0-7,32-35",
                0xa12,
                [0x0a_0000_0012, 0, 0, 0, 0],
                0xfff,
            ),
            ("config:18", 1, [1 << 18, 0, 0, 0, 0], 1),
            ("config1:0-63", u64::MAX, [0, u64::MAX, 0, 0, 0], u64::MAX),
            ("config2:63", 1, [0, 0, 1 << 63, 0, 0], 1),
            ("config3:4-5", 2, [0, 0, 0, 0x20, 0], 3),
            ("config4:0", 1, [0, 0, 0, 0, 1], 1),
        ] {
            let parsed = TermFormat::parse(format).unwrap();
            assert_eq!(parsed.max(), max, "{format}");
            let mut attr = PerfEventAttr::default();
            parsed.set(&mut attr, value);
            let set = [
                attr.config,
                attr.config1,
                attr.config2,
                attr.config3,
                attr.config4,
            ];
            assert_eq!(set, expected, "{format}");
        }
    }

    #[test]
    fn other_texts_are_no_formats() {
        for text in [
            "",
            "config",
            "config:",
            "config:64",
            "config:7-0",
            "config:0,",
            "config5:0",
            "config0:0",
            "event:0",
            "config:-1",
            "config:0-99999999999",
        ] {
            assert_eq!(TermFormat::parse(text), None, "{text}");
        }
    }
}
