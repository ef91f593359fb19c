//! Samples as markers, and what each kind of marker has.

use super::clock::Clock;
use super::shared::Shared;
use super::tracks::Track;
use super::waits::{self, WaitData};
use foldhash::HashMap;
use rprof_profile::{EventKind, EventProfile, FieldValue, SampleRow, SampledProfile, TraceValue};
use rprof_untrusted::JsonWriter;

/// What the markers of an event have.
pub(super) struct Schema<'t> {
    sampled: &'t SampledProfile,
    event: &'t EventProfile,
    /// Fields with what the page makes of them.
    fields: &'t [TraceValue],
}

/// The kind of markers that say what was lost.
const LOSS: &str = "lost samples";

impl<'t> Schema<'t> {
    /// Of all events whose samples are markers.
    pub(super) fn all(sampled: &'t SampledProfile) -> impl Iterator<Item = Self> {
        // Every sample of a tracepoint has the same fields.
        let mut first: HashMap<u16, &[TraceValue]> = HashMap::default();
        for (&idx, fields) in &sampled.fields {
            let event = sampled.samples.row(idx as usize).event;
            first.entry(event).or_insert(fields);
        }
        let events = (0..).zip(&sampled.profile.events);
        let events = events.filter(|(_, event)| is_occurrence(event));
        events.map(move |(number, event)| Self {
            sampled,
            event,
            fields: first.get(&number).copied().unwrap_or_default(),
        })
    }

    pub(super) fn write(&self, json: &mut JsonWriter<'_>) {
        let strings = &self.sampled.profile.strings;
        let name = self.event.name.raw();
        let own = self.fields.iter().map(|field| {
            let format = match field.value {
                FieldValue::Unsigned(_) | FieldValue::Signed(_) => "integer",
                FieldValue::Hex(_) => "string",
                FieldValue::Text(_) => "unique-string",
            };
            let name = strings.of(field.name).into_raw();
            (key_of(name), name, format)
        });
        let all = [("weight", "integer"), ("cpu", "integer")];
        let all = all.map(|(name, format)| (name.to_owned(), name, format));
        write_schema(name, all.into_iter().chain(own), json);
    }
}

/// Whether samples of an event are shown as moments rather than by sums.
pub(super) fn is_occurrence(event: &EventProfile) -> bool {
    event.kind == EventKind::Occurrence
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
    json: &mut JsonWriter<'_>,
) {
    json.object(|json| {
        json.key("name").text(name);
        json.column(
            "display",
            ["marker-chart", "marker-table"],
            JsonWriter::text,
        );
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

pub(super) fn write_loss_schema(json: &mut JsonWriter<'_>) {
    let fields = [("samples", "integer"), ("event", "string")];
    let fields = fields.map(|(name, format)| (name.to_owned(), name, format));
    write_schema(LOSS, fields.into_iter(), json);
}

/// One marker: a moment, or a time.
pub(super) struct Marker<'a> {
    pub(super) name: u32,
    pub(super) time_ns: u64,
    /// `None` of a moment.
    pub(super) end_ns: Option<u64>,
    pub(super) data: Data<'a>,
}

/// What a marker says.
pub(super) enum Data<'a> {
    Wait(WaitData),
    Sample {
        event: &'a EventProfile,
        sample: SampleRow,
        fields: &'a [TraceValue],
    },
    Loss {
        samples: u64,
        event: Option<&'a str>,
    },
}

impl From<WaitData> for Data<'_> {
    fn from(data: WaitData) -> Self {
        Self::Wait(data)
    }
}

/// Writes a thread's table of markers.
pub(super) fn write_track(
    sampled: &SampledProfile,
    (track, clock): (&Track, Clock),
    shared: &mut Shared<'_>,
    json: &mut JsonWriter<'_>,
) {
    let markers = track.markers.iter().filter_map(|idx| {
        let sample = sampled.samples.row(*idx as usize);
        let event = sampled.profile.events.get(usize::from(sample.event))?;
        Some(Marker {
            name: shared.strings.intern(event.name.raw()).number(),
            time_ns: clock.since(sample.time_ns),
            end_ns: None,
            data: Data::Sample {
                event,
                sample,
                fields: sampled.fields.get(idx).map_or(&[], Vec::as_slice),
            },
        })
    });
    let mut markers: Vec<Marker<'_>> = markers.collect();
    let of_waits = (&track.waits[..], &track.wake_ups[..], clock);
    markers.extend(waits::markers(sampled, of_waits, shared));
    markers.sort_by_key(|marker| marker.time_ns);
    write(&markers, shared, json);
}

/// Writes a table of what was lost: when, as far as that is known, and in all at the end.
pub(super) fn write_losses(
    sampled: &SampledProfile,
    clock: Clock,
    shared: &mut Shared<'_>,
    json: &mut JsonWriter<'_>,
) {
    let name = shared.strings.intern(LOSS).number();
    let mut markers: Vec<Marker<'_>> = Vec::new();
    markers.extend(sampled.losses.iter().map(|loss| Marker {
        name,
        time_ns: clock.since(loss.time_ns),
        end_ns: None,
        data: Data::Loss {
            samples: loss.samples,
            event: None,
        },
    }));
    let name = shared.strings.intern("lost samples in total").number();
    let events = sampled.profile.events.iter();
    let events = events.filter(|event| event.loss.samples > 0);
    markers.extend(events.map(|event| Marker {
        name,
        time_ns: clock.since(clock.end_ns),
        end_ns: None,
        data: Data::Loss {
            samples: event.loss.samples,
            event: Some(event.name.raw()),
        },
    }));
    write(&markers, shared, json);
}

fn write(markers: &[Marker<'_>], shared: &Shared<'_>, json: &mut JsonWriter<'_>) {
    json.column("data", markers, |json, marker| {
        json.object(|json| match &marker.data {
            Data::Sample {
                event,
                sample,
                fields,
            } => {
                json.key("type").text(event.name.raw());
                json.key("weight").number(sample.weight);
                if let Some(cpu) = sample.cpu {
                    json.key("cpu").number(cpu.into());
                }
                write_fields(fields, shared, json);
                if let Some(stack) = sample.stack.and_then(|node| shared.stack(node)) {
                    json.key("cause").object(|json| {
                        json.key("time").millis(marker.time_ns);
                        json.key("stack").number(stack.into());
                    });
                }
            }
            Data::Wait(data) => data.write(json),
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
    json.column("endTime", markers, |json, marker| match marker.end_ns {
        Some(end_ns) => json.millis(end_ns),
        None => json.null(),
    });
    // Instants are 0, times from a start to an end 1.
    json.column("phase", markers, |json, marker| {
        json.number(marker.end_ns.is_some().into());
    });
    json.column("category", markers, |json, _| json.number(0));
    json.key("length").number(markers.len() as u64);
}

fn write_fields(fields: &[TraceValue], shared: &Shared<'_>, json: &mut JsonWriter<'_>) {
    for field in fields {
        json.key(&key_of(shared.strings.of(field.name).into_raw()));
        match field.value {
            FieldValue::Unsigned(number) => json.number(number),
            FieldValue::Signed(number) => json.signed(number),
            FieldValue::Hex(number) => json.text(&format!("{number:#x}")),
            FieldValue::Text(text) => json.number(text.number().into()),
        }
    }
}
