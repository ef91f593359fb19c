//! `rprof sched`, `rprof sched latency`, `rprof sched map`, `rprof sched timehist`.

use super::reading::open;
use crate::args::{LatencyArgs, MapArgs, SchedArgs, SchedInputArgs, TimehistArgs, WaitsBy};
use crate::say;
use crate::screen::{self, PagerArgs};
use crate::usage::usage;
use anyhow::Result;
use rprof_base::{Counted, Millis};
use rprof_perfdata::Reader;
use rprof_sched::{
    Error, SchedOptions, SchedQuality, SchedSort, write_causes, write_latency, write_map,
    write_table, write_timehist,
};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &SchedArgs, paging: PagerArgs) -> Result<ExitCode> {
    let fit = (!args.full_names).then(screen::fit).flatten();
    if args.by == WaitsBy::Cause {
        if matches!(args.sort, SchedSort::Max | SchedSort::Switches) {
            return Err(usage("--by cause sorts by run, runnable or blocked"));
        }
        return show(&args.input, paging, |reader, options, out| {
            write_causes(reader, options, args.sort, fit, out)
        });
    }
    show(&args.input, paging, |reader, options, out| {
        write_table(reader, options, args.sort, fit, out)
    })
}

pub(crate) fn latency(args: &LatencyArgs, paging: PagerArgs) -> Result<ExitCode> {
    show(&args.input, paging, write_latency)
}

pub(crate) fn map(args: &MapArgs, paging: PagerArgs) -> Result<ExitCode> {
    show(&args.input, paging, write_map)
}

pub(crate) fn timehist(args: &TimehistArgs, paging: PagerArgs) -> Result<ExitCode> {
    show(&args.input, paging, write_timehist)
}

fn show(
    input: &SchedInputArgs,
    paging: PagerArgs,
    write: impl Fn(&Reader, &SchedOptions, &mut dyn Write) -> Result<SchedQuality, Error>,
) -> Result<ExitCode> {
    let reader = open(input.recording.path(), input.limits)?;
    let options = SchedOptions {
        filter: input.filter(),
    };
    let pager = input.paging.or(paging).pager();
    let quality = pager.write(|mut out| Ok(write(&reader, &options, &mut out)?))?;
    if let Some(quality) = quality {
        say_quality(&quality);
    }
    Ok(ExitCode::SUCCESS)
}

fn say_quality(quality: &SchedQuality) {
    quality.warnings.iter().for_each(say::warning);
    let SchedQuality {
        n_lost,
        at_least,
        contradictions,
        n_hidden,
        hidden_ns,
        ..
    } = quality;
    if *n_lost > 0 {
        let least = if *at_least { "at least " } else { "" };
        say::warning(format_args!(
            "the kernel lost {least}{n_lost} events: what threads did around them is unknown; {} ({} ms) are left out \
             (record with a larger -m)",
            Counted::new(*n_hidden, "wait or run", "waits and runs"),
            Millis(*hidden_ns)
        ));
    }
    contradictions
        .warning(*n_lost == 0)
        .iter()
        .for_each(say::warning);
}
