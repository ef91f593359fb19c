//! Records beside mappings, names and tasks.

use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_targets::rights::refusal::SIDEBAND_PAGES;

/// Data pages of a ring if each context switch has a record.
const PAGES_FOR_SWITCHES: usize = 256;

/// What the kernel tells beside samples only if it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sideband {
    /// Namespaces of processes.
    pub namespaces: bool,
    /// Paths of control groups.
    pub cgroups: bool,
    /// When tasks begin and cease to run.
    pub switches: bool,
}

impl Sideband {
    /// Asks for it.
    pub(crate) fn ask_for(self, attr: &mut PerfEventAttr) {
        for (is_asked, flag) in [
            (self.namespaces, AttrFlags::NAMESPACES),
            (self.cgroups, AttrFlags::CGROUP),
            (self.switches, AttrFlags::CONTEXT_SWITCH),
        ] {
            if is_asked {
                attr.flags = attr.flags.with(flag);
            }
        }
    }

    /// Data pages of each ring.
    pub(crate) fn ring_pages(self) -> usize {
        if self.switches {
            PAGES_FOR_SWITCHES
        } else {
            SIDEBAND_PAGES
        }
    }
}
