//! What cannot be compared.

/// Why recordings cannot be compared as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// They have no event in common.
    #[error(
        "no event is in all recordings: {events}. Record them with the same event: rprof record -e EVENT"
    )]
    NoCommonEvent {
        /// Which recordings have which events.
        events: String,
    },
    /// What amounts are divided by is not there.
    #[error("--per {per}: {run} has no {what}")]
    NothingToDivideBy {
        /// As it was typed.
        per: String,
        /// The recording.
        run: String,
        /// What it lacks, and what to do.
        what: String,
    },
    /// The only event is what amounts are divided by.
    #[error(
        "--per {per}: no other event is in all recordings, and divided by itself it says nothing. Use --per \
         run or time, or record another event with it (rprof record -e EVENT,EVENT)"
    )]
    NothingLeft {
        /// As it was typed.
        per: String,
    },
    /// A recording of which conditions cannot be asked.
    #[error(
        "--fail-if: {run} has no samples of {event}: a run that failed is not a fast one. Record it again"
    )]
    NoSamples {
        /// The recording.
        run: String,
        /// The event.
        event: String,
    },
    /// A condition of what is not known to be there.
    #[error("--fail-if '{condition}': '{name}' is in no recording{alike}")]
    UnknownName {
        /// As it was typed.
        condition: String,
        /// What it is of.
        name: String,
        /// Whether that is a function.
        is_function: bool,
        /// Names like it, as the end of a sentence.
        alike: String,
    },
    /// Of each recording by itself: one of them cannot be compared.
    #[error("--each {recording}: {why}")]
    Each {
        /// The recording.
        recording: String,
        /// Why.
        why: Box<Self>,
    },
    /// A condition that means nothing here.
    #[error("--fail-if '{condition}': {why}")]
    BadCondition {
        /// As it was typed.
        condition: String,
        /// Why, and what to do.
        why: String,
    },
}
