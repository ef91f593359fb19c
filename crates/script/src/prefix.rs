//! Whose sample it is, where and when.

use crate::fields::{Field, FieldSet};
use crate::line::Layout;
use crate::relative::{self, Times};
use crate::text;
use rprof_abi::{CpuMode, Misc, Sample};
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
    let (year, month, day) = date(seconds / 86400);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    // Writing to memory does not fail.
    let _ = write!(
        out,
        "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}",
        seconds % 60
    );
    text::fraction(out, rest, nanoseconds);
}

/// Year, month and day of a day since 1970-01-01. Years are counted from March, so that the leap
/// day is the last; 400 of them have 146,097 days.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468; // since 0000-03-01
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    let month = if is_next { month - 9 } else { month + 3 };
    (era * 400 + year + u64::from(is_next), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (day, expected) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (19_722, (2023, 12, 31)),
            (19_782, (2024, 2, 29)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(day), expected, "{day}");
        }
    }

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
