//! `rprof doctor`.

use crate::args::DoctorArgs;
use anyhow::{Context, Result};
use rprof_inspect::JsonFields;
use rprof_record::{Check, Diagnosis, Prospect, diagnose};
use rprof_ringbuf::sys::Rights;
use rprof_untrusted::printable;
use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) fn run(args: &DoctorArgs, rights: Rights) -> Result<ExitCode> {
    let diagnosis = diagnose(rights);
    let mut text = Vec::new();
    if args.json {
        text = JsonFields::line(|json| diagnosis.visit(json));
    } else {
        write(&diagnosis, &mut text)?;
    }
    let mut out = io::stdout().lock();
    out.write_all(&text)
        .and_then(|()| out.flush())
        .context("writing the diagnosis")?;
    Ok(ExitCode::from(match diagnosis.profile {
        Prospect::Full => 0,
        Prospect::Less => 1,
        // 2 is for what was typed wrong.
        Prospect::None => 3,
    }))
}

/// A line for each check, and below it what comes of it and what would help.
fn write(diagnosis: &Diagnosis, out: &mut impl Write) -> io::Result<()> {
    let checks = &diagnosis.checks;
    let names = checks.iter().map(|check| check.name.len());
    let width = names.max().unwrap_or(0);
    for check in checks {
        let Check { name, found, .. } = check;
        let (state, found) = (check.state.word(), printable(found));
        writeln!(out, "{state:<7}  {name:<width$}  {found}")?;
        let more = [("so", &check.consequence), ("fix", &check.fix)];
        for (what, text) in more {
            if let Some(text) = text {
                writeln!(
                    out,
                    "{:indent$}{what}: {}",
                    "",
                    printable(text),
                    indent = width + 11
                )?;
            }
        }
    }
    writeln!(out, "record: {}", printable(&diagnosis.outlook))
}
