//! How off-CPU time is recorded.

use rprof_base::Counted;
use std::fmt;
use std::time::Duration;

/// What tells when threads do not run, and why; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffCpuMethod {
    /// `sched:sched_switch` and `sched:sched_waking`, for which `CAP_PERFMON` is needed.
    Tracepoints,
    /// The event `context-switches`, which the kernel lets those sample who may look into it, and SWITCH records.
    SwitchSamples,
    /// SWITCH records, and what /proc says of threads that wait for long. All may have these of their own processes.
    Proc,
    /// SWITCH records alone.
    SwitchRecords,
    /// There are no events, and so nothing tells of switches.
    Nothing,
}

impl fmt::Display for OffCpuMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tracepoints => "recording context switches with stacks, and wake-ups",
            Self::SwitchSamples => {
                "recording context switches with stacks, without wake-ups or thread states"
            }
            Self::Proc => {
                "recording when threads run, and why and where they wait if that takes long"
            }
            Self::Nothing => "not recorded, since it needs perf events",
            Self::SwitchRecords => "recording only when threads run, not where or why they wait",
        })
    }
}

/// Which waits have their user stacks, where these are read while threads wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffCpuStacks {
    /// Waits that have lasted for this long have theirs.
    pub threshold: Duration,
    /// Waits with a stack.
    pub read: u64,
    /// Shorter ones, which have their innermost frame.
    pub short: u64,
    /// Whether switches were not sampled: then shorter waits have nothing.
    pub are_unsampled: bool,
    /// Longer ones that were over before it was read, or could not be proved to last.
    pub missed: u64,
    /// Longer ones whose stacks the kernel does not let us read.
    pub refused: u64,
    /// Longer ones that went on when the recording ended.
    pub unfinished: u64,
    /// Those whose descriptors are numbers only: there was no room for more names.
    pub nameless: u64,
}

impl fmt::Display for OffCpuStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            read,
            short,
            missed,
            refused,
            unfinished,
            nameless,
            are_unsampled,
            ..
        } = *self;
        let ms = self.threshold.as_secs_f64() * 1e3;
        let waits = Counted::new(read, "wait", "waits");
        write!(f, "user stacks of {waits} that lasted {ms} ms or more")?;
        if missed > 0 {
            let others = Counted::new(missed, "other", "others");
            write!(f, "; {others} ended before the stack was read")?;
        }
        if refused > 0 {
            let others = Counted::new(refused, "other's", "others'");
            write!(
                f,
                "; {others} could not be read (no permission to trace the process)"
            )?;
        }
        if unfinished > 0 {
            let others = Counted::new(unfinished, "other", "others");
            write!(
                f,
                "; {others} went on at the end, before the stack was read"
            )?;
        }
        if nameless > 0 {
            let others = Counted::new(nameless, "descriptor", "descriptors");
            write!(f, "; no room for the names of {others}")?;
        }
        if short > 0 {
            let shorter = Counted::new(short, "shorter wait", "shorter waits");
            let known = if are_unsampled {
                "only the time"
            } else {
                "only the innermost frame (--off-cpu=0 for all)"
            };
            write!(f, "; of {shorter}, {known}")?;
        }
        Ok(())
    }
}
