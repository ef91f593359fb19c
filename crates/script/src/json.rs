//! Samples as JSON, one a line. `crates/JSON.md` says what is in them.

use crate::fields::{Field, FieldSet};
use crate::line::{Layout, Lines};
use rprof_abi::{Misc, Record, Sample};
use rprof_analysis::{OrderedRecord, ResolvedSample, about, comm_text};
use rprof_perfdata::Reader;
use rprof_profile::FieldOrder;
use rprof_untrusted::{JsonLayout, JsonWriter};
use std::mem;

/// Raised when a field changes its name or its meaning.
pub const JSON_VERSION: u64 = 1;

/// Fields of a sample, with those that text does not print unasked.
pub(crate) fn default_of(fields: FieldSet) -> FieldSet {
    let with_pid = if fields.has(Field::Tid) {
        fields.with(Field::Pid)
    } else {
        fields
    };
    with_pid.with(Field::StackEnd)
}

/// The first line: what the recording is.
pub(crate) fn header(reader: &Reader) -> Vec<u8> {
    let mut json = JsonWriter::in_memory(JsonLayout::Compact);
    json.object(|json| {
        json.field("schema", "rprof-script");
        json.field("version", JSON_VERSION);
        json.field("recording", &*reader.path().to_string_lossy());
        about(reader).write_header(FieldOrder::Listed, json);
        json.column("events", reader.events(), |json, event| {
            json.text(event.name.raw());
        });
    });
    json.end_line();
    json.into_text()
}

/// Appends a sample, a line.
pub(crate) fn append(
    lines: &mut Lines<'_>,
    layout: &Layout<'_>,
    resolved: &ResolvedSample<'_, '_>,
    out: &mut Vec<u8>,
) {
    let mut json = JsonWriter::after(mem::take(out), JsonLayout::Compact);
    json.object(|json| write_sample(lines, layout, resolved, json));
    json.end_line();
    *out = json.into_text();
}

/// Appends a context switch, a line.
pub(crate) fn append_switch(layout: &Layout<'_>, record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
    let mut json = JsonWriter::after(mem::take(out), JsonLayout::Compact);
    json.object(|json| write_switch(layout, record, json));
    json.end_line();
    *out = json.into_text();
}

/// Writes whose switch it is, where and when, as far as these fields are asked for, and which way it goes.
fn write_switch(layout: &Layout<'_>, record: &OrderedRecord<'_>, json: &mut JsonWriter<'_>) {
    let fields = layout.fields.get(record.event).copied();
    let asked = |field: Field| fields.is_some_and(|fields| fields.has(field));
    let recording = layout.query.recording;
    let (id, misc) = (&record.id, record.raw.misc);
    json.field("record", record.record.kind().name().unwrap_or("UNKNOWN"));
    json.field_if("time_ns", id.time_ns.filter(|_| asked(Field::Time)));
    json.field_if("cpu", id.cpu.filter(|_| asked(Field::Cpu)));
    let pid = id.pid.filter(|_| asked(Field::Pid));
    json.field_if("pid", pid.map(i64::from));
    let tid = id.tid.filter(|_| asked(Field::Tid));
    json.field_if("tid", tid.map(i64::from));
    if let Some(tid) = id.tid.filter(|_| asked(Field::Comm)) {
        let task = record.task(recording, tid);
        let comm = comm_text(&recording.index.history, task);
        json.field("comm", comm.raw());
    }
    let is_out = misc.has(Misc::SWITCH_OUT);
    json.field("switch", if is_out { "out" } else { "in" });
    if is_out {
        json.field("preempted", misc.has(Misc::SWITCH_OUT_PREEMPT));
    }
    if let Record::SwitchCpuWide(other) = &record.record {
        let names = if is_out {
            ["next_pid", "next_tid"]
        } else {
            ["prev_pid", "prev_tid"]
        };
        let ids = [other.next_prev_pid, other.next_prev_tid];
        for (name, id) in names.into_iter().zip(ids) {
            json.field(name, i64::from(id));
        }
    }
}

fn write_sample(
    lines: &mut Lines<'_>,
    layout: &Layout<'_>,
    resolved: &ResolvedSample<'_, '_>,
    json: &mut JsonWriter<'_>,
) {
    let (decoded, recording) = (resolved.decoded, layout.query.recording);
    let fields = layout.fields_of(decoded);
    let head = &decoded.head;
    let asked = |field: Field| fields.has(field);
    json.field_if("time_ns", head.time_ns.filter(|_| asked(Field::Time)));
    json.field_if("cpu", head.cpu.filter(|_| asked(Field::Cpu)));
    if asked(Field::Pid) {
        json.field("pid", i64::from(decoded.pid));
    }
    if asked(Field::Tid) {
        json.field("tid", i64::from(decoded.tid));
    }
    if asked(Field::Comm) {
        json.field(
            "comm",
            comm_text(&recording.index.history, resolved.task).raw(),
        );
    }
    let event = layout.query.event(decoded.event);
    if let Some((name, _)) = event.filter(|_| asked(Field::Event)) {
        json.field("event", name.raw());
    }
    if let Some(stretch) = decoded.stretch() {
        json.field("state", stretch.state.name());
        json.field("cause", stretch.cause.name());
    }
    if let Some(span) = decoded.named_span(recording).filter(|_| asked(Field::Span)) {
        json.field("span", span.name.raw());
        json.field("span_start_ns", span.start_ns);
        json.field("span_ns", span.ns);
    }
    if asked(Field::Period) {
        json.field("period", decoded.weight(recording.reader));
    }
    if fields.need_all_fields()
        && let Some(recorded) = decoded.all_fields(recording.reader)
    {
        write_others(layout, fields, (decoded.recorded_event(), &recorded), json);
    }
    if asked(Field::Ip) {
        if let Some(ip) = head.ip {
            json.key("ip").hex(ip);
        }
        json.key("frames").list(|json| {
            json.made_before(|out| lines.frames_of(resolved, false, out));
        });
    }
    let end = resolved.end.filter(|_| asked(Field::StackEnd));
    json.field_if("stack_end", end.map(|ended| ended.end.name()));
}

/// Writes what not every sample has.
fn write_others(
    layout: &Layout<'_>,
    fields: FieldSet,
    (event, recorded): (usize, &Sample<'_>),
    json: &mut JsonWriter<'_>,
) {
    for (field, name, value) in [
        (Field::Addr, "addr", recorded.addr),
        (Field::PhysAddr, "phys_addr", recorded.phys_addr),
    ] {
        if let Some(value) = value.filter(|_| fields.has(field)) {
            json.key(name).hex(value);
        }
    }
    let cgroups = &layout.query.recording.index.cgroups;
    let cgroup = recorded.cgroup.filter(|_| fields.has(Field::Cgroup));
    if let Some(path) = cgroup.and_then(|id| cgroups.get(&id)) {
        json.key("cgroup").text_of_bytes(path);
    }
    if let Some(raw) = recorded.raw.filter(|_| fields.has(Field::Trace)) {
        let mut trace = Vec::new();
        layout.traces.append(event, raw, &mut trace);
        if !trace.is_empty() {
            json.key("trace").text_of_bytes(&trace);
        }
    }
}
