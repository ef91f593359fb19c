//! Where drained records go: a bounded pool of buffers, and a thread that writes them. Their stacks
//! are unwound by that thread, or on the way into a buffer ([`crate::control`]).

use crate::Error;
use crate::control::{UnwindPlace, UnwindStatistics, WriterState};
use crate::interrupts::{Interrupts, NoAnswer};
use crate::live::{LiveUnwinder, Unwound};
use crate::stacks::{Kept, Room, append_trimmed};
use crossbeam_channel::{Receiver, Sender, bounded};
use rprof_abi::SampleLayout;
use rprof_perfdata::Writer;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A buffer is handed over when it holds so many bytes.
const BUFFER: usize = 256 << 10;
/// A record is at most 64 KiB.
const MAX_RECORD: usize = 64 << 10;
/// Buffers in all: 8 MiB between rings and disk, once they were needed.
const POOL: usize = 32;

/// While fewer buffers than this are free, little is kept of each stack.
const FEW_LEFT: usize = POOL / 4;

/// Records as they were drained.
#[derive(Debug, Default)]
struct Drained {
    records: Vec<u8>,
    /// The pieces that they came in: where each ends, and the moment up to which all sideband is
    /// in it or came before.
    passes: Vec<(usize, u64)>,
}

/// What the writing thread is told, in this order.
#[derive(Debug)]
enum Message {
    Drained(Drained),
    /// What comes next is to be unwound.
    Unwind(Box<LiveUnwinder>),
    /// What comes next is to be written as it is.
    GiveBack,
}

/// The unwinder, and where in the file the next record will begin.
type GivenBack = (Box<LiveUnwinder>, u64);

/// What the writing thread leaves behind.
#[derive(Debug)]
pub(crate) struct Written {
    /// Comes back also if it failed.
    pub(crate) writer: Writer,
    pub(crate) result: Result<(), rprof_perfdata::Error>,
    /// What became of stacks, if they were unwound.
    pub(crate) unwound: Option<Unwound>,
}

/// Records that are ready to be written are handed over so often, so that a recorder that is
/// killed leaves them in the file.
const AT_LEAST_EVERY_NS: u64 = 250_000_000;

/// Takes whole records. When the pool is empty (the disk is slow) it waits, the rings fill up,
/// and the kernel counts what does not fit. If the writer is gone, its error comes from
/// [`Sink::finish`].
#[derive(Debug)]
pub(crate) struct Sink {
    current: Vec<u8>,
    /// The passes that are in it as a whole.
    passes: Vec<(usize, u64)>,
    complete_until_ns: u64,
    /// When a buffer was last handed over.
    handed_over_ns: u64,
    unwinding: Unwinding,
    full: Sender<Message>,
    empty: Receiver<Vec<u8>>,
    given_back: Receiver<GivenBack>,
    statistics: Receiver<UnwindStatistics>,
    written: Receiver<Written>,
    interrupts: Rc<Interrupts>,
    /// Bytes that a pipe has taken.
    taken: Arc<AtomicU64>,
}

/// Who unwinds.
#[derive(Debug)]
enum Unwinding {
    Nobody,
    WritingThread,
    /// Into the current buffer, which begins at `at` in the file.
    Here {
        unwinder: Box<LiveUnwinder>,
        at: u64,
    },
}

impl Sink {
    /// Starts the writing thread.
    pub(crate) fn start(
        writer: Writer,
        unwinder: Option<LiveUnwinder>,
        interrupts: Rc<Interrupts>,
        taken: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let (full, to_write) = bounded(POOL);
        let (emptied, empty) = bounded(POOL);
        for _ in 1..POOL {
            // Cannot fail: the channel holds the whole pool.
            let _ = emptied.send(Vec::new());
        }
        let (give_back, given_back) = bounded(1);
        let (statistics_sent, statistics) = bounded(POOL);
        let unwinding = match unwinder {
            None => Unwinding::Nobody,
            Some(_) => Unwinding::WritingThread,
        };
        let writing = WritingThread {
            writer,
            unwinder: unwinder.map(Box::new),
            emptied,
            give_back,
            statistics: statistics_sent,
            unsent: UnwindStatistics::default(),
        };
        let written = in_background("rprof-writer", move || writing.run(&to_write))?;
        Ok(Self {
            current: Vec::new(),
            passes: Vec::new(),
            complete_until_ns: 0,
            handed_over_ns: 0,
            unwinding,
            full,
            empty,
            given_back,
            statistics,
            written,
            interrupts,
            taken,
        })
    }

    /// Appends one record.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8]) -> Result<(), NoAnswer> {
        if self.current.len() + record.len() > BUFFER {
            self.hand_over()?;
        }
        match &mut self.unwinding {
            Unwinding::Here { unwinder, at } => {
                unwinder.take(record, self.complete_until_ns, *at, &mut self.current);
            }
            Unwinding::Nobody | Unwinding::WritingThread => {
                self.current.extend_from_slice(record);
            }
        }
        Ok(())
    }

    /// Appends a sample with its stack, cut to size, and to less where the writer is behind.
    #[inline]
    pub(crate) fn push_sample(
        &mut self,
        record: &[u8],
        layout: &SampleLayout,
    ) -> Result<Kept, NoAnswer> {
        if let Unwinding::Here { .. } = self.unwinding {
            return self.push(record).map(|()| Kept::Whole);
        }
        let room = match self.empty.len() {
            FEW_LEFT.. => Room::Whole,
            1.. => Room::Little,
            0 => Room::Nothing,
        };
        if self.current.len() + record.len() > BUFFER {
            self.hand_over()?;
        }
        Ok(append_trimmed(record, layout, room, &mut self.current))
    }

    /// All sideband up to this moment has been pushed, or will be before the next sample.
    pub(crate) fn complete_until(&mut self, time_ns: u64) {
        self.end_pass();
        self.complete_until_ns = time_ns;
    }

    /// The buffer that records are appended to, for encoding straight into it.
    pub(crate) fn buffer(&mut self) -> Result<&mut Vec<u8>, NoAnswer> {
        if self.current.len() + MAX_RECORD > BUFFER {
            self.hand_over()?;
        }
        Ok(&mut self.current)
    }

    /// The end of a pass: hands over what there is, if it is time and another buffer is free.
    pub(crate) fn flush(&mut self) -> Result<(), NoAnswer> {
        let is_unfinished = matches!(self.unwinding, Unwinding::WritingThread);
        let since_ns = self.complete_until_ns.saturating_sub(self.handed_over_ns);
        let is_time = is_unfinished || since_ns >= AT_LEAST_EVERY_NS;
        // To wait for a buffer, while there is room in this one, would fill the rings.
        if self.current.is_empty() || !is_time || self.empty.is_empty() {
            return Ok(());
        }
        self.hand_over()
    }

    /// What the writing thread does just now.
    pub(crate) fn writer_state(&self) -> WriterState {
        match self.empty.len() == POOL - 1 {
            true => WriterState::Idle,
            false => WriterState::Busy,
        }
    }

    /// What the unwinder counted since this was last asked, wherever it was.
    pub(crate) fn take_statistics(&mut self) -> UnwindStatistics {
        let mut statistics = match &mut self.unwinding {
            Unwinding::Here { unwinder, .. } => unwinder.take_statistics(),
            Unwinding::Nobody | Unwinding::WritingThread => UnwindStatistics::default(),
        };
        self.statistics.try_iter().for_each(|one| statistics += one);
        statistics
    }

    /// Unwinds in this thread from now on, if anybody does.
    pub(crate) fn unwind_in(&mut self, place: UnwindPlace) -> Result<(), NoAnswer> {
        let unwinding = std::mem::replace(&mut self.unwinding, Unwinding::Nobody);
        match (unwinding, place) {
            (Unwinding::WritingThread, UnwindPlace::DrainThread) => {
                self.hand_over()?;
                self.full
                    .send(Message::GiveBack)
                    .map_err(|_| NoAnswer::Gone)?;
                let (unwinder, at) = self.wait_for(&self.given_back)?;
                self.unwinding = Unwinding::Here { unwinder, at };
            }
            (Unwinding::Here { unwinder, .. }, UnwindPlace::WriterThread) => {
                self.hand_over()?;
                let message = Message::Unwind(unwinder);
                self.full.send(message).map_err(|_| NoAnswer::Gone)?;
                self.unwinding = Unwinding::WritingThread;
            }
            (unchanged, _) => self.unwinding = unchanged,
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<(), NoAnswer> {
        if self.current.is_empty() {
            self.current.reserve(BUFFER);
            return Ok(());
        }
        let mut next = self.wait_for(&self.empty)?;
        next.clear();
        next.reserve(BUFFER);
        if let Unwinding::Here { at, .. } = &mut self.unwinding {
            *at += self.current.len() as u64;
        }
        self.handed_over_ns = self.complete_until_ns;
        self.end_pass();
        let drained = Message::Drained(Drained {
            records: std::mem::replace(&mut self.current, next),
            passes: std::mem::take(&mut self.passes),
        });
        self.full.send(drained).map_err(|_| NoAnswer::Gone)
    }

    fn end_pass(&mut self) {
        if !self.current.is_empty() {
            self.passes
                .push((self.current.len(), self.complete_until_ns));
        }
    }

    /// Waits for what the writing thread sends.
    fn wait_for<T>(&self, from: &Receiver<T>) -> Result<T, NoAnswer> {
        from.try_recv()
            .or_else(|_| self.interrupts.receive(from, || self.progress()))
    }

    /// Changes while something is written.
    fn progress(&self) -> u64 {
        self.taken.load(Ordering::Relaxed) + self.empty.len() as u64
    }

    /// Writes what is left and ends the thread.
    ///
    /// # Errors
    /// [`NoAnswer::Stuck`]: the user wants an end, and nothing can be written.
    pub(crate) fn finish(mut self) -> Result<Written, NoAnswer> {
        let handed_over = self.hand_over();
        let given_back = self.unwind_in(UnwindPlace::WriterThread);
        let is_stuck = [handed_over, given_back].contains(&Err(NoAnswer::Stuck));
        if is_stuck {
            return Err(NoAnswer::Stuck);
        }
        // If the writer is gone, its own error says more.
        let (full, empty, taken) = (self.full, self.empty, self.taken);
        drop(full);
        let progress = || taken.load(Ordering::Relaxed) + empty.len() as u64;
        self.interrupts.receive(&self.written, progress)
    }
}

/// Runs something in a thread of its own; its result comes through the channel.
pub(crate) fn in_background<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Receiver<T>, Error> {
    let (done, result) = bounded(1);
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || done.send(work()))
        .map_err(Error::system("starting a thread"))?;
    Ok(result)
}

/// The other end of the channels.
struct WritingThread {
    writer: Writer,
    unwinder: Option<Box<LiveUnwinder>>,
    emptied: Sender<Vec<u8>>,
    give_back: Sender<GivenBack>,
    statistics: Sender<UnwindStatistics>,
    /// What the draining thread had no room for.
    unsent: UnwindStatistics,
}

impl WritingThread {
    fn run(mut self, messages: &Receiver<Message>) -> Written {
        let mut unwound = Vec::new();
        let mut result = Ok(());
        for message in messages {
            result = match message {
                Message::Drained(drained) => self.write(drained, &mut unwound),
                Message::Unwind(unwinder) => {
                    self.unwinder = Some(unwinder);
                    Ok(())
                }
                Message::GiveBack => {
                    let end = self.writer.end();
                    let unwinder = self.unwinder.take();
                    // Who asked for it waits for it.
                    let _ = unwinder.map(|unwinder| self.give_back.send((unwinder, end)));
                    Ok(())
                }
            };
            if result.is_err() {
                break;
            }
        }
        Written {
            writer: self.writer,
            result,
            unwound: self.unwinder.map(|unwinder| unwinder.finish()),
        }
    }

    fn write(
        &mut self,
        drained: Drained,
        unwound: &mut Vec<u8>,
    ) -> Result<(), rprof_perfdata::Error> {
        let records = match &mut self.unwinder {
            None => &drained.records,
            Some(unwinder) => {
                unwound.clear();
                let mut start = 0;
                for &(end, until_ns) in &drained.passes {
                    let records = drained.records.get(start..end).unwrap_or_default();
                    unwinder.take(records, until_ns, self.writer.end(), unwound);
                    start = end;
                }
                self.unsent += unwinder.take_statistics();
                if self.unsent != UnwindStatistics::default()
                    && self.statistics.try_send(self.unsent).is_ok()
                {
                    self.unsent = UnwindStatistics::default();
                }
                unwound
            }
        };
        self.writer.write(records)?;
        // Nobody takes it any more at the end.
        let _ = self.emptied.try_send(drained.records);
        Ok(())
    }
}
