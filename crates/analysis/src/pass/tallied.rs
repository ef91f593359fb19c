//! What is tallied: a sample, or one of its branches.

use super::driver::{ResolvedSample, TaskSample};
use crate::locations::{Mappings, TaskName};
use crate::samples::DecodedSample;
use rprof_abi::sample::BranchEntry;

/// A sample, or one of its branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tallied<'s, 'r> {
    pub(super) decoded: &'s DecodedSample<'r>,
    pub(super) mappings: Mappings,
    pub(super) task: TaskName,
    pub(super) branch: Option<&'s BranchEntry>,
}

impl<'s, 'r> From<&TaskSample<'s, 'r>> for Tallied<'s, 'r> {
    fn from(sample: &TaskSample<'s, 'r>) -> Self {
        Self {
            decoded: sample.decoded,
            mappings: sample.mappings,
            task: sample.task,
            branch: None,
        }
    }
}

impl<'s, 'r> From<&ResolvedSample<'s, 'r>> for Tallied<'s, 'r> {
    fn from(sample: &ResolvedSample<'s, 'r>) -> Self {
        Self {
            decoded: sample.decoded,
            mappings: sample.mappings,
            task: sample.task,
            branch: None,
        }
    }
}
