//! `cargo xtask bench [record|stacks|read|symbols [FILE]|all|--repeat [N]]`: makes the recordings, runs rprof and perf side by side,
//! and prints the table with ratios.
//!
//! Times are medians of several runs, memory is the peak of the whole process. Recordings are kept in `target/bench` and made anew only if they are gone.

mod measure;
mod read;
mod recorder;
mod repeat;
mod rows;
mod scale;
mod stacks;
mod symbols;
mod table;
mod workloads;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::command::{self, cargo, root};
use workloads::Bench;

/// Copies of a build recording that make about 10 million samples.
const COPIES: u64 = 42;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let part = args.first().map_or("all", String::as_str);
    let copies = match args {
        [] | [_] => COPIES,
        [symbols, _file] if symbols == "symbols" => COPIES,
        [repeat, copies] if repeat == "--repeat" => {
            copies.parse().with_context(|| format!("{copies} copies"))?
        }
        _ => bail!(
            "one argument: record, stacks, read, symbols with or without a recording, all, or --repeat with a number of copies"
        ),
    };
    command::run(cargo().args(["build", "--release", "--locked", "-p", "rprof"]))?;
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let bench = Bench {
        folder,
        rprof: root().join("target/release/rprof"),
    };
    match part {
        "record" => recorder::run(&bench),
        "stacks" => stacks::run(&bench),
        "read" => read::run(&bench),
        "symbols" => symbols::run(&bench, args.get(1).map(String::as_str)),
        "all" => {
            recorder::run(&bench)?;
            stacks::run(&bench)?;
            read::run(&bench)?;
            symbols::run(&bench, None)
        }
        "--repeat" => scale::run(&bench, copies),
        other => bail!("no part is called {other}: record, stacks, read, symbols, all or --repeat"),
    }
}
