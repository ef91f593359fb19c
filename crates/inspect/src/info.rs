//! What a recording is: its form, events, features, and how many records of each kind it has.

use crate::Error;
use rprof_abi::{Endian, Fields, RecordKind, Value};
use rprof_perfdata::{Feature, FeatureId, Form, Reader, Section, Step, kind_name};
use std::collections::BTreeMap;

/// Version of the JSON form: raised when a field changes its name or meaning.
pub const INFO_VERSION: u64 = 2;

/// RecordCounts over all records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RecordCounts {
    /// By kind: records and bytes.
    kinds: BTreeMap<RecordKind, (u64, u64)>,
    /// By event.
    samples: Vec<u64>,
    /// Samples of no known event.
    without_event: u64,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
}

/// Says everything that is to know of a recording without reading its samples.
///
/// # Errors
/// [`Error`] if the file cannot be read; what is damaged is said under `warnings`.
pub fn visit_info(reader: &Reader, fields: &mut dyn Fields) -> Result<(), Error> {
    let mut counts = RecordCounts {
        samples: vec![0; reader.events().len()],
        ..RecordCounts::default()
    };
    let walked = reader.walk(reader.data(), |_, raw| {
        let (n, bytes) = counts.kinds.entry(raw.kind).or_default();
        *n += 1;
        *bytes += raw.len_bytes() as u64;
        if raw.kind == RecordKind::SAMPLE {
            counts.take_sample(reader, raw);
        }
        Step::On
    })?;
    fields.field("schema", Value::Text(b"rprof-info"));
    fields.field("version", Value::Unsigned(INFO_VERSION));
    visit_form(reader, fields);
    if let Some(header) = reader.header() {
        fields.object("header", |fields| {
            fields.field("attr_size", Value::Unsigned(header.attr_entry_size));
            section(fields, "attrs", header.attrs);
            section(fields, "data", header.data);
        });
    }
    fields.list(
        "events",
        reader.events().iter().zip(&counts.samples),
        |fields, (event, n)| {
            fields.object("", |fields| {
                fields.field("name", Value::Text(event.name.raw().as_bytes()));
                fields.field("samples", Value::Unsigned(*n));
                fields.object("attr", |fields| event.visit_attr(fields));
            });
        },
    );
    fields.object("records", |fields| counts.visit(fields));
    let mut warnings: Vec<String> = Vec::new();
    fields.object("features", |fields| {
        visit_features(reader, fields, &mut warnings)
    });
    let known = reader.warnings().iter().chain(&walked);
    warnings.extend(known.map(ToString::to_string));
    fields.list("warnings", &warnings, |fields, warning| {
        fields.field("", Value::Text(warning.as_bytes()));
    });
    Ok(())
}

/// How a recording is stored.
pub(crate) fn visit_form(reader: &Reader, fields: &mut dyn Fields) {
    let form = match reader.form() {
        Form::File => "file",
        Form::Pipe => "pipe",
        Form::Directory => "directory",
    };
    let order = match reader.endian() {
        Endian::Little => "little",
        Endian::Big => "big",
    };
    fields.field("form", Value::Text(form.as_bytes()));
    fields.field("byte_order", Value::Text(order.as_bytes()));
    fields.field("is_compressed", Value::Bool(reader.is_compressed()));
}

fn section(fields: &mut dyn Fields, name: &str, section: Section) {
    fields.object(name, |fields| {
        fields.field("offset", Value::Unsigned(section.offset));
        fields.field("size", Value::Unsigned(section.size));
    });
}

fn visit_features(reader: &Reader, fields: &mut dyn Fields, warnings: &mut Vec<String>) {
    each_feature(reader, warnings, |_, feature| feature.visit(fields));
}

/// Hands out the features that can be read, each once.
pub(crate) fn each_feature(
    reader: &Reader,
    warnings: &mut Vec<String>,
    mut each: impl FnMut(FeatureId, &Feature),
) {
    let mut seen: Vec<FeatureId> = Vec::new();
    for &(id, _) in reader.features() {
        // Names are keys: once each, whatever a damaged table says.
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let bytes = match reader.feature(id) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(_) => {
                warnings.push(format!(
                    "feature section {} lies outside the file",
                    id.name()
                ));
                continue;
            }
        };
        match Feature::parse(id, &bytes, reader.endian()) {
            Ok(feature) => each(id, &feature),
            Err(error) => {
                // Its size is known all the same.
                if id == FeatureId::TRACING_DATA {
                    let len_bytes = bytes.len() as u64;
                    each(id, &Feature::Opaque { id, len_bytes });
                }
                warnings.push(format!(
                    "damaged feature section {} ({error}); ignored",
                    id.name()
                ));
            }
        }
    }
}

impl RecordCounts {
    fn take_sample(&mut self, reader: &Reader, raw: rprof_abi::RawRecord<'_>) {
        let event = reader.event_of(raw);
        match event.and_then(|event| self.samples.get_mut(event)) {
            Some(samples) => *samples += 1,
            None => self.without_event += 1,
        }
        let event = event.and_then(|event| reader.events().get(event));
        if let Some(time) = event.and_then(|event| event.layout.sample_time(raw)) {
            self.first_ns = Some(self.first_ns.map_or(time, |first| first.min(time)));
            self.last_ns = Some(self.last_ns.map_or(time, |last| last.max(time)));
        }
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.list("kinds", &self.kinds, |fields, (kind, (n, bytes))| {
            fields.object("", |fields| {
                fields.field("kind", Value::Text(kind_name(*kind).as_bytes()));
                fields.field("count", Value::Unsigned(*n));
                fields.field("bytes", Value::Unsigned(*bytes));
            });
        });
        if self.without_event > 0 {
            fields.field("samples_without_event", Value::Unsigned(self.without_event));
        }
        fields.if_some("first_sample_ns", self.first_ns, Value::Unsigned);
        fields.if_some("last_sample_ns", self.last_ns, Value::Unsigned);
    }
}
