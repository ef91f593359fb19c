//! `rprof critical`.

use super::reading::open;
use crate::args::CriticalArgs;
use crate::say;
use crate::screen::PagerArgs;
use anyhow::{Context, Result};
use rprof_base::Share;
use rprof_sched::CriticalReport;
use std::process::ExitCode;

pub(crate) fn run(args: &CriticalArgs, paging: PagerArgs) -> Result<ExitCode> {
    let reader = open(args.recording.path(), args.limits)?;
    let options = args.options(&reader);
    let report = CriticalReport::read(&reader, options, &args.end(), args.time.as_ref())?;
    report.profile.warnings.iter().for_each(say::warning);
    let least = Share::from_percent(args.percent_limit);
    let pager = args.paging.or(paging).pager();
    pager.write(|mut out| {
        let written = report.write(args.form(), least, &mut out);
        written.context("writing the critical path")
    })?;
    say::quality(&report.profile);
    Ok(ExitCode::SUCCESS)
}
