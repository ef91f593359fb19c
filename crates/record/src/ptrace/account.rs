//! What samples of a thread stand for: its CPU time, that of user space and that of system calls apart.
//!
//! A thread stops where it goes back to user space. One that waits for a CPU goes on where it was taken from
//! it: on a busy machine that is at the end of a system call more often than by chance, since the scheduler
//! looks there whether a thread has had its time. So samples in system calls share the time that the thread
//! spent in the kernel, and the others that of user space.

/// CPU time of a thread, as the kernel tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuTimes {
    pub(super) total_ns: u64,
    /// How it divides, in ticks.
    pub(super) user_ticks: u64,
    pub(super) system_ticks: u64,
}

/// Where a thread was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoppedIn {
    UserSpace,
    SystemCall,
    /// The kernel does not say.
    Either,
}

/// CPU time, and how much of it samples stand for.
#[derive(Debug)]
pub(super) struct Account {
    begin: CpuTimes,
    /// What samples in each stand for, nanoseconds.
    user_ns: u64,
    system_ns: u64,
}

impl Account {
    /// Time counts from now on.
    pub(super) fn new(now: CpuTimes) -> Self {
        Self {
            begin: now,
            user_ns: 0,
            system_ns: 0,
        }
    }

    /// What a sample stands for: the time of its kind that no sample stands for yet.
    pub(super) fn take(&mut self, now: CpuTimes, stopped_in: StoppedIn) -> u64 {
        let total_ns = now.total_ns.saturating_sub(self.begin.total_ns);
        let user = now.user_ticks.saturating_sub(self.begin.user_ticks);
        let system = now.system_ticks.saturating_sub(self.begin.system_ticks);
        let system_ns = match u128::from(user) + u128::from(system) {
            0 => 0,
            ticks => u128::from(total_ns) * u128::from(system) / ticks,
        };
        let system_ns = u64::try_from(system_ns).unwrap_or(total_ns);
        let user_ns = total_ns - system_ns;
        match stopped_in {
            StoppedIn::UserSpace => take(&mut self.user_ns, user_ns),
            StoppedIn::SystemCall => take(&mut self.system_ns, system_ns),
            StoppedIn::Either => {
                take(&mut self.user_ns, user_ns) + take(&mut self.system_ns, system_ns)
            }
        }
    }
}

fn take(counted_ns: &mut u64, spent_ns: u64) -> u64 {
    // As more ticks come, what came before may turn out to be less.
    let new_ns = spent_ns.saturating_sub(*counted_ns);
    *counted_ns += new_ns;
    new_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(total_ns: u64, user_ticks: u64, system_ticks: u64) -> CpuTimes {
        CpuTimes {
            total_ns,
            user_ticks,
            system_ticks,
        }
    }

    #[test]
    fn stops_at_the_end_of_system_calls_stand_for_the_time_in_them_however_many_they_are() {
        let mut account = Account::new(times(5_000, 10, 10));
        let (mut user_ns, mut system_ns) = (0, 0);
        // Nine of ten stops are in system calls, which take a hundredth of the time.
        for tick in 1..=1000 {
            let now = times(5_000 + tick * 100, 10 + tick, 10 + tick / 100);
            match tick % 10 {
                0 => user_ns += account.take(now, StoppedIn::UserSpace),
                _ => system_ns += account.take(now, StoppedIn::SystemCall),
            }
        }
        assert!((98_000..=100_000).contains(&user_ns), "{user_ns}");
        assert!((500..=1_100).contains(&system_ns), "{system_ns}");
    }

    #[test]
    fn nothing_counts_twice() {
        let mut account = Account::new(CpuTimes::default());
        assert_eq!(account.take(times(100, 0, 1), StoppedIn::SystemCall), 100);
        // Half of it is found to be user space's.
        assert_eq!(account.take(times(200, 1, 1), StoppedIn::UserSpace), 100);
        assert_eq!(account.take(times(200, 1, 1), StoppedIn::Either), 0);
        assert_eq!(account.take(times(300, 1, 1), StoppedIn::Either), 100);
    }

    #[test]
    fn where_no_tick_has_come_all_is_user_space() {
        let mut account = Account::new(CpuTimes::default());
        assert_eq!(account.take(times(100, 0, 0), StoppedIn::SystemCall), 0);
        assert_eq!(account.take(times(100, 0, 0), StoppedIn::UserSpace), 100);
    }
}
