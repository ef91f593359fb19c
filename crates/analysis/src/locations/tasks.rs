//! Tasks as samples are grouped by them.

use rprof_machine::{CommId, History, Key};
use rprof_profile::Filter;
use rprof_untrusted::Untrusted;
use std::borrow::Cow;

/// A task's name as the recording knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskName {
    /// By a COMM record.
    Known(CommId),
    /// The idle task.
    Idle,
    /// Never named: shown by its id, as perf does.
    Unnamed(i32),
}

impl TaskName {
    /// What a task is called at a moment.
    pub fn at(history: &History, tid: i32, key: Key) -> Self {
        match history.comm(tid, key) {
            _ if tid == 0 => Self::Idle,
            Some(comm) => Self::Known(comm),
            None => Self::Unnamed(tid),
        }
    }
}

/// A thread under one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NamedThread {
    pub(crate) name: TaskName,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
}

/// Whom a sample is of. The idle tasks alone have neither process nor thread: with a process, 0 is what
/// kernels before 4.14 say of a thread that is gone, and -1 what later ones say (`perf_event_tid`,
/// kernel/events/core.c).
pub(crate) fn task_name((pid, tid): (i32, i32), comm: Option<CommId>) -> TaskName {
    match comm {
        _ if tid == 0 && pid == 0 => TaskName::Idle,
        Some(comm) => TaskName::Known(comm),
        None => TaskName::Unnamed(tid),
    }
}

/// A task's name as it is shown.
pub fn comm_text(history: &History, name: TaskName) -> Untrusted<Cow<'_, str>> {
    match name {
        TaskName::Known(comm) => Untrusted::of_bytes(history.comm_name(comm)),
        TaskName::Idle => Untrusted::new(Cow::Borrowed("swapper")),
        TaskName::Unnamed(tid) => Untrusted::new(Cow::Owned(format!(":{tid}"))),
    }
}

/// What a process or thread was called at last: as one row, it has one name.
pub(crate) fn last_comm(history: &History, pid: i32, id: i32) -> Untrusted<Cow<'_, str>> {
    comm_text(history, task_name((pid, id), history.comm(id, Key::LAST)))
}

/// Whether a filter shows tasks: the answer for the last one, since samples of one task come together.
#[derive(Debug, Default)]
pub(crate) struct ShownTasks {
    last: Option<(TaskName, (i32, i32), bool)>,
}

impl ShownTasks {
    /// Whether the filter shows a task, given by process id and thread id.
    #[inline]
    pub(crate) fn has(
        &mut self,
        filter: &Filter,
        history: &History,
        (pid, tid): (i32, i32),
        name: TaskName,
    ) -> bool {
        match self.last {
            Some((last, id, is_shown)) if (last, id) == (name, (pid, tid)) => is_shown,
            _ => {
                let text = comm_text(history, name).into_raw();
                let is_shown = filter.accepts_task(pid, tid, &text);
                self.last = Some((name, (pid, tid), is_shown));
                is_shown
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_gone_is_not_the_idle_task() {
        assert_eq!(task_name((0, 0), None), TaskName::Idle);
        assert_eq!(task_name((7, 0), None), TaskName::Unnamed(0));
        assert_eq!(task_name((7, -1), None), TaskName::Unnamed(-1));
        assert_eq!(task_name((-1, -1), None), TaskName::Unnamed(-1));
    }
}
