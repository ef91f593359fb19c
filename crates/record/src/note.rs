//! Things a user should know, one line each.

use std::fmt;

/// Something was done otherwise than asked, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The machine has no hardware PMU: its clock is sampled instead of cycles.
    NoPmu,
    /// The kernel may not be sampled.
    KernelExcluded,
    /// The frequency was above the kernel's limit.
    RateLowered {
        /// Asked for, Hz.
        from: u64,
        /// The limit, Hz.
        to: u64,
    },
    /// Rings are smaller than asked for.
    RingsSmaller {
        /// KiB of each sample ring.
        kib: u64,
    },
    /// The kernel does not know these settings.
    Dropped(Vec<&'static str>),
    /// An event runs with less precision than asked for.
    Precision {
        /// The event.
        event: String,
        /// `precise_ip` that it has.
        level: u8,
    },
    /// The command has ended, others that it started have not.
    OthersLiveOn,
    /// The time is over.
    DurationOver,
    /// The file cannot be written any more; the command goes on.
    WritingFailed(String),
    /// Samples were not as they should be, and are not in the file.
    Undecodable {
        /// How many.
        samples: u64,
    },
    /// A ring held something that is no record.
    RingDamaged(String),
}

impl Note {
    /// Whether it is told only to those who ask (`-v`).
    pub fn is_detail(&self) -> bool {
        matches!(
            self,
            Self::Dropped(_) | Self::Precision { .. } | Self::DurationOver
        )
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPmu => write!(
                f,
                "no hardware PMU here: sampling cpu-clock instead of cycles"
            ),
            Self::KernelExcluded => write!(
                f,
                "not permitted to sample the kernel: user space only \
                 (sudo sysctl kernel.perf_event_paranoid=1 allows it)"
            ),
            Self::RateLowered { from, to } => write!(
                f,
                "{from} Hz is above kernel.perf_event_max_sample_rate: sampling at {to} Hz"
            ),
            Self::RingsSmaller { kib } => write!(
                f,
                "not enough lockable memory: rings of {kib} KiB (kernel.perf_event_mlock_kb)"
            ),
            Self::Dropped(settings) => {
                write!(f, "this kernel does without: {}", settings.join(", "))
            }
            Self::Precision { event, level } => write!(f, "event '{event}' has precise_ip {level}"),
            Self::OthersLiveOn => write!(
                f,
                "the command has ended, processes that it started live on unrecorded \
                 (--wait-all records them too)"
            ),
            Self::DurationOver => write!(f, "the time is over"),
            Self::WritingFailed(path) => {
                write!(
                    f,
                    "{path} cannot be written any more: waiting for the command to end"
                )
            }
            Self::Undecodable { samples } => {
                write!(f, "{samples} samples of the kernel's could not be decoded")
            }
            Self::RingDamaged(what) => write!(f, "{what}: the rest of that batch was skipped"),
        }
    }
}
