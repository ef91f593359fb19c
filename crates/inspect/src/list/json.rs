//! The list as named fields.

use super::counted::Counted;
use super::{Listed, Listing};
use rprof_abi::{Fields, Value};
use rprof_events::ListedPmu;

/// Version of the JSON form: raised when a field changes its name or meaning.
pub const LIST_VERSION: u64 = 1;

/// Says everything by name, events that are not counted here included.
pub fn visit_list(listing: &Listing, fields: &mut dyn Fields) {
    fields.field("schema", Value::Text(b"rprof-list"));
    fields.field("version", Value::Unsigned(LIST_VERSION));
    fields.list("events", &listing.events, |fields, event| {
        fields.object("", |fields| visit_event(event, fields));
    });
    fields.list("pmus", &listing.pmus, |fields, pmu| {
        fields.object("", |fields| visit_pmu(pmu, fields));
    });
    fields.list("warnings", &listing.warnings, |fields, warning| {
        fields.field("", Value::Text(warning.as_bytes()));
    });
}

fn visit_event(listed: &Listed, fields: &mut dyn Fields) {
    let event = &listed.event;
    fields.field("kind", Value::Text(event.kind.word().as_bytes()));
    fields.field("name", Value::Text(event.name.as_bytes()));
    let texts = [
        ("alias", &event.alias),
        ("description", &event.description),
        ("unit", &event.unit),
        ("scale", &event.scale),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            fields.field(name, Value::Text(text.as_bytes()));
        }
    }
    if let Some(event) = &event.event {
        fields.field("type", Value::Unsigned(event.attr.kind.into()));
        fields.field("config", Value::Hex(event.attr.config));
    }
    match listed.counted {
        Counted::Yes => fields.field("is_counted", Value::Bool(true)),
        Counted::No => fields.field("is_counted", Value::Bool(false)),
        Counted::Forbidden | Counted::NotAsked => {}
    }
    if !listed.fields.is_empty() {
        fields.list("fields", &listed.fields, |fields, field| {
            fields.object("", |fields| {
                fields.field("name", Value::Text(field.name.as_bytes()));
                fields.field("type", Value::Text(field.type_name.as_bytes()));
                fields.field("offset", Value::Unsigned(field.place.offset as u64));
                fields.field("size", Value::Unsigned(field.place.size as u64));
                fields.field("is_signed", Value::Bool(field.place.is_signed));
            });
        });
    }
}

fn visit_pmu(pmu: &ListedPmu, fields: &mut dyn Fields) {
    fields.field("name", Value::Text(pmu.name.as_bytes()));
    fields.field("type", Value::Unsigned(pmu.kind.into()));
    if let Some(cpus) = &pmu.cpus {
        fields.list("cpus", cpus, |fields, cpu| {
            fields.field("", Value::Unsigned((*cpu).into()));
        });
    }
    fields.list("terms", &pmu.terms, |fields, (name, bits)| {
        fields.object("", |fields| {
            fields.field("name", Value::Text(name.as_bytes()));
            fields.field("bits", Value::Text(bits.as_bytes()));
        });
    });
}
