//! Values that change over time, many of them: a [`Journal`] while they come in order of time,
//! [`Timelines`] for look-ups.

use foldhash::{HashMap, HashSet};
use std::ops::Range;

/// A moment of a recording: time, then place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key {
    /// Nanoseconds; 0 in recordings without times, and in records made up at their start.
    pub time_ns: u64,
    /// Bytes from the start of the file.
    pub offset: u64,
}

impl Key {
    /// Before everything.
    pub const FIRST: Self = Self {
        time_ns: 0,
        offset: 0,
    };

    /// After everything.
    pub const LAST: Self = Self {
        time_ns: u64::MAX,
        offset: u64::MAX,
    };

    /// The moment of a record at this offset; its time counts only in a recording where all
    /// records have one.
    #[inline]
    pub fn new(has_times: bool, time_ns: Option<u64>, offset: u64) -> Self {
        Self {
            time_ns: time_ns.filter(|_| has_times).unwrap_or(0),
            offset,
        }
    }
}

/// From a moment on, something has a value.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: Key,
    id: i32,
    value: T,
}

/// What a thing's value is now, since when, and how many it had.
#[derive(Clone, Copy, Debug)]
struct Last<T> {
    key: Key,
    value: T,
    n_entries: usize,
}

/// New values of numbered things, in order of time.
#[derive(Debug)]
pub(crate) struct Journal<T> {
    entries: Vec<Entry<T>>,
    last: HashMap<i32, Last<T>>,
    /// Values that things had before the entries that are left; only where some were forgotten.
    before: HashMap<i32, T>,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            last: HashMap::default(),
            before: HashMap::default(),
        }
    }
}

impl<T: Copy + PartialEq> Journal<T> {
    /// The value that a thing has now.
    pub(crate) fn last(&self, id: i32) -> Option<T> {
        self.last.get(&id).map(|last| last.value)
    }

    /// A thing's value from now on; the one it has already is no change.
    pub(crate) fn push(&mut self, key: Key, id: i32, value: T) {
        let fresh = Last {
            key,
            value,
            n_entries: 0,
        };
        let last = self.last.entry(id).or_insert(fresh);
        if last.n_entries == 0 || last.value != value {
            if last.n_entries > 0 {
                // Asked for as long as the new one is recent, also if its own entry is forgotten.
                self.before.entry(id).or_insert(last.value);
            }
            (last.key, last.value) = (key, value);
            last.n_entries += 1;
            self.entries.push(Entry { key, id, value });
        }
    }

    /// The value that a thing had at a moment not long ago.
    pub(crate) fn recent(&self, id: i32, key: Key) -> Option<T> {
        let last = self.last.get(&id)?;
        if last.key <= key {
            return Some(last.value);
        }
        let own = self.entries.iter().filter(|entry| entry.id == id);
        let found = own.clone().rev().find(|entry| entry.key <= key);
        let first = || {
            self.before
                .get(&id)
                .copied()
                .or(own.clone().next().map(|one| one.value))
        };
        found.map(|entry| entry.value).or_else(first)
    }

    /// Forgets changes before a moment; what held then is still known.
    pub(crate) fn forget(&mut self, before: Key) {
        let (entries, kept) = (&mut self.entries, &mut self.before);
        // In order for each thing, but not among them: the end of an exec is noted late.
        entries.retain(|entry| {
            if entry.key < before {
                kept.insert(entry.id, entry.value);
            }
            entry.key >= before
        });
        // Only those that have changed since are asked for.
        let changed: HashSet<i32> = entries.iter().map(|entry| entry.id).collect();
        kept.retain(|id, _| changed.contains(id));
    }

    /// Forgets a thing that has not changed since a moment.
    pub(crate) fn remove(&mut self, id: i32, unchanged_since: Key) {
        if self
            .last
            .get(&id)
            .is_some_and(|last| last.key <= unchanged_since)
        {
            self.last.remove(&id);
        }
    }

    /// Forgets things, whatever they were.
    pub(crate) fn drop_all(&mut self, ids: &HashSet<i32>) {
        self.last.retain(|id, _| !ids.contains(id));
        self.before.retain(|id, _| !ids.contains(id));
        self.entries.retain(|entry| !ids.contains(&entry.id));
    }

    /// Changes that are remembered.
    pub(crate) fn n_entries(&self) -> usize {
        self.entries.len()
    }

    /// How many changes of each thing are remembered.
    pub(crate) fn n_entries_of_each(&self) -> HashMap<i32, usize> {
        let mut all = HashMap::default();
        for entry in &self.entries {
            *all.entry(entry.id).or_default() += 1;
        }
        all
    }

    /// All things, with their values now.
    pub(crate) fn all(&self) -> impl Iterator<Item = (i32, T)> {
        self.last.iter().map(|(&id, last)| (id, last.value))
    }

    /// All values that may still be asked for.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let entries = self.entries.iter_mut().map(|entry| &mut entry.value);
        let last = self.last.values_mut().map(|last| &mut last.value);
        entries.chain(last).chain(self.before.values_mut())
    }

    /// All values, for look-ups only.
    pub(crate) fn finish(self) -> Timelines<T> {
        let Self {
            mut entries, last, ..
        } = self;
        entries.shrink_to_fit();
        let mut spans = HashMap::default();
        spans.reserve(last.len());
        let mut start = 0;
        for (id, Last { n_entries, .. }) in last {
            // Ends grow while entries come in.
            spans.insert(id, start..start);
            start += n_entries;
        }
        let mut keys = vec![Key::default(); entries.len()];
        let mut values: Vec<T> = entries.iter().map(|entry| entry.value).collect();
        for entry in entries {
            if let Some(span) = spans.get_mut(&entry.id) {
                keys[span.end] = entry.key;
                values[span.end] = entry.value;
                span.end += 1;
            }
        }
        Timelines {
            keys,
            values,
            spans,
        }
    }
}

/// Values of numbered things over time: all moments in one array, each thing's in a row.
#[derive(Debug)]
pub(crate) struct Timelines<T> {
    keys: Vec<Key>,
    /// From the moment of the same index on.
    values: Vec<T>,
    /// By thing.
    spans: HashMap<i32, Range<usize>>,
}

impl<T> Default for Timelines<T> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            values: Vec::new(),
            spans: HashMap::default(),
        }
    }
}

/// A value, and the span in which it does not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueSpan<T> {
    /// None if there was none yet.
    pub(crate) value: Option<T>,
    pub(crate) from: Key,
    /// The first moment after it.
    pub(crate) until: Key,
}

impl<T: Copy> Timelines<T> {
    /// All things.
    pub(crate) fn ids(&self) -> impl Iterator<Item = i32> {
        self.spans.keys().copied()
    }

    /// A thing's value at a moment; before the first one is known, the first.
    pub(crate) fn at(&self, id: i32, key: Key) -> Option<T> {
        let span = self.spans.get(&id)?.clone();
        let start = span.start;
        let after = self.keys[span].partition_point(|&from| from <= key);
        self.values.get(start + after.saturating_sub(1)).copied()
    }

    /// A thing's value at a moment, and how long it does not change.
    pub(crate) fn span_at(&self, id: i32, key: Key) -> ValueSpan<T> {
        let Some(span) = self.spans.get(&id) else {
            return ValueSpan {
                value: None,
                from: Key::FIRST,
                until: Key::LAST,
            };
        };
        let keys = &self.keys[span.clone()];
        let after = keys.partition_point(|&from| from <= key);
        let at = after.saturating_sub(1);
        // The first value holds before it, too.
        let from = keys.get(at).filter(|_| at > 0);
        let until = keys.get(at + 1);
        ValueSpan {
            value: self.values.get(span.start + at).copied(),
            from: from.copied().unwrap_or(Key::FIRST),
            until: until.copied().unwrap_or(Key::LAST),
        }
    }
}
