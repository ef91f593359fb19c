//! The messages of a recording: each is sent until the server has it, refuses it, or others go first.

use super::parts::{Message, Taken, each_message};
use super::pushing::Push;
use super::room::Removable;
use super::spool::SpooledFile;
use crate::say;
use anyhow::{Result, bail};
use rprof_profile::CountedStacks;
use rprof_push::{Delivery, Part, PartId};
use std::collections::HashMap;
use std::time::Duration;

/// What came of a recording's messages so far.
pub(super) struct Progress {
    pub(super) content: String,
    /// Parts that were delivered in earlier runs.
    pub(super) n_before: usize,
    /// Those of them that it still has.
    pub(super) n_met: usize,
    /// How often there was a part with the same bytes.
    pub(super) n_equal: HashMap<PartId, u64>,
    pub(super) is_refused: bool,
    pub(super) is_put_off: bool,
    pub(super) n_cut_samples: u64,
}

impl Progress {
    /// Of a recording with these contents, of which so many parts were delivered before.
    pub(super) fn new(content: String, n_before: usize) -> Self {
        Self {
            content,
            n_before,
            n_met: 0,
            n_equal: HashMap::new(),
            is_refused: false,
            is_put_off: false,
            n_cut_samples: 0,
        }
    }
}

impl Push<'_> {
    /// Delivers all messages that the server does not have yet.
    pub(super) fn messages(
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
            Delivery::GaveUp { why, after } => {
                self.retry_timeout.failed(after);
                self.gave_up(file, &why, progress)
            }
        }
    }

    /// A message could not be delivered in its time: another one says whether it is the message or the server.
    fn gave_up(&mut self, file: &SpooledFile, why: &str, progress: &mut Progress) -> Result<Taken> {
        let host = self.settings.target.host();
        if self.retry_timeout.is_over() {
            bail!(
                "{host}: {why}; not everything is delivered: run the command again to push the rest"
            );
        }
        progress.is_put_off = true;
        if self.retry_timeout.is_one() {
            let path = file.path.display();
            say::warning(format_args!(
                "{path} is put off: {host} does not take all of it ({why})"
            ));
            return Ok(Taken::Done);
        }
        Ok(Taken::Enough)
    }

    /// Sends a message, however long that takes.
    fn send(&mut self, file: &SpooledFile, part: &Part<'_>) -> Delivery {
        if let Some(wait) = self.retry_timeout.quiet() {
            let why = "it wants nothing now";
            if !self.settings.args.follow {
                return Delivery::GaveUp {
                    why: why.to_owned(),
                    after: None,
                };
            }
            self.wait(file, why, wait);
        }
        let sender = self.sender.clone();
        let timeout = self.retry_timeout.of_next();
        sender.send(part, timeout, &mut |why, wait| self.wait(file, why, wait))
    }

    /// Waits for the server; meanwhile, directories are kept within their bound.
    fn wait(&mut self, file: &SpooledFile, why: &str, wait: Duration) {
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
    }
}
