//! `--tasks` and `--mmaps` of `rprof report`.

use crate::say;
use crate::screen::Pager;
use anyhow::{Context, Result};
use rprof_analysis::{WantedMappings, load_tasks};
use rprof_perfdata::Reader;
use rprof_report::{TaskDetail, write_tasks};
use std::process::ExitCode;

/// Writes the tasks of a recording below its header, and nothing else.
pub(crate) fn show(
    reader: &Reader,
    detail: TaskDetail,
    header: &str,
    pager: &Pager,
) -> Result<ExitCode> {
    let wanted = match detail {
        TaskDetail::Names => WantedMappings::None,
        TaskDetail::Mappings => WantedMappings::All,
    };
    let (tasks, warnings) = load_tasks(reader, wanted)?;
    warnings.iter().for_each(say::warning);
    pager.write(|mut out| {
        let written = out.write_all(header.as_bytes());
        let written = written.and_then(|()| write_tasks(&tasks, detail, &mut out));
        written.context("writing tasks")
    })?;
    Ok(ExitCode::SUCCESS)
}
