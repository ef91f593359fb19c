//! What columns sum up over the samples of rows.

use super::row::Sums;
use crate::Level;

/// What a column sums up over the samples of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Share of the event's weight.
    Overhead,
    /// The same, with what the row called.
    OverheadChildren,
    /// Share of the event's weight, in the kernel.
    OverheadSys,
    /// In processes.
    OverheadUs,
    /// In guests' kernels.
    OverheadGuestSys,
    /// In guests' processes.
    OverheadGuestUs,
    /// Share of the event's weight, each sample's divided by the threads that ran then.
    Latency,
    /// The same, with what the row called.
    LatencyChildren,
    /// How many.
    Samples,
    /// Weight, in the event's unit.
    Period,
}

impl Sum {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Overhead,
        Self::OverheadChildren,
        Self::OverheadSys,
        Self::OverheadUs,
        Self::OverheadGuestSys,
        Self::OverheadGuestUs,
        Self::Latency,
        Self::LatencyChildren,
        Self::Samples,
        Self::Period,
    ];

    /// perf's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overhead => "overhead",
            Self::OverheadChildren => "overhead_children",
            Self::OverheadSys => "overhead_sys",
            Self::OverheadUs => "overhead_us",
            Self::OverheadGuestSys => "overhead_guest_sys",
            Self::OverheadGuestUs => "overhead_guest_us",
            Self::Latency => "latency",
            Self::LatencyChildren => "latency_children",
            Self::Samples => "sample",
            Self::Period => "period",
        }
    }

    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Overhead => "Overhead",
            Self::OverheadChildren => "Children",
            Self::OverheadSys => "sys",
            Self::OverheadUs => "usr",
            Self::OverheadGuestSys => "guest sys",
            Self::OverheadGuestUs => "guest usr",
            Self::Latency => "Latency",
            Self::LatencyChildren => "Children Latency",
            Self::Samples => "Samples",
            Self::Period => "Period",
        }
    }

    pub(super) const fn about(self) -> &'static str {
        match self {
            Self::Overhead => "share of the samples",
            Self::OverheadChildren => "share of the samples, including callees",
            Self::OverheadSys => "share of the samples in the kernel",
            Self::OverheadUs => "share of the samples in processes",
            Self::OverheadGuestSys => "share of the samples in guest kernels",
            Self::OverheadGuestUs => "share of the samples in guest processes",
            Self::Latency => "share of wall-clock time, not of CPU time",
            Self::LatencyChildren => "share of wall-clock time, including callees",
            Self::Samples => "number of samples",
            Self::Period => "event count of the samples",
        }
    }

    pub(super) const fn width(self) -> usize {
        match self {
            Self::Overhead | Self::OverheadChildren | Self::OverheadSys | Self::OverheadUs => 8,
            Self::OverheadGuestSys | Self::OverheadGuestUs => 9,
            Self::Latency => 8,
            Self::LatencyChildren => 16,
            Self::Samples | Self::Period => 12,
        }
    }

    /// The sum of a row.
    pub fn of(self, row: &Sums) -> u64 {
        match self {
            Self::Overhead | Self::Period => row.self_weight,
            Self::OverheadChildren => row.total_weight,
            Self::OverheadSys => row.weight_at(Level::Kernel),
            Self::OverheadUs => row.weight_at(Level::User),
            Self::OverheadGuestSys => row.weight_at(Level::GuestKernel),
            Self::OverheadGuestUs => row.weight_at(Level::GuestUser),
            Self::Latency => row.self_latency,
            Self::LatencyChildren => row.total_latency,
            Self::Samples => row.self_samples,
        }
    }

    /// Whether it is of the time that passed, not of what samples count.
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::Latency | Self::LatencyChildren)
    }

    /// Whether it is also of what rows called.
    pub const fn is_of_children(self) -> bool {
        matches!(self, Self::OverheadChildren | Self::LatencyChildren)
    }

    pub(super) const fn is_share(self) -> bool {
        !matches!(self, Self::Samples | Self::Period)
    }
}
