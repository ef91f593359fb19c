//! Samples as JSON, one a line. `JSON.md` beside this crate says what is in them.

use crate::fields::{Field, FieldSet};
use crate::frame_json::{address, key, string, string_of_bytes};
use crate::line::{Layout, Lines};
use crate::text;
use rprof_abi::Sample;
use rprof_analysis::{ResolvedSample, about, comm_text};
use rprof_perfdata::Reader;

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
    let about = about(reader);
    let mut out = b"{".to_vec();
    key(&mut out, "schema");
    string(&mut out, "rprof-script");
    number(&mut out, "version", JSON_VERSION);
    key(&mut out, "header");
    out.push(b'{');
    for (name, text) in about.texts() {
        key(&mut out, name);
        string(&mut out, text);
    }
    if let Some(n_cpus) = about.n_cpus {
        number(&mut out, "n_cpus", n_cpus.into());
    }
    strings(
        &mut out,
        "command",
        about.command.iter().map(String::as_str),
    );
    if let Some(clock) = about.wall_clock {
        key(&mut out, "wall_clock");
        out.push(b'{');
        number(&mut out, "wall_ns", clock.wall_ns);
        number(&mut out, "clock_ns", clock.clock_ns);
        out.push(b'}');
    }
    out.push(b'}');
    let names = reader.events().iter().map(|event| event.name.raw());
    strings(&mut out, "events", names);
    out.extend_from_slice(b"}\n");
    out
}

fn strings<'s>(out: &mut Vec<u8>, name: &str, all: impl Iterator<Item = &'s str>) {
    key(out, name);
    out.push(b'[');
    for (number, one) in all.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        string(out, one);
    }
    out.push(b']');
}

fn number(out: &mut Vec<u8>, name: &str, value: u64) {
    key(out, name);
    text::decimal(out, value, 0);
}

/// Appends a sample, a line.
pub(crate) fn append(
    lines: &mut Lines<'_>,
    layout: &Layout<'_>,
    resolved: &ResolvedSample<'_, '_>,
    out: &mut Vec<u8>,
) {
    let (decoded, recording) = (resolved.decoded, layout.query.recording);
    let fields = layout.fields_of(decoded);
    let head = &decoded.head;
    out.push(b'{');
    for (field, name, value) in [
        (Field::Time, "time_ns", head.time_ns),
        (Field::Cpu, "cpu", head.cpu.map(u64::from)),
    ] {
        if let Some(value) = value.filter(|_| fields.has(field)) {
            number(out, name, value);
        }
    }
    for (field, name, id) in [
        (Field::Pid, "pid", decoded.pid),
        (Field::Tid, "tid", decoded.tid),
    ] {
        if fields.has(field) {
            key(out, name);
            text::id(out, id, 0, true);
        }
    }
    if fields.has(Field::Comm) {
        key(out, "comm");
        let comm = comm_text(&recording.index.history, resolved.task);
        string(out, comm.raw());
    }
    let event = recording.reader.events().get(decoded.event);
    if let Some(event) = event.filter(|_| fields.has(Field::Event)) {
        key(out, "event");
        string(out, event.name.raw());
    }
    if fields.has(Field::Period) {
        number(out, "period", decoded.weight(recording.reader));
    }
    if fields.need_all_fields()
        && let Some(recorded) = decoded.all_fields(recording.reader)
    {
        others(layout, fields, (decoded.event, &recorded), out);
    }
    if fields.has(Field::Ip) {
        if let Some(ip) = head.ip {
            key(out, "ip");
            address(out, ip);
        }
        key(out, "frames");
        out.push(b'[');
        lines.frames_of(resolved, false, out);
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.push(b']');
    }
    if let Some(ended) = resolved.end.filter(|_| fields.has(Field::StackEnd)) {
        key(out, "stack_end");
        string(out, ended.end.name());
    }
    out.extend_from_slice(b"}\n");
}

/// Appends what not every sample has.
fn others(
    layout: &Layout<'_>,
    fields: FieldSet,
    (event, recorded): (usize, &Sample<'_>),
    out: &mut Vec<u8>,
) {
    for (field, name, value) in [
        (Field::Addr, "addr", recorded.addr),
        (Field::PhysAddr, "phys_addr", recorded.phys_addr),
    ] {
        if let Some(value) = value.filter(|_| fields.has(field)) {
            key(out, name);
            address(out, value);
        }
    }
    let cgroups = &layout.query.recording.index.cgroups;
    let cgroup = recorded.cgroup.filter(|_| fields.has(Field::Cgroup));
    if let Some(path) = cgroup.and_then(|id| cgroups.get(&id)) {
        key(out, "cgroup");
        string_of_bytes(out, path);
    }
    if let Some(raw) = recorded.raw.filter(|_| fields.has(Field::Trace)) {
        let mut trace = Vec::new();
        layout.traces.append(event, raw, &mut trace);
        if !trace.is_empty() {
            key(out, "trace");
            string_of_bytes(out, &trace);
        }
    }
}
