//! `rprof critical`: what the end of a program waited for, by thread and by function, and what faster functions would
//! save.

mod functions;
mod json;
mod text;

pub use functions::CriticalFunction;

use crate::Error;
use functions::{TimeSums, sums_of};
use rprof_analysis::{CriticalPath, GroupBy, Options, load_critical};
use rprof_base::Share;
use rprof_perfdata::Reader;
use rprof_profile::{Account, Dimension, Filter, PathEnd, Profile, TimeSlices};
use rprof_scheduling::{Activity, PathStep};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What of a critical path is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CriticalForm {
    /// How long each thread and each function is on it, the longest first.
    #[default]
    Shares,
    /// Its steps, in order of time.
    Steps,
    /// All of it, as JSON.
    Json,
}

/// A critical path, and who is on it.
#[derive(Debug)]
pub struct CriticalReport {
    /// The path.
    pub path: CriticalPath,
    /// The recording, in whose functions time on the path is told apart.
    pub profile: Profile,
    sums: TimeSums,
    /// Whether it is only a part of the path.
    is_part: bool,
}

/// A thread on a critical path, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalThread {
    /// Its id.
    pub tid: i32,
    /// What it does.
    pub activity: Activity,
    /// How long, nanoseconds.
    pub ns: u64,
    /// In how many steps.
    pub n_steps: u64,
}

impl CriticalReport {
    /// Reads a recording; a filter of the options does not count. With times, the path is from the first of them to the
    /// last one.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read, or has no switches; if there is no such thread.
    pub fn read(
        reader: &Reader,
        options: Options,
        end: &PathEnd,
        times: Option<&TimeSlices>,
    ) -> Result<Self, Error> {
        let options = Options {
            filter: Filter {
                account: Account::Wall,
                ..Filter::default()
            },
            group_by: GroupBy {
                names: false,
                ..GroupBy::of(&[Dimension::State, Dimension::Cause, Dimension::Critical])
            },
            ..options
        };
        let (mut profile, path) = load_critical(reader, &options, end, times)?;
        let sums = sums_of(&mut profile);
        Ok(Self {
            path,
            profile,
            sums,
            is_part: times.is_some(),
        })
    }

    /// The functions of all threads, those first that run on the path for longest; then the causes of waits.
    pub fn functions(&self) -> &[CriticalFunction] {
        &self.sums.functions
    }

    /// Time on CPUs, of all threads, nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.sums.cpu_ns
    }

    /// All of the time of all threads, nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.sums.wall_ns
    }

    /// Time of the path of which nothing is known, nanoseconds: records are lost, or there are none.
    pub fn unknown_ns(&self) -> u64 {
        self.path.len_ns().saturating_sub(self.sums.path_ns)
    }

    /// Samples on CPUs on the path, by which functions share its running time.
    pub fn n_samples(&self) -> u64 {
        self.sums.n_samples
    }

    /// Threads and what they do on the path, the longest first: they add up to the path.
    pub fn threads(&self) -> Vec<CriticalThread> {
        let mut rows: BTreeMap<(i32, &str), CriticalThread> = BTreeMap::new();
        for step in &self.path.steps {
            let PathStep { tid, activity, .. } = *step;
            let new = CriticalThread {
                tid,
                activity,
                ns: 0,
                n_steps: 0,
            };
            let row = rows.entry((tid, activity.words())).or_insert(new);
            row.ns += step.len_ns();
            row.n_steps += 1;
        }
        let mut rows: Vec<_> = rows.into_values().collect();
        rows.sort_by_key(|row| Reverse(row.ns));
        rows
    }

    /// Writes it in a form; functions below `least` both of CPU time and of the path are only counted in tables.
    ///
    /// # Errors
    /// Of `out`.
    pub fn write(&self, form: CriticalForm, least: Share, out: &mut dyn Write) -> io::Result<()> {
        match form {
            CriticalForm::Shares => text::write_shares(self, least, out),
            CriticalForm::Steps => text::write_steps(self, out),
            CriticalForm::Json => json::write_json(self, out),
        }
    }
}
