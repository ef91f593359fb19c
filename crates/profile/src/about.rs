//! What a recording says of itself: where, when and how it was made.

use rprof_base::{Counted, Share};
use std::fmt;

/// Where and how a recording was made, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Name of the machine.
    pub host: Option<String>,
    /// Release of the kernel.
    pub os_release: Option<String>,
    /// The machine's architecture, as uname has it.
    pub arch: Option<String>,
    /// Name of the CPU.
    pub cpu: Option<String>,
    /// How many CPUs were online.
    pub n_cpus: Option<u32>,
    /// Version of the recorder.
    pub recorder: Option<String>,
    /// The recorder's command line.
    pub command: Vec<String>,
    /// Samples of the recorder itself that it left out.
    pub own_samples: u64,
    /// Samples of others than those to be recorded, which it left out.
    pub others_samples: u64,
    /// How many samples were kept of how many, if each stands for others, too.
    pub thinning: Option<Thinning>,
    /// How much samples stand for, where that is little.
    pub coverage: Option<Coverage>,
    /// The clock of times, by name.
    pub clock: Option<String>,
    /// What time it was by the recording's clock.
    pub wall_clock: Option<WallClock>,
    /// It goes on while it is looked at.
    pub is_live: bool,
}

/// Rings that are large enough as a rule, and the largest that are advised, bytes.
const USUAL_LARGER_RINGS: u64 = 8 << 20;
const MOST_RINGS: u64 = 512 << 20;

/// The size of rings as `-m` has it: pages, or bytes with a unit; with a comma, those of traces follow.
fn ring_bytes(text: &str) -> Option<u64> {
    const PAGE_BYTES: u64 = 4096;
    let text = text.split(',').next()?;
    let shift = match text.bytes().last()?.to_ascii_uppercase() {
        b'B' => Some(0),
        b'K' => Some(10),
        b'M' => Some(20),
        b'G' => Some(30),
        _ => None,
    };
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    Some(shift.map_or(number.saturating_mul(PAGE_BYTES), |shift| {
        number.saturating_mul(1 << shift)
    }))
}

/// Flags of recorders (rprof's and perf's) whose value may be the next word: letters, and names.
const LETTERS_WITH_VALUE: &str = "eFckjptuCGDomr";
const NAMES_WITH_VALUE: &[&str] = &[
    "affinity",
    "branch-filter",
    "call-graph",
    "cgroup",
    "clockid",
    "control",
    "count",
    "cpu",
    "cpu-percent",
    "delay",
    "duration",
    "event",
    "filter",
    "flight",
    "for-each-cgroup",
    "freq",
    "max-size",
    "mmap-pages",
    "name",
    "num-thread-synthesize",
    "off-cpu-thresh",
    "output",
    "pid",
    "proc-map-timeout",
    "realtime",
    "samples-per-hour",
    "span",
    "switch-max-files",
    "switch-output-event",
    "synth",
    "tid",
    "trigger",
    "uid",
    "vmlinux",
];

/// Whether the word after this flag is its value.
fn takes_next(flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(name) => NAMES_WITH_VALUE.contains(&name),
        // Of `-gF`, the last letter; of `-F99`, none, for the value is there.
        None => {
            let letters = flag.trim_start_matches('-');
            let first = letters.find(|letter| LETTERS_WITH_VALUE.contains(letter));
            first.is_some_and(|at| at + 1 == letters.len())
        }
    }
}

impl About {
    /// The command that was recorded, without the recorder and its flags; empty where there was none. A `--` that comes
    /// after it is the command's own.
    pub fn recorded_command(&self) -> &[String] {
        // `rprof record`, `perf lock record`.
        let record = self
            .command
            .iter()
            .take(3)
            .position(|word| word == "record");
        let begin = record.map_or(2, |at| at + 1);
        let words = self.command.get(begin..).unwrap_or_default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word == "--" {
                return words.get(at + 1..).unwrap_or_default();
            }
            if !word.starts_with('-') {
                return words.get(at..).unwrap_or_default();
            }
            at += 1 + usize::from(takes_next(word));
        }
        &[]
    }

    /// The least length of waits whose user stacks were kept, in milliseconds, as the recorder was told
    /// (`--off-cpu[=MS]`); `None` if it was not to record waits.
    pub fn off_cpu(&self) -> Option<&str> {
        let n_own = self.command.len() - self.recorded_command().len();
        let own = self.command.get(..n_own).unwrap_or_default();
        own.iter()
            .find_map(|word| match word.strip_prefix("--off-cpu")? {
                "" => Some("1"),
                value => value.strip_prefix('='),
            })
    }

    /// What two recordings say alike; what each left out is added up.
    pub(crate) fn shared_with(self, other: &Self) -> Self {
        fn alike<T: PartialEq>(own: Option<T>, other: &Option<T>) -> Option<T> {
            own.filter(|own| other.as_ref() == Some(own))
        }
        Self {
            host: alike(self.host, &other.host),
            os_release: alike(self.os_release, &other.os_release),
            arch: alike(self.arch, &other.arch),
            cpu: alike(self.cpu, &other.cpu),
            n_cpus: alike(self.n_cpus, &other.n_cpus),
            recorder: alike(self.recorder, &other.recorder),
            command: if self.command == other.command {
                self.command
            } else {
                Vec::new()
            },
            own_samples: self.own_samples.saturating_add(other.own_samples),
            others_samples: self.others_samples.saturating_add(other.others_samples),
            thinning: Thinning::of_both(self.thinning, other.thinning),
            coverage: Coverage::of_both(self.coverage, other.coverage.as_ref()),
            clock: alike(self.clock, &other.clock),
            wall_clock: alike(self.wall_clock, &other.wall_clock),
            is_live: self.is_live | other.is_live,
        }
    }

    /// What records the same with other flags.
    pub fn recorder_to_run(&self) -> &'static str {
        if self.is_live {
            "rprof top"
        } else {
            "rprof record"
        }
    }

    /// What `-m` is to be where rings were too small: 8M, or twice what was asked for; `None` where that is no
    /// help any more.
    pub fn larger_rings(&self) -> Option<String> {
        // What follows `--`, or comes later, may be the command's own.
        let words = self.command.iter().map(String::as_str);
        let mut words = words.take_while(|&word| word != "--");
        let mut asked = None;
        while asked.is_none()
            && let Some(word) = words.next()
        {
            asked = match word {
                "-m" | "--mmap-pages" => words.next(),
                _ => {
                    let attached = word.strip_prefix("--mmap-pages=");
                    attached.or_else(|| word.strip_prefix("-m"))
                }
            };
        }
        let bytes = asked.and_then(ring_bytes).unwrap_or(0);
        let larger = USUAL_LARGER_RINGS.max(
            bytes
                .saturating_mul(2)
                .checked_next_power_of_two()
                .unwrap_or(u64::MAX),
        );
        (larger <= MOST_RINGS).then(|| format!("{}M", larger >> 20))
    }

    /// What it says in words, by the names that JSON has for it.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let texts = [
            ("host", &self.host),
            ("os_release", &self.os_release),
            ("arch", &self.arch),
            ("cpu", &self.cpu),
            ("recorder", &self.recorder),
        ];
        let texts = texts.into_iter();
        texts.filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}

/// How many samples a recorder kept of those that were taken: the periods of those that it kept stand for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinning {
    /// Samples that were taken.
    pub taken: u64,
    /// Samples that were kept.
    pub kept: u64,
}

impl Thinning {
    /// Samples that were dropped.
    pub fn dropped(self) -> u64 {
        self.taken.saturating_sub(self.kept)
    }

    /// Of two recordings; one that says nothing has only samples that stand for themselves.
    fn of_both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Self {
                taken: one.taken.saturating_add(other.taken),
                kept: one.kept.saturating_add(other.kept),
            }),
            (one, other) => one.or(other),
        }
    }
}

impl fmt::Display for Thinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = Counted::new(self.taken, "sample", "samples");
        write!(f, "kept {} of {taken} (--samples-per-hour)", self.kept)
    }
}

/// How much of what an event counted its samples stand for: tasks that end before their first sample are
/// counted, and not sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Periods of samples.
    pub covered: u64,
    /// What was counted.
    pub count: u64,
    /// What that is, in words.
    pub of: String,
}

impl Coverage {
    /// How much the samples of two recordings stand for; a recording that says nothing covers all.
    fn of_both(one: Option<Self>, other: Option<&Self>) -> Option<Self> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                one.covered = one.covered.saturating_add(other.covered);
                one.count = one.count.saturating_add(other.count);
                Some(one)
            }
            (one, other) => one.or_else(|| other.cloned()),
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = Share::of(self.covered, self.count);
        write!(
            f,
            "samples cover {share:.1} % of {}: many processes or threads ended before their first sample",
            self.of
        )
    }
}

/// The recording's clock and wall time, read at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallClock {
    /// Nanoseconds since 1970.
    pub wall_ns: u64,
    /// Nanoseconds of the recording's clock.
    pub clock_ns: u64,
}

impl About {
    /// The clock that perf takes without being asked, as [`Self::clock`] says it.
    pub const SCHEDULER_CLOCK: &'static str = "of the scheduler";
}

impl WallClock {
    /// Nanoseconds since 1970 at a moment of the recording's clock.
    pub fn at(self, clock_ns: u64) -> Option<u64> {
        let wall = i128::from(self.wall_ns) + i128::from(clock_ns) - i128::from(self.clock_ns);
        u64::try_from(wall).ok()
    }
}

/// What sort of thing an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EventKind {
    /// Time on a CPU; weights are nanoseconds.
    CpuTime,
    /// Time that threads wait; weights are nanoseconds.
    OffCpuTime,
    /// Time that threads run or wait; weights are nanoseconds.
    WallTime,
    /// CPU cycles.
    Cycles,
    /// Something else that a counter counts.
    #[default]
    Counter,
    /// Things that happen, each worth a look: faults, switches, tracepoints.
    Occurrence,
}

impl EventKind {
    /// Names of software events that could be those of a tracepoint's system.
    const SOFTWARE: [&'static str; 4] = ["faults", "cs", "migrations", "dummy"];

    /// The name of such an event without who is counted (`:u`). Tracepoints and probes have a colon, too
    /// (`probe:up`).
    pub fn without_modifier(self, name: &str) -> &str {
        let Some((bare, modifier)) = name.rsplit_once(':') else {
            return name;
        };
        let is_modifier = !modifier.is_empty()
            && modifier
                .bytes()
                .all(|byte| b"ukhGHpPSDIWeb".contains(&byte));
        // The name of a system has no such signs.
        let is_event = self != Self::Occurrence
            || bare.contains([':', '-', '/'])
            || Self::SOFTWARE.contains(&bare);
        if is_modifier && is_event { bare } else { name }
    }

    /// Whether weights are times.
    pub fn is_time(self) -> bool {
        self.unit() == Some("nanoseconds")
    }

    /// What weights are, if that has a name.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::CpuTime | Self::OffCpuTime | Self::WallTime => Some("nanoseconds"),
            Self::Cycles | Self::Counter | Self::Occurrence => None,
        }
    }
}

/// When samples of an event are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// This many times a second.
    PerSecond(u64),
    /// Each time that so much was counted.
    Every(u64),
    /// In several ways, in recordings that are read as one, or in one of which only some samples were kept: only weights
    /// compare.
    Mixed,
}

impl Default for Sampling {
    fn default() -> Self {
        Self::Every(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_not_of_an_events_name() {
        use EventKind::{Cycles, Occurrence};
        for (kind, name, expected) in [
            (Cycles, "cycles", "cycles"),
            (Cycles, "cycles:u", "cycles"),
            (EventKind::CpuTime, "cpu-clock:ppp", "cpu-clock"),
            (Occurrence, "page-faults:u", "page-faults"),
            (Occurrence, "faults:u", "faults"),
            (Occurrence, "sched:sched_switch", "sched:sched_switch"),
            (Occurrence, "sched:sched_switch:u", "sched:sched_switch"),
            (Occurrence, "probe:up", "probe:up"),
            (Occurrence, "sdt:GSS", "sdt:GSS"),
            (Occurrence, "probe:up:u", "probe:up"),
        ] {
            assert_eq!(kind.without_modifier(name), expected);
        }
    }

    #[test]
    fn the_recorded_command_has_its_program_and_the_recorder_its_flags() {
        for (line, command, off_cpu) in [
            ("rprof record -- ./words 3", "./words 3", None),
            ("rprof record ./many -- ARG", "./many -- ARG", None),
            ("rprof record -g ./many -- ARG", "./many -- ARG", None),
            ("rprof record -F 99 -g -- ./x -- ARG", "./x -- ARG", None),
            ("rprof record -F99 -gm 8M --event x ./many", "./many", None),
            ("perf record -o/x --event=y -ag sleep 1", "sleep 1", None),
            ("/usr/bin/perf lock record ls -l", "ls -l", None),
            ("rprof record -p 12", "", None),
            ("rprof record --", "", None),
            ("rprof", "", None),
            ("rprof record --off-cpu -- ls", "ls", Some("1")),
            ("rprof record --off-cpu=0.5 -g ls", "ls", Some("0.5")),
            ("rprof record ls --off-cpu=7", "ls --off-cpu=7", None),
            ("rprof record --off-cpux ls", "ls", None),
            ("", "", None),
        ] {
            let about = About {
                command: line.split_whitespace().map(str::to_owned).collect(),
                ..About::default()
            };
            assert_eq!(about.recorded_command().join(" "), command, "{line}");
            assert_eq!(about.off_cpu(), off_cpu, "{line}");
        }
    }

    #[test]
    fn thinned_recordings_add_up() {
        let thinned = |taken, kept| About {
            thinning: Some(Thinning { taken, kept }),
            ..About::default()
        };
        let both = thinned(900, 100).shared_with(&thinned(50, 7));
        let said = both.shared_with(&About::default()).thinning.unwrap();
        assert_eq!(
            said.to_string(),
            "kept 107 of 950 samples (--samples-per-hour)"
        );
        assert_eq!(said.dropped(), 843);
    }

    #[test]
    fn wall_time_goes_with_the_clock() {
        let clock = WallClock {
            wall_ns: 1_000,
            clock_ns: 400,
        };
        assert_eq!(clock.at(500), Some(1_100));
        assert_eq!(clock.at(0), Some(600));
        let early = WallClock {
            wall_ns: 1,
            clock_ns: 400,
        };
        assert_eq!(early.at(0), None);
    }

    #[test]
    fn larger_rings_are_larger_than_those_that_were_asked_for() {
        let larger = |command: &[&str]| {
            let about = About {
                command: command.iter().map(|&word| word.to_owned()).collect(),
                ..About::default()
            };
            about.larger_rings()
        };
        assert_eq!(larger(&[]).unwrap(), "8M");
        assert_eq!(
            larger(&["rprof", "record", "-m", "128", "x"]).unwrap(),
            "8M"
        );
        assert_eq!(larger(&["rprof", "record", "-m", "8M"]).unwrap(), "16M");
        assert_eq!(larger(&["perf", "record", "-m4096,16"]).unwrap(), "32M");
        assert_eq!(larger(&["rprof", "--mmap-pages=100M"]).unwrap(), "256M");
        assert_eq!(larger(&["rprof", "--mmap-pages", "1G"]), None);
        // The command's own.
        assert_eq!(
            larger(&["rprof", "record", "--", "x", "-m", "64M"]).unwrap(),
            "8M"
        );
    }
}
