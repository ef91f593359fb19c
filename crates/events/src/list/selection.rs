//! Which events are listed: words of kinds, and patterns of names.

use rprof_base::{glob_matches, is_glob};

/// Kinds of events, as `perf list` tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// Generic events of the core PMU.
    Hardware,
    /// Events that the kernel makes itself.
    Software,
    /// Generic cache events of the core PMU.
    Cache,
    /// Events and terms that a PMU has in sysfs.
    Pmu,
    /// Numbers of the core PMU's own.
    Raw,
    /// Accesses to an address.
    Breakpoint,
    /// Functions and markers, of files and of the kernel.
    Probe,
    /// Places in the kernel, in tracefs.
    Tracepoint,
    /// Markers of a file.
    Marker,
    /// Functions of a file.
    Function,
}

/// The words for them; the first is the one that is printed.
const WORDS: &[(ListKind, &[&str])] = &[
    (ListKind::Hardware, &["hw", "hardware"]),
    (ListKind::Software, &["sw", "software"]),
    (ListKind::Cache, &["cache", "hwcache"]),
    (ListKind::Pmu, &["pmu"]),
    (ListKind::Raw, &["raw"]),
    (ListKind::Breakpoint, &["breakpoint", "mem"]),
    (ListKind::Probe, &["probe"]),
    (ListKind::Tracepoint, &["tracepoint"]),
    (ListKind::Marker, &["usdt", "sdt"]),
    (ListKind::Function, &["uprobe"]),
];

impl ListKind {
    /// Whether it is of a file, not of a machine.
    fn is_of_file(self) -> bool {
        matches!(self, Self::Marker | Self::Function)
    }

    /// The kind that a word stands for: `uprobe` is a PMU of a machine, and a kind in a file.
    fn from_word(word: &str, is_of_file: bool) -> Option<Self> {
        let found = WORDS.iter().find(|(_, words)| words.contains(&word));
        let kind = found.map(|(kind, _)| *kind);
        kind.filter(|kind| kind.is_of_file() == is_of_file)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        let found = WORDS.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, words)| words[0])
    }
}

/// What to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these kinds; empty for all.
    kinds: Vec<ListKind>,
    /// Only names that fit one of these, in small letters; empty for all.
    patterns: Vec<String>,
}

impl Selection {
    /// Kinds by their words; every other word is a pattern of names: with `*` or `?` of whole names,
    /// else a part of them.
    pub fn of<S: AsRef<str>>(words: &[S]) -> Self {
        Self::among(words, false)
    }

    /// The same of markers and functions in a file.
    pub fn in_file<S: AsRef<str>>(words: &[S]) -> Self {
        Self::among(words, true)
    }

    fn among<S: AsRef<str>>(words: &[S], is_of_file: bool) -> Self {
        let mut selection = Self::default();
        for word in words.iter().map(AsRef::as_ref) {
            match ListKind::from_word(word, is_of_file) {
                Some(kind) => selection.kinds.push(kind),
                None => selection.patterns.push(word.to_lowercase()),
            }
        }
        selection
    }

    /// Whether events of this kind are listed.
    pub fn wants(&self, kind: ListKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether there are patterns.
    pub fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Whether a name fits.
    pub fn fits(&self, name: &str) -> bool {
        if self.patterns.is_empty() {
            return true;
        }
        let name = name.to_lowercase();
        self.patterns.iter().any(|pattern| {
            if is_glob(pattern) {
                glob_matches(pattern, &name)
            } else {
                name.contains(pattern.as_str())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_patterns_both_have_to_fit() {
        let selection = Selection::of(&["sw", "tracepoint", "Switch", "sched:*"]);
        assert!(selection.wants(ListKind::Software) && !selection.wants(ListKind::Cache));
        assert!(selection.fits("context-switches") && selection.fits("sched:sched_waking"));
        assert!(!selection.fits("irq:softirq_entry"));
        let all = Selection::of::<&str>(&[]);
        assert!(all.wants(ListKind::Pmu) && all.fits("anything") && !all.has_patterns());
    }

    #[test]
    fn every_kind_has_its_words() {
        for (kind, words) in WORDS {
            assert_eq!(kind.word(), words[0]);
            for word in *words {
                let is_of_file = [ListKind::Function, ListKind::Marker].contains(kind);
                assert_eq!(ListKind::from_word(word, is_of_file), Some(*kind));
                assert_eq!(ListKind::from_word(word, !is_of_file), None);
            }
        }
    }
}
