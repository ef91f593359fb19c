//! One sample as text: perf script's layout.
//!
//! Source: `process_event` in tools/perf/builtin-script.c (v6.1).

use crate::data_address::{DataAddress, address_of};
use crate::fields::{Field, FieldSet, has_named_addr, is_bpf_output, is_branch_trace};
use crate::frames::{FrameLines, Shown};
use crate::prefix::Head;
use crate::relative::Times;
use crate::trace::Traces;
use crate::{bpf_output, branches, memory, prefix, registers, text};
use rprof_abi::registers::RegisterTable;
use rprof_abi::{CpuMode, PerfEventAttr, Sample, SampleType};
use rprof_analysis::{
    DecodedSample, LocationCache, Query, ResolvedSample, StackEndCounts, Symbols, TaskSample,
    comm_text,
};
use rprof_base::StackEnd;
use rprof_perfdata::RecordedEvent;
use rprof_perfdata::feature::ClockData;
use rprof_profile::StackFilter;

/// What all lines share.
pub(crate) struct Layout<'a> {
    pub(crate) query: &'a Query<'a>,
    /// By event.
    pub(crate) fields: Vec<FieldSet>,
    pub(crate) traces: Traces<'a>,
    pub(crate) symbols: Option<&'a Symbols>,
    pub(crate) nanoseconds: bool,
    pub(crate) times: Times,
    /// Objects of JSON instead of text.
    pub(crate) json: bool,
    /// Inlined functions as frames of their own.
    pub(crate) inlines: bool,
    /// Functions whose callers are not shown.
    pub(crate) stop_at: &'a [String],
    /// Which stacks are shown; `None` for all.
    pub(crate) kept: Option<StackFilter>,
    /// Bytes of the longest event name.
    pub(crate) name_width: usize,
    /// Of the architecture that was recorded.
    pub(crate) registers: Option<&'static RegisterTable>,
    /// What time it was by the recording's clock.
    pub(crate) clock: Option<ClockData>,
}

/// Of perf's field of flags.
const FLAGS_WIDTH: usize = 24;

/// A sample with all that its event records.
struct WholeSample<'s> {
    resolved: &'s ResolvedSample<'s, 's>,
    fields: FieldSet,
    recorded: Sample<'s>,
    attr: Option<&'s PerfEventAttr>,
}

impl WholeSample<'_> {
    fn mode(&self) -> CpuMode {
        self.resolved.decoded.raw.misc.cpu_mode()
    }
}

/// One thread's state: lines of frames that it has made.
pub(crate) struct Lines<'a> {
    layout: &'a Layout<'a>,
    /// By event: which of the below.
    of_event: Vec<usize>,
    frames: Vec<FrameLines<'a>>,
    /// How the stacks ended that were unwound.
    pub(crate) ends: StackEndCounts,
    /// Of the longest data source so far.
    pub(crate) data_src_width: usize,
    /// Numbers of locations, if there is a filter of stacks.
    locations: Option<LocationCache>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(layout: &'a Layout<'a>) -> Self {
        let mut frames: Vec<FrameLines<'a>> = Vec::new();
        let events = layout.query.recording.reader.events();
        let of_event = layout.fields.iter().zip(events).map(|(fields, event)| {
            let shown = Shown {
                ip: fields.has(Field::Ip),
                symbol: fields.has(Field::Sym),
                offset: fields.has(Field::Symoff),
                dso: fields.has(Field::Dso),
                dso_offset: fields.has(Field::Dsoff),
                source_line: fields.has(Field::Srcline),
                inlines: layout.inlines && (layout.json || layout.has_chain(event)),
                json: layout.json,
            };
            let known = frames.iter().position(|lines| lines.shown == shown);
            known.unwrap_or_else(|| {
                frames.push(FrameLines::new(
                    layout.query,
                    layout.symbols,
                    shown,
                    layout.stop_at,
                ));
                frames.len() - 1
            })
        });
        let of_event = of_event.collect();
        Self {
            layout,
            of_event,
            frames,
            ends: StackEndCounts::default(),
            data_src_width: 0,
            locations: None,
        }
    }

    /// Whether the stack of a sample is one of those that are shown.
    pub(crate) fn keeps(&mut self, sample: &ResolvedSample<'_, '_>) -> bool {
        let (Some(kept), Some(symbols)) = (&self.layout.kept, self.layout.symbols) else {
            return true;
        };
        let history = &self.layout.query.recording.index.history;
        let locations = self.locations.get_or_insert_default();
        let mut frames = Vec::new();
        sample.for_each_address(|address| {
            let number = locations.value(history, sample.mappings, address, |location| {
                symbols.number(location)
            });
            frames.extend_from_slice(symbols.frames(number));
        });
        kept.keeps(frames)
    }

    /// Appends a sample, its chain and the empty line after it.
    pub(crate) fn append(&mut self, resolved: &ResolvedSample<'_, '_>, out: &mut Vec<u8>) {
        let (layout, decoded) = (self.layout, resolved.decoded);
        let fields = layout.fields_of(decoded);
        let events = layout.query.recording.reader.events();
        let event = events.get(decoded.recorded_event());
        let shows_chain = layout.shows_chain(decoded);
        let recorded = fields
            .need_all_fields()
            .then(|| decoded.all_fields(layout.query.recording.reader));
        let recorded = recorded.flatten().unwrap_or_default();
        prefix::guest(layout, fields, &recorded, out);
        if fields.has(Field::Comm) {
            let width = if shows_chain { 0 } else { 16 };
            let comm = comm_text(&layout.query.recording.index.history, resolved.task);
            text::name_right(out, &comm, width);
            out.push(b' ');
        }
        let head = Head {
            pid: decoded.pid,
            tid: decoded.tid,
            cpu: decoded.head.cpu,
            misc: decoded.raw.misc,
            letters: b"",
            time_ns: decoded.head.time_ns,
        };
        prefix::append(layout, fields, head, out);
        if fields.has(Field::Span) {
            let span = decoded.named_span(layout.query.recording);
            match span {
                Some(span) => text::name_right(out, span.name, 0),
                None => out.extend_from_slice(b"[none]"),
            }
            out.push(b' ');
        }
        if fields.has(Field::Period) {
            text::decimal(out, decoded.weight(layout.query.recording.reader), 10);
            out.push(b' ');
        }
        if fields.has(Field::Event) {
            match layout.query.event(decoded.event) {
                Some((name, _)) => text::name_right(out, &name, layout.name_width),
                None => text::right(out, "[unknown]", layout.name_width),
            }
            out.extend_from_slice(b": ");
        }
        if fields.has(Field::Flags) {
            // Of branches in hardware traces, which are not decoded here.
            text::right(out, "", FLAGS_WIDTH);
        }
        let sample = WholeSample {
            resolved,
            fields,
            recorded,
            attr: event.map(|event| &event.attr),
        };
        if sample.attr.is_some_and(is_branch_trace) {
            self.branch(&sample, shows_chain, out);
        } else {
            self.parts(&sample, shows_chain, out);
        }
        out.push(b'\n');
    }

    /// What follows the event's name.
    fn parts(&mut self, sample: &WholeSample<'_>, shows_chain: bool, out: &mut Vec<u8>) {
        let (layout, fields) = (self.layout, sample.fields);
        let recorded = &sample.recorded;
        if let Some(raw) = recorded.raw.filter(|_| fields.has(Field::Trace)) {
            layout
                .traces
                .append(sample.resolved.decoded.recorded_event(), raw, out);
        }
        layout.addr(sample, out);
        memory::source(fields, recorded, &mut self.data_src_width, out);
        self.code(sample, shows_chain, out);
        for (field, of_sample) in [
            (Field::Iregs, &recorded.regs_intr),
            (Field::Uregs, &recorded.regs_user),
        ] {
            if fields.has(field) {
                registers::append(of_sample.as_ref(), layout.registers, out);
            }
        }
        if let Some(branches) = &recorded.branch_stack {
            let of = (sample.mode(), sample.resolved.mappings);
            branches::append(layout, fields, of, branches, out);
        }
        if let Some(raw) = recorded.raw.filter(|_| fields.has(Field::BpfOutput))
            && sample.attr.is_some_and(is_bpf_output)
        {
            bpf_output::append(raw, out);
        }
        memory::pages(fields, recorded, out);
        if let Some(id) = recorded.cgroup.filter(|_| fields.has(Field::Cgroup)) {
            let path = layout.query.recording.index.cgroups.get(&id);
            out.push(b' ');
            text::name_of_bytes(out, path.map_or(b"unknown", Vec::as_slice));
        }
    }

    /// One traced branch: from where to where.
    fn branch(&mut self, sample: &WholeSample<'_>, shows_chain: bool, out: &mut Vec<u8>) {
        self.code(sample, shows_chain, out);
        if sample.fields.has(Field::Addr) {
            out.extend_from_slice(b" => ");
            self.layout.addr(sample, out);
        }
    }

    /// Appends where a sample was taken, with its chain if that is shown.
    fn code(&mut self, sample: &WholeSample<'_>, shows_chain: bool, out: &mut Vec<u8>) {
        if !sample.fields.has(Field::Ip) {
            return;
        }
        out.push(if shows_chain { b'\n' } else { b' ' });
        self.frames_of(sample.resolved, shows_chain, out);
        if sample.fields.has(Field::StackEnd) {
            stack_end(sample.resolved.end.map(|ended| ended.end), out);
        }
    }

    /// Appends a sample's frames.
    pub(crate) fn frames_of(
        &mut self,
        sample: &ResolvedSample<'_, '_>,
        shows_chain: bool,
        out: &mut Vec<u8>,
    ) {
        self.ends.add(sample.end);
        let lines = self.of_event.get(sample.decoded.recorded_event());
        let Some(lines) = lines.and_then(|&lines| self.frames.get_mut(lines)) else {
            return;
        };
        let start = out.len();
        lines.append_chain(sample, out);
        if !shows_chain && out.len() > start && !self.layout.json {
            single(out, start, sample.decoded.head.ip.unwrap_or(0));
        }
    }
}

/// Of stacks that are not complete, why: a line of its own below the chain.
fn stack_end(end: Option<StackEnd>, out: &mut Vec<u8>) {
    if let Some(end) = end.filter(|&end| end != StackEnd::Complete) {
        out.extend_from_slice(b"\t[stack ends here: ");
        out.extend_from_slice(end.name().as_bytes());
        out.extend_from_slice(b"]\n");
    }
}

/// Without a chain the one frame stands on the sample's own line, with its address in memory.
fn single(out: &mut Vec<u8>, start: usize, ip: u64) {
    let line = out.split_off(start);
    text::hex(out, ip, 16);
    // A tab and at least 16 digits are in front of it, a new line after it.
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let rest = line.iter().position(|byte| !matches!(byte, b'\t' | b' '));
    let rest = &line[rest.unwrap_or(0)..];
    let address = rest.iter().position(|byte| matches!(byte, b' ' | b'\n'));
    out.extend_from_slice(&rest[address.unwrap_or(rest.len())..]);
}

impl Layout<'_> {
    /// What is shown of a sample.
    pub(crate) fn fields_of(&self, decoded: &DecodedSample<'_>) -> FieldSet {
        self.fields
            .get(decoded.recorded_event())
            .copied()
            .unwrap_or_default()
    }

    /// Whether a sample's chain is shown.
    pub(crate) fn shows_chain(&self, decoded: &DecodedSample<'_>) -> bool {
        let event = self.query.recording.reader.events();
        let event = event.get(decoded.recorded_event());
        self.fields_of(decoded).has(Field::Ip) && event.is_some_and(|event| self.has_chain(event))
    }

    pub(crate) fn has_chain(&self, event: &RecordedEvent) -> bool {
        event.attr.sample_type.has(SampleType::CALLCHAIN) && self.query.stacks.chains.stacks
    }

    /// Appends the address of data, with its name for events that have some.
    fn addr(&self, sample: &WholeSample<'_>, out: &mut Vec<u8>) {
        let fields = sample.fields;
        let Some(addr) = sample.recorded.addr.filter(|_| fields.has(Field::Addr)) else {
            return;
        };
        text::hex(out, addr, 16);
        if !sample.attr.is_some_and(has_named_addr) {
            return;
        }
        let address = address_of(sample.mode(), addr);
        let data_address = DataAddress::of(self.query, sample.resolved.mappings, address);
        if fields.has(Field::Sym) {
            out.push(b' ');
            data_address.symbol(self.symbols, fields.has(Field::Symoff), out);
        }
        if fields.has(Field::Dso) {
            out.push(b' ');
            data_address.dso(fields, out);
        }
    }

    /// Whether the filter shows the function that a sample was taken in.
    pub(crate) fn has_shown_function(&self, sample: &TaskSample<'_, '_>) -> bool {
        let (query, filter) = (self.query, self.query.samples.filter);
        let Some(symbols) = self.symbols.filter(|_| filter.has_functions()) else {
            return true;
        };
        sample.own_address().is_none_or(|address| {
            let location = sample
                .mappings
                .location(&query.recording.index.history, address);
            symbols.accepts(symbols.number(location))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_a_sample_without_a_chain_stands_on_its_line() {
        let mut out = b"head \t            1234 main+0x4 (/bin/x)\n  x.c:7\n".to_vec();
        single(&mut out, 5, 0x55aa);
        assert_eq!(out, b"head             55aa main+0x4 (/bin/x)\n  x.c:7");
        let mut out = b"\t            1234\n  x.c:7\n".to_vec();
        single(&mut out, 0, 0x55aa);
        assert_eq!(out, b"            55aa\n  x.c:7");
    }
}
