//! pprof's format: stacks with values and labels, compressed.
//!
//! Each event has two values, samples and weight. Addresses are offsets in the image's file, so
//! a mapping begins in memory where it does in the file (of the kernel: addresses in memory), and
//! what processes have at different addresses is one.

mod store;
mod tables;

use crate::Format;
use crate::facts::{SampledTime, period, signed};
use prost::Message;
use prost::encoding::{WireType, encode_key};
use rprof_pprof::{
    PPROF_SAMPLE as SAMPLE, PprofLabel as Label, PprofRest as Rest, PprofSample as Sample,
    PprofValueType as ValueType,
};
use rprof_profile::{CountedStacks, EventProfile, StackCount};
use std::io::{self, Write};
use tables::{Strings, Tables};

pub use store::{SampleLabels, StorePprof, store_series};

/// pprof's protocol buffer; tools expect it compressed ([`crate::write_gzip`]).
#[derive(Clone, Copy, Debug)]
pub struct Pprof;

/// Bytes of samples that are written together.
const BUFFER: usize = 1 << 16;

impl Format for Pprof {
    type Source = CountedStacks;

    fn write(&self, stacks: &CountedStacks, out: &mut dyn Write) -> io::Result<()> {
        let words = Words {
            labels: SampleLabels::All,
            type_name: |event| event.name.raw().to_owned(),
        };
        words.write(stacks, out)
    }
}

/// What readers of a profile call things.
struct Words {
    labels: SampleLabels,
    /// Of an event, as a type of values.
    type_name: fn(&EventProfile) -> String,
}

impl Words {
    fn write(&self, stacks: &CountedStacks, out: &mut dyn Write) -> io::Result<()> {
        let mut strings = Strings::new();
        let tables = Tables::of(stacks, &mut strings);
        write_samples(stacks, self.labels, &mut strings, out)?;
        let rest = rest_of(stacks, self.type_name, tables, strings);
        out.write_all(&rest.encode_to_vec())
    }
}

/// Writes a sample for all that have the same stack, thread and CPU.
fn write_samples(
    stacks: &CountedStacks,
    which: SampleLabels,
    strings: &mut Strings,
    out: &mut dyn Write,
) -> io::Result<()> {
    let n_events = stacks.profile.events.len();
    let place = |one: &StackCount| (one.stack, one.thread, one.cpu);
    let mut buffer = Vec::with_capacity(2 * BUFFER);
    for same in stacks.counts.chunk_by(|a, b| place(a) == place(b)) {
        let Some(first) = same.first() else {
            continue;
        };
        let mut value = vec![0; 2 * n_events];
        for one in same {
            let at = 2 * one.event as usize;
            if let Some(values) = value.get_mut(at..at + 2) {
                values.copy_from_slice(&[signed(one.count.samples), signed(one.count.weight)]);
            }
        }
        let nodes = stacks.stacks.path(first.stack);
        let message = Sample {
            location_id: nodes
                .map(|node| u64::from(node.frame.number()) + 1)
                .collect(),
            value,
            label: labels(stacks, first, which, strings),
        };
        encode_key(SAMPLE, WireType::LengthDelimited, &mut buffer);
        // A vector takes whatever comes.
        let _ = message.encode_length_delimited(&mut buffer);
        if buffer.len() >= BUFFER {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}

/// Where a sample was taken. Numbers are text: tools take a number of 0 for none.
fn labels(
    stacks: &CountedStacks,
    sample: &StackCount,
    which: SampleLabels,
    strings: &mut Strings,
) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut add = |key, value: &str| {
        labels.push(Label {
            key: strings.of(key),
            str: strings.of(value),
        });
    };
    let is_all = which == SampleLabels::All;
    if let Some(thread) = stacks.threads.get(sample.thread as usize) {
        if is_all {
            add("pid", &thread.pid.to_string());
            add("tid", &thread.tid.to_string());
        }
        add("comm", stacks.profile.strings.of(thread.comm).into_raw());
    }
    if let Some(cpu) = sample.cpu.filter(|_| is_all) {
        add("cpu", &cpu.to_string());
    }
    labels
}

/// All but the samples.
fn rest_of(
    stacks: &CountedStacks,
    type_name: fn(&EventProfile) -> String,
    tables: Tables,
    mut strings: Strings,
) -> Rest {
    let profile = &stacks.profile;
    let is_single = profile.events.len() == 1;
    let mut sample_type = Vec::new();
    for event in &profile.events {
        let weight = type_name(event);
        let samples = if is_single {
            "samples".to_owned()
        } else {
            format!("{weight}-samples")
        };
        sample_type.push(ValueType {
            kind: strings.of(&samples),
            unit: strings.of("count"),
        });
        sample_type.push(ValueType {
            kind: strings.of(&weight),
            unit: strings.of(event.kind.unit().unwrap_or("count")),
        });
    }
    let main = profile.events.iter().position(|event| event.samples > 0);
    let main = main.and_then(|idx| Some((profile.events.get(idx)?, sample_type.get(2 * idx + 1)?)));
    let period = main.map_or(0, |(event, _)| signed(period(event)));
    let time = SampledTime::of(stacks);
    let comments = comments(stacks)
        .iter()
        .map(|text| strings.of(text))
        .collect();
    Rest {
        period_type: main.map(|(_, kind)| kind.clone()),
        default_sample_type: main.map_or(0, |(_, kind)| kind.kind),
        sample_type,
        mapping: tables.mappings,
        location: tables.locations,
        function: tables.functions,
        comment: comments,
        string_table: strings.into_all(),
        time_nanos: signed(time.start_ns),
        duration_nanos: signed(time.duration_ns),
        period,
    }
}

/// What is to be said of the profile.
fn comments(stacks: &CountedStacks) -> Vec<String> {
    let profile = &stacks.profile;
    let mut comments = Vec::new();
    if !profile.about.command.is_empty() {
        comments.push(format!("command: {}", profile.about.command.join(" ")));
    }
    for event in profile.events.iter().filter(|event| event.loss.samples > 0) {
        comments.push(format!("{}: {} lost", event.name.raw(), event.loss));
    }
    comments.extend(
        profile
            .unwound
            .summary()
            .map(|how| format!("stacks: {how}")),
    );
    comments
}
