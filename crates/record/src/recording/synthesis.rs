//! Synthesis: records that describe what runs already when a recording, or another file of one, begins.

use super::recorder::Recorder;
use crate::drain::Drain;
use crate::error::Error;
use crate::interrupts::WriterStalled;
use crate::live::Unreadable;
use crate::note::Note;
use crate::settings::{Synthesis, Watch};
use crate::sink::Sink;
use foldhash::HashSet;
use rprof_abi::record::{Mmap, Record};
use rprof_abi::{Misc, SampleId, SampleLayout};
use rprof_process::{Synthesized, describe_process, started_by};
use rprof_ringbuf::sys;
use std::rc::Rc;

/// Bytes of records that the unwinder gets to know together: others may have mapped any number of files.
const MAX_KNOWN: usize = 256 << 10;

/// Takes a record; the sink is for those that write it there.
type Push<'p> = dyn FnMut(&mut Sink, &[u8]) -> Result<(), WriterStalled> + 'p;

impl Recorder {
    /// Describes all control groups.
    pub(super) fn describe_cgroups(&mut self) -> Result<(), WriterStalled> {
        self.push_all(|mut emit| rprof_process::describe_cgroups(&mut emit))
    }

    /// Describes the namespaces of a process.
    pub(super) fn describe_namespaces(&mut self, pid: i32) -> Result<(), WriterStalled> {
        self.push_all(|mut emit| rprof_process::describe_namespaces(pid, &mut emit))
    }

    /// Writes what is described, as it is.
    fn push_all(
        &mut self,
        describe: impl FnOnce(&mut dyn FnMut(Synthesized<'_>)),
    ) -> Result<(), WriterStalled> {
        let (sink, layout) = (&mut self.sink, &self.sideband_layout);
        let mut pushed = Ok(());
        describe(&mut |one| {
            if pushed.is_ok() {
                pushed = sink
                    .push_encoded(|buffer| one.record.encode(one.misc, &one.id, layout, buffer));
            }
        });
        pushed
    }

    /// Describes the kernel, and what runs when a recording begins. `unreadable` is set to the processes that may not
    /// be inspected.
    pub(crate) fn describe_at_start(
        &mut self,
        unreadable: &Unreadable,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let processes = self.processes_at_start()?;
        if let Some(lineage) = &mut self.drain.tracked.lineage {
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
        let found = if self.settings.writing.synthesis_at_end {
            // Stacks are unwound all the same.
            let mut records = Vec::new();
            let found = self.describe(&processes, &mut |sink, record| {
                records.extend_from_slice(record);
                if records.len() >= MAX_KNOWN {
                    sink.know(std::mem::take(&mut records))
                } else {
                    Ok(())
                }
            })?;
            self.sink.know(records)?;
            found
        } else {
            self.describe(&processes, &mut Sink::push)?
        };
        if !found.is_empty() {
            note(Note::Unreadable {
                processes: found.len(),
                is_root: sys::effective_uid() == 0,
            });
        }
        // Cannot fail: it is set once.
        let _ = unreadable.set(found);
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

    /// Describes the kernel, and processes as `/proc` has them, in records that `push` takes. Returns those that may
    /// not be inspected.
    fn describe(&mut self, processes: &[i32], push: &mut Push<'_>) -> Result<HashSet<i32>, Error> {
        self.describe_kernel(push)?;
        let has_data = self.settings.has_data_mappings();
        let interrupts = Rc::clone(&self.interrupts);
        let mut unreadable = HashSet::default();
        let mut alive = self.drain.tracked.alive.take();
        let mut describer = self.describer(push);
        let mut checked = Ok(());
        for &pid in processes {
            checked = interrupts.check();
            if checked.is_err() {
                break;
            }
            let is_readable = describe_process(pid, &mut |one| {
                let is_data = one.misc.has(Misc::MMAP_DATA) && !has_data;
                if let Some(alive) = alive.as_mut().filter(|_| !is_data) {
                    alive.apply(one.misc, &one.record);
                }
                describer.take(one);
            });
            if !is_readable {
                unreadable.insert(pid);
            }
        }
        let pushed = describer.pushed;
        self.drain.tracked.alive = alive;
        checked?;
        pushed?;
        Ok(unreadable)
    }

    /// Describes the kernel and what runs now, as sideband has told it.
    pub(super) fn describe_alive(&mut self, push: &mut Push<'_>) -> Result<(), WriterStalled> {
        self.describe_kernel(push)?;
        let alive = self.drain.tracked.alive.take();
        let mut describer = self.describer(push);
        if let Some(alive) = &alive {
            alive.describe(&mut |one| describer.take(one));
        }
        let pushed = describer.pushed;
        self.drain.tracked.alive = alive;
        pushed
    }

    fn describe_kernel(&mut self, push: &mut Push<'_>) -> Result<(), WriterStalled> {
        let mut records = kernel(&self.sideband_layout);
        records.try_for_each(|record| push(&mut self.sink, &record))
    }

    fn describer<'r>(&'r mut self, push: &'r mut Push<'r>) -> Describer<'r> {
        Describer {
            synthesis: self.settings.writing.synthesis,
            has_data: self.settings.has_data_mappings(),
            layout: &self.sideband_layout,
            drain: &mut self.drain,
            sink: &mut self.sink,
            push,
            bytes: Vec::new(),
            pushed: Ok(()),
        }
    }
}

/// Writes what processes are described with.
struct Describer<'r> {
    synthesis: Synthesis,
    has_data: bool,
    layout: &'r SampleLayout,
    drain: &'r mut Drain,
    sink: &'r mut Sink,
    push: &'r mut Push<'r>,
    bytes: Vec<u8>,
    pushed: Result<(), WriterStalled>,
}

impl Describer<'_> {
    fn take(&mut self, one: Synthesized<'_>) {
        let mut record = one.record;
        let is_mapping = matches!(record, Record::Mmap2(_));
        let is_data = is_mapping && one.misc.has(Misc::MMAP_DATA);
        let is_wanted = match self.synthesis {
            Synthesis::Nothing => false,
            Synthesis::Tasks => !is_mapping,
            Synthesis::All => !is_data || self.has_data,
        };
        if !is_wanted || self.pushed.is_err() {
            return;
        }
        self.drain.notes.extend(self.drain.jit_clock.see(&record));
        let misc = self.drain.missing_build_ids.take(&mut record, one.misc);
        let misc = misc.unwrap_or(one.misc);
        self.bytes.clear();
        let encoded = record.encode(misc, &one.id, self.layout, &mut self.bytes);
        if encoded.is_ok() {
            self.pushed = (self.push)(self.sink, &self.bytes);
        }
    }
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
    let mut pids: Vec<i32> = tids
        .iter()
        .filter_map(|&tid| rprof_process::process_of(tid).ok())
        .collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}
