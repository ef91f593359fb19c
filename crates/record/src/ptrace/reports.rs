//! What seized threads report: signals that are passed on, threads and programs that begin and end.

use super::session::{EVENT_ID, Session};
use super::tasks::Thread;
use crate::error::Error;
use crate::interrupts::WriterStalled;
use crate::recording::recorder::Recorder;
use crate::words::u32_at;
use rprof_abi::record::{Comm, Record, Task};
use rprof_abi::{Misc, RecordKind, SampleId};
use rprof_process::{comm_of, parent_of, process_of};
use rprof_ringbuf::sys::ptrace::{self, Report, Reported, Stop};

impl Session {
    /// Takes all reports that are there.
    pub(super) fn take_reports(&mut self) -> Result<(), Error> {
        let waiting = "waiting for threads";
        while let Some(report) = ptrace::next_report().map_err(Error::system(waiting))? {
            self.take(report)?;
        }
        Ok(())
    }

    fn take(&mut self, report: Report) -> Result<(), WriterStalled> {
        let Report { tid, what } = report;
        let stop = match what {
            Reported::Ended(_) => return self.end(report),
            Reported::Stopped(stop) => stop,
        };
        let told = self.see(tid, stop);
        // Whatever became of the records, it goes on; if it is gone, that is reported.
        let _ = match stop {
            Stop::Signal(signal) => ptrace::resume(tid, signal),
            Stop::Group => ptrace::listen(tid),
            _ => ptrace::resume(tid, 0),
        };
        told
    }

    /// Lets a thread that reports go for good.
    pub(super) fn let_go(&mut self, report: Report) {
        let Report { tid, what } = report;
        match what {
            Reported::Ended(_) => {
                // Nobody writes any more: the recording ends anyway.
                let _ = self.end(report);
            }
            Reported::Stopped(stop) => {
                if let Stop::Made { tid: made } = stop
                    && ptrace::interrupt(made).is_ok()
                {
                    self.tasks.threads.insert(made, Thread::new(made, made));
                }
                let signal = match stop {
                    Stop::Signal(signal) => signal,
                    _ => 0,
                };
                let _ = ptrace::release(tid, signal);
                self.tasks.threads.remove(&tid);
            }
        }
    }

    fn see(&mut self, tid: i32, stop: Stop) -> Result<(), WriterStalled> {
        // A thread may report before the one that made it does.
        self.begin_thread(tid, None)?;
        match stop {
            Stop::Made { tid: made } => self.begin_thread(made, Some(tid))?,
            Stop::Executed => return self.executed(tid),
            _ => {}
        }
        self.sample_if_due(tid)
    }

    /// A thread is new, unless it is known.
    fn begin_thread(&mut self, tid: i32, by: Option<i32>) -> Result<(), WriterStalled> {
        if self.tasks.threads.contains_key(&tid) {
            return Ok(());
        }
        let Ok(pid) = process_of(tid) else {
            return Ok(());
        };
        let by = by.and_then(|by| Some((self.tasks.threads.get(&by)?.pid, by)));
        let (ppid, ptid) = by.unwrap_or_else(|| {
            let parent = if pid == tid { parent_of(pid) } else { Ok(pid) };
            let parent = parent.unwrap_or(0);
            (parent, parent)
        });
        if pid == tid
            && let Some(mappings) = self.tasks.mappings.get(&ppid).cloned()
        {
            self.tasks.mappings.insert(pid, mappings);
        }
        let mut thread = Thread::new(pid, tid);
        thread.parent = ppid;
        if let Some(maker) = self.tasks.threads.get(&ptid) {
            thread.comm.clone_from(&maker.comm);
        }
        self.tasks.threads.insert(tid, thread);
        let task = Task {
            pid,
            ppid,
            tid,
            ptid,
            time_ns: self.recorder.settings.clock.now_ns(),
        };
        self.tell(&Record::Fork(task), Misc(0), pid, tid)
    }

    /// A process executes another program, in its only thread.
    fn executed(&mut self, pid: i32) -> Result<(), WriterStalled> {
        let parent = self
            .tasks
            .threads
            .get(&pid)
            .map_or(0, |thread| thread.parent);
        for tid in self.tasks.others_of(pid) {
            self.tasks.threads.remove(&tid);
            self.tell_end(pid, tid, parent)?;
        }
        let comm = comm_of(pid, pid).unwrap_or_default();
        let mut thread = Thread::new(pid, pid);
        thread.parent = parent;
        thread.comm.clone_from(&comm);
        self.tasks.threads.insert(pid, thread);
        self.tasks.mappings.remove(&pid);
        let record = Record::Comm(Comm {
            pid,
            tid: pid,
            comm: &comm,
        });
        self.tell(&record, Misc::COMM_EXEC, pid, pid)?;
        self.tell_mappings(pid)
    }

    fn end(&mut self, report: Report) -> Result<(), WriterStalled> {
        let Report { tid, what } = report;
        if let (Reported::Ended(status), true) = (what, self.command == Some(tid)) {
            self.ended = Some(status);
        }
        match self.tasks.remove(tid) {
            Some(thread) => self.tell_end(thread.pid, tid, thread.parent),
            None => Ok(()),
        }
    }

    fn tell_end(&mut self, pid: i32, tid: i32, parent: i32) -> Result<(), WriterStalled> {
        let task = Task {
            pid,
            ppid: parent,
            tid,
            ptid: parent,
            time_ns: self.recorder.settings.clock.now_ns(),
        };
        self.tell(&Record::Exit(task), Misc(0), pid, tid)
    }

    pub(super) fn tell_name(
        &mut self,
        pid: i32,
        tid: i32,
        comm: &[u8],
    ) -> Result<(), WriterStalled> {
        let record = Record::Comm(Comm { pid, tid, comm });
        self.tell(&record, Misc(0), pid, tid)
    }

    /// Writes what a process has mapped since this was last asked.
    pub(super) fn tell_mappings(&mut self, pid: i32) -> Result<(), WriterStalled> {
        let with_data = self.recorder.settings.has_data_mappings();
        let mappings = self.tasks.mappings.entry(pid).or_default();
        for map in mappings.look(pid, with_data) {
            let one = rprof_process::mapping(pid, &map);
            self.tell(&one.record, one.misc, pid, pid)?;
        }
        Ok(())
    }

    /// Writes a record of sideband, as of now.
    fn tell(
        &mut self,
        record: &Record<'_>,
        misc: Misc,
        pid: i32,
        tid: i32,
    ) -> Result<(), WriterStalled> {
        let id = SampleId {
            id: Some(EVENT_ID),
            pid: Some(pid),
            tid: Some(tid),
            time_ns: Some(self.recorder.settings.clock.now_ns()),
            ..SampleId::default()
        };
        self.has_news = true;
        let mut bytes = Vec::new();
        let Recorder {
            drain,
            sink,
            sideband_layout,
            ..
        } = &mut self.recorder;
        if record
            .encode(misc, &id, sideband_layout, &mut bytes)
            .is_err()
        {
            // Longer than a record can be: no path is.
            return Ok(());
        }
        let kind = RecordKind(u32_at(&bytes, 0).unwrap_or_default());
        drain.sideband(kind, &bytes, sink)
    }
}
