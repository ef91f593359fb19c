//! `rprof dump`.

use super::reading::open;
use crate::args::DumpArgs;
use crate::say;
use anyhow::Result;
use rprof_inspect::{DumpForm, write_dump};
use std::io::BufWriter;
use std::process::ExitCode;

pub(crate) fn run(args: &DumpArgs) -> Result<ExitCode> {
    let reader = open(args.recording.path(), args.limits)?;
    let form = match args.json {
        true => DumpForm::Json,
        false => DumpForm::Text,
    };
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let warnings = write_dump(&reader, form, &mut out)?;
    warnings.iter().for_each(say::warning);
    Ok(ExitCode::SUCCESS)
}
