//! [`SeenThreads`]: whether all of the threads that ran were recorded.

use foldhash::{HashMap, HashSet};
use rprof_scheduling::ContextSwitch;

/// The idle task of each CPU.
const IDLE: i32 = 0;

/// Who leaves CPUs, and who comes to them.
#[derive(Debug, Default)]
pub(crate) struct SeenThreads {
    /// Who came to each CPU last.
    last: HashMap<u32, i32>,
    prevs: HashSet<i32>,
    nexts: HashSet<i32>,
    /// Whether a thread left a CPU that was idle before, and nothing says when it had come.
    misses_idle: bool,
}

impl SeenThreads {
    pub(crate) fn note(&mut self, switch: &ContextSwitch) {
        let before = self.last.insert(switch.cpu, switch.next);
        self.misses_idle |= before == Some(IDLE) && switch.prev != IDLE;
        self.prevs.insert(switch.prev);
        self.nexts.insert(switch.next);
    }

    /// Says so if some threads come and never leave, more than there are CPUs to stay on: then their switches are not
    /// recorded. The idle task is known if any of its switches is.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        let come = self.nexts.iter().filter(|&&tid| tid != IDLE);
        let n_stay = come.filter(|tid| !self.prevs.contains(tid)).count();
        if self.prevs.contains(&IDLE) {
            None
        } else if n_stay > self.last.len() {
            Some(
                "only some threads' switches are recorded: how long others ran, and when these came back, is not known \
                 (record with -a, or use rprof report --off-cpu)",
            )
        } else if self.misses_idle {
            // Of one thread alone, or of a kernel that has no event of that.
            Some(
                "switches from idle are not recorded: when runs began and how long waits were is unknown there \
                 (rprof record --off-cpu records it)",
            )
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_scheduling::SwitchState;

    #[test]
    fn threads_that_come_and_never_leave_are_not_recorded() {
        let warning = |switches: &[(i32, i32)]| {
            let mut seen = SeenThreads::default();
            for &(prev, next) in switches {
                seen.note(&ContextSwitch {
                    time_ns: 1,
                    cpu: 0,
                    prev,
                    prev_state: SwitchState::Sleeping,
                    next,
                });
            }
            seen.warning().unwrap_or_default()
        };
        assert_eq!(warning(&[(7, 8), (8, 0), (0, 9)]), "");
        assert_eq!(warning(&[(7, 8), (8, 9)]), "");
        assert!(warning(&[(7, 8), (7, 9)]).contains("only some threads"));
        // A CPU that is idle at the end.
        assert_eq!(warning(&[(7, 8), (8, 0)]), "");
        // One thread alone: its CPU is idle whenever it does not run.
        for switches in [&[(7, 0), (7, 0)][..], &[(7, 8), (8, 0), (9, 0)]] {
            assert!(
                warning(switches).contains("switches from idle"),
                "{switches:?}"
            );
        }
    }
}
