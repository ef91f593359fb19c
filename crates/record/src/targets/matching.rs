//! Processes that are found by what they are, not by their ids.

use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::note::Note;
use foldhash::HashMap;
use regex_lite::Regex;
use rprof_ringbuf::Poller;
use std::fmt;
use std::time::{Duration, Instant};

/// Which processes are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    /// All that run as a user.
    User {
        /// The user's id.
        uid: u32,
        /// As it was asked for.
        name: String,
    },
    /// Those whose name, or whose executable's, has one of these.
    Names(Vec<NamePattern>),
}

/// A regular expression that a name has somewhere.
#[derive(Clone, Debug)]
pub struct NamePattern(Regex);

impl NamePattern {
    /// Reads one.
    ///
    /// # Errors
    /// Where it is no regular expression, as a line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parsed = Regex::new(text).map(Self);
        parsed.map_err(|error| error.to_string().replace('\n', " "))
    }
}

impl PartialEq for NamePattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for NamePattern {}

/// How often new processes are looked for, and how often older ones that execute another program.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const OLD_EVERY: u32 = 10;

impl Matching {
    /// Ids of those that run now, without the recorder.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let own = std::process::id().cast_signed();
        let mut all = rprof_process::all_processes().unwrap_or_default();
        all.retain(|&pid| pid != own && self.is(pid));
        all
    }

    fn is(&self, pid: i32) -> bool {
        match self {
            Self::User { uid, .. } => rprof_process::owner_of(pid).is_ok_and(|owner| owner == *uid),
            Self::Names(patterns) => {
                let comm = rprof_process::comm_of(pid, pid).ok();
                let names = [comm, rprof_process::program_of(pid).ok()];
                let is = |name: &[u8]| {
                    let name = String::from_utf8_lossy(name);
                    patterns.iter().any(|pattern| pattern.0.is_match(&name))
                };
                names.iter().flatten().any(|name| is(name))
            }
        }
    }

    /// Waits until there is one; returns when there was none the last time, if it was waited.
    pub(crate) fn wait(
        &self,
        interrupts: &Interrupts,
        note: &mut dyn FnMut(Note),
    ) -> Result<Option<Instant>, Error> {
        let mut before = Instant::now();
        if !self.processes().is_empty() {
            return Ok(None);
        }
        note(Note::WaitingFor(self.to_string()));
        let own = std::process::id().cast_signed();
        let mut poller = Poller::default();
        poller.add(interrupts);
        // How often each was looked at.
        let mut seen: HashMap<i32, u32> = HashMap::default();
        loop {
            let now = Instant::now();
            let mut next = HashMap::default();
            for pid in rprof_process::all_processes().map_err(Error::system("listing /proc"))? {
                let n_seen = seen.get(&pid).map_or(0, |n| n + 1);
                next.insert(pid, n_seen);
                let is_due = n_seen < OLD_EVERY || n_seen.is_multiple_of(OLD_EVERY);
                if is_due && pid != own && self.is(pid) {
                    let age = POLL_INTERVAL * if n_seen < OLD_EVERY { 0 } else { OLD_EVERY };
                    return Ok(Some(before.checked_sub(age).unwrap_or(before)));
                }
            }
            (seen, before) = (next, now);
            let waited = poller.wait(POLL_INTERVAL).map(Iterator::count);
            waited.map_err(Error::system("waiting for a process"))?;
            interrupts.check()?;
        }
    }
}

impl fmt::Display for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { name, .. } => write!(f, "processes of user {name}"),
            Self::Names(patterns) => {
                let texts: Vec<&str> = patterns.iter().map(|one| one.0.as_str()).collect();
                write!(f, "processes named {}", texts.join(" or "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_process_or_of_its_program() {
        let mut sleep = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = sleep.id().cast_signed();
        // It may not have executed the program yet.
        while rprof_process::comm_of(pid, pid).unwrap() != b"sleep" {
            std::thread::yield_now();
        }
        let names = |text: &str| Matching::Names(vec![NamePattern::parse(text).unwrap()]);
        for (text, expected) in [
            ("^sleep$", true),
            ("lee", true),
            ("^lee", false),
            ("x|p$", true),
        ] {
            assert_eq!(names(text).is(pid), expected, "{text}");
        }
        assert!(names("^sleep$").processes().contains(&pid));
        let own = std::process::id().cast_signed();
        assert!(!names("").processes().contains(&own));
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        assert!(!names("").is(pid));
        assert!(NamePattern::parse("(").is_err());
        assert_eq!(names("a"), names("a"));
    }
}
