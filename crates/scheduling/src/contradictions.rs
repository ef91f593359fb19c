//! [`Contradictions`]: switches that do not fit those before them.

use rprof_base::Counted;
use std::collections::BTreeMap;

/// How many CPUs are named.
const MOST_CPUS: usize = 3;

/// How often switches do not fit what was recorded before: some between them are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contradictions {
    n: u64,
    /// How often threads left a CPU that was idle, as far as was recorded, by CPU.
    after_idle: BTreeMap<u32, u64>,
}

impl Contradictions {
    /// How many there are.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// One more.
    pub(crate) fn note(&mut self) {
        self.n += 1;
    }

    /// A thread has left a CPU that was idle, as far as was recorded.
    pub(crate) fn note_after_idle(&mut self, cpu: u32) {
        self.n += 1;
        *self.after_idle.entry(cpu).or_default() += 1;
    }

    /// What is said of them, if there are any. Some virtual machines do not trace a CPU while it is idle, and so not who
    /// comes next: that is the likely reason for most of them if no records were lost.
    pub fn warning(&self, is_lossless: bool) -> Option<String> {
        if self.n == 0 {
            return None;
        }
        let mut said = format!(
            "{} not fit what was recorded before: the times between are unknown",
            Counted::new(self.n, "switch does", "switches do")
        );
        let n_after_idle: u64 = self.after_idle.values().sum();
        if is_lossless && n_after_idle.saturating_mul(2) > self.n {
            let cpus = self.after_idle.keys().take(MOST_CPUS).map(u32::to_string);
            let cpus = cpus.collect::<Vec<_>>().join(", ");
            let (named, more) = match self.after_idle.len() {
                1 => ("CPU", ""),
                2..=MOST_CPUS => ("CPUs", ""),
                _ => ("CPUs", ", ..."),
            };
            said += &format!(
                " ({n_after_idle} after {named} {cpus}{more} had been idle: virtual machines may not trace idle CPUs; record \
                 --switch-events adds what is missing)"
            );
        }
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_are_not_traced_while_idle_are_named() {
        let mut all = Contradictions::default();
        assert_eq!(all.warning(true), None);
        all.note();
        let one = "1 switch does not fit what was recorded before: the times between are unknown";
        assert_eq!(all.warning(true).as_deref(), Some(one));
        all.note_after_idle(3);
        assert!(!all.warning(true).unwrap().contains("CPU"));
        all.note_after_idle(3);
        let said = all.warning(true).unwrap();
        assert!(said.starts_with("3 switches do not fit"), "{said}");
        assert!(said.contains("(2 after CPU 3 had been idle: "), "{said}");
        // Losses are reason enough.
        assert!(!all.warning(false).unwrap().contains("CPU"));
        all.note_after_idle(7);
        let said = all.warning(true).unwrap();
        assert!(said.contains("(3 after CPUs 3, 7 had been idle"), "{said}");
        (8..20).for_each(|cpu| all.note_after_idle(cpu));
        assert!(all.warning(true).unwrap().contains("CPUs 3, 7, 8, ... had"));
        assert_eq!(all.n(), 16);
    }
}
