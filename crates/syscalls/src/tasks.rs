//! [`SyscallTasks`]: which processes of a 64-bit kernel are 32-bit ones.

use foldhash::HashMap;

/// Which processes have 32-bit addresses, and so other numbers of system calls. Events do not say it, but the kernel
/// maps its vdso below 4 GiB only into such processes.
#[derive(Debug, Default)]
pub struct SyscallTasks {
    /// Those that are or were 32-bit ones, by id.
    known: HashMap<i32, Bits>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bits {
    is_32: bool,
    /// The program that is being executed.
    next_is_32: Option<bool>,
}

impl SyscallTasks {
    /// The vdso is mapped into a process, which executes a program.
    pub fn map_vdso(&mut self, pid: i32, address: u64) {
        let is_32 = address < 1 << 32;
        if is_32 || self.known.contains_key(&pid) {
            self.known.entry(pid).or_default().next_is_32 = Some(is_32);
        }
    }

    /// A process starts as a copy of another one.
    pub fn fork(&mut self, parent: i32, child: i32) {
        if parent == child {
            return;
        }
        match self.known.get(&parent).copied() {
            Some(bits) => {
                self.known.insert(child, bits);
            }
            None => {
                self.known.remove(&child);
            }
        }
    }

    /// Whether a process that enters a system call is a 32-bit one.
    pub fn enters(&mut self, pid: i32) -> bool {
        self.known.get_mut(&pid).is_some_and(Bits::settle)
    }

    /// Whether the number with which one returns from a call is that of a 32-bit one; `is_exec` says whether it would then
    /// be that of executing a program. x86 returns from that with the number of the new program's ABI, others with that
    /// of the old one's.
    pub fn leaves(&mut self, pid: i32, is_exec: impl Fn(bool) -> bool) -> bool {
        let Some(bits) = self.known.get_mut(&pid) else {
            return false;
        };
        let before = bits.is_32;
        let is_of_old = bits.next_is_32.is_some_and(|next| !is_exec(next)) && is_exec(before);
        let now = bits.settle();
        if is_of_old { before } else { now }
    }
}

impl Bits {
    /// The program that was being executed runs.
    fn settle(&mut self) -> bool {
        self.is_32 = self.next_is_32.take().unwrap_or(self.is_32);
        self.is_32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_executed_by_the_one_before() {
        let mut tasks = SyscallTasks::default();
        tasks.map_vdso(7, 0x7ffc_0000_0000);
        assert!(!tasks.enters(7));
        tasks.map_vdso(7, 0xf7f0_0000);
        assert!(!tasks.leaves(7, |is_32| !is_32));
        assert!(tasks.enters(7) && tasks.leaves(7, |_| false));
        tasks.fork(7, 8);
        assert!(tasks.enters(8));
        tasks.map_vdso(8, 0x7ffc_0000_0000);
        assert!(tasks.leaves(8, |is_32| is_32));
        assert!(!tasks.enters(8));
        tasks.map_vdso(8, 0xf7f0_0000);
        assert!(tasks.leaves(8, |is_32| is_32));
        tasks.map_vdso(8, 0x7ffc_0000_0000);
        assert!(!tasks.leaves(8, |is_32| !is_32));
        // The return of exec is lost.
        tasks.map_vdso(8, 0xf7f0_0000);
        assert!(tasks.enters(8));
        tasks.fork(9, 8);
        assert!(!tasks.enters(8));
    }
}
