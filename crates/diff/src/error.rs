//! What cannot be compared.

/// Why recordings cannot be compared as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// They have no event in common.
    #[error(
        "no event is in all recordings: before {before}; after {after}. Record both with the same: rprof record -e EVENT"
    )]
    NoCommonEvent {
        /// Events before.
        before: String,
        /// Events after.
        after: String,
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
    /// A condition that means nothing here.
    #[error("--fail-if '{condition}': {why}")]
    BadCondition {
        /// As it was typed.
        condition: String,
        /// Why, and what to do.
        why: String,
    },
}
