//! `rprof info`.

use super::reading::open;
use crate::args::DumpArgs;
use crate::screen::PagerArgs;
use anyhow::{Context, Result};
use rprof_inspect::{JsonFields, OutlineFields, visit_info};
use std::process::ExitCode;

pub(crate) fn run(args: &DumpArgs, paging: PagerArgs) -> Result<ExitCode> {
    let reader = open(args.recording.path(), args.limits)?;
    let text = if args.json {
        let mut visited = Ok(());
        let text = JsonFields::line(|json| visited = visit_info(&reader, json));
        visited?;
        text
    } else {
        let mut outline = OutlineFields::default();
        visit_info(&reader, &mut outline)?;
        outline.finish()
    };
    let pager = args.paging.or(paging).pager();
    pager.write(|out| out.write_all(&text).context("writing the summary"))?;
    Ok(ExitCode::SUCCESS)
}
