//! `rprof help`: what `--help` shows, and man pages.

use super::man_pages;
use crate::args::{Args, HelpArgs, documented};
use crate::usage::{self, usage};
use anyhow::{Context, Result};
use clap::Command;
use std::ffi::OsString;
use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &HelpArgs) -> Result<ExitCode> {
    let Some(folder) = &args.man else {
        return Ok(help(&args.command));
    };
    let mut rprof = documented();
    rprof.build();
    if folder == Path::new("-") {
        let page = man_pages::page(found(&rprof, &args.command)?)?;
        let written = stdout().write_all(page.as_bytes());
        written.context("writing the man page")?;
    } else if args.command.is_empty() {
        man_pages::write(&rprof, folder)?;
    } else {
        return Err(usage(
            "--man=DIR writes the man pages of all commands: leave out the command",
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The same as `--help` behind the command.
fn help(command: &[String]) -> ExitCode {
    let words = ["rprof"].into_iter();
    let words = words.chain(command.iter().map(String::as_str));
    match Args::read(words.chain(["--help"]).map(OsString::from)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => usage::answer(&error),
    }
}

/// The command that is called so.
fn found<'c>(rprof: &'c Command, words: &[String]) -> Result<&'c Command> {
    words.iter().try_fold(rprof, |above, word| {
        let command = above.find_subcommand(word);
        command.ok_or_else(|| usage(format_args!("unknown command '{word}': see rprof --help")))
    })
}
