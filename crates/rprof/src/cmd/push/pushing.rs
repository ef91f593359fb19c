//! A run of the command: what it pushes, what it has done so far, and what it says while it goes on.

use super::room::{self, Removable};
use super::spool::{Spool, SpooledFile};
use crate::args::PushArgs;
use crate::cmd::reading::open_file;
use crate::say;
use anyhow::Result;
use rprof_push::{Error, FileStamp, Labels, Ledger, PushTarget, Sender};
use std::collections::HashSet;

/// What is pushed, and where.
#[derive(Clone)]
pub(super) struct Settings<'a> {
    pub(super) args: &'a PushArgs,
    pub(super) target: PushTarget,
    pub(super) labels: Labels,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) recordings: u64,
    pub(super) samples: u64,
    pub(super) messages: u64,
    /// Recordings that the server had before.
    pub(super) before: u64,
}

/// A run of the command.
pub(super) struct Push<'a> {
    pub(super) settings: Settings<'a>,
    pub(super) spool: Spool,
    pub(super) sender: Sender,
    /// Files that the server or nobody can take, by where they are: not tried again in this run.
    pub(super) set_aside: HashSet<FileStamp>,
    pub(super) counts: Counts,
    /// The server was told of as one that takes nothing now.
    pub(super) is_out: bool,
    /// It was said that notes are in memory only.
    pub(super) is_memory_said: bool,
}

impl Push<'_> {
    /// Reads what is noted. Without notes, all goes on in memory.
    pub(super) fn open_ledgers(&mut self) -> Result<()> {
        for number in 0..self.spool.ledgers.len() {
            let opened = self.spool.ledgers.get_mut(number).map(Ledger::open);
            self.noted(opened.unwrap_or(Ok(())))?;
        }
        Ok(())
    }

    /// Says once that notes cannot be written.
    pub(super) fn noted(&mut self, noted: Result<(), Error>) -> Result<()> {
        match noted {
            Err(error @ Error::State { .. }) => {
                if !self.is_memory_said {
                    let error = anyhow::Error::new(error);
                    say::warning(format_args!(
                        "cannot note what is delivered: {error:#}; if this run ends before it can, the next one sends \
                         it again"
                    ));
                }
                self.is_memory_said = true;
                Ok(())
            }
            Err(error) => Err(error.into()),
            Ok(()) => {
                self.is_memory_said = false;
                Ok(())
            }
        }
    }

    /// Keeps within `--max-disk`.
    pub(super) fn make_room(&mut self, removable: Removable<'_>) {
        let Some(max_bytes) = self.settings.args.max_disk else {
            return;
        };
        // What cannot be read now is read next time.
        if let Ok(scan) = self.spool.scan() {
            let limits = self.settings.args.limits;
            let count = |file: &SpooledFile| {
                let reader = open_file(&file.path, limits).ok()?;
                let options = rprof_analysis::Options::default();
                let profile = rprof_analysis::load(&reader, &options, &mut |_| {}).ok()?;
                Some(profile.events.iter().map(|event| event.samples).sum())
            };
            room::make_room(&mut self.spool, &scan, max_bytes, removable, &count);
        }
    }
}
