//! An event as it is counted and shown.

use crate::role::Role;
use crate::unit::Unit;
use rprof_abi::PerfEventAttr;

/// Whether an event is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventState {
    Counted,
    /// This machine does not count it.
    NotSupported,
    /// It happens in the kernel, which may not be counted.
    NotPermitted,
}

/// An event as it is counted and shown.
#[derive(Clone, Debug)]
pub(crate) struct StatEvent {
    /// As it was opened: with `u` where the kernel may not be counted.
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// What it says beside others.
    pub(crate) role: Option<Role>,
    /// Name of its control group.
    pub(crate) cgroup: Option<String>,
    pub(crate) state: EventState,
    pub(crate) attr: PerfEventAttr,
    pub(crate) is_inherited: bool,
    /// It happens in the kernel only.
    pub(crate) is_of_kernel: bool,
    /// Which hits of it are counted.
    pub(crate) filter: Option<String>,
}

impl StatEvent {
    /// Whether there is a counter of it.
    pub(crate) fn is_counted(&self) -> bool {
        self.state == EventState::Counted
    }

    /// One that is counted, without unit and filter.
    pub(crate) fn new(name: &str, attr: &PerfEventAttr) -> Self {
        Self {
            name: name.to_owned(),
            unit: Unit {
                name: String::new(),
                scale: 1.0,
            },
            role: Role::from_attr(attr, name),
            cgroup: None,
            state: EventState::Counted,
            attr: attr.clone(),
            is_inherited: true,
            is_of_kernel: false,
            filter: None,
        }
    }
}
