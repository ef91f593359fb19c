//! A run of the command: what it pushes, what it has done so far, and what it says while it goes on.

use super::ending::Ending;
use super::retry_timeout::RetryTimeout;
use super::room::{self, Removable};
use super::spool::{Scan, Spool, SpooledFile};
use crate::args::PushArgs;
use crate::say;
use anyhow::Result;
use rprof_perfdata::Reader;
use rprof_push::{Error, FileStamp, Labels, Ledger, PushTarget, Sender};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a recording waits at first, if the server takes others and not this one.
const PUT_OFF: Duration = Duration::from_secs(300);

/// How long at most.
const LONGEST_PUT_OFF: Duration = Duration::from_secs(3600);

/// How often notes on recordings that are gone are looked at.
const CLEAN_EVERY: Duration = Duration::from_secs(3600);

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

/// When a recording is tried again.
#[derive(Clone, Copy, Debug)]
struct PutOff {
    until: Instant,
    wait: Duration,
}

/// A run of the command.
pub(super) struct Push<'a> {
    pub(super) settings: Settings<'a>,
    pub(super) spool: Spool,
    pub(super) sender: Sender,
    pub(super) ending: Ending,
    pub(super) retry_timeout: RetryTimeout,
    /// Files that the server or nobody can take, by where they are: not tried again in this run.
    pub(super) set_aside: HashSet<FileStamp>,
    /// Files that the server does not take now.
    put_off: HashMap<FileStamp, PutOff>,
    /// Files of directories that are not delivered yet.
    waiting: HashMap<FileStamp, PathBuf>,
    /// When notes were cleaned.
    cleaned: Option<Instant>,
    pub(super) counts: Counts,
    /// The server was told of as one that takes nothing now.
    pub(super) is_out: bool,
    /// It was said that notes are in memory only.
    is_memory_said: bool,
}

impl<'a> Push<'a> {
    pub(super) fn new(
        settings: Settings<'a>,
        spool: Spool,
        sender: Sender,
        ending: Ending,
    ) -> Self {
        let args = settings.args;
        Self {
            retry_timeout: RetryTimeout::new(args.give_up_after, args.follow),
            settings,
            spool,
            sender,
            ending,
            set_aside: HashSet::new(),
            put_off: HashMap::new(),
            waiting: HashMap::new(),
            cleaned: None,
            counts: Counts::default(),
            is_out: false,
            is_memory_said: false,
        }
    }

    /// Reads what is noted. Where no notes can be written, they are kept in memory.
    pub(super) fn open_ledgers(&mut self) -> Result<()> {
        for number in 0..self.spool.ledgers.len() {
            let opened = self.spool.ledgers.get_mut(number).map(Ledger::open);
            self.noted(opened.unwrap_or(Ok(())))?;
        }
        Ok(())
    }

    /// Writes what could not be written before.
    pub(super) fn save_ledgers(&mut self) -> Result<()> {
        for number in 0..self.spool.ledgers.len() {
            let saved = self.spool.ledgers.get_mut(number).map(Ledger::save_all);
            self.noted(saved.unwrap_or(Ok(())))?;
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

    /// The recordings to try now, in order: those that have ended a run come last.
    pub(super) fn due<'s>(&self, scan: &'s Scan) -> Vec<&'s SpooledFile> {
        let now = Instant::now();
        let is_due = |file: &&SpooledFile| {
            let put_off = self.put_off.get(&file.stamp);
            let is_put_off = put_off.is_some_and(|one| now < one.until);
            // While the server takes nothing, all of them are tried.
            !self.set_aside.contains(&file.stamp)
                && (!is_put_off || self.retry_timeout.is_server_out())
        };
        let mut due: Vec<&SpooledFile> = scan.files.iter().filter(is_due).collect();
        due.sort_by_key(|file| {
            let ledger = self.spool.ledgers.get(file.directory);
            ledger.is_some_and(|ledger| ledger.has_ended_a_run(&file.stamp))
        });
        due
    }

    /// The server does not take a recording now.
    pub(super) fn put_off(&mut self, stamp: FileStamp) {
        let known = self.put_off.get(&stamp);
        let wait = known.map_or(PUT_OFF, |known| (known.wait * 2).min(LONGEST_PUT_OFF));
        let until = Instant::now() + wait;
        self.put_off.insert(stamp, PutOff { until, wait });
    }

    /// The server answers: what is put off because it took nothing is tried again.
    pub(super) fn answered(&mut self) {
        if self.retry_timeout.answered() {
            self.put_off.clear();
        }
    }

    /// How many recordings are left.
    pub(super) fn n_left(&self) -> u64 {
        let put_off = self.put_off.keys();
        let others = put_off.filter(|stamp| !self.set_aside.contains(stamp));
        (self.set_aside.len() + others.count()) as u64
    }

    /// Says which recordings are gone that were not delivered: their recorder may keep only so many. Those that are there
    /// are waited for.
    pub(super) fn watch(&mut self, scan: &Scan) {
        let there: HashSet<FileStamp> = scan.files.iter().map(|file| file.stamp).collect();
        for (stamp, path) in &self.waiting {
            if !scan.has(stamp) {
                let path = path.display();
                say::warning(format_args!("{path} is gone, and was not delivered"));
            }
        }
        let files = scan.files.iter();
        let files = files.filter(|file| !self.is_delivered(file));
        self.waiting = files.map(|file| (file.stamp, file.path.clone())).collect();
        let is_there = |stamp: &FileStamp| there.contains(stamp);
        self.put_off.retain(|stamp, _| is_there(stamp));
        if self.settings.args.follow {
            self.set_aside.retain(is_there);
        }
    }

    /// A recording is delivered, or was deleted by us.
    pub(super) fn is_done(&mut self, stamp: &FileStamp) {
        self.waiting.remove(stamp);
        self.put_off.remove(stamp);
    }

    fn is_delivered(&self, file: &SpooledFile) -> bool {
        let ledger = self.spool.ledgers.get(file.directory);
        ledger.is_some_and(|ledger| {
            let content = ledger.content(&file.stamp);
            let known = content.and_then(|content| ledger.recording(content));
            known.is_some_and(|known| known.is_delivered)
        })
    }

    /// Forgets recordings that have long been gone, now and then.
    pub(super) fn clean(&mut self, scan: &Scan) {
        let is_time = |then: Instant| then.elapsed() >= CLEAN_EVERY;
        if self.cleaned.is_none_or(is_time) {
            self.cleaned = Some(Instant::now());
            self.spool.clean(scan);
        }
    }

    /// Keeps within `--max-disk`.
    pub(super) fn make_room(&mut self, removable: Removable<'_>) {
        if self.settings.args.max_disk.is_none() {
            return;
        }
        // What cannot be read now is read next time.
        if let Ok(scan) = self.spool.scan() {
            self.make_room_in(&scan, removable);
        }
    }

    /// The same in directories that were looked at a moment ago.
    pub(super) fn make_room_in(&mut self, scan: &Scan, removable: Removable<'_>) {
        let Some(max_bytes) = self.settings.args.max_disk else {
            return;
        };
        let limits = self.settings.args.limits;
        let count = |file: &SpooledFile| {
            let opened = file.open().ok()??;
            let reader = Reader::from_file_allowing(&file.path, opened, limits.allowed()).ok()?;
            let options = rprof_analysis::Options::default();
            let profile = rprof_analysis::load(&reader, &options, &mut |_| {}).ok()?;
            Some(profile.events.iter().map(|event| event.samples).sum())
        };
        let limit = room::Limit {
            max_bytes,
            removable,
            refused: &self.set_aside,
        };
        let removed = room::make_room(&mut self.spool, scan, &limit, &count);
        removed.iter().for_each(|stamp| self.is_done(stamp));
    }
}
