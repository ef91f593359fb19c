//! The recordings that `rprof diff` compares: two are read at a time, where memory allows it.

use super::diff::reading;
use super::reading::open_file;
use crate::args::DiffArgs;
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::load_run;
use rprof_diff::{NamedRun, Recordings};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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
    let loading = Loading {
        args,
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
        next: AtomicUsize::new(0),
    };
    let mut runs = loading.run(n_threads)?;
    for NamedRun { name, run } in &runs {
        for warning in &run.warnings {
            say::warning(format_args!("{name}: {warning}"));
        }
    }
    let after = runs.split_off(before.len());
    Ok(Recordings {
        before: runs,
        after,
    })
}

/// Recordings that are being read.
struct Loading<'a> {
    args: &'a DiffArgs,
    n_blocks: u32,
    paths: Vec<&'a Path>,
    /// The number of the next one.
    next: AtomicUsize,
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
        let mut loaded = thread::scope(|scope| {
            let others = (1..n_threads).map(|_| {
                // Without another thread, this one reads all.
                thread::Builder::new()
                    .spawn_scoped(scope, || self.some())
                    .ok()
            });
            let others: Vec<_> = others.collect();
            let mut loaded = self.some();
            for thread in others.into_iter().flatten() {
                match thread.join() {
                    Ok(some) => loaded.extend(some),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            loaded
        });
        loaded.sort_by_key(|(at, _)| *at);
        loaded.into_iter().map(|(_, run)| run).collect()
    }

    /// Reads one after the other, until none is left or one cannot be read.
    fn some(&self) -> Vec<(usize, Result<NamedRun>)> {
        let mut loaded = Vec::new();
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = self.paths.get(at) else {
                return loaded;
            };
            let run = self.one(at, path);
            if run.is_err() {
                self.next.store(self.paths.len(), Ordering::Relaxed);
            }
            loaded.push((at, run));
        }
    }

    /// Counts a recording.
    fn one(&self, at: usize, path: &Path) -> Result<NamedRun> {
        let reader = open_file(path, self.args.limits)?;
        let name = path.display().to_string();
        let options = reading(self.args, &reader);
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
