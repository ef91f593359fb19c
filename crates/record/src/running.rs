//! What runs already when a recording begins, written as records.

use crate::interrupts::NoAnswer;
use crate::note::Note;
use crate::run::Run;
use crate::targets::started_by;
use crate::{Error, Watch};
use foldhash::HashSet;
use rprof_abi::record::{Mmap, Record};
use rprof_abi::{Misc, SampleId};
use rprof_ringbuf::sys;

impl Run<'_> {
    pub(crate) fn describe_kernel(&mut self) -> Result<(), NoAnswer> {
        let nobody = SampleId {
            pid: Some(-1),
            tid: Some(0),
            ..SampleId::default()
        };
        for map in rprof_process::kernel_maps() {
            let record = Record::Mmap(Mmap {
                pid: -1,
                tid: 0,
                addr: map.addr,
                len: map.len,
                pgoff: map.pgoff,
                filename: map.name.as_bytes(),
            });
            let layout = &self.sideband_layout;
            self.sink
                .push_encoded(|buffer| record.encode(Misc::KERNEL, &nobody, layout, buffer))?;
        }
        Ok(())
    }

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

    pub(crate) fn describe_running(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let processes = match &self.settings.watch {
            Watch::Command => Vec::new(),
            Watch::Processes(pids) if self.settings.children => {
                processes_of(&[&pids[..], &started_by(pids)].concat())
            }
            Watch::Processes(pids) => processes_of(pids),
            Watch::All => rprof_process::all_processes().map_err(Error::system("listing /proc"))?,
            Watch::Threads(tids) => processes_of(tids),
        };
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
        let (sink, layout) = (&mut self.sink, &self.sideband_layout);
        let missing_build_ids = &mut self.drain.missing_build_ids;
        let (jit_clock, mut jit_notes) = (&mut self.drain.jit_clock, Vec::new());
        let has_data = self.settings.has_data_mappings();
        let mut unreadable = HashSet::default();
        let mut gone = Ok(());
        for pid in processes {
            self.interrupts.check()?;
            let is_readable = rprof_process::describe_process(pid, &mut |one| {
                let is_data =
                    matches!(one.record, Record::Mmap2(_)) && one.misc.has(Misc::MMAP_DATA);
                if is_data && !has_data {
                    return;
                }
                let mut record = one.record;
                jit_notes.extend(jit_clock.see(&record));
                let misc = missing_build_ids
                    .take(&mut record, one.misc)
                    .unwrap_or(one.misc);
                let pushed =
                    sink.push_encoded(|buffer| record.encode(misc, &one.id, layout, buffer));
                if pushed.is_err() {
                    gone = pushed;
                }
            });
            if !is_readable {
                unreadable.insert(pid);
            }
        }
        jit_notes.into_iter().for_each(&mut *note);
        if !unreadable.is_empty() {
            note(Note::Unreadable {
                processes: unreadable.len(),
                is_root: sys::effective_uid() == 0,
            });
        }
        // Cannot fail: it is set once.
        let _ = self.unreadable.set(unreadable);
        Ok(gone?)
    }
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
