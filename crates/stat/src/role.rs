//! What an event is to others: which counts can be divided by which.

use rprof_abi::{AttrFlags, PerfEventAttr, event_type};

/// Events that say more beside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Time, in nanoseconds.
    Clock,
    Cycles,
    Instructions,
    Branches,
    BranchMisses,
    CacheReferences,
    CacheMisses,
    StalledFrontend,
    StalledBackend,
    /// A cache's accesses, by its number.
    CacheAccesses(u8),
    /// Its misses.
    CacheMissesOf(u8),
    /// Slots of the pipeline.
    Slots,
    /// Where they went, by the byte of the register.
    SlotsOf(usize),
    /// The same on CPUs before Ice Lake: total-slots, slots-issued, slots-retired, fetch-bubbles,
    /// recovery-bubbles.
    Pipeline(usize),
}

/// Names in sysfs of what is no generic event.
pub(crate) const TOPDOWN: [&str; 8] = [
    "topdown-retiring",
    "topdown-bad-spec",
    "topdown-fe-bound",
    "topdown-be-bound",
    "topdown-heavy-ops",
    "topdown-br-mispredict",
    "topdown-fetch-lat",
    "topdown-mem-bound",
];
pub(crate) const PIPELINE: [&str; 5] = [
    "topdown-total-slots",
    "topdown-slots-issued",
    "topdown-slots-retired",
    "topdown-fetch-bubbles",
    "topdown-recovery-bubbles",
];

impl Role {
    pub(crate) fn from_attr(attr: &PerfEventAttr, name: &str) -> Option<Self> {
        // Above 32 bits is which PMU, where there are several.
        let config = attr.config & 0xffff_ffff;
        match (attr.kind, config) {
            (event_type::SOFTWARE, 0 | 1) => Some(Self::Clock),
            (event_type::HARDWARE, 0) => Some(Self::Cycles),
            (event_type::HARDWARE, 1) => Some(Self::Instructions),
            (event_type::HARDWARE, 2) => Some(Self::CacheReferences),
            (event_type::HARDWARE, 3) => Some(Self::CacheMisses),
            (event_type::HARDWARE, 4) => Some(Self::Branches),
            (event_type::HARDWARE, 5) => Some(Self::BranchMisses),
            (event_type::HARDWARE, 7) => Some(Self::StalledFrontend),
            (event_type::HARDWARE, 8) => Some(Self::StalledBackend),
            // Of what is loaded; as perf.
            (event_type::HW_CACHE, config) => match (config >> 8 & 0xff, config >> 16) {
                (0, 0) => Some(Self::CacheAccesses(config.to_le_bytes()[0])),
                (0, 1) => Some(Self::CacheMissesOf(config.to_le_bytes()[0])),
                _ => None,
            },
            (event_type::SOFTWARE | event_type::HARDWARE | event_type::TRACEPOINT, _) => None,
            _ => Self::named(name),
        }
    }

    /// `topdown-retiring`, `cpu_core/topdown-retiring/u`.
    fn named(name: &str) -> Option<Self> {
        let mut parts = name.split(['/', ':']);
        let at = |names: &[&str], part: &str| names.iter().position(|name| *name == part);
        parts.find_map(|part| match part {
            "slots" => Some(Self::Slots),
            part => {
                let of_slots = at(&TOPDOWN, part).map(Self::SlotsOf);
                of_slots.or_else(|| at(&PIPELINE, part).map(Self::Pipeline))
            }
        })
    }
}

/// Whether two events are of the same instructions: of user code or the kernel's, and of the same kind of core.
pub(crate) fn are_alike(a: &PerfEventAttr, b: &PerfEventAttr) -> bool {
    const LEFT_OUT: [AttrFlags; 5] = [
        AttrFlags::EXCLUDE_USER,
        AttrFlags::EXCLUDE_KERNEL,
        AttrFlags::EXCLUDE_HV,
        AttrFlags::EXCLUDE_HOST,
        AttrFlags::EXCLUDE_IDLE,
    ];
    let same_core = match (is_generic(a), is_generic(b)) {
        (true, true) => a.config >> 32 == b.config >> 32,
        _ => a.kind == b.kind,
    };
    same_core
        && LEFT_OUT
            .iter()
            .all(|&flag| a.flags.has(flag) == b.flags.has(flag))
}

fn is_generic(attr: &PerfEventAttr) -> bool {
    matches!(attr.kind, event_type::HARDWARE | event_type::HW_CACHE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_events::{Sources, parse_events};

    #[test]
    fn events_are_known_by_what_they_are_not_by_their_names() {
        let role = |text| {
            let events = parse_events(text, &Sources::default()).unwrap();
            Role::from_attr(&events[0].attr, &events[0].name)
        };
        for (text, expected) in [
            ("task-clock:u", Some(Role::Clock)),
            ("cpu-clock", Some(Role::Clock)),
            ("faults", None),
            ("cycles/name=mine/", Some(Role::Cycles)),
            ("branch-instructions:k", Some(Role::Branches)),
            ("L1-dcache-loads", Some(Role::CacheAccesses(0))),
            ("LLC-load-misses", Some(Role::CacheMissesOf(2))),
            ("L1-dcache-prefetch-misses", None),
            ("r1a8", None),
        ] {
            assert_eq!(role(text), expected, "{text}");
        }
        for (name, expected) in [
            ("topdown-retiring", Some(Role::SlotsOf(0))),
            ("cpu_core/topdown-mem-bound/", Some(Role::SlotsOf(7))),
            ("cpu/slots/u", Some(Role::Slots)),
            ("topdown-fetch-bubbles:u", Some(Role::Pipeline(3))),
            ("mem-loads", None),
        ] {
            assert_eq!(Role::named(name), expected, "{name}");
        }
    }
}
