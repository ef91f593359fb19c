//! Times and clocks, compression, BPF programs.

use super::shown;
use rprof_base::Utc;
use rprof_perfdata::feature::{
    BpfProgram, ClockData, ClockId, Compression, SampleThinning, SampleTime,
};

/// Clocks by their numbers, as perf calls them.
const CLOCKS: &[(u32, &str)] = &[
    (0, "realtime"),
    (1, "monotonic"),
    (4, "monotonic_raw"),
    (7, "boottime"),
    (11, "tai"),
];

const NS_OF_SECOND: u64 = 1_000_000_000;

/// Appends when the first and the last sample were.
pub(super) fn sample_time(times: SampleTime, text: &mut String) {
    let moment = |ns: u64| format!("{}.{:06}", ns / NS_OF_SECOND, ns % NS_OF_SECOND / 1000);
    let duration = times.last_ns.wrapping_sub(times.first_ns) as f64 / 1e6;
    *text += &format!(
        "# time of first sample : {}\n# time of last sample : {}\n# sample duration : {duration:10.3} ms\n",
        moment(times.first_ns),
        moment(times.last_ns)
    );
}

/// Appends the clock's resolution, by perf's arithmetic.
pub(super) fn clock_resolution(clock: ClockId, text: &mut String) {
    let mhz = clock.resolution_ns.wrapping_mul(1000);
    *text += &format!("# clockid frequency: {mhz} MHz\n");
}

/// Appends which clock it was, and one moment by it and by the calendar.
pub(super) fn clock(clock: ClockData, text: &mut String) {
    let id = clock.clockid;
    let name = CLOCKS.iter().find(|(number, _)| *number == id);
    let name = name.map_or("(not found)", |(_, name)| name);
    let (wall, wall_us) = (
        clock.wall_ns / NS_OF_SECOND,
        clock.wall_ns % NS_OF_SECOND / 1000,
    );
    let (own, own_ns) = (clock.clock_ns / NS_OF_SECOND, clock.clock_ns % NS_OF_SECOND);
    let date = Utc::of(wall);
    *text += &format!(
        "# clockid: {name} ({id})\n# reference time: \
         {date}.{wall_us:06} = \
         {wall}.{wall_us:06} (TOD) = {own}.{own_ns:09} ({name})\n"
    );
}

/// Appends how many samples were kept.
pub(super) fn thinning(thinning: SampleThinning, text: &mut String) {
    let (kept, taken) = (thinning.kept, thinning.taken);
    *text += &format!("# thinned: kept {kept} of {taken} samples (--samples-per-hour)\n");
}

/// Appends how records were compressed.
pub(super) fn compressed(how: Compression, text: &mut String) {
    let kind = match how.kind {
        Compression::ZSTD => "Zstd",
        _ => "Unknown",
    };
    let (level, ratio) = (how.level, how.ratio);
    *text += &format!("# compressed : {kind}, level = {level}, ratio = {ratio}\n");
}

/// Appends a program and where its functions are. Of several functions, the file does not say the names
/// here.
pub(super) fn bpf(program: &BpfProgram, text: &mut String) {
    let id = program.id;
    if let [function] = program.functions.as_slice() {
        let tag: String = program
            .tag
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let name = match program.name.as_slice() {
            [] => "F".to_owned(),
            name => shown(name),
        };
        *text += &format!(
            "# bpf_prog_info {id}: bpf_prog_{tag}_{name} addr {:#x} size {}\n",
            function.addr, function.len
        );
        return;
    }
    *text += &format!("# bpf_prog_info {id}:\n");
    for (idx, function) in program.functions.iter().enumerate() {
        let (addr, len) = (function.addr, function.len);
        *text += &format!("# \tsub_prog {idx}: addr {addr:#x} size {len}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_said_by_name_and_calendar() {
        let mut text = String::new();
        let recorded = ClockData {
            clockid: 1,
            wall_ns: 1_795_391_536_123_456_789,
            clock_ns: 84_000_000_000_042,
        };
        clock(recorded, &mut text);
        assert_eq!(
            text,
            "# clockid: monotonic (1)\n# reference time: 2026-11-22 23:52:16.123456 = \
             1795391536.123456 (TOD) = 84000.000000042 (monotonic)\n"
        );
    }
}
