//! One recording: read, split into messages, and delivered.

use super::parts::{Message, each_message};
use super::pushing::Push;
use super::room::Removable;
use super::spool::{SpooledFile, open_as};
use crate::cmd::reading::{open_file, with_progress};
use crate::say;
use anyhow::{Context, Result, bail};
use rprof_analysis::{Options, load_counted_stacks};
use rprof_profile::CountedStacks;
use rprof_push::{Delivery, FileStamp, Part, PartId, content_id};
use std::path::Path;

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
    /// It cannot be read, or the server does not take it.
    SetAside,
}

/// What came of a recording's messages so far.
struct Progress {
    content: String,
    /// Parts that were delivered in earlier runs.
    n_before: usize,
    /// Those of them that it still has.
    n_met: usize,
    is_refused: bool,
    n_cut_samples: u64,
}

impl Push<'_> {
    /// Pushes a recording, unless the server has it.
    pub(super) fn recording(&mut self, file: &SpooledFile) -> Result<Pushed> {
        let path = file.path.display();
        let content = match self.content(file) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(Pushed::Later),
            Err(error) => {
                say::warning(format_args!("{path} is left out: {error:#}"));
                return Ok(Pushed::SetAside);
            }
        };
        let known = self.ledger(file).recording(&content);
        if known.is_some_and(|known| known.is_delivered) {
            return Ok(Pushed::Before);
        }
        let mut stacks = match self.load(&file.path) {
            Ok(stacks) => stacks,
            Err(error) => {
                say::warning(format_args!("{path} is left out: {error:#}"));
                return Ok(Pushed::SetAside);
            }
        };
        let meta = file.path.metadata().ok();
        if meta.is_none_or(|meta| FileStamp::of(&meta) != file.stamp) {
            return Ok(Pushed::Later);
        }
        let samples = stacks.profile.events.iter().map(|event| event.samples);
        let samples = samples.sum();
        self.ledger(file).count(&content, file.stamp, samples);
        let mut progress = Progress {
            content,
            n_before: known.map_or(0, |known| known.n_parts),
            n_met: 0,
            is_refused: false,
            n_cut_samples: 0,
        };
        self.messages(file, &mut stacks, &mut progress)?;
        if progress.n_cut_samples > 0 {
            let n = progress.n_cut_samples;
            say::warning(format_args!(
                "{path}: {n} samples have longer stacks than the server takes: [truncated] replaces their outer frames"
            ));
        }
        if progress.is_refused {
            return Ok(Pushed::SetAside);
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

    fn ledger(&mut self, file: &SpooledFile) -> &mut rprof_push::Ledger {
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
        let opened = match open_as(&file.path, &file.stamp) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.with_context(reading)?,
        };
        let Some(opened) = opened else {
            return Ok(None);
        };
        let content = content_id(&opened).with_context(reading)?;
        let is_same = FileStamp::of(&opened.metadata().with_context(reading)?) == file.stamp;
        if !is_same {
            return Ok(None);
        }
        self.ledger(file).see(file.stamp, &content);
        Ok(Some(content))
    }

    fn load(&self, path: &Path) -> Result<CountedStacks> {
        let args = self.settings.args;
        let reader = open_file(path, args.limits)?;
        let options = Options {
            inlines: true,
            fde: true,
            locator: args.sources.locator(reader.budget()),
            ..Options::default()
        };
        let load =
            |show: &mut rprof_analysis::Progress<'_>| load_counted_stacks(&reader, &options, show);
        let stacks = with_progress(&reader, load)?;
        for warning in &stacks.profile.warnings {
            say::warning(format_args!("{}: {warning}", path.display()));
        }
        Ok(stacks)
    }

    /// Delivers all messages that the server does not have yet.
    fn messages(
        &mut self,
        file: &SpooledFile,
        stacks: &mut CountedStacks,
        progress: &mut Progress,
    ) -> Result<()> {
        let settings = self.settings.clone();
        each_message(stacks, &settings, &mut |message| {
            progress.n_cut_samples += message.cut.samples;
            let id = PartId::of(&message.body);
            if self.ledger(file).has(&progress.content, id) {
                progress.n_met += 1;
                return Ok(());
            }
            self.message(file, &message, id, progress)
        })
    }

    fn message(
        &mut self,
        file: &SpooledFile,
        message: &Message,
        id: PartId,
        progress: &mut Progress,
    ) -> Result<()> {
        let part = Part {
            body: &message.body,
            labels: &message.labels,
            start_ns: message.time.start_ns,
            duration_ns: message.time.duration_ns,
        };
        let path = file.path.display();
        let host = self.settings.target.host().to_owned();
        match self.send(file, &part)? {
            Delivery::Delivered(partial) => {
                if let Some(partial) = partial {
                    let n = partial.rejected_profiles;
                    let text = partial.message;
                    say::warning(format_args!("{path}: {host} left out {n} profiles: {text}"));
                }
                if std::mem::take(&mut self.is_out) {
                    say::line(format_args!("{host} takes messages again"));
                }
                self.counts.messages += 1;
                let ledger = self.ledger(file);
                let noted = ledger.delivered_part(&progress.content, file.stamp, id);
                self.noted(noted)
            }
            Delivery::Refused(refusal) => {
                if !progress.is_refused {
                    say::warning(format_args!(
                        "{path} is set aside: {host} does not take it ({refusal}); it is tried again when rprof push \
                         starts next"
                    ));
                }
                progress.is_refused = true;
                Ok(())
            }
            Delivery::Stopped(why) => bail!("{host}: {why}; nothing is lost: recordings stay"),
            Delivery::GaveUp(why) => bail!(
                "{host}: {why}; not everything is delivered: run the command again to push the rest"
            ),
        }
    }

    /// Sends a message, however long that takes; meanwhile, directories are kept within their bound.
    fn send(&mut self, file: &SpooledFile, part: &Part<'_>) -> Result<Delivery> {
        let sender = self.sender.clone();
        let mut waits = |why: &str| {
            if !std::mem::replace(&mut self.is_out, true) {
                let host = self.settings.target.host();
                say::line(format_args!(
                    "{host}: {why}; trying again, recordings stay until then"
                ));
            }
            self.make_room(Removable::AllBut(file));
        };
        Ok(sender.send(part, &mut waits)?)
    }
}
