//! JIT code goes by time: what a jitdump tells has CLOCK_MONOTONIC's, whatever clock samples have.

use crate::note::Note;
use rprof_abi::record::Record;
use rprof_machine::is_path_of_code_log;
use rprof_ringbuf::sys::Clock;

/// Says once that a jitdump cannot be followed.
#[derive(Debug)]
pub(crate) struct JitClock {
    has_to_say: bool,
}

impl JitClock {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            has_to_say: clock != Clock::Monotonic,
        }
    }

    /// What is to be said of a record, if it maps the first jitdump.
    pub(crate) fn see(&mut self, record: &Record<'_>) -> Option<Note> {
        let is_jitdump = match record {
            Record::Mmap2(map) => self.has_to_say && is_path_of_code_log(map.filename),
            _ => false,
        };
        self.has_to_say &= !is_jitdump;
        is_jitdump.then_some(Note::JitClock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::record::{FileIdentity, Mmap2};

    #[test]
    fn the_first_jitdump_is_worth_a_word_if_its_times_are_not_ours() {
        let map = |filename| {
            Record::Mmap2(Mmap2 {
                pid: 1,
                tid: 1,
                addr: 0,
                len: 1,
                pgoff: 0,
                identity: FileIdentity::Inode(Default::default()),
                prot: 5,
                flags: 2,
                filename,
            })
        };
        let (jitdump, other) = (map(b"/tmp/jit-1.dump"), map(b"/bin/true"));
        let mut clock = JitClock::new(Clock::Boottime);
        assert_eq!(clock.see(&other), None);
        assert_eq!(clock.see(&jitdump), Some(Note::JitClock));
        assert_eq!(clock.see(&jitdump), None);
        assert_eq!(JitClock::new(Clock::Monotonic).see(&jitdump), None);
    }
}
