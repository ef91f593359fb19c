//! What a recording sees, where no record says so, but the command line that recorded does: whether it is of all threads,
//! and whether of all CPUs at all times. What runs elsewhere or meanwhile looks as if it waited.

use super::sources::is_context_switches;
use crate::about::command_line;
use crate::pauses::says_pauses;
use foldhash::HashSet;
use rprof_abi::AttrFlags;
use rprof_perfdata::{Feature, FeatureId, Reader, RecordedEvent};

/// Whether the switches of all threads were recorded. On a busy machine, no idle task leaves a CPU to show it.
pub(super) fn is_of_everybody(reader: &Reader) -> bool {
    let words = command_line(reader);
    has_all(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn has_all(words: &[&[u8]]) -> bool {
    let own = || words.iter().take_while(|word| **word != b"--");
    let has = |names: &[&[u8]]| own().any(|word| names.contains(word));
    let is_sched = words.get(1..3) == Some(&[b"sched", b"record"]);
    (is_sched || has(&[b"-a", b"--all-cpus"])) && !has(&[b"-G", b"--cgroup", b"--for-each-cgroup"])
}

/// What is to be said of a recording that does not see all.
pub(super) fn warning(reader: &Reader) -> Option<String> {
    let words = command_line(reader);
    let option = blind_option(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    // What is known to have been paused counts as unknown, and so does what other CPUs may have run.
    if option == "-C" || says_pauses(reader) {
        return None;
    }
    Some(format!(
        "recorded with {option}: threads that ran where or when nothing was recorded count as waiting"
    ))
}

/// Whether events of some CPUs were left out (`-C`).
pub(in crate::pass) fn leaves_out_cpus(reader: &Reader) -> bool {
    listed_and_online(reader).is_some()
}

/// Whether what threads do that leave the recorded CPUs is not known: some CPUs were left out, and there are no SWITCH
/// records of these either.
pub(super) fn misses_cpus(reader: &Reader) -> bool {
    let Some((n_listed, n_online)) = listed_and_online(reader) else {
        return false;
    };
    // An event has as many ids as there are threads and CPUs for which it was opened.
    let most_ids = |is_asked: &dyn Fn(&RecordedEvent) -> bool| {
        let events = reader.events().iter().enumerate();
        let asked = events.filter(|(_, event)| is_asked(event));
        asked.map(|(at, _)| reader.ids_of(at).len() as u64).max()
    };
    let has_records = |event: &RecordedEvent| event.attr.flags.has(AttrFlags::CONTEXT_SWITCH);
    let is_switch = |event: &RecordedEvent| {
        event.name.raw() == "sched:sched_switch" || is_context_switches(event)
    };
    let of_records = most_ids(&has_records).unwrap_or(0);
    let of_switches = most_ids(&is_switch);
    of_switches.is_none_or(|of_switches| {
        of_records.saturating_mul(n_listed) < of_switches.saturating_mul(n_online)
    })
}

/// How many CPUs were asked for, and how many there were, if these are more.
fn listed_and_online(reader: &Reader) -> Option<(u64, u64)> {
    let words = command_line(reader);
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let list = option_value(&words, &[b"-C", b"--cpu"])?;
    let section = reader.feature(FeatureId::NRCPUS).ok().flatten();
    let parsed = section
        .and_then(|section| Feature::parse(FeatureId::NRCPUS, &section, reader.endian()).ok());
    let n_online = match parsed {
        Some(Feature::NrCpus(cpus)) => cpus.online.into(),
        _ => u64::MAX,
    };
    let n_listed = n_listed(&list);
    (n_listed < n_online).then_some((n_listed, n_online))
}

/// How many CPUs a list names (`0,2-3`).
fn n_listed(list: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(list);
    let mut named = HashSet::default();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ends = (first.trim().parse::<u32>(), last.trim().parse::<u32>());
        if let (Ok(first), Ok(last)) = ends {
            named.extend(first..=last.min(first.saturating_add(MOST_CPUS)));
        }
    }
    named.len() as u64
}

/// CPUs of a range that are told apart, whatever the text says.
const MOST_CPUS: u32 = 4096;

/// The option of `record` that leaves out CPUs or times; one delay at the start leaves out nothing between.
fn blind_option(words: &[&[u8]]) -> Option<&'static str> {
    if option_value(words, &[b"-C", b"--cpu"]).is_some() {
        return Some("-C");
    }
    if option_value(words, &[b"--control"]).is_some() {
        return Some("--control");
    }
    let delay = option_value(words, &[b"-D", b"--delay"])?;
    delay.contains(&b',').then_some("-D")
}

/// The value of an option of the recorder, by its names.
fn option_value(words: &[&[u8]], names: &[&[u8]]) -> Option<Vec<u8>> {
    let own = words.iter().take_while(|word| **word != b"--");
    let own: Vec<&[u8]> = own.copied().collect();
    let value_of = |at: usize, word: &[u8], name: &[u8]| {
        let rest = word.strip_prefix(name)?;
        let next = own.get(at + 1).copied().unwrap_or_default();
        match (rest, name.starts_with(b"--")) {
            ([], _) => Some(next.to_vec()),
            ([b'=', value @ ..], _) | (value, false) => Some(value.to_vec()),
            _ => None,
        }
    };
    own.iter()
        .enumerate()
        .find_map(|(at, word)| names.iter().find_map(|name| value_of(at, word, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_everybody_are_seen() {
        let is_all = |line: &str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            has_all(&words)
        };
        assert!(is_all("rprof record -q -a -e sched:sched_switch -- ls"));
        assert!(is_all("perf sched record ls"));
        assert!(!is_all("rprof record --off-cpu -- ls -a"));
        assert!(!is_all("rprof record -a -G one"));
    }

    #[test]
    fn listed_cpus_are_counted_once() {
        assert_eq!(n_listed(b"0,2-3"), 3);
        assert_eq!(n_listed(b"0-1,1,1-2"), 3);
        assert_eq!(n_listed(b"x,5-4"), 0);
        assert!(n_listed(b"0-4294967295") <= u64::from(MOST_CPUS) + 1);
    }

    #[test]
    fn options_that_leave_out_cpus_or_times_are_seen() {
        let option = |line: &str| {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            blind_option(&words)
        };
        assert_eq!(option("rprof record --off-cpu -C 0 -- true"), Some("-C"));
        assert_eq!(option("perf record --cpu=1,2 -a"), Some("-C"));
        assert_eq!(option("rprof record -a -D 1-3,9-11"), Some("-D"));
        assert_eq!(option("rprof record --control fifo:a"), Some("--control"));
        // Of the program, or only at the start.
        assert_eq!(option("rprof record --off-cpu -- sort -C x"), None);
        assert_eq!(option("rprof record -D 100 --call-graph dwarf"), None);
    }
}
