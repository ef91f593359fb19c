//! Where the user chains are that the kernel wrote after their samples.

use rprof_machine::Key;

/// Where deferred user chains are, by cookie and moment.
#[derive(Debug, Default)]
pub(crate) struct DeferredChains(Vec<(u64, Key)>);

impl DeferredChains {
    /// Adds the chain of a cookie.
    pub(super) fn add(&mut self, cookie: u64, key: Key) {
        self.0.push((cookie, key));
    }

    /// Makes them ready to be looked up.
    pub(super) fn finish(&mut self) {
        self.0.sort_unstable();
    }

    /// The first chain of this cookie after a sample (cookies of a CPU may come round again): where
    /// in the file. By time: another CPU's ring may have been written before.
    pub(crate) fn after(&self, cookie: u64, key: Key) -> Option<u64> {
        let at = self.0.partition_point(|&one| one < (cookie, key));
        let &(found, key) = self.0.get(at)?;
        (found == cookie).then_some(key.offset)
    }
}
