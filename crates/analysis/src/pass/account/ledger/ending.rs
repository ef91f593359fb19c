//! How accounts end: what is still going on, and what no sample has.

use super::Ledger;
use crate::Error;
use crate::samples::AccountedSamples;
use foldhash::HashMap;
use rprof_scheduling::{Open, SwitchState, ThreadRun};

impl Ledger<'_> {
    /// Ends all that is still going on.
    pub(in crate::pass::account) fn finish(
        mut self,
        end_ns: u64,
        n_bad: u64,
    ) -> Result<AccountedSamples, Error> {
        self.pause_until(end_ns);
        for (tid, open) in self.scheduler.open() {
            self.end(tid, &open, end_ns);
        }
        let mut all: Vec<i32> = self.threads.keys().copied().collect();
        all.sort_unstable();
        all.into_iter().for_each(|tid| self.charge_rest(tid));
        let has_enters = self.followed.is_everybody() || self.followed.has_records;
        if self.lacks_enters && !has_enters && self.lost.is_empty() {
            return Err(Error::NoSwitchesIn);
        }
        let tasks = self.foreign.iter().map(|&tid| (tid, self.pid(tid)));
        let tasks: HashMap<i32, i32> = tasks.collect();
        let contradictions = self.scheduler.contradictions();
        let contradictions = contradictions.warning(self.lost.is_empty());
        let warnings = self.told.warnings(contradictions, n_bad);
        let is_cut = self.cut.is_some();
        let all = (self.samples, self.sample_spans, self.sample_locks);
        let mut samples = AccountedSamples::new(self.sources.account, all, tasks, warnings);
        samples.is_cut = is_cut;
        Ok(samples)
    }

    /// The offsets of records with which waits began that still go on. Waits in which records were lost are not known to.
    pub(in crate::pass::account) fn open_waits(&mut self, end_ns: u64) -> Vec<u64> {
        self.pause_until(end_ns);
        let mut offsets = Vec::new();
        for (tid, open) in self.scheduler.open() {
            let began_ns = open.wait.map_or(end_ns, |wait| wait.start_ns);
            let thread = self.threads.get(&tid);
            let thread = thread.filter(|thread| !thread.has_exited && open.start_ns.is_none());
            if let Some(thread) = thread.filter(|_| self.lost.first(began_ns, end_ns).is_none()) {
                let left = thread.left.map(|left| left.offset);
                offsets.extend(
                    left.into_iter()
                        .chain(thread.left_at)
                        .chain(thread.woken_at),
                );
            }
        }
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    fn end(&mut self, tid: i32, open: &Open, end_ns: u64) {
        let thread = self.threads.entry(tid).or_default();
        // What comes after its end is no wait.
        if thread.has_exited {
            return;
        }
        let waits_until = open.start_ns.unwrap_or(end_ns);
        if let Some(start_ns) = open.start_ns {
            let cpu = self.scheduler.cpu_of(tid).unwrap_or(u32::MAX);
            self.charge((tid, cpu), start_ns, end_ns);
        } else {
            // Those of a part go on in the next one.
            let is_counted = !self.is_part && !self.followed.misses_cpus;
            self.told.n_open += u64::from(is_counted);
        }
        self.is_over = open.start_ns.is_none();
        self.add_wait(tid, (open.wait, open.woken), waits_until);
        if let Some((start_ns, cpu)) = open.start_ns.zip(self.scheduler.cpu_of(tid)) {
            let run = ThreadRun {
                tid,
                cpu,
                start_ns: Some(start_ns),
                end_ns,
                state: SwitchState::Unknown,
                wait: None,
                woken: None,
                is_lost: false,
                is_wait_lost: false,
            };
            self.tell_run(&run, None);
        }
    }
}
