//! Whether ptrace can stand in for events, and how it will.

use crate::advice;
use crate::error::Error;
use crate::note::Note;
use crate::opening::attrs::{Prepared, sampling_attr};
use crate::opening::stack_dump;
use crate::settings::{CallChains, Inherit, Rate, SampleFields, Settings, Sideband, Watch};
use rprof_abi::{AttrFlags, Machine, PerfEventAttr, event_type, sw};
use rprof_events::{Event, Grouping, cpu_clock};
use rprof_ringbuf::sys::ptrace;
use rprof_ringbuf::{Counter, Cpu, MapError, OpenError, Target};
use rprof_targets::rights::{Capability, Facts};

/// Samples a second, unless asked for.
pub(crate) const DEFAULT_HZ: u64 = 99;
/// The most: each sample costs its thread some 60 us.
const MOST_HZ: u64 = 1000;

/// How ptrace stands in.
#[derive(Debug)]
pub(crate) struct Fallback {
    /// The clock, as the file has it.
    pub(super) event: Prepared,
    pub(super) hz: u64,
    /// What a user should know of it.
    pub(super) note: Note,
}

/// How ptrace stands in for events that cannot be opened, or have no memory for rings; that error, if it
/// cannot.
pub(crate) fn fallback(settings: &Settings, refused: Error) -> Result<Fallback, Error> {
    match refused {
        Error::Open {
            event,
            why: why @ (OpenError::Access | OpenError::Forbidden | OpenError::NoSystemCall),
            advice,
        } if is_all_forbidden() => {
            let refusal = format!("no event can be opened: {why}");
            Fallback::new(settings, refusal, advice).map_err(|(but, advice)| Error::Open {
                event,
                why,
                advice: format!("{advice}; {but}"),
            })
        }
        Error::Map {
            place,
            why: why @ MapError::MlockBudget { .. },
        } => {
            let advice = advice::map(&why);
            Fallback::new(settings, why.to_string(), advice).map_err(|_| Error::Map { place, why })
        }
        refused => Err(refused),
    }
}

impl Fallback {
    /// What is said of it: why, and what would allow events. If it cannot stand in, why not, and the latter.
    fn new(settings: &Settings, refusal: String, advice: String) -> Result<Self, (String, String)> {
        if let Some(what) = unfit(settings) {
            let but =
                format!("without {what}, commands and your own processes can be sampled by ptrace");
            return Err((but, advice));
        }
        if let Err(why) = may_seize(&Facts::now()) {
            let but = format!("the ptrace fallback is forbidden, too ({why})");
            return Err((but, advice));
        }
        let hz = hz(settings);
        Ok(Self {
            event: clock(settings, hz),
            hz,
            note: Note::ByPtrace {
                refusal,
                hz,
                advice,
            },
        })
    }
}

/// Whether a command can be seized; why not.
fn may_seize(facts: &Facts) -> Result<(), String> {
    ptrace::is_there().map_err(|error| error.to_string())?;
    let has_right = facts.has(Capability::SysPtrace);
    match facts.number::<u32>("proc/sys/kernel/yama/ptrace_scope") {
        Some(scope @ 3..) => Err(format!("kernel.yama.ptrace_scope is {scope}")),
        Some(2) if !has_right => Err("kernel.yama.ptrace_scope is 2".to_owned()),
        _ => Ok(()),
    }
}

/// Whether it can stand in for what needs no other event.
pub(crate) fn is_possible(facts: &Facts) -> bool {
    Machine::native().is_some() && may_seize(facts).is_ok()
}

/// Whether not even what everybody may is allowed: user space of our own.
fn is_all_forbidden() -> bool {
    let attr = PerfEventAttr {
        kind: event_type::SOFTWARE,
        config: sw::DUMMY,
        flags: AttrFlags::DISABLED
            .with(AttrFlags::EXCLUDE_KERNEL)
            .with(AttrFlags::EXCLUDE_HV),
        ..PerfEventAttr::default()
    };
    matches!(
        Counter::open(&attr, Target::Thread(0), Cpu::Any),
        Err(OpenError::Access | OpenError::Forbidden | OpenError::NoSystemCall)
    )
}

/// What of the settings is beyond it, by its flags.
fn unfit(settings: &Settings) -> Option<&'static str> {
    let is_clock = |event: &Event| {
        let is_software = event.attr.kind == event_type::SOFTWARE;
        let is_clock = is_software && matches!(event.attr.config, sw::CPU_CLOCK | sw::TASK_CLOCK);
        let is_alone = event.grouping == Grouping::Alone && event.callers.is_none();
        (is_clock || event.clock_instead().is_some()) && is_alone
    };
    let writing = &settings.writing;
    let (fields, sideband) = (SampleFields::default(), Sideband::default());
    [
        (settings.watch == Watch::All, "-a, -C and -G"),
        (
            settings.events.len() > 1 || !settings.events.iter().all(is_clock),
            "-e",
        ),
        (!settings.spans.is_empty(), "--span"),
        (settings.cpus.is_some(), "-C"),
        (
            settings.inherit != Inherit::Inherited,
            "-i and --per-thread",
        ),
        (
            settings.fields != fields || settings.sideband != sideband,
            "flags that add sample fields",
        ),
        (
            settings.call_chains == CallChains::BranchRecords,
            "--call-graph lbr",
        ),
        (!settings.when.is_always(), "-D and --control"),
        (
            writing.overwrite || writing.rotation.is_some(),
            "--overwrite, --flight and --switch-output",
        ),
        // Mappings are told as threads are looked at.
        (writing.synthesis_at_end, "--tail-synthesize"),
        (Machine::native().is_none(), "this architecture"),
    ]
    .into_iter()
    .find_map(|(is_unfit, what)| is_unfit.then_some(what))
}

fn hz(settings: &Settings) -> u64 {
    const SECOND_NS: u64 = 1_000_000_000;
    let hz = match settings.rate {
        None => DEFAULT_HZ,
        Some(Rate::Frequency(hz)) => hz,
        // Of a clock, periods are nanoseconds.
        Some(Rate::Period(ns)) => SECOND_NS / ns.max(1),
    };
    hz.clamp(1, MOST_HZ)
}

/// The clock of user space, which perf and other readers know.
fn clock(settings: &Settings, hz: u64) -> Prepared {
    let clock = cpu_clock();
    let clock = clock.user_only().unwrap_or(clock);
    // Stacks are read here, and unwound by tables: nobody follows frame pointers.
    let call_chains = match settings.call_chains {
        CallChains::FramePointers => CallChains::Auto,
        chains => chains,
    };
    let rate = Some(Rate::Frequency(hz));
    let mut attr = sampling_attr(&clock, rate, call_chains, settings);
    attr.sample_stack_user = attr
        .sample_stack_user
        .min(stack_dump::most_bytes(&SampleFields {
            registers: u64::MAX,
            ..SampleFields::default()
        }));
    // One event tells everything.
    attr.flags = attr
        .flags
        .with(AttrFlags::MMAP)
        .with(AttrFlags::MMAP2)
        .with(AttrFlags::COMM)
        .with(AttrFlags::COMM_EXEC)
        .with(AttrFlags::TASK)
        .with(AttrFlags::BUILD_ID);
    Prepared {
        call_chains,
        ..Prepared::new(clock.name, attr)
    }
}
