//! Recordings that do not see all CPUs at all times: what runs meanwhile looks as if it waited. Records say nothing of
//! that, but the command line that recorded does.

use rprof_perfdata::feature::decode_strings;
use rprof_perfdata::{FeatureId, Reader};

/// What is to be said of such a recording.
pub(super) fn warning(reader: &Reader) -> Option<String> {
    let section = reader.feature(FeatureId::CMDLINE).ok()??;
    let words = decode_strings(&section, reader.endian()).ok()?;
    let option = blind_option(&words)?;
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
