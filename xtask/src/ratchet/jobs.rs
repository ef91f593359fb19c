//! The work that is measured: commands on recordings that are the same everywhere.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::root;
use crate::files::make_folder;
use crate::recordings::repeat;

/// The fixtures that are read, and copies of their records: so many that reading outweighs starting.
const FIXTURES: &[(&str, u64)] = &[("spin", 100), ("dwarf", 500)];

/// Every command. `help` and `completions` only write texts. What `push` does beside starting needs a server, and is
/// `export`'s work.
const COMMANDS: &[&str] = &[
    "record", "stat", "top", "report", "tui", "annotate", "diff", "flame", "export", "push",
    "script", "sched", "critical", "trace", "lock", "dump", "info", "doctor", "list", "symbols",
];

/// What is read: fixtures, their records repeated.
pub(super) struct Recordings {
    folder: PathBuf,
}

impl Recordings {
    /// Makes them in `folder`.
    pub(super) fn make(folder: &Path) -> Result<Self> {
        let recordings = Self {
            folder: folder.to_owned(),
        };
        let home = recordings.home();
        make_folder(home)?;
        for &(fixture, copies) in FIXTURES {
            let from = root().join("fixtures").join(fixture).join("perf.data");
            let file = folder.join(format!("{fixture}.data"));
            repeat("samples", &from, &file, copies)
                .with_context(|| format!("writing {}", file.display()))?;
        }
        Ok(recordings)
    }

    /// A home without settings and caches, where the commands run.
    pub(super) fn home(&self) -> &Path {
        &self.folder
    }
}

/// A thing that is done, and what it takes.
pub(super) struct Job {
    /// As the table has it.
    pub(super) name: &'static str,
    /// Arguments of rprof, one run after the other.
    pub(super) commands: Vec<Vec<OsString>>,
    /// How they end.
    pub(super) exit_code: i32,
}

/// All jobs, in the table's order.
pub(super) fn all(recordings: &Recordings) -> Vec<Job> {
    let starts = COMMANDS.iter();
    let starts = starts.map(|command| vec![command.into(), "--no-such-flag".into()]);
    let mut jobs = vec![
        // They end where arguments are understood: what every use of a command pays first.
        Job {
            name: "start of all commands",
            commands: starts.collect(),
            exit_code: 2,
        },
    ];
    // `FILE` is the recording; what looks for programs finds them in the fixture's folder.
    for (name, fixture, words) in [
        ("report", "spin", "report -i FILE -g none --symfs ROOT"),
        (
            "report, trees",
            "spin",
            "report -i FILE -g caller --symfs ROOT",
        ),
        (
            "report, over time",
            "spin",
            "report -i FILE -s time,sym --symfs ROOT",
        ),
        (
            "report, unwinding",
            "dwarf",
            "report -i FILE -g caller --symfs ROOT",
        ),
        ("flame", "spin", "flame -i FILE --symfs ROOT"),
        ("annotate", "spin", "annotate hot -i FILE --symfs ROOT"),
        ("diff, trees", "spin", "diff FILE FILE -g --symfs ROOT"),
        ("script, unwinding", "dwarf", "script -i FILE --symfs ROOT"),
        ("dump", "spin", "dump -i FILE"),
        (
            "export, html",
            "spin",
            "export -i FILE -o - --format html --symfs ROOT",
        ),
        (
            "export, pprof",
            "spin",
            "export -i FILE -o - --format pprof --symfs ROOT",
        ),
    ] {
        let word = |word: &str| match word {
            "FILE" => recordings.folder.join(format!("{fixture}.data")).into(),
            "ROOT" => root().join("fixtures").join(fixture).join("root").into(),
            word => word.into(),
        };
        jobs.push(Job {
            name,
            commands: vec![words.split(' ').map(word).collect()],
            exit_code: 0,
        });
    }
    jobs
}
