//! Why a text names no event, and what the user can do.

use std::io;
use std::path::PathBuf;

use crate::Suggestions;

/// An event, or a list of CPUs, could not be understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// Nothing where something should be.
    #[error("{what} is missing in '{text}'")]
    Empty {
        /// What.
        what: &'static str,
        /// The list as it was given.
        text: String,
    },
    /// A slash, brace or quote is never closed, or closed before it was opened.
    #[error("unbalanced '{delimiter}' in '{text}'")]
    Unbalanced {
        /// The list or event as it was given.
        text: String,
        /// What is missing its counterpart.
        delimiter: char,
    },
    /// `{a,{b,c}}`.
    #[error("a group within a group in '{event}': groups cannot be nested")]
    NestedGroup {
        /// The group as it was given.
        event: String,
    },
    /// `{a,b}c`.
    #[error(
        "unexpected '{after}' after the group in '{event}': only modifiers may follow the brace, as in \
         {{a,b}}:S"
    )]
    AfterGroup {
        /// What stands there.
        after: String,
        /// The group as it was given.
        event: String,
    },
    /// `{a,b:D}`.
    #[error(
        "modifier '{modifier}' of '{event}' in '{group}': only a group as a whole, by its first event, \
         can be pinned or exclusive; write {{...}}:{modifier}"
    )]
    LeadingModifier {
        /// The letter.
        modifier: char,
        /// The event as it was given.
        event: String,
        /// The group as it was given.
        group: String,
    },
    /// A probe without a place.
    #[error("'{event}' does not say where to probe: {what}")]
    BadProbe {
        /// The event as it was given.
        event: String,
        /// What to write.
        what: &'static str,
    },
    /// A span without its parts.
    #[error("bad span '{span}': {what}")]
    BadSpan {
        /// The span as it was given.
        span: String,
        /// What to write.
        what: &'static str,
    },
    /// The kernel has no PMU for such probes.
    #[error(
        "this kernel has no {pmu}s for '{event}' ({}): /sys/bus/event_source/devices/{pmu} is missing",
        match *pmu {
            "kprobe" => "CONFIG_KPROBE_EVENTS",
            _ => "CONFIG_UPROBE_EVENTS",
        }
    )]
    NoProbes {
        /// The PMU.
        pmu: &'static str,
        /// The event as it was given.
        event: String,
    },
    /// A filter that the kernel would not take.
    #[error("column {column} of the filter '{filter}': {why}")]
    Filter {
        /// The filter.
        filter: String,
        /// Where, in letters, from 1.
        column: usize,
        /// What is wrong there.
        why: Box<FilterProblem>,
    },
    /// A filter of an event that has no fields.
    #[error(
        "'{event}' has no fields: --filter applies to the tracepoints and probes of the -e before it"
    )]
    FilterWithoutFields {
        /// The event.
        event: String,
    },
    /// What perf stat measures by itself.
    #[error("'{name}' is a time that perf stat measures itself, and cannot be sampled")]
    OnlyCounted {
        /// The name.
        name: String,
    },
    /// Several events where one should be.
    #[error("unknown event '{name}': separate events with commas")]
    NotOne {
        /// The name.
        name: String,
    },
    /// A letter that is no access of breakpoints.
    #[error("unknown access '{letter}' in '{event}': use any of r w x")]
    UnknownAccess {
        /// The letter.
        letter: char,
        /// The event as it was given.
        event: String,
    },
    /// No event has this name.
    #[error("unknown event '{name}'{}", suggestions.or_list())]
    UnknownEvent {
        /// The name, without modifiers.
        name: String,
        /// Names that are close.
        suggestions: Suggestions,
    },
    /// Neither a PMU nor an event has the name before the slash.
    #[error("unknown PMU '{name}' in '{event}'{suggestions}")]
    UnknownPmu {
        /// What stands before the slash.
        name: String,
        /// The event as it was given.
        event: String,
        /// Names that are close.
        suggestions: Suggestions,
    },
    /// The PMU has no such term.
    #[error("unknown term '{term}' in {}{suggestions}", placed(event, term))]
    UnknownTerm {
        /// The term's name.
        term: String,
        /// The event as it was given.
        event: String,
        /// Names that are close.
        suggestions: Suggestions,
    },
    /// perf knows this term, rprof does not.
    #[error(
        "term '{term}' in {} is not supported: {}",
        placed(event, term),
        why_not(term)
    )]
    UnsupportedTerm {
        /// The term's name.
        term: String,
        /// The event as it was given.
        event: String,
    },
    /// A term that needs a value has none.
    #[error(
        "term '{term}' in {} needs a value: write {term}=...",
        placed(event, term)
    )]
    MissingValue {
        /// The term's name.
        term: String,
        /// The event as it was given.
        event: String,
    },
    /// A number was expected.
    #[error(
        "'{text}' in {} is not a 64-bit number (decimal, or hexadecimal after 0x)",
        placed(event, text)
    )]
    BadNumber {
        /// What stands in its place.
        text: String,
        /// The event as it was given.
        event: String,
    },
    /// A term does not take this value.
    #[error(
        "'{value}' is not valid for term '{term}' in {}: it takes {expected}",
        placed(event, term)
    )]
    BadValue {
        /// The value.
        value: String,
        /// The term's name.
        term: String,
        /// The event as it was given.
        event: String,
        /// What it takes.
        expected: &'static str,
    },
    /// Some events of a group are inherited, others are not.
    #[error(
        "'{leader}' and '{member}' cannot be in one group: only one of them has no-inherit, and a group is \
         inherited as a whole"
    )]
    InheritedInPart {
        /// The first event of the group.
        leader: String,
        /// The one that is otherwise.
        member: String,
    },
    /// The value needs more bits than the PMU gives the term.
    #[error(
        "value {value:#x} of term '{term}' in {} is too big: at most {max:#x}",
        placed(event, term)
    )]
    ValueTooBig {
        /// The term's name.
        term: String,
        /// Its value.
        value: u64,
        /// The largest that fits.
        max: u64,
        /// The event as it was given.
        event: String,
    },
    /// A letter that is no modifier.
    #[error("unsupported modifier '{modifier}' in '{event}': use any of u k h H G I p P S D e W R")]
    UnknownModifier {
        /// The letter.
        modifier: char,
        /// The event as it was given.
        event: String,
    },
    /// A letter of perf's that is for counting.
    #[error("modifier '{modifier}' in '{event}' {what}, and does not sample: omit it")]
    CountingModifier {
        /// The letter.
        modifier: char,
        /// What it does.
        what: &'static str,
        /// The event as it was given.
        event: String,
    },
    /// A modifier more often than it can be: `p` three times, any other once.
    #[error("modifier '{modifier}' is repeated too often in '{event}'")]
    RepeatedModifier {
        /// The letter.
        modifier: char,
        /// The event as it was given.
        event: String,
    },
    /// A breakpoint of a length that no machine has.
    #[error("a breakpoint covers 1 to 8 bytes, not {len}: '{event}'")]
    BreakpointLength {
        /// The length, bytes.
        len: u64,
        /// The event as it was given.
        event: String,
    },
    /// tracefs has no such tracepoint.
    #[error(
        "unknown event '{name}': {}{suggestions}",
        if rprof_base::is_glob(name) {
"no tracepoint matches"
} else {
"no such tracepoint"
}
    )]
    UnknownTracepoint {
        /// System and name, as given.
        name: String,
        /// Names that are close.
        suggestions: Suggestions,
    },
    /// tracefs is not there, so nothing is known about tracepoints.
    #[error(
        "looking up '{event}': no tracepoints in {}; run with sudo, which mounts tracefs, or as root: `mount \
         -t tracefs nodev {}`",
        path.display(), path.display()
    )]
    TracefsMissing {
        /// The event as it was given.
        event: String,
        /// Where tracefs should be.
        path: PathBuf,
    },
    /// tracefs is there, but not for this user.
    #[error(
        "looking up '{event}': no permission to read {}; run with sudo (with CAP_PERFMON, read permission is \
         enough; as root: `mount -o remount,mode=755 {}`)",
        path.display(), tracefs.display()
    )]
    TracefsDenied {
        /// The event as it was given.
        event: String,
        /// The file or folder that could not be read.
        path: PathBuf,
        /// Where tracefs is.
        tracefs: PathBuf,
    },
    /// A file of sysfs or tracefs could not be read.
    #[error("reading {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of sysfs or tracefs does not hold what the kernel documents.
    #[error("malformed text '{text}' in {}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Its content.
        text: String,
    },
    /// Not a list of CPUs.
    #[error("'{text}' is not a list of CPUs such as 0-3,8")]
    BadCpuList {
        /// The list as it was given.
        text: String,
    },
}

impl EventError {
    /// Nothing where `what` should be.
    pub(crate) fn empty(what: &'static str, text: &str) -> Self {
        Self::Empty {
            what,
            text: text.to_owned(),
        }
    }

    /// A letter that is there too often.
    pub(crate) fn repeated(modifier: char, event: &str) -> Self {
        Self::RepeatedModifier {
            modifier,
            event: event.to_owned(),
        }
    }

    /// A delimiter without its counterpart.
    pub(crate) fn unbalanced(text: &str, delimiter: char) -> Self {
        Self::Unbalanced {
            text: text.to_owned(),
            delimiter,
        }
    }
}

/// What is wrong at one place of a filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterProblem {
    /// It cannot be read on.
    #[error("expected {0}")]
    Expected(&'static str),
    /// The event has no such field.
    #[error("{event} has no field '{field}'{suggestions} (it has {fields})")]
    NoField {
        /// The name.
        field: String,
        /// The event.
        event: String,
        /// All fields that it has.
        fields: String,
        /// Names that are close.
        suggestions: Suggestions,
    },
}

/// An event, and the column at which a term of this name or value stands in it.
fn placed(event: &str, term: &str) -> String {
    match column(event, term) {
        Some(column) => format!("'{event}' (column {column})"),
        None => format!("'{event}'"),
    }
}

/// The column of a word that stands between what separates words; counted in letters, from 1.
fn column(event: &str, word: &str) -> Option<usize> {
    let is_separator = |letter: char| "/,=:+ '".contains(letter);
    // Only where there are terms: elsewhere an event is one word.
    let terms = event.find('/').filter(|_| !word.is_empty())?;
    let mut places = event.match_indices(word).map(|(at, _)| at);
    let at = places.find(|&at| {
        let after = &event[at + word.len()..];
        let before = event[..at].chars().next_back();
        at > terms && before.is_some_and(is_separator) && after.starts_with(is_separator)
    })?;
    Some(event[..at].chars().count() + 1)
}

/// What perf's other terms are for.
fn why_not(term: &str) -> &'static str {
    match term {
        "overwrite" => "set it for all events, with --overwrite",
        "metric-id" | "ratio-to-prev" => "it is for counting (perf stat)",
        "aux-output" | "aux-action" | "aux-sample-size" => "hardware traces are not recorded",
        "branch_type" => "branch recording is the same for all events",
        "cpu" => "set it for all events, with -C",
        _ => "it takes a BPF program",
    }
}
