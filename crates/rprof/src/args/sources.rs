//! Where symbols come from: options of all commands that show names.

use crate::say;
use rprof_locate::{Debuginfod, DebuginfodSettings, Locator};
use rprof_untrusted::Budget;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, clap::Args)]
#[group(id = "all/sources")]
pub(crate) struct SourceArgs {
    /// Look for binaries below this directory
    #[arg(long, value_name = "DIR")]
    symfs: Option<PathBuf>,

    /// Use this vmlinux of the recorded kernel, with or without debug information
    #[arg(short = 'k', long, value_name = "FILE")]
    vmlinux: Option<PathBuf>,

    /// Use this copy of the recorded kernel's /proc/kallsyms
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,

    /// Wait at most this long for debug files from debuginfod servers (DEBUGINFOD_URLS) [default: 1.5]
    #[arg(long, value_name = "SECONDS", value_parser = parse_wait)]
    debuginfod_wait: Option<Duration>,

    /// Do not ask debuginfod servers for debug files
    #[arg(long, conflicts_with = "debuginfod_wait")]
    no_debuginfod: bool,
}

fn parse_wait(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok();
    let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    wait.ok_or_else(|| "expected a number of seconds".to_owned())
}

impl SourceArgs {
    pub(crate) fn locator(&self, budget: &Budget) -> Locator {
        Locator {
            symfs: self.symfs.clone(),
            vmlinux: self.vmlinux.clone(),
            kallsyms: self.kallsyms.clone(),
            debuginfod: self.debuginfod(budget).map(Arc::new),
            budget: budget.clone(),
            ..Locator::default()
        }
    }

    /// The same without servers, for what cannot wait for them.
    pub(crate) fn local(&self) -> Locator {
        Locator {
            symfs: self.symfs.clone(),
            vmlinux: self.vmlinux.clone(),
            kallsyms: self.kallsyms.clone(),
            ..Locator::default()
        }
    }

    /// The directory with the files of the recorded machine.
    pub(crate) fn symfs(&self) -> Option<PathBuf> {
        self.symfs.clone()
    }

    fn debuginfod(&self, budget: &Budget) -> Option<Debuginfod> {
        if self.no_debuginfod {
            return None;
        }
        let mut settings = DebuginfodSettings::from_env()?;
        settings.wait = self.debuginfod_wait.unwrap_or(settings.wait);
        Some(Debuginfod::new(settings, budget, Box::new(say::downloads)))
    }
}
