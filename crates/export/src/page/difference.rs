//! The page of what changed between two recordings: the samples of each side by stack, instead of samples in time.
//!
//! Its columns are those of any page: a side is a thread, and a row is what a stack counts on it.

use super::columns::{difference, unsigned};
use super::head::kind_word;
use super::options::Page;
use super::packing::Packing;
use super::shell::{PageText, Shell};
use crate::Format;
use foldhash::fast::RandomState;
use rprof_base::{Interner, base64_decoded_len};
use rprof_profile::difference::{
    BothCounts, DifferentialTree, Directions, Scaling, Side, SureChanges, SureFunction,
};
use rprof_profile::{EventKind, SampleCount};
use rprof_untrusted::{JsonLayout, JsonWriter, printable};
use std::io::{self, Write};

/// Two recordings, compared.
#[derive(Clone, Debug)]
pub struct ComparedRecordings {
    /// What the recordings are called, before and after.
    pub names: [String; 2],
    /// How sides are compared, the usual way first.
    pub measures: Vec<Scaling>,
    /// What is compared; at least one.
    pub events: Vec<EventOfBoth>,
}

/// An event of both sides.
#[derive(Clone, Debug)]
pub struct EventOfBoth {
    /// What it is called after.
    pub name: String,
    /// What it counts.
    pub kind: EventKind,
    /// Its stacks, the outermost frame first.
    pub tree: DifferentialTree,
    /// What changed beyond noise, in each of the ways that sides are compared.
    pub sure: Vec<SureChanges>,
}

/// A page of [`ComparedRecordings`].
#[derive(Clone, Debug)]
pub struct DifferentialPage(pub Page);

impl Format for DifferentialPage {
    type Source = ComparedRecordings;

    fn write(&self, compared: &ComparedRecordings, out: &mut dyn Write) -> io::Result<()> {
        let shell = Shell::new()?;
        let room = base64_decoded_len(self.0.max_bytes.saturating_sub(shell.len()));
        let mut min_samples = 0;
        let bytes = loop {
            let bytes = Columns::of(compared, min_samples).compressed(&self.0, compared)?;
            if bytes.len() <= room || min_samples > MOST_SAMPLES {
                break bytes;
            }
            min_samples = (min_samples * 2).max(2);
        };
        let text = PageText {
            title: &self.0.title,
            plain: "",
        };
        shell.write(text, [&bytes, &[]], out)
    }
}

/// Stacks that end where fewer samples than this go on are short enough for every page.
const MOST_SAMPLES: u64 = 1 << 40;

/// What a stack counts on a side.
#[derive(Clone, Copy, Debug)]
struct SideRow {
    /// One more than its node.
    stack: u64,
    event: u64,
    count: SampleCount,
}

/// Stacks of all events as one tree in preorder, and the rows of both sides.
#[derive(Debug, Default)]
struct Columns {
    strings: Interner<u32, Box<str>, RandomState>,
    /// The string of every function's image: a function may be in several.
    no_image: u32,
    /// By outermost node, its string.
    comms: Vec<u32>,
    /// Strings of frames, numbered in the order in which they come.
    frames: Interner<u32, u32, RandomState>,
    ups: Vec<u64>,
    labels: Vec<u32>,
    /// How deep a child of the last node would be.
    follows_at: u64,
    before: Vec<SideRow>,
    after: Vec<SideRow>,
    /// Stacks end where fewer samples of both sides together go on.
    min_samples: u64,
}

impl Columns {
    fn of(compared: &ComparedRecordings, min_samples: u64) -> Self {
        let mut columns = Self {
            min_samples,
            ..Self::default()
        };
        columns.no_image = columns.strings.intern_ref("");
        for (number, event) in (0u64..).zip(&compared.events) {
            columns.add(number, &event.tree);
        }
        columns
    }

    fn add(&mut self, event: u64, tree: &DifferentialTree) {
        let totals = tree.totals();
        let samples = |both: &BothCounts| both.before.samples.saturating_add(both.after.samples);
        // Of each node of the tree: the node that counts it, and how deep that is.
        let mut places: Vec<(usize, u64)> = Vec::with_capacity(totals.len());
        let mut own: Vec<BothCounts> = Vec::new();
        let first = self.ups.len();
        for (node, total) in tree.nodes().iter().zip(&totals) {
            let parent = node.parent.map(|parent| places[parent as usize]);
            let place = match parent {
                Some(parent) if samples(total) < self.min_samples => parent,
                parent => {
                    let depth = parent.map_or(0, |(_, depth)| depth + 1);
                    self.ups.push(self.follows_at - depth);
                    self.follows_at = depth + 1;
                    self.push_label(tree.label(node), depth);
                    own.push(BothCounts::NONE);
                    (own.len() - 1, depth)
                }
            };
            own[place.0].add(node.own);
            places.push(place);
        }
        self.push_rows(event, first, &own);
    }

    fn push_label(&mut self, label: &str, depth: u64) {
        let string = self.strings.intern_ref(&printable(label));
        let label = match depth {
            0 => {
                self.comms.push(string);
                u32::try_from(self.comms.len() - 1).unwrap_or(u32::MAX)
            }
            _ => self.frames.intern(string),
        };
        self.labels.push(label);
    }

    fn push_rows(&mut self, event: u64, first: usize, own: &[BothCounts]) {
        for (stack, both) in (first as u64 + 1..).zip(own) {
            for (rows, count) in [
                (&mut self.before, both.before),
                (&mut self.after, both.after),
            ] {
                if count.samples > 0 {
                    rows.push(SideRow {
                        stack,
                        event,
                        count,
                    });
                }
            }
        }
    }

    fn rows(&self) -> impl Iterator<Item = &SideRow> {
        self.before.iter().chain(&self.after)
    }

    fn compressed(&self, page: &Page, compared: &ComparedRecordings) -> io::Result<Vec<u8>> {
        let mut packing = Packing::of(&self.json(page, compared)?)?;
        let out = &mut packing.bytes;
        self.frames
            .values()
            .iter()
            .for_each(|&name| unsigned(out, name.into()));
        for _ in self.frames.values() {
            unsigned(out, self.no_image.into());
        }
        // Flags, places.
        out.resize(out.len() + 2 * self.frames.values().len(), 0);
        self.ups.iter().for_each(|&up| unsigned(out, up));
        let labels = self.labels.iter();
        labels.for_each(|&label| unsigned(out, label.into()));
        unsigned(out, self.before.len() as u64);
        unsigned(out, self.after.len() as u64);
        // Times.
        out.resize(out.len() + self.rows().count(), 0);
        self.differences(out, |row| row.stack);
        if compared.events.len() > 1 {
            self.differences(out, |row| row.event);
        }
        self.rows().for_each(|row| unsigned(out, row.count.samples));
        self.rows().for_each(|row| unsigned(out, row.count.weight));
        packing.finish()
    }

    fn differences(&self, out: &mut Vec<u8>, value: impl Fn(&SideRow) -> u64) {
        for rows in [&self.before, &self.after] {
            let mut before = 0;
            for row in rows {
                let value = value(row);
                difference(out, value, before);
                before = value;
            }
        }
    }

    fn json(&self, page: &Page, compared: &ComparedRecordings) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out, JsonLayout::Compact);
        json.object(|json| {
            json.key("title").text(&printable(&page.title));
            json.column("sides", &compared.names, |json, name| {
                json.text(&printable(name))
            });
            json.column("notes", &page.notes, |json, note| {
                json.text(&printable(note))
            });
            json.key("about").object(|_| {});
            for name in ["warnings", "throttles"] {
                json.key(name).list(|_| {});
            }
            json.column("strings", self.strings.values(), |json, text| {
                json.text(text)
            });
            json.column("comms", &self.comms, |json, &comm| json.number(comm.into()));
            json.key("threads").list(|json| {
                for _ in [Side::Before, Side::After] {
                    json.list(|json| (0..3).for_each(|_| json.number(0)));
                }
            });
            json.column("measures", &compared.measures, |json, scaling| {
                measure(*scaling, json);
            });
            json.key("events").list(|json| self.events(compared, json));
            json.key("n_frames").number(self.frames.len() as u64);
            json.key("n_nodes").number(self.labels.len() as u64);
            self.json_of_rows(compared, json);
        });
        json.finish()?;
        Ok(out)
    }

    fn events(&self, compared: &ComparedRecordings, json: &mut JsonWriter<'_>) {
        for event in &compared.events {
            let sum = event.tree.sum();
            json.object(|json| {
                json.key("name").text(&printable(&event.name));
                json.key("kind").text(kind_word(event.kind));
                json.key("samples").number(sum.after.samples);
                json.key("weight").number(sum.after.weight);
                json.key("lost").number(0);
                json.key("lost_at_least").boolean(false);
                json.key("each").null();
                json.column("sure", &event.sure, |json, changes| {
                    self.sure(changes, json);
                });
            });
        }
    }

    /// What changed beyond noise: all of it, then each function with its frame.
    fn sure(&self, changes: &SureChanges, json: &mut JsonWriter<'_>) {
        json.list(|json| {
            json.number(bits(changes.total));
            for (label, SureFunction { own, with_callees }) in &changes.functions {
                let string = self.strings.find(&*printable(label));
                if let Some(frame) = string.and_then(|string| self.frames.find(&string)) {
                    json.number(frame.into());
                    json.number(bits(*own) | bits(*with_callees) << 2);
                }
            }
        });
    }

    fn json_of_rows(&self, compared: &ComparedRecordings, json: &mut JsonWriter<'_>) {
        let samples = self.rows().map(|row| row.count.samples);
        for (name, number) in [
            ("n_losses", 0),
            ("n_rows", self.rows().count() as u64),
            ("n_samples", samples.fold(0, u64::saturating_add)),
            ("span_ns", 0),
            ("slot_ns", 0),
            ("min_samples", self.min_samples),
        ] {
            json.key(name).number(number);
        }
        json.key("start_ns").text("0");
        for (name, value) in [
            ("has_times", false),
            ("has_events", compared.events.len() > 1),
            ("has_cpus", false),
            ("has_samples", true),
            ("has_weights", true),
            ("by_name", true),
        ] {
            json.key(name).boolean(value);
        }
    }
}

/// How sides are compared, and for how long each was recorded where that counts.
fn measure(scaling: Scaling, json: &mut JsonWriter<'_>) {
    json.object(|json| match scaling {
        Scaling::Shares => json.key("per").text("event"),
        Scaling::Recorded => json.key("per").text("run"),
        Scaling::PerSecond(spans) => {
            json.key("per").text("time");
            json.key("spans_ns").list(|json| {
                json.number(spans.before_ns);
                json.number(spans.after_ns);
            });
        }
    });
}

fn bits(directions: Directions) -> u64 {
    u64::from(directions.more) | u64::from(directions.less) << 1
}

#[cfg(test)]
mod tests;
