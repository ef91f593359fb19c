//! `rprof push`.
//!
//! Recordings stay where they are until they are delivered, and what is delivered is noted beside them. So the command
//! may end at any moment, by any signal: the next run sends the rest.

mod parts;
mod pushing;
mod recording;
mod room;
mod spool;

use crate::args::PushArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Result, bail};
use pushing::{Counts, Push, Settings};
use recording::Pushed;
use room::Removable;
use rprof_base::Counted;
use rprof_push::{Credentials, Error, Labels, Ledger, PushTarget, Sender, SenderSettings};
use spool::{Scan, Spool};
use std::collections::HashSet;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

/// How often directories are looked at.
const POLL: Duration = Duration::from_secs(1);

/// How long a message is tried if nothing else is said, without `--follow`.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &PushArgs) -> Result<ExitCode> {
    let target = PushTarget::parse(&args.to, args.protocol).map_err(usage)?;
    let labels = Labels::parse(&args.labels).map_err(usage)?;
    let credentials = Credentials::new(args.token_file.as_deref(), args.user.as_deref())?;
    let give_up_after = match (args.give_up_after, args.follow) {
        (Some(time), _) => Some(time),
        (None, true) => None,
        (None, false) => Some(GIVE_UP_AFTER),
    };
    let settings = SenderSettings {
        credentials,
        token_over_http: args.token_over_http,
        ca_file: args.ca_file.clone(),
        timeout: args.timeout,
        give_up_after,
        secret_labels: labels.clone(),
    };
    let sender = Sender::new(target.clone(), settings).map_err(|error| match error {
        error @ Error::Plain { .. } => usage(error),
        error => error.into(),
    })?;
    let mut push = Push {
        spool: Spool::new(&args.paths, &target)?,
        settings: Settings {
            args,
            target,
            labels,
        },
        sender,
        set_aside: HashSet::new(),
        counts: Counts::default(),
        is_out: false,
        is_memory_said: false,
    };
    push.open_ledgers()?;
    if args.follow {
        return push.follow();
    }
    let scan = push.spool.scan()?;
    push.all(&scan)?;
    push.finish(&scan)
}

impl Push<'_> {
    /// Goes on until a signal ends it.
    fn follow(mut self) -> Result<ExitCode> {
        loop {
            let scan = self.spool.scan()?;
            self.all(&scan)?;
            let unsaved = self.spool.ledgers.iter().position(Ledger::is_unsaved);
            if let Some(ledger) = unsaved.and_then(|number| self.spool.ledgers.get_mut(number)) {
                let saved = ledger.save_all();
                self.noted(saved)?;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Pushes all that is there.
    fn all(&mut self, scan: &Scan) -> Result<()> {
        self.spool.clean(scan);
        for file in &scan.files {
            if self.set_aside.contains(&file.stamp) {
                continue;
            }
            match self.recording(file)? {
                Pushed::Delivered { samples } => {
                    self.counts.recordings += 1;
                    self.counts.samples += samples;
                    if self.settings.args.follow && std::io::stderr().is_terminal() {
                        let samples = Counted::new(samples, "sample", "samples");
                        say::line(format_args!("pushed {} ({samples})", file.path.display()));
                    }
                    // What is still to be tried is not deleted before that.
                    self.make_room(Removable::Delivered);
                }
                Pushed::Before => self.counts.before += 1,
                Pushed::Later if self.settings.args.follow || !file.path.exists() => {}
                Pushed::Later => {
                    let path = file.path.display();
                    say::warning(format_args!("{path} changed while it was read"));
                    self.set_aside.insert(file.stamp);
                }
                Pushed::SetAside => {
                    self.set_aside.insert(file.stamp);
                }
            }
        }
        self.make_room(Removable::All);
        Ok(())
    }

    /// Says what was done, and fails if something is left.
    fn finish(&self, scan: &Scan) -> Result<ExitCode> {
        for path in &scan.unfinished {
            let path = path.display();
            say::warning(format_args!(
                "{path} is left out: it is still being recorded, or its recorder was killed (then push it by name)"
            ));
        }
        let host = self.settings.target.host();
        if scan.files.is_empty() {
            bail!("no complete recordings there");
        }
        let left = self.set_aside.len() as u64;
        if left > 0 {
            let recordings = Counted::new(left, "recording", "recordings");
            bail!(
                "{recordings} could not be delivered to {host}; the command pushes what is left when it runs again"
            );
        }
        let Counts {
            recordings,
            samples,
            messages,
            before,
        } = self.counts;
        let earlier = match before {
            0 => String::new(),
            before => format!("; {before} delivered before"),
        };
        let recordings = Counted::new(recordings, "recording", "recordings");
        let samples = Counted::new(samples, "sample", "samples");
        let messages = Counted::new(messages, "message", "messages");
        say::line(format_args!(
            "pushed {recordings} ({samples}, {messages}) to {host}{earlier}"
        ));
        Ok(ExitCode::SUCCESS)
    }
}
