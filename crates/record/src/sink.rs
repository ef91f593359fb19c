//! Where drained records go: a bounded pool of buffers, and a thread that unwinds their stacks
//! and writes them.

use crate::Error;
use crate::live::LiveUnwinder;
use crate::stacks::{Kept, Room, append_trimmed};
use crossbeam_channel::{Receiver, Sender, bounded};
use rprof_abi::SampleLayout;
use rprof_perfdata::Writer;
use rprof_perfdata::feature::StackEnds;
use std::thread::JoinHandle;

/// A buffer is handed over when it holds so many bytes.
const BUFFER: usize = 256 << 10;
/// A record is at most 64 KiB.
const MAX_RECORD: usize = 64 << 10;
/// Buffers in all: 4 MiB between rings and disk.
const POOL: usize = 16;

/// While fewer buffers than this are free, little is kept of each stack.
const FEW_LEFT: usize = POOL / 4;

/// Records as they were drained.
#[derive(Debug, Default)]
struct Drained {
    records: Vec<u8>,
    /// All sideband up to this moment is among them or came before.
    complete_until_ns: u64,
}

/// What the writing thread leaves behind.
#[derive(Debug)]
pub(crate) struct Written {
    /// Comes back also if it failed.
    pub(crate) writer: Writer,
    pub(crate) result: Result<(), rprof_perfdata::Error>,
    /// How stacks ended, if they were unwound, and samples that could not be decoded.
    pub(crate) unwound: Option<(StackEnds, u64)>,
}

/// The writer is gone: its error comes from [`Sink::finish`].
#[derive(Debug)]
pub(crate) struct WriterGone;

/// Takes whole records. When the pool is empty (the disk is slow) it waits, the rings fill up,
/// and the kernel counts what does not fit.
#[derive(Debug)]
pub(crate) struct Sink {
    current: Vec<u8>,
    complete_until_ns: u64,
    full: Sender<Drained>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<Written>,
}

impl Sink {
    /// Starts the writing thread.
    pub(crate) fn start(writer: Writer, unwinder: Option<LiveUnwinder>) -> Result<Self, Error> {
        let (full, to_write) = bounded::<Drained>(POOL);
        let (give_back, empty) = bounded(POOL);
        for _ in 1..POOL {
            // Cannot fail: the channel holds the whole pool.
            let _ = give_back.send(Vec::new());
        }
        let thread = std::thread::Builder::new()
            .name("rprof-writer".to_owned())
            .spawn(move || write_all(writer, unwinder, &to_write, &give_back))
            .map_err(Error::system("starting the writer thread"))?;
        Ok(Self {
            current: Vec::new(),
            complete_until_ns: 0,
            full,
            empty,
            thread,
        })
    }

    /// Appends one record.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8]) -> Result<(), WriterGone> {
        if self.current.len() + record.len() > BUFFER {
            self.hand_over()?;
        }
        self.current.extend_from_slice(record);
        Ok(())
    }

    /// Appends a sample with its stack, cut to size, and to less where the writer is behind.
    #[inline]
    pub(crate) fn push_sample(
        &mut self,
        record: &[u8],
        layout: &SampleLayout,
    ) -> Result<Kept, WriterGone> {
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
        self.complete_until_ns = time_ns;
    }

    /// The buffer that records are appended to, for encoding straight into it.
    pub(crate) fn buffer(&mut self) -> Result<&mut Vec<u8>, WriterGone> {
        if self.current.len() + MAX_RECORD > BUFFER {
            self.hand_over()?;
        }
        Ok(&mut self.current)
    }

    /// Hands over what there is, so that a recorder that is killed leaves it in the file.
    pub(crate) fn flush(&mut self) -> Result<(), WriterGone> {
        if self.current.is_empty() {
            return Ok(());
        }
        self.hand_over()
    }

    fn hand_over(&mut self) -> Result<(), WriterGone> {
        if self.current.is_empty() {
            self.current.reserve(BUFFER);
            return Ok(());
        }
        let mut next = self.empty.recv().map_err(|_| WriterGone)?;
        next.clear();
        next.reserve(BUFFER);
        let drained = Drained {
            records: std::mem::replace(&mut self.current, next),
            complete_until_ns: self.complete_until_ns,
        };
        self.full.send(drained).map_err(|_| WriterGone)
    }

    /// Writes what is left and ends the thread.
    pub(crate) fn finish(mut self) -> Written {
        // If the writer is gone, its own error says more.
        let _ = self.hand_over();
        drop(self.full);
        match self.thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn write_all(
    mut writer: Writer,
    mut unwinder: Option<LiveUnwinder>,
    to_write: &Receiver<Drained>,
    give_back: &Sender<Vec<u8>>,
) -> Written {
    let mut unwound = Vec::new();
    let mut result = Ok(());
    for drained in to_write {
        let records = match &mut unwinder {
            None => &drained.records,
            Some(unwinder) => {
                unwound.clear();
                let until_ns = drained.complete_until_ns;
                unwinder.take(&drained.records, until_ns, writer.end(), &mut unwound);
                &unwound
            }
        };
        result = writer.write(records);
        if result.is_err() {
            break;
        }
        // Nobody takes it any more at the end.
        let _ = give_back.try_send(drained.records);
    }
    Written {
        writer,
        result,
        unwound: unwinder.map(LiveUnwinder::finish),
    }
}
