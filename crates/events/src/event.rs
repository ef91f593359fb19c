//! One event, ready to be completed and opened.

use rprof_abi::{AttrFlags, PerfEventAttr, SampleType, event_type, hw, sw};

use crate::ProbePoint;
use crate::modifier::{LEVELS, MACHINES};

/// One event as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// As perf would print it: what was written, with modifiers, or what the term `name` says.
    /// A tracepoint is `system:name`, without modifiers.
    pub name: String,
    /// Kind, config and breakpoint fields, `exclude_*` and other flags of the modifiers (without any,
    /// guests are excluded), and
    /// `sample_period` (with [`AttrFlags::FREQ`]: a frequency) and `sample_type` where the event itself says so;
    /// nothing else. A `sample_period` of 0 means that the recorder chooses.
    pub attr: PerfEventAttr,
    /// Modifier `P`: the highest `precise_ip` that the PMU takes, to be found by opening.
    pub max_precise: bool,
    /// Modifier `S`: the values of the counters in each sample.
    pub sample_read: bool,
    /// The CPUs that the PMU counts on, ascending; `None` where it is all of them.
    pub cpus: Option<Vec<u32>>,
    /// Whether it is counted together with others.
    pub grouping: Grouping,
    /// The place in code where it happens, not looked up yet.
    pub probe: Option<ProbePoint>,
    /// How callers are recorded, if not as for the other events.
    pub callers: Option<Callers>,
    /// How many callers the kernel finds at most.
    pub max_stack: Option<u16>,
    /// System and name of a tracepoint, whatever the event is called.
    pub tracepoint: Option<String>,
    /// Which hits of a tracepoint or probe are sampled, in the kernel's words.
    pub filter: Option<String>,
    /// Whether threads and processes that start have it, too.
    pub is_inherited: bool,
}

/// How the callers of one event are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// Unwound, as much of each stack as is needed.
    Auto,
    /// Unwound, from stack dumps.
    Dwarf {
        /// Size of each; `None` for the largest.
        bytes: Option<u32>,
    },
    /// By frame pointers.
    FramePointers,
    /// By the processor's branch records.
    BranchRecords,
    /// Not at all.
    No,
}

/// How an event is counted: alone, or together with others, all of them at a time or none.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Alone.
    #[default]
    Alone,
    /// First of a group: those that follow it in the list and are its members.
    Leader {
        /// What stands before the brace.
        name: Option<String>,
        /// Modifier `W`: if the kernel does not take the group, its events are counted alone.
        is_weak: bool,
    },
    /// Of the group of the last leader before it.
    Member {
        /// With modifier `S` of the leader: it takes no samples, its count is in those of the leader.
        is_read: bool,
    },
}

impl Grouping {
    /// Whether it is counted with a leader before it.
    pub fn is_member(&self) -> bool {
        matches!(self, Self::Member { .. })
    }

    /// Whether it takes no samples of its own.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Member { is_read: true })
    }
}

impl Event {
    pub(crate) fn new(name: String, kind: u32, config: u64) -> Self {
        Self {
            name,
            attr: PerfEventAttr {
                kind,
                config,
                // As perf (`event_attr_init` in tools/perf/util/util.c, v6.1).
                flags: AttrFlags::EXCLUDE_GUEST,
                ..PerfEventAttr::default()
            },
            max_precise: false,
            sample_read: false,
            cpus: None,
            grouping: Grouping::Alone,
            probe: None,
            callers: None,
            max_stack: None,
            tracepoint: None,
            filter: None,
            is_inherited: true,
        }
    }

    /// Modifier `R`: samples have the retire latency, which processors tell of precise samples only. perf takes
    /// it from a recording of the event with `p` and `-W` (`tools/perf/util/intel-tpebs.c`, v6.14).
    pub(crate) fn ask_for_latencies(&mut self) {
        self.attr.sample_type = self.attr.sample_type.with(SampleType::WEIGHT_STRUCT);
        if self.attr.flags.precise_ip() == 0 && !self.max_precise {
            self.attr.flags = self.attr.flags.with_precise_ip(1);
        }
    }

    /// Whether it is of latencies in samples (modifier `R`).
    pub fn has_latencies(&self) -> bool {
        self.attr.sample_type.has(SampleType::WEIGHT_STRUCT)
    }

    /// The CPU clock with the same modifiers, for `cycles` where there is no PMU; `None` for other
    /// events, and for those of latencies, which a clock has not. It knows no `precise_ip`.
    pub fn clock_instead(&self) -> Option<Self> {
        let (kind, config) = (self.attr.kind, self.attr.config);
        // Above 32 bits is which PMU, where there are several.
        let is_cycles = kind == event_type::HARDWARE && config & 0xffff_ffff == hw::CPU_CYCLES;
        if !is_cycles || self.has_latencies() {
            return None;
        }
        // What is not excluded, unless that is what it would be without letters.
        let letters = |group: &[(char, AttrFlags)], usual: &str| -> String {
            let is_in = |one: &&(char, AttrFlags)| !self.attr.flags.has(one.1);
            let left: String = group.iter().filter(is_in).map(|one| one.0).collect();
            if left == usual { String::new() } else { left }
        };
        let letters = letters(LEVELS, "ukh") + &letters(MACHINES, "H");
        let mut event = self.clone();
        event.name = if letters.is_empty() {
            "cpu-clock".to_owned()
        } else {
            format!("cpu-clock:{letters}")
        };
        event.attr.kind = event_type::SOFTWARE;
        event.attr.config = sw::CPU_CLOCK;
        event.attr.flags = event.attr.flags.with_precise_ip(0);
        event.max_precise = false;
        event.cpus = None;
        Some(event)
    }

    /// Whether it happens in the kernel only: without the kernel it counts 0, whatever happens.
    pub fn is_of_kernel(&self) -> bool {
        // Of entries to system calls, and of probes of files, the kernel looks at the user's registers.
        let is_of_user = |name: &String| {
            let system = name.split(':').next().unwrap_or_default();
            ["syscalls", "uprobes"].contains(&system)
                || ["probe_", "sdt_", "rprof_"]
                    .iter()
                    .any(|start| system.starts_with(start))
        };
        let tracepoint = self.tracepoint.as_ref();
        self.attr.is_of_kernel() || tracepoint.is_some_and(|name| !is_of_user(name))
    }

    /// The same event without the kernel, named accordingly (`cycles:P` becomes `cycles:Pu`):
    /// what may still be opened where `perf_event_paranoid` forbids the kernel.
    ///
    /// `None` if the kernel is excluded already, or if nothing would be left to count.
    pub fn user_only(&self) -> Option<Self> {
        let flags = self.attr.flags;
        let is_excluded =
            flags.has(AttrFlags::EXCLUDE_KERNEL) || flags.has(AttrFlags::EXCLUDE_USER);
        if is_excluded || self.is_of_kernel() {
            return None;
        }
        let mut event = self.clone();
        exclude_kernel(&mut event.name, &mut event.attr);
        Some(event)
    }
}

/// Leaves the kernel out of an event, and says so in its name: `cycles:P` becomes `cycles:Pu`.
pub fn exclude_kernel(name: &mut String, attr: &mut PerfEventAttr) {
    let flags = attr.flags.with(AttrFlags::EXCLUDE_KERNEL);
    attr.flags = flags.with(AttrFlags::EXCLUDE_HV);
    name.push_str(match attr.kind {
        event_type::TRACEPOINT => "",
        event_type::BREAKPOINT => ":u",
        _ if name.contains(['/', ':']) => "u",
        _ => ":u",
    });
}

#[cfg(test)]
mod tests {
    use crate::{Sources, parse_events};

    #[test]
    fn cycles_become_the_clock_with_their_modifiers() {
        let clock = |text| {
            let events = parse_events(text, &Sources::default()).unwrap();
            events[0].clock_instead()
        };
        for (text, expected) in [
            ("cycles", "cpu-clock"),
            ("cpu-cycles:u", "cpu-clock:u"),
            ("cycles:k", "cpu-clock:k"),
            ("cycles:uppp", "cpu-clock:u"),
            ("cycles:H", "cpu-clock"),
            ("cycles:kG", "cpu-clock:kG"),
            ("cycles:GH", "cpu-clock:HG"),
            ("cycles:P", "cpu-clock"),
            ("cycles/name=a:bc/", "cpu-clock"),
        ] {
            let clock = clock(text).unwrap();
            let named = parse_events(expected, &Sources::default()).unwrap();
            assert_eq!(clock, named[0], "{text}");
        }
        assert_eq!(clock("instructions"), None);
        assert_eq!(clock("cycles:R"), None);
        assert_eq!(clock("cpu-clock:u"), None);
    }
}
