//! One recording: read, split into messages, and delivered.

use super::parts::{Message, Taken, each_message};
use super::pushing::Push;
use super::room::Removable;
use super::spool::SpooledFile;
use crate::cmd::reading::with_progress;
use crate::say;
use anyhow::{Context, Result, bail};
use rprof_analysis::{Options, load_counted_stacks};
use rprof_perfdata::Reader;
use rprof_profile::{CountedStacks, WallClock};
use rprof_push::{Delivery, FileStamp, Ledger, Part, PartId, content_id};
use std::collections::HashMap;
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

/// What came of a recording's messages so far.
struct Progress {
    content: String,
    /// Parts that were delivered in earlier runs.
    n_before: usize,
    /// Those of them that it still has.
    n_met: usize,
    /// How often there was a part with the same bytes.
    n_equal: HashMap<PartId, u64>,
    is_refused: bool,
    is_put_off: bool,
    n_cut_samples: u64,
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
        let samples = loaded.as_ref().ok().and_then(Option::as_ref);
        let samples = samples.map(|stacks| -> u64 {
            let samples = stacks.profile.events.iter().map(|event| event.samples);
            samples.sum()
        });
        self.ledger(file).count(&content, file.stamp, samples);
        let mut stacks = match loaded {
            Ok(Some(stacks)) => stacks,
            Ok(None) => return Ok(Pushed::Later),
            Err(error) => return left_out(&error),
        };
        let mut progress = Progress {
            content,
            n_before: known.map_or(0, |known| known.n_parts),
            n_met: 0,
            n_equal: HashMap::new(),
            is_refused: false,
            is_put_off: false,
            n_cut_samples: 0,
        };
        self.messages(file, &mut stacks, &mut progress)?;
        let samples = samples.unwrap_or_default();
        self.pushed(file, &progress, samples)
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

    fn ledger(&mut self, file: &SpooledFile) -> &mut Ledger {
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

    /// Delivers all messages that the server does not have yet.
    fn messages(
        &mut self,
        file: &SpooledFile,
        stacks: &mut CountedStacks,
        progress: &mut Progress,
    ) -> Result<()> {
        let settings = self.settings.clone();
        each_message(stacks, &settings, &mut |message| {
            let body = PartId::of(&message.body);
            let nth = progress.n_equal.entry(body).or_default();
            let id = body.nth(*nth);
            *nth += 1;
            let ledger = self.ledger(file);
            if ledger.is_split(&progress.content, id) {
                return Ok(Taken::Halve);
            }
            let taken = if ledger.has(&progress.content, id) {
                progress.n_met += 1;
                Taken::Done
            } else {
                self.ending.begin();
                let taken = self.message(file, &message, id, progress);
                self.ending.end();
                taken?
            };
            if taken == Taken::Done {
                progress.n_cut_samples += message.cut.samples;
            }
            Ok(taken)
        })
    }

    fn message(
        &mut self,
        file: &SpooledFile,
        message: &Message,
        id: PartId,
        progress: &mut Progress,
    ) -> Result<Taken> {
        let part = Part {
            body: &message.body,
            id,
            labels: &message.labels,
            start_ns: message.time.start_ns,
            duration_ns: message.time.duration_ns,
        };
        let path = file.path.display();
        let host = self.settings.target.host().to_owned();
        match self.send(file, &part) {
            Delivery::Delivered(partial) => {
                if let Some(partial) = partial {
                    let n = partial.rejected_profiles;
                    let text = partial.message;
                    say::warning(format_args!("{path}: {host} left out {n} profiles: {text}"));
                }
                if std::mem::take(&mut self.is_out) {
                    say::line(format_args!("{host} takes messages again"));
                }
                self.answered();
                self.counts.messages += 1;
                let ledger = self.ledger(file);
                let noted = ledger.delivered_part(&progress.content, file.stamp, id);
                self.noted(noted)?;
                Ok(Taken::Done)
            }
            Delivery::TooLarge(_) if message.is_divisible => {
                self.answered();
                let ledger = self.ledger(file);
                let noted = ledger.split_part(&progress.content, file.stamp, id);
                self.noted(noted)?;
                Ok(Taken::Halve)
            }
            Delivery::Refused(refusal) | Delivery::TooLarge(refusal) => {
                self.answered();
                if !progress.is_refused {
                    say::warning(format_args!(
                        "{path} is set aside: {host} does not take it ({refusal}); it is tried again when rprof push \
                         starts next"
                    ));
                }
                progress.is_refused = true;
                Ok(Taken::Done)
            }
            Delivery::Stopped(why) => bail!("{host}: {why}; nothing is lost: recordings stay"),
            Delivery::GaveUp(why) => self.gave_up(file, &why, progress),
        }
    }

    /// A message could not be delivered in its time: another one says whether it is the message or the server.
    fn gave_up(&mut self, file: &SpooledFile, why: &str, progress: &mut Progress) -> Result<Taken> {
        let is_first = !self.patience.is_server_out();
        self.patience.failed();
        let host = self.settings.target.host();
        if self.patience.is_over() {
            bail!(
                "{host}: {why}; not everything is delivered: run the command again to push the rest"
            );
        }
        progress.is_put_off = true;
        if is_first {
            let path = file.path.display();
            say::warning(format_args!(
                "{path} is put off: {host} does not take all of it ({why})"
            ));
            return Ok(Taken::Done);
        }
        Ok(Taken::Enough)
    }

    /// Sends a message, however long that takes; meanwhile, directories are kept within their bound.
    fn send(&mut self, file: &SpooledFile, part: &Part<'_>) -> Delivery {
        let sender = self.sender.clone();
        let patience = self.patience.of_next();
        sender.send(part, patience, &mut |why, wait| {
            if !std::mem::replace(&mut self.is_out, true) {
                let host = self.settings.target.host();
                say::line(format_args!(
                    "{host}: {why}; trying again, recordings stay until then"
                ));
            }
            self.make_room(Removable::AllBut(file));
            // Nothing is on its way: a signal ends it at once.
            self.ending.end();
            std::thread::sleep(wait);
            self.ending.begin();
        })
    }
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
