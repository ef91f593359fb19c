//! A frozen profile.

use crate::{Frames, StrId, Strings, Tree, Unwound};

/// What tasks are told apart by; a part that was not asked for is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// Name of the thread.
    pub comm: StrId,
    /// Process.
    pub pid: Option<i32>,
    /// Thread.
    pub tid: Option<i32>,
    /// CPU.
    pub cpu: Option<u32>,
}

/// Samples that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Loss {
    /// How many.
    pub samples: u64,
    /// Only a lower bound: from LOST records, which a loss at the end leaves none of.
    pub at_least: bool,
}

/// One event.
#[derive(Clone, Debug)]
pub struct EventProfile {
    /// Its name.
    pub name: String,
    /// Samples that were taken, also those that a filter leaves out of the tree.
    pub samples: u64,
    /// Their weight, in the event's unit; percentages are of this.
    pub weight: u64,
    /// Samples that are missing.
    pub loss: Loss,
    /// The stacks.
    pub tree: Tree,
    /// The groups that the tree's nodes name by number.
    pub groups: Vec<Group>,
}

/// An image some of whose samples have no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnnamedImage {
    /// Its path.
    pub path: String,
    /// Weight of its samples without name, all events together.
    pub weight: u64,
    /// Why.
    pub reason: String,
}

/// A recording, counted and named.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Names.
    pub strings: Strings,
    /// Functions.
    pub frames: Frames,
    /// Events, in the recording's order; those that only carry sideband are left out.
    pub events: Vec<EventProfile>,
    /// Images that could not be named at all, heaviest first.
    pub unnamed: Vec<UnnamedImage>,
    /// How stacks ended, where they were unwound from copies.
    pub unwound: Unwound,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}
