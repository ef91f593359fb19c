//! Which part of the time of threads is shown: on CPUs, waiting, or both.

use super::{App, Effect};
use crate::face::{SampleScope, ScopeAnswer};
use rprof_profile::view::SortKey;
use rprof_profile::{Account, Dimension, WAIT_DIMENSIONS};

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

/// The dimensions of waits among keys.
fn dimensions_of(keys: &[SortKey]) -> Vec<Dimension> {
    let keys = keys.iter().copied().filter(|&key| is_of_waits(key));
    SortKey::dimensions(&keys.collect::<Vec<_>>())
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
        let mut keys = self.cx.by.keys.clone();
        if account == Account::OnCpu {
            keys.retain(|&key| !is_of_waits(key));
        }
        if keys.is_empty() {
            keys = SortKey::DEFAULT.to_vec();
        }
        self.ask_scope(account, keys)
    }

    /// Asks for samples that have what rows are to be grouped by.
    fn ask_scope(&mut self, account: Account, keys: Vec<SortKey>) -> Effect {
        let by = dimensions_of(&keys);
        let scope = SampleScope { account, by };
        self.awaited = None;
        self.awaited_scope = Some((scope.clone(), keys));
        Effect::Scope(scope)
    }

    /// Groups rows by keys, if need be of samples that are read again.
    pub(super) fn group_by(&mut self, keys: Vec<SortKey>) -> Effect {
        let known = &self.cx.scope.by;
        if dimensions_of(&keys).iter().all(|one| known.contains(one)) {
            self.cx.by.keys = keys;
            self.show_rows();
            return Effect::None;
        }
        self.ask_scope(self.cx.scope.account, keys)
    }

    /// The samples that were asked for, if they are still wanted.
    pub fn take_scope(&mut self, answer: ScopeAnswer) {
        let ScopeAnswer { wanted, data } = answer;
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
            self.say(&format!("{name}; w: the next of CPUs, waiting and both"));
        }
        let has_other_keys = keys != self.cx.by.keys;
        self.cx.by.keys = keys;
        self.put_data(data);
        if has_other_keys && !is_other {
            self.show_rows();
        }
    }
}
