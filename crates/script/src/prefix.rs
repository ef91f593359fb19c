//! Whose sample it is, where and when.

use crate::fields::{Field, FieldSet};
use crate::line::Layout;
use crate::relative::{self, Times};
use crate::text;
use rprof_abi::{CpuMode, Misc, Sample};
use rprof_base::Utc;
use rprof_perfdata::feature::ClockData;
use std::io::Write;

/// Appends of which guest it is, if it is of one.
pub(crate) fn guest(layout: &Layout<'_>, fields: FieldSet, sample: &Sample<'_>, out: &mut Vec<u8>) {
    let guests = &layout.query.recording.index.guests;
    let Some(guest) = sample.id.and_then(|id| guests.get(&id)) else {
        return;
    };
    if fields.has(Field::MachinePid) {
        out.extend_from_slice(b"VM:");
        text::decimal(out, guest.machine_pid, 5);
        out.push(b' ');
    }
    if fields.has(Field::Vcpu) {
        out.extend_from_slice(b"VCPU:");
        text::zero_padded(out, guest.vcpu, 3);
        out.push(b' ');
    }
}

/// Whose record it is, where and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) cpu: Option<u32>,
    pub(crate) misc: Misc,
    /// perf's letters of a kind of records.
    pub(crate) letters: &'static [u8],
    pub(crate) time_ns: Option<u64>,
}

/// Appends it, but for the task's name.
pub(crate) fn append(layout: &Layout<'_>, fields: FieldSet, head: Head, out: &mut Vec<u8>) {
    let Head { pid, tid, .. } = head;
    match (fields.has(Field::Pid), fields.has(Field::Tid)) {
        (true, true) => {
            text::id(out, pid, 5, false);
            out.push(b'/');
            text::id(out, tid, 5, true);
            out.push(b' ');
        }
        (true, false) => {
            text::id(out, pid, 5, false);
            out.push(b' ');
        }
        (false, true) => {
            text::id(out, tid, 5, false);
            out.push(b' ');
        }
        (false, false) => {}
    }
    if let Some(cpu) = head.cpu.filter(|_| fields.has(Field::Cpu)) {
        out.push(b'[');
        text::zero_padded(out, cpu.into(), 3);
        out.extend_from_slice(b"] ");
    }
    if fields.has(Field::Misc) {
        let letters = [mode_letters(head.misc), head.letters].concat();
        out.extend_from_slice(&letters);
        out.extend(std::iter::repeat_n(b' ', 6 - letters.len()));
    }
    let Some(time_ns) = head.time_ns else {
        return;
    };
    if let Some(clock) = layout.clock.filter(|_| fields.has(Field::Tod)) {
        wall_time(clock, time_ns, layout.nanoseconds, out);
        out.push(b' ');
    }
    if fields.has(Field::Time) {
        match layout.times {
            Times::Recorded => text::seconds(out, time_ns, layout.nanoseconds),
            // What was printed before it is not known here.
            Times::SinceStart | Times::SincePrevious => relative::mark(time_ns, out),
        }
        out.extend_from_slice(b": ");
    }
}

/// perf's letters: it tests for each mode as if it were a bit.
fn mode_letters(misc: Misc) -> &'static [u8] {
    match misc.cpu_mode() {
        CpuMode::Kernel => b"K",
        CpuMode::User => b"U",
        CpuMode::Hypervisor => b"KUH",
        CpuMode::GuestKernel => b"G",
        CpuMode::GuestUser => b"KGg",
        CpuMode::Reserved(6) => b"UG",
        CpuMode::Reserved(_) => b"KUHGg",
        CpuMode::Unknown => b"",
    }
}

/// Appends date and time in UTC: a recording does not say the reader's time zone.
fn wall_time(clock: ClockData, time_ns: u64, nanoseconds: bool, out: &mut Vec<u8>) {
    let ns = clock
        .wall_ns
        .wrapping_add(time_ns.wrapping_sub(clock.clock_ns));
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    // Writing to memory does not fail.
    let _ = write!(out, "{}", Utc::of(seconds));
    text::fraction(out, rest, nanoseconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_goes_with_the_recordings_clock() {
        let clock = ClockData {
            clockid: 1,
            wall_ns: 1_700_000_000_000_000_000,
            clock_ns: 5_000_000_000,
        };
        let mut out = Vec::new();
        wall_time(clock, 5_000_001_000, false, &mut out);
        wall_time(clock, 4_000_000_000, true, &mut out);
        let expected = "2023-11-14 22:13:20.0000012023-11-14 22:13:19.000000000";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
