//! When threads waited, for what, and who woke them: the longest waits, and sums of all of them.

use super::columns::{difference, unsigned};
use super::wait_groups::{Likeness, WaitGroup, groups};
use rprof_profile::{SampledProfile, StrId, TimedWait};
use rprof_scheduling::Cause as WaitedFor;
use rprof_untrusted::printable;
use std::cmp::Reverse;

/// Waits of a page, at most: the longest.
const MAX_WAITS: usize = 30_000;

/// What is waited for: the number of its text, and its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) name: u32,
    pub(super) color: [u8; 3],
}

/// Waits by thread, within one in order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct PageWaits {
    rows: Vec<WaitRow>,
    causes: Vec<Cause>,
    /// Sums of all waits, if `rows` lacks some.
    groups: Vec<WaitGroup>,
    n_threads: usize,
    /// With those that are not the longest.
    n_all: u64,
}

/// A wait in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WaitRow {
    thread: u32,
    /// Since the first sample; a wait may begin before it.
    begin: u64,
    length: u64,
    /// Twice the number of its cause, and one more if a wake-up ended it.
    cause: u64,
    /// 0 if nobody is known; else one more than twice a thread, or two more than twice a text.
    waker: u64,
}

impl PageWaits {
    /// The longest waits of a profile; `number` is that of a text.
    pub(super) fn of(sampled: &SampledProfile, mut number: impl FnMut(&str) -> u32) -> Self {
        let start_ns = sampled.samples.span_ns().map_or(0, |span| *span.start());
        let mut causes: Vec<StrId> = Vec::new();
        let mut page = Self {
            n_threads: sampled.threads.len(),
            n_all: sampled.waits.len() as u64,
            ..Self::default()
        };
        let strings = &sampled.profile.strings;
        let mut row = |wait: &TimedWait| {
            let known = causes.iter().position(|&cause| cause == wait.cause);
            let cause = known.unwrap_or_else(|| {
                let name = strings.of(wait.cause).into_raw();
                page.causes.push(Cause {
                    name: number(&sampled.profile.wait_label(wait.cause)),
                    color: WaitedFor::named(name).unwrap_or_default().color(),
                });
                causes.push(wait.cause);
                causes.len() - 1
            });
            let waker = match (wait.waker_thread, wait.waker) {
                (Some(thread), _) => 2 * u64::from(thread) + 1,
                (None, Some(name)) => {
                    2 * u64::from(number(&printable(strings.of(name).into_raw()))) + 2
                }
                (None, None) => 0,
            };
            WaitRow {
                thread: wait.thread,
                begin: wait.start_ns.wrapping_sub(start_ns),
                length: wait.end_ns.saturating_sub(wait.start_ns),
                cause: 2 * cause as u64 + u64::from(wait.is_woken),
                waker,
            }
        };
        let longest = longest(&sampled.waits);
        page.rows = longest.iter().map(&mut row).collect();
        if longest.len() < sampled.waits.len() {
            let mut all = sampled.waits.clone();
            all.sort_by_key(order);
            let mut likeness = Likeness::of(&sampled.threads);
            let alike = all.iter().filter_map(|wait| {
                // What is before the first sample is not in the page.
                let length = wait.end_ns.saturating_sub(wait.start_ns.max(start_ns));
                let waited_for = WaitedFor::named(strings.of(wait.cause).into_raw());
                let WaitRow { cause, waker, .. } = row(wait);
                let alike = likeness.next(wait, waited_for.unwrap_or_default(), (cause / 2, waker));
                (length > 0).then_some((alike, length))
            });
            page.groups = groups(alike);
        }
        page
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many the profile has.
    pub(super) fn n_all(&self) -> u64 {
        self.n_all
    }

    /// How many sums of waits there are.
    pub(super) fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// What is waited for, by number.
    pub(super) fn causes(&self) -> &[Cause] {
        &self.causes
    }

    /// Appends the columns, if there are waits: how many each thread has, begin, length, cause, waker; then those of
    /// sums.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.rows.is_empty() {
            return;
        }
        let mut of_thread = vec![0u64; self.n_threads];
        for row in &self.rows {
            if let Some(n) = of_thread.get_mut(row.thread as usize) {
                *n += 1;
            }
        }
        of_thread.iter().for_each(|&n| unsigned(out, n));
        let mut before = (u32::MAX, 0);
        for row in &self.rows {
            let base = if before.0 == row.thread { before.1 } else { 0 };
            difference(out, row.begin, base);
            before = (row.thread, row.begin);
        }
        self.rows.iter().for_each(|row| unsigned(out, row.length));
        self.rows.iter().for_each(|row| unsigned(out, row.cause));
        self.rows.iter().for_each(|row| unsigned(out, row.waker));
        for column in 0..WaitGroup::N_COLUMNS {
            let groups = self.groups.iter();
            groups.for_each(|group| unsigned(out, group.columns()[column]));
        }
    }
}

/// The longest ones, by thread and time.
fn longest(waits: &[TimedWait]) -> Vec<TimedWait> {
    let mut waits = waits.to_vec();
    if waits.len() > MAX_WAITS {
        waits.sort_by_key(|wait| {
            let length = wait.end_ns.saturating_sub(wait.start_ns);
            (Reverse(length), wait.start_ns, wait.thread)
        });
        waits.truncate(MAX_WAITS);
    }
    waits.sort_by_key(order);
    waits
}

/// By thread, within one in order of time.
fn order(wait: &TimedWait) -> (u32, u64, u64) {
    (wait.thread, wait.start_ns, wait.end_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    fn waiting(n: u64) -> SampledProfile {
        let mut sampled = testing::sampled(&[(100, "a", "main", 1), (200, "b", "main", 1)]);
        let strings = &mut sampled.profile.strings;
        let (state, cause) = (strings.intern("sleeping"), strings.intern("futex"));
        let waker = strings.intern("[timer]");
        sampled.waits = (0..n)
            .map(|at| TimedWait {
                thread: u32::from(at % 2 == 0),
                start_ns: 90 + 10 * at,
                end_ns: 91 + 10 * at + at,
                state,
                cause,
                waker: (at > 0).then_some(waker),
                waker_thread: (at == 2).then_some(0),
                is_woken: at > 0,
            })
            .collect();
        sampled
    }

    #[test]
    fn waits_are_by_thread_with_who_ended_them() {
        let mut texts = Vec::new();
        let page = PageWaits::of(&waiting(3), |text| {
            texts.push(text.to_owned());
            u32::try_from(texts.len() - 1).unwrap()
        });
        let row = |thread, begin: i64, length, cause, waker| WaitRow {
            thread,
            begin: begin.cast_unsigned(),
            length,
            cause,
            waker,
        };
        assert_eq!(
            page.rows,
            [
                row(0, 0, 2, 1, 4),
                row(1, -10, 1, 0, 0),
                row(1, 10, 3, 1, 1)
            ]
        );
        assert_eq!(texts, ["[futex]", "[timer]"]);
        let mut out = Vec::new();
        page.write(&mut out);
        // Counts; differences, of which -10 is 19; lengths; causes; wakers.
        let columns: [&[u8]; 5] = [&[1, 2], &[0, 19, 40], &[2, 1, 3], &[1, 0, 1], &[4, 0, 1]];
        assert_eq!(out, columns.concat());
    }

    #[test]
    fn of_too_many_the_longest_are_kept() {
        let n = MAX_WAITS as u64 + 10;
        let page = PageWaits::of(&waiting(n), |_| 0);
        assert_eq!((page.len(), page.n_all()), (MAX_WAITS, n));
        let shortest = page.rows.iter().map(|row| row.length).min();
        assert_eq!(shortest, Some(11));
        // Sums are of all: of all threads together, and of each.
        let counts = page.groups.iter().map(|group| group.columns()[4]);
        assert_eq!(counts.sum::<u64>(), 4 * (n - 1));
        assert_eq!(page.n_groups(), 1 + 2 + 2 + 3);
    }
}
