//! The thread that writes. While it has the unwinder, it unwinds what it writes.

use super::pool::{POOL, PoolReturns};
use crate::background::in_background;
use crate::control::{StackCare, UnwindStatistics};
use crate::error::Error;
use crate::interrupts::{Progress, Step, WriterStalled};
use crate::live::{LiveUnwinder, Unwound};
use crossbeam_channel::{Receiver, Sender, bounded};
use rprof_machine::Steps;
use rprof_perfdata::Writer;
use rprof_perfdata::feature::StackEnds;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records as they were drained.
#[derive(Debug, Default)]
pub(super) struct Drained {
    pub(super) records: Vec<u8>,
    /// The passes that they came in, in order.
    pub(super) passes: Vec<PassEnd>,
}

/// The end of a pass, or of a part of it, in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassEnd {
    pub(super) end: usize,
    /// All sideband up to this moment is in the pass, or came before.
    pub(super) complete_until_ns: u64,
}

/// How far the thread is, for who waits for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    /// Records that were unwound, and changes of mappings that were applied.
    steps: Steps,
    is_writing: Arc<AtomicBool>,
}

impl Activity {
    /// Of a thread that has this unwinder at first, or none.
    fn new(unwinder: Option<&LiveUnwinder>) -> Self {
        Self {
            steps: unwinder.map(LiveUnwinder::steps).unwrap_or_default(),
            is_writing: Arc::default(),
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            steps: self.steps.done(),
            at: if self.is_writing.load(Ordering::Relaxed) {
                Step::Writing
            } else {
                Step::Unwinding
            },
        }
    }
}

/// What the thread is told, in this order.
#[derive(Debug)]
pub(super) enum Message {
    Write(Drained),
    /// Unwind what comes next.
    TakeUnwinder(Box<LiveUnwinder>),
    /// Do so much for the stacks that come next.
    CareForStacks(StackCare),
    /// Write what comes next as it is.
    GiveUnwinderBack,
    /// Write what comes next with another writer.
    GoOnWith(Box<Writer>),
    /// Records that the unwinder, which must be here, has to know, and that are not written.
    Know(Vec<u8>),
}

/// The unwinder, when everything before is written.
#[derive(Debug)]
pub(super) struct UnwinderBack {
    pub(super) unwinder: Box<LiveUnwinder>,
    /// Where in the file the next record will begin.
    pub(super) file_len: u64,
}

/// A file that gets no more records.
#[derive(Debug)]
pub(crate) struct EndedFile {
    pub(crate) writer: Writer,
    /// What became of stacks in it, if they were unwound.
    pub(crate) stacks: Option<StackEnds>,
}

/// What the thread returns.
#[derive(Debug)]
pub(crate) struct Written {
    /// Also if writing failed.
    pub(crate) writer: Writer,
    pub(crate) result: Result<(), rprof_perfdata::Error>,
    /// What became of stacks, if they were unwound.
    pub(crate) unwound: Option<Unwound>,
}

/// The draining thread's handle of it.
#[derive(Debug)]
pub(super) struct WriterThread {
    messages: Sender<Message>,
    unwinder_back: Receiver<UnwinderBack>,
    ended: Receiver<EndedFile>,
    statistics: Receiver<UnwindStatistics>,
    written: Receiver<Written>,
    activity: Activity,
}

impl WriterThread {
    /// Starts it, with an unwinder or without.
    pub(super) fn start(
        writer: Writer,
        unwinder: Option<Box<LiveUnwinder>>,
        pool: PoolReturns,
    ) -> Result<Self, Error> {
        let (messages, inbox) = bounded(POOL);
        let (give_back, unwinder_back) = bounded(1);
        let (count, statistics) = bounded(POOL);
        let (end, ended) = bounded(1);
        let activity = Activity::new(unwinder.as_deref());
        let thread = Thread {
            activity: activity.clone(),
            writer,
            unwinder,
            pool,
            give_back,
            end,
            count,
            uncounted: UnwindStatistics::default(),
            unwound: Vec::new(),
        };
        let written = in_background("rprof-writer", move || thread.run(&inbox))?;
        Ok(Self {
            messages,
            unwinder_back,
            ended,
            statistics,
            written,
            activity,
        })
    }

    /// Writes what comes next as it is. The unwinder comes when all before is written.
    pub(super) fn give_unwinder_back(&self) -> Result<&Receiver<UnwinderBack>, WriterStalled> {
        self.send(Message::GiveUnwinderBack)?;
        Ok(&self.unwinder_back)
    }

    /// Writes what comes next with another writer. The one before comes when all before is written.
    pub(super) fn go_on_with(&self, writer: Writer) -> Result<&Receiver<EndedFile>, WriterStalled> {
        self.send(Message::GoOnWith(Box::new(writer)))?;
        Ok(&self.ended)
    }

    /// How far it is.
    pub(super) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// What the unwinder counted here since this was last asked.
    pub(super) fn take_statistics(&self) -> UnwindStatistics {
        let mut sum = UnwindStatistics::default();
        self.statistics.try_iter().for_each(|one| sum += one);
        sum
    }

    /// Lets the thread end when all is written. Its result comes then.
    pub(super) fn end(self) -> Receiver<Written> {
        self.written
    }

    /// Tells it something, after all that it was told before.
    pub(super) fn send(&self, message: Message) -> Result<(), WriterStalled> {
        self.messages.send(message).map_err(|_| WriterStalled::Gone)
    }
}

/// The thread itself.
struct Thread {
    activity: Activity,
    writer: Writer,
    unwinder: Option<Box<LiveUnwinder>>,
    pool: PoolReturns,
    give_back: Sender<UnwinderBack>,
    end: Sender<EndedFile>,
    count: Sender<UnwindStatistics>,
    /// Statistics that the draining thread had no room for yet.
    uncounted: UnwindStatistics,
    /// Records as they are written.
    unwound: Vec<u8>,
}

impl Thread {
    fn run(mut self, messages: &Receiver<Message>) -> Written {
        let mut result = Ok(());
        for message in messages {
            match message {
                Message::Write(drained) => result = self.write(drained),
                Message::TakeUnwinder(unwinder) => self.unwinder = Some(unwinder),
                Message::CareForStacks(care) => {
                    if let Some(unwinder) = &mut self.unwinder {
                        unwinder.care_for_stacks(care);
                    }
                }
                Message::GiveUnwinderBack => self.give_unwinder_back(),
                Message::GoOnWith(writer) => self.go_on_with(*writer),
                Message::Know(records) => self.know(&records),
            }
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

    fn give_unwinder_back(&mut self) {
        let file_len = self.writer.end();
        if let Some(unwinder) = self.unwinder.take() {
            // Cannot fail: the draining thread waits for it.
            let _ = self.give_back.send(UnwinderBack { unwinder, file_len });
        }
    }

    fn go_on_with(&mut self, writer: Writer) {
        let ended = EndedFile {
            writer: std::mem::replace(&mut self.writer, writer),
            stacks: self.unwinder.as_mut().map(|unwinder| unwinder.take_ends()),
        };
        // Cannot fail: the draining thread waits for it.
        let _ = self.end.send(ended);
    }

    fn know(&mut self, records: &[u8]) {
        if let Some(unwinder) = &mut self.unwinder {
            self.unwound.clear();
            unwinder.take(records, 0, 0, &mut self.unwound);
        }
    }

    fn write(&mut self, drained: Drained) -> Result<(), rprof_perfdata::Error> {
        let records = if self.unwinder.is_some() {
            self.unwind(&drained);
            &self.unwound
        } else {
            &drained.records
        };
        self.activity.is_writing.store(true, Ordering::Relaxed);
        let written = self.writer.write(records);
        self.activity.is_writing.store(false, Ordering::Relaxed);
        written?;
        self.pool.give_back(drained.records);
        Ok(())
    }

    fn unwind(&mut self, drained: &Drained) {
        let Some(unwinder) = &mut self.unwinder else {
            return;
        };
        self.unwound.clear();
        let mut start = 0;
        for pass in &drained.passes {
            let records = drained.records.get(start..pass.end).unwrap_or_default();
            let file_len = self.writer.end();
            unwinder.take(records, pass.complete_until_ns, file_len, &mut self.unwound);
            start = pass.end;
        }
        self.uncounted += unwinder.take_statistics();
        let is_new = self.uncounted != UnwindStatistics::default();
        if is_new && self.count.try_send(self.uncounted).is_ok() {
            self.uncounted = UnwindStatistics::default();
        }
    }
}
