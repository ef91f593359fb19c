//! Which part of the time of threads is shown: on CPUs, waiting, or both.

use super::{App, Effect};
use crate::face::{SampleScope, ScopeAnswer};
use rprof_profile::view::SortKey;
use rprof_profile::{Account, WAIT_DIMENSIONS};

/// What a part of time is called.
pub(super) const fn name_of(account: Account) -> &'static str {
    match account {
        Account::OnCpu => "time on CPUs",
        Account::OffCpu => "time spent waiting",
        Account::Wall => "time on CPUs and waiting",
    }
}

/// Whether a key is of waits: samples as they were recorded have no value in it.
fn is_of_waits(key: SortKey) -> bool {
    matches!(key, SortKey::Dimension(one) if WAIT_DIMENSIONS.contains(&one))
}

impl App {
    /// Asks for the next part of the time of threads.
    pub(super) fn next_account(&mut self) -> Effect {
        let accounts = &self.cx.accounts;
        let at = accounts
            .iter()
            .position(|&one| one == self.cx.scope.account);
        let next = at.and_then(|at| accounts.get((at + 1) % accounts.len()));
        let next = next.copied().filter(|&one| one != self.cx.scope.account);
        let Some(account) = next else {
            self.say(if self.cx.is_live {
                "what rprof top records is chosen at its start: --off-cpu, --wall"
            } else {
                "the recording does not say when threads waited: use rprof record --off-cpu"
            });
            return Effect::None;
        };
        let awaited = self.awaited_scope.as_ref();
        let keys = awaited.map_or(&self.cx.by.keys, |(_, keys)| keys).clone();
        self.ask_scope(account, keys)
    }

    /// Asks for samples that have what rows are to be grouped by, unless such are awaited already. The reader answers the
    /// last request: nothing else is awaited any more.
    fn ask_scope(&mut self, account: Account, mut keys: Vec<SortKey>) -> Effect {
        if account == Account::OnCpu {
            keys.retain(|&key| !is_of_waits(key));
        }
        if keys.is_empty() {
            keys = SortKey::DEFAULT.to_vec();
        }
        let by = SortKey::dimensions(&keys);
        (self.awaited, self.awaited_comparison) = (None, None);
        if let Some((awaited, awaited_keys)) = &mut self.awaited_scope
            && awaited.account == account
            && by.iter().all(|one| awaited.by.contains(one))
        {
            *awaited_keys = keys;
            return Effect::None;
        }
        let scope = SampleScope { account, by };
        self.awaited_scope = Some((scope.clone(), keys));
        self.read_asked();
        Effect::Scope(scope)
    }

    /// Samples are asked for. One request is being read; of those that wait, the reader answers the last.
    pub(super) fn read_asked(&mut self) {
        self.n_reads = (self.n_reads + 1).min(2);
    }

    /// A request was answered.
    pub(super) fn read_answered(&mut self) {
        self.n_reads = self.n_reads.saturating_sub(1);
    }

    /// Whether the samples at hand have what rows would be grouped by.
    pub(super) fn has_keys(&self, keys: &[SortKey]) -> bool {
        let known = &self.cx.scope.by;
        SortKey::dimensions(keys)
            .iter()
            .all(|one| known.contains(one))
    }

    /// Groups rows by keys, if need be of samples that are read again.
    pub(super) fn group_by(&mut self, keys: Vec<SortKey>) -> Effect {
        let shown = self.cx.scope.account;
        let awaited = self.awaited_scope.as_ref();
        let account = awaited.map_or(shown, |(scope, _)| scope.account);
        if self.has_keys(&keys) {
            self.cx.by.keys.clone_from(&keys);
            self.show_rows();
            if account == shown {
                // What is awaited was to be grouped otherwise.
                self.awaited_scope = None;
                return Effect::None;
            }
        }
        self.ask_scope(account, keys)
    }

    /// The samples that were asked for, if they are still wanted.
    pub fn take_scope(&mut self, answer: ScopeAnswer) {
        let ScopeAnswer { wanted, data } = answer;
        self.read_answered();
        let awaited = self.awaited_scope.take_if(|(scope, _)| *scope == wanted);
        let Some((_, keys)) = awaited else {
            return;
        };
        let data = match data {
            Ok(data) => data,
            Err(why) => {
                self.message = Some(why);
                return;
            }
        };
        self.before_change();
        let is_other = data.scope.account != self.cx.scope.account;
        if is_other {
            let (account, event) = self.first;
            let events = &data.sampled.profile.events;
            self.cx.event = if account == data.scope.account {
                event
            } else {
                let has_samples = events.iter().position(|event| event.samples > 0);
                has_samples.unwrap_or(0)
            };
            let name = name_of(data.scope.account);
            self.say(&format!("{name}; w: next (CPU, waiting, both)"));
        }
        let has_other_keys = keys != self.cx.by.keys;
        self.cx.by.keys = keys;
        self.put_data(data);
        if has_other_keys && !is_other {
            self.show_rows();
        }
    }
}
