//! One recording: read, delivered, and what came of it.

use super::delivering::Progress;
use super::pushing::Push;
use super::spool::SpooledFile;
use crate::cmd::reading::with_progress;
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::{Options, load_counted_stacks};
use rprof_perfdata::Reader;
use rprof_profile::{CountedStacks, WallClock};
use rprof_push::{FileStamp, Ledger, content_id};
use std::fs::File;

/// What came of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// The server has it now.
    Delivered {
        /// Its samples.
        samples: u64,
    },
    /// The server had it before.
    Before,
    /// It changed while it was read, or is gone.
    Later,
    /// The server does not take it now.
    PutOff,
    /// It cannot be read, or the server does not take it.
    SetAside,
}

impl Push<'_> {
    /// Pushes a recording, unless the server has it.
    pub(super) fn recording(&mut self, file: &SpooledFile) -> Result<Pushed> {
        let path = file.path.display();
        let left_out = |error: &anyhow::Error| {
            say::warning(format_args!("{path} is left out: {error:#}"));
            Ok(Pushed::SetAside)
        };
        let content = match self.content(file) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(Pushed::Later),
            Err(error) => return left_out(&error),
        };
        let known = self.ledger(file).recording(&content);
        if known.is_some_and(|known| known.is_delivered) {
            return Ok(Pushed::Before);
        }
        if file.is_unfinished {
            say::warning(format_args!(
                "{path} is not finished: if it is still being recorded, what is pushed now counts again once all of it is \
                 pushed"
            ));
        }
        let begun = self.ledger(file).begin(&content, file.stamp);
        self.noted(begun)?;
        let loaded = self.load(file);
        let samples = loaded.as_ref().ok().and_then(Option::as_ref).map(n_samples);
        self.ledger(file).count(&content, file.stamp, samples);
        let mut stacks = match loaded {
            Ok(Some(stacks)) => stacks,
            Ok(None) => return Ok(Pushed::Later),
            Err(error) => return left_out(&error),
        };
        let n_before = known.map_or(0, |known| known.n_parts);
        let mut progress = Progress::new(content, n_before);
        self.messages(file, &mut stacks, &mut progress)?;
        self.pushed(file, &progress, n_samples(&stacks))
    }

    /// Says what came of a recording's messages, and notes it.
    fn pushed(&mut self, file: &SpooledFile, progress: &Progress, samples: u64) -> Result<Pushed> {
        let path = file.path.display();
        if progress.n_cut_samples > 0 {
            let n = progress.n_cut_samples;
            say::warning(format_args!(
                "{path}: {n} samples have longer stacks than the server takes: [truncated] replaces their outer frames"
            ));
        }
        if progress.is_refused {
            return Ok(Pushed::SetAside);
        }
        if progress.is_put_off {
            return Ok(Pushed::PutOff);
        }
        if progress.n_met < progress.n_before {
            let n = progress.n_before - progress.n_met;
            say::warning(format_args!(
                "{path}: {n} messages had been delivered with other symbols or labels: their samples count twice"
            ));
        }
        let noted = self.ledger(file).delivered(&progress.content, file.stamp);
        self.noted(noted)?;
        Ok(Pushed::Delivered { samples })
    }

    pub(super) fn ledger(&mut self, file: &SpooledFile) -> &mut Ledger {
        let number = file
            .directory
            .min(self.spool.ledgers.len().saturating_sub(1));
        &mut self.spool.ledgers[number]
    }

    /// What the contents of a file are called; `None` if it has changed meanwhile.
    fn content(&mut self, file: &SpooledFile) -> Result<Option<String>> {
        if let Some(content) = self.ledger(file).content(&file.stamp) {
            return Ok(Some(content.to_owned()));
        }
        let reading = || format!("reading {}", file.path.display());
        let Some(opened) = file.open().with_context(reading)? else {
            return Ok(None);
        };
        let content = content_id(&opened).with_context(reading)?;
        if !is_still(file, &opened).with_context(reading)? {
            return Ok(None);
        }
        self.ledger(file).see(file.stamp, &content);
        Ok(Some(content))
    }

    /// Reads a recording; `None` if it has changed meanwhile.
    fn load(&self, file: &SpooledFile) -> Result<Option<CountedStacks>> {
        let args = self.settings.args;
        let path = &file.path;
        let reading = || format!("reading {}", path.display());
        let Some(opened) = file.open().with_context(reading)? else {
            return Ok(None);
        };
        let same = opened.try_clone().with_context(reading)?;
        let reader = Reader::from_file_allowing(path, opened, args.limits.allowed())?;
        let options = Options {
            inlines: true,
            fde: true,
            locator: args.sources.locator(reader.budget()),
            ..Options::default()
        };
        let load =
            |show: &mut rprof_analysis::Progress<'_>| load_counted_stacks(&reader, &options, show);
        let mut stacks = with_progress(&reader, load)?;
        if !is_still(file, &same).with_context(reading)? {
            return Ok(None);
        }
        for warning in &stacks.profile.warnings {
            say::warning(format_args!("{}: {warning}", path.display()));
        }
        date(&mut stacks, &file.stamp);
        Ok(Some(stacks))
    }
}

/// The samples of all events.
fn n_samples(stacks: &CountedStacks) -> u64 {
    let samples = stacks.profile.events.iter().map(|event| event.samples);
    samples.sum()
}

/// Whether an open file is still what was looked at.
fn is_still(file: &SpooledFile, opened: &File) -> std::io::Result<bool> {
    Ok(FileStamp::of(&opened.metadata()?) == file.stamp)
}

/// Gives a recording that knows no wall clock (perf's, without `-k`) the time when its file was last written, as the one
/// of its last sample: perf takes it for the time of the recording, too. Stores would take it for one of 1970.
fn date(stacks: &mut CountedStacks, stamp: &FileStamp) {
    let about = &mut stacks.profile.about;
    if let (None, Some(span)) = (about.wall_clock, &stacks.span_ns) {
        let wall_ns = u64::try_from(stamp.modified_ns).unwrap_or(0);
        about.wall_clock = Some(WallClock {
            wall_ns,
            clock_ns: *span.end(),
        });
    }
}
