//! Functions, and causes of waits, with their shares of CPU time, of all time, and of a critical path.

use foldhash::HashMap;
use rprof_profile::view::{Row, Rows, SortKey, Weighing};
use rprof_profile::{Dimension, DimensionValue, Profile};
use rprof_scheduling::ThreadState;
use std::cmp::Reverse;

/// A function, or a cause of waits. Times include those of what it called; nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalFunction {
    /// Its name as tables have it: `[.] main`, `[k] schedule`.
    pub symbol: String,
    /// The program or library that it is in; empty for a cause.
    pub image: String,
    /// If it is a cause of waits, its name: `sleep` where the symbol is `[sleep]`. It stands for the functions of the
    /// kernel in which the thread waits.
    pub cause: Option<String>,
    /// Time on CPUs, of all threads.
    pub cpu_ns: u64,
    /// Time running and waiting, of all threads.
    pub wall_ns: u64,
    /// Time on the critical path, running and waiting.
    pub path_ns: u64,
    /// Time running on the critical path.
    pub path_cpu_ns: u64,
    /// Time on the path of the function alone, without what it called.
    pub path_self_ns: u64,
}

impl CriticalFunction {
    /// How much sooner the end comes at most if it takes a tenth less time, nanoseconds.
    ///
    /// As long as threads wait for each other in the same order, the path does not become shorter than this; another path
    /// may then be longer.
    pub fn saves_ns(&self) -> u64 {
        self.path_ns / 10
    }
}

/// Sums of all functions.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeSums {
    pub(super) functions: Vec<CriticalFunction>,
    pub(super) cpu_ns: u64,
    pub(super) wall_ns: u64,
    pub(super) path_ns: u64,
    /// Samples on CPUs on the path.
    pub(super) n_samples: u64,
}

/// Adds up a profile whose samples are told apart by state, by cause, and by whether they are on the path.
///
/// Of a wait, the kernel's functions become its cause: who reads that less time in the scheduler saves something has
/// learned nothing.
pub(super) fn sums_of(profile: &mut Profile) -> TimeSums {
    let mut sums = TimeSums::default();
    let causes = profile.fold_kernel_waits();
    let profile = &*profile;
    let Some(event) = profile.events.first() else {
        return sums;
    };
    let keys = [
        SortKey::Dimension(Dimension::State),
        SortKey::Dimension(Dimension::Critical),
        SortKey::Dso,
        SortKey::Symbol,
    ];
    let has = |row: &Row, dimension, word: &str| match profile.value(row, dimension) {
        Some(DimensionValue::Text(id)) => profile.strings.of(id).raw() == word,
        _ => false,
    };
    let mut places: HashMap<_, usize> = HashMap::default();
    for row in Rows::new(profile, event, &keys, Weighing::WithChildren).iter() {
        let is_running = has(row, Dimension::State, ThreadState::Running.name());
        let is_on_path = has(row, Dimension::Critical, "yes");
        let place = (row.key.image(), row.key.frame());
        let next = sums.functions.len();
        let at = *places.entry(place).or_insert(next);
        if at == next {
            let cause = row.key.frame().and_then(|frame| causes.get(&frame));
            sums.functions.push(match cause {
                Some(&cause) => CriticalFunction {
                    symbol: profile.wait_label(cause),
                    cause: Some(profile.strings.of(cause).to_string()),
                    ..CriticalFunction::default()
                },
                None => CriticalFunction {
                    symbol: SortKey::Symbol.cell(&row.key, profile),
                    image: SortKey::Dso.cell(&row.key, profile),
                    ..CriticalFunction::default()
                },
            });
        }
        let Some(function) = sums.functions.get_mut(at) else {
            continue;
        };
        let (own, all) = (row.self_weight, row.total_weight);
        let add = |sum: &mut u64, ns: u64| *sum = sum.saturating_add(ns);
        add(&mut function.wall_ns, all);
        add(&mut sums.wall_ns, own);
        if is_running {
            add(&mut function.cpu_ns, all);
            add(&mut sums.cpu_ns, own);
        }
        if is_on_path {
            add(&mut function.path_ns, all);
            add(&mut function.path_self_ns, own);
            add(&mut sums.path_ns, own);
            if is_running {
                add(&mut function.path_cpu_ns, all);
                sums.n_samples += row.self_samples;
            }
        }
    }
    sums.functions.sort_by(|a, b| {
        // What runs can be made faster: waits are for others.
        let times = |one: &CriticalFunction| {
            let runs = (one.path_cpu_ns, one.path_ns, one.path_self_ns, one.cpu_ns);
            (one.cause.is_some(), Reverse(runs))
        };
        let by_name = || (&a.symbol, &a.image).cmp(&(&b.symbol, &b.image));
        times(a).cmp(&times(b)).then_with(by_name)
    });
    sums
}

#[cfg(test)]
mod tests;
