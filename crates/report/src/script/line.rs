//! One sample as text: perf script's layout.
//!
//! Source: `process_event` in tools/perf/builtin-script.c (v6.1).

use super::columns::{Column, Columns};
use super::frames::{FrameLines, Named, Shown};
use super::text;
use super::trace::Traces;
use crate::format::printable;
use crate::load::{
    Context, Ends, Seen, Space, Tasks, Unwinding, UserPart, comm_text, for_each_address, has_stack,
    shows_function, task_name,
};
use rprof_abi::sample::Weight;
use rprof_abi::{Sample, SampleType};
use rprof_profile::StackEnd;

/// What all lines share.
pub(super) struct Layout<'a> {
    pub(super) context: &'a Context<'a>,
    /// By event.
    pub(super) columns: Vec<Columns>,
    pub(super) traces: Traces<'a>,
    pub(super) named: Option<Named<'a>>,
    pub(super) nanoseconds: bool,
    /// Bytes of the longest event name.
    pub(super) name_width: usize,
}

/// One thread's state: lines of frames that it has made.
pub(super) struct Lines<'a> {
    layout: &'a Layout<'a>,
    tasks: Tasks,
    /// By event: which of the below.
    of_event: Vec<usize>,
    frames: Vec<FrameLines<'a>>,
    unwinding: Unwinding,
    /// How the stacks ended that were unwound.
    pub(super) ends: Ends,
}

impl<'a> Lines<'a> {
    pub(super) fn new(layout: &'a Layout<'a>) -> Self {
        let mut frames: Vec<FrameLines<'a>> = Vec::new();
        let of_event = layout.columns.iter().map(|columns| {
            let shown = Shown {
                ip: columns.has(Column::Ip),
                symbol: columns.has(Column::Sym),
                offset: columns.has(Column::Symoff),
                dso: columns.has(Column::Dso),
            };
            let known = frames.iter().position(|lines| lines.shown == shown);
            known.unwrap_or_else(|| {
                frames.push(FrameLines::new(layout.context, layout.named, shown));
                frames.len() - 1
            })
        });
        let of_event = of_event.collect();
        Self {
            layout,
            tasks: Tasks::new(),
            of_event,
            frames,
            unwinding: Unwinding::default(),
            ends: Ends::default(),
        }
    }

    /// Appends a sample, its chain and the empty line behind it, if the filter lets it through.
    pub(super) fn append(&mut self, seen: &Seen<'_>, out: &mut Vec<u8>) {
        let layout = self.layout;
        let columns = layout.columns.get(seen.event).copied();
        let Some(columns) = columns.filter(|columns| !columns.is_empty()) else {
            return;
        };
        let history = &layout.context.skimmed.history;
        let id = (seen.pid, seen.tid);
        let (space, comm) = self.tasks.at(history, id, seen.key);
        let comm = comm_text(history, task_name(id, comm));
        if !layout.shows(seen, space, &comm) {
            return;
        }
        let attr = layout.context.reader.events().get(seen.event);
        let has_chain = attr.is_some_and(|event| {
            event.attr.sample_type.has(SampleType::CALLCHAIN) && layout.context.chains.stacks
        });
        let shows_chain = has_chain && columns.has(Column::Ip);
        if columns.has(Column::Comm) {
            let width = if shows_chain { 0 } else { 16 };
            text::right(out, printable(&comm).as_bytes(), width);
            out.push(b' ');
        }
        task(layout, columns, seen, out);
        if columns.has(Column::Period) {
            text::decimal(out, layout.context.weight_of(seen), 10);
            out.push(b' ');
        }
        if columns.has(Column::Event) {
            let name = attr.map_or("[unknown]", |event| &event.name);
            text::right(out, name.as_bytes(), layout.name_width);
            out.extend_from_slice(b": ");
        }
        let whole = columns.need_whole().then(|| layout.context.whole(seen));
        let whole = whole.flatten().unwrap_or_default();
        if let Some(raw) = whole.raw.filter(|_| columns.has(Column::Trace)) {
            layout.traces.append(seen.event, raw, out);
        }
        data(columns, &whole, out);
        if columns.has(Column::Ip) {
            out.push(if shows_chain { b'\n' } else { b' ' });
            let end = self.frames(seen, space, shows_chain, out);
            if columns.has(Column::StackEnd) {
                stack_end(end, out);
            }
        }
        memory(columns, &whole, out);
        out.push(b'\n');
    }

    /// Appends a sample's frames; returns how its stack ended, if it was unwound.
    fn frames(
        &mut self,
        seen: &Seen<'_>,
        space: Space,
        shows_chain: bool,
        out: &mut Vec<u8>,
    ) -> Option<StackEnd> {
        let context = self.layout.context;
        let lines = self.of_event.get(seen.event);
        let lines = lines.and_then(|&lines| self.frames.get_mut(lines))?;
        let mut options = context.chains;
        options.stacks &= shows_chain;
        let (mut user, mut end) = (UserPart::Recorded, None);
        if shows_chain {
            self.unwinding.clear();
            let walked = self.unwinding.walk(context, seen, space);
            self.ends.add(&walked);
            user = self.unwinding.user_part(seen, &walked);
            end = walked.end.map(|ended| ended.end);
        }
        // Of stacks that could not be unwound the first frame is known.
        let event = context.reader.events().get(seen.event);
        let has_stack = event.is_some_and(has_stack);
        options.own_first = has_stack && matches!(user, UserPart::Recorded);
        let start = out.len();
        let (sample, misc) = (&seen.sample, seen.raw.misc);
        for_each_address(sample, user, misc, options, |address| {
            lines.append(space, address, out);
        });
        if !shows_chain && out.len() > start {
            single(out, start, sample.ip.unwrap_or(0));
        }
        end
    }
}

/// Of stacks that are not whole, why: a line of its own below the chain.
fn stack_end(end: Option<StackEnd>, out: &mut Vec<u8>) {
    if let Some(end) = end.filter(|&end| end != StackEnd::Rooted) {
        out.extend_from_slice(b"\t[stack ends here: ");
        out.extend_from_slice(end.name().as_bytes());
        out.extend_from_slice(b"]\n");
    }
}

/// Without a chain the one frame stands on the sample's own line, with its address in memory, and
/// without what is inlined there.
fn single(out: &mut Vec<u8>, start: usize, ip: u64) {
    let last = out[start..out.len() - 1]
        .iter()
        .rposition(|&byte| byte == b'\n');
    let line = out[start + last.map_or(0, |at| at + 1)..out.len() - 1].to_vec();
    out.truncate(start);
    text::hex(out, ip, 16);
    // A tab and at least 16 digits are in front of it.
    let rest = line.iter().position(|byte| !matches!(byte, b'\t' | b' '));
    let rest = &line[rest.unwrap_or(0)..];
    let address = rest
        .iter()
        .position(|&byte| byte == b' ')
        .unwrap_or(rest.len());
    out.extend_from_slice(&rest[address..]);
}

impl Layout<'_> {
    /// Whether the filter lets a sample through.
    fn shows(&self, seen: &Seen<'_>, space: Space, comm: &str) -> bool {
        let (context, filter) = (self.context, self.context.filter);
        if !filter.shows_task(seen.pid, seen.tid, comm) {
            return false;
        }
        let Some(Named { names, profile }) = self.named else {
            return true;
        };
        if filter.dsos.is_empty() && filter.symbols.is_empty() {
            return true;
        }
        let mut options = context.chains;
        (options.own_first, options.stacks) = (true, false);
        let mut shows = true;
        for_each_address(
            &seen.sample,
            UserPart::Recorded,
            seen.raw.misc,
            options,
            |address| {
                let place = names.place(space.place(&context.skimmed.history, address));
                shows = shows_function(context, names, profile, place);
            },
        );
        shows
    }
}

/// Whose sample, where and when, but for the task's name.
fn task(layout: &Layout<'_>, columns: Columns, seen: &Seen<'_>, out: &mut Vec<u8>) {
    match (columns.has(Column::Pid), columns.has(Column::Tid)) {
        (true, true) => {
            text::id(out, seen.pid, 5, false);
            out.push(b'/');
            text::id(out, seen.tid, 5, true);
            out.push(b' ');
        }
        (true, false) => {
            text::id(out, seen.pid, 5, false);
            out.push(b' ');
        }
        (false, true) => {
            text::id(out, seen.tid, 5, false);
            out.push(b' ');
        }
        (false, false) => {}
    }
    if let Some(cpu) = seen.sample.cpu.filter(|_| columns.has(Column::Cpu)) {
        out.push(b'[');
        text::zero_padded(out, cpu.into(), 3);
        out.extend_from_slice(b"] ");
    }
    if let Some(time_ns) = seen.sample.time_ns.filter(|_| columns.has(Column::Time)) {
        let (seconds, rest) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        text::decimal(out, seconds, 5);
        out.push(b'.');
        match layout.nanoseconds {
            true => text::zero_padded(out, rest, 9),
            false => text::zero_padded(out, rest / 1000, 6),
        }
        out.extend_from_slice(b": ");
    }
}

fn data(columns: Columns, sample: &Sample<'_>, out: &mut Vec<u8>) {
    if let Some(addr) = sample.addr.filter(|_| columns.has(Column::Addr)) {
        text::hex(out, addr, 16);
    }
    if columns.has(Column::Weight) {
        match sample.weight {
            Some(Weight::Whole(weight)) => text::decimal(out, weight, 16),
            Some(Weight::Parts { var1, .. }) => text::decimal(out, var1.into(), 16),
            None => {}
        }
    }
}

fn memory(columns: Columns, sample: &Sample<'_>, out: &mut Vec<u8>) {
    if let Some(addr) = sample.phys_addr.filter(|_| columns.has(Column::PhysAddr)) {
        text::hex(out, addr, 16);
    }
    let sizes = [
        (Column::DataPageSize, sample.data_page_size),
        (Column::CodePageSize, sample.code_page_size),
    ];
    for (column, size) in sizes {
        if let Some(size) = size.filter(|_| columns.has(column)) {
            out.push(b' ');
            out.extend_from_slice(page_size(size).as_bytes());
        }
    }
}

/// perf's way to write the size of a page.
fn page_size(bytes: u64) -> String {
    match bytes {
        0 => "N/A".to_owned(),
        bytes => {
            let unit = (bytes.ilog2() / 10).min(6);
            let letter = ["", "K", "M", "G", "T", "P", "E"][unit as usize];
            format!("{}{letter}", bytes >> (unit * 10))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_a_sample_without_a_chain_stands_on_its_line() {
        let mut out =
            b"head \t            1234 f (inlined)\n\t            1234 main+0x4 (/bin/x)\n".to_vec();
        single(&mut out, 5, 0x55aa);
        assert_eq!(out, b"head             55aa main+0x4 (/bin/x)");
    }

    #[test]
    fn page_sizes_are_perfs() {
        for (bytes, text) in [(0, "N/A"), (4096, "4K"), (2 << 20, "2M"), (1 << 30, "1G")] {
            assert_eq!(page_size(bytes), text);
        }
    }
}
