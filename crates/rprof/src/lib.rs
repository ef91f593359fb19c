//! `rprof`: the command line. Everything that prints to stdout or stderr, or decides on an exit
//! code, is in this crate.
//!
//! The program is [`main`]. It is a library only so that tests can compare man pages and completions with
//! [`command`].

mod args;
mod browser;
mod cmd;
mod say;
mod screen;
mod sudo;
mod target;
mod usage;

use anyhow::anyhow;
use args::{Args, Command};
use rprof_base::parallel::n_cpus;
use rprof_ringbuf::sys::{self, Rights, SignalsAtStart};
use std::process::ExitCode;
use usage::Usage;

/// All flags and sub-commands, as man pages and completions show them.
pub fn command() -> clap::Command {
    args::documented()
}

/// Does what was typed.
pub fn main() -> ExitCode {
    let rights = match Rights::settle() {
        Ok(Rights::Foreign) => {
            say::error(&anyhow!(
                "rprof does not run as a set-user-id or set-group-id program, which has rights that are not yours: \
                 use sudo, or file capabilities for a group (see README.md)"
            ));
            return ExitCode::FAILURE;
        }
        Ok(rights) => rights,
        Err(error) => {
            say::error(&anyhow!(error).context("checking the rights of this process"));
            return ExitCode::FAILURE;
        }
    };
    let signals = SignalsAtStart::hold();
    if sys::stack_limit() >= STACK {
        return run(rights, signals);
    }
    // The limit is for the first thread, and who has set it may have forbidden to raise it.
    let thread = std::thread::Builder::new().stack_size(ROOMY_STACK);
    let ran = std::thread::scope(|scope| {
        let thread = thread.spawn_scoped(scope, || run(rights, signals))?;
        // It has said why it panicked.
        Ok(thread.join().unwrap_or(ExitCode::from(PANICKED)))
    });
    ran.unwrap_or_else(|error: std::io::Error| {
        say::error(
            &anyhow!(error).context("starting a thread, since the stack is too small (ulimit -s)"),
        );
        ExitCode::FAILURE
    })
}

/// What the first thread needs of stack at least, bytes: as much as std gives every other one.
const STACK: u64 = 2 << 20;

/// What a thread gets in its stead, bytes: as much as Linux gives the first one.
const ROOMY_STACK: usize = 8 << 20;

/// The exit code of std for a panic.
const PANICKED: u8 = 101;

/// Threads that share a heap while recordings are read: with fewer, what one has freed is seldom what another one needs;
/// with more, they wait for each other.
const THREADS_OF_ARENA: usize = 2;

/// Not a part of what runs on a small stack.
#[inline(never)]
fn run(rights: Rights, signals: SignalsAtStart) -> ExitCode {
    let args = match Args::read(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => return usage::answer(&error),
    };
    if !args.command.is_waiting() {
        sys::reuse_free_memory(n_cpus() / THREADS_OF_ARENA);
    }
    // Commands that record hear them; others end by them.
    let _signals = args.command.is_waiting().then_some(signals);
    let paging = args.paging;
    let failure = match args.command {
        // 1 says that what is compared differs beyond a condition: as of diff(1).
        Command::Diff(_) => ExitCode::from(usage::CODE),
        _ => ExitCode::FAILURE,
    };
    let done = match args.command {
        Command::Record(args) => cmd::record::run(&args, rights),
        Command::Stat(args) => cmd::stat::run(&args),
        Command::StatRecord(args) => cmd::stat::record(&args),
        Command::StatReport(args) => cmd::stat::report(&args),
        Command::Top(args) => cmd::top::run(*args, rights),
        Command::Report(args) => cmd::report::run(&args, paging),
        #[cfg(feature = "tui")]
        Command::Tui(args) => cmd::tui::run(*args, paging),
        Command::Annotate(args) => cmd::annotate::run(&args, paging),
        Command::Flame(args) => cmd::flame::run(&args, rights),
        Command::Diff(args) => cmd::diff::run(&args, paging),
        Command::Export(args) => cmd::export::run(&args),
        #[cfg(feature = "push")]
        Command::Push(args) => cmd::push::run(&args),
        Command::Script(args) => cmd::script::run(&args, paging),
        Command::Sched(args) => cmd::sched::run(&args, paging),
        Command::SchedLatency(args) => cmd::sched::latency(&args, paging),
        Command::SchedMap(args) => cmd::sched::map(&args, paging),
        Command::SchedTimehist(args) => cmd::sched::timehist(&args, paging),
        Command::Critical(args) => cmd::critical::run(&args, paging),
        Command::Trace(args) => cmd::trace::run(*args, rights, paging),
        Command::Lock(args) => cmd::lock::run(&args, paging),
        Command::Dump(args) => cmd::dump::run(&args, paging),
        Command::Symbols(args) => cmd::symbols::run(&args, paging),
        Command::Info(args) => cmd::info::run(&args, paging),
        Command::Doctor(args) => cmd::doctor::run(&args, rights),
        Command::List(args) => cmd::list::run(&args, paging),
        Command::Completions(args) => cmd::completions::run(&args),
        Command::Help(args) => cmd::help::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_closed_stdout(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(&error);
            match error.downcast_ref() {
                // As a shell says that SIGINT ended something.
                Some(rprof_record::Error::Interrupted) => ExitCode::from(128 + 2),
                Some(rprof_record::Error::NothingToRecord) => ExitCode::from(usage::CODE),
                _ if error.is::<Usage>() => ExitCode::from(usage::CODE),
                _ => failure,
            }
        }
    }
}

/// Somebody closed our stdout (`rprof report | head`): no error. What a recorder writes to is another
/// matter.
fn is_closed_stdout(error: &anyhow::Error) -> bool {
    !error.is::<rprof_record::Error>() && screen::is_broken_pipe(error)
}
