//! Events of `rprof record` as perf has them: groups, probes, terms, filters, names.

mod filters;
mod groups;
mod markers;
mod named_probes;
mod names;
mod parameters;
mod probes;
mod terms;

use crate::common;
use crate::common::{perf, rprof, run};
use std::ffi::OsStr;
use std::path::Path;

/// Records with rprof; returns what it says.
#[track_caller]
fn record<S: AsRef<OsStr>>(out: &Path, args: &[&str], command: &[S]) -> String {
    let mut record = rprof(["record", "-o"]);
    record.arg(out).args(args).arg("--").args(command);
    run(&mut record).ok().stderr
}

/// Records with perf.
#[track_caller]
fn perf_record<S: AsRef<OsStr>>(out: &Path, args: &[&str], command: &[S]) {
    let mut record = perf(["record", "-q", "-o"]);
    record.arg(out).args(args).arg("--").args(command);
    run(&mut record).ok();
}

/// What perf says of a file.
#[track_caller]
fn perf_says(what: &[&str], file: &Path) -> String {
    let mut command = perf(what);
    run(command.arg("-i").arg(file)).ok().stdout
}

/// Samples of each event, and the sum of their periods, as `perf script` has them.
#[track_caller]
fn sums(file: &Path) -> Vec<(String, u64, u64)> {
    let mut sums: Vec<(String, u64, u64)> = Vec::new();
    let text = perf_says(&["script", "-F", "period,event"], file);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (period, event) = line.trim().split_once(' ').expect(line);
        let (period, event): (u64, _) = (period.parse().expect(line), event.trim());
        let event = event.trim_end_matches(':');
        match sums.iter_mut().find(|(name, ..)| name == event) {
            Some((_, n, sum)) => (*n, *sum) = (*n + 1, *sum + period),
            None => sums.push((event.to_owned(), 1, period)),
        }
    }
    sums.sort();
    sums
}
