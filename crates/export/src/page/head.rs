//! What is said of a profile beside its columns, as JSON; strings, each once.

use super::columns::unsigned;
use super::detail::{Detail, ThreadDetail};
use super::fields;
use super::joined::Rows;
use super::losses::joined_losses;
use super::options::Page;
use super::stacks::{InnerLabel, Stacks};
use super::waits::{Cause as WaitCause, PageWaits};
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{EventKind, FrameId, Level, SampledProfile, Sampling, StrId};
use rprof_scheduling::Cause;
use rprof_untrusted::{JsonLayout, JsonWriter, printable};
use std::{io, iter};

/// Strings, by the numbers that columns have for them.
#[derive(Debug, Default)]
pub(super) struct Head {
    strings: Interner<u32, Box<str>, RandomState>,
    /// By thread.
    threads: Vec<u32>,
    /// By outermost node.
    comms: Vec<u32>,
    frames: Vec<FrameRow>,
    /// What is waited for: frames, and their colours.
    waits: Vec<(u32, [u8; 3])>,
    /// When threads waited.
    timed_waits: PageWaits,
}

/// What is written.
pub(super) struct Parts<'a> {
    pub(super) stacks: &'a Stacks,
    pub(super) rows: &'a Rows,
    pub(super) detail: Detail,
}

/// A frame in numbers.
#[derive(Clone, Copy, Debug)]
struct FrameRow {
    name: u32,
    image: u32,
    flags: u8,
    /// One more than the number of the text; 0 if there is none.
    place: u32,
}

impl Head {
    pub(super) fn of(sampled: &SampledProfile, stacks: &Stacks, detail: Detail) -> Self {
        let mut head = Self::default();
        let strings = &sampled.profile.strings;
        let threads = sampled.threads.iter();
        head.threads = threads
            .map(|thread| head.number(strings.of(thread.comm).into_raw()))
            .collect();
        let comms = stacks.comms.iter();
        head.comms = comms
            .map(|&comm| head.number(strings.of(comm).into_raw()))
            .collect();
        let frames = stacks.frames.values().iter();
        let frames = (0..).zip(frames).map(|(number, label)| match *label {
            InnerLabel::Frame(frame) => head.frame(sampled, frame),
            InnerLabel::Wait(cause) => head.wait(sampled, number, cause),
        });
        head.frames = frames.collect();
        if detail.threads == ThreadDetail::Each {
            head.timed_waits = PageWaits::of(sampled, |text| head.strings.intern_ref(text));
        }
        head
    }

    /// Appends the columns of waits, if there are any.
    pub(super) fn write_waits(&self, out: &mut Vec<u8>) {
        self.timed_waits.write(out);
    }

    fn number(&mut self, text: &str) -> u32 {
        self.strings.intern_ref(&printable(text))
    }

    fn frame(&mut self, sampled: &SampledProfile, id: FrameId) -> FrameRow {
        let (frames, strings) = (&sampled.profile.frames, &sampled.profile.strings);
        let function = frames.function_of(id);
        let frame = frames.of(function);
        let mut name = String::new();
        frames.label_parts(function, strings).append_to(&mut name);
        let place = place_of(sampled, id);
        let image = strings.of(frame.image).into_raw();
        FrameRow {
            name: self.number(&name),
            image: self.number(image),
            flags: level(frame.level)
                | u8::from(frame.is_inlined) << 3
                | u8::from(frame.is_jit) << 4
                | u8::from(!frame.is_function()) << 5,
            place: place.map_or(0, |place| self.number(&place) + 1),
        }
    }

    fn wait(&mut self, sampled: &SampledProfile, number: u32, cause: StrId) -> FrameRow {
        let name = sampled.profile.strings.of(cause).into_raw();
        let color = Cause::named(name).unwrap_or_default().color();
        self.waits.push((number, color));
        FrameRow {
            name: self.number(&sampled.profile.wait_label(cause)),
            image: self.number(""),
            flags: IS_WAIT,
            place: 0,
        }
    }

    /// Appends the columns of frames.
    pub(super) fn write_frames(&self, out: &mut Vec<u8>) {
        let mut column = |value: fn(&FrameRow) -> u32| {
            self.frames
                .iter()
                .for_each(|frame| unsigned(out, value(frame).into()));
        };
        column(|frame| frame.name);
        column(|frame| frame.image);
        column(|frame| frame.flags.into());
        column(|frame| frame.place);
    }

    /// What is said in words.
    pub(super) fn json(
        &self,
        page: &Page,
        sampled: &SampledProfile,
        parts: &Parts<'_>,
    ) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out, JsonLayout::Compact);
        json.object(|json| {
            json.key("title").text(&printable(&page.title));
            // A name that must be escaped is not what a shell would find.
            let recording = page
                .recording
                .iter()
                .filter(|name| printable(name) == **name);
            for name in recording {
                json.key("recording").text(name);
            }
            json.column("notes", &page.notes, |json, note| {
                json.text(&printable(note))
            });
            json.key("is_filtered").boolean(page.is_filtered);
            about(sampled, json);
            json.column("strings", self.strings.values(), |json, text| {
                json.text(text)
            });
            json.column("comms", &self.comms, |json, &comm| json.number(comm.into()));
            json.key("threads").list(|json| self.threads(sampled, json));
            json.key("events").list(|json| events(sampled, parts, json));
            json.key("n_frames").number(self.frames.len() as u64);
            json.key("n_nodes").number(parts.stacks.len() as u64);
            json.key("n_losses")
                .number(joined_losses(sampled).len() as u64);
            rows(sampled, parts, json);
            fields::json(sampled, json);
            self.json_of_waits(json);
            if !self.waits.is_empty() {
                let running = (-1, Cause::Running.color());
                let waits = self
                    .waits
                    .iter()
                    .map(|&(number, color)| (number.into(), color));
                let colors: Vec<(i64, [u8; 3])> = iter::once(running).chain(waits).collect();
                json.column("waits", &colors, |json, &(number, color)| {
                    json.list(|json| {
                        json.signed(number);
                        color.iter().for_each(|&part| json.number(part.into()));
                    });
                });
                json.key("waits_have_begins")
                    .boolean(sampled.waits_have_begins && parts.detail == Detail::FULL);
            }
        });
        json.finish()?;
        Ok(out)
    }

    fn json_of_waits(&self, json: &mut JsonWriter<'_>) {
        json.key("n_waits").number(self.timed_waits.len() as u64);
        json.key("n_all_waits").number(self.timed_waits.n_all());
        json.key("n_wait_groups")
            .number(self.timed_waits.n_groups() as u64);
        let causes = self.timed_waits.causes();
        json.column("wait_causes", causes, |json, WaitCause { name, color }| {
            json.list(|json| {
                json.number((*name).into());
                color.iter().for_each(|&part| json.number(part.into()));
            });
        });
    }

    fn threads(&self, sampled: &SampledProfile, json: &mut JsonWriter<'_>) {
        for (thread, &comm) in sampled.threads.iter().zip(&self.threads) {
            json.list(|json| {
                json.signed(thread.pid.into());
                json.signed(thread.tid.into());
                json.number(comm.into());
            });
        }
    }
}

/// Flag of what is no frame but what a thread waits for.
const IS_WAIT: u8 = 1 << 6;

/// Where in a function a frame is, if frames are told apart by that.
fn place_of(sampled: &SampledProfile, id: FrameId) -> Option<String> {
    let (frames, strings) = (&sampled.profile.frames, &sampled.profile.strings);
    if let Some(position) = frames.of(id).position {
        let file = strings.of(position.file).into_raw();
        return Some(format!("{file}:{}", position.line));
    }
    let place = frames.of(frames.node_of(id)).place?;
    let text = strings.of(place.text).into_raw();
    (!text.is_empty()).then(|| text.to_owned())
}

fn level(level: Level) -> u8 {
    match level {
        Level::User => 0,
        Level::Kernel => 1,
        Level::Hypervisor => 2,
        Level::GuestKernel => 3,
        Level::GuestUser => 4,
    }
}

fn about(sampled: &SampledProfile, json: &mut JsonWriter<'_>) {
    let about = &sampled.profile.about;
    json.key("about").object(|json| {
        for (name, text) in about.texts() {
            json.key(name).text(&printable(text));
        }
        json.column("command", &about.command, |json, word| {
            json.text(&printable(word))
        });
    });
    if let (Some(clock), Some(span)) = (about.wall_clock, sampled.samples.span_ns()) {
        // Beyond 2^53, numbers of scripts are not exact.
        json.key("wall_ms")
            .maybe(clock.at(*span.start()).map(|wall_ns| wall_ns / 1_000_000));
    }
    let warnings = &sampled.profile.warnings;
    json.column("warnings", warnings, |json, warning| {
        json.text(&printable(warning))
    });
    json.key("throttles").list(|json| throttles(sampled, json));
}

/// Seconds in which the kernel stopped events: nanoseconds since the first sample, how often, for how long.
fn throttles(sampled: &SampledProfile, json: &mut JsonWriter<'_>) {
    let start_ns = sampled.samples.span_ns().map_or(0, |span| *span.start());
    let seconds = sampled.profile.gaps.seconds.iter();
    for (second, gap) in seconds.filter(|(_, gap)| gap.throttles > 0) {
        let since = i128::from(*second) * 1_000_000_000 - i128::from(start_ns);
        json.list(|json| {
            json.signed(i64::try_from(since).unwrap_or(i64::MAX));
            json.number(gap.throttles);
            json.number(gap.throttled_ns);
        });
    }
}

/// What an event counts, in a word.
pub(super) fn kind_word(kind: EventKind) -> &'static str {
    match kind {
        EventKind::CpuTime => "cpu-time",
        EventKind::OffCpuTime => "off-cpu-time",
        EventKind::WallTime => "wall-time",
        EventKind::Cycles => "cycles",
        EventKind::Counter => "counter",
        EventKind::Occurrence => "occurrence",
    }
}

fn events(sampled: &SampledProfile, parts: &Parts<'_>, json: &mut JsonWriter<'_>) {
    for (number, event) in sampled.profile.events.iter().enumerate() {
        json.object(|json| {
            json.key("name").text(&event.name.shown());
            json.key("kind").text(kind_word(event.kind));
            if let Sampling::PerSecond(hz) = event.sampling {
                json.key("hz").number(hz);
            }
            json.key("samples").number(event.samples);
            json.key("weight").number(event.weight);
            json.key("lost").number(event.loss.samples);
            json.key("lost_at_least").boolean(event.loss.at_least);
            json.key("each").maybe(parts.rows.alike(number));
        });
    }
}

/// Of the columns of samples: which there are, and what was joined.
fn rows(sampled: &SampledProfile, parts: &Parts<'_>, json: &mut JsonWriter<'_>) {
    let (rows, detail) = (parts.rows, parts.detail);
    let present = rows.present();
    let span = sampled.samples.span_ns();
    json.key("has_times").boolean(sampled.has_times);
    json.key("start_ns")
        .text(&span.clone().map_or(0, |span| *span.start()).to_string());
    json.key("span_ns")
        .number(span.map_or(0, |span| span.end() - span.start()));
    json.key("n_rows").number(rows.len() as u64);
    json.key("n_samples").number(sampled.samples.len() as u64);
    json.key("has_events").boolean(present.events);
    json.key("has_cpus").boolean(present.cpus);
    json.key("has_samples").boolean(present.samples);
    json.key("has_weights").boolean(present.weights);
    json.key("slot_ns").number(detail.slot_ns);
    json.key("by_name")
        .boolean(detail.threads == ThreadDetail::Names);
    json.key("min_samples").number(detail.min_samples);
}
