//! Where drained records go: a bounded pool of buffers, and a thread that writes them.

use crate::Error;
use crossbeam_channel::{Receiver, Sender, bounded};
use rprof_perfdata::Writer;
use std::thread::JoinHandle;

/// A buffer is handed over when it holds so many bytes.
const BUFFER: usize = 256 << 10;
/// A record is at most 64 KiB.
const MAX_RECORD: usize = 64 << 10;
/// Buffers in all: 4 MiB between rings and disk.
const POOL: usize = 16;

/// The writer is gone: its error comes from [`Sink::finish`].
#[derive(Debug)]
pub(crate) struct WriterGone;

/// Takes whole records. When the pool is empty (the disk is slow) it waits, the rings fill up,
/// and the kernel counts what does not fit.
#[derive(Debug)]
pub(crate) struct Sink {
    current: Vec<u8>,
    full: Sender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<(Writer, Result<(), rprof_perfdata::Error>)>,
}

impl Sink {
    /// Starts the writing thread.
    pub(crate) fn start(writer: Writer) -> Result<Self, Error> {
        let (full, to_write) = bounded::<Vec<u8>>(POOL);
        let (give_back, empty) = bounded(POOL);
        for _ in 1..POOL {
            // Cannot fail: the channel holds the whole pool.
            let _ = give_back.send(Vec::new());
        }
        let thread = std::thread::Builder::new()
            .name("rprof-writer".to_owned())
            .spawn(move || write_all(writer, &to_write, &give_back))
            .map_err(Error::system("starting the writer thread"))?;
        Ok(Self {
            current: Vec::new(),
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
        let full = std::mem::replace(&mut self.current, next);
        self.full.send(full).map_err(|_| WriterGone)
    }

    /// Writes what is left and ends the thread. The writer comes back also if it failed.
    pub(crate) fn finish(mut self) -> (Writer, Result<(), rprof_perfdata::Error>) {
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
    to_write: &Receiver<Vec<u8>>,
    give_back: &Sender<Vec<u8>>,
) -> (Writer, Result<(), rprof_perfdata::Error>) {
    for buffer in to_write {
        if let Err(error) = writer.write(&buffer) {
            return (writer, Err(error));
        }
        // Nobody takes it any more at the end.
        let _ = give_back.try_send(buffer);
    }
    (writer, Ok(()))
}
