//! Samples as markers, and what each kind of marker has.

use super::clock::Clock;
use super::shared::Shared;
use foldhash::HashMap;
use rprof_profile::timeline::{FieldValue, TimedSample, Timeline};
use rprof_profile::{EventProfile, StrId};
use rprof_untrusted::Json;

/// What the markers of an event have.
pub(super) struct Schema<'t> {
    timeline: &'t Timeline,
    event: &'t EventProfile,
    /// Fields with what the page makes of them.
    fields: Vec<(StrId, FieldValue)>,
}

/// The kind of markers that say what was lost.
const LOSS: &str = "lost samples";

impl<'t> Schema<'t> {
    /// Of all events whose samples are markers.
    pub(super) fn all(timeline: &'t Timeline) -> impl Iterator<Item = Self> {
        // Every sample of a tracepoint has the same fields.
        let mut first: HashMap<u32, &[(StrId, FieldValue)]> = HashMap::default();
        for sample in &timeline.samples {
            if let Some(fields) = fields_of(timeline, sample) {
                first.entry(sample.event).or_insert(fields);
            }
        }
        let events = (0u32..).zip(&timeline.profile.events);
        let events = events.filter(|&(idx, _)| timeline.is_occurrence(idx));
        events.map(move |(idx, event)| Self {
            timeline,
            event,
            fields: first
                .get(&idx)
                .map(|fields| fields.to_vec())
                .unwrap_or_default(),
        })
    }

    pub(super) fn write(&self, json: &mut Json<'_>) {
        let strings = &self.timeline.profile.strings;
        let name = self.event.name.raw();
        let own = self.fields.iter().map(|&(name, value)| {
            let format = match value {
                FieldValue::Unsigned(_) | FieldValue::Signed(_) => "integer",
                FieldValue::Hex(_) => "string",
                FieldValue::Text(_) => "unique-string",
            };
            let name = strings.of(name).into_raw();
            (key_of(name), name, format)
        });
        let all = [("weight", "integer"), ("cpu", "integer")];
        let all = all.map(|(name, format)| (name.to_owned(), name, format));
        write_schema(name, all.into_iter().chain(own), json);
    }
}

fn fields_of<'t>(
    timeline: &'t Timeline,
    sample: &TimedSample,
) -> Option<&'t [(StrId, FieldValue)]> {
    timeline
        .fields
        .get(sample.fields? as usize)
        .map(Vec::as_slice)
}

/// The key of a tracepoint's field: some names mean something to the page, or to us.
fn key_of(name: &str) -> String {
    let taken = [
        "type",
        "category",
        "cause",
        "stack",
        "weight",
        "cpu",
        "startTime",
        "endTime",
        "name",
    ];
    if taken.contains(&name) {
        format!("{name}_")
    } else {
        name.to_owned()
    }
}

fn write_schema<'a>(
    name: &str,
    fields: impl Iterator<Item = (String, &'a str, &'a str)>,
    json: &mut Json<'_>,
) {
    json.object(|json| {
        json.key("name").text(name);
        json.column("display", ["marker-chart", "marker-table"], Json::text);
        json.key("fields").list(|json| {
            for (key, label, format) in fields {
                json.object(|json| {
                    json.key("key").text(&key);
                    json.key("label").text(label);
                    json.key("format").text(format);
                });
            }
        });
    });
}

pub(super) fn write_loss_schema(json: &mut Json<'_>) {
    let fields = [("samples", "integer"), ("event", "string")];
    let fields = fields.map(|(name, format)| (name.to_owned(), name, format));
    write_schema(LOSS, fields.into_iter(), json);
}

/// One marker.
struct Marker<'a> {
    name: u32,
    time_ns: u64,
    data: Data<'a>,
}

enum Data<'a> {
    Sample(&'a EventProfile, &'a TimedSample),
    Loss {
        samples: u64,
        event: Option<&'a str>,
    },
}

/// Writes a thread's table of markers.
pub(super) fn write_samples(
    timeline: &Timeline,
    (samples, clock): (&[u32], Clock),
    shared: &mut Shared<'_>,
    json: &mut Json<'_>,
) {
    let samples = samples.iter();
    let samples = samples.filter_map(|&idx| timeline.samples.get(idx as usize));
    let markers: Vec<Marker<'_>> = samples
        .filter_map(|sample| {
            let event = timeline.profile.events.get(sample.event as usize)?;
            Some(Marker {
                name: shared.strings.intern(event.name.raw()).number(),
                time_ns: clock.since(sample.time_ns),
                data: Data::Sample(event, sample),
            })
        })
        .collect();
    write(timeline, &markers, shared, json);
}

/// Writes a table of what was lost: when, as far as that is known, and in all at the end.
pub(super) fn write_losses(
    timeline: &Timeline,
    clock: Clock,
    shared: &mut Shared<'_>,
    json: &mut Json<'_>,
) {
    let name = shared.strings.intern(LOSS).number();
    let mut markers: Vec<Marker<'_>> = Vec::new();
    markers.extend(timeline.losses.iter().map(|loss| Marker {
        name,
        time_ns: clock.since(loss.time_ns),
        data: Data::Loss {
            samples: loss.samples,
            event: None,
        },
    }));
    let name = shared.strings.intern("lost samples in total").number();
    let events = timeline.profile.events.iter();
    let events = events.filter(|event| event.loss.samples > 0);
    markers.extend(events.map(|event| Marker {
        name,
        time_ns: clock.since(clock.end_ns),
        data: Data::Loss {
            samples: event.loss.samples,
            event: Some(event.name.raw()),
        },
    }));
    write(timeline, &markers, shared, json);
}

fn write(timeline: &Timeline, markers: &[Marker<'_>], shared: &Shared<'_>, json: &mut Json<'_>) {
    json.column("data", markers, |json, marker| {
        json.object(|json| match &marker.data {
            Data::Sample(event, sample) => {
                write_sample(timeline, (event, sample), marker.time_ns, shared, json);
            }
            Data::Loss { samples, event } => {
                json.key("type").text(LOSS);
                json.key("samples").number(*samples);
                if let Some(event) = event {
                    json.key("event").text(event);
                }
            }
        });
    });
    json.column("name", markers, |json, marker| {
        json.number(marker.name.into())
    });
    json.column("startTime", markers, |json, marker| {
        json.millis(marker.time_ns)
    });
    json.column("endTime", markers, |json, _| json.null());
    // Instants.
    json.column("phase", markers, |json, _| json.number(0));
    json.column("category", markers, |json, _| json.number(0));
    json.key("length").number(markers.len() as u64);
}

fn write_sample(
    timeline: &Timeline,
    (event, sample): (&EventProfile, &TimedSample),
    time_ns: u64,
    shared: &Shared<'_>,
    json: &mut Json<'_>,
) {
    json.key("type").text(event.name.raw());
    json.key("weight").number(sample.weight);
    if let Some(cpu) = sample.cpu {
        json.key("cpu").number(cpu.into());
    }
    for &(name, value) in fields_of(timeline, sample).unwrap_or_default() {
        json.key(&key_of(shared.strings.of(name).into_raw()));
        match value {
            FieldValue::Unsigned(number) => json.number(number),
            FieldValue::Signed(number) => json.signed(number),
            FieldValue::Hex(number) => json.text(&format!("{number:#x}")),
            FieldValue::Text(text) => json.number(text.number().into()),
        }
    }
    if let Some(stack) = sample.stack.and_then(|node| shared.stack(node)) {
        json.key("cause").object(|json| {
            json.key("time").millis(time_ns);
            json.key("stack").number(stack.into());
        });
    }
}
