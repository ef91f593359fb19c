//! Tasks as samples are grouped by them.

use rprof_machine::{Comm, History};
use rprof_untrusted::Untrusted;
use std::borrow::Cow;

/// By which parts of a task samples are told apart, beside its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskParts {
    pub(crate) pid: bool,
    pub(crate) tid: bool,
    pub(crate) cpu: bool,
}

/// A task's name as the recording knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TaskName {
    Known(Comm),
    Idle,
    /// Never named: shown by its id, as perf does.
    Unnamed(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskGroup {
    pub(crate) name: TaskName,
    pub(crate) pid: Option<i32>,
    pub(crate) tid: Option<i32>,
    pub(crate) cpu: Option<u32>,
}

/// Whom a sample is of. The idle tasks alone have neither process nor thread: with a process, 0 is what
/// kernels before 4.14 say of a thread that is gone, and -1 what later ones say (`perf_event_tid`,
/// kernel/events/core.c).
pub(crate) fn task_name((pid, tid): (i32, i32), comm: Option<Comm>) -> TaskName {
    match comm {
        _ if tid == 0 && pid == 0 => TaskName::Idle,
        Some(comm) => TaskName::Known(comm),
        None => TaskName::Unnamed(tid),
    }
}

pub(crate) fn comm_text(history: &History, name: TaskName) -> Untrusted<Cow<'_, str>> {
    Untrusted::new(match name {
        TaskName::Known(comm) => String::from_utf8_lossy(history.comm_name(comm)),
        TaskName::Idle => Cow::Borrowed("swapper"),
        TaskName::Unnamed(tid) => Cow::Owned(format!(":{tid}")),
    })
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
