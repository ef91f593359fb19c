//! Threads with their samples and markers.

use super::clock::Clock;
use super::shared::Shared;
use super::tracks::{Track, Tracks};
use super::waits::{cpu_use, with_idle_times};
use super::{markers, meta};
use foldhash::HashMap;
use rprof_profile::{EventKind, SampleRow, SampledProfile, Thread, TimedWait};
use rprof_untrusted::JsonWriter;

/// Writes all threads.
pub(super) struct Writer<'a> {
    pub(super) sampled: &'a SampledProfile,
    pub(super) tracks: &'a Tracks,
    pub(super) clock: Clock,
}

/// A process under one name, as the page knows it: one that executes another program is two.
#[derive(Clone, Copy)]
struct Process {
    pid: i32,
    /// Which of those with this id.
    nth: usize,
    /// Its main thread, or whichever was seen first.
    named_by: usize,
}

/// What the page is told of a thread.
struct Head<'a> {
    name: &'a str,
    process_name: &'a str,
    pid: &'a str,
    tid: &'a str,
    is_main: bool,
    shows_markers: bool,
    process_start_ns: u64,
    start_ns: u64,
    end_ns: u64,
}

impl Writer<'_> {
    pub(super) fn write(&self, shared: &mut Shared<'_>, json: &mut JsonWriter<'_>) {
        let processes = self.processes();
        let mut used: HashMap<i32, u32> = HashMap::default();
        let mut last_thread = None;
        for (&(thread_idx, event), track) in &self.tracks.all {
            let Some(thread) = self.sampled.threads.get(thread_idx as usize) else {
                continue;
            };
            let is_first = last_thread.replace(thread_idx) != Some(thread_idx);
            let Some(process) = processes.get(thread_idx as usize) else {
                continue;
            };
            // Every track has an id of its own.
            let times = used.entry(thread.tid).or_insert(0);
            let tid = match *times {
                0 => thread.tid.to_string(),
                n => format!("{}.{n}", thread.tid),
            };
            *times += 1;
            let pid = match process.nth {
                0 => process.pid.to_string(),
                n => format!("{}.{n}", process.pid),
            };
            let name = self.name_of(thread, event);
            let main = self.sampled.threads.get(process.named_by);
            let process_start_ns = main.map_or(thread.start_ns, |main| main.start_ns);
            let head = Head {
                name: &name,
                process_name: self.comm(process.named_by),
                pid: &pid,
                tid: &tid,
                is_main: thread.pid == thread.tid && is_first,
                shows_markers: !(track.markers.is_empty() && track.waits.is_empty()),
                process_start_ns: process_start_ns.min(thread.start_ns),
                start_ns: thread.start_ns,
                end_ns: thread.end_ns,
            };
            json.object(|json| {
                self.head(&head, json);
                json.key("samples")
                    .object(|json| self.samples(track, event, shared, json));
                json.key("markers").object(|json| {
                    markers::write_track(self.sampled, (track, self.clock), shared, json);
                });
            });
        }
        let events = &self.sampled.profile.events;
        let has_lost = events.iter().any(|event| event.loss.samples > 0);
        // Without any thread the page says that there is nothing to see, and shows nothing else.
        if self.tracks.all.is_empty() || has_lost {
            let name = if has_lost {
                "lost samples"
            } else {
                "no samples"
            };
            self.losses(name, shared, json);
        }
    }

    /// A thread of its own for what was lost: nobody knows whose samples they were.
    fn losses(&self, name: &str, shared: &mut Shared<'_>, json: &mut JsonWriter<'_>) {
        let head = Head {
            name,
            process_name: name,
            pid: "recording",
            tid: "recording",
            is_main: true,
            shows_markers: true,
            process_start_ns: self.clock.start_ns,
            start_ns: self.clock.start_ns,
            end_ns: self.clock.end_ns,
        };
        json.object(|json| {
            self.head(&head, json);
            let none = Track::default();
            json.key("samples")
                .object(|json| self.samples(&none, 0, shared, json));
            json.key("markers").object(|json| {
                markers::write_losses(self.sampled, self.clock, shared, json);
            });
        });
    }

    fn comm(&self, thread: usize) -> &str {
        let thread = self.sampled.threads.get(thread);
        thread.map_or("", |thread| {
            self.sampled.profile.strings.of(thread.comm).into_raw()
        })
    }

    fn name_of(&self, thread: &Thread, event: u16) -> String {
        let profile = &self.sampled.profile;
        let comm = profile.strings.of(thread.comm).into_raw();
        match profile.events.get(usize::from(event)) {
            Some(event) if self.tracks.are_mixed => format!("{comm} ({})", event.name.raw()),
            _ => comm.to_owned(),
        }
    }

    /// The process of each thread.
    fn processes(&self) -> Vec<Process> {
        let threads = &self.sampled.threads;
        let mut mains: HashMap<i32, Vec<usize>> = HashMap::default();
        for (idx, thread) in threads.iter().enumerate() {
            if thread.pid == thread.tid {
                mains.entry(thread.pid).or_default().push(idx);
            }
        }
        let mut firsts: HashMap<i32, usize> = HashMap::default();
        let process = threads.iter().enumerate().map(|(idx, thread)| {
            let of_pid = mains.get(&thread.pid).map_or(&[][..], Vec::as_slice);
            let nth = match of_pid.binary_search(&idx) {
                Ok(own) => own,
                // The one that was there when the thread was first seen: threads are in the order
                // in which they were.
                Err(_) => of_pid
                    .partition_point(|&main| threads[main].start_ns <= thread.start_ns)
                    .saturating_sub(1),
            };
            let first = *firsts.entry(thread.pid).or_insert(idx);
            Process {
                pid: thread.pid,
                nth,
                named_by: of_pid.get(nth).copied().unwrap_or(first),
            }
        });
        process.collect()
    }

    fn head(&self, head: &Head<'_>, json: &mut JsonWriter<'_>) {
        let (start, end) = (
            self.clock.since(head.start_ns),
            self.clock.since(head.end_ns),
        );
        json.key("processType").text("default");
        json.key("processName").text(head.process_name);
        let process_start = self.clock.since(head.process_start_ns);
        json.key("processStartupTime").millis(process_start);
        // Whether it ended or the recording did is not told apart.
        json.key("processShutdownTime").null();
        json.key("registerTime").millis(start);
        json.key("unregisterTime").millis(end);
        json.key("pausedRanges").list(|_| {});
        json.key("name").text(head.name);
        json.key("isMainThread").boolean(head.is_main);
        json.key("pid").text(head.pid);
        json.key("tid").text(head.tid);
        json.key("showMarkersInTimeline")
            .boolean(head.shows_markers);
    }

    fn samples(&self, track: &Track, event: u16, shared: &Shared<'_>, json: &mut JsonWriter<'_>) {
        let kind = self.sampled.profile.events.get(usize::from(event));
        let kind = kind.map_or(EventKind::Counter, |event| event.kind);
        let rows = track.samples.iter();
        let mut rows: Vec<SampleRow> = rows
            .map(|&idx| self.sampled.samples.row(idx as usize))
            .collect();
        let has_cpu_use = meta::cpu_event(self.sampled) == Some(kind);
        let mut used_ns = Vec::new();
        if has_cpu_use {
            let waits = track.waits.iter();
            let waits = waits.filter_map(|&number| self.sampled.waits.get(number as usize));
            let waits: Vec<TimedWait> = waits.copied().collect();
            let least_ns = meta::interval_ns(self.sampled);
            rows = with_idle_times(rows, waits.iter().copied(), least_ns);
            let waits = (&waits[..], self.sampled.waits_have_begins);
            used_ns = cpu_use(&rows, waits, kind);
        }
        let samples = || rows.iter().copied();
        json.column("stack", samples(), |json, sample: SampleRow| {
            let stack = sample.stack.and_then(|node| shared.stack(node));
            json.maybe(stack.map(u64::from));
        });
        let mut last = self.clock.start_ns;
        json.key("timeDeltas").list(|json| {
            for sample in samples() {
                json.millis(sample.time_ns.saturating_sub(last));
                last = sample.time_ns;
            }
        });
        let is_time = kind.is_time();
        json.column("weight", samples(), |json, sample| {
            if is_time {
                json.millis(sample.weight)
            } else {
                json.number(sample.weight)
            }
        });
        json.key("weightType")
            .text(if is_time { "tracing-ms" } else { "samples" });
        if has_cpu_use {
            json.column("threadCPUDelta", used_ns, JsonWriter::number);
        }
        json.key("length").number(rows.len() as u64);
    }
}
