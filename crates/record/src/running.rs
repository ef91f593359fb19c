//! What runs already when a recording, or another file of one, begins: described by records.

use crate::interrupts::NoAnswer;
use crate::note::Note;
use crate::run::Run;
use crate::sink::Sink;
use crate::targets::started_by;
use crate::{Error, Synthesis, Watch};
use foldhash::HashSet;
use rprof_abi::record::{Mmap, Record};
use rprof_abi::{Misc, SampleId, SampleLayout};
use rprof_ringbuf::sys;
use std::rc::Rc;

impl Run<'_> {
    pub(crate) fn describe_cgroups(&mut self) -> Result<(), NoAnswer> {
        let (sink, layout) = (&mut self.sink, &self.sideband_layout);
        let mut pushed = Ok(());
        rprof_process::describe_cgroups(&mut |one| {
            if pushed.is_ok() {
                pushed = sink
                    .push_encoded(|buffer| one.record.encode(one.misc, &one.id, layout, buffer));
            }
        });
        pushed
    }

    pub(crate) fn describe_namespaces(&mut self, pid: i32) -> Result<(), NoAnswer> {
        let (sink, layout) = (&mut self.sink, &self.sideband_layout);
        let mut pushed = Ok(());
        rprof_process::describe_namespaces(pid, &mut |one| {
            pushed =
                sink.push_encoded(|buffer| one.record.encode(one.misc, &one.id, layout, buffer));
        });
        pushed
    }

    /// Describes the kernel, and what runs when a recording begins.
    pub(crate) fn describe_at_start(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let processes = self.processes_at_start()?;
        if let Some(lineage) = &mut self.drain.lineage {
            // The sideband, which is on, tells what they start from now on.
            for &pid in &processes {
                let mut threads = rprof_process::threads_of(pid).unwrap_or_default();
                if let Watch::Threads(asked) = &self.settings.watch {
                    threads.retain(|tid| asked.contains(tid));
                }
                lineage.add(pid, &threads);
            }
        }
        if self.settings.sideband.namespaces {
            for &pid in &processes {
                self.describe_namespaces(pid)?;
            }
        }
        let interrupts = Rc::clone(&self.interrupts);
        let go_on = || interrupts.check();
        let described = match self.settings.writing.synthesis_at_end {
            // Stacks are unwound all the same.
            true => {
                let mut records = Vec::new();
                let described = self.describe(&processes, &go_on, &mut |_, record| {
                    records.extend_from_slice(record);
                    Ok(())
                })?;
                self.sink.know(records)?;
                described
            }
            false => self.describe(&processes, &go_on, &mut Sink::push)?,
        };
        if !described.unreadable.is_empty() {
            note(Note::Unreadable {
                processes: described.unreadable.len(),
                is_root: sys::effective_uid() == 0,
            });
        }
        // Cannot fail: it is set once.
        let _ = self.unreadable.set(described.unreadable);
        Ok(())
    }

    /// The processes that a recording begins with.
    fn processes_at_start(&self) -> Result<Vec<i32>, Error> {
        Ok(match &self.settings.watch {
            Watch::Command => Vec::new(),
            Watch::Processes(pids) if self.settings.children => {
                processes_of(&[&pids[..], &started_by(pids)].concat())
            }
            Watch::Processes(pids) => processes_of(pids),
            Watch::All => rprof_process::all_processes().map_err(Error::system("listing /proc"))?,
            Watch::Threads(tids) => processes_of(tids),
            Watch::Matching(matching) => matching.processes(),
        })
    }

    /// The processes that are there now.
    pub(crate) fn processes_now(&mut self) -> Result<Vec<i32>, Error> {
        let all = rprof_process::all_processes().map_err(Error::system("listing /proc"))?;
        if self.settings.watch == Watch::All {
            return Ok(all);
        }
        let all: HashSet<i32> = all.into_iter().collect();
        let alive = self.drain.alive.as_mut();
        Ok(alive.map_or(Vec::new(), |alive| {
            alive.processes(|pid| all.contains(&pid))
        }))
    }

    /// Describes the kernel and processes, in records that `push` takes. `go_on` is asked before each.
    pub(crate) fn describe(
        &mut self,
        processes: &[i32],
        go_on: &dyn Fn() -> Result<(), Error>,
        push: &mut Push<'_>,
    ) -> Result<Described, Error> {
        let layout = &self.sideband_layout;
        for record in kernel(layout) {
            push(&mut self.sink, &record)?;
        }
        let (synthesis, sink) = (self.settings.writing.synthesis, &mut self.sink);
        let missing_build_ids = &mut self.drain.missing_build_ids;
        let mut alive = self.drain.alive.as_mut();
        let (jit_clock, notes) = (&mut self.drain.jit_clock, &mut self.drain.notes);
        let has_data = self.settings.has_data_mappings();
        let mut described = Described::default();
        let (mut bytes, mut gone) = (Vec::new(), Ok(()));
        for &pid in processes {
            go_on()?;
            let is_readable = rprof_process::describe_process(pid, &mut |one| {
                let mut record = one.record;
                if let (Record::Fork(task), Some(alive)) = (&record, &mut alive) {
                    alive.add(task.pid, task.tid);
                }
                let is_mapping = matches!(record, Record::Mmap2(_));
                let is_data = is_mapping && one.misc.has(Misc::MMAP_DATA);
                let is_wanted = match synthesis {
                    Synthesis::Nothing => false,
                    Synthesis::Tasks => !is_mapping,
                    Synthesis::All => !is_data || has_data,
                };
                if !is_wanted {
                    return;
                }
                notes.extend(jit_clock.see(&record));
                let misc = missing_build_ids.take(&mut record, one.misc);
                bytes.clear();
                let misc = misc.unwrap_or(one.misc);
                if record.encode(misc, &one.id, layout, &mut bytes).is_ok() {
                    let pushed = push(sink, &bytes);
                    if pushed.is_err() {
                        gone = pushed;
                    }
                }
            });
            if !is_readable {
                described.unreadable.insert(pid);
            }
        }
        gone?;
        Ok(described)
    }
}

/// Takes a record; the sink is for those that write it there.
type Push<'p> = dyn FnMut(&mut Sink, &[u8]) -> Result<(), NoAnswer> + 'p;

/// What came of a description.
#[derive(Debug, Default)]
pub(crate) struct Described {
    /// Processes that may not be inspected.
    unreadable: HashSet<i32>,
}

/// The records that describe the kernel.
fn kernel(layout: &SampleLayout) -> impl Iterator<Item = Vec<u8>> {
    let nobody = SampleId {
        pid: Some(-1),
        tid: Some(0),
        ..SampleId::default()
    };
    rprof_process::kernel_maps()
        .into_iter()
        .filter_map(move |map| {
            let record = Record::Mmap(Mmap {
                pid: -1,
                tid: 0,
                addr: map.addr,
                len: map.len,
                pgoff: map.pgoff,
                filename: map.name.as_bytes(),
            });
            let mut bytes = Vec::new();
            record
                .encode(Misc::KERNEL, &nobody, layout, &mut bytes)
                .ok()?;
            Some(bytes)
        })
}

/// The processes of some threads, each once.
fn processes_of(tids: &[i32]) -> Vec<i32> {
    let of = tids
        .iter()
        .filter_map(|&tid| rprof_process::process_of(tid).ok());
    let mut pids: Vec<i32> = of.collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}
