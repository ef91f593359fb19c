//! How much a page tells apart, from all of it to what always has room.

/// How much is joined, so that a profile has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Detail {
    /// Samples of one thread, event and stack within this many nanoseconds are one row; 0 if each is one.
    pub(super) slot_ns: u64,
    /// Threads of one name are one.
    pub(super) threads: ThreadDetail,
    /// Stacks end at the outermost node that has fewer samples than this.
    pub(super) min_samples: u64,
}

/// Whether threads are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ThreadDetail {
    /// They are.
    Each,
    /// Only by their names.
    Names,
}

impl Detail {
    /// All of it.
    pub(super) const FULL: Self = Self {
        slot_ns: 0,
        threads: ThreadDetail::Each,
        min_samples: 0,
    };

    const FIRST_SLOT_NS: u64 = 1_000_000;

    /// The next coarser detail for a recording that is so long; `None` if there is nothing left to join.
    pub(super) fn coarser(self, span_ns: u64) -> Option<Self> {
        let slot_ns = match self.slot_ns {
            0 => Self::FIRST_SLOT_NS,
            slot_ns => slot_ns.saturating_mul(2),
        };
        let longest = span_ns / Self::MIN_SLOTS;
        match (slot_ns <= longest.max(Self::FIRST_SLOT_NS), self.threads) {
            (true, _) => Some(Self { slot_ns, ..self }),
            (false, ThreadDetail::Each) => Some(Self {
                slot_ns: Self::FIRST_SLOT_NS,
                threads: ThreadDetail::Names,
                ..self
            }),
            (false, ThreadDetail::Names) if self.min_samples < Self::MOST => Some(Self {
                min_samples: (self.min_samples * 2).max(2),
                ..self
            }),
            _ => None,
        }
    }

    /// Threads are told apart only as long as times are told apart so well.
    const MIN_SLOTS: u64 = 100;
    const MOST: u64 = 1 << 40;
}
