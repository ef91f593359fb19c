//! What is said of time that is in no account, or only in part.

use rprof_base::{Counted, Millis};

/// What is said of what could not be accounted for.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Threads of which there is only a name.
    pub(super) n_silent: u64,
    /// Waits that go on.
    pub(super) n_open: u64,
    /// Waits that began before anything was recorded of their thread.
    pub(super) n_begun: u64,
    /// Waits and runs in which records were lost.
    pub(super) n_unknown: u64,
    pub(super) unknown_ns: u64,
    /// Threads that ran without a sample, and how long that was.
    pub(super) n_unsampled: u64,
    pub(super) unsampled_ns: u64,
    /// Waits of threads that may have been on CPUs that were not recorded.
    pub(super) n_elsewhere: u64,
    pub(super) elsewhere_ns: u64,
    /// Pauses of the recording, after something was known of a thread.
    pub(super) n_pauses: u64,
    pub(super) paused_ns: u64,
}

impl Told {
    /// Records were lost in a wait or a run.
    pub(super) fn note_lost(&mut self, ns: u64) {
        self.n_unknown += 1;
        self.unknown_ns = self.unknown_ns.saturating_add(ns);
    }

    /// A thread may have been on a CPU that was not recorded.
    pub(super) fn note_elsewhere(&mut self, ns: u64) {
        self.n_elsewhere += 1;
        self.elsewhere_ns = self.elsewhere_ns.saturating_add(ns);
    }

    /// The recording was paused.
    pub(super) fn note_pause(&mut self, is_anything_known: bool, ns: u64) {
        if is_anything_known {
            self.n_pauses += 1;
            self.paused_ns = self.paused_ns.saturating_add(ns);
        }
    }

    /// A sentence for each; with that of contradictions.
    pub(super) fn warnings(&self, contradictions: Option<String>, n_bad: u64) -> Vec<String> {
        let waits = |n| Counted::new(n, "wait", "waits");
        let ms = |ns: u64| format!("{} ms", Millis(ns));
        let mut all = Vec::new();
        let mut say = |n: u64, text: String| all.extend((n > 0).then_some(text));
        say(
            self.n_open,
            format!(
                "{} had not ended when the recording did, counted up to there",
                waits(self.n_open)
            ),
        );
        say(
            self.n_begun,
            format!(
                "{} had begun before anything was recorded of the thread, not counted",
                waits(self.n_begun)
            ),
        );
        say(
            self.n_unknown,
            format!(
                "{} ({}) not counted: records were lost meanwhile (record with a larger -m)",
                Counted::new(self.n_unknown, "wait or run", "waits and runs"),
                ms(self.unknown_ns)
            ),
        );
        say(
            self.n_elsewhere,
            format!(
                "{} ({}) not counted: threads may have run on CPUs that were not recorded (-C)",
                waits(self.n_elsewhere),
                ms(self.elsewhere_ns)
            ),
        );
        say(
            self.n_pauses,
            format!(
                "recording was paused {} ({}): what threads did then is unknown, not counted",
                Counted::new(self.n_pauses, "time", "times"),
                ms(self.paused_ns)
            ),
        );
        say(
            u64::from(contradictions.is_some()),
            contradictions.unwrap_or_default(),
        );
        say(
            self.n_silent,
            format!(
                "{} did not run while recorded: time spent waiting is not counted",
                Counted::new(self.n_silent, "thread", "threads")
            ),
        );
        say(
            self.n_unsampled,
            format!(
                "{} ran for {} without a sample: that time has no stack",
                Counted::new(self.n_unsampled, "thread", "threads"),
                ms(self.unsampled_ns)
            ),
        );
        say(
            n_bad,
            format!(
                "{} ignored",
                Counted::new(n_bad, "damaged record was", "damaged records were")
            ),
        );
        all
    }
}
