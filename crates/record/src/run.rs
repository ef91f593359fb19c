//! A recording from start to end.

use crate::attrs;
use crate::depth::{self, Depth};
use crate::drain::Drain;
use crate::features::{self, Features};
use crate::losses;
use crate::open::{self, Opened, Scope, targets_of};
use crate::plan::Plan;
use crate::side::{Load, Side};
use crate::sink::{Sink, WriterGone, Written};
use crate::stacks;
use crate::{CallChains, Error, Note, Settings, Summary, Watch, output};
use rprof_abi::record::{Mmap, Record};
use rprof_abi::{Endian, Misc, SampleId, SampleLayout};
use rprof_events::{Sources, online_cpus};
use rprof_perfdata::{FeatureId, Writer};
use rprof_process::{Child, Gated};
use rprof_ringbuf::Poller;
use rprof_ringbuf::sys::{self, Signals};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A ring wakes us when a part of it is full; a quiet one is looked at so often anyway.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a copy of a deep stack has no room for is looked for soon, while it is there.
const LOOK_AT_DEEP_EVERY: Duration = Duration::from_millis(4);

/// Makes a recording; `note` is told what a user should know as it comes up.
///
/// Must be called before the process has any other thread: it forks.
///
/// # Errors
/// [`Error`]. What could be written stays on disk and readable.
pub fn record(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
    if settings.command.is_empty() && settings.watch == Watch::Command {
        return Err(Error::NothingToRecord);
    }
    let settings = &Settings {
        call_chains: stacks::possible(settings.call_chains),
        ..settings.clone()
    };
    let cpus = cpus_of(settings)?;
    let signals = Signals::block().map_err(Error::system("blocking signals"))?;
    let attrs = attrs::prepare(settings, note)?;
    let gated = match settings.command.is_empty() {
        true => None,
        false => Some(Gated::spawn(&settings.command)?),
    };
    let child = gated.as_ref().map(Gated::pid);
    let mut scope = Scope {
        targets: targets_of(&settings.watch, child)?,
        until_exec: settings.watch == Watch::Command,
        ring_pages: open::ring_pages(settings, cpus.len()),
        two_depths: settings.call_chains == CallChains::Auto,
        cpus,
    };
    let mut opened = Opened::open(&attrs, &scope)?;
    for _ in 0..MAX_LISTINGS {
        let now = targets_of(&settings.watch, child).unwrap_or_default();
        if !opened.extend(&now, &scope)? {
            break;
        }
        scope.targets.extend(now);
    }
    if let Some(bytes) = opened.smaller_rings {
        note(Note::RingsSmaller { kib: bytes / 1024 });
    }
    let sideband_layout = SampleLayout::new(&attrs.sideband.attr, Endian::NATIVE);
    let plan = Plan::new(settings, &opened, &sideband_layout)?;
    let (file, kept_old) = output::create(&settings.output)?;
    let writer = match Writer::start(file, &settings.output, &plan.written) {
        Ok(writer) => writer,
        Err(error) => {
            output::undo(&settings.output, kept_old.as_deref());
            return Err(output_error(error));
        }
    };
    // The command is forked already, and runs as it would. What is drained late is lost, what is
    // unwound late is cut: neither takes much time.
    let _ahead = sys::run_before_others();
    let side = plan.unwinder.is_some().then(|| Side::new(Instant::now()));
    let sink = Sink::start(writer, plan.unwinder)?;
    let mut machine = features::of_machine(&settings.tool);
    machine.extend(features::of_tracepoints(&settings.events));
    let mut run = Run {
        settings,
        sink,
        drain: Drain::new(sideband_layout.clone(), plan.stacks),
        depth: plan.depth,
        side,
        seen: plan.seen,
        opened,
        signals: Rc::new(signals),
        sideband_layout,
        child: None,
        kept_old,
    };
    let ended = run.start(gated).and_then(|()| run.until_stopped(note));
    run.finish(ended, machine, note)
}

/// A process that makes threads faster than we can list them is not listed for ever.
const MAX_LISTINGS: usize = 10;

/// The CPUs to record on: those asked for, if they are online.
fn cpus_of(settings: &Settings) -> Result<Vec<u32>, Error> {
    let online = online_cpus(&Sources::default())?;
    let Some(asked) = &settings.cpus else {
        return Ok(online);
    };
    match asked.iter().find(|cpu| !online.contains(cpu)) {
        Some(&cpu) => Err(Error::NoSuchCpu { cpu }),
        None => Ok(asked.clone()),
    }
}

fn output_error(source: rprof_perfdata::Error) -> Error {
    Error::Write {
        source,
        size_bytes: 0,
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

/// A recording that is going on.
struct Run<'a> {
    settings: &'a Settings,
    sink: Sink,
    drain: Drain,
    opened: Opened,
    signals: Rc<Signals>,
    sideband_layout: SampleLayout,
    /// Decides how much of stacks is copied, where that is ours to decide.
    depth: Option<Depth>,
    /// Decides who unwinds, if anybody does.
    side: Option<Side>,
    seen: Arc<depth::Seen>,
    child: Option<Child>,
    /// The new name of an older recording.
    kept_old: Option<PathBuf>,
}

impl Run<'_> {
    /// Sideband first, then what runs already, then samples: nothing falls between.
    fn start(&mut self, gated: Option<Gated>) -> Result<(), Error> {
        let enabling = "enabling events";
        self.opened
            .sideband
            .enable()
            .map_err(Error::system(enabling))?;
        self.describe_kernel()?;
        self.describe_running()?;
        if self.settings.watch != Watch::Command {
            self.opened
                .sampling
                .enable()
                .map_err(Error::system(enabling))?;
        }
        self.child = gated.map(Gated::release).transpose()?;
        Ok(())
    }

    fn describe_kernel(&mut self) -> Result<(), WriterGone> {
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
            let buffer = self.sink.buffer()?;
            // Such a record is far below the format's limit.
            let _ = record.encode(Misc::KERNEL, &nobody, &self.sideband_layout, buffer);
        }
        Ok(())
    }

    fn describe_running(&mut self) -> Result<(), Error> {
        let processes = match &self.settings.watch {
            Watch::Command => Vec::new(),
            Watch::Processes(pids) => processes_of(pids),
            Watch::All => rprof_process::all_processes().map_err(Error::system("listing /proc"))?,
            Watch::Threads(tids) => processes_of(tids),
        };
        let (sink, layout) = (&mut self.sink, &self.sideband_layout);
        let unnamed = &mut self.drain.unnamed;
        let has_data = self.settings.call_chains.keeps_copies();
        let mut gone = Ok(());
        for pid in processes {
            rprof_process::describe_process(pid, &mut |one| {
                let is_data =
                    matches!(one.record, Record::Mmap2(_)) && one.misc.has(Misc::MMAP_DATA);
                if is_data && !has_data {
                    return;
                }
                unnamed.see_record(&one.record);
                match sink.buffer() {
                    // Paths are at most 4 KiB: below the format's limit.
                    Ok(buffer) => drop(one.record.encode(one.misc, &one.id, layout, buffer)),
                    Err(error) => gone = Err(error),
                }
            });
        }
        Ok(gone?)
    }

    /// Drains until the command, the time or the user ends it.
    fn until_stopped(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let deadline = (self.settings.duration).and_then(|time| Instant::now().checked_add(time));
        let mut poller = self.opened.poller();
        let mut alive = vec![true; self.opened.sampling.counters().count()];
        poller.add(&*self.signals);
        loop {
            let now = Instant::now();
            let look_every = match self.is_cutting(now) {
                true => LOOK_AT_DEEP_EVERY,
                false => LOOK_EVERY,
            };
            let timeout = deadline.map_or(look_every, |deadline| {
                deadline.saturating_duration_since(now).min(look_every)
            });
            self.wait(&mut poller, &mut alive, timeout)?;
            let writer_idles = self.sink.writer_idles();
            self.drain.pass(&mut self.opened, &mut self.sink)?;
            self.drain.take_notes().for_each(&mut *note);
            self.copy_as_deep_as_needed()?;
            self.unwind_where_it_pays(writer_idles)?;
            if self.user_stops() {
                return Ok(());
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                note(Note::DurationOver);
                return Ok(());
            }
            let command_ended = self.command_ended()?;
            let all_gone = !alive.contains(&true);
            if command_ended && (all_gone || !self.waits_for_all()) {
                if !all_gone
                    && self.settings.watch == Watch::Command
                    && self.others_live(&mut poller, &mut alive)?
                {
                    note(Note::OthersLiveOn);
                }
                return Ok(());
            }
            if all_gone && self.child.is_none() {
                return Ok(());
            }
        }
    }

    fn copy_as_deep_as_needed(&mut self) -> Result<(), Error> {
        let Some(depth) = &mut self.depth else {
            return Ok(());
        };
        match depth.change(Instant::now(), &self.seen) {
            None => Ok(()),
            Some(to_deep) => {
                let switched = self.opened.sampling.switch(to_deep);
                switched.map_err(Error::system("switching events"))
            }
        }
    }

    /// Whether there are stacks just now that the deepest copies do not hold.
    fn is_cutting(&self, now: Instant) -> bool {
        let depth = self.depth.as_ref();
        depth.is_some_and(|depth| depth.is_cutting(now))
    }

    fn unwind_where_it_pays(&mut self, writer_idles: bool) -> Result<(), WriterGone> {
        let now = Instant::now();
        let load = Load {
            fullest: self.drain.fullest,
            completes: self.is_cutting(now),
            images: self.seen.images.load(Ordering::Relaxed),
            writer_idles,
        };
        let Some(side) = &mut self.side else {
            return Ok(());
        };
        match side.change(now, load) {
            None => Ok(()),
            Some(here) => self.sink.unwind_here(here),
        }
    }

    fn waits_for_all(&self) -> bool {
        self.settings.wait_all && self.settings.watch == Watch::Command
    }

    /// Waits, and marks counters whose tasks (and all that inherited them) have ended.
    fn wait(
        &self,
        poller: &mut Poller,
        alive: &mut [bool],
        timeout: Duration,
    ) -> Result<(), Error> {
        let waiting = "waiting for samples";
        let ready = poller.wait(timeout).map_err(Error::system(waiting))?;
        let hung: Vec<usize> = ready
            .filter(|ready| ready.hung_up)
            .map(|ready| ready.index)
            .collect();
        for index in hung {
            poller.remove(index);
            if let Some(alive) = alive.get_mut(index) {
                *alive = false;
            }
        }
        Ok(())
    }

    fn others_live(&self, poller: &mut Poller, alive: &mut [bool]) -> Result<bool, Error> {
        self.wait(poller, alive, Duration::ZERO)?;
        Ok(alive.contains(&true))
    }

    /// SIGINT, SIGTERM or SIGHUP came. SIGCHLD only ends the wait.
    fn user_stops(&self) -> bool {
        let mut stop = false;
        while let Some(signal) = self.signals.next() {
            stop |= signal != Signals::CHILD;
        }
        stop
    }

    fn command_ended(&mut self) -> Result<bool, Error> {
        match &mut self.child {
            None => Ok(false),
            Some(child) => {
                let status = child
                    .try_wait()
                    .map_err(Error::system("waiting for the command"))?;
                Ok(status.is_some())
            }
        }
    }

    /// Stops, drains the rest, closes the file, whatever happened before; then waits for the
    /// command: one that takes its time to end must not keep the file from being whole.
    fn finish(
        mut self,
        ended: Result<(), Error>,
        machine: Features,
        note: &mut dyn FnMut(Note),
    ) -> Result<Summary, Error> {
        let mut child = self.child.take();
        if let (Ok(()), Some(child)) = (&ended, &child) {
            // As perf: what was started for the recording ends with it.
            child.terminate();
        }
        let signals = Rc::clone(&self.signals);
        let closed = self.close(ended, machine, note);
        if let (Err(Error::Write { source, .. }), Some(_)) = (&closed, &child) {
            note(Note::WritingFailed(source.to_string()));
        }
        let status = child.as_mut().and_then(|child| wait_for(child, &signals));
        closed.map(|summary| Summary { status, ..summary })
    }

    fn close(
        mut self,
        ended: Result<(), Error>,
        machine: Features,
        note: &mut dyn FnMut(Note),
    ) -> Result<Summary, Error> {
        let disabled = self
            .opened
            .sampling
            .disable()
            .and_then(|()| self.opened.sideband.disable());
        let drained = self.drain.rest(&mut self.opened, &mut self.sink);
        self.drain.take_notes().for_each(&mut *note);
        let (lost, lost_sideband) = (
            self.opened.sampling.lost_by_event(),
            self.opened.sideband.lost_by_event(),
        );
        let last_ns = self.drain.counts.span_ns.map(|(_, last)| last);
        let lost_samples = losses::write(&lost, last_ns, &mut self.sink);
        let lost_sideband = losses::write(&lost_sideband, last_ns, &mut self.sink);
        let Written {
            writer,
            result,
            unwound,
        } = self.sink.finish();
        let (ends, undecodable) = unwound.unzip();
        if let Some(samples) = undecodable.filter(|&samples| samples > 0) {
            note(Note::Undecodable { samples });
        }
        let size_bytes = writer.data_len();
        if let Err(source) = result {
            // The cause is already known; the file keeps what it has either way.
            let _ = writer.abandon();
            return Err(Error::Write { source, size_bytes });
        }
        if matches!(ended, Err(Error::Spawn(_))) {
            output::undo(&self.settings.output, self.kept_old.as_deref());
        }
        ended?;
        drained?;
        disabled.map_err(Error::system("disabling events"))?;

        let mut sections = machine;
        sections.extend(features::of_samples(&self.drain.counts));
        sections.push((FeatureId::BUILD_ID, self.drain.unnamed.section()));
        sections.extend(ends.as_ref().map(features::of_stacks));
        let finished = writer
            .finish(sections)
            .map_err(|source| Error::Write { source, size_bytes })?;
        let counts = &self.drain.counts;
        Ok(Summary {
            path: self.settings.output.clone(),
            size_bytes: finished.size_bytes,
            samples: counts.samples,
            lost_samples: lost_samples?,
            lost_at_least: counts.lost_at_least,
            lost_sideband: lost_sideband?.unwrap_or(0),
            throttled: counts.throttled,
            stacks: ends,
            shortened: counts.shortened,
            status: None,
        })
    }
}

/// Waits for the command to end, or for the user to lose patience: then it lives on.
fn wait_for(child: &mut Child, signals: &Signals) -> Option<ExitStatus> {
    let mut poller = Poller::default();
    poller.add(signals);
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        let waited = poller.wait(LOOK_EVERY).map(Iterator::count);
        waited.ok()?;
        while let Some(signal) = signals.next() {
            if signal != Signals::CHILD {
                return None;
            }
        }
    }
}
