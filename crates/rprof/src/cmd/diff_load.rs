//! The recordings that `rprof diff` compares: two are read at a time, where memory allows it.

use super::diff::reading;
use super::reading::open_any_file;
use super::several::file_id;
use super::speeds::Speeds;
use crate::args::DiffArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::load_run;
use rprof_base::parallel;
use rprof_diff::{NamedRun, Recordings};
use rprof_profile::difference::Side;
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Of larger recordings one is read after the other, where stacks are: these take memory.
const SMALL: u64 = 16 << 20;

/// Reads the recordings of both sides.
pub(super) fn load(args: &DiffArgs, before: &[PathBuf], after: &[PathBuf]) -> Result<Recordings> {
    let paths: Vec<&Path> = [before, after]
        .iter()
        .copied()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    let sizes = paths
        .iter()
        .map(|path| path.metadata().map_or(0, |file| file.len()));
    let sizes: Vec<u64> = sizes.collect();
    let n_threads = if args.no_children || sizes.iter().all(|&size| size <= SMALL) {
        // Half of reading is done by one thread, whatever the number of CPUs.
        paths.len().min(2)
    } else {
        1
    };
    let speeds = Speeds::of(args, before, after)?;
    let loading = Loading {
        args,
        speeds,
        n_before: before.len(),
        n_blocks: match (before.len(), after.len()) {
            (1, 1) => Recordings::BLOCKS,
            (1, _) if args.each => Recordings::BLOCKS,
            _ => 1,
        },
        progress: Mutex::new(Shown {
            progress: say::Progress::over("reading", sizes.iter().sum()),
            shares: vec![0.0; paths.len()],
        }),
        paths,
    };
    let mut runs = loading.run(n_threads)?;
    let of_runs = loading.paths;
    for NamedRun { name, run } in &runs {
        for warning in &run.warnings {
            say::warning(format_args!("{name}: {warning}"));
        }
    }
    if args.has_two_times() {
        refuse_overlap(&runs, &of_runs)?;
    }
    let after = runs.split_off(before.len());
    Ok(Recordings {
        before: runs,
        after,
    })
}

/// Refuses two times of one recording that have samples in common: what is in both cannot differ, and the test of noise
/// takes them for independent.
fn refuse_overlap(runs: &[NamedRun], paths: &[&Path]) -> Result<()> {
    let ([before, after], [path, other]) = (runs, paths) else {
        return Ok(());
    };
    let is_same = path == other || file_id(path).is_some_and(|id| file_id(other) == Some(id));
    if !is_same {
        return Ok(());
    }
    match common_times(&before.run.times_ns, &after.run.times_ns) {
        0 => Ok(()),
        common_ns => Err(usage(format_args!(
            "--time: the two times overlap by {:?}: use ranges that do not overlap, such as --time ,+10:+10,",
            Duration::from_nanos(common_ns)
        ))),
    }
}

/// Nanoseconds that are in both, beside those at which one begins where the other ends.
fn common_times(some: &[RangeInclusive<u64>], others: &[RangeInclusive<u64>]) -> u64 {
    let common = |one: &RangeInclusive<u64>, other: &RangeInclusive<u64>| {
        let (start, end) = (one.start().max(other.start()), one.end().min(other.end()));
        end.saturating_sub(*start)
    };
    let each = some
        .iter()
        .flat_map(|one| others.iter().map(move |other| common(one, other)));
    each.fold(0, u64::saturating_add)
}

/// Recordings that are being read.
struct Loading<'a> {
    args: &'a DiffArgs,
    speeds: Option<Speeds>,
    n_blocks: u32,
    /// How many of them are before the change.
    n_before: usize,
    paths: Vec<&'a Path>,
    progress: Mutex<Shown>,
}

/// How far all of them are.
struct Shown {
    progress: say::Progress,
    shares: Vec<f64>,
}

impl Loading<'_> {
    /// Reads all of them. Of several errors, that of the first recording is said.
    fn run(&self, n_threads: usize) -> Result<Vec<NamedRun>> {
        let first_failed = AtomicUsize::new(usize::MAX);
        let load = |loaded: &mut Vec<(usize, Result<NamedRun>)>, at: usize| {
            // After an error only what stands before it matters.
            if at < first_failed.load(Ordering::Relaxed) {
                let run = self.one(at, self.paths[at]);
                if run.is_err() {
                    first_failed.fetch_min(at, Ordering::Relaxed);
                }
                loaded.push((at, run));
            }
            Ok::<_, Infallible>(())
        };
        let n_items = self.paths.len();
        let Ok(loaded) = parallel::for_each((n_items, n_threads), Vec::new, load, &mut |_| {});
        let mut loaded: Vec<_> = loaded.into_iter().flatten().collect();
        loaded.sort_by_key(|(at, _)| *at);
        loaded.into_iter().map(|(_, run)| run).collect()
    }

    /// Counts a recording.
    fn one(&self, at: usize, path: &Path) -> Result<NamedRun> {
        let reader = open_any_file(path, self.args.limits)?;
        let mut name = path.display().to_string();
        let side = if at < self.n_before {
            Side::Before
        } else {
            Side::After
        };
        let mut options = reading(self.args, &reader, side);
        if let Some(speeds) = &self.speeds {
            let (speed, what) = speeds.at(at);
            options.filter.span_speed = Some(speed);
            name = format!("{name} ({what} spans)");
        }
        name = self.args.with_time(name, &options.filter);
        let run = load_run(&reader, &options, self.n_blocks, &mut |share| {
            self.show(at, share);
        });
        let run = run.with_context(|| format!("reading {name}"))?;
        Ok(NamedRun { name, run })
    }

    fn show(&self, at: usize, share: f64) {
        // If another one is being shown, this is in a moment.
        if let Ok(mut shown) = self.progress.try_lock() {
            shown.shares[at] = share;
            let sum: f64 = shown.shares.iter().sum();
            #[expect(clippy::cast_precision_loss, reason = "for a progress line")]
            let all = shown.shares.len() as f64;
            shown.progress.show(sum / all);
        }
    }
}
