//! `rprof lock`.

use super::reading::{open, progress};
use crate::args::LockArgs;
use crate::say;
use crate::screen::PagerArgs;
use anyhow::Result;
use rprof_trace::write_locks;
use std::process::ExitCode;

pub(crate) fn run(args: &LockArgs, paging: PagerArgs) -> Result<ExitCode> {
    let reader = open(args.input.recording.path(), args.input.limits)?;
    let options = args.options(&reader);
    let mut progress = progress(&reader);
    let pager = args.input.paging.or(paging).pager();
    let profile = pager.write(|mut out| {
        let show = &mut |share| progress.show(share);
        Ok(write_locks(
            &reader,
            &options,
            &args.lock(),
            show,
            &mut out,
        )?)
    })?;
    drop(progress);
    if let Some(profile) = profile {
        profile.warnings.iter().for_each(say::warning);
        profile.events.iter().for_each(say::loss);
    }
    Ok(ExitCode::SUCCESS)
}
