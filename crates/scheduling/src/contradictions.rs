//! [`Contradictions`]: switches that do not fit those before them.

use rprof_base::Counted;
use std::collections::BTreeMap;

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

    /// What is said of them, if there are any. Some virtual machines trace nothing of a CPU while it is idle, so not who
    /// comes next: that is the reason if most are of that kind.
    pub fn warning(&self) -> Option<String> {
        if self.n == 0 {
            return None;
        }
        let mut said = format!(
            "{} not fit what was recorded before: the times between are unknown",
            Counted::new(self.n, "switch does", "switches do")
        );
        let most = self.after_idle.iter().max_by_key(|&(_, n)| n);
        if let Some((cpu, n)) = most.filter(|&(_, n)| n.saturating_mul(2) > self.n) {
            said += &format!(
                " ({n} of them on CPU {cpu}, where nothing may be traced while it is idle: record --switch-events helps)"
            );
        }
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_traces_nothing_while_idle_is_named() {
        let mut all = Contradictions::default();
        assert_eq!(all.warning(), None);
        all.note();
        let one = "1 switch does not fit what was recorded before: the times between are unknown";
        assert_eq!(all.warning().as_deref(), Some(one));
        all.note_after_idle(3);
        assert!(!all.warning().unwrap().contains("CPU"));
        all.note_after_idle(3);
        let said = all.warning().unwrap();
        assert!(said.starts_with("3 switches do not fit"), "{said}");
        assert!(said.contains("(2 of them on CPU 3, "), "{said}");
        assert_eq!(all.n(), 3);
    }
}
