//! Where drained records go: a bounded [`pool`] of buffers, one of which is being filled
//! ([`current_buffer`]), and a thread that writes them ([`writer_thread`]). Stacks are unwound by that
//! thread, or on the way into the current buffer.

mod current_buffer;
mod pool;
mod writer_thread;

use crate::control::{StackCare, UnwindPlace, UnwindStatistics, WriterState};
use crate::error::Error;
use crate::interrupts::{Interrupts, Progress, WriterStalled};
use crate::live::LiveUnwinder;
use crate::opening::stack_dump::{Kept, Room};
use crossbeam_channel::Receiver;
use current_buffer::{CurrentBuffer, Unwinding};
use pool::{BUFFER, POOL, Pool, emptied};
use rprof_abi::SampleLayout;
use rprof_perfdata::Writer;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use writer_thread::{Activity, Message, WriterThread};

pub(crate) use writer_thread::{EndedFile, Written};

/// While fewer buffers than this are free, less is kept of each dump.
const FEW_LEFT: usize = POOL / 4;

/// Records that are ready to be written are handed over at least this often, so that a recorder that
/// is killed leaves them in the file.
const HAND_OVER_INTERVAL_NS: u64 = 250_000_000;

/// Takes records. While the pool is empty (the disk is slow) it waits: the rings fill up, and the kernel
/// counts what does not fit. If the writer is gone, its error comes from [`Sink::finish`].
#[derive(Debug)]
pub(crate) struct Sink {
    current: CurrentBuffer,
    /// When a buffer was last handed over.
    handed_over_ns: u64,
    /// For records that are made here.
    record: Vec<u8>,
    pool: Pool,
    writer: WriterThread,
    interrupts: Rc<Interrupts>,
    /// Bytes that a pipe has taken.
    taken: Arc<AtomicU64>,
    /// The writer was waited for: the rings filled up meanwhile.
    pub(crate) was_late: bool,
}

impl Sink {
    /// Starts the writer thread.
    pub(crate) fn start(
        writer: Writer,
        unwinder: Option<LiveUnwinder>,
        interrupts: Rc<Interrupts>,
        taken: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let (pool, returns) = Pool::new();
        let unwinding = match unwinder {
            None => Unwinding::Off,
            Some(_) => Unwinding::InWriterThread,
        };
        Ok(Self {
            current: CurrentBuffer::new(unwinding),
            handed_over_ns: 0,
            record: Vec::new(),
            pool,
            writer: WriterThread::start(writer, unwinder.map(Box::new), returns)?,
            interrupts,
            taken,
            was_late: false,
        })
    }

    /// Appends one record.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8]) -> Result<(), WriterStalled> {
        self.make_room(record.len())?;
        self.current.push(record);
        Ok(())
    }

    /// Appends a sample with its dump trimmed: to less while the writer does not keep up.
    #[inline]
    pub(crate) fn push_sample(
        &mut self,
        sample: &[u8],
        layout: &SampleLayout,
    ) -> Result<Kept, WriterStalled> {
        let room = if self.current.is_unwound_here() {
            Room::Full
        } else {
            self.room()
        };
        self.make_room(sample.len())?;
        Ok(self.current.push_sample(sample, layout, room))
    }

    /// Appends a record that is made here, or none if it cannot be encoded.
    pub(crate) fn push_encoded<E>(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), WriterStalled> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        let pushed = match encode(&mut record) {
            Ok(()) => self.push(&record),
            Err(_) => Ok(()),
        };
        self.record = record;
        pushed
    }

    /// All sideband up to this moment has been pushed, or will be before the next sample.
    pub(crate) fn complete_until(&mut self, time_ns: u64) {
        self.current.begin_pass(time_ns);
    }

    /// The end of a pass: hands over what there is, if it is time and another buffer is free.
    pub(crate) fn flush(&mut self) -> Result<(), WriterStalled> {
        let is_unfinished = matches!(self.current.unwinding(), Unwinding::InWriterThread);
        let since_ns = self
            .current
            .complete_until_ns()
            .saturating_sub(self.handed_over_ns);
        let is_time = is_unfinished || since_ns >= HAND_OVER_INTERVAL_NS;
        // While this buffer has room, nothing waits for another: the rings would fill up.
        if self.current.len() == 0 || !is_time || self.pool.n_free() == 0 {
            return Ok(());
        }
        self.hand_over()
    }

    /// What the writer thread does just now.
    pub(crate) fn writer_state(&self) -> WriterState {
        if self.pool.is_complete() {
            WriterState::Idle
        } else {
            WriterState::Busy
        }
    }

    /// What the unwinder counted since this was last asked, wherever it was.
    pub(crate) fn take_statistics(&mut self) -> UnwindStatistics {
        let mut statistics = self.current.take_statistics();
        statistics += self.writer.take_statistics();
        statistics
    }

    /// Unwinds in this thread from now on, if anybody does.
    pub(crate) fn unwind_in(&mut self, place: UnwindPlace) -> Result<(), WriterStalled> {
        match (self.current.unwinding(), place) {
            (Unwinding::InWriterThread, UnwindPlace::DrainThread) => {
                self.hand_over()?;
                let back = self.wait_for(self.writer.give_unwinder_back()?)?;
                self.current.set_unwinding(Unwinding::InDrainThread(back));
            }
            (Unwinding::InDrainThread(_), UnwindPlace::WriterThread) => {
                self.hand_over()?;
                let unwinder = self.current.set_unwinding(Unwinding::InWriterThread);
                if let Some(unwinder) = unwinder {
                    self.writer.send(Message::TakeUnwinder(unwinder))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// From now on so much is done for stacks.
    pub(crate) fn care_for_stacks(&mut self, care: StackCare) -> Result<(), WriterStalled> {
        if matches!(self.current.unwinding(), Unwinding::InWriterThread) {
            return self.writer.send(Message::CareForStacks(care));
        }
        self.current.care_for_stacks(care);
        Ok(())
    }

    /// Goes on with another writer, whose progress is `taken`. All that was pushed is written with the one
    /// before, which is returned.
    pub(crate) fn go_on_with(
        &mut self,
        writer: Writer,
        taken: Arc<AtomicU64>,
    ) -> Result<EndedFile, WriterStalled> {
        self.unwind_in(UnwindPlace::WriterThread)?;
        self.hand_over()?;
        let ended = self.wait_for(self.writer.go_on_with(writer)?)?;
        self.taken = taken;
        Ok(ended)
    }

    /// Lets the unwinder know records that are not written, before any are pushed.
    pub(crate) fn know(&self, records: Vec<u8>) -> Result<(), WriterStalled> {
        self.writer.send(Message::Know(records))
    }

    /// How much of a dump there is room for.
    fn room(&self) -> Room {
        match self.pool.n_free() {
            FEW_LEFT.. => Room::Full,
            1.. => Room::Reduced,
            0 => Room::Nothing,
        }
    }

    fn make_room(&mut self, n_bytes: usize) -> Result<(), WriterStalled> {
        if self.current.len() + n_bytes > BUFFER {
            self.hand_over()
        } else {
            Ok(())
        }
    }

    fn hand_over(&mut self) -> Result<(), WriterStalled> {
        if self.current.len() == 0 {
            self.current.reserve(BUFFER);
            return Ok(());
        }
        self.was_late |= self.pool.n_free() == 0;
        let next = match self.pool.take() {
            Some(next) => next,
            None => self.wait_for(self.pool.returned())?,
        };
        let next = emptied(next);
        self.handed_over_ns = self.current.complete_until_ns();
        (self.writer).send(Message::Write(self.current.replace(next)))
    }

    /// Waits for what the writer thread sends.
    fn wait_for<T>(&self, from: &Receiver<T>) -> Result<T, WriterStalled> {
        from.try_recv()
            .or_else(|_| self.interrupts.receive(from, || self.progress()))
    }

    /// Changes while something is written.
    fn progress(&self) -> Progress {
        progress(self.writer.activity(), &self.taken, &self.pool)
    }

    /// Writes what is left and ends the thread.
    ///
    /// # Errors
    /// [`WriterStalled::Stuck`]: the user wants an end, and nothing can be written; [`WriterStalled::GivenUp`].
    pub(crate) fn finish(mut self) -> Result<Written, WriterStalled> {
        let handed_over = self.hand_over();
        let given_back = self.unwind_in(UnwindPlace::WriterThread);
        for result in [handed_over, given_back] {
            match result {
                // Its own error says more.
                Ok(()) | Err(WriterStalled::Gone) => {}
                Err(stalled) => return Err(stalled),
            }
        }
        let (pool, taken) = (self.pool, self.taken);
        let activity = self.writer.activity().clone();
        let written = self.writer.end();
        let progress = || progress(&activity, &taken, &pool);
        self.interrupts.receive(&written, progress)
    }
}

/// How far the writer thread is: its own steps, bytes that a pipe has taken, buffers that came back.
fn progress(activity: &Activity, taken: &AtomicU64, pool: &Pool) -> Progress {
    let own = activity.progress();
    let others = taken.load(Ordering::Relaxed) + pool.n_free() as u64;
    Progress {
        steps: own.steps.wrapping_add(others),
        ..own
    }
}
