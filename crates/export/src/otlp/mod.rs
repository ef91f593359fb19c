//! OTLP profiles: OpenTelemetry's protocol, 1.11, whose package of profiles is `v1development`: it may still change.
//!
//! Each event has two profiles, samples and weight, as a profile has one type of values. Stacks and what they lead to
//! are in a dictionary that all profiles of a message share. Addresses are those of [`Pprof`](crate::Pprof).

mod dictionary;
mod messages;

use crate::Format;
use crate::facts::{SampledTime, period, signed};
use dictionary::Tables;
use messages::{
    AnyValue, KeyValue, PROFILE_ID, Profile, ProfilesData, Resource, ResourceProfiles, SAMPLES,
    Sample, Scope, ScopeProfiles, Value, ValueType,
};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use rprof_profile::{CountedStacks, EventProfile, SampleCount};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// OTLP's protocol buffer, as it is sent and stored.
#[derive(Clone, Debug, Default)]
pub struct Otlp {
    /// Attributes of what was profiled, by name. They replace those that the recording says: `service.name`,
    /// `host.name`, `host.arch`, `os.type`, `os.version` and, of a single process, `process.pid`.
    pub resource: BTreeMap<String, String>,
}

/// What [`Otlp`] writes without attributes from elsewhere.
pub(crate) static OTLP: Otlp = Otlp {
    resource: BTreeMap::new(),
};

impl Format for Otlp {
    type Source = CountedStacks;

    fn write(&self, stacks: &CountedStacks, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.message(stacks).encode_to_vec())
    }
}

impl Otlp {
    fn message(&self, stacks: &CountedStacks) -> ProfilesData {
        let mut tables = Tables::new(stacks);
        let rows = Rows::new(stacks, &mut tables);
        let mut profiles = Vec::new();
        for (number, event) in (0u32..).zip(&stacks.profile.events) {
            for kind in [ValueKind::Samples, ValueKind::Weight] {
                let mut profile = profile(stacks, event, kind, &mut tables).encode_to_vec();
                rows.write(number, kind, &mut profile);
                profiles.push(profile);
            }
        }
        let dictionary = tables.into_dictionary();
        add_ids(&mut profiles, &dictionary.encode_to_vec());
        let scope = Scope {
            name: "rprof".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        ProfilesData {
            resource_profiles: vec![ResourceProfiles {
                resource: Some(self.resource(stacks)),
                scope_profiles: vec![ScopeProfiles {
                    scope: Some(scope),
                    profiles,
                }],
            }],
            dictionary: Some(dictionary),
        }
    }

    /// Names are those of OpenTelemetry's semantic conventions.
    fn resource(&self, stacks: &CountedStacks) -> Resource {
        let about = &stacks.profile.about;
        let arch = about.arch.as_deref().map(|arch| match arch {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        });
        let mut attributes = BTreeMap::from([
            ("service.name", Value::Text(service_name(stacks))),
            ("os.type", Value::Text("linux".to_owned())),
        ]);
        for (key, text) in [
            ("host.name", about.host.as_deref()),
            ("host.arch", arch),
            ("os.version", about.os_release.as_deref()),
        ] {
            attributes.extend(text.map(|text| (key, Value::Text(text.to_owned()))));
        }
        let pid = only_process(stacks).map(|pid| ("process.pid", Value::Int(pid.into())));
        attributes.extend(pid);
        for (key, text) in &self.resource {
            attributes.insert(key, Value::Text(text.clone()));
        }
        let attributes = attributes.into_iter().map(|(key, value)| KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue { value: Some(value) }),
        });
        Resource {
            attributes: attributes.collect(),
        }
    }
}

/// What a service is called that was recorded, unless somebody says more: the name that a single process had for most
/// of its weight (it may have executed another program), or `unknown_service`, as OpenTelemetry has it.
pub fn service_name(stacks: &CountedStacks) -> String {
    let mut weights = vec![0u128; stacks.threads.len()];
    for one in &stacks.counts {
        if let Some(sum) = weights.get_mut(one.thread as usize) {
            *sum += u128::from(one.count.weight);
        }
    }
    let is_single = only_process(stacks).is_some();
    let threads = stacks.threads.iter().zip(weights).enumerate();
    let threads = threads.filter(|_| is_single);
    // The main thread has the program's name.
    let name = threads.max_by_key(|&(idx, (thread, weight))| {
        let is_main = thread.tid == thread.pid;
        (is_main, weight, std::cmp::Reverse(idx))
    });
    let name = name.map(|(_, (thread, _))| stacks.profile.strings.of(thread.comm).into_raw());
    name.filter(|name| !name.is_empty())
        .unwrap_or("unknown_service")
        .to_owned()
}

/// The process, if only one was sampled.
fn only_process(stacks: &CountedStacks) -> Option<i32> {
    let first = stacks.threads.first()?.pid;
    let all = stacks.threads.iter();
    all.map(|thread| thread.pid)
        .all(|pid| pid == first)
        .then_some(first)
}

/// What the values of a profile are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Samples,
    Weight,
}

impl ValueKind {
    fn of(self, count: SampleCount) -> u64 {
        match self {
            Self::Samples => count.samples,
            Self::Weight => count.weight,
        }
    }
}

/// A profile without its samples.
fn profile(
    stacks: &CountedStacks,
    event: &EventProfile,
    kind: ValueKind,
    tables: &mut Tables<'_>,
) -> Profile {
    let is_single = stacks.profile.events.len() == 1;
    let mut value_type = |name: &str, unit: &str| ValueType {
        type_strindex: tables.string(name),
        unit_strindex: tables.string(unit),
    };
    let weight = value_type(event.name.raw(), event.kind.unit().unwrap_or("count"));
    let sample_type = match kind {
        ValueKind::Weight => weight,
        ValueKind::Samples if is_single => value_type("samples", "count"),
        ValueKind::Samples => value_type(&format!("{}-samples", event.name.raw()), "count"),
    };
    let time = SampledTime::of(stacks);
    let mut attribute_indices = Vec::new();
    if event.loss.samples > 0 {
        let lost = Value::Int(signed(event.loss.samples));
        attribute_indices.push(tables.attribute("rprof.lost_samples", lost));
    }
    if let Some(summary) = stacks.profile.unwound.summary() {
        let summary = Value::Text(summary.to_string());
        attribute_indices.push(tables.attribute("rprof.stacks", summary));
    }
    Profile {
        sample_type: Some(sample_type),
        time_unix_nano: time.start_ns,
        duration_nano: time.duration_ns,
        period_type: Some(weight),
        period: signed(period(event)),
        attribute_indices,
    }
}

/// What all samples of one stack, thread and CPU have in common.
struct Row {
    event: u32,
    stack_index: i32,
    /// Index of the thread.
    thread: usize,
    cpu: Option<i32>,
    count: SampleCount,
}

/// Samples, ready to be written as each type of values.
struct Rows {
    rows: Vec<Row>,
    /// Attributes of each thread.
    threads: Vec<Vec<i32>>,
}

impl Rows {
    fn new(stacks: &CountedStacks, tables: &mut Tables<'_>) -> Self {
        let threads = stacks.threads.iter();
        let threads = threads.map(|thread| tables.thread(thread)).collect();
        let rows = stacks.counts.iter().map(|one| Row {
            event: one.event,
            stack_index: tables.stack(one.stack),
            thread: one.thread as usize,
            cpu: one.cpu.map(|cpu| {
                let number = Value::Int(cpu.into());
                tables.attribute("cpu.logical_number", number)
            }),
            count: one.count,
        });
        Self {
            rows: rows.collect(),
            threads,
        }
    }

    /// Appends the samples of an event.
    fn write(&self, event: u32, kind: ValueKind, out: &mut Vec<u8>) {
        let mut sample = Sample::default();
        for row in self.rows.iter().filter(|row| row.event == event) {
            sample.stack_index = row.stack_index;
            sample.attribute_indices.clear();
            let thread = self.threads.get(row.thread).into_iter().flatten();
            sample
                .attribute_indices
                .extend(thread.copied().chain(row.cpu));
            sample.values.clear();
            sample.values.push(signed(kind.of(row.count)));
            encode_key(SAMPLES, WireType::LengthDelimited, out);
            // A vector takes whatever comes.
            let _ = sample.encode_length_delimited(out);
        }
    }
}

/// Bytes of a profile's id.
const ID_LEN: usize = 16;

/// Gives profiles ids that follow from all that they say: what is sent again has the same.
fn add_ids(profiles: &mut [Vec<u8>], dictionary: &[u8]) {
    let mut shared = Sha256::new();
    shared.update(dictionary);
    for profile in profiles {
        let mut own = shared.clone();
        own.update(&*profile);
        let id = own.finalize();
        encode_key(PROFILE_ID, WireType::LengthDelimited, profile);
        encode_varint(ID_LEN as u64, profile);
        profile.extend(id.iter().take(ID_LEN));
    }
}

#[cfg(test)]
mod tests;
