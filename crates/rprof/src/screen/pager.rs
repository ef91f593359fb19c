//! The pager that shows what is written to a terminal.

use super::is_dumb;
use anyhow::{Context, Result, bail};
use rprof_ringbuf::sys::Signals;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// Default for `$LESS`, as in perf and git: quit if the output fits on one screen, keep colours, do not wrap lines,
/// leave the text on the screen.
const LESS: &str = "FRSX";

/// Exit codes of a shell for a command that it cannot run.
const CANNOT_RUN: [i32; 2] = [126, 127];

/// Where output goes: a pager or stdout.
#[derive(Debug)]
pub(crate) struct Pager(Option<OsString>);

/// The pager option of all commands with long output.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(id = "all/pager")]
pub(crate) struct PagerArgs {
    /// Do not use a pager ($PAGER or less) when printing to a terminal
    #[arg(long)]
    no_pager: bool,
}

impl PagerArgs {
    /// Chooses the pager, if stdout is a terminal and a pager is available.
    pub(crate) fn pager(self) -> Pager {
        if self.no_pager || !io::stdout().is_terminal() {
            return Pager(None);
        }
        Pager(match env::var_os("PAGER") {
            Some(own) => Some(own).filter(|own| !own.is_empty() && own != "cat"),
            None => (!is_dumb() && is_there("less")).then(|| "less".into()),
        })
    }

    /// Merges the option before the sub-command, as perf has it, with the one after it.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            no_pager: self.no_pager || other.no_pager,
        }
    }
}

impl Pager {
    /// Writes to the pager and waits until it exits, or writes to stdout. `None` if the user quit the pager before
    /// everything was written.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(pager) = &self.0 else {
            return written(io::stdout().lock(), write).map(Some);
        };
        let mut child = start(pager)?;
        // Ctrl-C is for the pager now: it must not lose what it shows, and the terminal must not lose it.
        let _signals = Signals::block();
        let done = match child.stdin.take() {
            Some(stdin) => written(stdin, write),
            None => bail!("the pager has no stdin"),
        };
        let status = child.wait().context("waiting for the pager")?;
        if status.code().is_some_and(|code| CANNOT_RUN.contains(&code)) {
            let pager = pager.display();
            bail!("cannot run the pager '{pager}': set PAGER, or use --no-pager");
        }
        match done {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_broken_pipe(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether the reader closed the pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

fn written<T>(to: impl Write, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let mut out = BufWriter::with_capacity(1 << 16, to);
    let done = write(&mut out)?;
    out.flush().context("writing to stdout")?;
    Ok(done)
}

fn start(pager: &OsStr) -> Result<Child> {
    let caller = env::var_os("SUDO_UID");
    command(pager, caller.as_deref())
        .spawn()
        .context("starting the pager (use --no-pager to print directly)")
}

/// The shell command that runs the pager; `caller` is the user who called sudo, if any.
fn command(pager: &OsStr, caller: Option<&OsStr>) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    // Who may run rprof as root may not run a shell as root for that: no commands, no editor, no other files.
    if caller.is_some_and(|caller| caller != "0") {
        command.env("LESSSECURE", "1");
    }
    command
}

/// Whether a program exists in PATH.
fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_sudo_a_pager_runs_no_shell() {
        let is_secure = |caller: Option<&str>| {
            let command = command(OsStr::new("less"), caller.map(OsStr::new));
            let mut envs = command.get_envs();
            envs.any(|(key, value)| key == "LESSSECURE" && value == Some(OsStr::new("1")))
        };
        assert!(is_secure(Some("1000")));
        assert!(!is_secure(Some("0")) && !is_secure(None));
    }
}
