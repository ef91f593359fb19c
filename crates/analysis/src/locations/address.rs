//! An address of a sample, ready to be looked up.

use rprof_base::Avma;
use rprof_profile::Level;

/// An address of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// `None` where frames are missing: [`Address::TRUNCATED`], or all are.
    pub level: Option<Level>,
    /// The address to look up.
    pub avma: Avma,
    /// Whether one more was recorded: a return address, whose call is before it. Those that were
    /// unwound, and not recorded, are meant as they are here.
    pub is_return: bool,
}

/// An address that a sample has beside its stack: the end of a branch, or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherAddress {
    /// One whose level is known.
    At(Address),
    /// One of the kernel or of the process, by what is mapped there.
    ByMapping(Avma),
}

impl Address {
    /// Stands for frames that are missing.
    pub const TRUNCATED: Self = Self {
        level: None,
        avma: Avma(0),
        is_return: false,
    };

    /// Stands for the whole stack of time in which none was sampled.
    pub(crate) const NO_STACK: Self = Self {
        avma: Avma(1),
        ..Self::TRUNCATED
    };
}
