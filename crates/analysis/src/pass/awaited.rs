//! Locks that samples are told apart by.

use super::places::{PlaceNumbers, Places};
use super::tallied::Tallied;
use crate::lock_sites::{LockNames, LockSite};
use crate::recording::Recording;
use rprof_symbols::Demangling;
use std::sync::OnceLock;

/// Locks by number, and what they are called.
#[derive(Debug)]
pub(super) struct GroupedLocks<'a> {
    recording: &'a Recording<'a>,
    sites: Places<LockSite>,
    /// Of all of them, once they are asked for.
    names: OnceLock<LockNames>,
}

impl<'a> GroupedLocks<'a> {
    /// None yet, of a recording.
    pub(super) fn of(recording: &'a Recording<'a>) -> Self {
        Self {
            recording,
            sites: Places::new(recording.reader.budget()),
            names: OnceLock::new(),
        }
    }

    /// The number of the lock that a sample is a wait for; `None` if it is none.
    pub(super) fn number(
        &self,
        tallied: &Tallied<'_, '_>,
        numbers: &mut PlaceNumbers,
    ) -> Option<u64> {
        let history = &self.recording.index.history;
        let site = LockSite::of(history, tallied.mappings, tallied.decoded.lock?);
        Some(numbers.of_lock(&self.sites, site))
    }

    /// The lock with a number: what has a name, and how far it is into that; else its address.
    pub(super) fn text(&self, number: u64, demangling: Demangling) -> String {
        let Some(lock) = self.sites.of(number) else {
            return "[unknown]".to_owned();
        };
        let find = || LockNames::of(self.recording, &self.sites.all(), demangling);
        let name = self.names.get_or_init(find).name(lock);
        name.map_or_else(|| format!("{:#x}", lock.avma), str::to_owned)
    }

    /// What was left out.
    pub(super) fn warning(&self) -> Option<String> {
        self.sites.warning()
    }
}
