//! `rprof diff --each`: many recordings, each compared with the same ones before.

use super::diff::code_of;
use crate::args::{DiffArgs, DiffFormat};
use crate::say;
use crate::screen::PagerArgs;
use anyhow::{Context, Result};
use rprof_diff::{
    ComparedRecording, DiffLayout, EachForm, GateResult, workflow_commands, write_each,
    write_each_json,
};
use std::io::Write;
use std::process::ExitCode;

/// Writes what became of each recording; fails if a condition is true of one.
pub(super) fn write(
    args: &DiffArgs,
    compared: &[ComparedRecording],
    layout: &DiffLayout,
    paging: PagerArgs,
) -> Result<ExitCode> {
    let form = match args.format {
        DiffFormat::Text => Some(EachForm::Text),
        DiffFormat::Csv => Some(EachForm::Csv),
        DiffFormat::Markdown | DiffFormat::Github => Some(EachForm::Markdown),
        DiffFormat::Json => None,
    };
    let pager = args.paging.or(paging).pager();
    pager.write(|out| {
        let out = &mut &mut *out as &mut dyn Write;
        let written = match form {
            Some(form) => write_each(compared, form, layout, out),
            None => write_each_json(compared, layout, out),
        };
        written.context("writing the differences")
    })?;
    if args.format == DiffFormat::Github {
        let lines = compared
            .iter()
            .map(|one| workflow_commands(&one.comparison));
        say::block(&lines.collect::<Vec<_>>().concat());
    }
    let gates = compared.iter().flat_map(|one| &one.comparison.gates);
    let gates: Vec<GateResult> = gates.cloned().collect();
    Ok(code_of(&gates, args.format))
}
