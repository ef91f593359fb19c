//! `rprof push`.
//!
//! Recordings stay where they are until they are delivered, and what is delivered is noted beside them. So the command
//! may end at any moment, by any signal: the next run sends the rest.

mod delivering;
mod ending;
mod parts;
mod pushing;
mod recording;
mod retry_timeout;
mod room;
mod spool;
mod state;

use crate::args::PushArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Result, bail};
use ending::Ending;
use pushing::{Counts, Push, Settings};
use recording::Pushed;
use room::Removable;
use rprof_base::Counted;
use rprof_push::{Credentials, Error, Labels, PushTarget, Sender, SenderSettings};
use spool::{Scan, Spool, SpooledFile};
use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How often directories are looked at.
const POLL: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &PushArgs) -> Result<ExitCode> {
    let target = PushTarget::parse(&args.to, args.protocol).map_err(usage)?;
    let labels = Labels::parse(&args.labels).map_err(usage)?;
    let credentials = Credentials::new(args.token_file.as_deref(), args.user.as_deref())?;
    let settings = SenderSettings {
        credentials,
        token_over_http: args.token_over_http,
        ca_file: args.ca_file.clone(),
        timeout: args.timeout,
        secret_labels: labels.clone(),
    };
    let sender = Sender::new(target.clone(), settings).map_err(|error| match error {
        error @ Error::Plain { .. } => usage(error),
        error => error.into(),
    })?;
    let spool = Spool::new(&args.paths, &target, args.follow)?;
    let settings = Settings {
        args,
        target,
        labels,
    };
    let ending = Ending::listen(args.follow)?;
    let mut push = Push::new(settings, spool, sender, ending);
    push.open_ledgers()?;
    if args.follow {
        return push.follow();
    }
    let scan = push.spool.scan()?;
    push.round(&scan)?;
    push.finish(&scan)
}

impl Push<'_> {
    /// Goes on until a signal ends it.
    fn follow(mut self) -> Result<ExitCode> {
        let mut said = HashSet::new();
        loop {
            let scan = self.spool.scan()?;
            say_left_out(&scan, &mut said);
            self.watch(&scan);
            self.round(&scan)?;
            std::thread::sleep(POLL);
        }
    }

    /// Pushes all that is there, and notes what could not be noted before.
    fn round(&mut self, scan: &Scan) -> Result<()> {
        let pushed = self.all(scan);
        self.save_ledgers()?;
        pushed
    }

    fn all(&mut self, scan: &Scan) -> Result<()> {
        let n_before = self.counts.messages;
        for file in self.due(scan) {
            match self.recording(file)? {
                Pushed::Delivered { samples } => self.delivered(file, samples),
                Pushed::Before => {
                    self.counts.before += 1;
                    self.is_done(&file.stamp);
                }
                Pushed::Later if self.settings.args.follow || !file.path.exists() => {}
                Pushed::Later => {
                    let path = file.path.display();
                    say::warning(format_args!("{path} changed while it was read"));
                    self.set_aside.insert(file.stamp);
                }
                Pushed::PutOff => self.put_off(file.stamp),
                Pushed::SetAside => {
                    self.set_aside.insert(file.stamp);
                }
            }
        }
        self.clean(scan);
        if self.counts.messages == n_before {
            self.make_room_in(scan, Removable::All);
        } else {
            // That took some time.
            self.make_room(Removable::All);
        }
        Ok(())
    }

    fn delivered(&mut self, file: &SpooledFile, samples: u64) {
        self.counts.recordings += 1;
        self.counts.samples += samples;
        self.is_done(&file.stamp);
        if self.settings.args.follow && std::io::stderr().is_terminal() {
            let samples = Counted::new(samples, "sample", "samples");
            say::line(format_args!("pushed {} ({samples})", file.path.display()));
        }
        // What is still to be tried is not deleted before that.
        self.make_room(Removable::Delivered);
    }

    /// Says what was done, and fails if something is left.
    fn finish(&self, scan: &Scan) -> Result<ExitCode> {
        for path in &scan.unfinished {
            let path = path.display();
            say::warning(format_args!(
                "{path} is left out: it is still being recorded, or its recorder was killed (then push it by name)"
            ));
        }
        say_left_out(scan, &mut HashSet::new());
        let host = self.settings.target.host();
        if scan.files.is_empty() {
            bail!("no complete recordings there");
        }
        let left = self.n_left();
        if left > 0 {
            let recordings = Counted::new(left, "recording", "recordings");
            bail!(
                "{recordings} could not be delivered to {host}: run the command again to push the rest"
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

/// Says once of each recording that is left out why it is.
fn say_left_out(scan: &Scan, said: &mut HashSet<PathBuf>) {
    for (path, why) in &scan.left_out {
        if said.insert(path.clone()) {
            let path = path.display();
            say::warning(format_args!("{path} is left out: {why}"));
        }
    }
    said.retain(|path| scan.left_out.iter().any(|(left, _)| left == path));
}
