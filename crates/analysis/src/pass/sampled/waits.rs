//! The times at which threads waited, for viewers that show when it was.

use crate::Error;
use crate::locations::{TaskName, comm_text};
use crate::pass::account::{ThreadActivity, ThreadEvent, for_each_thread_event, has_thread_events};
use crate::pass::query::Query;
use foldhash::HashMap;
use rprof_profile::{SampledProfile, StrId, Thread, TimedWait};
use rprof_scheduling::{ThreadState, Waker};

/// Adds the waits of threads that the filter shows, as far as the recording says when they were. Threads that have no
/// samples are added.
pub(super) fn add_waits(query: &Query<'_>, sampled: &mut SampledProfile) -> Result<(), Error> {
    if !has_thread_events(query.recording) {
        return Ok(());
    }
    let mut waits = Waits::new(query, sampled);
    let told = for_each_thread_event(query.recording, &mut |_, event| waits.take(event));
    waits.find_wakers();
    match told {
        // An account of the same time has said it.
        Ok(_) if query.samples.source.is_derived() => {}
        Ok(warnings) => sampled.profile.warnings.extend(warnings),
        // Samples are of use without.
        Err(Error::NoSwitchesIn) => {
            let why = format!("waits of threads are not shown: {}", Error::NoSwitchesIn);
            sampled.profile.warnings.push(why);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

struct Waits<'a> {
    query: &'a Query<'a>,
    sampled: &'a mut SampledProfile,
    threads: HashMap<(i32, StrId), u32>,
    /// Of each wait, the thread that ended it.
    wakers: Vec<Option<i32>>,
}

impl<'a> Waits<'a> {
    fn new(query: &'a Query<'a>, sampled: &'a mut SampledProfile) -> Self {
        let threads = (0..).zip(&sampled.threads);
        let threads = threads.map(|(number, thread)| ((thread.tid, thread.comm), number));
        Self {
            threads: threads.collect(),
            query,
            sampled,
            wakers: Vec::new(),
        }
    }

    fn take(&mut self, event: ThreadEvent) {
        let ThreadActivity::Waited {
            start_ns,
            end_ns,
            state,
            cause,
            woken,
            ..
        } = event.activity
        else {
            return;
        };
        let (id, comm) = ((event.pid, event.tid), self.name(event.tid, start_ns));
        let text = self.sampled.profile.strings.of(comm).into_raw();
        if !self.query.samples.shows_thread(id, text, start_ns) {
            return;
        }
        let thread = self.thread(id, comm, start_ns);
        if let Some(thread) = self.sampled.threads.get_mut(thread as usize) {
            thread.start_ns = thread.start_ns.min(start_ns);
            thread.end_ns = thread.end_ns.max(end_ns);
        }
        let (waker, tid) = match woken.map(|woken| (woken.waker, woken.time_ns)) {
            Some((Waker::Thread(tid), time_ns)) => (Some(self.name(tid, time_ns)), Some(tid)),
            Some((Waker::Unknown, _)) | None => (None, None),
            Some((waker, _)) => {
                let name = self.sampled.profile.strings.intern(waker.name());
                (Some(name), None)
            }
        };
        let strings = &mut self.sampled.profile.strings;
        let is_blocked = matches!(state, ThreadState::Blocked(_));
        self.sampled.waits.push(TimedWait {
            thread,
            start_ns,
            end_ns,
            state: strings.intern(state.name()),
            cause: strings.intern(cause.name()),
            waker,
            waker_thread: None,
            is_woken: is_blocked && woken.is_some(),
        });
        self.wakers.push(tid);
    }

    fn name(&mut self, tid: i32, time_ns: u64) -> StrId {
        let index = &self.query.recording.index;
        let key = index.key(Some(time_ns), u64::MAX);
        let name = comm_text(&index.history, TaskName::at(&index.history, tid, key));
        self.sampled.profile.strings.intern(&name.into_raw())
    }

    fn thread(&mut self, (pid, tid): (i32, i32), comm: StrId, start_ns: u64) -> u32 {
        let threads = &mut self.sampled.threads;
        *self.threads.entry((tid, comm)).or_insert_with(|| {
            threads.push(Thread {
                pid,
                tid,
                comm,
                start_ns,
                end_ns: start_ns,
            });
            u32::try_from(threads.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// All threads are known now.
    fn find_wakers(&mut self) {
        for (wait, tid) in self.sampled.waits.iter_mut().zip(&self.wakers) {
            let waker = wait.waker.zip(*tid);
            wait.waker_thread =
                waker.and_then(|(comm, tid)| self.threads.get(&(tid, comm)).copied());
        }
    }
}
