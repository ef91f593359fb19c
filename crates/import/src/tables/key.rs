//! Which recording a row is of.

/// What recordings are told apart by: machine and recording, where samples say them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RecordingKey {
    pub(super) recording: Vec<u8>,
    pub(super) machine: Option<Vec<u8>>,
}
