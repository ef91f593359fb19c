//! Lists of CPUs, as sysfs writes them and users do.

use crate::sources::read_trimmed;
use crate::{EventError, Sources};

/// Far above what kernels are built for; a bound on what a list can make us allocate.
const MAX_CPU: u32 = 0xffff;

/// Reads a list such as `0-3,8`; the result is ascending, without repetitions. An empty text
/// is an empty list, as in sysfs.
///
/// # Errors
/// [`EventError::BadCpuList`] for anything else, and for CPU numbers above 65535.
pub fn parse_cpu_list(text: &str) -> Result<Vec<u32>, EventError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(Vec::new());
    }
    let bad = || EventError::BadCpuList {
        text: text.to_owned(),
    };
    let mut listed = Vec::new();
    for part in trimmed.split(',') {
        let (first, last) = parse_range(part.trim()).ok_or_else(bad)?;
        listed.resize(listed.len().max(last + 1), false);
        listed.get_mut(first..=last).ok_or_else(bad)?.fill(true);
    }
    let numbered = (0..=MAX_CPU).zip(listed);
    Ok(numbered
        .filter_map(|(cpu, is_listed)| is_listed.then_some(cpu))
        .collect())
}

fn parse_range(part: &str) -> Option<(usize, usize)> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (parse_cpu(first)?, parse_cpu(last)?);
    (first <= last && last <= MAX_CPU as usize).then_some((first, last))
}

fn parse_cpu(text: &str) -> Option<usize> {
    // Digits only: parse() would take a sign.
    let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| all_digits)
}

/// The CPUs that are on line, from `/sys/devices/system/cpu/online`.
///
/// # Errors
/// [`EventError::Read`] if that file cannot be read, [`EventError::BadCpuList`] if it holds
/// something else.
pub fn online_cpus(sources: &Sources) -> Result<Vec<u32>, EventError> {
    parse_cpu_list(&read_trimmed(
        &sources.sysfs.join("devices/system/cpu/online"),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_ascending_and_without_repetitions() {
        let cases: &[(&str, &[u32])] = &[
            ("", &[]),
            ("\n", &[]),
            ("0", &[0]),
            ("0-3,8\n", &[0, 1, 2, 3, 8]),
            ("8, 0-1,1", &[0, 1, 8]),
            ("65535", &[65535]),
        ];
        for (text, cpus) in cases {
            assert_eq!(parse_cpu_list(text).unwrap(), *cpus, "{text}");
        }
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        for text in [
            ",",
            "a",
            "3-1",
            "0-",
            "-1",
            "+1",
            "0--1",
            "65536",
            "0-4294967295",
            "99999999999999999999999",
        ] {
            assert!(parse_cpu_list(text).is_err(), "{text}");
        }
    }
}
