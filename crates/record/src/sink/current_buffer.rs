//! The buffer that is being filled, and the unwinder while it is in the draining thread.

use super::writer_thread::{Drained, PassEnd, UnwinderBack};
use crate::control::{StackCare, UnwindStatistics};
use crate::live::LiveUnwinder;
use crate::opening::stack_dump::{Kept, Room, append_trimmed};
use rprof_abi::SampleLayout;

/// The buffer that is being filled. Bytes get into it by [`push`](Self::push) and
/// [`push_sample`](Self::push_sample) only, so nothing goes past an unwinder that is here.
#[derive(Debug)]
pub(super) struct CurrentBuffer {
    bytes: Vec<u8>,
    /// Where passes end in it.
    passes: Vec<PassEnd>,
    complete_until_ns: u64,
    unwinding: Unwinding,
}

/// Who unwinds.
#[derive(Debug)]
pub(super) enum Unwinding {
    /// Nobody unwinds: records are written as they are.
    Off,
    /// The writer thread unwinds what is in the buffers.
    InWriterThread,
    /// The draining thread unwinds on the way into this buffer.
    InDrainThread(UnwinderBack),
}

impl CurrentBuffer {
    /// An empty one.
    pub(super) fn new(unwinding: Unwinding) -> Self {
        Self {
            bytes: Vec::new(),
            passes: Vec::new(),
            complete_until_ns: 0,
            unwinding,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn complete_until_ns(&self) -> u64 {
        self.complete_until_ns
    }

    pub(super) fn unwinding(&self) -> &Unwinding {
        &self.unwinding
    }

    pub(super) fn is_unwound_here(&self) -> bool {
        matches!(self.unwinding, Unwinding::InDrainThread(_))
    }

    /// Unwinds elsewhere from now on; returns the unwinder if it was here. The buffer must be empty.
    pub(super) fn set_unwinding(&mut self, unwinding: Unwinding) -> Option<Box<LiveUnwinder>> {
        match std::mem::replace(&mut self.unwinding, unwinding) {
            Unwinding::InDrainThread(back) => Some(back.unwinder),
            Unwinding::Off | Unwinding::InWriterThread => None,
        }
    }

    /// From now on so much is done for stacks, if they are unwound here.
    pub(super) fn care_for_stacks(&mut self, care: StackCare) {
        if let Unwinding::InDrainThread(back) = &mut self.unwinding {
            back.unwinder.care_for_stacks(care);
        }
    }

    /// Appends a record.
    #[inline]
    pub(super) fn push(&mut self, record: &[u8]) {
        match &mut self.unwinding {
            Unwinding::InDrainThread(UnwinderBack { unwinder, file_len }) => {
                unwinder.take(record, self.complete_until_ns, *file_len, &mut self.bytes);
            }
            Unwinding::Off | Unwinding::InWriterThread => self.bytes.extend_from_slice(record),
        }
    }

    /// Appends a sample. If it is unwound elsewhere, its dump is trimmed.
    #[inline]
    pub(super) fn push_sample(&mut self, sample: &[u8], layout: &SampleLayout, room: Room) -> Kept {
        if self.is_unwound_here() {
            self.push(sample);
            return Kept::All;
        }
        append_trimmed(sample, layout, room, &mut self.bytes)
    }

    /// A pass begins. All sideband up to this moment is pushed before its samples.
    pub(super) fn begin_pass(&mut self, complete_until_ns: u64) {
        self.end_pass();
        self.complete_until_ns = complete_until_ns;
    }

    fn end_pass(&mut self) {
        if !self.bytes.is_empty() {
            self.passes.push(PassEnd {
                end: self.bytes.len(),
                complete_until_ns: self.complete_until_ns,
            });
        }
    }

    /// Makes room in an empty buffer.
    pub(super) fn reserve(&mut self, n_bytes: usize) {
        self.bytes.reserve(n_bytes);
    }

    /// Takes what is in it, and goes on with another buffer.
    pub(super) fn replace(&mut self, next: Vec<u8>) -> Drained {
        self.end_pass();
        if let Unwinding::InDrainThread(back) = &mut self.unwinding {
            back.file_len += self.bytes.len() as u64;
        }
        Drained {
            records: std::mem::replace(&mut self.bytes, next),
            passes: std::mem::take(&mut self.passes),
        }
    }

    /// What the unwinder counted since this was last asked, if it is here.
    pub(super) fn take_statistics(&mut self) -> UnwindStatistics {
        match &mut self.unwinding {
            Unwinding::InDrainThread(back) => back.unwinder.take_statistics(),
            Unwinding::Off | Unwinding::InWriterThread => UnwindStatistics::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_told_where_they_end_in_each_buffer() {
        let mut current = CurrentBuffer::new(Unwinding::Off);
        current.begin_pass(10);
        current.push(&[1; 8]);
        current.begin_pass(20);
        current.push(&[2; 8]);
        let first = current.replace(Vec::new());
        current.push(&[3; 8]);
        current.begin_pass(30);
        let second = current.replace(Vec::new());
        let ends = |drained: &Drained| {
            let passes = drained.passes.iter();
            let ends: Vec<_> = passes.map(|one| (one.end, one.complete_until_ns)).collect();
            ends
        };
        assert_eq!(first.records.len(), 16);
        assert_eq!(ends(&first), [(8, 10), (16, 20)]);
        assert_eq!(second.records, [3; 8]);
        // The second pass went on in it; the third put nothing into it.
        assert_eq!(ends(&second), [(8, 20), (8, 30)]);
        assert_eq!(current.len(), 0);
    }
}
