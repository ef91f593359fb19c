//! Man pages of all commands.

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use rprof_base::Utc;
use std::fs;
use std::path::Path;

/// Writes the pages of a command and of those below it into a folder, which is made if need be.
pub(super) fn write(command: &Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let path = folder.join(Man::new(command.clone()).get_filename());
    fs::write(&path, page(command)?).with_context(|| format!("writing {}", path.display()))?;
    command
        .get_subcommands()
        .try_for_each(|command| write(command, folder))
}

/// The page of a command, for `man`.
pub(super) fn page(command: &Command) -> Result<String> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let version = command.get_version().unwrap_or_default();
    // A synopsis of all flags is longer than the screen, and lacks their values.
    let man = Man::new(command.clone().override_usage(usage))
        .source(format!("rprof {version}"))
        .manual("rprof")
        .date(date());
    let mut text = Vec::new();
    man.render(&mut text)?;
    let text = String::from_utf8(text).context("a man page that is not UTF-8")?;
    // Not justified: long flags would leave gaps between words.
    Ok(text.replacen(".SH NAME", ".ad l\n.SH NAME", 1))
}

/// The day of a release (`SOURCE_DATE_EPOCH`, seconds since 1970), or none.
fn date() -> String {
    let seconds = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    let day = seconds.map(|seconds| Utc::of(seconds).to_string());
    day.map_or_else(String::new, |day| {
        day.chars().take_while(|c| *c != ' ').collect()
    })
}
