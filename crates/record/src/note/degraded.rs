//! What is less than was asked for.

use rprof_targets::rights::refusal::more_memory;
use std::fmt;

/// What is less than was asked for, in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Degraded {
    /// The machine has no hardware PMU: its clock is sampled instead of cycles.
    pub has_no_pmu: bool,
    /// The kernel may not be sampled: what would allow it.
    pub without_kernel: Option<String>,
    /// Fewer files may be open than all events need.
    pub few_files: Option<FewFiles>,
    /// Samples may not have physical addresses: what would allow it.
    pub without_physical_addresses: Option<String>,
    /// Namespaces may not be recorded: what would allow it.
    pub without_namespaces: Option<String>,
    /// What the kernel does not know of what was asked for.
    pub lacking: Vec<&'static str>,
    /// Rings are so small that it matters.
    pub rings: Option<SmallRings>,
}

/// Rings that are smaller than asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallRings {
    /// Bytes of each.
    pub size_bytes: u64,
    /// Locked memory for each CPU that would be enough, KiB.
    pub enough_kib: u64,
    /// The size of stack dumps, if that is less than could be.
    pub stack_bytes: Option<u64>,
}

/// Fewer open files than all events need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewFiles {
    /// How many would be enough.
    pub needed: u64,
    /// The hard limit.
    pub limit: u64,
    /// Everybody cannot be sampled in place of tasks that end early.
    pub is_short_missed: bool,
}

impl fmt::Display for FewFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, limit, .. } = self;
        let consequence = if self.is_short_missed {
            "short-lived processes and threads may have no samples"
        } else {
            "all stack dumps have the same size, so samples cost more"
        };
        write!(
            f,
            "the limit is {limit} open files, {needed} are needed for everything: {consequence} (ulimit -n \
             {needed}, as root)"
        )
    }
}

impl Degraded {
    /// Adds what the kernel lacks, each once: events have it in common.
    pub(crate) fn add_lacking(&mut self, lacking: Vec<&'static str>) {
        for name in lacking {
            if !self.lacking.contains(&name) {
                self.lacking.push(name);
            }
        }
    }
}

impl fmt::Display for Degraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.has_no_pmu {
            parts.push("no hardware PMU here: sampling cpu-clock instead of cycles".to_owned());
        }
        for (fix, lack) in [
            (
                &self.without_kernel,
                "not permitted to sample the kernel: sampling user space only",
            ),
            (
                &self.without_physical_addresses,
                "not permitted to record physical addresses: omitted from samples",
            ),
            (
                &self.without_namespaces,
                "not permitted to record namespaces: omitted",
            ),
        ] {
            parts.extend(fix.as_ref().map(|fix| format!("{lack} ({fix})")));
        }
        if !self.lacking.is_empty() {
            parts.push(format!("this kernel lacks: {}", self.lacking.join(", ")));
        }
        parts.extend(self.few_files.map(|files| files.to_string()));
        parts.extend(self.rings.map(|rings| rings.to_string()));
        write!(f, "{}", parts.join("; "))
    }
}

impl fmt::Display for SmallRings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = self.size_bytes / 1024;
        write!(f, "not enough lockable memory, so rings have {kib} KiB: ")?;
        match self.stack_bytes {
            Some(bytes) => write!(f, "stacks over {} KiB may be truncated", bytes / 1024)?,
            None => write!(f, "bursts of samples may be lost")?,
        }
        write!(f, " ({})", more_memory(self.enough_kib))
    }
}
