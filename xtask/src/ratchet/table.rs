//! The committed table: with what it was made, and a line for each job.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Error, Result, ensure};

use super::measure::Cost;
use super::toolchain::Toolchain;

/// Costs, and what they were counted with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) toolchain: Toolchain,
    pub(super) rows: Vec<Row>,
}

/// What a job costs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) job: String,
    pub(super) cost: Cost,
}

/// What costs may grow by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grace {
    pub(super) instructions_percent: u64,
    pub(super) heap_percent: u64,
}

/// A job's costs, before and now.
#[derive(Debug)]
pub(super) struct Change<'t> {
    job: &'t str,
    before: Cost,
    now: Cost,
}

impl Table {
    /// All jobs, each beside what it cost.
    ///
    /// # Errors
    /// The tables have different jobs.
    pub(super) fn changes<'t>(&'t self, now: &'t Self) -> Result<Vec<Change<'t>>> {
        let names = |table: &'t Self| {
            let names = table.rows.iter().map(|row| row.job.as_str());
            names.collect::<Vec<_>>()
        };
        ensure!(
            names(self) == names(now),
            "the table has other jobs than are measured: write it anew (cargo xtask ratchet --write)"
        );
        let pairs = self.rows.iter().zip(&now.rows);
        Ok(pairs
            .map(|(before, now)| Change {
                job: &before.job,
                before: before.cost,
                now: now.cost,
            })
            .collect())
    }
}

impl Change<'_> {
    /// Whether instructions or heap grew by more than this.
    pub(super) fn is_over(&self, grace: Grace) -> bool {
        let is_over = |before: u64, now: u64, percent: u64| now * 100 > before * (100 + percent);
        let Self { before, now, .. } = self;
        is_over(
            before.instructions,
            now.instructions,
            grace.instructions_percent,
        ) || is_over(
            before.peak_heap_bytes,
            now.peak_heap_bytes,
            grace.heap_percent,
        )
    }

    fn percents(&self) -> (f64, f64) {
        (
            percent(self.before.instructions, self.now.instructions),
            percent(self.before.peak_heap_bytes, self.now.peak_heap_bytes),
        )
    }
}

/// From one to the other: 0 if they are equal.
#[expect(
    clippy::cast_precision_loss,
    reason = "costs are far below 2^53, and a percentage needs no more"
)]
fn percent(before: u64, now: u64) -> f64 {
    (now as f64 / before.max(1) as f64 - 1.0) * 100.0
}

impl fmt::Display for Grace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            instructions_percent,
            heap_percent,
        } = self;
        write!(
            f,
            "{instructions_percent} % (instructions) or {heap_percent} % (heap)"
        )
    }
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (instructions, heap) = self.percents();
        write!(
            f,
            "{:<24} {instructions:>+8.2} % instructions {heap:>+8.2} % heap",
            self.job
        )
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Written by `cargo xtask ratchet --write`. Job: instructions (callgrind), peak heap in bytes (DHAT)."
        )?;
        let Toolchain {
            compiler,
            libc,
            valgrind,
            cpu,
        } = &self.toolchain;
        for (name, value) in [
            ("compiler", compiler),
            ("libc", libc),
            ("valgrind", valgrind),
            ("cpu", cpu),
        ] {
            writeln!(f, "{name}: {value}")?;
        }
        writeln!(f)?;
        for Row { job, cost } in &self.rows {
            writeln!(f, "{job}: {} {}", cost.instructions, cost.peak_heap_bytes)?;
        }
        Ok(())
    }
}

impl FromStr for Table {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.lines().filter(|line| !line.starts_with('#'));
        let (mut head, mut rows) = (BTreeMap::new(), Vec::new());
        let mut is_head = true;
        for line in text {
            if line.is_empty() {
                is_head = false;
                continue;
            }
            let (name, value) = line
                .split_once(": ")
                .with_context(|| format!("no name in the line '{line}'"))?;
            if is_head {
                head.insert(name, value);
            } else {
                rows.push(row(name, value).with_context(|| format!("in the line '{line}'"))?);
            }
        }
        let mut field = |name: &str| {
            let value = head.remove(name).map(str::to_owned);
            value.with_context(|| format!("no line '{name}'"))
        };
        Ok(Self {
            toolchain: Toolchain {
                compiler: field("compiler")?,
                libc: field("libc")?,
                valgrind: field("valgrind")?,
                cpu: field("cpu")?,
            },
            rows,
        })
    }
}

fn row(job: &str, numbers: &str) -> Result<Row> {
    let (instructions, heap) = numbers.split_once(' ').context("no two numbers")?;
    Ok(Row {
        job: job.to_owned(),
        cost: Cost {
            instructions: instructions.parse().context("instructions")?,
            peak_heap_bytes: heap.parse().context("peak heap")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{Cost, Grace, Row, Table, Toolchain};

    fn table(rows: &[(&str, u64, u64)]) -> Table {
        let row = |&(job, instructions, peak_heap_bytes): &(&str, _, _)| Row {
            job: job.to_owned(),
            cost: Cost {
                instructions,
                peak_heap_bytes,
            },
        };
        Table {
            toolchain: Toolchain {
                compiler: "rustc 1.0".to_owned(),
                libc: "glibc 2: new".to_owned(),
                valgrind: "valgrind-3".to_owned(),
                cpu: "avx2".to_owned(),
            },
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let table = table(&[("report, trees", 7_000_000, 4096), ("flame", 8, 9)]);
        assert_eq!(table.to_string().parse::<Table>().unwrap(), table);
        assert!("compiler: rustc\n\nflame: 7\n".parse::<Table>().is_err());
    }

    #[test]
    fn what_is_over_the_grace_is_found_in_both_columns() {
        let grace = Grace {
            instructions_percent: 2,
            heap_percent: 5,
        };
        let before = table(&[("a", 1000, 1000), ("b", 1000, 1000), ("c", 1000, 1000)]);
        let now = table(&[("a", 1020, 500), ("b", 1021, 1050), ("c", 900, 1051)]);
        let changes = before.changes(&now).unwrap();
        let over: Vec<bool> = changes.iter().map(|change| change.is_over(grace)).collect();
        assert_eq!(over, [false, true, true]);
        let fewer = table(&[("a", 1, 1)]);
        assert!(before.changes(&fewer).is_err());
    }
}
