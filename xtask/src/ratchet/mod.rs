//! `cargo xtask ratchet [--write]`: what fixed work costs in instructions and in memory, beside what
//! it cost when `table.txt` was written.
//!
//! Both are counted by valgrind on one CPU, so the same program on the same libraries costs the same
//! on any day. Other compilers, libcs and CPUs make other programs: where the table was made with
//! others, the costs are printed and nothing fails.
//!
//! What costs more than the table says by over 5 % is an error.
//! `--write` puts the costs of now into the table: it goes down, or up with a reason in the commit.

mod jobs;
mod measure;
mod table;
mod toolchain;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::args::has_flag;
use crate::command::{self, cargo, root, target_folder};
use jobs::Recordings;
use measure::Cost;
use table::{Grace, Row, Table};
use toolchain::Toolchain;

/// Where the table is, seen from the root of the workspace.
const TABLE: &str = "xtask/src/ratchet/table.txt";

/// What costs may grow by before it is an error. Code that did not change takes up to 3 % more instructions where
/// another line of its crate moves it to another codegen unit. What threads hold at once depends on whose turn it is:
/// peaks of equal runs are up to 3 % apart.
const GRACE: Grace = Grace {
    instructions_percent: 5,
    heap_percent: 5,
};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let is_written = has_flag(args, "--write")?;
    measure::look_for_valgrind()?;
    let build = ["build", "--locked", "-p", "rprof-cli", "--profile", "quick"];
    command::run(cargo().args(build).arg("--no-default-features"))?;
    let target = target_folder()?;
    let recordings = Recordings::make(&target.join("ratchet"))?;
    let rows = measured(&target.join("quick/rprof"), &recordings)?;
    let now = Table {
        toolchain: Toolchain::of_this_machine()?,
        rows,
    };
    let path = root().join(TABLE);
    if is_written {
        return fs::write(&path, now.to_string()).with_context(|| format!("writing {TABLE}"));
    }
    let text = fs::read_to_string(&path).with_context(|| format!("reading {TABLE}"))?;
    let before: Table = text.parse().with_context(|| format!("reading {TABLE}"))?;
    compare(&before, &now)
}

/// Runs all jobs, prints what each costs.
fn measured(rprof: &Path, recordings: &Recordings) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for job in jobs::all(recordings) {
        let mut cost = Cost::default();
        for args in &job.commands {
            cost += measure::cost(rprof, args, recordings.home(), job.exit_code)
                .with_context(|| format!("the job '{}'", job.name))?;
        }
        println!(
            "{:<24} {:>14} instructions {:>12} bytes",
            job.name, cost.instructions, cost.peak_heap_bytes
        );
        rows.push(Row {
            job: job.name.to_owned(),
            cost,
        });
    }
    Ok(rows)
}

/// Prints what costs something else than before. An error if something got dearer, and the table is
/// of a toolchain as we have it.
fn compare(before: &Table, now: &Table) -> Result<()> {
    let changes = before.changes(now)?;
    println!("\nbeside {TABLE}:");
    for change in &changes {
        println!("{change}");
    }
    let n_dearer = changes
        .iter()
        .filter(|change| change.is_over(GRACE))
        .count();
    if before.toolchain != now.toolchain {
        println!(
            "The table was made with {}; this is {}: nothing fails here.",
            before.toolchain, now.toolchain
        );
        return Ok(());
    }
    ensure!(
        n_dearer == 0,
        "{n_dearer} jobs cost over {GRACE} more than {TABLE} says: find out why, or write the table anew \
         (cargo xtask ratchet --write) and give the reason in the commit"
    );
    Ok(())
}
