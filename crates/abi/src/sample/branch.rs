//! Branches of a sample, and what is known of each.

use super::BranchSampleType;
use crate::{Cursor, Encoder, Endian, WireError};

/// One branch: `struct perf_branch_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchEntry {
    /// From (AVMA).
    pub from: u64,
    /// To (AVMA).
    pub to: u64,
    /// What is known of it.
    pub flags: BranchFlags,
    /// Event counts since the branch before, with `PERF_SAMPLE_BRANCH_COUNTERS`.
    pub counters: Option<u64>,
}

/// Branches, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchStack<'a> {
    /// Index of the newest entry in the hardware's buffer, with `HW_INDEX`.
    pub hw_index: Option<u64>,
    entries: &'a [u8],
    counters: Option<&'a [u8]>,
    endian: Endian,
}

impl<'a> BranchStack<'a> {
    const ENTRY_LEN: u64 = 24;

    pub(crate) fn parse(
        cursor: &mut Cursor<'a>,
        branches: BranchSampleType,
    ) -> Result<Self, WireError> {
        let what = "branch stack";
        let nr = cursor.u64(what)?;
        let has_index = branches.has(BranchSampleType::HW_INDEX);
        let has_counters = branches.has(BranchSampleType::COUNTERS);
        Ok(Self {
            hw_index: has_index.then(|| cursor.u64(what)).transpose()?,
            entries: cursor.bytes(nr.saturating_mul(Self::ENTRY_LEN), what)?,
            counters: has_counters
                .then(|| cursor.bytes(nr.saturating_mul(8), what))
                .transpose()?,
            endian: cursor.endian(),
        })
    }

    /// Of encoded entries, each three words, without more; to be encoded.
    pub const fn from_encoded(entries: &'a [u8], endian: Endian) -> Self {
        Self {
            hw_index: None,
            entries,
            counters: None,
            endian,
        }
    }

    /// The branches, newest first.
    pub fn entries(&self) -> impl Iterator<Item = BranchEntry> + 'a {
        let mut cursor = Cursor::new(self.entries, self.endian);
        let mut counters = self.counters.map(|bytes| Cursor::new(bytes, self.endian));
        std::iter::from_fn(move || {
            Some(BranchEntry {
                from: cursor.u64("branch").ok()?,
                to: cursor.u64("branch").ok()?,
                flags: BranchFlags::new(cursor.u64("branch").ok()?, cursor.endian()),
                counters: counters.as_mut().and_then(|c| c.u64("branch").ok()),
            })
        })
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.entries.len() as u64 / Self::ENTRY_LEN);
        if let Some(index) = self.hw_index {
            encoder.u64(index);
        }
        for entry in self.entries() {
            encoder.u64(entry.from);
            encoder.u64(entry.to);
            encoder.u64(entry.flags.word());
        }
        for counters in self.entries().filter_map(|entry| entry.counters) {
            encoder.u64(counters);
        }
    }
}

/// The bit field of a `struct perf_branch_entry`.
///
/// Source: include/uapi/linux/perf_event.h (v6.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchFlags {
    word: u64,
    endian: Endian,
}

impl BranchFlags {
    /// From the field as a number of the machine that recorded it.
    pub const fn new(word: u64, endian: Endian) -> Self {
        Self { word, endian }
    }

    /// The whole field as a number of the machine that recorded it.
    pub const fn word(self) -> u64 {
        self.word
    }

    /// The target was not what had been predicted.
    pub const fn is_mispredicted(self) -> bool {
        self.bits(0, 1) != 0
    }

    /// The target was what had been predicted; neither is set where hardware does not tell.
    pub const fn is_predicted(self) -> bool {
        self.bits(1, 1) != 0
    }

    /// Within a transaction.
    pub const fn is_in_transaction(self) -> bool {
        self.bits(2, 1) != 0
    }

    /// Aborts a transaction.
    pub const fn is_abort(self) -> bool {
        self.bits(3, 1) != 0
    }

    /// Cycles since the branch before; 0 if not known.
    pub const fn cycles(self) -> u64 {
        self.bits(4, 16)
    }

    /// The kind of branch as perf calls it; `None` if not known (`PERF_BR_UNKNOWN`).
    pub fn kind(self) -> Option<&'static str> {
        let (names, number) = match self.bits(20, 4) {
            0 => return None,
            EXTENDED => (NEW_KINDS, self.bits(26, 4)),
            number => (KINDS, number),
        };
        let name = usize::try_from(number).ok().and_then(|at| names.get(at));
        Some(name.copied().unwrap_or("(unknown)"))
    }

    /// What became of its speculation, `PERF_BR_SPEC_*`.
    pub const fn speculation(self) -> u64 {
        self.bits(24, 2)
    }

    /// The privilege level of its target, `PERF_BR_PRIV_*`.
    pub const fn privilege(self) -> u64 {
        self.bits(30, 3)
    }

    /// C allocates bit fields from the most significant bit on big-endian machines.
    const fn bits(self, at: u32, len: u32) -> u64 {
        let shift = match self.endian {
            Endian::Little => at,
            Endian::Big => u64::BITS - at - len,
        };
        self.word >> shift & ((1 << len) - 1)
    }
}

/// `PERF_BR_EXTEND_ABI`: the kind is another field's.
const EXTENDED: u64 = 15;

/// `PERF_BR_*`, as tools/perf/util/branch.c (v6.1) writes them.
const KINDS: &[&str] = &[
    "N/A",
    "COND",
    "UNCOND",
    "IND",
    "CALL",
    "IND_CALL",
    "RET",
    "SYSCALL",
    "SYSRET",
    "COND_CALL",
    "COND_RET",
    "ERET",
    "IRQ",
    "SERROR",
    "NO_TX",
];

/// `PERF_BR_NEW_*`; those of an architecture's own have no common name.
const NEW_KINDS: &[&str] = &[
    "FAULT_ALGN",
    "FAULT_DATA",
    "FAULT_INST",
    "ARCH_1",
    "ARCH_2",
    "ARCH_3",
    "ARCH_4",
    "ARCH_5",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_in_both_orders() {
        let word: u64 = 0b1001 | 300 << 4 | 15 << 20 | 2 << 24 | 1 << 26 | 3 << 30;
        let flags = BranchFlags::new(word, Endian::Little);
        // Fields of one bit, 16, 4, 2, 4 and 3, from the other end.
        let reversed = 0b1001 << 60 | 300 << 44 | 15 << 40 | 2 << 38 | 1 << 34 | 3 << 31;
        let foreign = BranchFlags::new(reversed, Endian::Big);
        for flags in [flags, foreign] {
            assert!(flags.is_mispredicted() && flags.is_abort());
            assert!(!flags.is_predicted() && !flags.is_in_transaction());
            assert_eq!(flags.cycles(), 300);
            assert_eq!(flags.kind(), Some("FAULT_DATA"));
            assert_eq!((flags.speculation(), flags.privilege()), (2, 3));
        }
    }

    #[test]
    fn kinds_are_perfs() {
        let kind = |bits: u64| BranchFlags::new(bits << 20, Endian::Little).kind();
        assert_eq!(kind(0), None);
        assert_eq!(kind(6), Some("RET"));
        assert_eq!(kind(14), Some("NO_TX"));
        assert_eq!(kind(15 | 9 << 6), Some("(unknown)"));
    }
}
