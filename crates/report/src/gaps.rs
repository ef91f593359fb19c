//! The table of what is missing, by CPU, second and thread.

use rprof_profile::{Gap, Gaps};
use std::fmt::Display;
use std::io::{self, Write};

/// Seconds and threads that are listed, the worst.
const MAX_LISTED: usize = 10;

/// Writes the table, if anything is missing.
pub(super) fn write_gaps(gaps: &Gaps, out: &mut impl Write) -> io::Result<()> {
    if gaps.cpus.is_empty() && gaps.seconds.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nMissing:          lost  throttled  for ms")?;
    for (cpu, gap) in &gaps.cpus {
        write_gap(&format!("CPU {cpu}"), gap, out)?;
    }
    write_worst("second", &gaps.seconds, out)?;
    write_worst("thread", &gaps.threads, out)
}

fn write_worst<K: Display>(what: &str, gaps: &[(K, Gap)], out: &mut impl Write) -> io::Result<()> {
    let (listed, others) = gaps.split_at(gaps.len().min(MAX_LISTED));
    for (key, gap) in listed {
        write_gap(&format!("{what} {key}"), gap, out)?;
    }
    if others.is_empty() {
        return Ok(());
    }
    let mut sum = Gap::default();
    others.iter().for_each(|(_, gap)| sum.add(*gap));
    write_gap(&format!("{} others", others.len()), &sum, out)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds that are displayed"
)]
fn write_gap(what: &str, gap: &Gap, out: &mut impl Write) -> io::Result<()> {
    let ms = gap.throttled_ns as f64 / 1e6;
    let Gap {
        lost, throttles, ..
    } = gap;
    writeln!(out, "  {what:<14} {lost:>6} {throttles:>10} {ms:>7.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_are_listed_and_the_others_summed_up() {
        let gap = |lost| Gap {
            lost,
            throttles: 1,
            throttled_ns: 250_000,
        };
        let gaps = Gaps {
            cpus: vec![(0, gap(78))],
            seconds: (0..12u64)
                .map(|second| (second, gap(12 - second)))
                .collect(),
            threads: vec![(7, gap(78))],
        };
        let mut text = Vec::new();
        write_gaps(&gaps, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "Missing:          lost  throttled  for ms");
        assert_eq!(lines[2], "  CPU 0              78          1     0.2");
        assert_eq!(lines[3], "  second 0           12          1     0.2");
        assert_eq!(lines[13], "  2 others            3          2     0.5");
        assert_eq!(lines[14], "  thread 7           78          1     0.2");
        assert_eq!(lines.len(), 15);
        let mut nothing = Vec::new();
        write_gaps(&Gaps::default(), &mut nothing).unwrap();
        assert!(nothing.is_empty());
    }
}
