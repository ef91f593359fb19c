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
        let mut json = JsonFields::new();
        visit_info(&reader, &mut json)?;
        let mut text = json.finish();
        text.push(b'\n');
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
