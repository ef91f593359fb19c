//! The critical path that is asked for: whose it is, and from when to when.

use crate::Error;
use crate::about::command_line;
use crate::locations::{TaskName, comm_text};
use crate::recording::Recording;
use crate::samples::recorded_command;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RecordKind};
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step};
use rprof_profile::PathEnd;
use rprof_scheduling::{PathStep, RunGraph};
use rprof_untrusted::Untrusted;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// Which critical path is asked for.
#[derive(Clone, Debug)]
pub(crate) struct WantedPath<'f> {
    pub(crate) end: &'f PathEnd,
    /// Only between these moments, nanoseconds.
    pub(crate) within: Option<RangeInclusive<u64>>,
    /// Whether other time counts, too, apart from it.
    pub(crate) keeps_rest: bool,
}

/// What the end of a thread waited for, from thread to thread.
#[derive(Clone, Debug)]
pub struct CriticalPath {
    /// The thread.
    pub tid: i32,
    /// From when to when, nanoseconds.
    pub range: Range<u64>,
    /// The path: it fills the range.
    pub steps: Vec<PathStep>,
    /// The threads on it, by id, and that whose path it is.
    pub threads: Vec<PathThread>,
    /// Whether it is known of any thread which one woke it.
    has_wakers: bool,
}

/// A thread on a critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathThread {
    /// Its id.
    pub tid: i32,
    /// Its process; -1 if that is not known.
    pub pid: i32,
    /// As it was called at last.
    pub name: Untrusted<String>,
}

impl CriticalPath {
    pub(super) fn find(
        recording: &Recording<'_>,
        wanted: &WantedPath<'_>,
        graph: &RunGraph,
        pid_of: impl Fn(i32) -> i32,
    ) -> Result<Self, Error> {
        let history = &recording.index.history;
        let name = |tid| comm_text(history, TaskName::at(history, tid, Key::LAST));
        let (tid, start_ns) = match wanted.end {
            PathEnd::Command => command(recording.reader)?.ok_or(Error::WhichPath)?,
            PathEnd::Threads { comms, pids, tids } => {
                let has = |list: &[i32], id| list.is_empty() || list.contains(&id);
                let fits = |&tid: &i32| {
                    let is_asked = has(tids, tid) && has(pids, pid_of(tid));
                    is_asked && comms.accepts(&[&name(tid).into_raw()])
                };
                let all = graph.threads().filter(|&tid| tid > 0).filter(fits);
                let last = all.max_by_key(|&tid| (graph.end_ns(tid), Reverse(tid)));
                (last.ok_or(Error::NoSuchThread)?, 0)
            }
        };
        let known_ns = graph.start_ns(tid).ok_or(Error::NoSuchThread)?;
        let end_ns = graph.end_ns(tid).ok_or(Error::NoSuchThread)?;
        let (from_ns, to_ns) = wanted.within.clone().unwrap_or(0..=u64::MAX).into_inner();
        let range = start_ns.max(known_ns).max(from_ns)..end_ns.min(to_ns);
        if range.is_empty() {
            return Err(Error::NoSuchThread);
        }
        let steps = graph.critical_path(tid, range.clone());
        let tids: BTreeSet<i32> = steps.iter().map(|step| step.tid).chain([tid]).collect();
        let threads = tids.into_iter().map(|tid| PathThread {
            tid,
            pid: pid_of(tid),
            name: Untrusted::new(name(tid).into_raw().into_owned()),
        });
        Ok(Self {
            tid,
            range,
            threads: threads.collect(),
            steps,
            has_wakers: graph.has_wakers(),
        })
    }

    /// How long it is, nanoseconds.
    pub fn len_ns(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// The thread with an id that is on it.
    pub fn thread(&self, tid: i32) -> Option<&PathThread> {
        let at = self.threads.binary_search_by_key(&tid, |one| one.tid);
        self.threads.get(at.ok()?)
    }

    /// What is to be said of it.
    pub(super) fn warning(&self) -> Option<String> {
        (!self.has_wakers).then(|| {
            "no thread is known to have woken another one: the critical path stays in one thread (record with \
             rprof record --off-cpu as root, or sched:sched_waking)"
                .to_owned()
        })
    }
}

/// The thread that executed the recorded command, and when: with `-a`, other programs are executed, too.
fn command(reader: &Reader) -> Result<Option<(i32, u64)>, Error> {
    let pid = recorded_command(reader);
    let words = command_line(reader);
    let end_of_options = words.iter().position(|word| word == b"--");
    // Without it, any word but the recorder may be the command.
    let words = words.get(end_of_options.unwrap_or(0) + 1..);
    let words = words.unwrap_or_default();
    let is_command = |tid: i32, comm: &[u8]| match pid {
        Some(pid) => tid == pid,
        None => words.iter().any(|word| comm == comm_of(word)),
    };
    let mut found = None;
    reader.walk(reader.data(), |_, raw| {
        if raw.kind != RecordKind::COMM || !raw.misc.has(Misc::COMM_EXEC) {
            return Step::On;
        }
        let event = reader.event_of(raw).and_then(|at| reader.events().get(at));
        let parsed = event.and_then(|event| Record::parse(raw, &event.layout).ok());
        if let Some((Record::Comm(comm), id)) = parsed
            && is_command(comm.tid, comm.comm)
        {
            found = id.time_ns.map(|time_ns| (comm.tid, time_ns));
        }
        found.map_or(Step::On, |_| Step::Stop)
    })?;
    Ok(found.or(pid.map(|pid| (pid, 0))))
}

/// What a process is called that executes a program: its file's name, cut.
fn comm_of(program: &[u8]) -> &[u8] {
    let name = program.rsplit(|&byte| byte == b'/').next();
    let name = name.unwrap_or(program);
    name.get(..MAX_COMM).unwrap_or(name)
}

/// `TASK_COMM_LEN` without the zero byte; include/linux/sched.h.
const MAX_COMM: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_called_by_the_file_of_their_program() {
        assert_eq!(comm_of(b"/usr/bin/sort"), b"sort");
        assert_eq!(comm_of(b"./a-rather-long-name"), b"a-rather-long-n");
        assert_eq!(comm_of(b"make"), b"make");
    }
}
