//! What is known of this machine and this process.

use super::tried::Tried;
use rprof_ringbuf::sys::Rights;
use rprof_targets::rights::Facts;

/// Everything that a check may look at. What files say comes from [`Facts`], which tests make up; what the kernel allows
/// is tried.
pub(super) struct Examined<'a> {
    pub(super) facts: &'a Facts,
    pub(super) tried: &'a Tried,
    /// What came of those of the executable file.
    pub(super) rights: Rights,
    /// `DEBUGINFOD_URLS`, if it is set.
    pub(super) debuginfod: Option<String>,
}
