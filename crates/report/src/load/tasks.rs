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
