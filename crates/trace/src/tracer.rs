//! [`Tracer`]: follows the events of a recording, or of several that follow each other.

use crate::Error;
use crate::line::Lines;
use crate::stacks::CallStackId;
use crate::summary::write_summary;
use crate::threads::NO_COMM;
use crate::traced::TracedCalls;
use rprof_analysis::{Options, Progress, SyscallEvent, SyscallStep, for_each_syscall};
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use rprof_profile::text::Fit;
use rprof_syscalls::{
    Syscall, SyscallAbi, SyscallFollower, SyscallId, SyscallMoment, SyscallNames, SyscallResult,
    SyscallSelection, SyscallTasks,
};
use std::io::{self, Write};

/// What is written of system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceForm {
    /// A line for each.
    #[default]
    Lines,
    /// Sums by thread and call.
    Summary,
    /// Both: lines first.
    LinesAndSummary,
}

/// How system calls are traced.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// What is written.
    pub form: TraceForm,
    /// Recordings are parts of one that goes on: a part may have events that are older than the newest of the part
    /// before.
    pub is_live: bool,
    /// Which calls are written; `None` for all.
    pub selection: Option<SyscallSelection>,
    /// Where lines of the summary end.
    pub fit: Option<Fit>,
}

/// Traces system calls.
#[derive(Debug)]
pub struct Tracer {
    options: TraceOptions,
    follower: SyscallFollower<Option<CallStackId>>,
    tasks: SyscallTasks,
    traced: TracedCalls,
    /// Those that older ones may follow.
    held: Vec<HeldEvent>,
    /// The newest of the part before.
    before_ns: u64,
}

/// An event that does not depend on its recording.
#[derive(Clone, Copy, Debug)]
struct HeldEvent {
    at: SyscallMoment,
    step: SyscallStep,
    /// Number of the thread's name.
    comm: Option<u32>,
    stack: Option<CallStackId>,
}

/// Names of threads that are told apart.
const MOST_COMMS: usize = 1 << 20;

impl Tracer {
    /// For recordings of a machine, named as `uname -m` has it.
    pub fn new(machine: &str, options: TraceOptions) -> Self {
        let native = SyscallAbi::of_machine(machine);
        let of_32_bit = SyscallNames::of(native.of_32_bit_tasks());
        let native = SyscallNames::of(native);
        let has_totals = options.form != TraceForm::Lines;
        Self {
            options,
            follower: SyscallFollower::new(native.clone(), of_32_bit.clone()),
            traced: TracedCalls::new(native, of_32_bit, has_totals),
            tasks: SyscallTasks::default(),
            held: Vec::new(),
            before_ns: 0,
        }
    }

    /// Reads a recording, and writes the lines of calls that have ended, if lines are wanted. Returns how good it is.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read, or has no system calls; or of `out`.
    pub fn read(
        &mut self,
        reader: &Reader,
        options: &Options,
        progress: &mut Progress<'_>,
        out: &mut dyn Write,
    ) -> Result<Profile, Error> {
        let mut lines = Lines::new(self.options.form != TraceForm::Summary);
        let mut written = Ok(());
        let profile = for_each_syscall(reader, options, progress, &mut |event| {
            let event = self.hold(event);
            self.traced.newest_ns = self.traced.newest_ns.max(event.at.time_ns);
            if self.options.is_live {
                self.held.push(event);
            } else {
                self.take(&event, &mut lines);
            }
            written = lines.write_some(out);
            written.is_ok()
        })?;
        written?;
        self.release(&mut lines, out)?;
        Ok(profile)
    }

    /// There is no other recording: calls that threads are in did not return.
    ///
    /// # Errors
    /// [`Error`] of `out`.
    pub fn end(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        let mut lines = Lines::new(self.options.form != TraceForm::Summary);
        self.before_ns = u64::MAX;
        self.release(&mut lines, out)?;
        let mut calls = Vec::new();
        self.follower.end(&mut |call| calls.push(call));
        for call in calls {
            self.add(&call, &mut lines);
        }
        lines.write_all(out)?;
        if self.options.form != TraceForm::Lines {
            write_summary(&self.traced, self.options.fit, out)?;
        }
        out.flush()?;
        Ok(())
    }

    /// Whether there was no event of any call.
    pub fn is_empty(&self) -> bool {
        self.traced.first_ns.is_none()
    }

    /// Returns that do not say of which call.
    pub fn n_nameless(&self) -> u64 {
        self.follower.n_nameless()
    }

    /// Of a recording in parts, some that follow those that were read are missing.
    pub fn lose(&mut self) {
        self.held.push(HeldEvent {
            at: SyscallMoment {
                pid: -1,
                tid: -1,
                time_ns: self.traced.newest_ns,
            },
            step: SyscallStep::Lost,
            comm: None,
            stack: None,
        });
    }

    fn hold(&mut self, event: &SyscallEvent<'_>) -> HeldEvent {
        let comm = event.comm.raw();
        let is_of_call = matches!(
            event.step,
            SyscallStep::Enter { .. } | SyscallStep::Leave { .. }
        );
        let comm = is_of_call.then(|| match self.traced.comms.find(comm) {
            Some(known) => known,
            None if self.traced.comms.len() < MOST_COMMS => {
                self.traced.comms.intern(comm.to_owned())
            }
            None => NO_COMM,
        });
        HeldEvent {
            at: SyscallMoment {
                pid: event.pid,
                tid: event.tid,
                time_ns: event.time_ns,
            },
            step: event.step,
            comm,
            stack: self.traced.stacks.number(event.stack),
        }
    }

    /// Takes what no older event can follow: it is not newer than the part before.
    fn release(&mut self, lines: &mut Lines, out: &mut dyn Write) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        held.sort_by_key(|event| event.at.time_ns);
        let n = held.partition_point(|event| event.at.time_ns <= self.before_ns);
        for event in held.drain(..n) {
            self.take(&event, lines);
            lines.write_some(out)?;
        }
        self.held = held;
        self.before_ns = self.before_ns.max(self.traced.newest_ns);
        lines.write_all(out)
    }

    fn take(&mut self, event: &HeldEvent, lines: &mut Lines) {
        let at = event.at;
        if let Some(comm) = event.comm {
            self.traced.first_ns.get_or_insert(at.time_ns);
            self.traced.threads.name((at.pid, at.tid), comm);
        }
        // At most two, one that is lost and one that ends, or all that are open when events are lost.
        let mut calls = Vec::new();
        let visit = &mut |call| calls.push(call);
        match event.step {
            SyscallStep::Enter { number, args } => {
                let is_32_bit = self.tasks.enters(at.pid);
                let id = SyscallId::new(number, is_32_bit);
                self.follower.enter(at, (id, args, event.stack), visit);
            }
            SyscallStep::Leave { number, result } => {
                let follower = &self.follower;
                let is_exec = |is_32_bit| follower.is_exec(SyscallId::new(number, is_32_bit));
                let is_32_bit = self.tasks.leaves(at.pid, is_exec);
                let id = SyscallId::new(number, is_32_bit);
                let call = (id, SyscallResult(result));
                // Its id may be used again, without its end being recorded.
                if let Some(was) = self.follower.leave(at, call, visit) {
                    self.traced.threads.end(was);
                }
            }
            SyscallStep::Fork { parent } => self.tasks.fork(parent, at.pid),
            SyscallStep::Vdso { address } => self.tasks.map_vdso(at.pid, address),
            SyscallStep::Lock(_) => {}
            SyscallStep::Lost => self.follower.lose(visit),
            SyscallStep::ThreadEnd => self.follower.end_thread(at.tid, visit),
        }
        for call in calls {
            self.add(&call, lines);
        }
        if event.step == SyscallStep::ThreadEnd {
            self.traced.threads.end(at.tid);
        }
    }

    fn add(&mut self, call: &Syscall<Option<CallStackId>>, lines: &mut Lines) {
        if let Some(selection) = &self.options.selection {
            let name = self.traced.names(call.id).name(call.id.number);
            if !selection.has(name) {
                return;
            }
        }
        let row = self.traced.threads.add(call);
        lines.add(&self.traced, row, call);
    }
}

#[cfg(test)]
mod tests;
