//! The tasks of a recording: its records of names, forks and mappings in order of time.

mod mappings;

use crate::Error;
use crate::index::has_times;
use foldhash::HashSet;
use mappings::Mappings;
use rprof_abi::record::{FileIdentity, Mmap, Mmap2, Record, Task};
use rprof_abi::{CpuMode, Misc, RawRecord};
use rprof_base::{Avma, FileOffset};
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step};
use rprof_profile::{RecordedTask, TaskMapping, Tasks};
use rprof_untrusted::{Budget, OverBudget, Untrusted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether tasks are wanted with what they had mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedMappings {
    /// Without, which costs less.
    None,
    /// With all of it.
    All,
}

/// Reads who made whom, what tasks were called and, if wanted, what they had mapped when the recording ended; and what
/// could not be used, one sentence each.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or [`Error::MappingsOverBudget`].
pub fn load_tasks(reader: &Reader, wanted: WantedMappings) -> Result<(Tasks, Vec<String>), Error> {
    let has_times = has_times(reader);
    let mut texts = Texts::default();
    let mut changes: Vec<(Key, Change)> = Vec::new();
    let warnings = reader.walk(reader.data(), |offset, raw| {
        if let Some((time_ns, change)) = change_of(reader, raw, wanted, &mut texts) {
            changes.push((Key::new(has_times, time_ns, offset), change));
        }
        Step::On
    })?;
    changes.sort_by_key(|(key, _)| *key);
    let mut tasks = Running::new(reader.budget());
    tasks.name((0, 0), texts.of(b"swapper"));
    for (_, change) in changes {
        let taken = tasks.take(change);
        taken.map_err(|OverBudget| Error::MappingsOverBudget)?;
    }
    let all = reader.warnings().iter().chain(&warnings);
    Ok((tasks.end(), all.map(ToString::to_string).collect()))
}

/// Texts, each once.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn of(&mut self, bytes: &[u8]) -> Arc<str> {
        let text = String::from_utf8_lossy(bytes);
        if let Some(known) = self.0.get(text.as_ref()) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// What a record says of tasks.
enum Change {
    Name {
        id: (i32, i32),
        comm: Arc<str>,
        is_exec: bool,
    },
    Fork {
        task: Task,
        inherits: bool,
    },
    Map {
        id: (i32, i32),
        /// Where it is wanted.
        mapping: Option<TaskMapping>,
    },
}

fn change_of(
    reader: &Reader,
    raw: RawRecord<'_>,
    wanted: WantedMappings,
    texts: &mut Texts,
) -> Option<(Option<u64>, Change)> {
    use rprof_abi::RecordKind as Kind;
    let kinds = [Kind::COMM, Kind::FORK, Kind::MMAP, Kind::MMAP2];
    let is_user = |misc: Misc| matches!(misc.cpu_mode(), CpuMode::User | CpuMode::Unknown);
    if !kinds.contains(&raw.kind) {
        return None;
    }
    let layout = &reader.events().get(reader.event_of(raw)?)?.layout;
    let (record, id) = Record::parse(raw, layout).ok()?;
    let has_mappings = wanted == WantedMappings::All;
    let change = match &record {
        Record::Comm(comm) => Change::Name {
            id: (comm.pid, comm.tid),
            comm: texts.of(comm.comm),
            is_exec: raw.misc.has(Misc::COMM_EXEC),
        },
        Record::Fork(task) => Change::Fork {
            task: *task,
            inherits: !raw.misc.has(Misc::FORK_EXEC),
        },
        Record::Mmap(mmap) if is_user(raw.misc) => Change::Map {
            id: (mmap.pid, mmap.tid),
            mapping: has_mappings.then(|| plain(mmap, raw.misc, texts)),
        },
        Record::Mmap2(mmap) if is_user(raw.misc) => Change::Map {
            id: (mmap.pid, mmap.tid),
            mapping: has_mappings.then(|| whole(mmap, texts)),
        },
        _ => return None,
    };
    Some((id.time_ns, change))
}

/// Of a record that does not say how it may be used: code, unless it is marked as data.
fn plain(mmap: &Mmap<'_>, misc: Misc, texts: &mut Texts) -> TaskMapping {
    TaskMapping {
        start: Avma(mmap.addr),
        end: Avma(mmap.addr.saturating_add(mmap.len)),
        protection: if misc.has(Misc::MMAP_DATA) { 0 } else { 4 },
        is_shared: false,
        file_offset: FileOffset(mmap.pgoff),
        inode: 0,
        name: Untrusted::new(texts.of(mmap.filename)),
    }
}

fn whole(mmap: &Mmap2<'_>, texts: &mut Texts) -> TaskMapping {
    /// MAP_SHARED of include/uapi/linux/mman.h (v6.1).
    const SHARED: u32 = 1;
    TaskMapping {
        start: Avma(mmap.addr),
        end: Avma(mmap.addr.saturating_add(mmap.len)),
        protection: mmap.prot,
        is_shared: mmap.flags & SHARED != 0,
        file_offset: FileOffset(mmap.pgoff),
        inode: match mmap.identity {
            FileIdentity::Inode(inode) => inode.ino,
            FileIdentity::BuildId(_) => 0,
        },
        name: Untrusted::new(texts.of(mmap.filename)),
    }
}

/// Tasks as they are at some time.
struct Running {
    tasks: BTreeMap<i32, RecordedTask>,
    mappings: Mappings,
}

impl Running {
    fn new(budget: &Budget) -> Self {
        Self {
            tasks: BTreeMap::new(),
            mappings: Mappings::new(budget),
        }
    }

    fn take(&mut self, change: Change) -> Result<(), OverBudget> {
        match change {
            Change::Name { id, comm, is_exec } => {
                if is_exec {
                    self.mappings.remove(id.0);
                }
                self.name(id, comm);
            }
            Change::Fork { task, inherits } => self.fork(task, inherits),
            Change::Map { id, mapping } => {
                self.task(id);
                if let Some(mapping) = mapping {
                    self.mappings.add(id.0, mapping)?;
                }
            }
        }
        Ok(())
    }

    fn name(&mut self, id: (i32, i32), comm: Arc<str>) {
        self.task(id).comm = Some(Untrusted::new(comm));
    }

    /// The task with an id, made where there is none; the first thread of its process with it.
    fn task(&mut self, (pid, tid): (i32, i32)) -> &mut RecordedTask {
        let new = |pid, tid| RecordedTask {
            pid,
            tid,
            parent: None,
            comm: None,
            mappings: Arc::default(),
        };
        if pid >= 0 {
            self.tasks.entry(pid).or_insert_with(|| new(pid, pid));
        }
        self.tasks.entry(tid).or_insert_with(|| new(pid, tid))
    }

    fn fork(&mut self, task: Task, inherits: bool) {
        let comm = self.task((task.ppid, task.ptid)).comm.clone();
        // Who had the id before is gone.
        self.tasks.remove(&task.tid);
        if task.pid != task.ppid {
            self.mappings.remove(task.pid);
            if inherits {
                self.mappings.fork(task.ppid, task.pid);
            }
        }
        let new = self.task((task.pid, task.tid));
        new.comm = comm;
        new.parent = Some(task.ptid);
    }

    fn end(mut self) -> Tasks {
        for task in self.tasks.values_mut() {
            task.mappings = self.mappings.of(task.pid);
        }
        Tasks(self.tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_inherit_and_ids_that_are_given_anew_are_others() {
        let fork = |pid, ppid| Change::Fork {
            task: Task {
                pid,
                ppid,
                tid: pid,
                ptid: ppid,
                time_ns: 0,
            },
            inherits: true,
        };
        let map = |pid, start| Change::Map {
            id: (pid, pid),
            mapping: Some(mappings::tests::mapping(start, start + 1)),
        };
        let name = |pid, comm: &str, is_exec| Change::Name {
            id: (pid, pid),
            comm: comm.into(),
            is_exec,
        };
        let changes = [
            name(1, "sh", false),
            map(1, 1),
            fork(2, 1),
            map(2, 2),
            fork(3, 2),
            name(3, "ls", true),
            map(3, 3),
            fork(2, 3),
        ];
        let mut running = Running::new(&Budget::default());
        for change in changes {
            running.take(change).unwrap();
        }
        let tasks = running.end();
        let said = tasks.0.values().map(|task| {
            let comm = task.comm.as_ref().map_or("", Untrusted::raw);
            let starts = task.mappings.iter().map(|one| one.start.0);
            (task.tid, task.parent, comm, starts.collect::<Vec<u64>>())
        });
        let said: Vec<_> = said.collect();
        assert_eq!(
            said,
            [
                (1, None, "sh", vec![1]),
                (2, Some(3), "ls", vec![3]),
                (3, Some(2), "ls", vec![3]),
            ]
        );
    }
}
