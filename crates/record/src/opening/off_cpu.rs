//! What off-CPU time is derived from: switches and wake-ups, as far as this user may see them.

use crate::note::{Note, OffCpuMethod};
use crate::opening::filter::Filter;
use crate::opening::stack_dump::NO_STACK_BYTES;
use crate::settings::{CallChains, Inherit, Settings, Space, Watch};
use rprof_abi::tracepoint::{FieldPlace, TracepointFormat};
use rprof_abi::waits::{BLOCKED, SWITCH, SWITCHED_OUT, WAKING};
use rprof_abi::{AttrFlags, SampleType};
use rprof_events::{Callers, Event, EventError, Sources, parse_events};
use rprof_probes::Tracefs;
use rprof_ringbuf::OpenError;
use rprof_ringbuf::sys::Clock;
use rprof_targets::Cgroups;
use rprof_targets::rights::refusal::{self, Wanted};
use rprof_targets::rights::{Capability, Facts};
use std::ffi::CString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes of stack that are copied at each switch: it happens as often as programs wait.
const STACK_BYTES: u32 = 8 << 10;

/// What an event of a recording is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It was asked for.
    #[default]
    Asked,
    /// A thread is switched out.
    Switch {
        /// The id of the thread that runs next in the raw data, if it is there.
        next: Option<FieldPlace>,
        /// Its user stack is read only if the wait is long.
        is_read_later: bool,
    },
    /// The kernel lets this user sample no switches. What /proc says of threads that wait becomes samples of it.
    Blocked,
    /// A thread is woken. Wakers may be any thread or interrupt, so it is opened for all tasks, and its filter looks at
    /// who is woken.
    Waking {
        /// The id of the woken thread in the raw data.
        wakee: FieldPlace,
    },
    /// A thread begins or ends a span.
    Span(SpanPurpose),
}

/// Which span an event begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanPurpose {
    /// Its number among those that were asked for.
    pub(crate) span: usize,
    pub(crate) is_end: bool,
}

/// An event that off-CPU time needs.
#[derive(Clone, Debug)]
pub(crate) struct OffCpuEvent {
    pub(crate) event: Event,
    pub(crate) purpose: Purpose,
}

/// How switches are recorded.
#[derive(Clone, Debug)]
pub(crate) struct OffCpuEvents {
    pub(crate) method: OffCpuMethod,
    pub(crate) events: Vec<OffCpuEvent>,
    /// What a better method needs.
    pub(crate) better: Option<String>,
    /// Where the tracepoints are described.
    tracefs: Option<Rc<Tracefs>>,
}

impl OffCpuEvents {
    /// The best method whose events can be opened: `can_open` tries one.
    pub(crate) fn choose(
        settings: &Settings,
        mut can_open: impl FnMut(&Event) -> Result<(), OpenError>,
    ) -> Self {
        let better = match Self::by_tracepoints(settings, &mut can_open) {
            Ok(chosen) => return chosen,
            Err(why) => Some(why),
        };
        let switch = switch_samples(settings);
        let (method, events) = match switch {
            Some(switch) if can_open(&switch.event).is_ok() => {
                (OffCpuMethod::SwitchSamples, vec![switch])
            }
            _ => match blocked_samples(settings) {
                Some(blocked) if can_open(&blocked.event).is_ok() => {
                    (OffCpuMethod::Proc, vec![blocked])
                }
                _ => (OffCpuMethod::SwitchRecords, Vec::new()),
            },
        };
        Self {
            method,
            events,
            better,
            tracefs: None,
        }
    }

    /// Tracepoints, or why not.
    fn by_tracepoints(
        settings: &Settings,
        can_open: &mut impl FnMut(&Event) -> Result<(), OpenError>,
    ) -> Result<Self, String> {
        if settings.fields.only_in == Some(Space::User) {
            return Err("switches happen in the kernel, which --all-user leaves out".to_owned());
        }
        let refusal = |why| refusal::of(&why, Wanted::Tracepoint, &Facts::now());
        let (events, tracefs) = tracepoints(settings).map_err(|why| {
            // Who may not open them needs that first.
            if has_rights() {
                why.to_string()
            } else {
                refusal(OpenError::Access)
            }
        })?;
        // They may happen in an NMI, where the others cannot be read (perf_event_set_clock in kernel/events/core.c,
        // v6.18).
        if !matches!(settings.clock, Clock::Monotonic | Clock::MonotonicRaw) {
            return Err("tracepoints have no such clock: use -k mono".to_owned());
        }
        let mut plain = events.iter().map(|one| &one.event);
        plain.try_for_each(can_open).map_err(refusal)?;
        Ok(Self {
            method: OffCpuMethod::Tracepoints,
            events,
            better: None,
            tracefs: Some(tracefs),
        })
    }

    /// Where the tracepoints are described, if they are used.
    pub(crate) fn tracefs(&self) -> Option<PathBuf> {
        let tracefs = self.tracefs.as_ref()?;
        Some(tracefs.root().to_owned())
    }

    /// What is to be said of it.
    pub(crate) fn note(&self) -> Note {
        Note::OffCpu {
            method: self.method,
            better: self.better.clone(),
        }
    }

    /// Whether SWITCH records are needed to know when threads run again: where all of a CPU's switches are samples, each
    /// says who comes next. Where threads go to that leave these CPUs (`-C`), only records say.
    pub(crate) fn needs_records(&self, settings: &Settings) -> bool {
        let says_next =
            |one: &OffCpuEvent| matches!(one.purpose, Purpose::Switch { next: Some(_), .. });
        let is_everybody = settings.watch == Watch::All && matches!(settings.cgroups, Cgroups::All);
        !is_everybody || settings.cpus.is_some() || !self.events.iter().any(says_next)
    }

    /// The events alone.
    pub(crate) fn plain(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(|one| &one.event)
    }
}

/// Whether tracepoints may be opened.
fn has_rights() -> bool {
    let facts = Facts::now();
    let is_permitted = facts.paranoid.is_some_and(|level| level < 0);
    is_permitted || facts.has(Capability::Perfmon)
}

/// The tracepoints of switches and wake-ups.
fn tracepoints(settings: &Settings) -> Result<(Vec<OffCpuEvent>, Rc<Tracefs>), EventError> {
    let tracefs = Tracefs::open().ok();
    let sources = Sources {
        tracefs: match &tracefs {
            Some(tracefs) => tracefs.root().to_owned(),
            None => Sources::default().tracefs,
        },
        ..Sources::default()
    };
    let switch = parse_events(SWITCH, &sources)?;
    let waking = parse_events(WAKING, &sources)?;
    let tracefs = Rc::new(tracefs.unwrap_or_else(Tracefs::mounted));
    let place = |name, field| field_place(tracefs.root(), name, field);
    let next = place("sched_switch", "next_pid").filter(|_| has_first_ids());
    let mut events = Vec::new();
    events.extend(
        switch
            .into_iter()
            .map(|event| of_switches(event, next, settings)),
    );
    if let (Some(wakee), true) = (place("sched_waking", "pid"), sees_wakers(settings)) {
        events.extend(waking.into_iter().map(|event| OffCpuEvent {
            event: with_kernel_chain(event, settings),
            purpose: Purpose::Waking { wakee },
        }));
    }
    Ok((events, tracefs))
}

/// Where a tracepoint has a field.
fn field_place(tracefs: &Path, name: &str, field: &str) -> Option<FieldPlace> {
    let format = tracefs.join("events/sched").join(name).join("format");
    let format = TracepointFormat::parse(&fs::read(format).ok()?).ok()?;
    Some(format.field(field)?.place)
}

/// Inode of the first PID namespace: `PROC_PID_INIT_INO` in include/linux/proc_ns.h.
const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Whether tasks have the same ids in tracepoints as elsewhere: those of the first namespace.
fn has_first_ids() -> bool {
    fs::metadata("/proc/self/ns/pid").is_ok_and(|own| own.ino() == FIRST_PID_NAMESPACE)
}

/// Whether wake-ups can be told apart by who is woken, if they have to be.
fn sees_wakers(settings: &Settings) -> bool {
    settings.inherit != Inherit::PerThread && (settings.watch == Watch::All || has_first_ids())
}

/// Switches where tracepoints are not permitted.
fn switch_samples(settings: &Settings) -> Option<OffCpuEvent> {
    let mut events = parse_events(SWITCHED_OUT, &Sources::default()).ok()?;
    let mut event = events.pop()?;
    event.attr.sample_period = 1;
    Some(of_switches(event, None, settings))
}

/// What samples of threads that wait are made of where switches may not be sampled: in user space, where the event never
/// happens, anybody may have it.
fn blocked_samples(settings: &Settings) -> Option<OffCpuEvent> {
    if settings.call_chains != CallChains::Auto || !can_prove(settings) {
        return None;
    }
    let mut events = parse_events(BLOCKED, &Sources::default()).ok()?;
    let mut event = events.pop()?;
    event.attr.sample_period = 1;
    Some(OffCpuEvent {
        event: read_later(event),
        purpose: Purpose::Blocked,
    })
}

/// Switches, with stacks as other samples have them: from small dumps, or read later.
fn of_switches(mut event: Event, next: Option<FieldPlace>, settings: &Settings) -> OffCpuEvent {
    let is_read_later = reads_later(settings);
    event.callers = match settings.call_chains {
        CallChains::Auto => Some(Callers::Dwarf {
            bytes: Some(STACK_BYTES),
        }),
        CallChains::Dwarf { bytes, .. } => Some(Callers::Dwarf {
            bytes: Some(bytes.min(STACK_BYTES)),
        }),
        CallChains::BranchRecords => Some(Callers::FramePointers),
        CallChains::FramePointers | CallChains::None => None,
    };
    if is_read_later {
        event = read_later(event);
    }
    OffCpuEvent {
        event,
        purpose: Purpose::Switch {
            next,
            is_read_later,
        },
    }
}

/// With as little of a stack as there can be, and with a field for what the thread waits for: both are read while it does.
fn read_later(mut event: Event) -> Event {
    event.callers = Some(Callers::Dwarf {
        bytes: Some(NO_STACK_BYTES),
    });
    event.attr.sample_type = event.attr.sample_type.with(SampleType::ADDR);
    event
}

/// Whether user stacks are read while threads wait; `dwarf` reads nothing afterwards.
fn reads_later(settings: &Settings) -> bool {
    let threshold = settings.off_cpu.map(|off_cpu| off_cpu.threshold);
    settings.call_chains == CallChains::Auto
        && can_prove(settings)
        && threshold.is_some_and(|threshold| !threshold.is_zero())
}

/// Whether it can be proved that a thread still waits: by times, and by records of all CPUs at all times.
fn can_prove(settings: &Settings) -> bool {
    let is_seen = settings.cpus.is_none() && settings.when.is_always();
    settings.clock.is_steady() && is_seen
}

/// The kernel's part of the stack: what woke a thread is in there, an interrupt or a system call.
fn with_kernel_chain(mut event: Event, settings: &Settings) -> Event {
    event.callers = match settings.call_chains {
        CallChains::None => None,
        _ => Some(Callers::FramePointers),
    };
    event.attr.flags = event.attr.flags.with(AttrFlags::EXCLUDE_CALLCHAIN_USER);
    event
}

/// The kernel copies filters of up to a page.
const MOST_FILTER_BYTES: usize = 3500;

/// Lets wake-ups of these threads pass, and of threads that begin after `newest`; of more, if they are too many for a
/// filter: the drain looks at each.
pub(crate) fn wakee_filter(threads: &[i32], newest: Option<i32>) -> Option<Filter> {
    let least = threads.iter().min()?;
    let known = threads
        .iter()
        .filter(|&&tid| newest.is_none_or(|newest| tid <= newest));
    let mut terms: Vec<String> = known.map(|tid| format!("pid == {tid}")).collect();
    terms.extend(newest.map(|newest| format!("pid > {newest}")));
    let mut text = terms.join(" || ");
    if text.len() > MOST_FILTER_BYTES {
        text = format!("pid >= {least}");
    }
    CString::new(text).ok().map(Filter::new)
}

/// The id that was given to a task last: the last word of /proc/loadavg.
pub(crate) fn newest_task() -> Option<i32> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(threads: &[i32], newest: Option<i32>) -> String {
        let filter = wakee_filter(threads, newest).unwrap();
        filter.text().to_owned()
    }

    #[test]
    fn wake_ups_of_recorded_and_later_threads_pass() {
        assert_eq!(text(&[7, 9], Some(12)), "pid == 7 || pid == 9 || pid > 12");
        assert_eq!(text(&[7], None), "pid == 7");
        // A command that waits for its exec is the newest, or nearly.
        assert_eq!(text(&[14], Some(12)), "pid > 12");
        let many: Vec<i32> = (1000..2000).collect();
        assert_eq!(text(&many, Some(5000)), "pid >= 1000");
        assert!(wakee_filter(&[], Some(1)).is_none());
    }
}
