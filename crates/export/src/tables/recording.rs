//! What a recording is: its name, where its rows are from, and its rows of `recordings`, one for each event.

use super::error::TablesError;
use super::folder::machine_name;
use super::hash::ContentHasher;
use super::samples::WrittenEvent;
use super::schema::Origin;
use super::table::{Column, Columns, RowGroup, Table, TableWriter, Texts, text, write_same};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::Result;
use rprof_abi::{AttrFlags, SampleType};
use rprof_analysis::{Query, Recording, about};
use rprof_base::tables;
use rprof_profile::{About, Account, EventKind, EventProfile, Flaw, Profile, Quality, Sampling};

/// A recording, as all tables name it.
#[derive(Debug)]
pub(super) struct NamedRecording {
    pub(super) about: About,
    /// The same on every machine and with any filter, so that no folder has a recording twice.
    pub(super) name: String,
    /// Added to the recording's times, they are Unix times; `None` if it does not say what time it was.
    pub(super) wall_offset_ns: Option<i64>,
    /// When its first sample was taken, as Unix time, if that is known.
    pub(super) start_ns: Option<i64>,
}

impl NamedRecording {
    /// With what is counted of it: its time off the CPU is another table's rows than its samples.
    pub(super) fn of(recording: &Recording<'_>, account: Account) -> Self {
        let about = about(recording.reader);
        let wall_offset_ns = about.wall_clock.and_then(|clock| {
            let offset = i128::from(clock.wall_ns) - i128::from(clock.clock_ns);
            i64::try_from(offset).ok()
        });
        let first_ns = recording.sample_times().map(|times| *times.start());
        let first_ns = first_ns.and_then(|first| i64::try_from(first).ok());
        let start_ns = wall_offset_ns
            .zip(first_ns)
            .and_then(|(offset, first)| first.checked_add(offset));
        Self {
            name: name(recording, &about, account),
            about,
            wall_offset_ns,
            start_ns,
        }
    }

    pub(super) fn origin(&self) -> Origin {
        Origin {
            machine: self.machine().map(text),
            recording: text(&self.name),
        }
    }

    /// The machine that was recorded.
    pub(super) fn machine(&self) -> Option<&str> {
        machine_name(self.about.host.as_deref())
    }
}

/// 32 digits of a hash of what tells recordings apart without reading all of them.
fn name(recording: &Recording<'_>, about: &About, account: Account) -> String {
    let reader = recording.reader;
    let mut hasher = ContentHasher::new("rprof recording");
    for part in [&about.host, &about.os_release, &about.arch] {
        hasher.bytes(part.as_deref().unwrap_or_default().as_bytes());
    }
    hasher.number(about.command.len() as u64);
    for word in &about.command {
        hasher.bytes(word.as_bytes());
    }
    hasher.number(reader.events().len() as u64);
    for event in reader.events() {
        hasher.bytes(event.name.raw().as_bytes());
    }
    let wall = about.wall_clock;
    hasher.number(wall.map_or(0, |clock| clock.wall_ns));
    hasher.number(wall.map_or(0, |clock| clock.clock_ns));
    let times = recording.sample_times();
    hasher.number(times.as_ref().map_or(0, |times| *times.start()));
    hasher.number(times.as_ref().map_or(0, |times| *times.end()));
    hasher.number(recording.index.n_samples);
    let data = reader.data();
    hasher.number(data.end.saturating_sub(data.start));
    if let Some((event, _)) = account.event() {
        hasher.bytes(event.as_bytes());
    }
    hasher.finish().digits()
}

/// An event, as the tables have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableEvent {
    /// As it was recorded: another may have the same.
    raw_name: String,
    /// No other event of the recording has it.
    pub(super) name: String,
    /// Whether samples say for what they stand, or all stand for the same; else each counts once.
    has_weights: bool,
}

impl TableEvent {
    /// All events of a recording. A second one of a name is called `NAME#2`.
    pub(super) fn all_of(query: &Query<'_>) -> Vec<Self> {
        let mut all = Vec::new();
        for (number, event) in query.recording.reader.events().iter().enumerate() {
            let attr = &event.attr;
            let is_weighed =
                attr.sample_type.has(SampleType::PERIOD) || !attr.flags.has(AttrFlags::FREQ);
            let (name, kind) = query.event(number).unwrap_or_default();
            Self::push(&mut all, name.raw(), is_weighed || kind.is_time());
        }
        all
    }

    fn push(all: &mut Vec<Self>, raw_name: &str, has_weights: bool) {
        let is_free = |name: &str| all.iter().all(|event| event.name != name);
        let mut name = raw_name.to_owned();
        let mut number = 1;
        while !is_free(&name) {
            number += 1;
            name = format!("{raw_name}#{number}");
        }
        all.push(Self {
            raw_name: raw_name.to_owned(),
            name,
            has_weights,
        });
    }

    /// What weights count.
    fn unit(&self, kind: EventKind) -> &'static str {
        match kind {
            _ if kind.is_time() && self.has_weights => "nanoseconds",
            EventKind::Cycles if self.has_weights => "cycles",
            _ => "events",
        }
    }
}

/// Rows of `recordings`.
#[derive(Clone)]
pub(super) struct RecordingColumns {
    origin: Origin,
    /// What all rows have, in the order of the schema.
    numbers: [Option<i64>; 8],
    n_cpus: Option<i32>,
    texts: [Option<ByteArray>; 8],
    event: Texts,
    unit: Texts,
    samples: Column<Int64Type>,
    weight: Column<Int64Type>,
    lost: Column<Int64Type>,
    lost_at_least: Column<BoolType>,
    rate_hz: Column<Int64Type>,
    every: Column<Int64Type>,
}

impl RecordingColumns {
    /// Of a recording, and what it came to; its samples were taken within these times.
    pub(super) fn new(
        named: &NamedRecording,
        source: &str,
        profile: &Profile,
        times_ns: Option<(i64, i64)>,
    ) -> Self {
        let about = &named.about;
        let command = about.command.join(" ");
        let quality = Quality::of(profile);
        let count = |number| i64::try_from(number).ok();
        let of_stacks = |number| count(number).filter(|_| quality.unwound > 0);
        Self {
            origin: named.origin(),
            numbers: [
                times_ns.map(|(first, _)| first),
                times_ns.map(|(_, last)| last),
                named.wall_offset_ns,
                of_stacks(quality.unwound),
                of_stacks(quality.complete),
                of_stacks(quality.truncated),
                count(quality.throttles),
                count(quality.throttled_ns),
            ],
            n_cpus: about.n_cpus.and_then(|n| i32::try_from(n).ok()),
            texts: [
                Some(&*flaws(&quality)),
                Some(source),
                about.clock.as_deref().map(clock),
                about.os_release.as_deref(),
                about.arch.as_deref(),
                about.cpu.as_deref(),
                Some(&*command).filter(|command| !command.is_empty()),
                about.recorder.as_deref(),
            ]
            .map(|value| value.filter(|value| !value.is_empty()).map(text)),
            event: Column::default(),
            unit: Column::default(),
            samples: Column::default(),
            weight: Column::default(),
            lost: Column::default(),
            lost_at_least: Column::default(),
            rate_hz: Column::default(),
            every: Column::default(),
        }
    }

    fn push(&mut self, event: &EventProfile, named: &TableEvent, written: WrittenEvent) {
        let count = |number| i64::try_from(number).ok();
        self.event.push(text(&named.name));
        self.unit.push(text(named.unit(event.kind)));
        self.samples.push(written.samples);
        self.weight.push(written.weight);
        self.lost.push_option(count(event.loss.samples));
        self.lost_at_least.push(event.loss.at_least);
        let (rate_hz, every) = match event.sampling {
            Sampling::PerSecond(rate) => (count(rate), None),
            Sampling::Every(every) => (None, count(every)),
            Sampling::Mixed => (None, None),
        };
        self.rate_hz.push_option(rate_hz);
        self.every.push_option(every);
    }
}

/// Writes the rows of a profile's events; `events` are those of the recording, with what was written of them.
pub(super) fn write_events(
    profile: &Profile,
    mut events: impl Iterator<Item = (TableEvent, WrittenEvent)>,
    table: &mut TableWriter<RecordingColumns>,
) -> std::result::Result<(), TablesError> {
    for event in &profile.events {
        // Those that carry sideband only are not in the profile; the others are in order.
        let of_event = events.find(|(named, _)| named.raw_name == event.name.raw());
        if let Some((named, written)) = of_event {
            table.columns.push(event, &named, written);
            table.end_row()?;
        }
    }
    Ok(())
}

/// What a recording's clock is called.
fn clock(name: &str) -> &str {
    if name == About::SCHEDULER_CLOCK {
        "sched"
    } else {
        name
    }
}

/// `good`, or its flaws, worst first.
fn flaws(quality: &Quality) -> String {
    let flaws = quality.flaws().into_iter().map(|flaw| match flaw {
        Flaw::Lost => "lost",
        Flaw::Throttled => "throttled",
        Flaw::Truncated => "truncated",
        Flaw::Unnamed => "unnamed",
    });
    let flaws: Vec<&str> = flaws.collect();
    if flaws.is_empty() {
        "good".to_owned()
    } else {
        flaws.join(",")
    }
}

impl Columns for RecordingColumns {
    const TABLE: Table = Table {
        schema: tables::RECORDINGS,
        ascending: &[],
        plain: &[],
        zstd_level: 3,
    };

    fn are_full(&self) -> bool {
        false
    }

    fn write(&mut self, group: &mut RowGroup<'_>) -> Result<()> {
        let n_rows = self.samples.n_values();
        let same = |value: Option<&ByteArray>, group: &mut RowGroup<'_>| {
            write_same::<ByteArrayType>(value, n_rows, group)
        };
        same(Some(&self.origin.recording), group)?;
        same(self.origin.machine.as_ref(), group)?;
        same(None, group)?;
        self.event.write(group)?;
        self.unit.write(group)?;
        self.samples.write(group)?;
        self.weight.write(group)?;
        self.lost.write(group)?;
        self.lost_at_least.write(group)?;
        self.rate_hz.write(group)?;
        self.every.write(group)?;
        for number in &self.numbers {
            write_same::<Int64Type>(number.as_ref(), n_rows, group)?;
        }
        write_same::<Int32Type>(self.n_cpus.as_ref(), n_rows, group)?;
        for value in &self.texts {
            same(value.as_ref(), group)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_name_have_different_names() {
        let mut all = Vec::new();
        for name in ["cycles", "cycles#2", "cycles", "cycles"] {
            TableEvent::push(&mut all, name, true);
        }
        let names: Vec<&str> = all.iter().map(|event| &*event.name).collect();
        assert_eq!(names, ["cycles", "cycles#2", "cycles#3", "cycles#4"]);
    }

    #[test]
    fn samples_that_count_once_are_events() {
        let mut all = Vec::new();
        TableEvent::push(&mut all, "cpu-clock", true);
        TableEvent::push(&mut all, "cpu-clock", false);
        let unit = |kind| [all[0].unit(kind), all[1].unit(kind)];
        assert_eq!(unit(EventKind::CpuTime), ["nanoseconds", "events"]);
        assert_eq!(unit(EventKind::Cycles), ["cycles", "events"]);
        assert_eq!(unit(EventKind::Counter), ["events", "events"]);
    }
}
