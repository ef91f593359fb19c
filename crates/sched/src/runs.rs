//! The runs of a recording's threads.

use crate::seen_threads::SeenThreads;
use foldhash::HashMap;
use rprof_analysis::{
    First, Query, Recording, SampleOrder, SchedEvent, SchedEvents, SchedStep, SchedWhat, TaskName,
    WantedFrames, comm_text,
};
use rprof_base::{Counted, Millis};
use rprof_locate::Locator;
use rprof_machine::Key;
use rprof_perfdata::Reader;
use rprof_profile::Filter;
use rprof_scheduling::{
    ContextSwitch, Contradictions, LostTimes, Open, Scheduler, SwitchState, ThreadRun, WakeUp,
    Waker,
};
use rprof_untrusted::Untrusted;
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The idle task of each CPU.
const IDLE: i32 = 0;

/// Which threads are shown. All are followed: what one does depends on others.
#[derive(Clone, Debug, Default)]
pub struct SchedOptions {
    /// Processes, threads and names: a filter's other conditions do not count.
    pub filter: Filter,
}

/// How much of a recording could be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedQuality {
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
    /// Events that the kernel lost.
    pub n_lost: u64,
    /// Whether it may be more.
    pub at_least: bool,
    /// Switches that contradicted each other.
    pub contradictions: Contradictions,
    /// Waits and runs in which they were lost, and how long those took, nanoseconds.
    pub n_hidden: u64,
    /// See [`Self::n_hidden`].
    pub hidden_ns: u64,
}

/// A recording, indexed.
pub(crate) struct SchedRecording<'r> {
    pub(crate) recording: Recording<'r>,
}

/// What reading came to.
#[derive(Debug)]
pub(crate) struct RunsRead {
    /// The scheduler as the recording ends.
    pub(crate) scheduler: Scheduler,
    /// When records were lost.
    lost: LostTimes,
    /// The times of the first event and of the last.
    pub(crate) times: Option<RangeInclusive<u64>>,
    /// How long the kernel says that each thread ran, nanoseconds; `None` if it does not say.
    pub(crate) run_times: Option<HashMap<i32, u64>>,
    pub(crate) quality: SchedQuality,
    /// Whether waits are not known: threads may have been on CPUs that were not recorded.
    misses_cpus: bool,
    /// Whether others ran, too, of whom nothing was recorded: what CPUs did is not known.
    pub(crate) is_of_some_threads: bool,
}

/// Waits and runs in which records were lost.
#[derive(Clone, Copy, Debug, Default)]
struct Hidden {
    n: u64,
    ns: u64,
}

impl Hidden {
    /// Adds what a wait and a run have lost.
    fn add(&mut self, hidden: [Option<u64>; 2]) {
        for ns in hidden.into_iter().flatten() {
            self.n += 1;
            self.ns = self.ns.saturating_add(ns);
        }
    }
}

/// The recording is paused, or ends: what threads are doing then.
pub(crate) struct Stopped<'s> {
    /// The scheduler as it does.
    pub(crate) scheduler: &'s Scheduler,
    pub(crate) at_ns: u64,
    pub(crate) lost: &'s LostTimes,
    /// As of all.
    pub(crate) misses_cpus: bool,
}

/// When the recording was paused.
#[derive(Debug)]
struct Pauses<'l> {
    /// Those to come, the next one last.
    next: Vec<RangeInclusive<u64>>,
    lost: &'l LostTimes,
    misses_cpus: bool,
    /// Until when the last one was.
    until_ns: u64,
    /// Those after which something had been known of threads, and how long they were.
    n: u64,
    ns: u64,
    /// What lost records hide of what was going on as they began.
    hidden: Hidden,
}

impl<'l> Pauses<'l> {
    fn new(mut all: Vec<RangeInclusive<u64>>, lost: &'l LostTimes, misses_cpus: bool) -> Self {
        all.reverse();
        Self {
            next: all,
            lost,
            misses_cpus,
            until_ns: 0,
            n: 0,
            ns: 0,
            hidden: Hidden::default(),
        }
    }

    /// Takes those that have begun at a moment.
    fn until(
        &mut self,
        time_ns: u64,
        scheduler: &mut Scheduler,
        pause: &mut dyn FnMut(&Stopped<'_>),
    ) {
        while let Some(range) = self.next.pop_if(|range| *range.start() <= time_ns) {
            let (start_ns, until_ns) = range.into_inner();
            let stopped = Stopped {
                scheduler,
                at_ns: start_ns,
                lost: self.lost,
                misses_cpus: self.misses_cpus,
            };
            stopped.visit_open(&mut self.hidden, &mut |_, _| ());
            pause(&stopped);
            if !scheduler.pause(until_ns).is_empty() {
                self.n += 1;
                self.ns = self.ns.saturating_add(until_ns.saturating_sub(start_ns));
            }
            self.until_ns = until_ns;
        }
    }

    /// Whether a moment is in the last one.
    fn has(&self, time_ns: u64) -> bool {
        time_ns < self.until_ns
    }

    fn warning(&self) -> Option<String> {
        (self.n > 0).then(|| {
            format!(
                "recording was paused {} ({} ms): what threads did then is unknown",
                Counted::new(self.n, "time", "times"),
                Millis(self.ns)
            )
        })
    }
}

impl Stopped<'_> {
    /// What threads do, by thread. Who waits is left out where that is not known.
    pub(crate) fn open(&self) -> Vec<(i32, Open)> {
        let mut all = Vec::new();
        self.visit_open(&mut Hidden::default(), &mut |tid, open| {
            all.push((tid, open));
        });
        all
    }

    /// Calls `visit` for what each thread does, as far as it is known; `hidden` is what lost records hide of it.
    fn visit_open(&self, hidden: &mut Hidden, visit: &mut dyn FnMut(i32, Open)) {
        for (tid, mut open) in self.scheduler.open() {
            if self.misses_cpus {
                (open.wait, open.woken) = (None, None);
            }
            let cpu = self.scheduler.cpu_of(tid);
            hidden.add(self.lost.hide_open(&mut open, cpu, self.at_ns));
            let is_known = open.start_ns.is_some() || open.wait.is_some() || open.woken.is_some();
            if is_known {
                visit(tid, open);
            }
        }
    }
}

impl RunsRead {
    /// The recording as it ends.
    pub(crate) fn end(&self) -> Stopped<'_> {
        Stopped {
            scheduler: &self.scheduler,
            at_ns: self.times.as_ref().map_or(0, |times| *times.end()),
            lost: &self.lost,
            misses_cpus: self.misses_cpus,
        }
    }
}

/// A run, and whose it is.
pub(crate) struct RunOfTask<'n> {
    pub(crate) run: ThreadRun,
    pub(crate) pid: i32,
    pub(crate) name: Untrusted<Cow<'n, str>>,
    /// Who runs there then.
    pub(crate) next: i32,
    /// The moment of the switch.
    pub(crate) key: Key,
}

impl<'r> SchedRecording<'r> {
    pub(crate) fn open(
        reader: &'r Reader,
        locator: &'r Locator,
    ) -> Result<Self, rprof_analysis::Error> {
        let recording = Recording::open(reader, locator, SampleOrder::Time)?;
        Ok(Self { recording })
    }

    /// Calls `visit` for each run as it ends, in order of time; stops when it returns false. Where the recording was
    /// paused, `pause` gets what threads are doing as it begins.
    pub(crate) fn for_each_run(
        &self,
        pause: &mut dyn FnMut(&Stopped<'_>),
        mut visit: impl FnMut(RunOfTask<'_>) -> bool,
    ) -> Result<RunsRead, rprof_analysis::Error> {
        let all = Filter::default();
        let query = Query::of(&self.recording, &all, WantedFrames::Innermost, First::Own)?;
        let events = SchedEvents::new(&query)?;
        let mut scheduler = Scheduler::default();
        let mut run_times: HashMap<i32, u64> = HashMap::default();
        let mut times: Option<RangeInclusive<u64>> = None;
        let mut seen = SeenThreads::default();
        let misses_cpus = events.miss_cpus();
        let mut n_elsewhere = 0;
        let lost = events.lost_times()?;
        let mut pauses = Pauses::new(events.pauses(), &lost, misses_cpus);
        let mut hidden = Hidden::default();
        let is_of_some_threads = events.are_of_some_threads()?;
        // Who comes to a CPU, and since when, as a switch of the thread before says.
        let mut coming: HashMap<u32, (i32, u64)> = HashMap::default();
        let ignored = events.for_each(|SchedStep { key, pid, what }| {
            let time_ns = key.time_ns;
            times = match times.take() {
                Some(before) => Some(*before.start()..=time_ns),
                None => Some(time_ns..=time_ns),
            };
            pauses.until(time_ns, &mut scheduler, pause);
            if pauses.has(time_ns) {
                return true;
            }
            let mut deliver = |mut run: ThreadRun, next: i32| {
                if misses_cpus {
                    n_elsewhere += u64::from(run.wait.is_some() && run.tid != IDLE);
                    (run.wait, run.woken) = (None, None);
                }
                let cpu = Some(run.cpu);
                let of_run = lost.hide(&mut run, cpu);
                if run.tid != IDLE {
                    hidden.add(of_run);
                }
                visit(self.of_task((key, pid), run, next))
            };
            let (switch, next) = match what {
                SchedWhat::Event(SchedEvent::Switch(switch)) if is_of_some_threads => {
                    coming.insert(switch.cpu, (switch.next, time_ns));
                    // Nobody would say when a stranger leaves.
                    let next = IDLE;
                    (ContextSwitch { next, ..switch }, switch.next)
                }
                SchedWhat::Event(SchedEvent::Switch(switch)) => {
                    seen.note(&switch);
                    (switch, switch.next)
                }
                SchedWhat::Enter { tid, cpu } => {
                    let came = coming.remove(&cpu).filter(|(next, _)| *next == tid);
                    let since_ns = came.map_or(time_ns, |(_, since_ns)| since_ns);
                    if is_of_some_threads || scheduler.thread_on(cpu) != Some(IDLE) || tid == IDLE {
                        scheduler.enter(since_ns, cpu, tid);
                        return true;
                    }
                    // Some kernels have no event as a CPU stops being idle.
                    let switch = ContextSwitch {
                        time_ns,
                        cpu,
                        prev: IDLE,
                        prev_state: SwitchState::Runnable,
                        next: tid,
                    };
                    seen.note(&switch);
                    (switch, tid)
                }
                SchedWhat::Leave { .. } | SchedWhat::Exit { .. } | SchedWhat::Birth { .. }
                    if !is_of_some_threads =>
                {
                    return true;
                }
                SchedWhat::Birth { tid, parent } => {
                    let waker = Waker::Thread(parent);
                    scheduler.wake(tid, WakeUp { time_ns, waker });
                    return true;
                }
                SchedWhat::Leave { tid, cpu, state } => {
                    let run = scheduler.leave(time_ns, cpu, tid, state);
                    return run.is_none_or(|run| deliver(run, IDLE));
                }
                SchedWhat::Exit { tid } => {
                    let cpu = scheduler.cpu_of(tid);
                    let run =
                        cpu.and_then(|cpu| scheduler.leave(time_ns, cpu, tid, SwitchState::Dead));
                    return run.is_none_or(|run| deliver(run, IDLE));
                }
                SchedWhat::Event(SchedEvent::WakeUp { tid, woken }) => {
                    scheduler.wake(tid, woken);
                    return true;
                }
                SchedWhat::Event(SchedEvent::RunTime { tid, ns }) => {
                    let run_ns = run_times.entry(tid).or_default();
                    *run_ns = run_ns.saturating_add(ns);
                    return true;
                }
            };
            let run = scheduler.switch(switch);
            deliver(run, next)
        })?;
        // What goes on then goes on up to the end of the recording, whatever is recorded last.
        if let (Some(of_events), Some(all)) = (&mut times, self.recording.sample_times()) {
            *of_events = *of_events.start()..=*of_events.end().max(all.end());
        }
        if let Some(times) = &times {
            pauses.until(*times.end(), &mut scheduler, pause);
            let end = Stopped {
                scheduler: &scheduler,
                at_ns: *times.end(),
                lost: &lost,
                misses_cpus,
            };
            end.visit_open(&mut hidden, &mut |_, _| ());
        }
        let losses = self.recording.index.losses.iter();
        let mut quality = SchedQuality {
            warnings: self.recording.warnings().collect(),
            n_lost: losses.clone().map(|loss| loss.samples).sum(),
            at_least: losses.clone().any(|loss| loss.at_least),
            contradictions: scheduler.contradictions().clone(),
            n_hidden: hidden.n + pauses.hidden.n,
            hidden_ns: hidden.ns.saturating_add(pauses.hidden.ns),
        };
        quality.warnings.extend(ignored.warnings());
        quality.warnings.extend(
            seen.warning()
                .filter(|_| !is_of_some_threads)
                .map(str::to_owned),
        );
        quality.warnings.extend(pauses.warning());
        quality.warnings.extend((n_elsewhere > 0).then(|| {
            format!(
                "{} unknown: threads may have run on CPUs that were not recorded (-C)",
                Counted::new(n_elsewhere, "wait is", "waits are")
            )
        }));
        Ok(RunsRead {
            scheduler,
            lost,
            times,
            run_times: Some(run_times).filter(|_| events.have_run_times()),
            quality,
            misses_cpus,
            is_of_some_threads,
        })
    }

    fn of_task(&self, (key, pid): (Key, i32), run: ThreadRun, next: i32) -> RunOfTask<'_> {
        // A thread that is ending has no id any more, but a process.
        let pid = Some(pid).filter(|&pid| pid > 0 && run.tid != IDLE);
        RunOfTask {
            pid: pid.unwrap_or(run.tid),
            name: self.name(run.tid, key),
            run,
            next,
            key,
        }
    }

    /// What a thread is called at a moment.
    pub(crate) fn name(&self, tid: i32, key: Key) -> Untrusted<Cow<'_, str>> {
        let history = &self.recording.index.history;
        comm_text(history, TaskName::at(history, tid, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_as_a_recording_ends_is_counted() {
        let mut scheduler = Scheduler::default();
        let mut switch = |time_ns, prev, next| {
            scheduler.switch(ContextSwitch {
                time_ns,
                cpu: 0,
                prev,
                prev_state: SwitchState::Sleeping,
                next,
            });
        };
        switch(10, 7, 8);
        switch(20, 8, 9);
        for (lost_from, hidden_ns, open) in [
            // Both waits and the run.
            (25, [90, 80, 80].to_vec(), [9].to_vec()),
            (100, Vec::new(), [7, 8, 9].to_vec()),
        ] {
            let lost = LostTimes::new([(Some(0), vec![lost_from..=u64::MAX])]);
            let stopped = Stopped {
                scheduler: &scheduler,
                at_ns: 100,
                lost: &lost,
                misses_cpus: false,
            };
            let mut hidden = Hidden::default();
            stopped.visit_open(&mut hidden, &mut |_, _| ());
            assert_eq!(
                (hidden.n, hidden.ns),
                (hidden_ns.len() as u64, hidden_ns.iter().sum())
            );
            let tids: Vec<i32> = stopped.open().into_iter().map(|(tid, _)| tid).collect();
            assert_eq!(tids, open);
        }
    }
}
