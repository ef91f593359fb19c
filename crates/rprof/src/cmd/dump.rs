//! `rprof dump`.

use super::reading::open;
use crate::args::DumpArgs;
use crate::say;
use crate::screen::PagerArgs;
use anyhow::Result;
use rprof_inspect::{DumpForm, write_dump};
use std::process::ExitCode;

pub(crate) fn run(args: &DumpArgs, paging: PagerArgs) -> Result<ExitCode> {
    let reader = open(args.recording.path(), args.limits)?;
    let form = if args.json {
        DumpForm::Json
    } else {
        DumpForm::Text
    };
    let pager = args.paging.or(paging).pager();
    let warnings = pager.write(|mut out| Ok(write_dump(&reader, form, &mut out)?))?;
    warnings.iter().flatten().for_each(say::warning);
    Ok(ExitCode::SUCCESS)
}
