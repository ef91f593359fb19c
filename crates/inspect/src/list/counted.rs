//! Whether the kernel counts a generic event here: it is asked by opening it.

use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_events::ListedEvent;
use rprof_ringbuf::{Counter, Cpu, OpenError, Target};

/// What the kernel said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// It counts it.
    Yes,
    /// There is no such event.
    No,
    /// It does not let this user ask.
    Forbidden,
    /// Nobody asked: the event is in a file of the kernel's.
    NotAsked,
}

impl Counted {
    /// Opens the event for a moment, off, for ourselves. Users without rights count user space only.
    pub(super) fn of(event: &ListedEvent) -> Self {
        let Some(event) = &event.event else {
            return Self::NotAsked;
        };
        let attr = PerfEventAttr {
            flags: AttrFlags::DISABLED,
            ..event.attr.clone()
        };
        let user_only = PerfEventAttr {
            flags: attr
                .flags
                .with(AttrFlags::EXCLUDE_KERNEL)
                .with(AttrFlags::EXCLUDE_HV),
            ..attr.clone()
        };
        let open = |attr| Counter::open(attr, Target::Thread(0), Cpu::Any).map(drop);
        match open(&attr) {
            Err(OpenError::Access) => Self::answer(open(&user_only)),
            answer => Self::answer(answer),
        }
    }

    fn answer(answer: Result<(), OpenError>) -> Self {
        match answer {
            Ok(()) | Err(OpenError::Busy) => Self::Yes,
            Err(OpenError::NoSuchEvent | OpenError::Invalid) => Self::No,
            Err(_) => Self::Forbidden,
        }
    }
}
