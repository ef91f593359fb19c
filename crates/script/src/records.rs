//! Records that are no samples, among the samples: perf's `--show-task-events` and its like.
//!
//! Source: `print_event` in tools/perf/builtin-script.c, `perf_event__fprintf` in tools/perf/util/event.c (v6.1).

use crate::fields::{Field, FieldSet};
use crate::line::Layout;
use crate::prefix::{self, Head};
use crate::text;
use rprof_abi::record::{FileIdentity, Mmap, Mmap2, Namespaces, SwitchCpuWide, TextPoke};
use rprof_abi::tracepoint::TracepointNames;
use rprof_abi::{Misc, Record, RecordKind};
use rprof_analysis::{OrderedRecord, comm_text};
use rprof_perfdata::file_kind;
use rprof_untrusted::Untrusted;
use std::io::Write;

/// Which records are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of perf's")]
pub struct ShownRecords {
    /// COMM, FORK and EXIT.
    pub tasks: bool,
    /// MMAP and MMAP2.
    pub mappings: bool,
    /// NAMESPACES.
    pub namespaces: bool,
    /// CGROUP.
    pub cgroups: bool,
    /// SWITCH and `SWITCH_CPU_WIDE`.
    pub switches: bool,
    /// LOST.
    pub lost: bool,
    /// KSYMBOL and `BPF_EVENT`.
    pub bpf: bool,
    /// `TEXT_POKE`.
    pub text_pokes: bool,
    /// `FINISHED_ROUND`.
    pub rounds: bool,
}

impl ShownRecords {
    pub(crate) fn has(self, kind: RecordKind) -> bool {
        match kind {
            RecordKind::COMM | RecordKind::FORK | RecordKind::EXIT => self.tasks,
            RecordKind::MMAP | RecordKind::MMAP2 => self.mappings,
            RecordKind::NAMESPACES => self.namespaces,
            RecordKind::CGROUP => self.cgroups,
            RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE => self.switches,
            RecordKind::LOST => self.lost,
            RecordKind::TEXT_POKE => self.text_pokes,
            file_kind::FINISHED_ROUND => self.rounds,
            RecordKind::KSYMBOL | RecordKind::BPF_EVENT => self.bpf,
            _ => false,
        }
    }

    /// Those that JSON has.
    pub(crate) fn of_json(self) -> Self {
        Self {
            switches: self.switches,
            ..Self::default()
        }
    }

    /// Whether there are any.
    pub(crate) fn any(self) -> bool {
        self != Self::default()
    }
}

/// Appends a record.
pub(crate) fn append(layout: &Layout<'_>, record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
    if record.raw.kind == file_kind::FINISHED_ROUND {
        out.extend_from_slice(b"PERF_RECORD_FINISHED_ROUND\n");
        return;
    }
    let fields = layout.fields.get(record.event).copied().unwrap_or_default();
    start(layout, fields, record, out);
    let kind = record.record.kind().name().unwrap_or("UNKNOWN");
    out.extend_from_slice(b"PERF_RECORD_");
    out.extend_from_slice(kind.as_bytes());
    match &record.record {
        Record::TextPoke(poke) => text_poke(layout, poke, out),
        _ => body(record, out),
    }
    out.push(b'\n');
}

/// What stands before every line.
fn start(layout: &Layout<'_>, fields: FieldSet, record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
    let recording = layout.query.recording;
    let id = record.id;
    let own = (id.pid.unwrap_or(-1), id.tid.unwrap_or(-1));
    // The thread it is about, which need not be the one that was running.
    let about = match &record.record {
        Record::Comm(comm) => (comm.pid, comm.tid),
        Record::Fork(task) | Record::Exit(task) => (task.pid, task.tid),
        Record::Mmap(mmap) => (mmap.pid, mmap.tid),
        Record::Mmap2(mmap) => (mmap.pid, mmap.tid),
        Record::Namespaces(of) => (of.pid, of.tid),
        _ => own,
    };
    if fields.has(Field::Comm) {
        let event = recording.reader.events().get(record.event);
        let has_chain = fields.has(Field::Ip) && event.is_some_and(|event| layout.has_chain(event));
        let task = record.task(recording, about.1);
        let comm = comm_text(&recording.index.history, task);
        text::name_right(out, &comm, if has_chain { 0 } else { 16 });
        out.push(b' ');
    }
    let has_id = id.pid.is_some();
    let head = Head {
        pid: if has_id { own.0 } else { about.0 },
        tid: if has_id { own.1 } else { about.1 },
        cpu: Some(id.cpu.unwrap_or(0)),
        misc: record.raw.misc,
        letters: letters(record),
        time_ns: Some(id.time_ns.unwrap_or(0)),
    };
    prefix::append(layout, fields, head, out);
}

/// perf's letters for what `misc` says of a kind of records.
fn letters(record: &OrderedRecord<'_>) -> &'static [u8] {
    let has = |bit| record.raw.misc.has(bit);
    match &record.record {
        Record::Mmap(_) | Record::Mmap2(_) if has(Misc::MMAP_DATA) => b"M",
        Record::Comm(_) if has(Misc::COMM_EXEC) => b"E",
        Record::Switch(_) | Record::SwitchCpuWide(_) if has(Misc::SWITCH_OUT) => {
            if has(Misc::SWITCH_OUT_PREEMPT) {
                b"Sp"
            } else {
                b"S"
            }
        }
        _ => b"",
    }
}

/// What follows the kind's name. Writing to memory does not fail.
fn body(record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
    let misc = record.raw.misc;
    let _ = match &record.record {
        Record::Comm(comm) => {
            let exec = if misc.has(Misc::COMM_EXEC) {
                " exec"
            } else {
                ""
            };
            let name = Untrusted::of_bytes(comm.comm);
            write!(out, "{exec}: {name}:{}/{}", comm.pid, comm.tid)
        }
        Record::Fork(task) | Record::Exit(task) => {
            let (parent, thread) = (task.ppid, task.ptid);
            write!(out, "({}:{}):({parent}:{thread})", task.pid, task.tid)
        }
        Record::Mmap(mmap) => kernel_mapping(mmap, misc, out),
        Record::Mmap2(mmap) => mapping(mmap, out),
        Record::Namespaces(namespaces) => links(namespaces, out),
        Record::Cgroup(cgroup) => {
            let path = Untrusted::of_bytes(cgroup.path);
            write!(out, " cgroup: {} {path}", cgroup.id)
        }
        Record::Switch(_) => write!(out, " {}", direction(misc)),
        Record::SwitchCpuWide(switch) => other_task(switch, misc, out),
        Record::Lost(lost) => write!(out, " lost {}", lost.lost),
        Record::Ksymbol(symbol) => {
            let (name, flags) = (Untrusted::of_bytes(symbol.name), symbol.flags);
            let (addr, len, kind) = (symbol.addr, symbol.len, symbol.ksym_type);
            write!(
                out,
                " addr {addr:x} len {len} type {kind} flags 0x{flags:x} name {name}"
            )
        }
        Record::BpfEvent(bpf) => {
            let (kind, flags, id) = (bpf.event_type, bpf.flags, bpf.id);
            write!(out, " type {kind}, flags {flags}, id {id}")
        }
        _ => Ok(()),
    };
}

/// Where the kernel changed its code, and how. Writing to memory does not fail.
fn text_poke(layout: &Layout<'_>, poke: &TextPoke<'_>, out: &mut Vec<u8>) {
    let _ = write!(out, " {:x} ", poke.addr);
    if let Some((name, offset)) = layout.traces.kernel_symbol(poke.addr) {
        let name = Untrusted::of_bytes(name.as_bytes());
        let _ = write!(out, "{name}+{offset:#x}");
    }
    let (n_old, n_new) = (poke.old.len(), poke.new.len());
    let _ = write!(out, " old len {n_old} new len {n_new}");
    for (which, bytes) in [("Old", poke.old), ("New", poke.new)] {
        for line in bytes.chunks(16) {
            let _ = write!(out, "\n            {which} bytes:");
            for byte in line {
                let _ = write!(out, " {byte:02x}");
            }
        }
    }
}

/// As printf's `%#x`: 0 has no prefix.
fn prefixed(value: u64) -> String {
    match value {
        0 => "0".to_owned(),
        value => format!("{value:#x}"),
    }
}

/// Where a mapping is, and what of its file it maps.
fn span(addr: u64, len: u64, pgoff: u64) -> String {
    let (addr, len, pgoff) = (prefixed(addr), prefixed(len), prefixed(pgoff));
    format!("{addr}({len}) @ {pgoff}")
}

fn kernel_mapping(mmap: &Mmap<'_>, misc: Misc, out: &mut Vec<u8>) -> std::io::Result<()> {
    let kind = if misc.has(Misc::MMAP_DATA) { 'r' } else { 'x' };
    let span = span(mmap.addr, mmap.len, mmap.pgoff);
    let name = Untrusted::of_bytes(mmap.filename);
    write!(out, " {}/{}: [{span}]: {kind} {name}", mmap.pid, mmap.tid)
}

fn mapping(mmap: &Mmap2<'_>, out: &mut Vec<u8>) -> std::io::Result<()> {
    let span = span(mmap.addr, mmap.len, mmap.pgoff);
    write!(out, " {}/{}: [{span} ", mmap.pid, mmap.tid)?;
    match mmap.identity {
        FileIdentity::Inode(inode) => write!(
            out,
            "{:02x}:{:02x} {} {}",
            inode.maj, inode.min, inode.ino, inode.generation
        )?,
        FileIdentity::BuildId(id) => write!(out, "<{id:?}>")?,
    }
    // PROT_READ, PROT_WRITE, PROT_EXEC and MAP_SHARED.
    let letters = [
        (mmap.prot, 1, "r", "-"),
        (mmap.prot, 2, "w", "-"),
        (mmap.prot, 4, "x", "-"),
    ];
    let letters = letters.into_iter().chain([(mmap.flags, 1, "s", "p")]);
    let letters = letters.map(|(bits, bit, yes, no)| if bits & bit != 0 { yes } else { no });
    let letters: String = letters.collect();
    write!(out, "]: {letters} {}", Untrusted::of_bytes(mmap.filename))
}

fn links(namespaces: &Namespaces<'_>, out: &mut Vec<u8>) -> std::io::Result<()> {
    let n = namespaces.links().count();
    let (pid, tid) = (namespaces.pid, namespaces.tid);
    write!(out, " {pid}/{tid} - nr_namespaces: {n}\n\t\t[")?;
    for (number, link) in namespaces.links().enumerate() {
        if number > 0 {
            out.extend_from_slice(if number % 4 == 0 { b", \n\t\t " } else { b", " });
        }
        let name = Namespaces::NAMES.get(number).unwrap_or(&"UNKNOWN");
        write!(out, "{number}/{name}: {}/{}", link.dev, prefixed(link.ino))?;
    }
    out.push(b']');
    Ok(())
}

fn direction(misc: Misc) -> &'static str {
    match (
        misc.has(Misc::SWITCH_OUT),
        misc.has(Misc::SWITCH_OUT_PREEMPT),
    ) {
        (false, _) => "IN         ",
        (true, false) => "OUT        ",
        (true, true) => "OUT preempt",
    }
}

fn other_task(switch: &SwitchCpuWide, misc: Misc, out: &mut Vec<u8>) -> std::io::Result<()> {
    let which = if misc.has(Misc::SWITCH_OUT) {
        "next"
    } else {
        "prev"
    };
    let (pid, tid) = (switch.next_prev_pid, switch.next_prev_tid);
    write!(
        out,
        " {}  {which} pid/tid: {pid:5}/{tid:<5}",
        direction(misc)
    )
}
