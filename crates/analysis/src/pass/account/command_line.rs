//! What a recording sees, where no record says so, but the command line that recorded does: whether it is of all threads,
//! and whether of all CPUs at all times. What runs elsewhere or meanwhile looks as if it waited.

use crate::about::command_line;
use rprof_perfdata::Reader;

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
    Some(format!(
        "recorded with {option}: threads that ran where or when nothing was recorded count as waiting"
    ))
}

/// The option of `record` that leaves out CPUs or times; one delay at the start leaves out nothing between.
fn blind_option(words: &[&[u8]]) -> Option<&'static str> {
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
    own.iter().enumerate().find_map(|(at, word)| {
        let value = |names: &[&[u8]]| names.iter().find_map(|name| value_of(at, word, name));
        if value(&[b"-C", b"--cpu"]).is_some() {
            return Some("-C");
        }
        if value(&[b"--control"]).is_some() {
            return Some("--control");
        }
        let delay = value(&[b"-D", b"--delay"])?;
        delay.contains(&b',').then_some("-D")
    })
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
